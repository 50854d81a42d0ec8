"""`Plan`: the trials to be shown, sheet by sheet, in order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import polars as pl

from .errors import BadTable
from .judgements import KINDS
from .tables import Column, Schema, checked, read_table, write_table

__all__ = ["PLAN", "Plan"]

PLAN = Schema(
    "plan",
    (
        Column(name="trial", kind="id", required=True, nullable=False, doc="Id of the trial; unique in the plan."),
        Column(name="sheet", kind="id", required=True, nullable=False, doc="Whose ordered session it belongs to."),
        Column(name="session", kind="id", doc="Sitting within the sheet's owner; null: the only one."),
        Column(name="stage", kind="id", required=True, nullable=False, doc="Stage of the study."),
        Column(name="position", kind="whole", required=True, nullable=False, low=1, doc="Place in the sheet, from 1."),
        Column(name="kind", kind="text", required=True, nullable=False, choices=KINDS, doc="What the trial is for."),
        Column(name="left", kind="id", doc="Item on the left; null in a rating trial."),
        Column(name="right", kind="id", doc="Item on the right; null in a rating trial."),
        Column(name="item", kind="id", doc="Item to be rated; null in a pairwise trial."),
        Column(name="expected", kind="text", doc="Right answer of a check: left, right, tie or a number; else null."),
        Column(name="repeat_of", kind="id", doc="Trial that this one repeats; null: none."),
    ),
)


@dataclass(frozen=True)
class Plan:
    """Trials as rows; every criterion of the study is asked in each of them."""

    frame: pl.DataFrame
    """Columns as in `PLAN`, sorted by sheet and position."""

    def __post_init__(self) -> None:
        frame = checked(self.frame, PLAN, where="plan")
        pair = pl.col("left").is_not_null() & pl.col("right").is_not_null()
        neither = frame.filter(~(pair ^ pl.col("item").is_not_null()))
        if neither.height:
            raise BadTable(f"plan: trial '{neither['trial'][0]}' needs either left and right, or an item", where="plan")
        if frame["trial"].is_duplicated().any():
            twice = frame.filter(frame["trial"].is_duplicated())["trial"][0]
            raise BadTable(f"plan: trial '{twice}' stands twice", where="plan")
        object.__setattr__(self, "frame", frame.sort("sheet", "position"))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read plan.csv (or .parquet).

        Raises:
            NotFound: no such file.
            BadTable: it breaks the contract.
        """
        return cls(checked(read_table(path), PLAN, where=Path(path).name))

    def write(self, path: str | Path) -> Path:
        """Write CSV or Parquet, by the ending."""
        return write_table(self.frame, path)

    @property
    def sheets(self) -> list[str]:
        """Ids of the sheets, sorted."""
        return self.frame["sheet"].unique().sort().to_list()
