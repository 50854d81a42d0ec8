"""Agreement between answers beyond chance: Cohen's kappa, Fleiss' kappa and Krippendorff's alpha."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from paragone.errors import BadInput

from .statistic import Floats, Ints, Statistic, normal_quantile

__all__ = ["Alphas", "Kappa", "Metric", "alpha_replicates", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha"]

Metric = Literal["nominal", "ordinal", "interval", "ratio"]

_METRICS = ("nominal", "ordinal", "interval", "ratio")
_WEIGHTS = ("none", "linear", "quadratic")
_BLOCK = 4_000_000  # numbers held at once while replicates are computed: 32 MB


class Alphas(NamedTuple):
    """Krippendorff's alpha under r reweightings of the raters."""

    alpha: Floats
    """(r,) alphas; NaN where a row leaves no unit with two raters or no spread."""
    disagreement: Floats
    """(r,) observed disagreement, in the unit of the metric; for nominal answers 1 - it is the raw agreement of two
    different raters of one unit. NaN where no unit has two raters."""


class Kappa(NamedTuple):
    """Cohen's or Fleiss' kappa with what it was computed from."""

    value: float
    """Kappa, at most 1; NaN where chance agreement is 1 or there are no answers (`note` says which)."""
    stderr: float
    """Large-sample standard error; NaN where kappa is."""
    low: float
    """Lower end of the interval, not below -1."""
    high: float
    """Upper end of the interval, not above 1."""
    agreement: float
    """Observed agreement p_o in [0, 1], weighted where weights were asked for; always given where n > 0."""
    expected: float
    """Agreement by chance p_e in [0, 1] from the margins."""
    n: int
    """How many pairs of answers (Cohen) or items (Fleiss)."""
    note: str = ""
    """Why there is no kappa; empty where there is one."""


def cohen_kappa(
    table: ArrayLike, *, weights: Literal["none", "linear", "quadratic"] = "none", level: float = 0.95
) -> Kappa:
    """Agreement of two answers to the same question, corrected for chance.

    kappa = (p_o - p_e) / (1 - p_e). The standard error is the large-sample one for kappa different from 0
    (Fleiss, Cohen and Everitt), not the one under the hypothesis kappa = 0.

    Args:
        table: (c, c) counts >= 0: row = first answer, column = second answer, both in one order of the categories.
        weights: credit for near misses of ordered categories: none, linear (1 - |i-j|/(c-1)) or quadratic.
        level: coverage of the interval, in (0, 1).

    Returns:
        Kappa, its standard error and normal interval (cut at -1 and 1), and the raw agreement. Where chance agreement
        is 1 (everybody always gave one and the same answer) kappa is NaN, `note` says so, and the raw agreement stands.

    Raises:
        BadInput: the table is not square, holds a negative or missing count, or `weights` is unknown.

    Source:
        Cohen, "A coefficient of agreement for nominal scales", 1960; Fleiss, Cohen and Everitt, "Large sample standard
        errors of kappa and weighted kappa", Psychological Bulletin 72(5), 1969, equations 8 and 13.
    """
    counts = _square(table)
    n = float(counts.sum())
    if n == 0:
        return _no_kappa(math.nan, math.nan, 0, "no pair of answers")
    p = counts / n
    w = _credit(len(p), weights)
    row, column = p.sum(axis=1), p.sum(axis=0)
    agreed = float((w * p).sum())
    expected = float(row @ w @ column)
    if 1.0 - expected <= 1e-12:
        return _no_kappa(agreed, expected, round(n), "undefined: chance agreement is 1, all answers are the same")
    kappa = (agreed - expected) / (1.0 - expected)
    margin = (w @ column)[:, None] + (row @ w)[None, :]
    spread = float((p * (w * (1.0 - expected) - margin * (1.0 - agreed)) ** 2).sum())
    centre = agreed * expected - 2.0 * expected + agreed
    stderr = math.sqrt(max(spread - centre**2, 0.0) / n) / (1.0 - expected) ** 2
    half = normal_quantile(level) * stderr
    return Kappa(kappa, stderr, max(kappa - half, -1.0), min(kappa + half, 1.0), agreed, expected, round(n))


def fleiss_kappa(counts: ArrayLike, *, level: float = 0.95) -> Kappa:
    """Agreement of the same number of answers on every item, given by whoever, corrected for chance.

    Args:
        counts: (items, c) how many answers fell into each category; every row has the same sum m >= 2.
        level: coverage of the interval, in (0, 1).

    Returns:
        Kappa with a delete-one-item jackknife standard error and t interval (cut at -1 and 1); NaN, with the raw
        agreement and a note, where all answers are the same; no interval below three items.

    Raises:
        BadInput: rows of different sums, fewer than two answers an item, negative or missing counts.

    Source:
        Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76(5), 1971.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all() or (table < 0).any():
        raise BadInput("Fleiss' kappa needs a table (items, categories) of counts >= 0 without missing cells")
    if len(table) == 0:
        return _no_kappa(math.nan, math.nan, 0, "no item")
    m = table.sum(axis=1)
    if m[0] < 2 or not np.all(m == m[0]):
        raise BadInput(
            f"Fleiss' kappa needs the same number of answers, two or more, on every item, not {m.min():g} to "
            f"{m.max():g}; use Krippendorff's alpha"
        )
    within = (table * (table - 1.0)).sum(axis=1) / (m[0] * (m[0] - 1.0))
    share = table / m[0]
    n = len(table)
    agreed, expected = float(within.mean()), float((share.mean(axis=0) ** 2).sum())
    if 1.0 - expected <= 1e-12:
        return _no_kappa(agreed, expected, n, "undefined: chance agreement is 1, all answers are the same")
    kappa = (agreed - expected) / (1.0 - expected)
    if n < 3:
        return Kappa(kappa, math.nan, math.nan, math.nan, agreed, expected, n, "no interval below three items")
    agreed_without = (within.sum() - within) / (n - 1)
    expected_without = (((share.sum(axis=0) - share) / (n - 1)) ** 2).sum(axis=1)
    usable = 1.0 - expected_without > 1e-12
    kept = (agreed_without[usable] - expected_without[usable]) / (1.0 - expected_without[usable])
    stderr = math.sqrt((n - 1) / n * float(((kept - kept.mean()) ** 2).sum()))
    half = float(student.ppf(0.5 + level / 2.0, n - 1)) * stderr
    return Kappa(kappa, stderr, max(kappa - half, -1.0), min(kappa + half, 1.0), agreed, expected, n)


def krippendorff_alpha(data: ArrayLike, *, metric: Metric = "nominal") -> Statistic:
    """Agreement of any number of raters on any scale, missing answers allowed: 1 - observed / expected disagreement.

    Args:
        data: (raters, units) codes or ratings; NaN where a rater did not answer. Units with fewer than two answers
            say nothing about agreement and are left out.
        metric: distance of two answers: nominal (0 or 1), ordinal (answers between them), interval (squared
            difference), ratio (squared difference over squared sum; values >= 0).

    Returns:
        Alpha, at most 1, with n = units that two or more answered; no interval (resample with `alpha_replicates`).
        NaN with a note where no unit has two answers, or where all answers are the same.

    Raises:
        BadInput: not a matrix, an infinite value, an unknown metric, or a negative value under the ratio metric.

    Source:
        Krippendorff, "Content Analysis", 4th ed. 2018, chapter 12; Hayes and Krippendorff, 2007.
    """
    matrix = np.asarray(data, dtype=np.float64)
    if matrix.ndim != 2:
        raise BadInput(f"Krippendorff's alpha needs a matrix (raters, units), not shape {matrix.shape}")
    rater, unit = np.nonzero(~np.isnan(matrix))
    value = matrix[rater, unit]
    several = int((np.bincount(unit, minlength=matrix.shape[1]) >= 2).sum())
    if several == 0:
        return Statistic.undefined(0, "no unit has two answers")
    alpha = float(alpha_replicates(value, unit, rater, metric=metric).alpha[0])
    if math.isnan(alpha):
        return Statistic.undefined(several, "undefined: all answers are the same, so disagreement cannot be expected")
    return Statistic(alpha, math.nan, math.nan, several)


def alpha_replicates(
    value: ArrayLike, unit: ArrayLike, rater: ArrayLike, *, metric: Metric, weights: ArrayLike | None = None
) -> Alphas:
    """Krippendorff's alpha of answers in long form, under any number of reweightings of the raters.

    A rater of weight 2 (drawn twice by a bootstrap) stands for two people who answer alike, but is never compared with
    itself: a resample must not agree better merely because it holds somebody twice.

    Args:
        value: (k,) answers, finite.
        unit: (k,) index of what was answered, >= 0; one rater may answer a unit once.
        rater: (k,) index of who answered, >= 0.
        metric: as in `krippendorff_alpha`.
        weights: (r, raters) weights >= 0; None: one row of ones.

    Returns:
        Alphas and observed disagreements.

    Raises:
        BadInput: as `krippendorff_alpha`, or vectors of different lengths.
    """
    v = np.asarray(value, dtype=np.float64)
    u, who = np.asarray(unit, dtype=np.int64), np.asarray(rater, dtype=np.int64)
    if metric not in _METRICS:
        raise BadInput(f"no alpha metric '{metric}'; there is {', '.join(_METRICS)}")
    if v.ndim != 1 or u.shape != v.shape or who.shape != v.shape:
        raise BadInput("value, unit and rater must be vectors of one length")
    if not np.isfinite(v).all():
        raise BadInput("answers must be finite; leave missing ones out")
    if metric == "ratio" and (v < 0).any():
        raise BadInput("the ratio metric needs answers >= 0; use interval")
    w = np.ones((1, int(who.max(initial=-1)) + 1)) if weights is None else np.asarray(weights, dtype=np.float64)
    paired = np.bincount(u, minlength=1)[u] >= 2
    v, u, who = v[paired], np.unique(u[paired], return_inverse=True)[1], who[paired]
    order = np.argsort(u, kind="stable")
    v, u, who = v[order], u[order], who[order]
    if not len(v):
        return Alphas(np.full(len(w), np.nan), np.full(len(w), np.nan))
    levels, code = np.unique(v, return_inverse=True)
    step = max(1, _BLOCK // len(v))
    parts = [_alphas(levels, code, u, w[i : i + step, who], metric) for i in range(0, len(w), step)]
    return Alphas(np.concatenate([part.alpha for part in parts]), np.concatenate([part.disagreement for part in parts]))


def _alphas(levels: Floats, code: Ints, unit: Ints, w: Floats, metric: Metric) -> Alphas:
    """Alphas for (r, k) weights of answers that are sorted by unit."""
    starts = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]])

    def per_unit(x: Floats) -> Floats:
        return np.add.reduceat(x, starts, axis=1)[:, unit]

    others = per_unit(w) - w
    alone = others <= 1e-12
    w = np.where(alone, 0.0, w)  # an answer without a partner is not pairable
    pair = np.where(alone, 0.0, w / np.where(alone, 1.0, others))
    ordered = np.argsort(code, kind="stable")
    by_level = np.add.reduceat(w[:, ordered], np.searchsorted(code[ordered], np.arange(len(levels))), axis=1)
    total = by_level.sum(axis=1)
    pairs = total**2 - (w**2).sum(axis=1)
    if metric == "nominal":
        cell = unit * len(levels) + code
        same = _summed_within(w, cell)
        observed = (pair * (per_unit(w) - same)).sum(axis=1)
        expected = total**2 - (by_level**2).sum(axis=1)
    elif metric == "ratio":
        observed, expected = np.zeros(len(w)), np.zeros(len(w))
        for c, x in enumerate(levels):
            distance = np.divide((levels - x) ** 2, (levels + x) ** 2, out=np.zeros(len(levels)), where=levels + x > 0)
            observed += (pair * (code == c) * per_unit(w * distance[code])).sum(axis=1)
            expected += by_level[:, c] * (by_level @ distance)
    else:
        x = np.broadcast_to(levels, by_level.shape)
        if metric == "ordinal":  # squared difference of mid-ranks in the pooled answers
            x = np.cumsum(by_level, axis=1) - by_level / 2.0
        centre = (by_level * x).sum(axis=1) / np.where(total > 0, total, 1.0)
        x = x - centre[:, None]
        at = x[:, code]
        first, second = per_unit(w * at), per_unit(w * at**2)
        observed = (pair * (per_unit(w) * at**2 - 2.0 * at * first + second)).sum(axis=1)
        expected = 2.0 * (total * (by_level * x**2).sum(axis=1) - ((by_level * x).sum(axis=1)) ** 2)
    rate = np.divide(observed, total, out=np.full(len(w), np.nan), where=total > 0)
    usable = (pairs > 1e-12) & (expected > 1e-12 * np.maximum(total, 1.0))
    chance = np.divide(expected, pairs, out=np.full(len(w), np.nan), where=usable)
    return Alphas(1.0 - rate / chance, rate)


def _summed_within(w: Floats, cell: Ints) -> Floats:
    """(r, k) sums of the weights that share a cell, at every member of the cell."""
    order = np.argsort(cell, kind="stable")
    ordered = cell[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    sums = np.add.reduceat(w[:, order], starts, axis=1)
    place = np.empty(len(cell), dtype=np.int64)
    place[order] = np.cumsum(np.r_[True, ordered[1:] != ordered[:-1]]) - 1
    return np.asarray(sums[:, place])


def _square(table: ArrayLike) -> Floats:
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not counts.size:
        raise BadInput(f"kappa needs a square table, first answer by second, not shape {counts.shape}")
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise BadInput("kappa needs counts >= 0 in every cell")
    return counts


def _credit(c: int, weights: str) -> Floats:
    if weights not in _WEIGHTS:
        raise BadInput(f"no kappa weights '{weights}'; there is {', '.join(_WEIGHTS)}")
    gap = np.abs(np.subtract.outer(np.arange(c), np.arange(c))) / max(c - 1, 1)
    if weights == "none":
        return np.eye(c)
    return np.asarray(1.0 - (gap if weights == "linear" else gap**2))


def _no_kappa(agreed: float, expected: float, n: int, note: str) -> Kappa:
    return Kappa(math.nan, math.nan, math.nan, math.nan, agreed, expected, n, note)
