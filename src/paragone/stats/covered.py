"""How well a pick covers a pool: ranges, distances, and the same for picks made at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import BadInput

from .points import as_points
from .quotas import Quotas, Room
from .statistic import Floats, Ints

__all__ = ["Ranges", "covered_ranges", "covered_share", "nearest_distance", "random_picks"]


class Ranges(NamedTuple):
    """The pool's range and the picks' range in each property."""

    pool_low: Floats
    """(p,) smallest value of the pool."""
    pool_high: Floats
    low: Floats
    """(p,) smallest value of the picks."""
    high: Floats
    share: Floats
    """(p,) length of the picks' range over the pool's, in [0, 1]; NaN where the pool has one value only."""
    gap: Floats
    """(p,) largest stretch of the pool's range without a pick, ends included, over the pool's range, in [0, 1]; NaN as
    above."""


def covered_ranges(values: ArrayLike, picked: ArrayLike) -> Ranges:
    """Give how much of each property's range the picks span.

    Args:
        values: (n, p) properties, in their own units.
        picked: (k,) indices, k >= 1.

    Raises:
        BadInput: shapes or indices that do not fit; missing numbers.
    """
    x = as_points(values)
    chosen = np.sort(x[_indices(picked, len(x))], axis=0)
    low, high = x.min(axis=0), x.max(axis=0)
    length = np.where(high > low, high - low, np.nan)
    gap = np.diff(np.vstack([low, chosen, high]), axis=0).max(axis=0)
    return Ranges(low, high, chosen[0], chosen[-1], (chosen[-1] - chosen[0]) / length, gap / length)


def nearest_distance(points: ArrayLike, picked: ArrayLike) -> Floats:
    """Give the distance of each point from its nearest pick.

    Args:
        points: (n, p) coordinates.
        picked: (k,) indices, k >= 1.

    Returns:
        (n,) distances, >= 0; the k-centre value is their maximum.

    Raises:
        BadInput: as for `covered_ranges`.
    """
    x = as_points(points)
    nearest: Floats = np.full(len(x), np.inf)
    for index in _indices(picked, len(x)):
        nearest = np.minimum(nearest, np.square(x - x[index]).sum(axis=1))
    return np.sqrt(nearest)


def covered_share(points: ArrayLike, picked: ArrayLike, radius: float) -> float:
    """Give the share of the pool that lies within a radius of some pick.

    Args:
        points: (n, p) coordinates.
        picked: (k,) indices, k >= 1.
        radius: in the units of the points, >= 0; a point at that distance counts.

    Returns:
        In (0, 1]: the picks cover themselves.

    Raises:
        BadInput: as for `covered_ranges`; a negative radius.
    """
    if not radius >= 0:
        raise BadInput(f"radius is {radius}; it must be 0 or above")
    return float((nearest_distance(points, picked) <= radius).mean())


def random_picks(
    n: int,
    number: int,
    replicates: int,
    seed: int | np.random.Generator,
    *,
    quotas: Quotas | None = None,
    fixed: Sequence[int] = (),
) -> Ints:
    """Draw picks at random that hold the same fixed items and meet the same quotas.

    Items are taken one after another, each evenly among those that still allow the quotas to be met. Without quotas, or
    with those of one factor, every pick is equally likely; with several factors not exactly so.

    Args:
        n: items of the pool.
        number: how many are picked, in [1, n].
        replicates: how many picks, >= 1.
        seed: seed or generator.
        quotas: how many of each level exactly; None: no quotas.
        fixed: indices that every pick holds.

    Returns:
        (replicates, number) indices.

    Raises:
        BadInput: numbers that do not fit, or quotas that cannot be met.
    """
    if replicates < 1:
        raise BadInput(f"{replicates} random picks are none; give 1 or more")
    rng = np.random.default_rng(seed)
    made = np.empty((replicates, number), dtype=np.int64)
    for row in range(replicates):
        room = Room(n, number, quotas)
        if not room.can_be_met():
            raise BadInput("the quotas cannot be met together by any pick from this pool")
        for place in range(number):
            made[row, place] = fixed[place] if place < len(fixed) else _drawn(room, rng)
            room.take(int(made[row, place]))
    return made


def _drawn(room: Room, rng: np.random.Generator) -> int:
    while True:
        index = int(rng.choice(room.candidates))
        if room.allows(index):
            return index


def _indices(picked: ArrayLike, n: int) -> Ints:
    index = np.asarray(picked, dtype=np.int64)
    if index.ndim != 1 or not len(index) or index.min() < 0 or index.max() >= n:
        raise BadInput(f"picks must be at least one index below {n}")
    return index
