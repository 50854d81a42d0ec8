"""`Consistency`: one row per statistic, criterion and stage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

from ..stats.statistic import Statistic

__all__ = ["COLUMNS", "Consistency", "Row", "gathered"]

COLUMNS = {
    "statistic": pl.String,
    "criterion": pl.String,
    "stage": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "note": pl.String,
}
"""Columns of the table and their types; value, low and high are null where there is none, and `note` says why."""


@dataclass(frozen=True)
class Consistency:
    """How far people agree with people."""

    frame: pl.DataFrame
    """Columns as in `COLUMNS`; a null stage stands for all stages together, or for the only one."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What a reader must know: tables of first against second answers, who was used, unmatched repeats."""


class Row(NamedTuple):
    """One line of the table to be."""

    statistic: str
    criterion: str | None
    stage: str | None
    result: Statistic


def gathered(rows: Iterable[Row]) -> pl.DataFrame:
    """The table of some rows, NaN turned into null."""
    records = [
        {
            "statistic": row.statistic,
            "criterion": row.criterion,
            "stage": row.stage,
            "value": _known(row.result.value),
            "low": _known(row.result.low),
            "high": _known(row.result.high),
            "n": row.result.n,
            "note": row.result.note or None,
        }
        for row in rows
    ]
    return pl.DataFrame(records, schema=COLUMNS)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
