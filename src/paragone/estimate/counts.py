"""Answers counted per pair with ties and self-pairs kept apart, for models to which they are more than half wins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from paragone.estimate.arrays import Comparisons, Floats, Ints
from paragone.estimate.edges import Edges, aggregate

__all__ = ["Counts", "centred_inverse", "count", "laplacian", "spread", "spread_square"]


class Counts(NamedTuple):
    """Weighted answers over the s items that were compared, renumbered 0 to s - 1; E pairs, one row a temperature."""

    edges: Edges
    """The same answers over all items, ties as half wins."""
    items: Ints
    """(s,) the compared items' own indices, ascending."""
    low: Ints
    """(E,) the lower item of each pair, renumbered."""
    high: Ints
    """(E,) the higher item, renumbered."""
    won: Floats
    """(E,) weight of answers for `low`; an outcome between 0 and 1 that is no tie is shared out."""
    lost: Floats
    """(E,) weight of answers for `high`."""
    tied: Floats
    """(E,) weight of ties."""
    temperature: Floats
    """(E,) noise of these answers relative to stage 0."""
    alone: Floats
    """(S,) weight of answers about an item shown against itself, for the S items that have any."""

    @property
    def n(self) -> int:
        """Number of items that were compared."""
        return int(self.items.size)

    def incidence(self) -> sparse.csr_array:
        """(E, s) matrix that turns scores into (low - high) / temperature."""
        rows = np.arange(self.low.size)
        share = 1.0 / self.temperature
        places = (np.concatenate([rows, rows]), np.concatenate([self.low, self.high]))
        return sparse.csr_array((np.concatenate([share, -share]), places), shape=(self.low.size, self.n))


def count(comparisons: Comparisons) -> Counts:
    """Add up the weights of equal answers about equal pairs.

    Raises:
        BadInput: an index, outcome, weight or temperature is out of range.
        TooFew: no answer compares two different items.
    """
    c = comparisons
    edges = aggregate(c)
    rows = np.flatnonzero((c.weight > 0) & (c.left != c.right))
    left, right, weight = c.left[rows], c.right[rows], c.weight[rows]
    levels = np.unique(edges.temperature)
    level = np.searchsorted(levels, c.temperature[rows])
    keys = (edges.i * c.n + edges.j) * levels.size + np.searchsorted(levels, edges.temperature)
    key = (np.minimum(left, right) * c.n + np.maximum(left, right)) * levels.size + level
    edge = np.searchsorted(keys, key)
    share = np.where(left < right, c.outcome[rows], 1.0 - c.outcome[rows])
    is_tie = share == 0.5
    itself = (c.weight > 0) & (c.left == c.right)
    alone = np.bincount(c.left[itself], weights=c.weight[itself]).astype(np.float64)
    items = np.flatnonzero(edges.seen)

    def total(part: Floats) -> Floats:
        return np.bincount(edge, weights=weight * part, minlength=keys.size).astype(np.float64)

    return Counts(
        edges=edges,
        items=items,
        low=np.searchsorted(items, edges.i),
        high=np.searchsorted(items, edges.j),
        won=total(np.where(is_tie, 0.0, share)),
        lost=total(np.where(is_tie, 0.0, 1.0 - share)),
        tied=total(is_tie),
        temperature=edges.temperature,
        alone=alone[alone > 0],
    )


def laplacian(low: Ints, high: Ints, weight: Floats, n: int) -> Floats:
    """(n, n) dense sum over edges of weight (e_low - e_high)(e_low - e_high)', e being unit vectors."""
    across: Floats = np.bincount(low * n + high, weight, n * n).reshape(n, n).astype(np.float64)
    dense = -across - across.T
    dense.flat[:: n + 1] += np.bincount(low, weight, n) + np.bincount(high, weight, n)
    return dense


def spread(values: Floats, counts: Counts) -> Floats:
    """(n,) the compared items' values at their own places, NaN at the others."""
    full = np.full(counts.edges.n, np.nan)
    full[counts.items] = values
    return full


def spread_square(values: Floats, counts: Counts) -> Floats:
    """(n, n) the compared items' covariances at their own places, NaN at the others."""
    full = np.full((counts.edges.n, counts.edges.n), np.nan)
    full[np.ix_(counts.items, counts.items)] = values
    return full


def centred_inverse(curvature: Floats, size: int) -> Floats:
    """The first `size` unknowns' block of an inverse curvature, projected on scores of mean 0: (size, size)."""
    inverse = np.linalg.inv(curvature)[:size, :size]
    inverse = inverse - inverse.mean(axis=0)
    centred: Floats = inverse - inverse.mean(axis=1)[:, None]
    return centred
