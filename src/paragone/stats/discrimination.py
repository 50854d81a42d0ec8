"""Does a predictor tell apart what people tell apart? Pairs of items, errors against people's own intervals."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from scipy.stats import chi2, rankdata

from paragone.errors import BadInput

from .statistic import Floats, Ints, Statistic, normal_quantile

__all__ = [
    "Pairs",
    "better_worse",
    "better_worse_replicates",
    "different_similar",
    "different_similar_replicates",
    "outlier_ratio",
    "pairwise_accuracy",
    "pairwise_accuracy_replicates",
    "rmse_interval",
    "rmse_star",
    "significant_pairs",
]

_BLOCK = 4_000_000  # numbers held at once while replicates are computed: 32 MB
_EXACT_WORK = 3_000_000  # pairs times replicates up to which areas are recomputed exactly: a quarter of a second


class Pairs(NamedTuple):
    """All pairs of items that people scored, and which differences are more than noise."""

    first: Ints
    """(p,) index of one item."""
    second: Ints
    """(p,) index of the other, larger than `first`."""
    difference: Floats
    """(p,) people's score of the first minus the second."""
    significant: NDArray[np.bool_]
    """(p,) True where the difference is significant at the level asked for."""


def significant_pairs(
    score: ArrayLike, *, stderr: ArrayLike | None = None, draws: ArrayLike | None = None, level: float = 0.95
) -> Pairs:
    """Every pair of items, with a two-sided z test of people's difference.

    Args:
        score: (n,) scores of people, finite.
        stderr: (n,) standard errors of the scores, >= 0, taken as independent; NaN: the item's pairs are left out.
        draws: (r, n) joint replicates in place of standard errors: the sd of each difference, covariance included.
        level: confidence of each single comparison, in (0, 1); not adjusted for their number, as in the source.

    Returns:
        The n (n - 1) / 2 pairs whose noise is known.

    Raises:
        BadInput: neither or both of stderr and draws, or shapes that do not fit.

    Source:
        Krasula, Fliegel, Le Callet and Klima, "On the accuracy of objective image and video quality models: new
        methodology for performance evaluation", QoMEX 2016, section 2.
    """
    s = np.asarray(score, dtype=np.float64)
    if (stderr is None) == (draws is None):
        raise BadInput("significance of pairs needs either standard errors or joint replicates")
    if stderr is not None:
        error = np.asarray(stderr, dtype=np.float64)
        if s.ndim != 1 or error.shape != s.shape:
            raise BadInput(f"scores of shape {s.shape} and standard errors of shape {error.shape} do not fit")
        variance = error[:, None] ** 2 + error[None, :] ** 2
    else:
        values = np.asarray(draws, dtype=np.float64)
        if s.ndim != 1 or values.ndim != 2 or values.shape[1:] != s.shape:
            raise BadInput(f"scores of shape {s.shape} and replicates of shape {values.shape} do not fit")
        values = values[~np.isnan(values).any(axis=1)]
        if len(values) < 2:
            raise BadInput("fewer than two replicates score every item")
        sigma = np.atleast_2d(np.cov(values, rowvar=False))
        variance = np.diag(sigma)[:, None] + np.diag(sigma)[None, :] - 2.0 * sigma
    i, j = np.triu_indices(len(s), k=1)
    noise, gap = np.sqrt(np.clip(variance[i, j], 0.0, None)), s[i] - s[j]
    known = ~np.isnan(noise) & ~np.isnan(gap)
    i, j, noise, gap = i[known], j[known], noise[known], gap[known]
    z = np.where(noise > 0, np.abs(gap) / np.where(noise > 0, noise, 1.0), np.where(gap != 0, np.inf, 0.0))
    return Pairs(i, j, gap, 2.0 * ndtr(-z) < 1.0 - level)


def pairwise_accuracy(x: ArrayLike, pairs: Pairs) -> Statistic:
    """Share of the pairs that people tell apart which the predictor orders as people do; a tie counts half.

    Args:
        x: (n,) scores of the predictor, turned so that larger means better.
        pairs: from `significant_pairs`.

    Returns:
        Share in [0, 1] and n = pairs told apart; NaN with a note where there are none. Its interval comes from
        `pairwise_accuracy_replicates`, since pairs share items.
    """
    v = np.asarray(x, dtype=np.float64)
    n = int(pairs.significant.sum())
    if not n:
        return Statistic.undefined(0, "people tell no two items apart")
    return Statistic(float(_ordered(v, pairs)[pairs.significant].mean()), math.nan, math.nan, n)


def pairwise_accuracy_replicates(x: ArrayLike, pairs: Pairs, weights: ArrayLike) -> Floats:
    """`pairwise_accuracy` under each of r reweightings of the items; a pair weighs the product of its items.

    Args:
        x: as there.
        pairs: as there.
        weights: (r, n) weights >= 0.

    Returns:
        (r,) shares; NaN where no pair that people tell apart has weight.
    """
    v, w = np.asarray(x, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    told = pairs.significant
    used, place = np.unique(np.r_[pairs.first[told], pairs.second[told]], return_inverse=True)
    first, second = np.split(place, 2)
    w, shape = w[:, used], (len(used), len(used))
    right, all_told = np.zeros(shape), np.zeros(shape)
    right[first, second] = _ordered(v, pairs)[told]
    all_told[first, second] = 1.0
    top, bottom = ((w @ right) * w).sum(axis=1), ((w @ all_told) * w).sum(axis=1)
    return np.asarray(np.divide(top, bottom, out=np.full(len(w), np.nan), where=bottom > 0))


def different_similar(x: ArrayLike, pairs: Pairs) -> Statistic:
    """AUC with which the size of the predictor's difference separates pairs that people tell apart from the others.

    Args:
        x: (n,) scores of the predictor; direction does not matter.
        pairs: from `significant_pairs`.

    Returns:
        Area in [0, 1], .5 by chance, and n = pairs. NaN with a note where all or no pairs are told apart.

    Source:
        Krasula et al., 2016, section 2.1.
    """
    v = np.asarray(x, dtype=np.float64)
    told = pairs.significant
    if not told.any() or told.all():
        return Statistic.undefined(len(told), "people tell " + ("all" if told.any() else "no") + " pairs apart")
    area = _area(np.abs(v[pairs.first] - v[pairs.second]), told)
    return Statistic(area, math.nan, math.nan, len(told))


def different_similar_replicates(x: ArrayLike, pairs: Pairs, weights: ArrayLike) -> Floats:
    """`different_similar` under each of r reweightings of the items, as in `pairwise_accuracy_replicates`."""
    v = np.asarray(x, dtype=np.float64)
    size = np.abs(v[pairs.first] - v[pairs.second])
    return _area_replicates(size, pairs.significant, pairs.first, pairs.second, np.asarray(weights, dtype=np.float64))


def better_worse(x: ArrayLike, pairs: Pairs) -> Statistic:
    """AUC with which the predictor's signed difference says which item of a pair people find better.

    Each pair that people tell apart enters in both orders, so that the result does not depend on which is called first.

    Args:
        x: (n,) scores of the predictor, turned so that larger means better.
        pairs: from `significant_pairs`.

    Returns:
        Area in [0, 1], .5 by chance, and n = pairs told apart; NaN with a note where there are none.

    Source:
        Krasula et al., 2016, section 2.2.
    """
    v = np.asarray(x, dtype=np.float64)
    n = int(pairs.significant.sum())
    if not n:
        return Statistic.undefined(0, "people tell no two items apart")
    toward = _toward_better(v, pairs)
    return Statistic(_area(np.r_[toward, -toward], np.arange(2 * n) < n), math.nan, math.nan, n)


def better_worse_replicates(x: ArrayLike, pairs: Pairs, weights: ArrayLike) -> Floats:
    """`better_worse` under each of r reweightings of the items, as in `pairwise_accuracy_replicates`."""
    v = np.asarray(x, dtype=np.float64)
    told = pairs.significant
    n = int(told.sum())
    toward = _toward_better(v, pairs)
    first, second = np.tile(pairs.first[told], 2), np.tile(pairs.second[told], 2)
    label = np.arange(2 * n) < n
    return _area_replicates(np.r_[toward, -toward], label, first, second, np.asarray(weights, dtype=np.float64))


def outlier_ratio(error: ArrayLike, ci95: ArrayLike, *, level: float = 0.95) -> Statistic:
    """Share of items whose error is larger than people's own 95 % half width.

    Args:
        error: (n,) people's score minus the mapped prediction.
        ci95: (n,) half widths, > 0 or 0, in the same unit; items with NaN in either are left out.
        level: coverage of the interval, in (0, 1).

    Returns:
        Share in [0, 1] with the interval of P.1401, +- z sqrt(OR (1 - OR) / n), cut at 0 and 1.

    Source:
        ITU-T P.1401 (2020), sections 7.5.3 and 7.6.3.
    """
    e, c = _errors(error, ci95)
    if not len(e):
        return Statistic.undefined(0, "no item has an error and an interval")
    share = float((np.abs(e) > c).mean())
    half = normal_quantile(level) * math.sqrt(share * (1.0 - share) / len(e))
    return Statistic(share, max(share - half, 0.0), min(share + half, 1.0), len(e))


def rmse_interval(error: ArrayLike, parameters: int, *, level: float = 0.95) -> Statistic:
    """Root-mean-square error with the degrees of freedom that the mapping leaves.

    Args:
        error: (n,) people's score minus the mapped prediction; NaN is left out.
        parameters: d, how many parameters the mapping was given, >= 0.
        level: coverage of the interval, in (0, 1).

    Returns:
        sqrt(sum e^2 / (n - d)), its chi-square interval, and n; NaN with a note where n <= d.

    Source:
        ITU-T P.1401 (2020), sections 7.5.2 and 7.6.2.
    """
    e = np.asarray(error, dtype=np.float64)
    e = e[~np.isnan(e)]
    df = len(e) - parameters
    if df < 1:
        return Statistic.undefined(len(e), f"{len(e)} items leave no degree of freedom beside {parameters} parameters")
    total = float(e @ e)
    tail = (1.0 - level) / 2.0
    low, high = (math.sqrt(total / float(chi2.ppf(q, df))) for q in (1.0 - tail, tail))
    return Statistic(math.sqrt(total / df), low, high, len(e))


def rmse_star(error: ArrayLike, ci95: ArrayLike, parameters: int) -> Statistic:
    """Root-mean-square of the part of each error that people's own interval does not excuse, max(0, |e| - ci95).

    Args:
        error: as in `outlier_ratio`.
        ci95: as there.
        parameters: as in `rmse_interval`.

    Source:
        ITU-T P.1401 (2020), section 7.5.4 (epsilon-insensitive RMSE).
    """
    e, c = _errors(error, ci95)
    df = len(e) - parameters
    if df < 1:
        return Statistic.undefined(len(e), f"{len(e)} items leave no degree of freedom beside {parameters} parameters")
    beyond = np.maximum(np.abs(e) - c, 0.0)
    return Statistic(math.sqrt(float(beyond @ beyond) / df), math.nan, math.nan, len(e))


def _errors(error: ArrayLike, ci95: ArrayLike) -> tuple[Floats, Floats]:
    e, c = np.asarray(error, dtype=np.float64), np.asarray(ci95, dtype=np.float64)
    if e.ndim != 1 or e.shape != c.shape:
        raise BadInput(f"errors of shape {e.shape} and half widths of shape {c.shape} do not fit")
    known = ~(np.isnan(e) | np.isnan(c))
    return e[known], c[known]


def _ordered(v: Floats, pairs: Pairs) -> Floats:
    """(p,) 1 where the predictor orders the pair as people do, .5 at its ties, else 0."""
    return np.asarray((np.sign(v[pairs.first] - v[pairs.second]) * np.sign(pairs.difference) + 1.0) / 2.0)


def _toward_better(v: Floats, pairs: Pairs) -> Floats:
    told = pairs.significant
    return np.asarray(((v[pairs.first] - v[pairs.second]) * np.sign(pairs.difference))[told])


def _area(value: Floats, label: NDArray[np.bool_]) -> float:
    """Mann and Whitney's area: chance that a labelled value exceeds an unlabelled one, ties half."""
    ranks, n = rankdata(value), int(label.sum())
    return float((ranks[label].sum() - n * (n + 1) / 2.0) / (n * (len(label) - n)))


def _area_replicates(value: Floats, label: NDArray[np.bool_], first: Ints, second: Ints, w: Floats) -> Floats:
    """Areas under item weights: exact while that is cheap, else to first order in the weights.

    To first order, an item's weight moves the area by how far each of its pairs lies above or below it, summed; with
    a hundred items or more the two differ by less than the resampling itself.
    """
    if not label.any() or label.all():
        return np.full(len(w), np.nan)
    order = np.argsort(value, kind="stable")
    value, label, first, second = value[order], label[order], first[order], second[order]
    starts = np.flatnonzero(np.r_[True, value[1:] != value[:-1]])
    if len(value) * len(w) > _EXACT_WORK:
        return _linear_areas(label, first, second, starts, w)
    result = np.full(len(w), np.nan)
    step = max(1, _BLOCK // len(value))
    for i in range(0, len(w), step):
        block = w[i : i + step]
        each = block[:, first] * block[:, second]
        with_label = np.add.reduceat(np.where(label, each, 0.0), starts, axis=1)
        without = np.add.reduceat(np.where(label, 0.0, each), starts, axis=1)
        below = np.cumsum(without, axis=1) - without / 2.0
        area, size = (with_label * below).sum(axis=1), with_label.sum(axis=1) * without.sum(axis=1)
        result[i : i + step] = np.divide(area, size, out=np.full(len(block), np.nan), where=size > 0)
    return result


def _linear_areas(label: NDArray[np.bool_], first: Ints, second: Ints, starts: Ints, w: Floats) -> Floats:
    """First-order areas; pairs sorted by value, `starts` where it changes."""
    group = np.zeros(len(label), dtype=np.int64)
    group[starts[1:]] = 1
    group = np.cumsum(group)
    mine, others = np.bincount(group, weights=label), np.bincount(group, weights=~label)
    below = (np.cumsum(others) - others / 2.0)[group]
    above = (mine.sum() - np.cumsum(mine) + mine / 2.0)[group]
    area = float(below[label].sum()) / (mine.sum() * others.sum())
    pull = np.where(label, (below / others.sum() - area) / mine.sum(), (above / mine.sum() - area) / others.sum())
    n = w.shape[1]
    by_item = np.bincount(first, weights=pull, minlength=n) + np.bincount(second, weights=pull, minlength=n)
    return np.asarray(np.clip(area + (w - 1.0) @ by_item, 0.0, 1.0))
