"""made.csv: what became of every cell, how it was made, and the size of its picture as it is published."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ...tables import read_table
from ..cells import record_of

__all__ = ["BROUGHT", "made_table"]

BROUGHT: Mapping[str, str] = {
    "resize": "resized, each side by itself",
    "crop": "cropped in the centre and resized",
    "pad": "resized and padded with grey borders",
}
"""`aligned` in made.csv, as in make.toml -> what was done to a picture of another size than its content."""

_CELLS = ("cells.csv", "generated.csv", "made.csv")  # the last one is that of a pack that was imported
_PRIVATE = ("reason", "image", "file", "path", "log", "device")
_SIZES = ("width", "height", "given_width", "given_height", "aligned")

_Size = tuple[int, int]


def made_table(folder: Path, pictures: Mapping[str, Path], sizes: Mapping[str, _Size]) -> pl.DataFrame | None:
    """Return what is told of every cell, without columns that may name files and machines of who made it.

    Sizes are those of the pictures themselves, whatever the table says. What a method gave comes from the record beside the
    picture, else from the table.

    Args:
        folder: the benchmark's; cells.csv, generated.csv or made.csv may lie in it.
        pictures: item -> its picture file.
        sizes: item -> width and height of that picture, in pixels.

    Returns:
        Columns of the table; of cells.csv also width and height of the published picture, given_width and given_height as
        the method gave it, and `aligned`, one of `BROUGHT` where the picture was brought from the one size to the other.
        Null: there is no such picture, or nothing was said. None: no table has columns item and status.

    Raises:
        BadTable: the table cannot be read.
    """
    for name in _CELLS:
        if (folder / name).is_file():
            frame = read_table(folder / name)
            if {"item", "status"} <= set(frame.columns):
                told = frame.drop(_PRIVATE, strict=False)
                return _of_cells(told, pictures, sizes) if name == "cells.csv" else _with_own_sizes(told, sizes)
    return None


def _of_cells(frame: pl.DataFrame, pictures: Mapping[str, Path], sizes: Mapping[str, _Size]) -> pl.DataFrame:
    rows = []
    for row in frame.iter_rows(named=True):
        own = sizes.get(row["item"])
        record = _record(row["item"], pictures)
        given = _pair(record.get("given")) or _told(row)
        word = str(record.get("aligned", "")).partition(":")[0]
        rows.append((*(own or (None, None)), *(given or (None, None)), word if own and word in BROUGHT else None))
    told = pl.DataFrame(
        [[None if value is None else str(value) for value in row] for row in rows],
        schema=dict.fromkeys(_SIZES, pl.String),
        orient="row",
    )
    kept = frame.drop(_SIZES, strict=False)
    at = kept.columns.index("status") + 1
    return pl.concat([kept[:, :at], told, kept[:, at:]], how="horizontal")


def _with_own_sizes(frame: pl.DataFrame, sizes: Mapping[str, _Size]) -> pl.DataFrame:
    """Width and height of every picture that is there; what is told of others, for example what was asked for, stays."""
    for k, name in enumerate(("width", "height")):
        if name in frame.columns:
            own = [
                str(sizes[item][k]) if item in sizes else told
                for item, told in frame.select("item", pl.col(name).cast(pl.String)).iter_rows()
            ]
            frame = frame.with_columns(pl.Series(name, own, dtype=pl.String))
    return frame


def _record(item: str, pictures: Mapping[str, Path]) -> dict[str, Any]:
    """The record beside an item's picture; nothing where there is none, or it is another's."""
    record = record_of(pictures[item]) if item in pictures else None
    return record if record is not None and record.get("item") == item else {}


def _told(row: Mapping[str, Any]) -> _Size | None:
    """Size that a method gave, as cells.csv has it; tables of before had it as width and height."""
    columns = ("given_width", "given_height") if "given_width" in row else ("width", "height")
    return _pair([row.get(name) for name in columns])


def _pair(told: object) -> _Size | None:
    if not isinstance(told, list) or len(told) != 2 or not all(str(value).isdecimal() for value in told):
        return None
    return int(told[0]), int(told[1])
