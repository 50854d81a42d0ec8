"""Verbs that make and check a folder: new, import, check."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .options import assignments, columns_option, emit, json_option, must_exist, quiet_option, say, show_frame, typed

__all__ = ["check", "import_", "new"]

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("folder", type=_PATH)
@click.option("--images", "pattern", required=True, help="Pattern with a factor in each brace: {method}/{content}.png.")
@click.option("--root", type=_PATH, help="Where the pictures lie; default: FOLDER.")
@click.option("--reference", "references", multiple=True, metavar="FACTOR=PATTERN", help="Pictures that show a factor.")
@click.option("--criteria", default="", metavar="A,B,...", help="What is judged.")
@click.option("--name", default="", help="Name of the benchmark; default: the folder's.")
@click.option(
    "--broken",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Items that get a broken version too, for attention checks and training.",
)
@click.option("--force", is_flag=True, help="Replace a benchmark that is there.")
@json_option
@quiet_option
def new(
    folder: Path,
    pattern: str,
    root: Path | None,
    references: tuple[str, ...],
    criteria: str,
    name: str,
    broken: int,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Make a benchmark folder from pictures named by a pattern.

    Writes benchmark.toml, items.csv and references.csv into FOLDER (pictures stay where they are), and prints how many
    pictures each cell of the grid has.

    Example: paragone new bench --root results --images '{method}/{content}_{style}.png' --criteria overall
    """
    from ..loop.build import new_folder

    made, grid = new_folder(
        folder,
        pattern,
        root=root,
        references=assignments(references, "--reference"),
        criteria=[word.strip() for word in criteria.split(",") if word.strip()],
        name=name,
        broken=broken,
        force=force,
    )
    if as_json:
        emit({"items": made.items.height, "grid": grid.frame.to_dicts(), "missing": grid.missing})
    else:
        show_frame(grid.frame)
    missing = f"; {grid.n_missing} cells of the full design are empty" if grid.n_missing else ""
    say(f"{made.items.height} items{missing}", quiet=quiet or as_json)
    say(f"next, to ask people: paragone plan --example > {folder / 'study.toml'}", quiet=quiet or as_json)
    say(str(folder / "benchmark.toml"), quiet=quiet or as_json)


@click.command("import")
@click.argument("source", required=True)
@click.argument("path", type=_PATH)
@click.option("-o", "--output", "folder", type=_PATH, required=True, help="Folder that receives the tables.")
@columns_option
@click.option("--set", "options", multiple=True, metavar="OPTION=VALUE", help="Option of the source's reader.")
@click.option("--copy", is_flag=True, help="Copy the pictures; else the benchmark points to where they are.")
@click.option("--force", is_flag=True, help="Replace tables that are there.")
@json_option
@quiet_option
def import_(
    source: str,
    path: Path,
    folder: Path,
    columns: str,
    options: tuple[str, ...],
    copy: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Bring a known public layout, or any table, into our tables.

    SOURCE is a name from `paragone list sources`, `table` for any table, or `auto`. Writes the benchmark, votes, ratings
    and published scores that PATH holds, and says what it dropped or joined. Votes may have columns left, right and
    choice, or winner and loser. A wide table, with one column for each participant (rater1, rater2, ...), is read by
    --map 'participant=rater*'; with one for each item by --map 'item=img*'.

    Example: paragone import table answers.csv --map participant=worker,value=stars -o study
    """
    must_exist(path, what="file" if path.suffix else "file or folder")
    from ..loop.build import import_into

    given = typed(options, "--set")
    if columns:
        given["columns"] = assignments(columns, "--map")
    found, written = import_into(
        None if source == "auto" else source, path, folder, copy=copy, force=force, options=given
    )
    if as_json:
        emit({"written": [str(file) for file in written], "notes": list(found.notes)})
    for line in [*found.notes, *map(str, written)]:
        say(line, quiet=quiet or as_json)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option("--no-pictures", is_flag=True, help="Do not decode the pictures.")
@json_option
@quiet_option
def check(folder: Path, no_pictures: bool, as_json: bool, quiet: bool) -> None:
    """Check everything in a folder and print all faults at once.

    Reads every table, configuration and picture of FOLDER, and whether inputs have changed since scores were made from
    them. Exit code 1 where there is a fault.

    Example: paragone check my-benchmark
    """
    must_exist(folder, what="folder")
    from ..loop.build import check_folder

    faults, remarks = check_folder(folder, pictures=not no_pictures, quiet=quiet or as_json)
    if as_json:
        emit({"faults": faults, "remarks": remarks})
    else:
        for line in faults:
            click.echo(line)
    for line in remarks:
        say(line, quiet=quiet or as_json)
    say(f"{len(faults)} faults, {len(remarks)} remarks", quiet=quiet or as_json)
    if faults:
        sys.exit(1)
