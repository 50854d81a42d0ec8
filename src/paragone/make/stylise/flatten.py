"""Flat colour: each pixel in one of a few colours, in areas with smooth outlines."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import cKDTree

__all__ = ["calm", "joined", "nearest", "region_means"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def joined(labels: Labels, colours: Floats, *, limit: float, room: float) -> Labels:
    """Return fewer regions: neighbours whose mean colours are close become one, the closest pair first.

    Regions a and b lie apart by |mean a - mean b|, and by less where one of them is small: times the root of
    min(1, n_a n_b / ((n_a + n_b) room)) with their numbers of pixels n. Joining stops where all neighbours lie
    farther apart than the limit.

    Args:
        labels: (h, w) integers from 0.
        colours: (h, w, c) values, such as CIELAB.
        limit: distance below which neighbours are joined, in units of the colours, >= 0.
        room: pixels below which a region counts as small, > 0.

    Returns:
        (h, w) integers from 0 without gaps, in the order in which regions first appear, row by row.

    Source:
        Ward, "Hierarchical Grouping to Optimize an Objective Function", JASA 58(301), 1963, for the weight of small
        regions; that it stops growing at `room` is ours.
    """
    here: Labels = np.unique(labels, return_inverse=True)[1].reshape(labels.shape).astype(np.int64)
    mean, size = region_means(colours, here), np.bincount(here.reshape(-1)).astype(np.float64)
    beside = _neighbours(here, len(size))
    root, age = np.arange(len(size)), [0] * len(size)
    waiting: list[tuple[float, int, int, int, int]] = []

    def wait(a: int) -> None:
        """Enter a region's closest neighbour, with how often both have grown."""
        others = np.array(sorted(beside[a]), dtype=np.intp)
        if len(others):
            share = np.minimum(1.0, size[a] * size[others] / ((size[a] + size[others]) * room))
            apart = np.sqrt(share * ((mean[others] - mean[a]) ** 2).sum(axis=1))
            i = int(apart.argmin())
            if apart[i] < limit:
                heapq.heappush(waiting, (float(apart[i]), a, int(others[i]), age[a], age[int(others[i])]))

    for a in range(len(size)):
        wait(a)
    while waiting:
        _, a, b, age_a, age_b = heapq.heappop(waiting)
        if age[a] != age_a:
            continue  # it has an entry of its later age, or is part of another
        if age[b] == age_b:
            mean[a] = (size[a] * mean[a] + size[b] * mean[b]) / (size[a] + size[b])
            size[a] += size[b]
            root[b], age[a], age[b] = a, age[a] + 1, -1
            for c in beside[b] - {a}:
                beside[c].discard(b)
                beside[c].add(a)
            beside[a] |= beside[b]
            beside[a] -= {a, b}
        wait(a)
    while (root[root] != root).any():
        root = root[root]
    flat = root[here].reshape(-1)
    first, back = np.unique(flat, return_index=True, return_inverse=True)[1:]
    made: Labels = first.argsort().argsort().astype(np.int64)[back].reshape(labels.shape)
    return made


def _neighbours(labels: Labels, k: int) -> list[set[int]]:
    """For each of k labels, those that touch it by a side of a pixel."""
    touching = [
        np.stack([a.reshape(-1), b.reshape(-1)])
        for a, b in ((labels[:-1], labels[1:]), (labels[:, :-1], labels[:, 1:]))
    ]
    pairs = np.concatenate(touching, axis=1)
    pairs = np.unique(np.sort(pairs[:, pairs[0] != pairs[1]], axis=0), axis=1)
    beside: list[set[int]] = [set() for _ in range(k)]
    for a, b in pairs.T.tolist():
        beside[a].add(b)
        beside[b].add(a)
    return beside


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
