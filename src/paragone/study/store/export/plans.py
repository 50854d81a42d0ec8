"""The plan of each frozen version, cut by owner."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl
import sqlalchemy as sa

from .. import versions
from ..tables import version

__all__ = ["Planned", "planned"]

_TRIALS = (
    "stage", "owner", "sheet", "session", "position", "trial", "kind", "left", "right", "item", "expected", "repeat_of",
    "check",
)  # fmt: skip


@dataclass(frozen=True)
class Planned:
    """A version's trials."""

    frame: pl.DataFrame
    """Text columns of the plan, rows of one owner together."""
    places: dict[tuple[str, str], tuple[int, int]]
    """(stage, owner) -> first row and number of rows."""

    def of(self, stage: str, owner: str) -> pl.DataFrame:
        """An owner's trials, in the plan's order; none where the plan has no such owner."""
        return self.frame.slice(*self.places.get((stage, owner), (0, 0)))

    def of_all(self, owners: Iterable[tuple[str, str]]) -> pl.DataFrame:
        """The trials of several owners."""
        parts = [self.of(*owner) for owner in owners]
        return pl.concat(parts) if parts else self.frame.clear()


def planned(c: sa.Connection) -> dict[int, Planned]:
    """The plan of each version, by its id."""
    ids = c.execute(sa.select(version.c.id).order_by(version.c.id)).scalars().all()
    return {one: _planned(found.plan) for one in ids if (found := versions.get(c, one)) is not None}


def _planned(plan: bytes) -> Planned:
    frame = (
        pl.read_csv(io.BytesIO(plan), infer_schema=False) if plan.strip() else pl.DataFrame(schema={"trial": pl.String})
    )
    absent = [name for name in _TRIALS if name not in frame.columns]
    frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in absent)
    frame = frame.with_columns(pl.col("owner").fill_null(pl.col("sheet")), pl.col("session").fill_null("1"))
    counts = frame.group_by("stage", "owner", maintain_order=True).len("rows")
    frame = counts.select("stage", "owner").join(frame, on=["stage", "owner"], how="left", maintain_order="left_right")
    starts = counts["rows"].cum_sum() - counts["rows"]
    keys = zip(counts["stage"].to_list(), counts["owner"].to_list(), strict=True)
    places = dict(zip(keys, zip(starts.to_list(), counts["rows"].to_list(), strict=True), strict=True))
    beside = sorted(name for name in frame.columns if name not in _TRIALS and "." in name)
    return Planned(frame.select(*_TRIALS, *beside), places)
