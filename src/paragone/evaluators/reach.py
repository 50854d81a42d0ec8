"""Where in feature space an evaluator was trained, and how far from there an item lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import TooFew

__all__ = ["Reach", "reach_of"]

_MOST = 32  # our choice: components in which distances are taken
_SHARE = 0.99  # of the training items that lie within the limit, seen from the other levels


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Training items in their leading principal components, and the distance beyond which an item is far from them."""

    mean: NDArray[np.float64]
    """(d,) of the training items."""
    axes: NDArray[np.float64]
    """(d, k): raw features, centred, times this are components of unit variance."""
    points: NDArray[np.float64]
    """(n, k) training items."""
    limit: float
    """Distance to the nearest training item of another level within which 99 % of the training items lie."""

    def distance(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        """(m,) distance of raw features, (m, d), to the nearest training item, in standard deviations of a component
        over the root of their number: about 1 apart is typical of two training items."""
        return _nearest(self._components(values), self.points)

    def _components(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        return np.asarray((values.astype(np.float64) - self.mean) @ self.axes)


def reach_of(values: NDArray[np.float32], levels: NDArray[np.int64]) -> Reach:
    """Learn where training items lie.

    The limit is learned as an unseen level is met: each item is compared with the items of all other levels, since a new
    method's results are no nearer to the known ones than a known method's are to those of the others.

    Args:
        values: (n, d) raw features of the training items.
        levels: (n,) level of the factor that will be new, for example the method; all equal: items stand for themselves.

    Raises:
        TooFew: fewer than three items.
    """
    n = len(values)
    if n < 3:
        raise TooFew(f"{n} items have features; 3 or more are needed", where="features")
    x = values.astype(np.float64)
    mean, scale = x.mean(axis=0), x.std(axis=0)
    safe = np.where(scale > 0, scale, np.inf)
    standard = (x - mean) / safe
    _, s, vt = np.linalg.svd(standard, full_matrices=False)
    k = max(1, min(_MOST, n - 1, int((s > s[0] * 1e-6).sum())))
    axes = (vt[:k].T * (np.sqrt(n) / s[:k])) / safe[:, None] / np.sqrt(2.0 * k)
    points = (x - mean) @ axes
    alone = len(np.unique(levels)) < 2
    own = np.arange(n) if alone else levels
    nearest = np.array([_nearest(points[[i]], points[own != own[i]])[0] for i in range(n)])
    return Reach(mean=mean, axes=axes, points=points, limit=float(np.quantile(nearest, _SHARE)))


def _nearest(points: NDArray[np.float64], among: NDArray[np.float64]) -> NDArray[np.float64]:
    squared = (points**2).sum(axis=1)[:, None] + (among**2).sum(axis=1) - 2.0 * points @ among.T
    return np.asarray(np.sqrt(np.maximum(squared.min(axis=1), 0.0)))
