"""Write docs/reference.md from the code: verbs, plug-ins, tables and settings, so that no fact has a second copy.

python scripts/reference.py docs/reference.md
"""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec


def main() -> None:
    """Write the page to the path that was given, or to stdout."""
    page = reference()
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page, encoding="utf-8")
    else:
        sys.stdout.write(page)


def reference() -> str:
    """The whole page as Markdown."""
    parts = [
        "# Reference",
        "",
        "Made from the code by `make docs`; a test compares the two.",
        "",
        *_verbs(),
        *_estimators(),
        *_metrics(),
        *_plain("Page kinds", "paragone.study.pages", "PAGES", "source"),
        *_plain("Sources", "paragone.sources", "SOURCES", "gives"),
        *_plain("Stylisers", "paragone.make.stylise", "STYLISERS", "source"),
        *_plain("Backbones", "paragone.features", "BACKBONES", "source"),
        *_features(),
        *_plain("Learners", "paragone.evaluators", "LEARNERS", "source"),
        *_plain("Networks that are tuned whole", "paragone.evaluators.tuned", "NETWORKS", "source"),
        *_plain("Manners", "paragone.make.stylise.manners", "MANNERS", "source"),
        *_tables(),
        *_settings(),
    ]
    return "\n".join(parts) + "\n"


def _verbs() -> Iterator[str]:
    from paragone.cli import VERBS

    yield "## Verbs\n"
    for verb, (address, _) in VERBS.items():
        module, _, attribute = address.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        yield f"### `paragone {verb}`\n"
        yield inspect.cleandoc(command.help or "").replace("\b\n", "").replace("\f", "") + "\n"
        yield "| argument or option | meaning |\n|---|---|"
        for parameter in command.params:
            yield _option(parameter)
        yield ""


def _option(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        names = ", ".join(f"`{name}`" for name in parameter.opts)
        default = parameter.default
        shown = isinstance(default, (str, int, float)) and not isinstance(default, bool) and default != ""
        text = (parameter.help or "") + (f" Default {default}." if shown else "")
        return f"| {names} | {_cell(text)} |"
    count = "one or more" if parameter.nargs == -1 else "one"
    needed = "" if parameter.required else ", may be left out"
    return f"| `{parameter.human_readable_name}` | {count}{needed} |"


def _estimators() -> Iterator[str]:
    from paragone.estimate import ESTIMATORS

    yield "## Estimators\n"
    yield "| name | reads | what it gives | unit | options | source |\n|---|---|---|---|---|---|"
    for name in sorted(ESTIMATORS.builtin):
        record = ESTIMATORS.get(name)
        options = "<br>".join(f"`{word}`: {_cell(text)}" for word, text in record.options.items())
        yield (
            f"| `{name}` | {record.reads} | {_cell(record.summary)} | {_cell(record.unit)} | {options} | "
            f"{_cell(record.source)} |"
        )
    yield ""


def _metrics() -> Iterator[str]:
    from paragone.metrics import METRICS

    yield "## Metrics\n"
    yield "| name | reads | better | range | unit | what it measures | definition | source |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in sorted(METRICS.builtin):
        m = METRICS.get(name)
        span = f"{_number(m.low)} to {_number(m.high)}"
        badge = " (reconstruction)" if m.reconstruction else ""
        yield (
            f"| `{name}`{badge} | {', '.join(m.inputs)} | {m.better} | {span} | {m.unit} | {_cell(m.summary)} | "
            f"{_cell(m.definition)} | {_cell(m.source)} |"
        )
    yield ""


def _plain(title: str, module: str, catalog: str, column: str) -> Iterator[str]:
    table = getattr(importlib.import_module(module), catalog)
    yield f"## {title}\n"
    yield f"| name | what it is | {column} |\n|---|---|---|"
    for name in sorted(table.builtin):
        record = table.get(name)
        value = getattr(record, column)
        text = value if isinstance(value, str) else ", ".join(map(str, value))
        yield f"| `{name}` | {_cell(record.summary)} | {_cell(text)} |"
    yield ""


def _features() -> Iterator[str]:
    from paragone.features import FEATURES

    yield "## Features\n"
    yield "| name | what it is | reads | source |\n|---|---|---|---|"
    for name, one in sorted(FEATURES.items()):
        yield f"| `{name}` | {_cell(one.summary)} | {', '.join(one.inputs)} | {_cell(one.source)} |"
    yield ""


def _tables() -> Iterator[str]:
    from paragone.benchmark import ITEMS, REFERENCES
    from paragone.judgements import RATINGS, VOTES
    from paragone.make.references.cards import CARDS
    from paragone.plan import PLAN
    from paragone.scores import AGREEMENT, SCORES

    yield "## Tables\n"
    yield "CSV or Parquet, by the ending of the file. Further columns are kept.\n"
    for schema in (ITEMS, REFERENCES, CARDS, PLAN, VOTES, RATINGS, SCORES, AGREEMENT):
        yield f"### {schema.name}\n"
        yield "| column | kind | needed | what it holds |\n|---|---|---|---|"
        for c in schema.columns:
            needed = "yes" if c.required else "no"
            words = f" One of {', '.join(c.choices)}." if c.choices else ""
            yield f"| `{c.name}` | {c.kind} | {needed} | {_cell(c.doc)}{words} |"
        yield ""


def _settings() -> Iterator[str]:
    from paragone.settings import Settings

    rooms = (
        "paragone.benchmark", "paragone.design.pages", "paragone.design.settings", "paragone.observers",
        "paragone.screen.settings", "paragone.make.making", "paragone.make.adapters.method", "paragone.make.adapters.folder",
        "paragone.make.adapters.command", "paragone.make.adapters.called", "paragone.make.adapters.edits",
        "paragone.make.prompts.grammar", "paragone.make.prompts.generation", "paragone.make.packs.packing",
        "paragone.evaluators.tuned.settings",
    )  # fmt: skip
    for module in rooms:
        importlib.import_module(module)
    yield "## Settings\n"
    records = [record for record in _records(Settings) if record.__module__ in rooms]
    for record in sorted(records, key=lambda kind: (kind.__module__, kind.__qualname__)):
        yield f"### {record.__qualname__.lstrip('_')} ({record.__module__})\n"
        yield _cell(inspect.cleandoc(record.__doc__ or "").split("\n\n")[0]) + "\n"
        yield "| key | meaning |\n|---|---|"
        for name, text in _fields(record):
            yield f"| `{name}` | {_cell(text)} |"
        yield ""


def _records(base: type) -> Iterator[type]:
    for record in base.__subclasses__():
        yield record
        yield from _records(record)


def _fields(record: type) -> Iterator[tuple[str, str]]:
    """Field names with the string that stands under each, and the default."""
    known = {field.name: field for field in msgspec.structs.fields(record)}
    tree = ast.parse(textwrap.dedent(inspect.getsource(record))).body[0]
    assert isinstance(tree, ast.ClassDef)
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id in known:
            said = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            name = node.target.id
            yield name, f"{said} {_default(known[name], node.value)}"


def _default(field: msgspec.structs.FieldInfo, written: ast.expr | None) -> str:
    """What holds where a key is left out: the value as the code writes it, or as it is made."""
    if written is None:
        return "Needed."
    is_made = field.default is msgspec.NODEFAULT
    value = field.default_factory() if is_made else field.default
    if isinstance(value, msgspec.Struct):
        return f"Left out: the defaults of {type(value).__name__}."
    return f"Default `{value!r}`." if is_made else f"Default `{ast.unparse(written)}`."


def _number(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:g}"


def _cell(text: Any) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
