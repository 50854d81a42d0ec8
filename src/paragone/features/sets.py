"""Distances between two sets of feature vectors: Fréchet's between their normal laws, and KID."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import BadInput, TooFew

__all__ = ["Moments", "frechet_distance", "kid", "kid_replicates", "moments", "moments_distance"]

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


def kid(first: ArrayLike, second: ArrayLike) -> float:
    """Give the unbiased kernel distance with k(x, y) = (x . y / d + 1)^3, over all vectors of both sets.

    Args:
        first: (n, d), n >= 2.
        second: (m, d), m >= 2.

    Returns:
        Expectation 0 for two sets of one law, so it may lie below 0; not divided by anything, not times 1000.

    Raises:
        TooFew: a set of fewer than two vectors.
        BadInput: sets of another shape, or values that are no numbers.

    Source:
        Bińkowski, Sutherland, Arbel and Gretton, "Demystifying MMD GANs", ICLR 2018, section 4; the estimator is
        Gretton et al., "A kernel two-sample test", JMLR 13, 2012, equation 3.
    """
    one, other = _two(first, second)
    return float(kid_replicates(one, other, np.ones((1, len(one))), np.ones((1, len(other))))[0])


def kid_replicates(first: ArrayLike, second: ArrayLike, weights: ArrayLike, other_weights: ArrayLike) -> Floats:
    """Give `kid` of resampled sets, where each vector counts as often as a row of weights says.

    A vector is never paired with its own copies, so that a resample does not look closer together than it is.

    Args:
        first: (n, d), n >= 2.
        second: (m, d), m >= 2.
        weights: (r, n) counts >= 0 of the first set's vectors.
        other_weights: (r, m) counts >= 0 of the second's.

    Returns:
        (r,); NaN where a row leaves a set with fewer than two different vectors.

    Raises:
        As `kid`.
    """
    one, other = _two(first, second)
    d = one.shape[1]
    w, v = (np.asarray(counts, dtype=np.float64) for counts in (weights, other_weights))
    within = [_within((a @ a.T / d + 1.0) ** 3, u) for a, u in ((one, w), (other, v))]
    between = ((w @ (one @ other.T / d + 1.0) ** 3) * v).sum(axis=1) / (w.sum(axis=1) * v.sum(axis=1))
    replicates: Floats = within[0] + within[1] - 2.0 * between
    return replicates


def _within(kernel: Floats, weights: Floats) -> Floats:
    """Mean of the kernel over pairs of different vectors, for each row of weights."""
    pairs = weights.sum(axis=1) ** 2 - (weights**2).sum(axis=1)
    total = ((weights @ kernel) * weights).sum(axis=1) - weights**2 @ np.diag(kernel)
    mean: Floats = np.divide(total, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)
    return mean


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
