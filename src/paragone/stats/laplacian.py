"""The systems that paired-comparison likelihoods lead to: a weighted graph Laplacian, with or without a ridge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import splu

from paragone.errors import NotConverged

__all__ = ["Laplacian", "Shape", "shape_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSE_ITEMS = 150
"""Up to here a Cholesky factor is as quick as conjugate gradients (our measurement)."""
DENSE_RESCUE_ITEMS = 2000
"""Up to here stalled conjugate gradients give way to a dense factor, beyond to a sparse one."""
CG_STEPS = 200


class Shape(NamedTuple):
    """Where the edges are; shared by all Laplacians of one graph."""

    n: int
    """Number of items."""
    i: Ints
    """(e,) one end of each edge, ascending, in [0, n)."""
    j: Ints
    """(e,) the other end, never equal to i."""
    indptr: NDArray[np.int32]
    """(n + 1,) where the edges of each i begin."""
    indices: NDArray[np.int32]
    """(e,) j, as sparse matrices want it."""

    def upper(self, values: Floats) -> sparse.csr_array:
        """(n, n) matrix with values[e] in row i, column j."""
        return sparse.csr_array((values, self.indices, self.indptr), shape=(self.n, self.n))

    def lower(self, values: Floats) -> sparse.csc_array:
        """(n, n) matrix with values[e] in row j, column i."""
        return sparse.csc_array((values, self.indices, self.indptr), shape=(self.n, self.n))

    def totals(self, at_i: Floats, at_j: Floats) -> Floats:
        """(n,) sums over the edges of each item, at_i where it is the one end and at_j where it is the other."""
        ones = np.ones(self.n)
        sums: Floats = self.upper(at_i) @ ones + self.lower(at_j) @ ones
        return sums

    def net(self, values: Floats) -> Floats:
        """(n,) sums over the edges of each item, added where it is the one end and subtracted where it is the other."""
        ones = np.ones(self.n)
        sums: Floats = self.upper(values) @ ones - self.lower(values) @ ones
        return sums


def shape_of(n: int, i: Ints, j: Ints) -> Shape:
    """The shape of edges (i, j) over n items; i ascending, pairs may repeat."""
    indptr = np.searchsorted(i, np.arange(n + 1)).astype(np.int32)
    return Shape(n, i, j, indptr, j.astype(np.int32))


@dataclass(frozen=True)
class Laplacian:
    """sum over edges of weight (e_i - e_j)(e_i - e_j)' + ridge I, over a connected graph unless ridge > 0."""

    shape: Shape
    weight: Floats
    """(e,) weight of each edge, >= 0."""
    ridge: float = 0.0
    """>= 0; added to the diagonal."""

    @cached_property
    def diagonal(self) -> Floats:
        """(n,) the diagonal, ridge included."""
        return self.shape.totals(self.weight, self.weight) + self.ridge

    def dense(self) -> Floats:
        """(n, n) the matrix itself."""
        upper = self.shape.upper(self.weight).toarray()
        matrix: Floats = -(upper + upper.T)
        matrix[np.diag_indices(self.shape.n)] += self.diagonal
        return matrix

    def solve(self, rhs: Floats, *, drop: float = 1e-10) -> Floats:
        """Solve for rhs (n,) that sums to 0 (unless ridge > 0).

        Args:
            rhs: (n,) right-hand side.
            drop: factor by which conjugate gradients must shrink the (diagonally scaled) residual, in (0, 1).

        Returns:
            (n,) the solution that sums to 0 where ridge = 0.

        Raises:
            NotConverged: the matrix is singular beyond rescue, for example because weights underflow.
        """
        if self.shape.n <= DENSE_ITEMS:
            return self._factored(rhs)
        solution = self._conjugate_gradients(rhs, drop)
        return solution if solution is not None else self._factored(rhs)

    def pseudo_inverse(self) -> Floats:
        """(n, n) Moore-Penrose inverse of the Laplacian; with a ridge, the inverse between vectors that sum to 0."""
        n = self.shape.n
        matrix = self.dense()
        if self.ridge == 0.0:
            matrix += self._level() / n
        inverse: Floats = _solved(matrix, np.eye(n))
        inverse -= inverse.mean(axis=0)
        inverse -= inverse.mean(axis=1, keepdims=True)
        return (inverse + inverse.T) / 2

    def _level(self) -> float:
        """A multiple of the all-ones matrix that makes a connected Laplacian regular without changing its condition."""
        return float(self.diagonal.mean())

    def _factored(self, rhs: Floats) -> Floats:
        n = self.shape.n
        if n <= DENSE_RESCUE_ITEMS:
            matrix = self.dense()
            if self.ridge == 0.0:
                matrix += self._level() / n
            solution = _solved(matrix, rhs)
        else:
            upper = self.shape.upper(self.weight)
            matrix = (sparse.diags_array(self.diagonal) - upper - upper.T).tocsc()
            held = 0 if self.ridge > 0 else 1
            solution = np.zeros(n)
            solution[: n - held] = splu(matrix[: n - held, : n - held]).solve(rhs[: n - held])
        return solution if self.ridge > 0 else solution - solution.mean()

    def _conjugate_gradients(self, rhs: Floats, drop: float) -> Floats | None:
        """Conjugate gradients with the diagonal as preconditioner; None where they stall."""
        upper, lower, diagonal = self.shape.upper(self.weight), self.shape.lower(self.weight), self.diagonal
        if diagonal.min() <= 0.0:
            return None
        x = np.zeros(rhs.size)
        # Rounding leaves a sum that no solution can produce, and that would never leave the residual.
        r = rhs - rhs.mean() if self.ridge == 0.0 else rhs.copy()
        z = r / diagonal
        p = z
        rz = float(r @ z)
        goal = drop**2 * rz
        for _ in range(CG_STEPS):
            if rz <= goal:
                return x if self.ridge > 0 else x - x.mean()
            q = diagonal * p - (upper @ p + lower @ p)
            curvature = float(p @ q)
            if not curvature > 0.0:
                return None
            alpha = rz / curvature
            x += alpha * p
            r -= alpha * q
            z = r / diagonal
            before, rz = rz, float(r @ z)
            p = z + (rz / before) * p
        return None


def _solved(matrix: Floats, rhs: Floats) -> Floats:
    try:
        solution: Floats = cho_solve(cho_factor(matrix, lower=True), rhs)
    except LinAlgError as singular:
        raise NotConverged(
            f"likelihood of {matrix.shape[0]} items is flat in some direction and scores run away; "
            f"use a prior or collect more votes"
        ) from singular
    return solution
