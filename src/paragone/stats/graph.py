"""What a set of compared pairs can and cannot determine: groups, dominance, degrees, spectral gap.

Everything here takes compared pairs as parallel arrays `i`, `j` (each unordered pair once) and, where wins matter, how
often `i` won over `j` (`wins_i`) and `j` over `i` (`wins_j`), ties counted half to each side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from paragone.stats.spectrum import spectral_gap

__all__ = [
    "GraphDiagnosis",
    "components",
    "degrees",
    "diagnose",
    "strong_components",
    "win_arcs",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class GraphDiagnosis:
    """The facts about a vote graph that decide which scores exist. Items without a comparison are in `unseen` only."""

    n_items: int
    """Items, unseen ones included."""
    n_pairs: int
    """Distinct compared pairs, self-pairs excluded."""
    n_votes: float
    """Weighted comparisons on those pairs."""
    component: Ints
    """(n,) label of each item's connected group, 0 the largest; -1 for an unseen item."""
    n_components: int
    """Connected groups among the seen items; scores of different groups cannot be compared."""
    strong_component: Ints
    """(n,) label of each item's group in the win graph, 0 the largest, -1 unseen. Inside, a chain of wins leads from
    each item to each other."""
    n_strong_components: int
    """Such groups; maximum-likelihood and plain Rank Centrality scores are finite only where this is 1."""
    degree: Ints
    """(n,) distinct opponents of each item."""
    votes_per_pair: Floats
    """(n_pairs,) weighted comparisons on each compared pair."""
    unseen: Ints
    """Items without a comparison, ascending."""
    never_winning: Ints
    """Seen items without a win or tie, ascending."""
    never_losing: Ints
    """Seen items without a loss or tie, ascending."""
    spectral_gap: float
    """1 - |lambda_2| of the Rank Centrality walk with the prior below, as in `SpectralGap`; NaN without a pair."""
    spectral_gap_residual: float
    """||P v - lambda_2 v|| of the eigenvector behind it."""
    d_max: int
    """Most distinct opponents of any item, which scales the walk."""
    mixing_time: float
    """1 / spectral_gap, in steps of the walk: the relaxation time, after each of which the distance to the stationary
    distribution has about fallen by the factor e; inf where the gap is 0."""
    prior: float
    """Pseudo-wins given to both sides of every compared pair before the gap was taken."""


def components(n: int, i: Ints, j: Ints) -> Ints:
    """Label the connected groups of items.

    Args:
        n: number of items.
        i: (e,) one end of each compared pair, in [0, n).
        j: (e,) the other end.

    Returns:
        (n,) labels from 0, larger groups first, equal ones by their first item; an item without a pair is a group.
    """
    return _labels(n, i, j, strong=False)


def strong_components(n: int, winner: Ints, loser: Ints) -> Ints:
    """Label the groups within which every item can be reached from every other by a chain of wins.

    Args:
        n: number of items.
        winner: (e,) the winning end of each arc, in [0, n); a pair in which both sides won is two arcs.
        loser: (e,) the losing end.

    Returns:
        (n,) labels from 0, larger groups first, equal ones by their first item; an item without an arc is a group.
    """
    return _labels(n, winner, loser, strong=True)


def degrees(n: int, i: Ints, j: Ints) -> Ints:
    """Count each item's distinct opponents.

    Args:
        n: number of items.
        i: (e,) one end of each distinct compared pair, in [0, n).
        j: (e,) the other end, never equal to i.

    Returns:
        (n,) counts in [0, n - 1].
    """
    counts: Ints = np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
    return counts


def diagnose(n: int, i: Ints, j: Ints, wins_i: Floats, wins_j: Floats, *, prior: float = 0.0) -> GraphDiagnosis:
    """Collect what a vote graph can and cannot determine.

    Args:
        n: number of items.
        i: (e,) one end of each distinct compared pair, in [0, n).
        j: (e,) the other end, never equal to i.
        wins_i: (e,) weighted wins of i over j, ties half, >= 0; wins_i + wins_j > 0.
        wins_j: (e,) weighted wins of j over i.
        prior: pseudo-wins given to both sides of every compared pair before the spectral gap is taken, >= 0.

    Returns:
        Groups, degrees, one-sided items and the spectral gap; an unseen item is listed and belongs to no group.

    Raises:
        NotConverged: as in `spectral_gap`.
    """
    degree = degrees(n, i, j)
    unseen = degree == 0
    wins = np.bincount(i, wins_i, minlength=n) + np.bincount(j, wins_j, minlength=n)
    losses = np.bincount(i, wins_j, minlength=n) + np.bincount(j, wins_i, minlength=n)
    weak = _without(components(n, i, j), unseen)
    strong = _without(strong_components(n, *win_arcs(i, j, wins_i, wins_j)), unseen)
    votes = wins_i + wins_j
    gap = spectral_gap(n, i, j, (wins_i + prior) / (votes + 2 * prior), (wins_j + prior) / (votes + 2 * prior))
    return GraphDiagnosis(
        n_items=n,
        n_pairs=int(i.size),
        n_votes=float(votes.sum()),
        component=weak,
        n_components=int(weak.max(initial=-1)) + 1,
        strong_component=strong,
        n_strong_components=int(strong.max(initial=-1)) + 1,
        degree=degree,
        votes_per_pair=votes,
        unseen=np.flatnonzero(unseen),
        never_winning=np.flatnonzero(~unseen & (wins == 0)),
        never_losing=np.flatnonzero(~unseen & (losses == 0)),
        spectral_gap=gap.gap,
        spectral_gap_residual=gap.residual,
        d_max=gap.d_max,
        mixing_time=float("inf") if gap.gap == 0 else 1.0 / gap.gap,
        prior=prior,
    )


def win_arcs(i: Ints, j: Ints, wins_i: Floats, wins_j: Floats) -> tuple[Ints, Ints]:
    """List (winner, loser) for every pair and side that won at least once."""
    up = wins_i > 0
    both = np.flatnonzero(up & (wins_j > 0))
    # Most pairs have one winner: choosing that is quicker than picking both ways from the whole list.
    winner = np.concatenate([np.where(up, i, j), j[both]])
    loser = np.concatenate([np.where(up, j, i), i[both]])
    return winner, loser


def _labels(n: int, start: Ints, end: Ints, *, strong: bool) -> Ints:
    graph = sparse.csr_array((np.ones(start.size, dtype=np.int8), (start, end)), shape=(n, n))
    kind = "strong" if strong else "weak"
    count, raw = connected_components(graph, directed=strong, connection=kind)
    size = np.bincount(raw, minlength=count)
    first = np.full(count, n)
    np.minimum.at(first, raw, np.arange(n))
    rank = np.empty(count, dtype=np.int64)
    rank[np.lexsort((first, -size))] = np.arange(count)
    labels: Ints = rank[raw]
    return labels


def _without(labels: Ints, unseen: NDArray[np.bool_]) -> Ints:
    """Labels of the seen items, closed up to 0, 1, ...; -1 elsewhere."""
    kept = np.full(labels.size, -1, dtype=np.int64)
    kept[~unseen] = np.unique(labels[~unseen], return_inverse=True)[1]
    return kept
