"""Flat colour: each pixel in one of a few colours, in areas with smooth outlines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import cKDTree

__all__ = ["calm", "nearest", "region_means"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def nearest(colours: Floats, palette: Floats) -> Labels:
    """Return the index of each colour's nearest palette entry; the first of equals.

    Args:
        colours: (..., 3) CIELAB.
        palette: (k, 3) CIELAB.

    Returns:
        (...) integers in [0, k).
    """
    index: Labels = cKDTree(palette).query(colours.reshape(-1, 3))[1].astype(np.int64)
    return index.reshape(colours.shape[:-1])


def calm(labels: Labels, k: int, sigma: float) -> Labels:
    """Return labels without specks: each pixel takes the label that is commonest around it, near ones counting more.

    Args:
        labels: (h, w) integers in [0, k).
        k: number of labels.
        sigma: size of the neighbourhood, in pixels, > 0.
    """
    best, chosen = np.full(labels.shape, -1.0), np.zeros(labels.shape, dtype=np.int64)
    for label in range(k):
        share = ndimage.gaussian_filter((labels == label).astype(np.float64), sigma)
        better = share > best
        best[better] = share[better]
        chosen[better] = label
    return chosen


def region_means(values: Floats, labels: Labels) -> Floats:
    """Return the mean of the values in each region.

    Args:
        values: (h, w, c).
        labels: (h, w) integers from 0.

    Returns:
        (k, c) with k = 1 + the largest label; 0 for labels that no pixel has.
    """
    flat = labels.reshape(-1)
    counts = np.maximum(np.bincount(flat), 1)
    means: Floats = np.stack(
        [np.bincount(flat, values[..., c].reshape(-1)) / counts for c in range(values.shape[2])], axis=1
    )
    return means
