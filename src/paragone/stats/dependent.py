"""Is one predictor better than another? Tests for correlations and errors, dependent and independent."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from scipy.stats import f as fisher
from scipy.stats import t as student

from paragone.errors import BadInput

from .resample import percentile_interval
from .statistic import normal_quantile

__all__ = [
    "Difference",
    "bootstrap_difference",
    "independent_z",
    "rmse_f_test",
    "steiger_z",
    "williams_t",
    "zou_interval",
]


class Difference(NamedTuple):
    """A difference between two predictors with its test."""

    difference: float
    """First minus second, in the unit of the statistic."""
    low: float
    """Lower end of the interval of the difference; NaN where the method gives none."""
    high: float
    """Upper end; NaN where the method gives none."""
    statistic: float
    """t, z or F; NaN for a bootstrap."""
    p: float
    """Two-sided p value in [0, 1]; NaN where the data do not determine it (`note` says why)."""
    note: str = ""
    """Why a number is missing; empty where none is."""


def williams_t(first: float, second: float, between: float, n: int, *, level: float = 0.95) -> Difference:
    """Whether two predictors correlate differently with one target, all three measured on the same items.

    Args:
        first: correlation of predictor 1 with the target, in [-1, 1].
        second: correlation of predictor 2 with the target.
        between: correlation of the two predictors with each other.
        n: items; n - 3 degrees of freedom.
        level: coverage of the interval (`zou_interval`), in (0, 1).

    Returns:
        Difference, Zou's interval, t and the two-sided p. Made for Pearson's r; on Spearman's rho it is approximate.
        NaN with a note where n < 4 or no error is left.

    Raises:
        BadInput: a correlation outside [-1, 1], or three that cannot hold together.

    Source:
        Williams, "The comparison of regression variables", JRSS B 21(2), 1959; Steiger, "Tests for comparing elements
        of a correlation matrix", Psychological Bulletin 87(2), 1980, equation 7.
    """
    determinant = _determinant(first, second, between)
    if not n >= 4 or math.isnan(determinant):
        return _untested(first - second, "four or more items and three known correlations are needed")
    if between >= 1.0 - 1e-12:
        return Difference(first - second, 0.0, 0.0, 0.0, 1.0, "the two predictors order the items alike")
    mean = (first + second) / 2.0
    scale = 2.0 * determinant * (n - 1) / (n - 3) + mean**2 * (1.0 - between) ** 3
    if scale <= 0.0:
        return _untested(first - second, "the correlations are perfect, so no error is left to compare with")
    t = (first - second) * math.sqrt((n - 1) * (1.0 + between) / scale)
    low, high = zou_interval(first, second, between, n, level=level)
    return Difference(first - second, low, high, t, float(2.0 * student.sf(abs(t), n - 3)))


def steiger_z(first: float, second: float, between: float, n: int, *, level: float = 0.95) -> Difference:
    """The same question on Fisher's scale, with the covariance taken at the mean correlation.

    Args:
        first: as in `williams_t`, as are the other arguments.
        second: as there.
        between: as there.
        n: as there.
        level: as there.

    Source:
        Steiger, 1980 (as above), equations 3 and 14.
    """
    determinant = _determinant(first, second, between)
    if not n >= 4 or math.isnan(determinant):
        return _untested(first - second, "four or more items and three known correlations are needed")
    if max(abs(first), abs(second)) >= 1.0:
        return _untested(first - second, "a perfect correlation has no place on Fisher's scale")
    mean = (first + second) / 2.0
    spread = 2.0 - 2.0 * _dependence(mean, mean, between)
    if spread <= 1e-12:
        return Difference(first - second, 0.0, 0.0, 0.0, 1.0, "the two predictors order the items alike")
    z = (math.atanh(first) - math.atanh(second)) * math.sqrt((n - 3) / spread)
    low, high = zou_interval(first, second, between, n, level=level)
    return Difference(first - second, low, high, z, float(2.0 * ndtr(-abs(z))))


def zou_interval(first: float, second: float, between: float, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Interval of the difference of two dependent correlations that share the target.

    Args:
        first: as in `williams_t`, as are the other arguments.
        second: as there.
        between: as there.
        n: as there; below 4 the ends are NaN.
        level: as there.

    Source:
        Zou, "Toward using confidence intervals to compare correlations", Psychological Methods 12(4), 2007.
    """
    if n < 4 or max(abs(first), abs(second)) >= 1.0:
        return math.nan, math.nan
    half = normal_quantile(level) / math.sqrt(n - 3)
    ends = [(math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)) for r in (first, second)]
    (low_1, high_1), (low_2, high_2) = ends
    c = _dependence(first, second, between)
    below = (first - low_1) ** 2 + (high_2 - second) ** 2 - 2.0 * c * (first - low_1) * (high_2 - second)
    above = (high_1 - first) ** 2 + (second - low_2) ** 2 - 2.0 * c * (high_1 - first) * (second - low_2)
    gap = first - second
    return gap - math.sqrt(max(below, 0.0)), gap + math.sqrt(max(above, 0.0))


def independent_z(first: float, second: float, n_first: int, n_second: int | None = None) -> Difference:
    """Whether two correlations from different items differ; P.1401 uses it for the same items too (cautious there).

    Args:
        first: correlation of predictor 1 with its target, in [-1, 1].
        second: correlation of predictor 2 with its target.
        n_first: items behind the first.
        n_second: items behind the second; None: as many.

    Returns:
        Difference of r, z and two-sided p; no interval. NaN with a note where n < 4 or a correlation is perfect.

    Source:
        ITU-T P.1401 (2020), section 7.6.1; Fisher, 1921.
    """
    m = n_first if n_second is None else n_second
    if min(n_first, m) < 4 or not max(abs(first), abs(second)) < 1.0:
        return _untested(first - second, "four or more items and correlations inside (-1, 1) are needed")
    z = (math.atanh(first) - math.atanh(second)) / math.sqrt(1.0 / (n_first - 3) + 1.0 / (m - 3))
    return Difference(first - second, math.nan, math.nan, z, float(2.0 * ndtr(-abs(z))))


def rmse_f_test(first: float, second: float, df_first: float, df_second: float | None = None) -> Difference:
    """Whether two root-mean-square errors differ.

    Args:
        first: error of predictor 1, >= 0, its squares divided by the degrees of freedom.
        second: error of predictor 2.
        df_first: degrees of freedom, items minus parameters of the mapping.
        df_second: of the second; None: as many.

    Returns:
        Difference, F = (larger / smaller)^2 and the two-sided p. P.1401 compares F with the upper 5 % point, which is a
        two-sided test at 10 %; the p here is twice that tail. The errors are treated as independent.

    Source:
        ITU-T P.1401 (2020), section 7.6.2.
    """
    other = df_first if df_second is None else df_second
    if not (df_first >= 1 and other >= 1 and first >= 0 and second >= 0):
        return _untested(first - second, "errors >= 0 and one or more degrees of freedom are needed")
    if first == second:
        return Difference(0.0, math.nan, math.nan, 1.0, 1.0)
    if min(first, second) == 0.0:
        return _untested(first - second, "one error is zero, so their ratio has no distribution")
    upper, lower = (df_first, other) if first > second else (other, df_first)
    ratio = (max(first, second) / min(first, second)) ** 2
    return Difference(first - second, math.nan, math.nan, ratio, min(1.0, float(2.0 * fisher.sf(ratio, upper, lower))))


def bootstrap_difference(
    first: float, second: float, draws_first: ArrayLike, draws_second: ArrayLike, *, level: float = 0.95
) -> Difference:
    """Interval and p value of any difference from paired replicates (the same resamples for both).

    Args:
        first: statistic of predictor 1 on the full data.
        second: of predictor 2.
        draws_first: (r,) replicates of the first; NaN where a resample gave none.
        draws_second: (r,) replicates of the second, resample by resample the same items.
        level: coverage of the percentile interval, in (0, 1).

    Returns:
        Difference, interval, and p = 2 min(1 + #{d <= 0}, 1 + #{d >= 0}) / (r + 1): never 0, since r resamples cannot
        show less than about 2 / r.

    Raises:
        BadInput: replicates of different shapes.
    """
    a, b = np.asarray(draws_first, dtype=np.float64), np.asarray(draws_second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise BadInput(f"paired replicates must be vectors of one length, not shapes {a.shape} and {b.shape}")
    gap = a - b
    gap = gap[~np.isnan(gap)]
    if len(gap) < 2 or math.isnan(first - second):
        return _untested(first - second, f"{len(gap)} usable replicates")
    bounds = percentile_interval(gap, level=level)
    tail = min(1 + int((gap <= 0).sum()), 1 + int((gap >= 0).sum())) / (len(gap) + 1)
    dropped = len(a) - len(gap)
    note = f"{dropped} replicates without a number were left out" if dropped else ""
    return Difference(first - second, float(bounds.low), float(bounds.high), math.nan, min(1.0, 2.0 * tail), note)


def _dependence(first: float, second: float, between: float) -> float:
    """Correlation of two sample correlations that share a variable (Pearson and Filon 1898)."""
    shared = 1.0 - first**2 - second**2 - between**2
    top = (between - 0.5 * first * second) * shared + between**3
    return top / ((1.0 - first**2) * (1.0 - second**2))


def _determinant(first: float, second: float, between: float) -> float:
    if any(abs(r) > 1.0 + 1e-12 for r in (first, second, between)):
        raise BadInput(f"correlations must lie in [-1, 1], not {first}, {second}, {between}")
    determinant = 1.0 - first**2 - second**2 - between**2 + 2.0 * first * second * between
    if determinant < -1e-9:
        raise BadInput(f"correlations {first}, {second} and {between} cannot hold together; were the items the same?")
    return max(determinant, 0.0) if not math.isnan(determinant) else math.nan


def _untested(difference: float, note: str) -> Difference:
    return Difference(difference, math.nan, math.nan, math.nan, math.nan, note)
