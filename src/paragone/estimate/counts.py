"""Answers counted per pair with ties and self-pairs kept apart, for models to which they are more than half wins."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from paragone.estimate.arrays import Comparisons, Floats, Ints
from paragone.estimate.edges import Edges, aggregate

__all__ = ["Counts", "Recount", "centred_inverse", "count", "laplacian", "spread", "spread_square"]


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
    edges = aggregate(comparisons)
    rows, edge, share = _placed(comparisons, edges)
    weight = comparisons.weight[rows]

    def total(part: Floats) -> Floats:
        return np.bincount(edge, weights=weight * part, minlength=edges.i.size).astype(np.float64)

    itself = (comparisons.weight > 0) & (comparisons.left == comparisons.right)
    alone = np.bincount(comparisons.left[itself], weights=comparisons.weight[itself]).astype(np.float64)
    won, lost, tied = (total(part) for part in _parts(share))
    return _counts(edges, won, lost, tied, alone)


class Recount:
    """The counts of one study under many reweightings of its participants."""

    def __init__(self, comparisons: Comparisons) -> None:
        c = comparisons
        self.edges = aggregate(c)
        people = int(c.participant.max(initial=-1)) + 1
        rows, edge, share = _placed(c, self.edges)
        shape = (people, self.edges.i.size)
        self.parts = [
            sparse.csr_array((c.weight[rows] * part, (c.participant[rows], edge)), shape=shape)
            for part in _parts(share)
        ]
        itself = np.flatnonzero((c.weight > 0) & (c.left == c.right))
        self.alone = sparse.csr_array((c.weight[itself], (c.participant[itself], c.left[itself])), shape=(people, c.n))

    def under(self, weights: Floats) -> Counts | None:
        """The counts with each answer's weight times its participant's, (participants,); None where none is left."""
        won, lost, tied = (weights @ part for part in self.parts)
        kept = won + lost + tied > 0
        if not kept.any():
            return None
        won, lost, tied = won[kept], lost[kept], tied[kept]
        edges = replace(
            self.edges,
            i=self.edges.i[kept],
            j=self.edges.j[kept],
            wins_i=won + tied / 2.0,
            wins_j=lost + tied / 2.0,
            temperature=self.edges.temperature[kept],
        )
        return _counts(edges, won, lost, tied, weights @ self.alone)


def _placed(c: Comparisons, edges: Edges) -> tuple[Ints, Ints, Floats]:
    """The rows that count, each one's edge, and which share of the answer is for the edge's lower item."""
    rows = np.flatnonzero((c.weight > 0) & (c.left != c.right))
    left, right = c.left[rows], c.right[rows]
    levels = np.unique(edges.temperature)
    level = np.searchsorted(levels, c.temperature[rows])
    keys = (edges.i * c.n + edges.j) * levels.size + np.searchsorted(levels, edges.temperature)
    key = (np.minimum(left, right) * c.n + np.maximum(left, right)) * levels.size + level
    return rows, np.searchsorted(keys, key), np.where(left < right, c.outcome[rows], 1.0 - c.outcome[rows])


def _parts(share: Floats) -> tuple[Floats, Floats, Floats]:
    """How much of each answer is a win, a loss and a tie of the lower item."""
    tie = share == 0.5
    return np.where(tie, 0.0, share), np.where(tie, 0.0, 1.0 - share), tie.astype(np.float64)


def _counts(edges: Edges, won: Floats, lost: Floats, tied: Floats, alone: Floats) -> Counts:
    items = np.flatnonzero(edges.seen)
    return Counts(
        edges=edges,
        items=items,
        low=np.searchsorted(items, edges.i),
        high=np.searchsorted(items, edges.j),
        won=won,
        lost=lost,
        tied=tied,
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
