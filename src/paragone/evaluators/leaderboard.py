"""A new method among the known ones: means of levels by people and by an evaluator, and the ranks that they leave open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import norm

from ..errors import TooFew
from ..scores import Scores
from .evaluator import Evaluator

__all__ = ["LEADERBOARD", "leaderboard"]

LEADERBOARD = {
    "criterion": pl.String,
    "level": pl.String,
    "by": pl.String,
    "score": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "rank_low": pl.Int64,
    "rank_high": pl.Int64,
    "far": pl.Float64,
    "simulated": pl.Boolean,
}
"""Columns: criterion (null: one unnamed), level of the ranked factor, by ('people' or 'evaluator'), mean score with its 95 %
interval, n pictures, best and worst rank that the intervals allow, and of a new level the share of its pictures that lie
out of the evaluator's range (null for people); simulated: the people were, whom the evaluator learned from."""

_LIKE = 1e-9


def leaderboard(evaluator: Evaluator, rated: Scores, *, level: str, items: pl.DataFrame) -> pl.DataFrame:
    """Rank a new level among the known ones, on the references that it has results for.

    The mean of a known level is that of its scores of people over the same references; its interval takes the items'
    errors as independent. The mean of the new level is the evaluator's; its interval is what held for unseen levels (wider
    where it has fewer results than those had), or, where that is not known, that of the mean of independent items. Two
    levels may change places where intervals overlap.
    Where the new items have known levels of the ranked factor (it is a content or a style), there is nothing to rank, and
    the new one stands alone, without an interval.

    Args:
        evaluator: what rated.
        rated: its scores of the new level's items.
        level: name of the new level.
        items: columns item and the other factors of the new items.

    Returns:
        Rows as in `LEADERBOARD`, by criterion, best first.

    Raises:
        TooFew: no item of the new level has a score.
    """
    others = [name for name in evaluator.factors() if name != evaluator.factor and name in items.columns]
    others = [name for name in others if items[name].null_count() < items.height]
    known = evaluator.people
    scored = rated.frame.filter(pl.col("score").is_not_null()).join(items, on="item", how="left", maintain_order="left")
    if scored.is_empty():
        raise TooFew(f"no picture of '{level}' has a score", where=level)
    if others:
        cells = scored.select(others).unique()
        known = known.join(cells, on=others, how="semi", maintain_order="left")
    far = set(rated.made.get("far", ()))
    ranked = bool(evaluator.factor) and not _known_levels(evaluator, items)
    rows = []
    for criterion in evaluator.criteria:
        own = scored.filter(pl.col("criterion").eq_missing(criterion))
        half = math.nan  # of a level of another factor than the held-out one nothing is known
        if ranked or not evaluator.factor:
            half = evaluator.heads[criterion].errors.of_mean(own.height)
            half = _half(own) if math.isnan(half) else half
        mean = float(own["score"].mean())  # type: ignore[arg-type]
        beyond = float(np.mean([item in far for item in own["item"]]))
        table: list[tuple[Any, ...]] = [
            (criterion, level, "evaluator", mean, mean - half, mean + half, own.height, beyond)
        ]
        if ranked:
            theirs = known.filter(pl.col("criterion").eq_missing(criterion) & pl.col(evaluator.factor).is_not_null())
            for (name,), part in theirs.group_by(evaluator.factor, maintain_order=True):
                middle, wide = float(part["score"].mean()), _half(part)  # type: ignore[arg-type]
                table.append((criterion, str(name), "people", middle, middle - wide, middle + wide, part.height, None))
        rows += [(*row, evaluator.simulated) for row in _ranked(table, higher=evaluator.better != "lower")]
    return pl.DataFrame(rows, schema=LEADERBOARD, orient="row")


def _known_levels(evaluator: Evaluator, items: pl.DataFrame) -> bool:
    """Whether the new items have levels of the ranked factor that people's items have too."""
    if evaluator.factor not in items.columns:
        return False
    own = items[evaluator.factor].drop_nulls().cast(pl.String)
    return bool(own.is_in(evaluator.people[evaluator.factor].drop_nulls().unique().to_list()).any())


def _half(rows: pl.DataFrame) -> float:
    """Half width of the 95 % interval of a mean of items whose errors are independent; NaN where one has no interval."""
    half = (rows["high"] - rows["low"]).cast(pl.Float64).fill_null(math.nan).to_numpy() / 2.0
    stderr = half / float(norm.ppf(0.975))
    return float(norm.ppf(0.975)) * float(np.sqrt((stderr**2).sum())) / len(stderr)


def _ranked(rows: Sequence[tuple[Any, ...]], *, higher: bool) -> list[tuple[Any, ...]]:
    """The rows, best first, with the best and worst rank that their intervals leave open; of one without, no ranks."""
    sign = 1.0 if higher else -1.0
    score, low, high = (np.array([row[at] for row in rows], dtype=np.float64) for at in (3, 4, 5))
    known = ~np.isnan(low)
    ends = np.sort(np.stack([sign * low, sign * high]), axis=0)
    made = []
    for at in np.argsort(-sign * score, kind="stable"):
        row = rows[at]
        best = worst = None
        if known.all():
            best = 1 + int((ends[0] > ends[1, at] + _LIKE).sum())
            worst = len(rows) - int((ends[1] < ends[0, at] - _LIKE).sum())
        bounds = [None if math.isnan(float(end)) else float(end) for end in (low[at], high[at])]
        made.append((*row[:4], *bounds, row[6], best, worst, row[7]))
    return made
