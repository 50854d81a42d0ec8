"""`Number`: a figure with its interval and what it rests on, and the few ways in which the desk makes one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom, chi2

from ....stats.wilson import wilson_interval

__all__ = ["Number", "median_number", "rate_number", "share_number"]

_LEVEL = 0.95


@dataclass(frozen=True)
class Number:
    """One figure of the desk."""

    value: float | None
    """The figure; None: not known (`note` says why)."""
    low: float | None = None
    """Lower end of the 95 % interval; None: there is none."""
    high: float | None = None
    """Upper end; None: there is none."""
    n: int = 0
    """How many answers, sheets or people it rests on."""
    note: str = ""
    """Why a number is missing, or what it counts."""

    @classmethod
    def unknown(cls, note: str, n: int = 0) -> Number:
        """A figure that the data do not determine."""
        return cls(None, n=n, note=note)


def share_number(hits: ArrayLike, of: ArrayLike, *, note: str = "") -> Number:
    """A share with Wilson's interval, which knows that answers of one person hang together.

    Args:
        hits: (p,) hits of each person, 0 <= hits <= of.
        of: (p,) trials of each person, >= 0.
        note: what is counted.

    Returns:
        sum(hits) / sum(of). The interval is Wilson's with an effective number of trials: p (1 - p) over the variance
        of the ratio between people, at most the trials; where nobody differs, the number of people.

    Source:
        Cochran, "Sampling Techniques", 3rd edition, 1977, equation 3.34 (variance of a ratio over clusters); Korn and
        Graubard, Survey Methodology 24(2), 1998 (effective trials in an interval of a share).
    """
    k, m = np.asarray(hits, dtype=np.float64), np.asarray(of, dtype=np.float64)
    k, m = k[m > 0], m[m > 0]
    trials = float(m.sum())
    if trials == 0:
        return Number.unknown(note or "nothing to count yet")
    share = float(k.sum() / trials)
    people = len(m)
    effective = float(people)
    if 0 < share < 1 and people > 1:
        variance = people / (people - 1) * float(((k - share * m) ** 2).sum()) / trials**2
        effective = min(share * (1 - share) / variance, trials) if variance > 0 else trials
    low, high = wilson_interval(share, max(effective, 1.0), level=_LEVEL)
    return Number(share, float(low), float(high), int(trials), note)


def median_number(values: Sequence[float] | ArrayLike, *, note: str = "") -> Number:
    """The median with its distribution-free interval between order statistics; none below six values.

    Args:
        values: independent values; NaN are left out.
        note: what they are.

    Source:
        Conover, "Practical Nonparametric Statistics", 3rd edition, 1999, section 3.2.
    """
    x = np.sort(np.asarray(values, dtype=np.float64))
    x = x[~np.isnan(x)]
    if x.size == 0:
        return Number.unknown(note or "nothing measured yet")
    middle = float(np.median(x))
    below = int(binom.ppf((1 - _LEVEL) / 2, x.size, 0.5))  # P(X < below) <= 2.5 %
    if below < 1:
        return Number(middle, n=int(x.size), note=note)
    return Number(middle, float(x[below - 1]), float(x[x.size - below]), int(x.size), note)


def rate_number(count: int, span: float, *, note: str = "") -> Number:
    """Events per unit of time with the exact Poisson interval.

    Args:
        count: events seen, >= 0.
        span: time they were counted in, > 0; else there is no rate.
        note: what is counted.

    Source:
        Garwood, "Fiducial Limits for the Poisson Distribution", Biometrika 28, 1936.
    """
    if not (span > 0 and math.isfinite(span)):
        return Number.unknown(note or "no time has passed yet", n=count)
    tail = (1 - _LEVEL) / 2
    low = chi2.ppf(tail, 2 * count) / 2 if count else 0.0
    high = chi2.ppf(1 - tail, 2 * count + 2) / 2
    return Number(count / span, float(low) / span, float(high) / span, count, note)
