"""Weighted least squares of ratings on items and participants, solved exactly."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from paragone.estimate.arrays import Floats
from paragone.estimate.incidence import Incidence, Matrix

__all__ = ["two_way"]


def two_way(table: Incidence, precision: Floats) -> tuple[Floats, Floats]:
    """Split ratings into item scores and participant biases by weighted least squares.

    Minimises the sum over ratings of precision * (x - s_j - b_i)^2 exactly, by eliminating the longer side.

    Args:
        table: ratings whose participants and items form one group.
        precision: weight of each participant (p,) or of each participant and item (p, n), >= 0.

    Returns:
        s (n,) above the items' centres and b (p,), fixed by sum of copies * b = 0; 0 where there are no ratings.
    """
    some = precision if precision.ndim == 1 else precision.max(axis=1)
    here, seen = (some > 0) & (table.rows > 0), table.shown > 0
    weight, times = _scaled(precision[here], table.count[here]), _scaled(precision[here], table.total[here])
    by_item, by_person = _sums(weight, 0), _sums(weight, 1)
    seen &= by_item > 0
    up, across = _sums(times, 0), _sums(times, 1)
    s, b = np.zeros(table.n), np.zeros(table.p)
    inner = weight[:, seen]
    if here.sum() <= seen.sum():
        b[here] = _eliminated(by_person, inner, by_item[seen], across - inner @ (up[seen] / by_item[seen]))
    else:
        s[seen] = _eliminated(by_item[seen], inner.T, by_person, up[seen] - inner.T @ (across / by_person))
        b[here] = (across - inner @ s[seen]) / by_person
    b[here] -= np.average(b[here], weights=table.copies[here])
    s[seen] = (up[seen] - inner.T @ b[here]) / by_item[seen]
    return s, b


def _eliminated(own: Floats, cross: Matrix, other: Floats, right: Floats) -> Floats:
    """Solve (diag(own) - cross diag(1/other) cross') y = right, whose null vector is the constant."""
    through = cross @ _scaled(1 / other, cross.T)
    laplacian = np.diag(own) - np.asarray(through.toarray() if sparse.issparse(through) else through)
    laplacian += own.mean() / own.size  # fills the null space: makes the sum of y zero, and nothing else
    return np.asarray(linalg.solve(laplacian, right - right.mean(), assume_a="pos"), dtype=np.float64)


def _scaled(factor: Floats, matrix: Matrix) -> Matrix:
    if factor.ndim == 2:
        return matrix.multiply(factor).tocsr() if sparse.issparse(matrix) else factor * matrix
    return sparse.diags(factor) @ matrix if sparse.issparse(matrix) else factor[:, None] * matrix


def _sums(matrix: Matrix, axis: int) -> Floats:
    return np.asarray(matrix.sum(axis=axis), dtype=np.float64).ravel()
