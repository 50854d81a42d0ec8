"""Many tests at once: Holm's step-down adjustment."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import BadInput

from .statistic import Floats

__all__ = ["holm"]


def holm(p: ArrayLike) -> Floats:
    """Adjust p values so that the chance of one or more false findings in the family stays below the level.

    Args:
        p: (m,) p values in [0, 1]; NaN marks a test that could not be made and does not count.

    Returns:
        (m,) adjusted p values in [0, 1], never below the given ones and in the same order; NaN stays NaN.

    Raises:
        BadInput: a p value outside [0, 1], or not a vector.

    Source:
        Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6(2), 1979.
    """
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1:
        raise BadInput(f"Holm's adjustment needs a vector of p values, not shape {values.shape}")
    known = ~np.isnan(values)
    given = values[known]
    if ((given < 0) | (given > 1)).any():
        raise BadInput("p values must lie in [0, 1]")
    adjusted = np.full(values.shape, np.nan)
    order = np.argsort(given, kind="stable")
    steps = (len(given) - np.arange(len(given))) * given[order]
    result = np.empty(len(given))
    result[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(given) else steps
    adjusted[known] = result
    return adjusted
