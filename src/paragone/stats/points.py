"""Points in the space of properties: checked, standardised, and their distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import BadInput

from .statistic import Floats

__all__ = ["as_points", "kernel_width", "squared_distances", "standardised"]


def as_points(points: ArrayLike) -> Floats:
    """Give (n, p) finite float64 coordinates, or say what is wrong.

    Args:
        points: (n, p) with n, p >= 1.

    Raises:
        BadInput: another shape, or a number that is missing or infinite.
    """
    x = np.asarray(points, dtype=np.float64)
    if x.ndim != 2 or 0 in x.shape:
        raise BadInput(f"points must have shape (items, properties), both at least 1, not {x.shape}")
    if not np.isfinite(x).all():
        raise BadInput("points hold numbers that are missing or infinite; leave those items out")
    return x


def standardised(points: ArrayLike) -> Floats:
    """Give each column mean 0 and standard deviation 1 over the pool; a column that never changes becomes 0.

    Args:
        points: (n, p) numbers.

    Raises:
        BadInput: another shape, or a number that is missing or infinite.
    """
    x = as_points(points)
    centred = x - x.mean(axis=0)
    spread = centred.std(axis=0)
    flat = spread <= 1e-12 * np.abs(x).max(axis=0)
    scaled: Floats = np.where(flat, 0.0, centred / np.where(flat, 1.0, spread))
    return scaled


def kernel_width(points: ArrayLike, *, most: int = 1000, seed: int = 0) -> float:
    """Give the median distance between two different points; 1 where all points are the same.

    Args:
        points: (n, p) coordinates.
        most: of a larger pool so many points are drawn.
        seed: of that draw.

    Raises:
        BadInput: as for `standardised`.
    """
    x = as_points(points)
    if len(x) > most:
        x = x[np.sort(np.random.default_rng(seed).permutation(len(x))[:most])]
    apart = np.sqrt(squared_distances(x, x))[np.triu_indices(len(x), 1)]
    apart = apart[apart > 0]
    return float(np.median(apart)) if len(apart) else 1.0


def squared_distances(a: Floats, b: Floats) -> Floats:
    """Give the squared Euclidean distance of every point of a from every point of b.

    Args:
        a: (n, p) coordinates.
        b: (m, p) coordinates.

    Returns:
        (n, m) numbers >= 0, exactly 0 between equal points.
    """
    made: Floats = np.zeros((len(a), len(b)))
    for column in range(a.shape[1]):
        made += np.square(a[:, None, column] - b[None, :, column])
    return made
