"""SUREAL's full model: participants' bias and inconsistency, and the ambiguity of each content."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from scipy import linalg

from paragone.errors import BadConfig, NotConverged, TooFew
from paragone.estimate.arrays import Estimate, Estimator, Floats, Opinions
from paragone.estimate.incidence import Incidence, incidence, require_connected, usable
from paragone.estimate.limits import require_iterating, require_within
from paragone.estimate.subject_model import PRIOR, PRIORS, middle_variance
from paragone.estimate.two_way import two_way

__all__ = ["SUREAL", "sureal"]

Split = Literal["contents", "participants"]

_COLLAPSED = 1e-6  # of the middle participant's variance, as in p910
_DAMPING = 1e-6  # relative; keeps the step finite along the direction that changes no likelihood
_INNER = 2  # Fisher steps on the variances for given scores; more cost time and save no round


class _Cells(NamedTuple):
    """Ratings summed by participant and content."""

    weight: Floats
    """(p, c) ratings, weights included."""
    prior: Floats
    """(p,) imagined ratings of each participant."""
    middle: float
    """Variance of an imagined rating."""


class _Fit(NamedTuple):
    """Where the climb ended."""

    s: Floats
    """(n,) scores above the items' centres."""
    b: Floats
    """(p,) biases."""
    v2: Floats
    """(p,) squared inconsistencies."""
    a2: Floats
    """(c,) squared ambiguities."""
    trace: tuple[float, ...]
    """Log-likelihood, with the prior's term, after each round; it never falls."""
    moving: float
    """Length of the last change of the scores."""


def sureal(
    opinions: Opinions,
    *,
    prior: float = PRIOR,
    split: Split = "contents",
    tolerance: float = 1e-8,
    max_iterations: int = 500,
) -> Estimate:
    """Score items by the maximum likelihood of x_ij ~ N(s_j + b_i, v_i^2 + a_c^2), c the content of item j.

    Only the sums v_i^2 + a_c^2 are determined: a common amount can be moved from all participants to all contents
    without changing the likelihood, so inconsistencies and ambiguities are comparable among themselves, not with each
    other. `split` says where that amount goes. Scores, biases and standard errors do not depend on it.

    Args:
        opinions: k ratings; `content` gives the content of each item. With one content the model is that of 'p910'.
        prior: imagined ratings for each participant at the middle participant's variance, 1e-6 to 1e6 or 0, as in 'p910';
            0 is SUREAL's own model. Above 0 the prior settles the split: the common amount is the people's.
        split: where the common amount goes at prior = 0: 'contents' gives them all they can take (the most consistent
            participant gets v = 0, where SUREAL's solver ends too), 'participants' leaves the least ambiguous content
            a = 0.
        tolerance: the fit ends when the scores move by less (Euclidean length, rating scale), > 0.
        max_iterations: rounds allowed, >= 1.

    Returns:
        Scores (n,) on the rating scale at mean bias 0, NaN for an item never rated; standard errors
        1 / sqrt(sum over the item's ratings of 1 / (v_i^2 + a_c^2)). Notes: `participant_bias`,
        `participant_inconsistency` (p,), NaN without ratings; `content_ambiguity` (c,), NaN for a content never rated;
        `movable_variance`, how much of everybody's v^2 could be a^2 instead, 0 where the prior or a single content
        settles it; `separately_identified`, false where it does not; `log_likelihood`, `iterations`,
        `items_not_rated`.

    Raises:
        BadConfig: an option is out of its range.
        NotConnected: participants and items fall into groups that share no rating.
        TooFew: the likelihood grows without bound, as it does where ratings are few and prior = 0.
        NotConverged: the limit was reached.

    Source:
        Li and Bampis, "Recover Subjective Quality Scores from Noisy Measurements", DCC 2017; solved here by exact least
        squares for s and b and Fisher scoring for v^2 and a^2 in turn.
    """
    _check(prior, split, tolerance, max_iterations)
    data = usable(opinions)
    require_connected(data)
    table = incidence(data)
    middle = middle_variance(table)
    if middle == 0.0:
        raise TooFew(
            "every rating is exactly score + bias; there is no variance to divide, use 'p910' or 'bias-removed'"
        )
    fit = _climb_in_unit(data, table, prior, middle, tolerance, max_iterations)
    if fit.moving >= tolerance:
        raise NotConverged(
            f"sureal: scores still move by {fit.moving:.1e} after {len(fit.trace)} rounds; "
            "raise max_iterations or the tolerance"
        )
    return _estimate(data, table, fit, prior, split)


def _check(prior: float, split: str, tolerance: float, max_iterations: int) -> None:
    require_within("prior", prior, *PRIORS, zero=True, where="sureal")
    require_iterating(tolerance, max_iterations)
    if split not in ("contents", "participants"):
        raise BadConfig(f"split = '{split}' is not one of contents, participants", where="split")


def _climb_in_unit(data: Opinions, table: Incidence, prior: float, middle: float, tolerance: float, limit: int) -> _Fit:
    """`_climb` on ratings in units of their own spread, since the information needs fourth powers of them.

    The unit is a power of two, so that no digit changes on the way there and back.
    """
    unit = 2.0 ** round(math.log2(middle) / 2)
    small = table._replace(total=table.total / unit, square=table.square / unit**2, centre=table.centre / unit)
    fit = _climb(data._replace(value=data.value / unit), small, prior, middle / unit**2, tolerance / unit, limit)
    ratings = float(data.weight.sum() + prior * table.copies.sum())
    return _Fit(
        fit.s * unit,
        fit.b * unit,
        fit.v2 * unit**2,
        fit.a2 * unit**2,
        tuple(value - ratings * math.log(unit) for value in fit.trace),
        fit.moving * unit,
    )


def _climb(data: Opinions, table: Incidence, prior: float, middle: float, tolerance: float, limit: int) -> _Fit:
    """Maximise over scores and biases, then over variances, in turn; neither lowers the likelihood."""
    contents = int(data.content.max(initial=0)) + 1
    content = data.content[data.item]
    cell = data.participant * contents + content
    shape = (data.p, contents)
    weight = np.bincount(cell, data.weight, data.p * contents).reshape(shape).astype(np.float64)
    cells = _Cells(weight, prior * table.copies, middle)
    s, b = two_way(table, table.copies)
    v2, a2 = np.full(data.p, middle / 2), np.full(contents, 0.0 if contents == 1 else middle / 2)
    moving, trace = math.inf, []
    for _ in range(limit):
        above = data.value - (table.centre + s)[data.item] - b[data.participant]
        square = np.bincount(cell, data.weight * above**2, data.p * contents).reshape(shape).astype(np.float64)
        v2, a2, value = _variances(cells, square, v2, a2, fixed=contents == 1)
        trace.append(value)
        _refuse_collapse(cells, v2, a2)
        if moving < tolerance:
            break
        precision = table.copies[:, None] / _total(cells, v2, a2)
        better, b = two_way(table, precision[:, data.content])
        moving = float(np.linalg.norm(better - s))
        s = better
    return _Fit(s, b, v2, a2, tuple(trace), moving)


def _total(cells: _Cells, v2: Floats, a2: Floats) -> Floats:
    """(p, c) variance of a rating; 1 where there is none."""
    return np.where(cells.weight > 0, v2[:, None] + a2[None, :], 1.0)


def _value(cells: _Cells, square: Floats, v2: Floats, a2: Floats) -> float:
    """Log-likelihood of the variances for given residuals; -inf where one is not positive."""
    total = v2[:, None] + a2[None, :]
    used = cells.weight > 0
    own = cells.prior > 0
    if (total[used] <= 0).any() or (v2[own] <= 0).any():
        return -math.inf
    value = np.sum(cells.weight[used] * np.log(2 * np.pi * total[used]) + square[used] / total[used])
    value += np.sum(cells.prior[own] * (np.log(2 * np.pi * v2[own]) + cells.middle / v2[own]))
    return float(-value / 2)


def _variances(cells: _Cells, square: Floats, v2: Floats, a2: Floats, *, fixed: bool) -> tuple[Floats, Floats, float]:
    """Fisher scoring on v^2 and a^2 >= 0 for given residuals; steps are halved until the likelihood does not fall."""
    p = v2.size
    theta = np.concatenate([v2, a2])
    value = _value(cells, square, v2, a2)
    for _ in range(_INNER):
        gradient, information = _slope(cells, square, theta[:p], theta[p:])
        free = np.diag(information) > 0
        free &= ~((theta <= 0) & (gradient <= 0))
        free[p:] &= not fixed
        unit = np.sqrt(np.diag(information)[free])  # variances differ by orders of magnitude
        inner = information[np.ix_(free, free)] / np.outer(unit, unit)
        inner[np.diag_indices_from(inner)] = 1 + _DAMPING
        step = np.zeros_like(theta)
        step[free] = linalg.solve(inner, gradient[free] / unit, assume_a="pos") / unit
        for halving in range(40):
            tried = np.maximum(theta + step / 2**halving, 0.0)
            reached = _value(cells, square, tried[:p], tried[p:])
            if reached >= value:
                break
        else:
            break
        gained, theta, value = reached - value, tried, reached
        if gained <= 1e-14 * abs(value) or _least(cells, theta[:p], theta[p:]) < _COLLAPSED * cells.middle:
            break
    return theta[:p], theta[p:], value


def _slope(cells: _Cells, square: Floats, v2: Floats, a2: Floats) -> tuple[Floats, Floats]:
    """Gradient (p + c,) and expected information (p + c, p + c) of the log-likelihood in v^2 and a^2."""
    total = _total(cells, v2, a2)
    own = np.where(cells.prior > 0, v2, 1.0)
    pull = (square / total - cells.weight) / total / 2
    sure = cells.weight / total**2 / 2
    gradient = np.concatenate([pull.sum(axis=1) + cells.prior * (cells.middle / own - 1) / own / 2, pull.sum(axis=0)])
    diagonal = np.concatenate([sure.sum(axis=1) + cells.prior / own**2 / 2, sure.sum(axis=0)])
    information = np.diag(diagonal)
    p = v2.size
    information[:p, p:] = sure
    information[p:, :p] = sure.T
    return gradient, information


def _least(cells: _Cells, v2: Floats, a2: Floats) -> float:
    return float(np.where(cells.weight > 0, v2[:, None] + a2[None, :], np.inf).min())


def _refuse_collapse(cells: _Cells, v2: Floats, a2: Floats) -> None:
    if _least(cells, v2, a2) < _COLLAPSED * cells.middle:
        total = np.where(cells.weight > 0, v2[:, None] + a2[None, :], np.inf)
        person, content = np.unravel_index(int(total.argmin()), total.shape)
        raise TooFew(
            f"too few ratings: the variance of participant {person} on content {content} falls to 0 and the likelihood "
            "has no maximum; set prior above 0 (5 is the default)"
        )


def _estimate(data: Opinions, table: Incidence, fit: _Fit, prior: float, split: Split) -> Estimate:
    people, contents = table.rows > 0, np.bincount(data.content[data.item], minlength=fit.a2.size) > 0
    least_v, least_a = float(fit.v2[people].min()), float(fit.a2[contents].min())
    loose = prior == 0 and contents.size > 1  # whoever rated meets everybody else, so one amount moves for all
    shift = (least_v if split == "contents" else -least_a) if loose else 0.0
    v2, a2 = np.maximum(fit.v2 - shift, 0.0), np.maximum(fit.a2 + shift, 0.0)
    known = table.shown > 0
    bias = np.where(table.rows > 0, fit.b, np.nan)
    mean = float(np.average(fit.b, weights=table.copies))
    total = v2[data.participant] + a2[data.content[data.item]]
    sure = np.bincount(data.item, data.weight / total, data.n)
    notes = {
        "participant_bias": bias - mean,
        "participant_inconsistency": np.where(people, np.sqrt(v2), np.nan),
        "content_ambiguity": np.where(contents, np.sqrt(a2), np.nan),
        "movable_variance": least_v + least_a if loose else 0.0,
        "separately_identified": not loose,
        "split": split,
        "prior": prior,
        "iterations": len(fit.trace),
        "log_likelihood": fit.trace[-1],
        "items_not_rated": np.flatnonzero(~known).tolist(),
    }
    score = np.where(known, fit.s + table.centre + mean, np.nan)
    return Estimate(score, np.where(known, 1 / np.sqrt(np.where(known, sure, 1.0)), np.nan), notes)


SUREAL = Estimator(
    name="sureal",
    model=sureal,
    reads="ratings",
    summary="maximum likelihood with participants' bias and inconsistency and contents' ambiguity",
    unit="rating scale",
    source="Li and Bampis, Recover Subjective Quality Scores from Noisy Measurements, DCC 2017",
    shrinks=True,
    connected="weakly",
    options={
        "prior": "imagined ratings that pull each inconsistency to the middle one, 1e-6 to 1e6; default 5; 0: as SUREAL",
        "split": "prior 0: whose the common variance is: contents (default, as SUREAL's solver) or participants",
        "tolerance": "the fit ends when the scores move by less, in the rating's unit; default 1e-8",
        "max_iterations": "rounds allowed; default 500",
    },
)
