"""What a set of compared pairs can and cannot determine: groups, dominance, degrees, spectral gap.

Everything here takes compared pairs as parallel arrays `i`, `j` (each unordered pair once) and, where wins matter, how
often `i` won over `j` (`wins_i`) and `j` over `i` (`wins_j`), ties counted half to each side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

from paragone.errors import NotConverged
from paragone.stats.laplacian import Shape, shape_of

__all__ = [
    "GraphDiagnosis",
    "SpectralGap",
    "components",
    "degrees",
    "diagnose",
    "spectral_gap",
    "strong_components",
    "win_arcs",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSE_ITEMS = 300
"""Up to here all eigenvalues of the dense chain cost less than one run of ARPACK (our measurement)."""
DENSE_RESCUE_ITEMS = 3000
"""Up to here a dense eigenvalue run (minutes at the limit) may replace an ARPACK run that did not converge."""

RESTARTS = 2000


class SpectralGap(NamedTuple):
    """How fast the Rank Centrality walk forgets where it began."""

    gap: float
    """1 - |lambda_2| in [0, 1], lambda_2 the second largest eigenvalue in modulus; 0 if the walk may end twice over."""
    residual: float
    """||P v - lambda_2 v|| of the unit eigenvector found; 0 where the gap follows from the graph alone."""
    d_max: int
    """Most distinct opponents of any item: the laziness of the walk. Gaps compare only under one such convention."""


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


def spectral_gap(n: int, i: Ints, j: Ints, share_i: Floats, share_j: Floats) -> SpectralGap:
    """Measure 1 - |lambda_2| of the Rank Centrality walk.

    From item i the walk moves to a compared j with probability share_j / d_max, j's share of the wins between the two,
    and else stays. Items without a pair are left out.

    Args:
        n: number of items.
        i: (e,) one end of each distinct compared pair, in [0, n).
        j: (e,) the other end.
        share_i: (e,) i's share of the wins, in [0, 1].
        share_j: (e,) j's share, in [0, 1]; the two sum to at most 1.

    Returns:
        The gap, the residual of the eigenvector behind it, and d_max. The gap is 0 exactly where the walk can end in
        several closed groups, and NaN where there is no pair.

    Raises:
        NotConverged: ARPACK found no second eigenvalue and the graph is too large for a dense one.

    Source:
        Negahban, Oh and Shah, "Rank Centrality: Ranking from Pairwise Comparisons", Operations Research 65(1), 2017,
        section 2 (walk) and theorem 1 (gap).
    """
    degree = degrees(n, i, j)
    d_max = int(degree.max(initial=0))
    if d_max == 0:
        return SpectralGap(gap=float("nan"), residual=0.0, d_max=0)
    if _n_closed_groups(n, i, j, share_i, share_j) > 1:
        return SpectralGap(gap=0.0, residual=0.0, d_max=d_max)
    place = np.cumsum(degree > 0) - 1
    order = np.argsort(i, kind="stable") if np.any(i[1:] < i[:-1]) else slice(None)
    shape = shape_of(int(place[-1]) + 1, place[i[order]], place[j[order]])
    value, residual = _second_eigenvalue(_Walk.at(shape, share_j[order] / d_max, share_i[order] / d_max))
    return SpectralGap(gap=max(0.0, 1.0 - value), residual=residual, d_max=d_max)


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
        mixing_time=1.0 / gap.gap if gap.gap > 0 else (float("inf") if gap.gap == 0 else float("nan")),
        prior=prior,
    )


def win_arcs(i: Ints, j: Ints, wins_i: Floats, wins_j: Floats) -> tuple[Ints, Ints]:
    """List (winner, loser) for every pair and side that won at least once."""
    up, down = wins_i > 0, wins_j > 0
    return np.concatenate([i[up], j[down]]), np.concatenate([j[up], i[down]])


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


def _n_closed_groups(n: int, i: Ints, j: Ints, share_i: Floats, share_j: Floats) -> int:
    """Groups of seen items that the walk cannot leave."""
    start, end = win_arcs(j, i, share_i, share_j)
    one_way = start.size < 2 * i.size
    label = strong_components(n, start, end) if one_way else components(n, i, j)
    left = np.zeros(n, dtype=bool)
    left[label[start[label[start] != label[end]]]] = True
    return int((~left[np.unique(label[degrees(n, i, j) > 0])]).sum())


class _Walk(NamedTuple):
    """A transition matrix in three parts: onwards from i to j, back from j to i, and staying."""

    onwards: sparse.csr_array
    back: sparse.csc_array
    stay: Floats

    @classmethod
    def at(cls, shape: Shape, to_j: Floats, to_i: Floats) -> _Walk:
        return cls(shape.upper(to_j), shape.lower(to_i), 1.0 - shape.totals(to_j, to_i))

    def __matmul__(self, v: NDArray[Any]) -> NDArray[Any]:
        moved: NDArray[Any] = self.onwards @ v + self.back @ v + self.stay * v
        return moved

    def dense(self) -> Floats:
        matrix: Floats = (self.onwards + self.back).toarray() + np.diag(self.stay)
        return matrix


def _second_eigenvalue(walk: _Walk) -> tuple[float, float]:
    """|lambda_2| and the residual of its eigenvector."""
    n = walk.stay.size
    if n <= DENSE_ITEMS:
        return _second_of(walk, *np.linalg.eig(walk.dense()))
    # One value more than the two needed: lambda_2 is often one of a conjugate pair.
    try:
        operator = LinearOperator((n, n), matvec=lambda v: walk @ v.ravel(), dtype=np.float64)
        found = eigs(operator, k=3, which="LM", v0=_start(n), ncv=24, maxiter=RESTARTS, tol=1e-10)
    except ArpackNoConvergence as stalled:
        if n > DENSE_RESCUE_ITEMS:
            raise NotConverged(
                f"spectral gap: no second eigenvalue of {n} items within {RESTARTS} restarts of ARPACK; "
                f"the groups of items hardly touch, collect votes between them"
            ) from stalled
        return _second_of(walk, *np.linalg.eig(walk.dense()))
    return _second_of(walk, *found)


def _second_of(walk: _Walk, values: NDArray[Any], vectors: NDArray[Any]) -> tuple[float, float]:
    """Leave out the eigenvalue nearest to 1 (the stationary one) and take the largest modulus of the rest."""
    rest = np.delete(np.arange(values.size), np.argmin(np.abs(values - 1.0)))
    if rest.size == 0:
        return 0.0, 0.0
    second = rest[np.argmax(np.abs(values[rest]))]
    v = vectors[:, second]
    return float(np.abs(values[second])), float(np.linalg.norm(walk @ v - values[second] * v) / np.linalg.norm(v))


def _start(n: int) -> Floats:
    """A fixed start that no eigenvector of the walk is likely to be orthogonal to, so that results repeat."""
    return np.random.default_rng(0).standard_normal(n)
