"""The record in which every statistic comes back: a number, its interval, how many it rests on, and what to know."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from paragone.errors import BadInput

__all__ = ["Floats", "Ints", "Statistic", "normal_quantile", "paired_floats"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Statistic(NamedTuple):
    """One number with its interval."""

    value: float
    """The statistic; NaN where the data do not determine it (`note` says why)."""
    low: float
    """Lower end of the interval; NaN where there is none."""
    high: float
    """Upper end of the interval; NaN where there is none."""
    n: int
    """How many units (items, pairs, repeats) the number rests on."""
    note: str = ""
    """Why a number is missing or what may surprise; empty where there is nothing to say."""

    @classmethod
    def undefined(cls, n: int, note: str) -> Statistic:
        """The record for a number that the data do not determine; `note` says why."""
        return cls(math.nan, math.nan, math.nan, n, note)

    @property
    def defined(self) -> bool:
        """True where there is a number."""
        return not math.isnan(self.value)


def normal_quantile(level: float) -> float:
    """How many standard errors a two-sided normal interval reaches to each side.

    Args:
        level: coverage, in (0, 1); 0.95 gives 1.96.

    Raises:
        BadInput: the level is not inside (0, 1).
    """
    if not 0.0 < level < 1.0:
        raise BadInput(f"interval level {level} is not between 0 and 1; 0.95 is usual")
    return float(ndtri(0.5 + level / 2.0))


def paired_floats(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Two float64 vectors of one length without the positions where either is missing.

    Args:
        x: (n,) numbers; NaN is missing.
        y: (n,) numbers; NaN is missing.

    Returns:
        Both vectors, the positions with a NaN in either left out.

    Raises:
        BadInput: they are not vectors of one length, or one holds an infinity.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise BadInput(f"two vectors of one length are needed, not shapes {a.shape} and {b.shape}")
    if np.isinf(a).any() or np.isinf(b).any():
        raise BadInput("infinite scores cannot be compared; give the missing ones as NaN")
    kept = ~(np.isnan(a) | np.isnan(b))
    return a[kept], b[kept]
