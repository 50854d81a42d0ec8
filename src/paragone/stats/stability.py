"""How far a ranking from some of the people agrees with the ranking from all: the curve by which a study stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from paragone.errors import BadInput, TooFew

from .statistic import Floats, Ints

__all__ = ["Stability", "rank_agreement", "stability_curve"]

_CHUNK = 50  # replicates scored at once: bounds memory


class Stability(NamedTuple):
    """Agreement with the ranking of all, one entry per number of people."""

    size: Ints
    """(k,) people drawn."""
    median: Floats
    """(k,) median Spearman correlation of the replicates' rankings with the ranking of all, in [-1, 1]."""
    low: Floats
    """(k,) its lower bound: the `tail` quantile of the replicates, in [-1, 1]."""
    replicates: int
    """Resamples behind each entry."""
    undetermined: Ints
    """(k,) replicates that gave no ranking at all; they count as a correlation of 0."""


def stability_curve(
    replicate: Callable[[Floats], Floats],
    score: ArrayLike,
    n_people: int,
    sizes: Sequence[int],
    *,
    replicates: int = 200,
    tail: float = 0.025,
    seed: int | np.random.Generator = 0,
) -> Stability:
    """Correlate rankings from resampled people with the ranking of all of them.

    For each size that many people are drawn with replacement, again and again. At the size of all people this is the
    bootstrap by participant: how far another study of the same size would agree with this one.

    Args:
        replicate: (r, n_people) weights -> (r, n) scores, larger is better; NaN where a replicate leaves an item (or,
            a whole row of NaN, everything) without a score.
        score: (n,) scores of all answers; NaN: not ranked.
        n_people: people behind them, >= 2.
        sizes: how many people to draw, each >= 1.
        replicates: resamples at each size, >= 2.
        tail: which quantile is the lower bound, in (0, 0.5).
        seed: seed or generator.

    Returns:
        The curve, in the order of `sizes`.

    Raises:
        TooFew: fewer than two people, or fewer than two items with different scores.
        BadInput: a size below 1, fewer than two replicates, or a tail outside (0, 0.5).

    Source:
        Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7(1), 1979, section 2 (people
        as units); the curve over sizes and the rule for missing ranks are ours.
    """
    if n_people < 2:
        raise TooFew(f"{n_people} people; a stability curve resamples two or more")
    if replicates < 2 or not 0.0 < tail < 0.5 or any(size < 1 for size in sizes):
        raise BadInput("a stability curve needs sizes >= 1, two or more replicates and a tail between 0 and 0.5")
    rng = np.random.default_rng(seed)
    median, low = np.full(len(sizes), np.nan), np.full(len(sizes), np.nan)
    lost = np.zeros(len(sizes), dtype=np.int64)
    for place, size in enumerate(sizes):
        weights = rng.multinomial(size, np.full(n_people, 1.0 / n_people), size=replicates).astype(np.float64)
        drawn = [replicate(weights[start : start + _CHUNK]) for start in range(0, replicates, _CHUNK)]
        found = rank_agreement(np.concatenate(drawn), score)
        lost[place] = int(np.isnan(found).sum())
        kept = np.where(np.isnan(found), 0.0, found)
        median[place], low[place] = np.quantile(kept, [0.5, tail])
    return Stability(np.asarray(sizes, dtype=np.int64), median, low, replicates, lost)


def rank_agreement(draws: ArrayLike, score: ArrayLike) -> Floats:
    """Spearman correlation of each row with the scores.

    Args:
        draws: (r, n) scores of replicates. An item without a score (NaN) shares the middle rank: what is not known
            cannot raise the agreement.
        score: (n,) scores of all; items without one (NaN) are left out everywhere.

    Returns:
        (r,) in [-1, 1]; NaN for a row without two different scores.

    Raises:
        TooFew: fewer than two items with different scores.
        BadInput: shapes that do not fit.
    """
    rows, centre = np.asarray(draws, dtype=np.float64), np.asarray(score, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1:] != centre.shape:
        raise BadInput(f"replicates of shape {rows.shape} do not belong to scores of shape {centre.shape}")
    ranked = ~np.isnan(centre)
    whole = _centred_ranks(centre[None, ranked])[0]
    if not np.any(whole):
        raise TooFew("fewer than two items have different scores; nothing is ranked yet")
    parts = _centred_ranks(rows[:, ranked])
    length = np.sqrt((parts**2).sum(axis=1) * (whole**2).sum())
    agreement: Floats = np.divide(parts @ whole, length, out=np.full(len(rows), np.nan), where=length > 0)
    return np.clip(agreement, -1.0, 1.0)


def _centred_ranks(rows: Floats) -> Floats:
    """Mid-ranks of each row minus their mean; 0, the middle, where there is no score."""
    known = ~np.isnan(rows)
    ranks = rankdata(np.where(known, rows, np.inf), axis=1)  # unknown ones come last and disturb no other
    middle = (known.sum(axis=1, keepdims=True) + 1) / 2
    centred: Floats = np.where(known, ranks - middle, 0.0)
    return centred
