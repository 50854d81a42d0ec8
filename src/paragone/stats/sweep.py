"""What is left of numbers when the means of two crossed groupings are taken out of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import BadInput, NotConverged

from .statistic import Floats, Ints

__all__ = ["swept"]


def swept(values: ArrayLike, first: Ints, second: Ints, *, tolerance: float = 1e-10, limit: int = 10_000) -> Floats:
    """Residuals of the least-squares fit of a constant for every group of two groupings, by alternating projections.

    The regression of swept numbers on swept numbers has the slope that a regression with a constant for each group of
    both groupings would have.

    Args:
        values: (m,) or (m, k) numbers, each column by itself; finite.
        first: (m,) group of each number in one grouping, from 0.
        second: (m,) its group in the other.
        tolerance: largest mean that a group may keep, as a share of the column's largest number.
        limit: passes, at most.

    Returns:
        (m,) or (m, k) residuals.

    Raises:
        BadInput: lengths differ, or a number is not finite.
        NotConverged: the limit was reached.

    Source:
        Frisch and Waugh, "Partial time regressions as compared with individual trends", Econometrica 1(4), 1933; Halperin,
        "The product of projection operators", Acta Sci. Math. 23, 1962, for the convergence.
    """
    table = np.array(values, dtype=np.float64)
    if len(table) != first.size or first.shape != second.shape:
        raise BadInput(f"{len(table)} numbers with groups of {first.size} and {second.size}; they must be as many")
    if not np.isfinite(table).all():
        raise BadInput("a number is not finite; leave missing ones out")
    left = table.reshape(len(table), -1)
    bound = tolerance * np.maximum(np.abs(left).max(axis=0, initial=0.0), 1e-300)
    for _ in range(limit):
        largest = np.zeros(left.shape[1])
        for group in (first, second):
            count = np.maximum(np.bincount(group), 1)[:, None]
            mean = np.stack([np.bincount(group, weights=column) for column in left.T], axis=1) / count
            left -= mean[group]
            largest = np.maximum(largest, np.abs(mean).max(axis=0, initial=0.0))
        if (largest <= bound).all():
            return left.reshape(table.shape)
    raise NotConverged(f"means of two groupings were not taken out within {limit:,} passes")
