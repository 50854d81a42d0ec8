"""Scores in reading order: who leads, whom the data cannot tell apart, how many digits a column deserves."""

from __future__ import annotations

import polars as pl

from ..scores import Scores
from .digits import decimals_for, fixed
from .words import score_words

__all__ = [
    "MAKERS",
    "apart",
    "factor_of",
    "open_groups",
    "ranked",
    "score_axis",
    "score_decimals",
    "spread_of_n",
    "unit_words",
]


MAKERS = ("method", "generator", "model")
"""What made the picture, by the usual names of that factor, the likeliest first."""


def ranked(scores: Scores, criterion: str | None) -> pl.DataFrame:
    """Rows of a criterion, best first and those without a score last, with `label` (item or level) in front."""
    frame = scores.of_criterion(criterion).with_columns(label=pl.col(scores.key))
    groups = ["connected_group"] if apart(frame) else []
    size = pl.col("score") if scores.better == "lower" else -pl.col("score")
    frame = frame.with_columns(_size=size).sort([*groups, "_size", "label"], nulls_last=True).drop("_size")
    return frame.select("label", pl.exclude("label"))


def apart(frame: pl.DataFrame) -> bool:
    """Whether the rows fall into groups that were never compared with each other."""
    return "connected_group" in frame.columns and frame["connected_group"].drop_nulls().n_unique() > 1


def open_groups(frame: pl.DataFrame) -> list[tuple[int, int]]:
    """Runs of rows whose order the data leave open.

    Args:
        frame: columns rank_low and rank_high, best row first.

    Returns:
        First and last row (from 0) of each longest run a..b in which every row may hold any of the ranks a+1..b+1;
        runs of one row are left out. Nothing where a rank is unknown.
    """
    if frame["rank_low"].null_count() or frame["rank_high"].null_count():
        return []
    low, high = frame["rank_low"].to_list(), frame["rank_high"].to_list()
    found: list[tuple[int, int]] = []
    for first in range(len(low)):
        last, lowest, shared = first, low[first], high[first]
        while last + 1 < len(low):
            lowest, shared = max(lowest, low[last + 1]), min(shared, high[last + 1])
            if lowest > first + 1 or shared < last + 2:
                break
            last += 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def factor_of(scores: Scores) -> str:
    """The factor whose levels are scored; empty where items are."""
    return "" if scores.key == "item" else str(scores.frame["of"].drop_nulls().first() or "level")


def unit_words(scores: Scores) -> str:
    """Unit and direction: 'rating scale, higher is better'; empty where neither is known."""
    unit = scores.made.get("unit")
    told = [str(unit)] if unit else []
    if scores.better != "unknown":
        told.append(f"{scores.better} is better")
    return ", ".join(told)


def score_axis(scores: Scores, criterion: str | None) -> str:
    """'image appeal score (rating scale, higher is better)'."""
    told = unit_words(scores)
    return score_words(criterion) + (f" ({told})" if told else "")


def score_decimals(frame: pl.DataFrame) -> int:
    """Decimals for a column of scores: as the intervals allow."""
    return decimals_for(((frame["high"] - frame["low"]) / 2).to_list(), frame["score"].to_list())


def spread_of_n(values: pl.Series) -> str:
    """'n = 24', 'n = 22 to 27' or 'n unknown'."""
    known = [float(value) for value in values.drop_nulls()]
    if not known:
        return "n unknown"
    low, high = fixed(min(known), 0), fixed(max(known), 0)
    return f"n = {low}" if low == high else f"n = {low} to {high}"
