"""The command line: verbs are read nouns, one call, written nouns. No logic lives here, and nothing heavy is imported
until the verb that needs it runs."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from .. import __version__
from ..errors import ParagoneError

__all__ = ["VERBS", "main", "paragone"]

VERBS: dict[str, tuple[str, str]] = {
    "demo": ("paragone.cli.show:demo", "Run a whole small loop on shipped pictures, with simulated participants."),
    "new": ("paragone.cli.build:new", "Make a benchmark folder from pictures named by a pattern."),
    "import": ("paragone.cli.build:import_", "Bring a known public layout, or any table, into our tables."),
    "check": ("paragone.cli.build:check", "Check everything in a folder and print all faults at once."),
    "select": (
        "paragone.cli.making:select",
        "Choose references by coverage: few pictures that differ as much as a whole pool does.",
    ),
    "stylise": ("paragone.cli.making:stylise", "Make every method's pictures of a make.toml, and the benchmark."),
    "contact": ("paragone.cli.making:contact", "Write a contact sheet: every picture of a benchmark, as HTML and PNG."),
    "generate": ("paragone.cli.publishing:generate", "Generate pictures from prompts with diffusion models."),
    "distinct": (
        "paragone.cli.making:distinct",
        "Say which methods repeat each other: distances on the same references, and what to drop.",
    ),
    "attributes": (
        "paragone.cli.making:attributes",
        "Compare five attributes of generated pictures with those of natural ones.",
    ),
    "pack": (
        "paragone.cli.publishing:pack",
        "Publish a benchmark: a folder that others can download, check and load.",
    ),
    "plan": ("paragone.cli.ask:plan", "Deal the trials of a study: who is shown what, in which order."),
    "simulate": ("paragone.cli.ask:simulate", "Let simulated participants answer a plan."),
    "serve": ("paragone.cli.serve:serve", "Ask people: serve the study of a folder as web pages."),
    "export": ("paragone.cli.serve:export", "Write everything that a study holds as tables, at any time."),
    "forget": ("paragone.cli.serve:forget", "Delete a participant's data on request."),
    "backup": ("paragone.cli.serve:backup", "Copy a study's store while it is being served."),
    "restore": ("paragone.cli.serve:restore", "Check a backup, and bring it back into an empty store."),
    "collect": ("paragone.cli.ask:collect", "Turn raw answers into votes.csv and ratings.csv."),
    "screen": ("paragone.cli.people:screen", "Say which participants to leave out, by which rule, and why."),
    "consistency": ("paragone.cli.people:consistency", "Say how far people agree with themselves and each other."),
    "score": ("paragone.cli.people:score", "Turn votes or ratings into scores with intervals."),
    "measure": ("paragone.cli.machine:measure", "Measure pictures by machine metrics."),
    "compare": (
        "paragone.cli.machine:compare",
        "Compare machine scores with people's, with intervals and significance.",
    ),
    "crossval": (
        "paragone.cli.learn:crossval",
        "Validate learned evaluators by leaving out methods, contents, styles or any factor.",
    ),
    "train": ("paragone.cli.learn:train", "Train an evaluator: a machine that says what people said."),
    "rate": ("paragone.cli.learn:rate", "Score a new method by a trained evaluator, and rank it among the known ones."),
    "report": ("paragone.cli.show:report", "Write one HTML page about all of it."),
    "list": (
        "paragone.cli.show:list_",
        "List backbones, estimators, features, layouts, learners, manners, metrics, pages, sources or stylisers.",
    ),
}


_WORD, _LINE = 400, 4000  # characters of one word, and of one line, that a terminal is given


class _LazyGroup(click.Group):
    """A group that knows its verbs' names and one-line helps, and imports a verb when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module, _, attribute = VERBS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs, in the order of a study"):
            formatter.write_dl([(verb, line) for verb, (_, line) in VERBS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], VERBS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else "see: paragone --help"
            raise click.UsageError(f"no verb '{args[0]}'; {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog='Shell completion: eval "$(_PARAGONE_COMPLETE=bash_source paragone)" (or zsh_source, fish_source).',
)
@click.version_option(__version__, prog_name="paragone")
def paragone() -> None:
    """Ask people how good generated pictures look, measure them by machine, and compare the two honestly."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exit 0 done, 1 refused (one line, no traceback), 2 usage."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        _answered(given)
    except BrokenPipeError:
        sys.stderr.close()  # else the interpreter complains once more when it flushes what nobody reads
        sys.exit(1)


def _answered(given: list[str]) -> None:
    try:
        paragone.main(args=given, prog_name="paragone", standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.Abort:
        click.echo("paragone: stopped; files that were complete are kept, nothing else was written", err=True)
        sys.exit(1)
    except click.ClickException as error:
        error.show()
        _document(given, "Usage", error.format_message(), "")
        sys.exit(2)
    except ParagoneError as error:
        _refuse(given, error.kind, error.message, error.where)
    except MemoryError:
        _refuse(given, "MemoryError", "out of memory; give fewer rows, replicates or pictures at a time", "")
    except BrokenPipeError:
        raise
    except OSError as error:
        place = _place(error)
        _refuse(given, type(error).__name__, f"{place}: {_reason(error)}" if place else _reason(error), place)
    except UnicodeEncodeError as error:
        name = ascii(str(error.object)[max(error.start - 20, 0) : error.end + 20])[1:-1]
        why = "holds bytes that are not UTF-8; rename it"
        if error.encoding.lower().replace("-", "") != "utf8":
            why = f"cannot be shown in the encoding {error.encoding}; set PYTHONUTF8=1"
        _refuse(given, "BadInput", f"the name '{name}' {why}", "")
    except _engine_faults() as error:
        _refuse(given, "OSError", f"a table could not be written or read: {error}", "")


def _engine_faults() -> tuple[type[BaseException], ...]:
    """What polars raises where a disk is full: its Parquet writer hides the OSError. Asked only when something failed."""
    polars = sys.modules.get("polars")
    return () if polars is None else (polars.exceptions.ComputeError,)


def _place(error: OSError) -> str:
    """The file that a fault of the system speaks of; not the aside that stands for it until it is whole."""
    name = str(error.filename2 or error.filename or "")
    return re.sub(r"(^|/)\.([^/]+)\.[^./]+\.part$", r"\1\2", name)


def _reason(error: OSError) -> str:
    if isinstance(error, FileExistsError | NotADirectoryError):
        return "this is a file, and a folder is needed; name another place"
    if isinstance(error, IsADirectoryError):
        return "this is a folder, and a file is to be written; name the file"
    return error.strerror or str(error)


def _refuse(given: list[str], kind: str, message: str, where: str) -> NoReturn:
    line = _one_line(message)
    click.echo(f"paragone: {line}", err=True)
    _document(given, kind, line, where)
    sys.exit(1)


def _one_line(message: str) -> str:
    """The message as one line of bounded length, whatever stood in the file that it quotes: the middle of an endless word
    is left out, and characters that steer a terminal are shown as their numbers."""
    words = [word if len(word) <= _WORD else f"{word[: _WORD - 40]}...{word[-40:]}" for word in message.split()]
    line = " ".join(words)
    if len(line) > _LINE:
        line = f"{line[: _LINE - 500]} ... {line[-500:]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in line)


def _document(given: list[str], kind: str, line: str, where: str) -> None:
    if "--json" in given:
        import json

        try:
            click.echo(json.dumps({"error": {"kind": kind, "message": line, "where": where}}))
        except BrokenPipeError:
            raise
        except OSError:  # a full disk may be what the line tells of, and that stands on stderr
            with contextlib.suppress(OSError):
                sys.stdout.close()  # else the interpreter complains once more when it flushes
