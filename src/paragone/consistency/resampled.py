"""Intervals by resampling participants, the same for votes and ratings."""

from __future__ import annotations

import numpy as np
import polars as pl

from ..stats.resample import bootstrap_weights, percentile_interval
from ..stats.statistic import Floats, Ints, Statistic

__all__ = ["MIN_PARTICIPANTS", "codes", "few", "interval", "people_weights", "with_width"]

MIN_PARTICIPANTS = 5
"""Fewest participants that are resampled for an interval. Our choice: five people have 126 different resamples."""


def interval(value: float, draws: Floats, n: int) -> Statistic:
    """The number with the percentile interval of its replicates, unless they hardly exist or show no spread at all."""
    bounds = percentile_interval(draws)
    lost = int(bounds.dropped)
    note = f"{lost} resample{'s' * (lost != 1)} gave no number" if lost else ""
    if 2 * int(bounds.dropped) > len(draws):
        return Statistic(value, np.nan, np.nan, n, f"no interval: {note}")
    return with_width(Statistic(value, float(bounds.low), float(bounds.high), n, note))


def with_width(found: Statistic) -> Statistic:
    """The number, without its interval where that has no width: replicates that are all alike prove nothing."""
    if found.high - found.low <= 1e-12 * max(1.0, abs(found.value)):
        return found._replace(low=np.nan, high=np.nan, note="no interval: every resample gives the same")
    return found


def people_weights(n_people: int, rng: np.random.Generator, replicates: int) -> Floats | None:
    """(replicates, n_people) resampling counts; None where there are too few people."""
    return None if n_people < MIN_PARTICIPANTS else bootstrap_weights(n_people, replicates, rng)


def few(n_people: int) -> str:
    """Why there is no interval."""
    return f"no interval: {n_people} participant{'' if n_people == 1 else 's'}, {MIN_PARTICIPANTS} are needed"


def codes(series: pl.Series) -> Ints:
    """(n,) index of each id among the sorted ids."""
    return np.unique(series.to_numpy().astype(str), return_inverse=True)[1].astype(np.int64)
