"""Verbs that make a benchmark: stylise, and the contact sheet of any."""

from __future__ import annotations

from pathlib import Path

import click

from .options import assignments, emit, jobs_option, json_option, must_exist, quiet_option, say, show_frame

__all__ = ["contact", "stylise"]

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option("--example", is_flag=True, help="Print a commented make.toml to start from, and do nothing else.")
@click.option("--only", "methods", multiple=True, metavar="METHOD", help="Only this method; may be given again.")
@click.option(
    "--reference", "references", multiple=True, metavar="FACTOR=FOLDER", help="References from here, not make.toml's."
)
@click.option("--again", is_flag=True, help="Try cells again that were refused, invalid or of a wrong size.")
@click.option("--dry-run", is_flag=True, help="Say what would be made and how long it takes, and make nothing.")
@jobs_option
@json_option
@quiet_option
def stylise(
    folder: Path,
    example: bool,
    methods: tuple[str, ...],
    references: tuple[str, ...],
    again: bool,
    dry_run: bool,
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Make every method's pictures of a make.toml, and the benchmark.

    Reads make.toml of FOLDER: references and methods. Writes references/, results/, cells.csv (what became of each cell,
    and why), benchmark.toml, items.csv, references.csv and contact.html with contact.png. A run that was stopped goes on
    where it was; cells whose settings or references changed are made again. A make.toml to start from:
    paragone stylise --example > my-benchmark/make.toml

    Example: paragone stylise my-benchmark --jobs -1
    """
    if example:
        from ..loop.making_example import EXAMPLE

        click.echo(EXAMPLE, nl=False)
        return
    must_exist(folder, what="folder")
    from ..loop import made

    silent = quiet or as_json
    given = assignments(references, "--reference")
    if dry_run:
        plan = made.outlook(folder, references=given, quiet=silent)
        if as_json:
            emit({"methods": plan.frame.to_dicts()})
        else:
            click.echo(plan.text)
        return
    built, written = made.stylised(
        folder,
        references=given,
        methods=methods,
        again=again,
        jobs=jobs,
        quiet=silent,
        say=lambda line: say(line, quiet=silent),
    )
    if as_json:
        emit(made.made_document(built, written))
    else:
        show_frame(built.counts)
    for line in [*made.told_lines(built), *map(str, written)]:
        say(line, quiet=silent)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option("-o", "--output", type=_PATH, help="The page; default: contact.html of the folder. Its PNG lies beside it.")
@json_option
@quiet_option
def contact(folder: Path, output: Path | None, as_json: bool, quiet: bool) -> None:
    """Write a contact sheet: every picture of a benchmark, as HTML and PNG.

    Reads the benchmark of FOLDER. Contents and styles go down, methods across; references stand at the left. Cells that
    have no picture say why, where cells.csv knows.

    Example: paragone contact my-benchmark
    """
    must_exist(folder, what="folder")
    from ..loop import made

    written = made.sheet_of(folder, output=output, quiet=quiet or as_json)
    if as_json:
        emit({"written": [str(path) for path in written]})
    for path in written:
        say(str(path), quiet=quiet or as_json)
