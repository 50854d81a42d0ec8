"""Wilson's interval of a share, which never leaves [0, 1] and has a width even where all answers agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import BadInput
from paragone.stats.statistic import Floats, normal_quantile

__all__ = ["wilson_interval"]


def wilson_interval(share: ArrayLike, trials: ArrayLike, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Lower and upper ends of the interval of each share.

    Args:
        share: observed shares in [0, 1]; NaN where there is none.
        trials: how many trials each rests on, >= 0; need not be whole (an effective number).
        level: coverage, in (0, 1).

    Returns:
        Both ends, in [0, 1], of the common shape; NaN where the share is NaN or there are no trials.

    Raises:
        BadInput: a share is outside [0, 1], trials are negative or not finite, or the level is not inside (0, 1).

    Source:
        Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22(158), 1927. For weighted
        shares with Kish's effective number of trials: Korn and Graubard, "Confidence Intervals for Proportions with
        Small Expected Number of Positive Counts Estimated from Survey Data", Survey Methodology 24(2), 1998.
    """
    p, n = np.broadcast_arrays(np.asarray(share, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    outside = (p < 0.0) | (p > 1.0)
    if outside.any():
        raise BadInput(f"a share of {p[outside].flat[0]:g} is not between 0 and 1")
    if not np.isfinite(n).all() or (n < 0).any():
        raise BadInput("trials must be finite numbers of at least 0")
    z2 = normal_quantile(level) ** 2
    known = n > 0
    n = np.where(known, n, 1.0)
    centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n)
    half = np.sqrt(z2 * (p * (1.0 - p) / n + z2 / (4.0 * n * n))) / (1.0 + z2 / n)
    low = np.where(known, np.clip(np.where(p == 0.0, 0.0, centre - half), 0.0, 1.0), np.nan)
    high = np.where(known, np.clip(np.where(p == 1.0, 1.0, centre + half), 0.0, 1.0), np.nan)
    return np.where(np.isnan(p), np.nan, low), np.where(np.isnan(p), np.nan, high)
