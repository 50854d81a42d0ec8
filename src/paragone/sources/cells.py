"""Cells of foreign tables: decimal commas, blanks around ids, rows without content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from ..tables import Column, Schema, Table, checked, shown

__all__ = ["Cleaned", "clean_number", "composed", "without_blank_rows"]

_COMMA = r"^\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$"
_POINT = r"^\s*[+-]?\d*\.\d*([eE][+-]?\d+)?\s*$"
_GROUPS = r"^\s*[+-]?\d{1,3}(,\d{3})+\s*$"


class Cleaned(NamedTuple):
    """A column after cleaning."""

    series: pl.Series
    faults: list[str]
    notes: list[str]


def clean_number(series: pl.Series, name: str, separator: str, rows: pl.Series | None = None) -> Cleaned:
    """Turn decimal commas into points, where the whole column has them; leave everything else as it is.

    Args:
        series: cells of a column of numbers; other than text comes back unchanged.
        name: what the file calls the column.
        separator: what separates the cells of the file. Between semicolons '1,250' is one and a quarter; elsewhere it
            may be a thousand and is refused.
        rows: number of each row in the file; None: counted from 2.

    Returns:
        The column; a fault for every cell (the first few, the rest counted) whose comma can be read in two ways.
    """
    if series.dtype != pl.String:
        return Cleaned(series, [], [])
    commas = series.str.contains(_COMMA).fill_null(False)
    grouped = series.str.contains(_GROUPS).fill_null(False)
    if not commas.any() and not grouped.any():
        return Cleaned(series, [], [])
    if series.str.contains(_POINT).fill_null(False).any():
        problem = "has a decimal comma where other rows have a point"
        return Cleaned(series, _named(series, commas | grouped, name, problem, rows), [])
    if separator != ";" and not (commas & ~grouped).any():
        problem = "has a comma that may mark decimals or thousands; write it without"
        return Cleaned(series, _named(series, grouped, name, problem, rows), [])
    made = series.str.replace(",", ".", literal=True, n=1)
    kept = pl.DataFrame({"made": made, "series": series, "commas": commas}).select(
        pl.when("commas").then("made").otherwise("series").alias(series.name)
    )
    return Cleaned(kept.to_series(), [], [f"column '{shown(name)}' has decimal commas"])


def _named(series: pl.Series, wrong: pl.Series, name: str, problem: str, rows: pl.Series | None) -> list[str]:
    places = wrong.arg_true()
    faults = [
        f"row {rows[k] if rows is not None else k + 2}: {shown(name)} '{shown(series[k])}' {problem}"
        for k in places.head(3)
    ]
    if len(places) > 3:
        faults.append(f"{len(places) - 3} more rows where {shown(name)} {problem}")
    return faults


def without_blank_rows(table: Table) -> tuple[pl.DataFrame, pl.Series, list[str]]:
    """The frame without its blank rows, the number of each row in the file, and a note if any was left out."""
    frame = table.frame
    rows = pl.int_range(table.first, table.first + frame.height, dtype=pl.Int64, eager=True).alias("row")
    if not frame.width or not frame.height or frame[frame.columns[0]].null_count() == 0:
        return frame, rows, []
    held = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
    blank = int((~held).sum())
    if not blank:
        return frame, rows, []
    return frame.filter(held), rows.filter(held), [f"blank rows left out: {blank}"]


def composed(table: Table, columns: Mapping[str, str]) -> Table:
    """Make the columns that a map joins with plus signs: `item=content+style` gives items such as 'c1/s2'.

    Args:
        table: the table of the file.
        columns: our column -> the file's.

    Returns:
        The table with the joined columns, under the map's words for them, behind its own.
    """
    frame, doubts = table.frame, dict(table.doubts)
    for theirs in columns.values():
        parts = [part.strip() for part in theirs.split("+")]
        if theirs in frame.columns or len(parts) < 2 or not set(parts) <= set(frame.columns):
            continue
        ids = Schema("ids", tuple(Column(name=part, kind="id", doc="Part of an id.") for part in dict.fromkeys(parts)))
        words = checked(frame.select(list(dict.fromkeys(parts))), ids)
        frame = frame.with_columns(words.select(pl.concat_str(parts, separator="/").alias(theirs)).to_series())
        doubts[theirs] = tuple(fault for part in parts for fault in doubts.get(part, ()))
    return replace(table, frame=frame, doubts=doubts)
