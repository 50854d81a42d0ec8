"""Reliability of ratings: intraclass correlations and split halves."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import f as fisher

from paragone.errors import BadInput

from .statistic import Floats, Statistic, normal_quantile

__all__ = ["Reliability", "icc_incomplete", "icc_two_way", "split_half"]


_GROUPS = 60  # of raters left out in turn by the jackknife; each costs a p x p eigenproblem


class Reliability(NamedTuple):
    """How far one rating, and the mean of all raters, would come out the same with other raters."""

    single: Statistic
    """ICC(2,1): one rating by one rater; absolute agreement, raters and items random."""
    average: Statistic
    """ICC(2,k): the mean over k raters."""
    k: float
    """Raters an average is taken over; for incomplete tables the harmonic mean of the ratings per item."""
    raters: int
    """Raters used."""


def icc_two_way(ratings: ArrayLike, *, level: float = 0.95) -> Reliability:
    """ICC(2,1) and ICC(2,k) of a complete table, with intervals from the F distribution.

    Args:
        ratings: (items, raters) ratings without a gap; two or more of each.
        level: coverage of the intervals, in (0, 1).

    Returns:
        Both coefficients; at most 1 and negative where raters agree less than by chance. NaN with a note where all
        ratings are the same.

    Raises:
        BadInput: not a matrix, a gap, or fewer than two items or raters. (With gaps use `icc_incomplete`, or only the
            raters who finished.)

    Source:
        Shrout and Fleiss, "Intraclass correlations", Psychological Bulletin 86(2), 1979; McGraw and Wong, "Forming
        inferences about some intraclass correlation coefficients", Psychological Methods 1(1), 1996, tables 4 and 7,
        case 2A, ICC(A,1) and ICC(A,k).
    """
    x = np.asarray(ratings, dtype=np.float64)
    if x.ndim != 2 or min(x.shape) < 2 or not np.isfinite(x).all():
        raise BadInput("ICC(2,1) needs a complete table of two or more items by two or more raters")
    n, k = x.shape
    grand = x.mean()
    by_item, by_rater = x.mean(axis=1) - grand, x.mean(axis=0) - grand
    rest = x - grand - by_item[:, None] - by_rater[None, :]
    msr = k * float(by_item @ by_item) / (n - 1)
    msc = n * float(by_rater @ by_rater) / (k - 1)
    mse = float((rest * rest).sum()) / ((n - 1) * (k - 1))
    single_scale = msr + (k - 1) * mse + k * (msc - mse) / n
    average_scale = msr + (msc - mse) / n
    if not single_scale > 1e-14 * max(1.0, grand**2):
        same = Statistic.undefined(n, "undefined: all ratings are the same")
        return Reliability(same, same, float(k), k)
    single = (msr - mse) / single_scale
    average = (msr - mse) / average_scale if average_scale > 0 else math.nan
    if mse <= 1e-14 * single_scale:
        perfect = Statistic(single, math.nan, math.nan, n, "no interval: the table has no residual")
        return Reliability(perfect, perfect._replace(value=average), float(k), k)
    ratio = msc / mse
    spread = k * single * ratio + n * (1.0 + (k - 1) * single) - k * single
    df = (k - 1) * (n - 1) * spread**2 / ((n - 1) * k**2 * single**2 * ratio**2 + (spread - k * single * ratio) ** 2)
    upper = 0.5 + level / 2.0
    f_low, f_high = float(fisher.ppf(upper, n - 1, df)), float(fisher.ppf(upper, df, n - 1))
    pooled = k * msc + (k * n - k - n) * mse
    low = n * (msr - f_low * mse) / (f_low * pooled + n * msr)
    high = n * (f_high * msr - mse) / (pooled + n * f_high * msr)
    return Reliability(
        Statistic(single, low, high, n),
        Statistic(average, _stepped_up(low, k), _stepped_up(high, k), n),
        float(k),
        k,
    )


def icc_incomplete(value: ArrayLike, item: ArrayLike, rater: ArrayLike, *, level: float = 0.95) -> Reliability:
    """The same coefficients where not everybody rated everything: variance components by Henderson's method 3.

    The model is rating = mean + item + rater + rest, all random. Sums of squares of each factor after the other are set
    equal to their expectations; in a complete table that gives the mean squares of `icc_two_way`. Intervals are a
    jackknife over raters on the atanh scale, since raters are what other studies would replace; above 60 raters they
    leave in 60 groups.

    Args:
        value: (m,) ratings, finite.
        item: (m,) index of the item, >= 0.
        rater: (m,) index of the rater, >= 0.
        level: coverage of the intervals, in (0, 1).

    Returns:
        Both coefficients; k is the harmonic mean of the ratings per item. NaN with a note where the components cannot
        be estimated (no item with two ratings, no rater with two, nothing left for the rest). Items that no common
        rater links to the others still count within their group.

    Raises:
        BadInput: vectors of different lengths or values that are not finite.

    Source:
        Searle, Casella and McCulloch, "Variance Components", 1992, section 5.5 and appendix F.
    """
    y = np.asarray(value, dtype=np.float64)
    i, j = np.asarray(item, dtype=np.int64), np.asarray(rater, dtype=np.int64)
    if y.ndim != 1 or i.shape != y.shape or j.shape != y.shape or not np.isfinite(y).all():
        raise BadInput("value, item and rater must be vectors of one length, the values finite")
    if not len(y):
        nothing = Statistic.undefined(0, "no rating")
        return Reliability(nothing, nothing, math.nan, 0)
    raters = np.unique(j)
    n_items = len(np.unique(i))
    single, average, k = _components(y, i, j)
    if math.isnan(single):
        none = Statistic.undefined(n_items, "the ratings overlap too little to tell items, raters and rest apart")
        return Reliability(none, none, k, len(raters))
    part = np.searchsorted(raters, j) % _GROUPS
    without = [_components(y[part != g], i[part != g], j[part != g])[:2] for g in np.unique(part)]
    ends = [
        _jackknifed(centre, np.array([pair[at] for pair in without]), level)
        for at, centre in enumerate((single, average))
    ]
    return Reliability(Statistic(single, *ends[0], n_items), Statistic(average, *ends[1], n_items), k, len(raters))


def split_half(
    ratings: ArrayLike, *, splits: int = 1000, seed: int | np.random.Generator, level: float = 0.95
) -> tuple[Statistic, Statistic]:
    """How well item means of one random half of the raters predict those of the other half.

    Args:
        ratings: (raters, items); NaN where a rater did not rate.
        splits: random halvings, >= 1; with an odd number of raters one half is larger by one.
        seed: seed or generator.
        level: share of the halvings inside the interval, in (0, 1).

    Returns:
        The mean Pearson correlation of the halves, and the mean of 2r / (1 + r) (Spearman and Brown), the reliability
        of the means of all raters. The intervals hold `level` of the halvings: they describe the luck of the split,
        not the sampling of people. NaN with a note below four raters or three items.

    Raises:
        BadInput: not a matrix, or splits below 1.

    Source:
        Brown, "Some experimental results in the correlation of mental abilities", Brit. J. Psychology 3, 1910.
    """
    x = np.asarray(ratings, dtype=np.float64)
    if x.ndim != 2 or splits < 1:
        raise BadInput("split halves need a matrix (raters, items) and one or more splits")
    p, n = x.shape
    if p < 4 or n < 3:
        few = Statistic.undefined(n, f"{p} raters and {n} items; split halves need four and three or more")
        return few, few
    rng = np.random.default_rng(seed)
    first = np.argsort(rng.random((splits, p)), axis=1) < p // 2
    known = ~np.isnan(x)
    filled = np.where(known, x - np.nanmean(x), 0.0)
    r = _half_correlations(first.astype(np.float64), filled, known.astype(np.float64))
    usable = ~np.isnan(r)
    if not usable.any():
        none = Statistic.undefined(n, "no halving gave both halves three common items that differ")
        return none, none
    r = r[usable]
    stepped = 2.0 * r / np.where(1.0 + r > 0, 1.0 + r, np.nan)
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    note = f"interval over {len(r)} random halvings"
    low, high = (float(v) for v in np.quantile(r, tails))
    half = Statistic(float(r.mean()), low, high, n, note)
    low, high = (float(v) for v in np.nanquantile(stepped, tails))
    return half, Statistic(float(np.nanmean(stepped)), low, high, n, note)


def _half_correlations(first: Floats, filled: Floats, known: Floats) -> Floats:
    """(splits,) Pearson correlations of the item means of the two halves, over items that both halves rated."""
    counts = [half @ known for half in (first, 1.0 - first)]
    both = (counts[0] > 0) & (counts[1] > 0)
    a, b = (
        np.where(both, half @ filled / np.maximum(c, 1.0), 0.0)
        for half, c in zip((first, 1.0 - first), counts, strict=True)
    )
    m = both.sum(axis=1)
    a, b = (np.where(both, v - (v.sum(axis=1) / np.maximum(m, 1))[:, None], 0.0) for v in (a, b))
    size_a, size_b = (a * a).sum(axis=1), (b * b).sum(axis=1)
    usable = (m >= 3) & (size_a > 1e-20) & (size_b > 1e-20)
    scale = np.sqrt(np.where(usable, size_a * size_b, 1.0))
    return np.where(usable, np.clip((a * b).sum(axis=1) / scale, -1.0, 1.0), np.nan)


def _components(y: Floats, item: ArrayLike, rater: ArrayLike) -> tuple[float, float, float]:
    """ICC(2,1), ICC(2,k) and k from variance components; NaN where they cannot be estimated."""
    nothing = (math.nan, math.nan, math.nan)
    if not len(y):
        return nothing
    i, j = np.unique(item, return_inverse=True)[1], np.unique(rater, return_inverse=True)[1]
    n, p, m = int(i.max()) + 1, int(j.max()) + 1, len(y)
    if n < 2 or p < 2:
        return nothing
    y = y - y.mean()
    cells = np.zeros((n, p))
    np.add.at(cells, (i, j), 1.0)
    per_item, per_rater = cells.sum(axis=1), cells.sum(axis=0)
    sum_item, sum_rater = np.bincount(i, weights=y), np.bincount(j, weights=y)
    # Raters after items: the normal equations of the raters with the item means swept out.
    swept = np.diag(per_rater) - cells.T @ (cells / per_item[:, None])
    right = sum_rater - cells.T @ (sum_item / per_item)
    values, vectors = np.linalg.eigh(swept)
    kept = values > 1e-9 * max(float(values.max(initial=0.0)), 1.0)
    gained = float(((vectors[:, kept].T @ right) ** 2 / values[kept]).sum())
    groups = p - int(kept.sum())
    items_alone = float((sum_item**2 / per_item).sum())
    raters_alone = float((sum_rater**2 / per_rater).sum())
    rest_df = m - n - p + groups
    if rest_df < 1:
        return nothing
    rest = max(float(y @ y) - items_alone - gained, 0.0) / rest_df
    rater_scale = m - float(((cells**2).sum(axis=1) / per_item).sum())
    item_scale = m - float(((cells**2).sum(axis=0) / per_rater).sum())
    if rater_scale <= 1e-9 or item_scale <= 1e-9:
        return nothing
    rater_var = (gained - (p - groups) * rest) / rater_scale
    item_var = (items_alone + gained - raters_alone - (n - groups) * rest) / item_scale
    total = item_var + rater_var + rest
    k = n / float((1.0 / per_item).sum())
    mean_total = item_var + (rater_var + rest) / k
    if not total > 1e-14:
        return math.nan, math.nan, k
    return item_var / total, item_var / mean_total if mean_total > 0 else math.nan, k


def _jackknifed(centre: float, without: Floats, level: float) -> tuple[float, float]:
    usable = without[~np.isnan(without)]
    if len(usable) < 3 or not abs(centre) < 1.0:
        return math.nan, math.nan
    z = np.arctanh(np.clip(usable, -1.0 + 1e-12, 1.0 - 1e-12))
    half = normal_quantile(level) * math.sqrt((len(z) - 1) / len(z) * float(((z - z.mean()) ** 2).sum()))
    return math.tanh(math.atanh(centre) - half), math.tanh(math.atanh(centre) + half)


def _stepped_up(r: float, k: float) -> float:
    """Spearman and Brown: reliability of a mean of k from the reliability of one."""
    scale = 1.0 + (k - 1) * r
    return k * r / scale if scale > 0 else math.nan
