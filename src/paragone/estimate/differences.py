"""Which items differ: two-tailed p-values of all differences between scores, from their joint covariance."""

from __future__ import annotations

import numpy as np
from scipy.special import erfc

from paragone.errors import BadInput
from paragone.estimate.arrays import Floats

__all__ = ["difference_p_values"]


def difference_p_values(score: Floats, covariance: Floats) -> Floats:
    """Chance of a difference at least this large *either way* if two items were equal, for every pair of items.

    z = (s_i - s_j) / sqrt(C_ii + C_jj - 2 C_ij), p = 2 (1 - Phi(|z|)), computed from the tail, so that a large |z|
    gives a small p and not 0. No correction for the number of pairs (see stats.holm).

    Args:
        score: (n,) scores; NaN where an item has none.
        covariance: (n, n) their covariance, as `Estimator.covariance` gives it.

    Returns:
        (n, n) symmetric p-values in [0, 1]; 1 on the diagonal; NaN with an item that has no score.

    Raises:
        BadInput: the shapes do not fit, or a difference has a negative variance.
    """
    n = score.size
    if covariance.shape != (n, n):
        raise BadInput(f"covariance is {covariance.shape} for {n} scores; it must be ({n}, {n})")
    own = np.diag(covariance)
    variance = own[:, None] + own[None, :] - 2.0 * covariance
    scale = float(np.nanmax(own, initial=0.0))
    if np.any(variance < -1e-9 * scale):
        raise BadInput("covariance gives a difference a negative variance; it is not a covariance matrix")
    gap = np.abs(score[:, None] - score[None, :])
    error = np.sqrt(np.maximum(variance, 0.0))
    z = np.divide(gap, error, out=np.where(gap > 0, np.inf, 0.0), where=(error > 0) | np.isnan(error))
    p: Floats = erfc(z / np.sqrt(2.0))
    unknown = np.isnan(gap) | np.isnan(error)
    p[unknown] = np.nan
    np.fill_diagonal(p, np.where(np.isnan(score), np.nan, 1.0))
    return p
