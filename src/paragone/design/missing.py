"""How even a plan still is when sheets go missing.

Nobody chooses which participants fail, so nothing here is drawn at random: it is the exact worst case over all choices
of so many sheets.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["least_possible", "lost_sheets", "worst_missing"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SHARE = 0.05  # what the plan must stand: any 5 % of its sheets missing
_STEPS = 50  # far more than the iteration ever takes: it converges faster than linearly


def lost_sheets(n_sheets: int, share: float = _SHARE) -> int:
    """Return how many sheets a share of them is, rounded up: one at least."""
    return max(1, math.ceil(share * n_sheets - 1e-9))


def worst_missing(counts: Ints, missing: int) -> float:
    """Return the largest distance of a cell from the mean of all cells, over every choice of up to so many sheets.

    Exact: for each cell by itself the choice that leaves it furthest above, and furthest below, the mean of what this
    choice leaves, by Dinkelbach's iteration on the ratio of the two. Where all sheets show equally much, that choice is
    the sheets that show the cell least, or most.

    Args:
        counts: (sheets, cells) how often each sheet shows each cell, >= 0.
        missing: sheets that may be missing, >= 0.

    Returns:
        The distance as a share of the mean; NaN where nothing is shown or everything may be missing.

    Source:
        Dinkelbach, "On nonlinear fractional programming", Management Science 13(7), 1967.
    """
    n_sheets, n_cells = counts.shape
    if missing >= n_sheets or not counts.any():
        return math.nan
    total, each, whole = counts.sum(axis=0), counts.sum(axis=1), float(counts.sum())
    worst = 0.0
    for sign in (1.0, -1.0):
        ratio = total * n_cells / whole
        for _ in range(_STEPS):
            gain = sign * (ratio[None, :] * each[:, None] - n_cells * counts)  # of leaving a sheet out
            order = np.argsort(-gain, axis=0, kind="stable")[:missing]
            out = np.take_along_axis(gain, order, axis=0) > 0
            cell = total - (np.take_along_axis(counts, order, axis=0) * out).sum(axis=0)
            rest = whole - (each[order] * out).sum(axis=0)
            new = np.where(rest > 0, cell * n_cells / np.maximum(rest, 1.0), ratio)
            converged = bool((sign * (new - ratio) <= 1e-12).all())
            ratio = new
            if converged:
                break
        worst = max(worst, float((sign * (ratio - 1.0)).max()))
    return worst


def least_possible(total: Ints, n_sheets: int, missing: int) -> float:
    """Return the least that `worst_missing` could be for cells shown so often, however they were shared out.

    A sheet shows a cell a whole number of times, so at best each sheet shows it the mean number of times rounded up or
    down; sheets are taken as equally long.

    Args:
        total: (cells,) how often all sheets together show each cell.
        n_sheets: sheets.
        missing: sheets that may be missing, fewer than there are.

    Returns:
        The distance as a share of the mean; NaN where nothing is shown or everything may be missing.
    """
    if missing >= n_sheets or not total.any():
        return math.nan
    low, above = total // n_sheets, total % n_sheets
    mean = float(total.mean()) * (n_sheets - missing) / n_sheets
    least = total - missing * low - np.minimum(missing, above)
    most = total - missing * low - np.maximum(0, missing - (n_sheets - above))
    return float(np.maximum(most / mean - 1.0, 1.0 - least / mean).max())
