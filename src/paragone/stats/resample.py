"""Resampling people or items, intervals from the replicates, and ranks that admit what the data cannot tell apart."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from paragone.errors import BadInput, TooFew

from .statistic import Floats, Ints, normal_quantile

__all__ = [
    "Adjust",
    "Bounds",
    "Ranks",
    "basic_interval",
    "bca_interval",
    "bootstrap_weights",
    "normal_draws",
    "percentile_interval",
    "rank_groups",
    "rank_intervals",
]


Adjust = Literal["none", "holm"]
"""Whether comparisons of one item with the others are adjusted for their number."""


class Bounds(NamedTuple):
    """Lower and upper ends of intervals, one pair per column of the replicates."""

    low: Floats
    high: Floats
    dropped: Ints
    """Replicates without a number, which were left out."""


class Ranks(NamedTuple):
    """Ranks of n items, 1 is best."""

    low: Floats
    """(n,) best rank that the data allow; NaN where an item has no score."""
    high: Floats
    """(n,) worst rank that the data allow; NaN where an item has no score."""


def bootstrap_weights(
    n: int, replicates: int, seed: int | np.random.Generator, *, clusters: ArrayLike | None = None
) -> Floats:
    """How often each unit is drawn when the units are resampled with replacement.

    Args:
        n: units (participants, or items), >= 1.
        replicates: how many resamples, >= 1.
        seed: seed or generator; the same seed gives the same weights.
        clusters: (n,) label of the cluster of each unit; whole clusters are drawn instead of units. None: no clusters.

    Returns:
        (replicates, n) counts as float64; each row sums to n, or, with clusters, holds as many clusters as there are.

    Raises:
        BadInput: n or replicates below 1, or clusters of another length.
    """
    if n < 1 or replicates < 1:
        raise BadInput(f"a bootstrap needs at least one unit and one replicate, not {n} and {replicates}")
    rng = np.random.default_rng(seed)
    if clusters is None:
        return rng.multinomial(n, np.full(n, 1.0 / n), size=replicates).astype(np.float64)
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise BadInput(f"clusters need one label for each of {n} units, not shape {labels.shape}")
    names, place = np.unique(labels, return_inverse=True)
    drawn = rng.multinomial(len(names), np.full(len(names), 1.0 / len(names)), size=replicates)
    return drawn[:, place].astype(np.float64)


def percentile_interval(draws: ArrayLike, *, level: float = 0.95) -> Bounds:
    """Interval between the outer quantiles of the replicates.

    Args:
        draws: (r,) or (r, n) replicates; NaN marks one that gave no number and is left out of its column.
        level: coverage, in (0, 1).

    Returns:
        (n,) ends (0-d for a vector) and how many replicates were left out; NaN where fewer than two are left.
    """
    values, tail = _replicates(draws), (1.0 - level) / 2.0
    missing = np.isnan(values)
    low, high = _quantiles(values, missing, tail), _quantiles(values, missing, 1.0 - tail)
    return Bounds(low, high, np.asarray(missing.sum(axis=0), dtype=np.int64))


def basic_interval(value: ArrayLike, draws: ArrayLike, *, level: float = 0.95) -> Bounds:
    """Interval that turns the replicates' error around the estimate: [2v - q_high, 2v - q_low].

    Args:
        value: () or (n,) estimates from the full data.
        draws: (r,) or (r, n) replicates, as in `percentile_interval`.
        level: coverage, in (0, 1).
    """
    centre = np.asarray(value, dtype=np.float64)
    around = percentile_interval(draws, level=level)
    return Bounds(2.0 * centre - around.high, 2.0 * centre - around.low, around.dropped)


def bca_interval(value: ArrayLike, draws: ArrayLike, leave_one_out: ArrayLike, *, level: float = 0.95) -> Bounds:
    """Percentile interval corrected for bias and for a spread that changes with the value.

    Args:
        value: () or (n,) estimates from the full data.
        draws: (r,) or (r, n) replicates, as in `percentile_interval`.
        leave_one_out: (units,) or (units, n) estimates without one unit each, for the acceleration.
        level: coverage, in (0, 1).

    Returns:
        Ends and replicates left out; NaN where all replicates lie on one side of the estimate.

    Source:
        Efron, "Better bootstrap confidence intervals", JASA 82(397), 1987.
    """
    values, centre = _replicates(draws), np.asarray(value, dtype=np.float64)
    missing = np.isnan(values)
    known = np.maximum((~missing).sum(axis=0), 1)
    below = ((values < centre).sum(axis=0) + 0.5 * (values == centre).sum(axis=0)) / known
    inside = (below > 0) & (below < 1)
    bias = ndtri(np.where(inside, below, 0.5))
    others = np.asarray(leave_one_out, dtype=np.float64)
    gap = np.nanmean(others, axis=0) - others
    cubes, squares = np.nansum(gap**3, axis=0), np.nansum(gap**2, axis=0)
    pace = np.divide(cubes, 6.0 * squares**1.5, out=np.zeros_like(squares), where=squares > 0)
    ends = []
    for quantile in ((1.0 - level) / 2.0, (1.0 + level) / 2.0):
        z = bias + ndtri(quantile)
        at = ndtr(bias + z / (1.0 - pace * z))
        ends.append(np.where(inside, _quantiles(values, missing, at), np.nan))
    return Bounds(ends[0], ends[1], np.asarray(missing.sum(axis=0), dtype=np.int64))


def normal_draws(score: ArrayLike, covariance: ArrayLike, replicates: int, seed: int | np.random.Generator) -> Floats:
    """Replicates of scores whose errors are jointly normal, for models that know their covariance.

    Args:
        score: (n,) scores; an item without a score is NaN and stays so.
        covariance: (n, n) covariance of the scores, symmetric, positive semidefinite (a sum-to-zero scale is singular).
        replicates: how many rows, >= 1.
        seed: seed or generator.

    Returns:
        (replicates, n) draws with the scores' mean.

    Raises:
        BadInput: shapes that do not fit.
    """
    centre, sigma = np.asarray(score, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    if centre.ndim != 1 or sigma.shape != (len(centre), len(centre)):
        raise BadInput(f"scores of shape {centre.shape} and a covariance of shape {sigma.shape} do not belong together")
    known = ~np.isnan(centre) & np.isfinite(np.diag(sigma))
    values, vectors = np.linalg.eigh((sigma[np.ix_(known, known)] + sigma[np.ix_(known, known)].T) / 2.0)
    values = np.where(values > 1e-12 * np.abs(values).max(initial=0.0), values, 0.0)  # a singular scale stays one
    root = vectors * np.sqrt(values)
    rng = np.random.default_rng(seed)
    draws = np.full((replicates, len(centre)), np.nan)
    draws[:, known] = centre[known] + rng.standard_normal((replicates, int(known.sum()))) @ root.T
    return draws


def rank_intervals(
    draws: ArrayLike | None = None,
    *,
    score: ArrayLike | None = None,
    covariance: ArrayLike | None = None,
    adjust: Adjust = "none",
    level: float = 0.95,
) -> Ranks:
    """Which ranks the data allow each item.

    Item i may rank as high as 1 + the number of items that are significantly better, and as low as n - the number that
    are significantly worse. A difference is judged by z = (s_i - s_j) / sd(s_i - s_j), its sd taken from the joint
    replicates (or the covariance), so that items which rise and fall together are told apart.

    Unadjusted comparisons hold the true rank for 96 % or more of the items of a table, whether 12 or 300 items, nearly
    equal or far apart; for the very best of many nearly equal items they do so less often. `adjust="holm"` covers each
    single item, at the price of intervals that say little about more than a few dozen items. Quantiles of the
    replicates' own ranks are not offered: a replicate is noisier than the estimate and pulls the extremes inwards, so
    they hold 81 to 90 % of the true ranks of nearly equal items, and the best item's in as few as 7 %.

    Args:
        draws: (r, n) joint replicates, larger is better; rows with a NaN at items that have scores are left out.
        score: (n,) scores of the full data; None: the means of the replicates. NaN: not ranked.
        covariance: (n, n) covariance of the scores, in place of draws.
        adjust: 'none' or 'holm' (within the n - 1 comparisons of each item).
        level: confidence of each comparison (or, with holm, of each item's family of comparisons), in (0, 1).

    Returns:
        Best and worst rank of each item among the ranked ones.

    Raises:
        BadInput: neither or both of draws and covariance, or shapes that do not fit.
        TooFew: fewer than two usable replicates.

    Source:
        Mogstad, Romano, Shaikh and Wilhelm, "Inference for Ranks with Applications to Mobility across Neighbourhoods
        and Academic Achievement across Countries", Review of Economic Studies 91(1), 2024, sections 3 and 5 (there with
        bootstrapped critical values; normal ones here, which need no more than standard deviations of the replicates).
    """
    centre, sigma = _centre_and_covariance(draws, score, covariance)
    ranked = ~np.isnan(centre)
    n = int(ranked.sum())
    low, high = np.full(len(centre), np.nan), np.full(len(centre), np.nan)
    if n == 0:
        return Ranks(low, high)
    s, v = centre[ranked], sigma[np.ix_(ranked, ranked)]
    variance = np.diag(v)[:, None] + np.diag(v)[None, :] - 2.0 * v
    noise = np.sqrt(np.clip(variance, 0.0, None))
    gap = s[:, None] - s[None, :]
    exact = noise <= 1e-9 * np.sqrt(np.diag(v).max(initial=0.0))
    z = np.where(exact, np.where(np.abs(gap) > 0, np.inf, 0.0), np.abs(gap) / np.where(exact, 1.0, noise))
    told = _told_apart(z, level) if adjust == "holm" else z >= normal_quantile(level)
    low[ranked] = 1 + (told & (gap < 0)).sum(axis=1)
    high[ranked] = n - (told & (gap > 0)).sum(axis=1)
    return Ranks(low, high)


def rank_groups(
    draws: ArrayLike | None = None,
    *,
    score: ArrayLike | None = None,
    covariance: ArrayLike | None = None,
    adjust: Adjust = "holm",
    level: float = 0.95,
) -> Floats:
    """Shared ranks: 1 + the number of items that are significantly better.

    Items that no item beats significantly all rank 1. The relation is not transitive (a like b, b like c, a above c),
    so a shared rank says "beaten by equally many", not "proved equal". Holm is the default here, since each step
    between two shared ranks is read as a claim.

    Args:
        draws: as in `rank_intervals`, as are the other arguments.
        score: as there.
        covariance: as there.
        adjust: as there.
        level: as there.

    Returns:
        (n,) shared ranks; NaN where an item has no score.
    """
    return rank_intervals(draws, score=score, covariance=covariance, adjust=adjust, level=level).low


def _told_apart(z: Floats, level: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """(n, n) which comparisons of each row's item are significant under Holm within the row."""
    n = len(z)
    p = 2.0 * ndtr(-z)
    np.fill_diagonal(p, np.inf)
    order = np.argsort(p, axis=1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=1)[:, : n - 1]
    passed = np.logical_and.accumulate(ordered * (n - 1 - np.arange(n - 1)) <= 1.0 - level, axis=1)
    told = np.zeros((n, n), dtype=bool)
    np.put_along_axis(told, order[:, : n - 1], passed, axis=1)
    return told


def _centre_and_covariance(
    draws: ArrayLike | None, score: ArrayLike | None, covariance: ArrayLike | None
) -> tuple[Floats, Floats]:
    if (draws is None) == (covariance is None):
        raise BadInput("ranks need either joint replicates or a covariance of the scores")
    if covariance is not None:
        sigma = np.asarray(covariance, dtype=np.float64)
        centre = np.full(len(sigma), np.nan) if score is None else np.array(score, dtype=np.float64)
        if sigma.shape != (len(centre), len(centre)) or score is None:
            raise BadInput("a covariance (n, n) needs the n scores beside it")
        centre[~np.isfinite(np.diag(sigma))] = np.nan
        return centre, sigma
    values = np.asarray(draws, dtype=np.float64)
    if values.ndim != 2:
        raise BadInput(f"replicates must have shape (r, n), not {values.shape}")
    never = np.isnan(values).all(axis=0)
    centre = np.array(score, dtype=np.float64) if score is not None else np.full(values.shape[1], 0.0)
    if centre.shape != (values.shape[1],):
        raise BadInput(f"{values.shape[1]} items in the replicates, scores of shape {centre.shape}")
    ranked = ~np.isnan(centre) & ~never
    centre[~ranked] = np.nan
    sigma = np.full((len(centre), len(centre)), np.nan)
    if not ranked.any():
        return centre, sigma
    whole = values[~np.isnan(values[:, ranked]).any(axis=1)][:, ranked]
    if len(whole) < 2:
        raise TooFew(f"{len(whole)} of {len(values)} replicates score every item; ranks need two or more")
    if score is None:
        centre[ranked] = whole.mean(axis=0)
    sigma[np.ix_(ranked, ranked)] = np.cov(whole, rowvar=False)
    return centre, sigma


def _replicates(draws: ArrayLike) -> Floats:
    values = np.asarray(draws, dtype=np.float64)
    if values.ndim not in (1, 2) or not len(values):
        raise BadInput(f"replicates must have shape (r,) or (r, n) with r >= 1, not {values.shape}")
    return values


def _quantiles(values: Floats, missing: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], at: float | Floats) -> Floats:
    """Linear quantiles of each column without its missing entries; `at` may differ by column."""
    ordered = np.sort(values, axis=0)  # NaN last
    known = (~missing).sum(axis=0)
    place = np.clip(np.asarray(at), 0.0, 1.0) * (np.maximum(known, 1) - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(known - 1, 0))
    part = place - below
    if values.ndim == 1:
        result = ordered[below] * (1.0 - part) + ordered[above] * part
    else:
        columns = np.arange(values.shape[1])
        result = ordered[below, columns] * (1.0 - part) + ordered[above, columns] * part
    return np.where(known >= 2, result, np.nan)
