"""Where in feature space an evaluator was trained, and how far from there an item lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import TooFew

__all__ = ["Reach", "reach_of"]

Floats = NDArray[np.float64]

_MOST = 32  # our choice: components in which items are compared one by one
_ITEMS = 4  # our choice: items a component, so that something is left beside them
_SHARE = 0.99  # of the training items that lie within the limit, each seen from the other levels
_ROUNDS = 12  # most times that levels are left out to learn the limit; more levels go in groups
_FURTHEST = 6.0  # our choice: standard deviations
_REST = 1e-6  # of the columns' variance: less is rounding, and does not count as what items usually have beside


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Training items in their leading principal components, and the distance beyond which an item is far from them."""

    columns: NDArray[np.int64]
    """(d,) columns of the features in which it is measured."""
    mean: Floats
    """(d,) of the training items."""
    scale: Floats
    """(d,) their standard deviations; inf where a column is constant, and says nothing."""
    axes: Floats
    """(d, k) orthonormal principal components of standardised and clipped columns."""
    points: Floats
    """(n, k) training items, each component at unit variance, over the root of 2 k."""
    spread: Floats
    """(k,) what components are divided by to lie like `points`."""
    rest: float
    """Mean squared length of what the training items have beside the components, > 0."""
    limit: float
    """Distance within which 99 % of the training items lie, where their own level is unknown."""

    def distance(self, values: NDArray[np.float32]) -> Floats:
        """(m,) how unlike all training items raw features, (m, columns of the features), are.

        The root of the sum of two squares: to the nearest training item in the components, where two random training
        items are 1 apart in the mean; and what lies beside the components, in units of what training items have there.
        """
        z = _clipped((values[:, self.columns].astype(np.float64) - self.mean) / self.scale)
        inside = z @ self.axes
        beside = np.maximum((z**2).sum(axis=1) - (inside**2).sum(axis=1), 0.0)
        return np.asarray(np.sqrt(_nearest(inside / self.spread, self.points) + beside / self.rest))


def reach_of(
    values: NDArray[np.float32], levels: NDArray[np.int64], *, columns: NDArray[np.int64] | None = None
) -> Reach:
    """Learn where training items lie.

    The limit is learned as an unseen level is met: levels are left out in turn, and their items are seen from the others,
    since a new method's results are no nearer to the known ones than a known method's are to those of the others.

    Args:
        values: (n, columns) raw features of the training items.
        columns: those that count; None: all.
        levels: (n,) level of the factor that will be new, for example the method; all equal: items stand for themselves.

    Raises:
        TooFew: fewer than three items.
    """
    n = len(values)
    if n < 3:
        raise TooFew(f"{n} items have features; 3 or more are needed", where="features")
    own = np.unique(levels, return_inverse=True)[1] if len(np.unique(levels)) > 1 else np.arange(n)
    rounds = own % _ROUNDS if own.max() >= _ROUNDS else own
    chosen = np.arange(values.shape[1]) if columns is None else columns
    seen = np.empty(n)
    for out in np.unique(rounds):
        away = rounds == out
        seen[away] = _reach(values[~away], chosen, limit=0.0).distance(values[away])
    return _reach(values, chosen, limit=float(np.quantile(seen, _SHARE)))


def _reach(values: NDArray[np.float32], columns: NDArray[np.int64], *, limit: float) -> Reach:
    x = values[:, columns].astype(np.float64)
    n = len(x)
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 0, scale, np.inf)
    z = _clipped((x - mean) / scale)
    square, vectors = np.linalg.eigh(z @ z.T if n < z.shape[1] else z.T @ z)  # the smaller one: the rest is 0
    order = np.argsort(square)[::-1]
    k = max(1, min(_MOST, n // _ITEMS, int((square > square.max() * 1e-12).sum())))
    square, vectors = square[order[:k]], vectors[:, order[:k]]
    axes = vectors if n >= z.shape[1] else z.T @ vectors / np.sqrt(square)
    inside = z @ axes
    spread = np.sqrt(square / n * 2.0 * k)
    beside = (z**2).sum(axis=1) - (inside**2).sum(axis=1)
    rest = max(float(beside.mean()), _REST * max(int(np.isfinite(scale).sum()), 1))
    return Reach(
        columns=columns,
        mean=mean,
        scale=scale,
        axes=axes,
        points=inside / spread,
        spread=spread,
        rest=rest,
        limit=limit,
    )


def _clipped(z: Floats) -> Floats:
    """Standardised columns, none further out than `_FURTHEST`: a channel that hardly ever fires would else decide alone."""
    return np.clip(z, -_FURTHEST, _FURTHEST)


def _nearest(points: Floats, among: Floats) -> Floats:
    """(m,) squared distance to the nearest of some points."""
    squared = (points**2).sum(axis=1)[:, None] + (among**2).sum(axis=1) - 2.0 * points @ among.T
    return np.asarray(np.maximum(squared.min(axis=1), 0.0))
