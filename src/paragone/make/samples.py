"""What two samples of one attribute say: differences, distance, likeness to a Gaussian, all with intervals."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..errors import TooFew
from ..stats.distributions import (
    gaussian_distance,
    small_sample_level,
    wasserstein,
    weighted_mean,
    weighted_median,
)
from ..stats.resample import bootstrap_weights, percentile_interval
from ..stats.statistic import Floats

__all__ = ["STATISTICS", "Row", "two_samples"]

STATISTICS = ("mean difference", "median difference", "wasserstein", "gaussian generated", "gaussian natural")
"""The words of `Row.statistic`, in order."""


class Row(NamedTuple):
    """One statistic of two samples."""

    statistic: str
    unit: str
    """Empty: that of the attribute."""
    value: float
    low: float
    high: float
    chance: float
    """95 % point of the statistic where nothing is there to find; NaN: the statistic may have either sign."""
    n_generated: int
    n_natural: int
    units: int
    """Units that are drawn again, of the smaller side."""


def two_samples(
    x: Floats,
    y: Floats,
    x_prompt: Sequence[str | None],
    y_prompt: Sequence[str | None],
    *,
    replicates: int,
    level: float,
    seed: int,
) -> list[Row]:
    """Compare the attribute of generated pictures x with that of natural pictures y.

    Args:
        x: (n,) numbers.
        y: (m,) numbers.
        x_prompt: what each picture shows; pictures of one prompt are drawn together, None: alone.
        y_prompt: likewise; where both sides have a prompt, its pictures on both sides go together.
        replicates: of the bootstrap.
        level: of the intervals, in (0, 1).
        seed: of the draws.

    Returns:
        One row per word of `STATISTICS`: means and medians of x minus those of y, the Wasserstein-1 distance, and the
        distance of each sample from a Gaussian in its deviations. Intervals are percentiles at `small_sample_level`;
        replicates of a distance lie above a small one, so that its interval begins at 0 where it is within chance.

    Raises:
        TooFew: fewer than two units on a side.
    """
    units, u, v = _weights(x_prompt, y_prompt, replicates, seed)
    wide = small_sample_level(level, units)
    counted = (len(x), len(y), units)
    rows = []
    for word, of in (("mean difference", weighted_mean), ("median difference", weighted_median)):
        ends = percentile_interval(of(x, u) - of(y, v), level=wide)
        value = float(of(x, np.ones((1, len(x))))[0] - of(y, np.ones((1, len(y))))[0])
        rows.append(Row(word, "", value, float(ends.low), float(ends.high), math.nan, *counted))
    chance = _chance_between(x, y, replicates, seed)
    rows.append(_distance("wasserstein", wasserstein(x, y), wasserstein(x, y, u, v), chance, wide, counted))
    for word, values, weights in (("generated", x, u), ("natural", y, v)):
        usual = _chance_gaussian(len(values), seed)
        draws = gaussian_distance(values, weights)
        rows.append(_distance(f"gaussian {word}", gaussian_distance(values), draws, usual, wide, counted))
    return rows


def _distance(
    word: str, value: Floats, draws: Floats, chance: float, level: float, counted: tuple[int, int, int]
) -> Row:
    ends, own = percentile_interval(draws, level=level), float(value[0])
    low = 0.0 if own <= chance else min(float(ends.low), own)
    unit = "" if word == "wasserstein" else "standard deviations"
    return Row(word, unit, own, low, max(float(ends.high), own), chance, *counted)


def _weights(
    made: Sequence[str | None], real: Sequence[str | None], replicates: int, seed: int
) -> tuple[int, Floats, Floats]:
    """Number of units of the smaller side, and how often each picture is drawn on both sides."""
    left = [f"p {word}" if word is not None else f"g {place}" for place, word in enumerate(made)]
    right = [f"p {word}" if word is not None else f"n {place}" for place, word in enumerate(real)]
    units = min(len(set(left)), len(set(right)))
    if units < 2:
        raise TooFew(f"{units} picture or prompt to draw again on one side; two or more are needed")
    rng = np.random.default_rng(seed)
    if set(left) & set(right):
        both = bootstrap_weights(len(left) + len(right), replicates, rng, clusters=[*left, *right])
        return units, both[:, : len(left)], both[:, len(left) :]
    drawn = bootstrap_weights(len(left), replicates, rng, clusters=left)
    return units, drawn, bootstrap_weights(len(right), replicates, rng, clusters=right)


def _chance_between(x: Floats, y: Floats, replicates: int, seed: int) -> float:
    """The 95 % point of the Wasserstein distance when the pictures are dealt to the two sides at random."""
    both = np.concatenate([x, y])
    rng = np.random.default_rng(seed)
    dealt = rng.permuted(np.tile(np.arange(len(both)) < len(x), (replicates, 1)), axis=1).astype(np.float64)
    return float(np.quantile(wasserstein(both, both, dealt, 1.0 - dealt), 0.95))


@functools.lru_cache(maxsize=256)
def _chance_gaussian(n: int, seed: int, *, samples: int = 400) -> float:
    """The 95 % point of the distance from a Gaussian of samples of n from one."""
    rng = np.random.default_rng(seed)
    distances = [float(gaussian_distance(rng.standard_normal(n))[0]) for _ in range(samples)]
    return float(np.quantile(distances, 0.95))
