"""What importers of known layouts share: finding the file, looking at its first rows, items with their factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from ..benchmark import Benchmark
from ..errors import BadTable, NotFound
from ..tables import shown

__all__ = ["benchmark_of", "file_in", "no_references", "peek", "require", "sided", "without_second_answers"]

_LOOK = 200  # rows that tell a layout


def file_in(path: str | Path, *names: str) -> Path:
    """The file itself, or the first of `names` in the folder.

    Raises:
        NotFound: neither is there.
    """
    path = Path(path)
    if not path.is_dir():
        if not path.exists():
            raise NotFound.path(path, "file or folder")
        return path
    for name in names:
        if (path / name).is_file():
            return path / name
    raise NotFound(f"no {' or '.join(names)} in '{path}'; name the file or its folder", where=str(path))


def peek(path: Path, *names: str) -> pl.DataFrame:
    """The first rows of the CSV file at `path`, or of the first of `names` in it; an empty frame if there is none."""
    if path.is_dir():
        path = next((path / name for name in names if (path / name).is_file()), path)
    if path.suffix.lower() != ".csv" or not path.is_file():
        return pl.DataFrame()
    try:
        return pl.read_csv(path, n_rows=_LOOK, infer_schema=False, truncate_ragged_lines=True, glob=False)
    except (pl.exceptions.PolarsError, OSError):
        return pl.DataFrame()


def require(frame: pl.DataFrame, columns: Sequence[str], where: str) -> None:
    """Refuse a table that lacks a column of its layout.

    Raises:
        BadTable: names every missing column.
    """
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        there = ", ".join(shown(name) for name in frame.columns[:12])
        raise BadTable(f"{where}: column '{missing[0]}' of this layout is missing (there is {there})", where=where)


def benchmark_of(
    items: pl.DataFrame,
    *,
    name: str,
    criteria: Sequence[str] = (),
    references: pl.DataFrame | None = None,
    folder: Path = Path(),
    description: str = "",
    licence: str = "",
) -> Benchmark:
    """A benchmark of the distinct rows of `items`, sorted; `item`, perhaps `image`, then factors.

    Raises:
        BadTable: one item has two levels of a factor.
    """
    items = items.unique().sort(items.columns)
    if "image" not in items.columns:
        items = items.with_columns(pl.lit(None, dtype=pl.String).alias("image"))
    twice = items.filter(pl.col("item").is_duplicated())
    if twice.height:
        item = twice["item"][0]
        factor = next(column for column in twice.columns if twice.filter(pl.col("item") == item)[column].n_unique() > 1)
        raise BadTable(f"{name}: item '{shown(item)}' has two levels of {factor}", where=name)
    return Benchmark(
        items,
        no_references() if references is None else references,
        name=name,
        criteria=tuple(criteria),
        folder=folder,
        description=description,
        licence=licence,
    )


def no_references() -> pl.DataFrame:
    """An empty table of references."""
    return pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})


def sided(frame: pl.DataFrame, factors: Mapping[str, tuple[str, str]]) -> pl.DataFrame:
    """Items on either side of votes, one row per appearance.

    Args:
        frame: votes.
        factors: factor -> its columns for the left and the right item.

    Returns:
        Columns item and the factors.
    """
    left = frame.select(pl.col("left").alias("item"), *(pl.col(one).alias(name) for name, (one, _) in factors.items()))
    right = frame.select(
        pl.col("right").alias("item"), *(pl.col(two).alias(name) for name, (_, two) in factors.items())
    )
    return pl.concat([left, right])


def without_second_answers(notes: Sequence[str]) -> tuple[str, ...]:
    """A reader's notes but those on second answers, for a layout whose ids become whole only after reading."""
    return tuple(note for note in notes if "had answered before" not in note)
