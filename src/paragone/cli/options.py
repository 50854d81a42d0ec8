"""Options that mean the same in every verb, and the two ways results leave: a table or one JSON document."""

from __future__ import annotations

import difflib
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import BadConfig, NotFound

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "assignments",
    "columns_option",
    "emit",
    "jobs_option",
    "json_option",
    "must_exist",
    "output_option",
    "plain",
    "quiet_option",
    "say",
]
__all__ += ["seed_option", "show_frame"]

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    """--json: print one JSON document on stdout and nothing else."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")(command)


def output_option(what: str) -> Callable[[Command], Command]:
    """-o: where the result goes."""
    return click.option("-o", "--output", type=click.Path(path_type=Path), help=f"{what}; .csv or .parquet.")


def seed_option(command: Command) -> Command:
    """--seed: the same seed gives the same result."""
    return click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all randomness."
    )(command)


def jobs_option(command: Command) -> Command:
    """--jobs: worker processes."""
    return click.option(
        "--jobs", type=int, default=1, show_default=True, help="Worker processes; -1 for one per core. Same results."
    )(command)


def quiet_option(command: Command) -> Command:
    """--quiet: no talk and no bars on stderr."""
    return click.option("-q", "--quiet", is_flag=True, help="No talk and no progress bars on stderr.")(command)


def columns_option(command: Command) -> Command:
    """--map: the file's own column names."""
    return click.option(
        "--map",
        "columns",
        default="",
        metavar="OURS=THEIRS,...",
        help="Column names of the file, for example participant=worker,value=score.",
    )(command)


def assignments(text: str | Iterable[str], option: str) -> dict[str, str]:
    """Read 'a=b,c=d', or one 'a=b' from each of several texts (whose commas belong to them), into a dict.

    Raises:
        BadConfig: a piece is not of that form, or a name stands twice.
    """
    pieces = text.split(",") if isinstance(text, str) else text
    made: dict[str, str] = {}
    for piece in pieces:
        if not piece.strip():
            continue
        name, equals, value = piece.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise BadConfig(f"{option} '{piece}' is not of the form name=value", where=option)
        if name.strip() in made:
            raise BadConfig(f"{option} names '{name.strip()}' twice", where=option)
        made[name.strip()] = value.strip()
    return made


def numbers(text: str, option: str) -> dict[str, float]:
    """Read 'a=1,b=0.5' into numbers.

    Raises:
        BadConfig: a value is not a number.
    """
    made = {}
    for name, value in assignments(text, option).items():
        try:
            made[name] = float(value)
        except ValueError:
            raise BadConfig(f"{option} {name}='{value}' is not a number", where=option) from None
    return made


def typed(pieces: Iterable[str], option: str) -> dict[str, Any]:
    """Read 'prior=0.5' and the like, each value as the whole number, number, true, false or word that it looks like."""
    from ..loop.words import value_of

    return {name: value_of(value) for name, value in assignments(pieces, option).items()}


def must_exist(*paths: Path | None, what: str = "file") -> None:
    """Refuse the first path that leads nowhere, before anything heavy is imported to read it; None is passed over.

    Raises:
        NotFound: names the nearest file of the same folder, if one is near.
    """
    for path in paths:
        if path is None or path.exists():
            continue
        folder = path.parent
        there = {one.stem: one.name for one in sorted(folder.iterdir())} if folder.is_dir() else {}
        near = difflib.get_close_matches(path.stem, there, n=1, cutoff=0.7)  # a shared ending makes no name near
        if near:
            raise NotFound(f"no {what} '{path}'; did you mean '{folder / there[near[0]]}'?", where=str(path))
        raise NotFound.path(path, what)


def say(line: str, *, quiet: bool = False) -> None:
    """One line of talk on stderr."""
    if not quiet:
        click.echo(line, err=True)


def emit(document: Mapping[str, Any]) -> None:
    """Print one JSON document; what is no number is null."""
    click.echo(json.dumps(plain(document), ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """The value as JSON knows it: what is no finite number is null, what has no word of its own is text."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner) for inner in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Path):
        return value.as_posix()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


def show_frame(frame: pl.DataFrame, *, short: Callable[[pl.DataFrame], pl.DataFrame] | None = None) -> None:
    """Print a table on stdout: readable on a terminal, CSV into a pipe.

    Args:
        frame: the whole table; a pipe gets it as it is.
        short: makes of it what a terminal shows; None: all of it.
    """
    if not sys.stdout.isatty():
        click.echo(frame.write_csv(), nl=False)
        return
    frame = short(frame) if short is not None else frame
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(header_style="bold")
    numeric = [dtype.is_numeric() for dtype in frame.dtypes]
    for name, number in zip(frame.columns, numeric, strict=True):
        table.add_column(Text(name), justify="right" if number else "left")
    for row in frame.iter_rows():
        table.add_row(*(Text(_cell(value)) for value in row))
    Console().print(table)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"
    return str(value)
