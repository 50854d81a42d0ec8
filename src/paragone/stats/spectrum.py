"""The spectral gap of the Rank Centrality walk: how fast it forgets where it began, how well votes connect items."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

from paragone.stats.laplacian import shape_of
from paragone.stats.stationary import Flows, balance

__all__ = ["SpectralGap", "spectral_gap"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSE_ITEMS = 300
"""Up to here all eigenvalues of the dense walk cost less than one run of ARPACK (our measurement)."""
RESTARTS = 40
"""ARPACK restarts before the search turns to the eigenvalues nearest to 1. Nothing lies near -1: an edge's two shares
sum to 1, so a reversible walk has no eigenvalue below (1 - sqrt 2) / 2."""
PRECISION = 1e-8
"""Residual asked of an eigenvector; of a nearly symmetric matrix the eigenvalue is then better by orders."""
SLOW_RESTARTS = 200
SLOW_PRECISION = 1e-6
"""Relative precision asked of a gap that this search finds."""
BESIDE = 1.0 + 1e-9
"""Where that search stands: not on the eigenvalue 1 itself, where the matrix is singular."""


class SpectralGap(NamedTuple):
    """How fast the Rank Centrality walk forgets where it began."""

    gap: float
    """1 - |lambda_2| in [0, 1], lambda_2 the second largest eigenvalue in modulus; 0 if the walk may end twice over."""
    residual: float
    """||P v - lambda_2 v|| of the unit eigenvector, P scaled to be nearly symmetric; 0 where the graph decides."""
    d_max: int
    """Most distinct opponents of any item: the laziness of the walk. Gaps compare only under one such convention."""


def spectral_gap(
    n: int, i: Ints, j: Ints, share_i: Floats, share_j: Floats, *, score: Floats | None = None
) -> SpectralGap:
    """Measure 1 - |lambda_2| of the Rank Centrality walk.

    From item i the walk moves to a compared j with probability share_j / d_max, j's share of the wins between the two,
    and else stays. Items without a pair are left out. Where every item can reach every other, row i is multiplied and
    column i divided by the root of the stationary probability: the eigenvalues stay, the matrix becomes nearly
    symmetric, and small errors no longer grow.

    Args:
        n: number of items.
        i: (e,) one end of each distinct compared pair, in [0, n).
        j: (e,) the other end.
        share_i: (e,) i's share of the wins, in [0, 1].
        share_j: (e,) j's share, in [0, 1]; the two sum to 1.
        score: (n,) log of the stationary distribution where it is known; None: found here.

    Returns:
        The gap, the residual of the eigenvector behind it, and d_max. The gap is 0 exactly where the walk can end in
        several closed groups. Where ARPACK is slow to single out lambda_2 (a gap near 0), it is the eigenvalue nearest
        to 1, and the gap NaN where even that is lost among many alike, as on a path of ten thousand items. NaN also
        where there is no pair.

    Raises:
        NotConverged: the stationary distribution was not given and could not be found.

    Source:
        Negahban, Oh and Shah, "Rank Centrality: Ranking from Pairwise Comparisons", Operations Research 65(1), 2017,
        section 2 (walk) and theorem 1 (gap).
    """
    degree = np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
    d_max = int(degree.max(initial=0))
    if d_max == 0:
        return SpectralGap(gap=float("nan"), residual=0.0, d_max=0)
    seen = degree > 0
    place = np.cumsum(seen) - 1
    order = np.argsort(i, kind="stable") if np.any(i[1:] < i[:-1]) else slice(None)
    shape = shape_of(int(place[-1]) + 1, place[i[order]], place[j[order]])
    flows = Flows(shape, to_j=share_j[order] / d_max, to_i=share_i[order] / d_max)
    closed, whole = _ends(flows)
    if closed > 1:
        return SpectralGap(gap=0.0, residual=0.0, d_max=d_max)
    value, residual = _second(_Walk.of(flows, _roots(flows, score, seen) if whole else None))
    return SpectralGap(gap=float(np.clip(1.0 - value, 0.0, 1.0)), residual=residual, d_max=d_max)


def _ends(flows: Flows) -> tuple[int, bool]:
    """In how many closed groups the walk can end, and whether all items are one such group."""
    shape = flows.shape
    onwards, back = flows.to_j > 0, flows.to_i > 0
    if onwards.all() and back.all():
        count, _ = connected_components(shape.upper(flows.to_j), directed=True, connection="weak")
        return count, count == 1
    start = np.concatenate([shape.i[onwards], shape.j[back]])
    end = np.concatenate([shape.j[onwards], shape.i[back]])
    arcs = sparse.csr_array((np.ones(start.size, dtype=np.int8), (start, end)), shape=(shape.n, shape.n))
    count, label = connected_components(arcs, directed=True, connection="strong")
    left = np.zeros(count, dtype=bool)
    left[label[start[label[start] != label[end]]]] = True
    return int((~left).sum()), count == 1


def _roots(flows: Flows, score: Floats | None, seen: NDArray[np.bool_]) -> Floats:
    """(n,) log of the square root of the stationary distribution, up to a constant."""
    half: Floats = (balance(flows).score if score is None else score[seen]) / 2
    half -= half.max()
    return half


class _Walk(NamedTuple):
    """A transition matrix, scaled where its stationary distribution is known, in three parts."""

    onwards: sparse.csr_array
    back: sparse.csc_array
    stay: Floats
    first: Floats | None
    """The unit eigenvector of eigenvalue 1, left and right, of a scaled walk; None where it is not scaled."""

    @classmethod
    def of(cls, flows: Flows, roots: Floats | None) -> _Walk:
        shape, to_j, to_i = flows.shape, flows.to_j, flows.to_i
        stay = 1.0 - shape.totals(to_j, to_i)
        if roots is None:
            return cls(shape.upper(to_j), shape.lower(to_i), stay, None)
        stretch = np.exp(roots[shape.i] - roots[shape.j])
        first = np.exp(roots)
        return cls(shape.upper(to_j * stretch), shape.lower(to_i / stretch), stay, first / np.linalg.norm(first))

    def __matmul__(self, v: NDArray[Any]) -> NDArray[Any]:
        moved: NDArray[Any] = self.onwards @ v + self.back @ v + self.stay * v
        return moved

    def deflated(self, v: Floats) -> Floats:
        """The walk without the eigenvalue 1, applied to v."""
        v = v.ravel()
        return self @ v if self.first is None else self @ v - self.first * (self.first @ v)

    def matrix(self) -> sparse.csc_array:
        return (self.onwards + self.back + sparse.diags_array(self.stay)).tocsc()


def _second(walk: _Walk) -> tuple[float, float]:
    """|lambda_2| and the residual of its eigenvector."""
    n = walk.stay.size
    if n <= DENSE_ITEMS:
        return _largest(walk, *np.linalg.eig(walk.matrix().toarray()), whole=True)
    try:
        operator = LinearOperator((n, n), matvec=walk.deflated, dtype=np.float64)
        k = 1 if walk.first is not None else 2  # where the walk is not scaled, the eigenvalue 1 is still among them
        found = eigs(operator, k=k, which="LM", v0=_start(n), ncv=20, maxiter=RESTARTS, tol=PRECISION)
        return _largest(walk, *found, whole=walk.first is None)
    except ArpackNoConvergence:
        return _slowest(walk)


def _slowest(walk: _Walk) -> tuple[float, float]:
    """The eigenvalue nearest to 1, other than 1, by inverse iteration; NaN where it hides among many."""
    try:
        found = eigs(
            walk.matrix(),
            k=4,
            sigma=BESIDE,
            v0=_start(walk.stay.size),
            ncv=40,
            maxiter=SLOW_RESTARTS,
            tol=SLOW_PRECISION,
        )
    except ArpackNoConvergence:
        return float("nan"), float("nan")
    return _largest(walk, *found, whole=True)


def _largest(walk: _Walk, values: NDArray[Any], vectors: NDArray[Any], *, whole: bool) -> tuple[float, float]:
    """The largest modulus and its residual, without the eigenvalue nearest to 1 where the `whole` spectrum holds it."""
    rest = np.arange(values.size)
    if whole:
        rest = np.delete(rest, np.argmin(np.abs(values - 1.0)))
    if rest.size == 0:
        return 0.0, 0.0
    second = rest[np.argmax(np.abs(values[rest]))]
    v = vectors[:, second]
    return float(np.abs(values[second])), float(np.linalg.norm(walk @ v - values[second] * v) / np.linalg.norm(v))


def _start(n: int) -> Floats:
    """A fixed start that no eigenvector of the walk is likely to be orthogonal to, so that results repeat."""
    return np.random.default_rng(0).standard_normal(n)
