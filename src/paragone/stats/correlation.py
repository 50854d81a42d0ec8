"""Correlations with intervals, and the same correlations under many reweightings at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau, rankdata

from paragone.errors import BadInput

from .resample import bootstrap_weights, percentile_interval
from .statistic import Floats, Statistic, normal_quantile, paired_floats

__all__ = [
    "kendall",
    "kendall_replicates",
    "pearson",
    "pearson_replicates",
    "spearman",
    "spearman_replicates",
]

Interval = Literal["fisher", "bootstrap"]

_BLOCK = 4_000_000  # numbers held at once while replicates are computed: 32 MB
_EXACT_WORK = 2_000_000_000  # n^2 r up to which Kendall's tau is recomputed exactly: a quarter of a second


def pearson(
    x: ArrayLike,
    y: ArrayLike,
    *,
    level: float = 0.95,
    interval: Interval = "fisher",
    replicates: int = 1000,
    seed: int = 0,
) -> Statistic:
    """Linear correlation, with an interval.

    Args:
        x: (n,) numbers; positions where x or y is NaN are left out.
        y: (n,) numbers.
        level: coverage of the interval, in (0, 1).
        interval: 'fisher' (normal on the atanh scale, standard error 1/sqrt(n - 3)) or 'bootstrap' (percentile, pairs
            resampled).
        replicates: bootstrap resamples; read where interval = 'bootstrap'.
        seed: of the bootstrap.

    Returns:
        r in [-1, 1] and n. NaN with a note where a side is constant or n < 2; no Fisher interval below n = 4.

    Raises:
        BadInput: shapes that do not fit, an infinity, or an unknown interval.

    Source:
        Fisher, "On the probable error of a coefficient of correlation", Metron 1, 1921.
    """
    a, b = paired_floats(x, y)

    def error(_: float, n: int) -> float:
        return 1.0 / math.sqrt(n - 3)

    return _with_interval(a, b, _pearson, pearson_replicates, error, 4, level, interval, replicates, seed)


def spearman(
    x: ArrayLike,
    y: ArrayLike,
    *,
    level: float = 0.95,
    interval: Interval = "fisher",
    replicates: int = 1000,
    seed: int = 0,
) -> Statistic:
    """Rank correlation (Pearson's of the mid-ranks), with an interval.

    Args:
        x: as in `pearson`, as are the other arguments.
        y: as there.
        level: as there.
        interval: 'fisher' uses the standard error sqrt((1 + r^2 / 2) / (n - 3)), which keeps its coverage for strong
            correlations where 1/sqrt(n - 3) does not.
        replicates: as there.
        seed: as there.

    Source:
        Bonett and Wright, "Sample size requirements for estimating Pearson, Kendall and Spearman correlations",
        Psychometrika 65(1), 2000.
    """
    a, b = paired_floats(x, y)

    def error(r: float, n: int) -> float:
        return math.sqrt((1.0 + r * r / 2.0) / (n - 3))

    return _with_interval(a, b, _spearman, spearman_replicates, error, 4, level, interval, replicates, seed)


def kendall(
    x: ArrayLike,
    y: ArrayLike,
    *,
    level: float = 0.95,
    interval: Interval = "fisher",
    replicates: int = 1000,
    seed: int = 0,
) -> Statistic:
    """Kendall's tau-b in O(n log n), with an interval.

    Args:
        x: as in `pearson`, as are the other arguments.
        y: as there.
        level: as there.
        interval: 'fisher' uses the standard error sqrt(0.437 / (n - 4)) on the atanh scale; none below n = 5.
        replicates: as there.
        seed: as there.

    Source:
        Kendall, "The treatment of ties in ranking problems", Biometrika 33(3), 1945; Fieller, Hartley and Pearson,
        "Tests for rank correlation coefficients", Biometrika 44, 1957 (standard error).
    """
    a, b = paired_floats(x, y)

    def error(_: float, n: int) -> float:
        return math.sqrt(0.437 / (n - 4))

    return _with_interval(a, b, _kendall, kendall_replicates, error, 5, level, interval, replicates, seed)


def pearson_replicates(x: ArrayLike, y: ArrayLike, weights: ArrayLike) -> Floats:
    """Pearson's r under each of r reweightings of the positions.

    Args:
        x: (n,) finite numbers.
        y: (n,) finite numbers.
        weights: (r, n) weights >= 0; whole numbers are resampling counts.

    Returns:
        (r,) correlations; NaN where a side is constant under the weights.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    w = np.asarray(weights, dtype=np.float64)
    a, b = _standard(a), _standard(b)
    total = w.sum(axis=1)
    total = np.where(total > 0, total, 1.0)
    mean_a, mean_b = w @ a / total, w @ b / total
    var_a, var_b = w @ (a * a) / total - mean_a**2, w @ (b * b) / total - mean_b**2
    cov = w @ (a * b) / total - mean_a * mean_b
    return _ratio(cov, var_a, var_b)


def spearman_replicates(x: ArrayLike, y: ArrayLike, weights: ArrayLike) -> Floats:
    """Spearman's rho under each of r reweightings: ranks are taken anew in each.

    Args:
        x: (n,) finite numbers.
        y: (n,) finite numbers.
        weights: (r, n) weights >= 0, as in `pearson_replicates`.

    Returns:
        (r,) correlations; NaN where a side is constant under the weights.
    """
    w = np.asarray(weights, dtype=np.float64)
    step = max(1, _BLOCK // max(w.shape[1], 1))
    parts = []
    for i in range(0, len(w), step):
        block = w[i : i + step]
        a, b = _midranks(x, block), _midranks(y, block)
        var_a, var_b = (block * a * a).sum(axis=1), (block * b * b).sum(axis=1)
        parts.append(_ratio((block * a * b).sum(axis=1), var_a, var_b))
    return np.concatenate(parts)


def kendall_replicates(x: ArrayLike, y: ArrayLike, weights: ArrayLike) -> Floats:
    """Kendall's tau-b under each of r reweightings; two copies of one position are a tie on both sides.

    Args:
        x: (n,) finite numbers.
        y: (n,) finite numbers.
        weights: (r, n) weights >= 0, as in `pearson_replicates`.

    Returns:
        (r,) correlations; NaN where a side is constant under the weights. Where n^2 r is large, to first order in the
        weights, which for the hundreds of items this takes differs by less than the resampling itself.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    w = np.asarray(weights, dtype=np.float64)
    exact = len(a) ** 2 * len(w) <= _EXACT_WORK
    sums = np.zeros((3, len(w) if exact else len(a)))
    step = max(1, _BLOCK // max(len(a), 1))
    for i in range(0, len(a), step):
        sign_a = np.sign(a[i : i + step, None] - a[None, :])
        sign_b = np.sign(b[i : i + step, None] - b[None, :])
        for k, pairs in enumerate((sign_a * sign_b, np.abs(sign_a), np.abs(sign_b))):
            if exact:
                sums[k] += ((w[:, i : i + step] @ pairs) * w).sum(axis=1)
            else:
                sums[k, i : i + step] = pairs.sum(axis=1)
    if exact:
        return _ratio(sums[0], sums[1], sums[2], floor=0.5)
    both, only_a, only_b = (float(part.sum()) for part in sums)
    if min(only_a, only_b) < 0.5:
        return np.full(len(w), np.nan)
    tau = both / math.sqrt(only_a * only_b)
    pull = 2.0 * sums[0] / math.sqrt(only_a * only_b) - tau * (sums[1] / only_a + sums[2] / only_b)
    return np.asarray(np.clip(tau + (w - 1.0) @ pull, -1.0, 1.0))


def _with_interval(
    a: Floats,
    b: Floats,
    value: Callable[[Floats, Floats], float],
    reweighted: Callable[[Floats, Floats, Floats], Floats],
    error: Callable[[float, int], float],
    least: int,
    level: float,
    interval: Interval,
    replicates: int,
    seed: int,
) -> Statistic:
    if interval not in ("fisher", "bootstrap"):
        raise BadInput(f"no interval '{interval}'; there is fisher, bootstrap")
    n = len(a)
    if n < 2:
        return Statistic.undefined(n, f"{n} positions with both numbers; a correlation needs two or more")
    for side, vector in (("first", a), ("second", b)):
        if np.ptp(vector) == 0:
            return Statistic.undefined(n, f"the {side} vector is constant, so nothing can correlate with it")
    r = value(a, b)
    if 1.0 - abs(r) < 1e-12:
        r = math.copysign(1.0, r)
    if interval == "bootstrap":
        bounds = percentile_interval(reweighted(a, b, bootstrap_weights(n, replicates, seed)), level=level)
        note = f"{int(bounds.dropped)} resamples were constant and left out" if bounds.dropped else ""
        return Statistic(r, float(bounds.low), float(bounds.high), n, note)
    if n < least:
        return Statistic(r, math.nan, math.nan, n, f"no interval below n = {least}")
    if abs(r) >= 1.0:
        return Statistic(r, r, r, n, "perfect correlation: the interval has no width on the atanh scale")
    half = normal_quantile(level) * error(r, n)
    return Statistic(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half), n)


def _pearson(a: Floats, b: Floats) -> float:
    u, v = _standard(a), _standard(b)
    return float(np.clip(u @ v / math.sqrt(float(u @ u) * float(v @ v)), -1.0, 1.0))


def _spearman(a: Floats, b: Floats) -> float:
    return _pearson(rankdata(a), rankdata(b))


def _kendall(a: Floats, b: Floats) -> float:
    return float(kendalltau(a, b, variant="b").statistic)


def _standard(x: Floats) -> Floats:
    """Centred and scaled to a largest magnitude of 1, so that sums of squares keep their digits."""
    centred = x - x.mean() if len(x) else x
    size = np.abs(centred).max(initial=0.0)
    return centred / size if size > 0 else centred


def _midranks(x: ArrayLike, w: Floats) -> Floats:
    """(r, n) mid-ranks under each row's weights, centred to weighted mean 0 (whatever the row's sum)."""
    values = np.asarray(x, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    new = np.r_[True, ordered[1:] != ordered[:-1]]
    group = np.cumsum(new) - 1
    sums = np.add.reduceat(w[:, order], np.flatnonzero(new), axis=1)
    middle = np.cumsum(sums, axis=1) - sums / 2.0 - w.sum(axis=1, keepdims=True) / 2.0
    ranks = np.empty_like(w)
    ranks[:, order] = middle[:, group]
    return ranks


def _ratio(cov: Floats, var_a: Floats, var_b: Floats, *, floor: float = 1e-14) -> Floats:
    usable = (var_a > floor) & (var_b > floor)
    scale = np.sqrt(np.where(usable, var_a * var_b, 1.0))
    return np.where(usable, np.clip(cov / scale, -1.0, 1.0), np.nan)
