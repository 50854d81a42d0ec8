"""The statistics behind the screening rules: arrays in, one number a participant out."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

__all__ = ["Extremes", "bt500", "commonest", "correlation_with_mean", "longest_run", "residual_spread"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Extremes(NamedTuple):
    """How often each participant was far from the others."""

    above: Floats
    """(p,) P, ratings far above their item's mean."""
    below: Floats
    """(p,) Q, ratings far below it."""
    share: Floats
    """(p,) (P + Q) / ratings; NaN for a participant without ratings."""
    balance: Floats
    """(p,) abs(P - Q) / (P + Q): 0 both sides alike, 1 always the same side; NaN where P + Q = 0."""


def bt500(
    item: Ints,
    participant: Ints,
    value: Floats,
    *,
    n: int,
    p: int,
    convention: Literal["text", "sureal"] = "text",
) -> Extremes:
    """Count ratings beyond k standard deviations of their item's mean, k by the item's kurtosis.

    beta = m4 / m2^2 with moments over N; k = 2 where 2 <= beta <= 4, else sqrt(20). P counts x >= u + k S, Q counts
    x <= u - k S.

    Args:
        item: (k,) index of the item, in [0, n).
        participant: (k,) index of the participant, in [0, p).
        value: (k,) ratings.
        n: number of items.
        p: number of participants.
        convention: 'text' takes S with N - 1, skips items on which all ratings agree (there both counts would hold for
            everybody) and divides by the participant's own ratings. 'sureal' takes S with N, counts those items against
            everybody and divides by all presentations, seen or not.

    Source:
        ITU-R BT.500-15, Annex 1, section 2.3.1; the second convention is that of SUREAL's SubjrejMosModel.
    """
    shown = np.bincount(item, minlength=n).astype(np.float64)
    count = np.maximum(shown, 1)
    mean = np.bincount(item, value, n) / count
    away = value - mean[item]
    second = np.bincount(item, away**2, n) / count
    fourth = np.bincount(item, away**4, n) / count
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, item, value)
    np.maximum.at(high, item, value)
    spread = high > low
    kurtosis = np.where(spread, fourth / np.where(spread, second, 1) ** 2, 0.0)
    k = np.where((kurtosis >= 2) & (kurtosis <= 4), 2.0, np.sqrt(20.0))
    free = np.where(shown > 1, shown - 1, 1) if convention == "text" else count
    reach = (k * np.where(spread, np.sqrt(second * count / free), 0.0))[item]
    counted = spread[item] if convention == "text" else np.ones(item.size, dtype=bool)
    flat = ~spread[item]
    reach = reach * (1 - 1e-9)  # 24 fives and 6 fours put 4 at exactly u - 2 S; rounding must not decide
    above = np.bincount(participant, counted & (flat | (away >= reach)), p)
    below = np.bincount(participant, counted & (flat | (away <= -reach)), p)
    if convention == "text":
        presented = np.bincount(participant, minlength=p).astype(np.float64)
    else:
        repeats = np.unique(participant * n + item, return_counts=True)[1]
        presented = np.full(p, float(np.count_nonzero(shown) * repeats.max(initial=0)))
    both = above + below
    share = np.where(presented > 0, both / np.where(presented > 0, presented, 1), np.nan)
    balance = np.where(both > 0, np.abs(above - below) / np.where(both > 0, both, 1), np.nan)
    return Extremes(above.astype(np.float64), below.astype(np.float64), share, balance)


def correlation_with_mean(
    item: Ints,
    participant: Ints,
    value: Floats,
    *,
    n: int,
    p: int,
    kind: Literal["pearson", "spearman"] = "pearson",
    against: Literal["others", "all"] = "others",
) -> Floats:
    """Correlate each participant's ratings with the items' mean.

    Args:
        item: as in `bt500`, as are participant, value, n and p.
        participant: as there.
        value: as there; repeated ratings of an item by one participant are averaged first.
        n: as there.
        p: as there.
        kind: 'pearson' or 'spearman'.
        against: the mean over the 'others', or over 'all' with the participant's own rating among them, which lifts the
            correlation where an item has few ratings.

    Returns:
        (p,) in [-1, 1]; NaN with fewer than three items in common or without spread on either side.

    Source:
        ITU-T P.913 (2021) (against all).
    """
    cell, inverse = np.unique(participant * n + item, return_inverse=True)
    own = np.bincount(inverse, value) / np.bincount(inverse)
    who, what = cell // n, cell % n
    total, count = np.bincount(what, own, n)[what], np.bincount(what, minlength=n)[what]
    if against == "others":
        total, count = total - own, count - 1
    met = count > 0
    who, own, mean = who[met], own[met], total[met] / count[met]
    r = np.full(p, np.nan)
    for person in np.unique(who):
        rows = who == person
        x, y = own[rows], mean[rows]
        if kind == "spearman":
            x, y = rankdata(x), rankdata(y)
        x, y = x - x.mean(), y - y.mean()
        scale = np.sqrt((x @ x) * (y @ y))
        if x.size >= 3 and np.ptp(own[rows]) > 0 and np.ptp(mean[rows]) > 0:
            r[person] = np.clip((x @ y) / scale, -1.0, 1.0)
    return r


def residual_spread(item: Ints, participant: Ints, value: Floats, *, n: int, p: int) -> Floats:
    """Standard deviation of each participant around the items' means, their own bias taken out.

    A quick stand-in for the inconsistency of P.910 Annex E, which needs a fit. The distance from a mean of m ratings is
    widened by sqrt(m / (m - 1)), since the participant's own rating is one of the m.

    Args:
        item: as in `bt500`, as are participant, value, n and p.
        participant: as there.
        value: as there.
        n: as there.
        p: as there.

    Returns:
        (p,) in the rating's unit; NaN with fewer than two ratings of items that others rated too.
    """
    shown = np.bincount(item, minlength=n)
    mean = np.bincount(item, value, n) / np.maximum(shown, 1)
    shared = shown[item] > 1
    m = shown[item[shared]]
    who, away = participant[shared], (value - mean[item])[shared] * np.sqrt(m / (m - 1))
    ratings = np.bincount(who, minlength=p)
    bias = np.bincount(who, away, p) / np.maximum(ratings, 1)
    square = np.bincount(who, (away - bias[who]) ** 2, p)
    return np.where(ratings > 1, np.sqrt(square / np.maximum(ratings - 1, 1)), np.nan)


def longest_run(participant: Ints, answer: Ints, *, p: int) -> tuple[Ints, Ints]:
    """How long the longest row of equal answers of each participant is.

    Args:
        participant: (k,) index of the participant, in [0, p); rows in the order in which answers were given.
        answer: (k,) code of the answer, >= 0.
        p: number of participants.

    Returns:
        (p,) length of the longest run, 0 without answers, and (p,) its answer, -1 without answers.
    """
    length, code = np.zeros(p, dtype=np.int64), np.full(p, -1, dtype=np.int64)
    if answer.size == 0:
        return length, code
    order = np.argsort(participant, kind="stable")
    who, said = participant[order], answer[order]
    starts = np.flatnonzero(np.r_[True, (who[1:] != who[:-1]) | (said[1:] != said[:-1])])
    runs = np.diff(np.r_[starts, who.size])
    for start, run in zip(starts, runs, strict=True):
        if run > length[who[start]]:
            length[who[start]], code[who[start]] = run, said[start]
    return length, code


def commonest(participant: Ints, answer: Ints, *, p: int) -> tuple[Floats, Ints]:
    """Share of each participant's most frequent answer.

    Args:
        participant: as in `longest_run`, as are answer and p.
        answer: as there.
        p: as there.

    Returns:
        (p,) share in (0, 1], NaN without answers, and (p,) the answer (the lowest code of several), -1 without answers.
    """
    if answer.size == 0:
        return np.full(p, np.nan), np.full(p, -1, dtype=np.int64)
    codes = int(answer.max()) + 1
    table = np.bincount(participant * codes + answer, minlength=p * codes).reshape(p, codes)
    given = table.sum(axis=1)
    share = np.where(given > 0, table.max(axis=1) / np.maximum(given, 1), np.nan)
    return share, np.where(given > 0, table.argmax(axis=1), -1)
