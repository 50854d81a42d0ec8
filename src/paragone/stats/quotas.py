"""Quotas on what is picked: how many of each level, for one factor or several at once, and whether they can be met.

The picks that fulfil the quotas of one factor are the bases of a partition matroid. Several factors together are an
intersection of such matroids; whether a partial pick can still be completed is then decided exactly, by a small integer
program over the cells (combinations of levels).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from paragone.errors import BadInput

from .statistic import Floats, Ints

__all__ = ["Quotas", "Room", "single_faults"]


class Quotas(NamedTuple):
    """Exactly how many items of each level are wanted, factor by factor."""

    level: Ints
    """(n, f) level of each item in each factor, counted from 0."""
    wanted: tuple[Ints, ...]
    """For each factor (levels,): how many items of each level; every factor's numbers sum to the number of picks."""


def single_faults(quotas: Quotas) -> list[tuple[int, int, int, int]]:
    """Find levels of which fewer items exist than are wanted.

    Args:
        quotas: the levels of all items and the numbers wanted.

    Returns:
        (factor, level, wanted, there are) of each, in order.
    """
    faults = []
    for factor, wanted in enumerate(quotas.wanted):
        there = np.bincount(quotas.level[:, factor], minlength=len(wanted))
        faults += [
            (factor, level, int(number), int(there[level]))
            for level, number in enumerate(wanted)
            if number > there[level]
        ]
    return faults


class Room:
    """What a growing pick may still take.

    Args:
        n: items of the pool.
        number: how many are picked in all, in [1, n].
        quotas: None: anything goes.

    Raises:
        BadInput: levels or numbers that do not fit the pool or the number of picks.
    """

    def __init__(self, n: int, number: int, quotas: Quotas | None) -> None:
        if not 1 <= number <= n:
            raise BadInput(f"{number} of {n} items cannot be picked; give 1 to {n}")
        self._open = np.ones(n, dtype=bool)
        self._left = number
        self._factors = 0 if quotas is None else len(quotas.wanted)
        self._cell = np.zeros(n, dtype=np.int64)
        self._needed: Floats = np.array([float(number)])
        self._member: Floats = np.ones((1, 1))
        if quotas is not None and quotas.wanted:
            self._read(n, number, quotas)
        self._there: Floats = np.bincount(self._cell, minlength=self._member.shape[1]).astype(np.float64)

    def _read(self, n: int, number: int, quotas: Quotas) -> None:
        level = np.asarray(quotas.level)
        if level.shape != (n, len(quotas.wanted)) or (level < 0).any():
            raise BadInput(f"quotas need a level >= 0 for each of {n} items and {len(quotas.wanted)} factors")
        for factor, wanted in enumerate(quotas.wanted):
            if level[:, factor].max() >= len(wanted) or (np.asarray(wanted) < 0).any() or wanted.sum() != number:
                raise BadInput(f"the quotas of factor {factor} must name every level and sum to the {number} picks")
        cells, self._cell = np.unique(level, axis=0, return_inverse=True)
        self._cell = self._cell.reshape(-1)
        self._needed = np.concatenate([np.asarray(wanted, dtype=np.float64) for wanted in quotas.wanted])
        self._member = np.concatenate(
            [
                (cells[None, :, factor] == np.arange(len(wanted))[:, None]).astype(np.float64)
                for factor, wanted in enumerate(quotas.wanted)
            ]
        )

    @property
    def candidates(self) -> Ints:
        """Indices that are not picked and were not yet found impossible, rising."""
        return np.flatnonzero(self._open)

    def can_be_met(self) -> bool:
        """Whether what is picked can be completed so that every quota is met."""
        return self._completes(self._needed, self._there, self._left)

    def allows(self, index: int) -> bool:
        """Whether the pick can still be completed with this item; one found impossible leaves `candidates` for good.

        Args:
            index: an item of `candidates`.
        """
        cell = self._cell[index]
        needed, there = self._needed - self._member[:, cell], self._there.copy()
        there[cell] -= 1
        if (needed >= 0).all() and self._completes(needed, there, self._left - 1):
            return True
        self._open[self._cell == cell] = False  # a larger pick leaves it impossible
        return False

    def take(self, index: int) -> None:
        """Pick the item."""
        cell = self._cell[index]
        self._open[index] = False
        self._needed = self._needed - self._member[:, cell]
        self._there[cell] -= 1
        self._left -= 1

    def _completes(self, needed: Floats, there: Floats, left: int) -> bool:
        if left == 0:
            return bool((needed == 0).all())
        if (self._member @ there < needed).any() or (needed < 0).any():
            return False
        if self._factors < 2:
            return True  # the levels of one factor do not compete
        found = milp(
            np.zeros(len(there)),
            constraints=LinearConstraint(self._member, needed, needed),
            bounds=Bounds(0, there),
            integrality=np.ones(len(there)),
        )
        return bool(found.status == 0)
