"""Verbs that show: demo, report, list."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import emit, json_option, must_exist, quiet_option, say, seed_option, show_frame

if TYPE_CHECKING:
    import polars as pl

__all__ = ["demo", "first_words", "list_", "report"]

_FOLDER = click.Path(path_type=Path)
_KINDS = [
    *("backbones", "estimators", "features", "layouts", "learners", "manners", "metrics", "pages", "sources"),
    "stylisers",
]


@click.command()
@click.argument("folder", type=_FOLDER, default=Path("demo"))
@click.option("--force", is_flag=True, help="Replace a demo that is there, whatever else lies in its folder.")
@click.option(
    "--deep", is_flag=True, help="Also train an evaluator and rate a new method with it; needs [torch] and [learn]."
)
@click.option(
    "--backbone", default="vgg16", show_default=True, help="With --deep: frozen network that reads the pictures."
)
@seed_option
@json_option
@quiet_option
def demo(folder: Path, force: bool, deep: bool, backbone: str, seed: int, as_json: bool, quiet: bool) -> None:
    """Run a whole small loop on shipped pictures, with simulated participants.

    Stylises the pictures that come with the package, plans a study, lets simulated participants answer it, screens, scores,
    measures, compares, and ends by naming FOLDER/report.html. Every number that rests on the answers is labelled simulated.
    A demo that is there is replaced if nothing else lies in its folder.

    With --deep a learned evaluator is validated on it by leaving out methods, contents and styles, trained, and asked
    about a method that nobody was shown; the leaderboard lies in FOLDER/evaluators.

    Example: paragone demo demo
    """
    from ..loop.showcase import demo as run_demo

    silent = quiet or as_json
    page = run_demo(
        folder,
        seed=seed,
        force=force,
        deep=backbone if deep else "",
        quiet=silent,
        say=lambda line: say(line, quiet=silent),
    )
    if as_json:
        emit({"report": page, "simulated": True})
    else:
        click.echo(str(page))


@click.command()
@click.argument("folder", type=_FOLDER, default=Path())
@click.option("-o", "--output", type=_FOLDER, help="The page; default: report.html of the folder.")
@click.option("--title", help="Title of the page; default: the benchmark's name.")
@json_option
def report(folder: Path, output: Path | None, title: str | None, as_json: bool) -> None:
    """Write one HTML page about all of it.

    Reads whatever lies in FOLDER: benchmark, answers, screening.csv, consistency.csv, scores/, agreement.csv. Parts that
    are missing are named with the verb that adds them. Figures also go to figures/ as SVG with the CSV behind each.

    Example: paragone report my-benchmark
    """
    must_exist(folder, what="folder")
    from ..loop.gather import gather
    from ..report import report as write

    page = write(gather(folder, title=title), output or folder / "report.html")
    if as_json:
        emit({"report": str(page)})
    else:
        click.echo(str(page))


@click.command("list")
@click.argument("what", type=click.Choice(_KINDS))
@json_option
def list_(what: str, as_json: bool) -> None:
    """List backbones, estimators, features, layouts, learners, manners, metrics, pages, sources or stylisers.

    Prints name, one line, what each reads and needs, and whether it is available here (on a terminal only where some are
    not); with --json every fact about each.

    Example: paragone list metrics --json
    """
    import polars as pl

    from ..loop.listing import listing

    rows = listing(what)
    if as_json:
        import json

        from .options import plain

        click.echo(json.dumps(plain(rows), ensure_ascii=False))
        return
    for row in rows:
        row.setdefault("reads", ", ".join(row["inputs"]) if "inputs" in row else None)
    wanted = ("name", "summary", "reads", "better", "needs", "available", "reason")
    columns = [name for name in wanted if any(row.get(name) is not None for row in rows)]
    if sys.stdout.isatty() and all(row["available"] for row in rows):
        columns = [name for name in columns if name not in ("needs", "available", "reason")]
    frame = pl.DataFrame([{name: row.get(name) for name in columns} for row in rows], infer_schema_length=None)
    show_frame(frame, short=first_words)
    if sys.stdout.isatty() and any(":" in row["reason"] for row in rows):
        say(f"the whole reasons: paragone list {what} --json")


def first_words(frame: pl.DataFrame) -> pl.DataFrame:
    """The reasons up to their first colon: places that were looked at fill a screen."""
    if "reason" not in frame.columns:
        return frame
    return frame.with_columns(reason=frame["reason"].str.splitn(":", 2).struct[0])
