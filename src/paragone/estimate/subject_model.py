"""Scores, biases and inconsistencies of participants together: the model of P.910 Annex E and BT.500-15."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import chdtri

from paragone.errors import BadConfig, NotConverged, TooFew
from paragone.estimate.arrays import Estimate, Estimator, Floats, Opinions
from paragone.estimate.freedom import freedom
from paragone.estimate.incidence import Incidence, incidence, joined, require_connected, usable
from paragone.estimate.limits import require_iterating, require_within
from paragone.estimate.two_way import two_way

__all__ = ["P910", "PRIOR", "PRIORS", "middle_variance", "p910"]

Stderr = Literal["item", "model"]

PRIOR = 5.0
"""Imagined ratings of each participant; our choice: never worse than a plain mean at 3 to 24 ratings an item."""
PRIORS = (1e-6, 1e6)
"""Imagined ratings allowed, beside 0: fewer hold nothing, more leave nothing to learn."""

_EPSILON = 1e-8  # rating^2, added to every variance in Annex E
_SWEEPS = 150  # alternating sweeps before exact least squares takes over; full tables need about 15
_COLLAPSED = 1e-6  # of the pooled variance; nobody is a thousand times more consistent than the rest


class _Fit(NamedTuple):
    """r fits at once: columns are replicates."""

    s: Floats
    """(n, r) scores above the items' centres."""
    b: Floats
    """(p, r) biases."""
    variance: Floats
    """(p, r) squared inconsistencies."""
    sweeps: int
    """Sweeps until the last column stood still."""
    moving: Floats
    """(r,) length of the last change of s; above the tolerance where the limit ended the fit."""


def p910(
    opinions: Opinions,
    *,
    prior: float = PRIOR,
    stderr: Stderr = "item",
    tolerance: float = 1e-8,
    max_iterations: int = 1000,
) -> Estimate:
    """Score items by the maximum likelihood of x_ij = s_j + b_i + v_i e_ij, e standard normal.

    Participants differ by a bias b_i and an inconsistency v_i; an erratic participant counts for little. The likelihood
    alone has no maximum: it grows without bound as one participant's v_i goes to 0, which happens whenever ratings are
    few. `prior` adds to each participant that many imagined ratings with the variance v0^2 of the middle participant:
    v_i^2 = (sum of squares + prior v0^2) / (ratings + prior).

    Args:
        opinions: k ratings; the mean weight of a participant's rows says how often that participant counts.
        prior: imagined ratings for each participant, 1e-6 to 1e6; 0 is exactly the published alternating projection.
        stderr: 'item' is v_j / sqrt(ratings of j), v_j the residual deviation at the item, as published, and goes with
            the t quantile at `df`: the normal one covers 72 % instead of 95 at three ratings an item, t covers 92. NaN
            for an item with one rating, or all of whose ratings the biases take up. 'model' is
            1 / sqrt(sum over its ratings of 1 / v_i^2), normal.
        tolerance: the fit ends when the scores move by less (Euclidean length, rating scale), > 0.
        max_iterations: sweeps allowed, >= 1.

    Returns:
        Scores (n,) on the rating scale at mean bias 0; NaN for an item never rated. Notes: `participant_bias` and its
        `participant_bias_stderr`, `participant_inconsistency` with the 95 % chi-square interval
        `participant_inconsistency_low` and `_high`, each (p,), NaN without ratings; `iterations`, `prior`,
        `prior_variance`, `log_likelihood`, `df` (n,) for stderr = 'item', `items_not_rated`,
        `items_with_one_rating`, `participants_with_one_rating` (they add nothing: their bias takes up the rating),
        `exact_fit` (no rating differs from score + bias, so no error can be estimated: standard errors are NaN).

    Raises:
        BadConfig: an option is out of its range.
        NotConnected: participants and items fall into groups that share no rating.
        TooFew: prior = 0, and a participant has one rating or the likelihood grows without bound.
        NotConverged: the limit was reached.

    Source:
        ITU-T P.910 (2023), Annex E; ITU-R BT.500-15, Annex 1; Li et al., "A Simple Model for Subject Behavior in
        Subjective Experiments", 2020. The prior is ours.
    """
    _check(prior, stderr, tolerance, max_iterations)
    data = usable(opinions)
    require_connected(data)
    table = incidence(data)
    variance = middle_variance(table)
    if variance == 0.0:
        return _exact(data, table, prior)
    single = np.flatnonzero(table.rows == 1)
    if prior == 0 and single.size:
        raise TooFew(f"participant {single[0]} has one rating, so prior = 0 cannot estimate an inconsistency; {_CURE}")
    fit = _fit(table, table.copies[:, None], prior, variance, tolerance, max_iterations)
    if prior == 0:
        _refuse_collapse(fit.variance[:, 0], table, variance)
    if fit.moving[0] >= tolerance:
        raise NotConverged(f"p910: scores still move by {fit.moving[0]:.1e} after {fit.sweeps} sweeps; {_SLOWER}")
    return _estimate(data, table, fit, prior, variance, stderr)


_CURE = "set prior above 0 (5 is the default), or leave that participant out"
_SLOWER = "raise max_iterations or the tolerance"


def _check(prior: float, stderr: str, tolerance: float, max_iterations: int) -> None:
    require_within("prior", prior, *PRIORS, zero=True, where="p910")
    require_iterating(tolerance, max_iterations)
    if stderr not in ("item", "model"):
        raise BadConfig(f"stderr = '{stderr}' is not one of item, model", where="stderr")


def middle_variance(table: Incidence) -> float:
    """Variance of the middle participant around the least-squares fit, rating^2; 0 where that fit is exact.

    The median over participants is not moved by a few who answer at random. It is widened by ratings / (ratings -
    scores - biases + 1), since a fit leaves less than the whole error.
    """
    s, b = two_way(table, table.copies)
    left = _squares(table, s[:, None], b[:, None])[:, 0]
    rounding = 1e-20 * float(table.square.sum() + (table.centre**2).sum())
    once = (table.rows > 0).astype(np.float64)
    if _freedom(table, once) <= 0 or left.sum() <= rounding:
        return 0.0
    ratings = float(table.copies @ table.rows)
    free = _freedom(table, table.copies)
    if free <= 0:  # weights below 1 are no counts
        ratings, free = float(table.rows.sum()), _freedom(table, once)
    several = table.rows > 1
    middle = _weighted_median(left[several] / table.rows[several], table.copies[several]) * ratings / free
    return middle if middle > rounding else float(table.copies @ left) / free


def _freedom(table: Incidence, copies: Floats) -> float:
    """Ratings that remain after one score an item and one bias a participant were fitted."""
    return float(copies @ (table.rows - 1)) - float(np.count_nonzero(table.shown)) + 1


def _weighted_median(values: Floats, weights: Floats) -> float:
    """The median of a list in which each value stands as often as its weight says."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    half = reached[-1] / 2
    low = np.searchsorted(reached, half * (1 - 1e-12))
    high = min(int(np.searchsorted(reached, half * (1 + 1e-12))), order.size - 1)
    return float(values[order[low]] + values[order[high]]) / 2


def _squares(table: Incidence, s: Floats, b: Floats) -> Floats:
    """(p, r) each participant's sum of squared residuals around s + b."""
    by_item = table.square[:, None] - 2 * (table.total @ s) + table.count @ s**2
    above = table.total.sum(axis=1).reshape(-1, 1) - table.count @ s
    return np.maximum(np.asarray(by_item - 2 * b * above) + table.rows[:, None] * b**2, 0.0)


def _fit(table: Incidence, copies: Floats, prior: float, variance: float, tolerance: float, limit: int) -> _Fit:
    """Alternate between inconsistencies, scores and biases, all columns at once, until the scores stand still.

    Each step is the exact maximum of the (penalised) likelihood in one of the three, so the likelihood never falls.
    """
    rows = np.maximum(table.rows, 1)[:, None]
    epsilon = _EPSILON if prior == 0 else 0.0
    first = table.total.sum(axis=1).reshape(-1, 1)
    s = _over(table.total.T @ copies, table.count.T @ copies)
    b = np.asarray(first - table.count @ s) / rows
    v2 = np.empty_like(b)
    moving = np.full(copies.shape[1], np.inf)
    for sweep in range(1, limit + 1):
        on = np.flatnonzero(moving >= tolerance)
        v2[:, on] = (_squares(table, s[:, on], b[:, on]) + prior * variance) / (rows + prior)
        weight = copies[:, on] / (v2[:, on] + epsilon)
        if sweep > _SWEEPS:
            better, b[:, on] = _exactly(table, copies[:, on], weight)
        else:
            better = _over(table.total.T @ weight - table.count.T @ (weight * b[:, on]), table.count.T @ weight)
            b[:, on] = np.asarray(first - table.count @ better) / rows
        moving[on] = np.linalg.norm(better - s[:, on], axis=0)
        s[:, on] = better
        if (moving < tolerance).all() or (prior == 0 and (v2[table.rows > 0] < _COLLAPSED * variance).any()):
            break
    shift = np.sum(copies * b, axis=0) / copies.sum(axis=0)
    return _Fit(s + shift, b - shift, v2, sweep, moving)


def _over(up: Floats, down: Floats) -> Floats:
    up, down = np.asarray(up), np.asarray(down)
    return np.where(down > 0, up / np.where(down > 0, down, 1), 0.0)


def _exactly(table: Incidence, copies: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Scores and biases at their common optimum, for chains of items on which alternating creeps."""
    s, b = np.empty((table.n, weight.shape[1])), np.empty_like(weight)
    for column in range(weight.shape[1]):
        s[:, column], b[:, column] = two_way(table._replace(copies=copies[:, column]), weight[:, column])
    return s, b


def _refuse_collapse(v2: Floats, table: Incidence, variance: float) -> None:
    fallen = np.flatnonzero((table.rows > 0) & (v2 < _COLLAPSED * variance))
    if fallen.size:
        raise TooFew(
            f"too few ratings for prior = 0: the inconsistency of participant {fallen[0]} falls to 0 and the "
            f"likelihood has no maximum; {_CURE}"
        )


def _estimate(data: Opinions, table: Incidence, fit: _Fit, prior: float, variance: float, stderr: Stderr) -> Estimate:
    here = table.rows > 0
    v2 = np.where(here, fit.variance[:, 0], np.nan)
    bias = np.where(here, fit.b[:, 0], np.nan)
    score = np.where(table.shown > 0, fit.s[:, 0] + table.centre, np.nan)
    spread, ratings = np.sqrt(v2), table.rows + prior
    model = 1 / np.sqrt(np.where(table.shown > 0, _precision(data, v2), np.nan))
    residual = data.value - score[data.item] - bias[data.participant]
    notes = {
        "participant_bias": bias,
        "participant_bias_stderr": spread / np.sqrt(np.maximum(table.rows, 1)),
        "participant_inconsistency": spread,
        "participant_inconsistency_low": spread * np.sqrt(ratings / chdtri(np.maximum(ratings, 1), 0.025)),
        "participant_inconsistency_high": spread * np.sqrt(ratings / chdtri(np.maximum(ratings, 1), 0.975)),
        "iterations": fit.sweeps,
        "prior": prior,
        "prior_variance": variance,
        "log_likelihood": _normal(data, residual, v2),
        "exact_fit": False,
        **_counts(data, table),
    }
    if stderr == "model":
        return Estimate(score, model, notes)
    error = _item_stderr(data, table, residual)
    return Estimate(score, error, {**notes, "df": np.where(np.isnan(error), 0.0, np.maximum(table.shown - 1, 0))})


def _precision(data: Opinions, v2: Floats) -> Floats:
    return np.bincount(data.item, data.weight / v2[data.participant], data.n).astype(np.float64)


def _item_stderr(data: Opinions, table: Incidence, residual: Floats) -> Floats:
    """v_j / sqrt(ratings), v_j being the residual deviation at the item (denominator n, as in Annex E)."""
    shown = np.where(table.shown > 0, table.shown, 1)
    mean = np.bincount(data.item, data.weight * residual, data.n) / shown
    square = np.bincount(data.item, data.weight * (residual - mean[data.item]) ** 2, data.n) / shown
    known = (table.shown > 1) & (freedom(data).df > 0)
    return np.where(known, np.sqrt(square / shown), np.nan)


def _counts(data: Opinions, table: Incidence) -> dict[str, list[int]]:
    return {
        "items_not_rated": np.flatnonzero(table.shown == 0).tolist(),
        "items_with_one_rating": np.flatnonzero(np.bincount(data.item, minlength=data.n) == 1).tolist(),
        "participants_with_one_rating": np.flatnonzero(table.rows == 1).tolist(),
    }


def _normal(data: Opinions, residual: Floats, v2: Floats) -> float:
    own = v2[data.participant]
    return float(np.sum(data.weight * -0.5 * (np.log(2 * np.pi * own) + residual**2 / own)))


def _exact(data: Opinions, table: Incidence, prior: float) -> Estimate:
    """Every rating is score + bias: scores are known, errors are not."""
    s, b = two_way(table, table.copies)
    score = np.where(table.shown > 0, s + table.centre, np.nan)
    bias = np.where(table.rows > 0, b, np.nan)
    unknown = np.full(data.p, np.nan)
    notes = {
        "participant_bias": bias,
        "participant_bias_stderr": unknown,
        "participant_inconsistency": unknown,
        "participant_inconsistency_low": unknown,
        "participant_inconsistency_high": unknown,
        "iterations": 0,
        "prior": prior,
        "prior_variance": 0.0,
        "log_likelihood": math.nan,
        "exact_fit": True,
        **_counts(data, table),
    }
    return Estimate(score, np.full(data.n, np.nan), notes)


def _replicate(
    opinions: Opinions,
    weights: Floats,
    *,
    prior: float = PRIOR,
    stderr: Stderr = "item",
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
) -> Floats:
    """Scores under r reweightings of participants; the prior's variance stays that of the full data."""
    _check(prior, stderr, tolerance, max_iterations)
    data = usable(opinions)
    table = incidence(data)
    variance = middle_variance(table)
    copies = table.copies[:, None] * np.asarray(weights, dtype=np.float64).T
    one_group = joined(table)
    good = np.array([one_group(column) for column in copies.T], dtype=bool)
    scores = np.full((copies.shape[1], data.n), np.nan)
    if not good.any():
        return scores
    if variance == 0.0:
        s, _ = _exactly(table, copies[:, good], copies[:, good])
    else:
        fit = _fit(table, copies[:, good], prior, variance, tolerance, max_iterations)
        fallen = (prior == 0) & (fit.variance[table.rows > 0] < _COLLAPSED * variance).any(axis=0)
        s = np.where(fallen | (fit.moving >= tolerance), np.nan, fit.s)
    shown = np.asarray(table.count.T @ copies[:, good]) > 0
    scores[good] = np.where(shown, s + table.centre[:, None], np.nan).T
    return scores


def _likelihood(
    opinions: Opinions,
    score: Floats,
    *,
    prior: float = PRIOR,
    stderr: Stderr = "item",  # noqa: ARG001
    tolerance: float = 1e-8,  # noqa: ARG001
    max_iterations: int = 1000,  # noqa: ARG001
) -> float:
    """Log-likelihood, with the prior's term, of the scores; biases and inconsistencies at their best given them."""
    data = usable(opinions)
    table = incidence(data)
    variance = middle_variance(table)
    s = np.where(table.shown > 0, score - table.centre, 0.0)[:, None]
    rows = np.maximum(table.rows, 1)[:, None]
    b = np.asarray(table.total.sum(axis=1).reshape(-1, 1) - table.count @ s) / rows
    left = _squares(table, s, b)[:, 0] + prior * variance
    ratings = table.rows + prior
    v2 = np.where(table.rows > 0, left / np.maximum(ratings, 1), 1.0)
    return float(-0.5 * np.sum(table.copies * (ratings * np.log(2 * np.pi * v2) + left / v2)))


P910 = Estimator(
    name="p910",
    model=p910,
    reads="ratings",
    summary="maximum likelihood with each participant's bias and inconsistency, steadied by a prior",
    unit="rating scale",
    source="ITU-T P.910 (2023), Annex E; ITU-R BT.500-15, Annex 1; the prior is ours",
    replicate=_replicate,
    shrinks=True,
    likelihood=_likelihood,
    connected="weakly",
    options={
        "prior": "imagined ratings that pull each inconsistency to the middle one, 1e-6 to 1e6; default 5; 0: none",
        "stderr": "item (residual deviation at the item; default) or model (from the inconsistencies)",
        "tolerance": "the fit ends when the scores move by less, in the rating's unit; default 1e-8",
        "max_iterations": "sweeps allowed; default 1000",
    },
)
