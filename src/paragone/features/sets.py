"""Distances between two sets of feature vectors: Fréchet's between their normal laws, and KID."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import BadInput, TooFew

__all__ = ["Moments", "frechet_distance", "kid", "moments", "moments_distance", "paired_kid"]

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

    It is biased upwards where n is not far above d, so compare only distances of one n, and say n. The covariances are
    never formed: with S = A^T A and T = B^T B, tr (S^1/2 T S^1/2)^1/2 is the sum of the singular values of A B^T, which
    keeps its digits where they have no full rank.

    Args:
        first: (n, d), n >= 2.
        second: (m, d), m >= 2.

    Raises:
        TooFew: a set of fewer than two vectors.
        BadInput: sets of another shape, or values that are no numbers.
    """
    one, other = _two(first, second)
    apart = one.mean(axis=0) - other.mean(axis=0)
    roots = [_root(one), _root(other)]
    cross = np.linalg.svd(roots[0] @ roots[1].T, compute_uv=False).sum()
    total = apart @ apart + sum((root**2).sum() for root in roots) - 2.0 * cross
    return float(max(total, 0.0))


def _root(rows: Floats) -> Floats:
    """A matrix A, at most d rows, with A^T A the sample covariance."""
    centred: Floats = (rows - rows.mean(axis=0)) / np.sqrt(len(rows) - 1)
    if len(rows) <= rows.shape[1]:
        return centred
    upper: Any = np.linalg.qr(centred, mode="r")
    root: Floats = upper
    return root


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
    d = one.shape[1]
    within = sum(
        (((a @ a.T / d + 1.0) ** 3).sum() - (((a * a).sum(axis=1) / d + 1.0) ** 3).sum()) / _pairs(a)
        for a in (one, other)
    )
    return float(within - 2.0 * ((one @ other.T / d + 1.0) ** 3).mean())


def _pairs(rows: Floats) -> int:
    return len(rows) * (len(rows) - 1)


def paired_kid(first: ArrayLike, second: ArrayLike, *, weights: ArrayLike | None = None) -> Floats:
    """Give KID of two sets whose vectors belong together one by one, for example two methods on the same cells.

    `kid` takes the sets for independent; two pictures of one content and style are alike for that reason alone, which
    pulls it below 0. Here no vector is compared with its partner either: the mean of k(x, x') + k(y, y') - k(x, y') -
    k(x', y) over different pairs (x, y) and (x', y') is unbiased whatever ties x to y, and 0 for equal sets.

    Args:
        first: (n, d), n >= 2.
        second: (n, d), partner by partner.
        weights: (r, n) counts >= 0 of the pairs, for resampling; a pair is never compared with its own copies. None: one
            row of ones.

    Returns:
        (r,); NaN where a row of weights leaves fewer than two different pairs.

    Raises:
        TooFew: fewer than two pairs.
        BadInput: sets of another shape, or values that are no numbers.

    Source:
        Gretton et al., "A kernel two-sample test", JMLR 13, 2012, equation 4, with the kernel of `kid`.
    """
    one, other = _two(first, second)
    if len(one) != len(other):
        raise BadInput(f"{len(one)} vectors have no partners among {len(other)}", where="features")
    d, w = one.shape[1], np.ones((1, len(one))) if weights is None else np.asarray(weights, dtype=np.float64)
    mixed = (one @ other.T / d + 1.0) ** 3
    kernel = (one @ one.T / d + 1.0) ** 3 + (other @ other.T / d + 1.0) ** 3 - mixed - mixed.T
    np.fill_diagonal(kernel, 0.0)
    pairs = w.sum(axis=1) ** 2 - (w**2).sum(axis=1)
    total = ((w @ kernel) * w).sum(axis=1)
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
