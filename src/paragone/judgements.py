"""What people said: `Votes` on pairs and `Ratings` of single items."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import polars as pl

from .errors import BadTable
from .tables import Column, Schema, checked, read_table, write_table

__all__ = ["KINDS", "RATINGS", "VOTES", "Ratings", "Votes"]

KINDS = ("main", "check", "repeat", "training", "stabilising")
"""What a trial is for. Scores come from main and repeat; checks, training and stabilising trials never enter them."""

_ASKED = (
    Column(name="participant", kind="id", doc="Who answered; null: one unknown person for all rows."),
    Column(name="session", kind="id", doc="Which sitting of that participant; null: the only one."),
    Column(name="stage", kind="id", doc="Stage of the study; null: it has one."),
    Column(name="trial", kind="id", doc="Trial of the plan; null: unknown."),
    Column(name="kind", kind="text", choices=KINDS, doc="What the trial was for; null: main."),
    Column(name="criterion", kind="id", doc="What was asked; null: one unnamed criterion."),
)
_TIMED = (
    Column(name="repeat_of", kind="id", doc="Trial that this one repeats; null: none."),
    Column(
        name="seconds", kind="number", doc="Response time from the moment all pictures were painted; null: unknown."
    ),
)

VOTES = Schema(
    "votes",
    (
        *_ASKED,
        Column(name="left", kind="id", required=True, nullable=False, doc="Item shown on the left."),
        Column(name="right", kind="id", required=True, nullable=False, doc="Item shown on the right."),
        Column(
            name="choice",
            kind="text",
            required=True,
            nullable=False,
            choices=("left", "right", "tie"),
            doc="What the participant chose.",
        ),
        Column(
            name="expected", kind="text", choices=("left", "right", "tie"), doc="Right answer of a check; else null."
        ),
        *_TIMED,
    ),
)

RATINGS = Schema(
    "ratings",
    (
        *_ASKED,
        Column(name="item", kind="id", required=True, nullable=False, doc="Item that was rated."),
        Column(name="value", kind="number", required=True, nullable=False, doc="Rating, in the study's own scale."),
        Column(name="expected", kind="number", doc="Right answer of a check; else null."),
        *_TIMED,
    ),
)


@dataclass(frozen=True)
class Votes:
    """Pairwise answers, one row each; columns as in `VOTES`, further columns are kept."""

    frame: pl.DataFrame

    def __post_init__(self) -> None:
        object.__setattr__(self, "frame", checked(self.frame, VOTES, where="votes"))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a table that uses our column names; `paragone.sources.read_votes` maps other words.

        Raises:
            NotFound: no such file.
            BadTable: the file breaks the contract; holds all faults.
        """
        return cls(checked(_not_empty(read_table(path), path), VOTES, where=Path(path).name))

    def write(self, path: str | Path) -> Path:
        """Write CSV or Parquet, by the ending; columns that are null throughout are left out of a CSV."""
        return write_table(_spare(self.frame, VOTES), path)

    @property
    def items(self) -> list[str]:
        """Sorted ids of every item shown."""
        return sorted(set(self.frame["left"].unique()) | set(self.frame["right"].unique()))

    @property
    def main(self) -> Self:
        """The answers that scores may use: kind main, repeat or null."""
        return type(self)(_scored(self.frame))


@dataclass(frozen=True)
class Ratings:
    """Single-item answers, one row each; columns as in `RATINGS`, further columns are kept."""

    frame: pl.DataFrame

    def __post_init__(self) -> None:
        object.__setattr__(self, "frame", checked(self.frame, RATINGS, where="ratings"))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a table that uses our column names; `paragone.sources.read_ratings` maps other words.

        Raises:
            NotFound: no such file.
            BadTable: the file breaks the contract; holds all faults.
        """
        return cls(checked(_not_empty(read_table(path), path), RATINGS, where=Path(path).name))

    def write(self, path: str | Path) -> Path:
        """Write CSV or Parquet, by the ending; columns that are null throughout are left out of a CSV."""
        return write_table(_spare(self.frame, RATINGS), path)

    @property
    def items(self) -> list[str]:
        """Sorted ids of every item rated."""
        return sorted(self.frame["item"].unique())

    @property
    def main(self) -> Self:
        """The answers that scores may use: kind main, repeat or null."""
        return type(self)(_scored(self.frame))


def _scored(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("kind").is_null() | pl.col("kind").is_in(["main", "repeat"]))


def _not_empty(frame: pl.DataFrame, path: str | Path) -> pl.DataFrame:
    if frame.height == 0:
        raise BadTable(f"{Path(path).name}: a header and no rows; nothing to read", where=str(path))
    return frame


def _spare(frame: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    required = {column.name for column in schema.columns if column.required}
    return frame.select(name for name in frame.columns if name in required or frame[name].null_count() < frame.height)
