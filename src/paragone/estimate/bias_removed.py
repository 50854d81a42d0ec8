"""Mean opinion scores after each participant's bias was taken out."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from paragone.errors import BadConfig
from paragone.estimate.arrays import Estimate, Estimator, Floats, Opinions
from paragone.estimate.freedom import freedom
from paragone.estimate.incidence import Incidence, averaged, incidence, item_means, joined, require_connected, usable
from paragone.estimate.two_way import two_way

__all__ = ["BIAS_REMOVED", "bias_removed"]

Solve = Literal["least-squares", "one-pass"]

_ROUNDING = 1e-12  # of the largest rating; residuals below it are no errors


def bias_removed(opinions: Opinions, *, solve: Solve = "least-squares") -> Estimate:
    """Score items by the mean of the ratings after subtracting each participant's bias.

    The Recommendation takes u_j = mean of x_ij over i, b_i = mean of x_ij - u_j over j, and scores items by the mean of
    x_ij - b_i. That one pass is exact only where everybody rated everything; otherwise the biases depend on whom a
    participant shared items with, and 'least-squares' finds the s_j and b_i that minimise the sum of (x - s_j - b_i)^2
    with mean bias 0. Where the table is full both give the same numbers.

    Args:
        opinions: k ratings; a weight says how often a rating counts.
        solve: 'least-squares', or 'one-pass' exactly as published.

    Returns:
        Scores (n,), NaN for an item never rated. Standard errors are the corrected ratings' deviation, their sum of
        squares divided by what the biases leave of it in place of n - 1, times the root of 1 / ratings and, for least
        squares, what uncertain biases add. NaN where the biases take up every rating of an item, as they do those of a
        single item, or where no rating differs from score + bias. Notes, beside those of 'mos': `participant_bias` (p,),
        NaN for a participant without ratings, `balanced` (the table is full, with equal counts), `df` (n,) of the
        standard errors, `items_without_freedom` and `exact_fit` (no rating differs); `sd` is as published, with n - 1.

    Raises:
        BadConfig: `solve` is another word.
        NotConnected: least squares, and participants and items fall into groups that share no rating.

    Source:
        ITU-T P.913 (2021), section 12.4; two-way least squares for unbalanced tables, and the errors, are ours.
    """
    if solve not in ("least-squares", "one-pass"):
        raise BadConfig(f"solve = '{solve}' is not one of least-squares, one-pass", where="solve")
    data = usable(opinions)
    table = incidence(data)
    if solve == "least-squares":
        require_connected(data)
        _, bias = two_way(table, table.copies)
    else:
        bias = _one_pass(table)
    bias = np.where(table.rows > 0, bias, np.nan)
    notes = {"participant_bias": bias, "balanced": _balanced(table), "solve": solve}
    made = averaged(data, data.value - bias[data.participant], notes)
    return _with_errors(made, data, exact=solve == "least-squares")


def _with_errors(made: Estimate, data: Opinions, *, exact: bool) -> Estimate:
    """Standard errors and degrees of freedom less what the biases cost."""
    left, shown, sd = freedom(data), made.notes["ratings"], made.notes["sd"]
    corrected = data.value - made.notes["participant_bias"][data.participant]
    away = corrected - made.score[data.item]
    same = bool(np.abs(away).max() <= _ROUNDING * np.abs(data.value).max())
    known = (left.df > 0) & ~np.isnan(sd) & (not same)
    variance = left.variance if exact else 1 / np.where(shown > 0, shown, 1.0)
    square = np.where(known, sd**2 * (shown - 1) / np.where(known, left.expected, 1.0) * variance, np.nan)
    notes = {
        **made.notes,
        "df": np.where(known, left.df, 0.0),
        "items_without_freedom": np.flatnonzero((shown > 0) & (left.df <= 0)).tolist(),
        "exact_fit": same,
    }
    return made._replace(stderr=np.sqrt(square), notes=notes)


def _one_pass(table: Incidence) -> Floats:
    """Each participant's mean distance from the items' plain means, from which `total` is measured already."""
    above = np.asarray(table.total.sum(axis=1), dtype=np.float64).ravel()
    return above / np.maximum(table.rows, 1)


def _balanced(table: Incidence) -> bool:
    full = table.rows > 0
    cells = table.count[full][:, table.shown > 0]
    return bool(cells.min() == cells.max())


def _replicate(opinions: Opinions, weights: Floats, *, solve: Solve = "least-squares") -> Floats:
    data = usable(opinions)
    table = incidence(data)
    plain = item_means(data, data.value, weights)
    if _balanced(table) and solve == "least-squares":
        return plain
    one_group = joined(table)
    scores = np.full_like(plain, np.nan)
    for r, times in enumerate(np.asarray(weights, dtype=np.float64)):
        again = table._replace(copies=table.copies * times)
        if solve == "one-pass":
            centre = np.nan_to_num(plain[r])
            shift = table.count @ (centre - table.centre)
            bias = _one_pass(table) - np.asarray(shift).ravel() / np.maximum(table.rows, 1)
            corrected = item_means(data, data.value - bias[data.participant], times[None, :])
            scores[r] = corrected[0]
        elif one_group(again.copies):
            s, _ = two_way(again, again.copies)
            scores[r] = np.where(np.isnan(plain[r]), np.nan, s + table.centre)
    return scores


def _likelihood(opinions: Opinions, score: Floats, *, solve: Solve = "least-squares") -> float:  # noqa: ARG001
    """Gaussian log-likelihood of the scores, biases and one common variance at their best given the scores."""
    data = usable(opinions)
    above = data.value - score[data.item]
    total = np.bincount(data.participant, data.weight, data.p)
    bias = np.bincount(data.participant, data.weight * above, data.p) / np.where(total > 0, total, 1)
    square = float(np.sum(data.weight * (above - bias[data.participant]) ** 2))
    n = float(data.weight.sum())
    return -n / 2 * (math.log(2 * math.pi * square / n) + 1) if square > 0 else math.inf


BIAS_REMOVED = Estimator(
    name="bias-removed",
    model=bias_removed,
    reads="ratings",
    summary="mean opinion score after each participant's constant bias was subtracted",
    unit="rating scale",
    source="ITU-T P.913 (2021), section 12.4",
    replicate=_replicate,
    likelihood=_likelihood,
    connected="weakly",
    options={"solve": "least-squares (default; exact where the table has gaps) or one-pass (as published)"},
)
