"""Distances between two sets of feature vectors: Fréchet's between their normal laws, and KID."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import BadInput, TooFew

__all__ = ["Moments", "frechet_distance", "kid", "moments", "moments_distance"]

Floats = NDArray[np.float64]


class Moments(NamedTuple):
    """A normal law."""

    mean: Floats
    """(d,)"""
    covariance: Floats
    """(d, d), symmetric; of rank below n where n vectors of more than n - 1 numbers gave it."""


def moments(vectors: ArrayLike) -> Moments:
    """Give the mean and the sample covariance (divided by n - 1) of feature vectors.

    Args:
        vectors: (n, d), n >= 2.

    Raises:
        TooFew: fewer than two vectors.
        BadInput: not (n, d), or not finite.
    """
    rows = _checked(vectors)
    mean = rows.mean(axis=0)
    apart = rows - mean
    return Moments(mean, apart.T @ apart / (len(rows) - 1))


def moments_distance(first: Moments, second: Moments) -> float:
    """Give Fréchet's distance between two normal laws, |m - n|^2 + tr(S + T - 2 (S^1/2 T S^1/2)^1/2).

    Everything is symmetric, so that nothing turns complex where a covariance has no full rank.

    Returns:
        >= 0, squared units of the features; 0 for equal laws.

    Source:
        Dowson and Landau, "The Fréchet distance between multivariate normal distributions", Journal of Multivariate
        Analysis 12, 1982, equation 4; as a distance between sets of pictures: Heusel et al., NeurIPS 2017.
    """
    values, vectors = np.linalg.eigh(first.covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    mixed = np.linalg.eigvalsh(root @ second.covariance @ root)
    cross = np.sqrt(np.maximum(mixed, 0.0)).sum()
    apart = first.mean - second.mean
    total = apart @ apart + np.trace(first.covariance) + np.trace(second.covariance) - 2.0 * cross
    return float(max(total, 0.0))


def frechet_distance(first: ArrayLike, second: ArrayLike) -> float:
    """Give Fréchet's distance between the normal laws of two sets of feature vectors.

    It is biased upwards where n is not far above d, so compare only distances of one n, and say n.

    Args:
        first: (n, d), n >= 2.
        second: (m, d), m >= 2.

    Raises:
        TooFew: a set of fewer than two vectors.
        BadInput: sets of another shape, or values that are no numbers.
    """
    one, other = _two(first, second)
    return moments_distance(moments(one), moments(other))


def kid(first: ArrayLike, second: ArrayLike, *, weights: tuple[ArrayLike, ArrayLike] | None = None) -> float:
    """Give the unbiased kernel distance with k(x, y) = (x . y / d + 1)^3, over all vectors of both sets.

    Args:
        first: (n, d), n >= 2.
        second: (m, d), m >= 2.
        weights: how often each vector counts, (n,) and (m,), for resampling; a vector is never paired with its own
            copies. None: once each.

    Returns:
        Expectation 0 for two sets of one law, so it may lie below 0; not divided by anything, not times 1000. NaN
        where the weights leave a set with fewer than two vectors.

    Raises:
        TooFew: a set of fewer than two vectors.
        BadInput: sets of another shape, or values that are no numbers.

    Source:
        Bińkowski, Sutherland, Arbel and Gretton, "Demystifying MMD GANs", ICLR 2018, section 4; the estimator is
        Gretton et al., "A kernel two-sample test", JMLR 13, 2012, equation 3.
    """
    one, other = _two(first, second)
    d = one.shape[1]
    w, v = (np.ones(len(one)), np.ones(len(other))) if weights is None else map(np.asarray, weights)
    within = [_within((a @ a.T / d + 1.0) ** 3, u) for a, u in ((one, w), (other, v))]
    between = w @ ((one @ other.T / d + 1.0) ** 3) @ v / (w.sum() * v.sum())
    return float(within[0] + within[1] - 2.0 * between)


def _within(kernel: Floats, weight: Floats) -> float:
    """Mean of the kernel over pairs of different vectors."""
    pairs = weight.sum() ** 2 - (weight**2).sum()
    if pairs <= 0:
        return float("nan")
    return float((weight @ kernel @ weight - weight**2 @ np.diag(kernel)) / pairs)


def _checked(vectors: ArrayLike) -> Floats:
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] == 0 or not np.isfinite(rows).all():
        raise BadInput(f"feature vectors must be finite numbers of shape (n, d), not {rows.shape}", where="features")
    if len(rows) < 2:
        raise TooFew(f"a set of {len(rows)} pictures has no spread; give at least 2", where="features")
    return rows


def _two(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    one, other = _checked(first), _checked(second)
    if one.shape[1] != other.shape[1]:
        raise BadInput(
            f"vectors of {one.shape[1]} and of {other.shape[1]} numbers are not comparable", where="features"
        )
    return one, other
