"""Two sets of numbers as distributions: how far apart they are, how close each is to a Gaussian, and with what certainty.

Everything takes weights (replicates x items, counts of a bootstrap), so that one pass gives the number and its replicates.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtrit

from paragone.errors import BadInput, TooFew

from .statistic import Floats

__all__ = ["gaussian_distance", "small_sample_level", "wasserstein", "weighted_mean", "weighted_median"]

_CHUNK = 4_000_000  # numbers held at once


def weighted_mean(values: ArrayLike, weights: ArrayLike) -> Floats:
    """Give the mean under each row of weights.

    Args:
        values: (n,) finite numbers.
        weights: (r, n) weights >= 0.

    Returns:
        (r,) means; NaN where all weights are 0.

    Raises:
        BadInput: shapes that do not fit, missing numbers or negative weights.
    """
    x, w = _checked(values, weights)
    return _over(w @ x, w.sum(axis=1))


def weighted_median(values: ArrayLike, weights: ArrayLike) -> Floats:
    """Give the median under each row of weights: that of the sample in which each value stands as often as its weight.

    Args:
        values: (n,) finite numbers.
        weights: (r, n) weights >= 0.

    Returns:
        (r,) medians; the middle of the two central values where they differ; NaN where all weights are 0.

    Raises:
        BadInput: as for `weighted_mean`.
    """
    x, w = _checked(values, weights)
    order = np.argsort(x, kind="stable")
    x, reached = x[order], np.cumsum(w[:, order], axis=1)
    half = reached[:, -1:] / 2.0
    slack = 1e-9 * reached[:, -1:]  # weights that are no integers
    last = len(x) - 1
    lower = np.minimum((reached < half - slack).sum(axis=1), last)
    upper = np.minimum((reached <= half + slack).sum(axis=1), last)
    return np.where(half[:, 0] > 0, (x[lower] + x[upper]) / 2.0, np.nan)


def wasserstein(
    x: ArrayLike, y: ArrayLike, x_weights: ArrayLike | None = None, y_weights: ArrayLike | None = None
) -> Floats:
    """Give the Wasserstein-1 distance: the area between the two distribution functions.

    It is how far the numbers of one set must be moved, on average, to become the other; for a pure shift, the shift.

    Args:
        x: (n,) finite numbers.
        y: (m,) finite numbers.
        x_weights: (r, n) weights >= 0; None: one row of ones.
        y_weights: (r, m) weights >= 0; None: one row of ones.

    Returns:
        (r,) distances in the unit of the numbers, >= 0; NaN where all weights of a side are 0.

    Raises:
        BadInput: as for `weighted_mean`, or another number of rows on each side.

    Source:
        Vallender, "Calculation of the Wasserstein distance between probability distributions on the line", Theory of
        Probability and its Applications 18(4), 1974.
    """
    a, u = _checked(x, np.ones((1, len(np.atleast_1d(x)))) if x_weights is None else x_weights)
    b, v = _checked(y, np.ones((1, len(np.atleast_1d(y)))) if y_weights is None else y_weights)
    if len(u) != len(v):
        raise BadInput(f"{len(u)} rows of weights on one side and {len(v)} on the other")
    both = np.concatenate([a, b])
    order = np.argsort(both, kind="stable")
    steps = np.diff(both[order])
    made: Floats = np.empty(len(u))
    rows = max(1, _CHUNK // len(both))
    for start in range(0, len(u), rows):
        part = slice(start, start + rows)
        left, right = u[part].sum(axis=1, keepdims=True), v[part].sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            mass = np.concatenate([u[part] / left, -v[part] / right], axis=1)
        made[part] = np.abs(np.cumsum(mass[:, order], axis=1)[:, :-1]) @ steps
    return made


def gaussian_distance(values: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Give the Wasserstein-1 distance from the Gaussian of the same mean and deviation, in standard deviations.

    Args:
        values: (n,) finite numbers.
        weights: (r, n) weights >= 0; None: one row of ones.

    Returns:
        (r,) 0 (Gaussian) upwards: a uniform distribution has 0.15, an exponential one 0.31, two equal heaps 0.54. A
        sample of n from a Gaussian has about 0.8 / sqrt(n), and 19 of 20 such samples less than 1.2 / sqrt(n). NaN
        where all values are equal.

    Raises:
        BadInput: as for `weighted_mean`.
    """
    x, w = _checked(values, np.ones((1, len(np.atleast_1d(values)))) if weights is None else weights)
    order = np.argsort(x, kind="stable")
    x, w = x[order], w[:, order]
    made: Floats = np.full(len(w), np.nan)
    mean = _over(w @ x, w.sum(axis=1))
    for row in range(len(w)):
        kept = w[row] > 0
        if not kept.any():
            continue
        z, mass = x[kept] - mean[row], w[row, kept] / w[row, kept].sum()
        spread = float(np.sqrt(mass @ z**2))
        if spread > 1e-12 * max(1.0, float(np.abs(x).max())):
            made[row] = _from_normal(z / spread, mass)
    return made


def _from_normal(z: Floats, mass: Floats) -> float:
    """Integral of |F - Phi| for a step function F with steps `mass` at the sorted z, exactly.

    With H(t) = t Phi(t) + phi(t), whose derivative is Phi: between two steps F is a constant c, and |c - Phi| changes
    sign at most once, at the normal quantile of c.
    """
    level = np.cumsum(mass)[:-1]
    start, end = z[:-1], z[1:]
    turn = np.clip(ndtri(np.clip(level, 1e-300, 1.0 - 1e-16)), start, end)
    below = level * (turn - start) - (_integral(turn) - _integral(start))
    above = (_integral(end) - _integral(turn)) - level * (end - turn)
    tails = _integral(z[:1]) + _integral(-z[-1:])  # Phi before the first step, 1 - Phi after the last
    return float((below + above).sum() + tails.sum())


def _integral(at: Floats) -> Floats:
    """The integral of the normal distribution function up to `at`."""
    made: Floats = at * ndtr(at) + np.exp(-0.5 * at * at) / math.sqrt(2.0 * math.pi)
    return made


def small_sample_level(level: float, n: int) -> float:
    """Give the level at which percentiles of bootstrap replicates of a mean cover as often as a t interval of n units.

    A bootstrap of few units is too narrow twice over: its spread has the divisor n, and its quantiles are normal. The
    wider percentiles put both right.

    Args:
        level: coverage wanted, in (0, 1).
        n: units that are resampled (of the smaller of two groups), >= 2.

    Returns:
        The level to use, at least `level`.

    Raises:
        BadInput: a level outside (0, 1).
        TooFew: n below 2.

    Source:
        Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69(4), 2015, section 5.3
        ('expanded percentile interval').
    """
    if not 0.0 < level < 1.0:
        raise BadInput(f"interval level {level} is not between 0 and 1; 0.95 is usual")
    if n < 2:
        raise TooFew(f"{n} unit cannot be resampled; two or more are needed")
    reach = np.sqrt(n / (n - 1)) * stdtrit(n - 1, 0.5 + level / 2.0)
    return float(1.0 - 2.0 * ndtr(-reach))


def _checked(values: ArrayLike, weights: ArrayLike) -> tuple[Floats, Floats]:
    x, w = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if x.ndim != 1 or not len(x) or w.ndim != 2 or w.shape[1] != len(x):
        raise BadInput(f"values of shape {x.shape} and weights of shape {w.shape} do not belong together")
    if not np.isfinite(x).all() or not (w >= 0).all():
        raise BadInput("values must be finite and weights 0 or above")
    return x, w


def _over(top: Floats, total: Floats) -> Floats:
    made: Floats = np.divide(top, total, out=np.full(len(total), np.nan), where=total > 0)
    return made
