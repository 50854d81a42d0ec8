"""Bradley-Terry with personal tastes: how much of a disagreement is noise, and how much is that people differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from paragone.errors import NotConverged, TooFew
from paragone.estimate.arrays import Comparisons, Estimate, Estimator, Floats
from paragone.estimate.edges import check_connected, is_connected
from paragone.estimate.limits import LOOSEST, require_iterating
from paragone.estimate.taste_mixture import Mixture

__all__ = ["TASTES", "tastes", "tastes_covariance", "tastes_likelihood", "tastes_replicate"]

_NEAR = 1e-4  # logits; a last step this short leaves an error of about its square
_STDERR_UP_TO = 3000  # items


def tastes(
    comparisons: Comparisons, *, ridge: float = 0.0, tolerance: float = 1e-7, max_iterations: int = 100
) -> Estimate:
    """Score items by what people share, their personal tastes being normal around it.

    P(person p prefers i to j) = sigma((s_i + u_pi - s_j - u_pj) / temperature), u_pi ~ N(0, tau^2). A person's answers
    about one pair share u_pi - u_pj ~ N(0, 2 tau^2), which is integrated out exactly (by quadrature); answers of one
    person about different pairs are treated as independent, which leaves the estimates consistent (a composite
    likelihood) and enters the standard errors through the spread over participants. How often people repeat themselves
    on the same pair tells tastes from noise: without repeats there is no tau.

    Args:
        comparisons: answers; a tie counts half to each side. The mean weight of a participant's answers is how often
            the participant counts; weights within a participant say how answers count against each other. Self-pairs
            are left out.
        ridge: s_i ~ N(mean, 1 / ridge), per logit^2, 1e-6 to 1e6; 0 is no prior.
        tolerance: the climb ends when a full Newton step moves nothing further than this, logits; above 0, up to 0.1.
        max_iterations: Newton steps allowed, >= 1.

    Returns:
        The shared scores s in logits, (n,), mean 0 over the compared items; NaN for the others. Unlike plain
        Bradley-Terry's they are not shrunk by the tastes. stderr: sandwich over participants if there are 20 or more,
        else from the curvature (None above 3,000 items). Notes: taste_sd (tau) and taste_sd_stderr (NaN at tau = 0),
        taste_how, repeats (pairs that somebody answered more than once), repeats_agree (observed share),
        agreement_within and agreement_between (implied chance that one person twice, or two people, answer a compared
        pair alike, the noise of the scores taken off), kappa_within and kappa_between (2 x agreement - 1), iterations,
        gradient, and those of the graph.

    Raises:
        TooFew: nobody answered a pair twice, or nobody ever changed an answer (tau would be infinite).
        NotConnected: the items fall into groups, or (ridge = 0) some score would be infinite.
        BadConfig: the ridge, the tolerance or `max_iterations` is out of its range.
        NotConverged: `max_iterations` was too few.

    Source:
        Bradley and Terry, Biometrika 39, 1952, with normal participant effects as in Böckenholt, "Hierarchical Modeling
        of Paired Comparison Data", Psychological Methods 6(1), 2001; composite likelihood and its sandwich: Varin, Reid
        and Firth, "An Overview of Composite Likelihood Methods", Statistica Sinica 21, 2011, sections 2 and 3.
    """
    require_iterating(tolerance, max_iterations, loosest=LOOSEST)
    shape = Mixture(comparisons, ridge)
    graph = check_connected(shape.edges, strongly=ridge == 0.0)
    repeats = shape.repeats()
    top = shape.top(shape.start(), tolerance, max_iterations)
    s, omega = top.x[:-1] - top.x[:-1].mean(), abs(float(top.x[-1]))
    covariance = shape.covariance(top.x) if shape.n <= _STDERR_UP_TO else None
    within, between = shape.agreement(top.x, covariance)
    notes: dict[str, Any] = {
        "taste_sd": omega / np.sqrt(2.0),
        "taste_sd_stderr": float("nan"),
        "taste_how": "maximum composite likelihood over (participant, pair); repeats of a pair tell tastes from noise",
        "repeats": repeats.pairs,
        "repeats_agree": repeats.agree,
        "agreement_within": within,
        "agreement_between": between,
        "kappa_within": 2.0 * within - 1.0,
        "kappa_between": 2.0 * between - 1.0,
        "iterations": top.iterations,
        "gradient": top.steepest,
        **graph,
    }
    stderr = None
    if covariance is not None:
        stderr = _spread(np.sqrt(np.diag(covariance)[:-1]), shape)
        if omega > 1e-3:
            notes["taste_sd_stderr"] = float(np.sqrt(covariance[-1, -1] / 2.0))
    return Estimate(_spread(s, shape), stderr, notes)


def tastes_replicate(
    comparisons: Comparisons,
    weights: Floats,
    *,
    ridge: float = 0.0,
    tolerance: float = 1e-7,
    max_iterations: int = 100,
) -> Floats:
    """(r, n) shared scores under r reweightings of the participants (r, participants), from a warm start.

    A replicate is climbed to 1e-4 logits at most, far inside its own spread. NaN rows where a replicate determines no
    scores or no tau; NaN for the items that a replicate does not show.
    """
    shape = Mixture(comparisons, ridge)
    full = shape.top(shape.start(), tolerance, max_iterations).x
    made = np.full((weights.shape[0], comparisons.n), np.nan)
    for row, counts in enumerate(weights):
        part = comparisons._replace(weight=comparisons.weight * counts[comparisons.participant])
        try:
            again = Mixture(part, ridge)
            if not is_connected(again.edges, strongly=ridge == 0.0):
                continue
            again.repeats()
            start = full[np.append(np.searchsorted(shape.items, again.items), shape.n)]
            near = max(tolerance, _NEAR)
            x = again.top(start, near, max_iterations).x
        except (NotConverged, TooFew):
            continue
        made[row, again.items] = x[:-1] - x[:-1].mean()
    return made


def tastes_likelihood(
    comparisons: Comparisons,
    score: Floats,
    *,
    ridge: float = 0.0,
    tolerance: float = 1e-7,
    max_iterations: int = 100,
) -> float:
    """The composite log-likelihood (plus log-prior where ridge > 0) at the given scores and the best tau."""
    shape = Mixture(comparisons, ridge)
    return shape.at(shape.profile(np.asarray(score, dtype=np.float64)[shape.items], tolerance, max_iterations)).value


def tastes_covariance(
    comparisons: Comparisons,
    score: Floats,
    *,
    ridge: float = 0.0,
    tolerance: float = 1e-7,
    max_iterations: int = 100,
) -> Floats:
    """(n, n) covariance of the centred scores, tau being estimated too (see `tastes`); NaN for items never compared."""
    shape = Mixture(comparisons, ridge)
    x = shape.profile(np.asarray(score, dtype=np.float64)[shape.items], tolerance, max_iterations)
    full = np.full((comparisons.n, comparisons.n), np.nan)
    full[np.ix_(shape.items, shape.items)] = shape.covariance(x)[:-1, :-1]
    return full


def _spread(values: Floats, shape: Mixture) -> Floats:
    full = np.full(shape.edges.n, np.nan)
    full[shape.items] = values
    return full


TASTES = Estimator(
    name="bradley-terry-tastes",
    model=tastes,
    reads="votes",
    summary="Bradley-Terry with personal tastes: shared scores, and how far people differ from them",
    unit="logit",
    source="Böckenholt, Hierarchical Modeling of Paired Comparison Data, Psychological Methods 6(1), 2001; fitted by "
    "composite likelihood, Varin, Reid and Firth, Statistica Sinica 21, 2011",
    covariance=tastes_covariance,
    replicate=tastes_replicate,
    connected="strongly",
    likelihood=tastes_likelihood,
    options={
        "ridge": "precision of a normal prior on the scores, per logit^2, 1e-6 to 1e6; default 0: none",
        "tolerance": "largest move in the last Newton step, logits, above 0, up to 0.1; default 1e-7",
        "max_iterations": "Newton steps allowed, >= 1; default 100",
    },
)
