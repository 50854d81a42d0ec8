"""Intervals that are taken away where they would be false, or come from replicates."""

from __future__ import annotations

import math

import numpy as np

from ..stats.resample import percentile_interval
from ..stats.statistic import Floats, Statistic

__all__ = ["NO_INTERVAL", "bare", "resampled", "settled"]

NO_INTERVAL = "the interval only; "
"""How a note begins that says why a number has no interval."""


def bare(found: Statistic, why: str) -> Statistic:
    """The number without an interval, and the reason."""
    return found._replace(low=math.nan, high=math.nan, note=NO_INTERVAL + why) if found.defined else found


def settled(found: Statistic, few: str = "") -> Statistic:
    """The number, its interval taken away where it would be false: from too few items, or without any width.

    An interval without width claims to be certain. It comes from a figure at the end of its range (a correlation of
    exactly 1, no outlier at all), where neither Fisher's scale nor a resample of the same items can show a spread.
    """
    if math.isnan(found.low) and math.isnan(found.high):
        return found
    if few:
        return bare(found, few)
    if found.high - found.low <= 1e-12 * max(1.0, abs(found.value)):
        return bare(found, f"these items show no spread around {found.value:.4g}, which does not make it certain")
    return found


def resampled(found: Statistic, draws: Floats | None, level: float, *, recentre: bool = False) -> Statistic:
    """The statistic with the percentile interval of its replicates, where it has any.

    `recentre` moves the replicates so that their mean is the statistic: replicates of people's scores carry their noise
    twice, which weakens every correlation.
    """
    if draws is None or not found.defined:
        return found
    known = draws[~np.isnan(draws)]
    if len(known) < 2 or 2 * len(known) < len(draws):
        return bare(found, f"{len(known)} of {len(draws)} resamples gave a number")
    shift = found.value - float(known.mean()) if recentre else 0.0
    bounds = percentile_interval(known + shift, level=level)
    return found._replace(low=float(bounds.low), high=float(bounds.high))
