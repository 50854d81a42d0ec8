"""Participants whose pairwise answers the scale of everybody else does not explain."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, log_ndtr

from paragone.errors import NotConnected, NotConverged, TooFew
from paragone.estimate.arrays import Comparisons, Floats, Ints
from paragone.estimate.counts import count
from paragone.estimate.edges import aggregate
from paragone.estimate.thurstone import SIGMA, thurstone
from paragone.stats import graph

__all__ = ["leave_one_out_likelihood", "outlier_distance"]

_FEWEST = 4  # participants; quartiles of fewer say nothing


def outlier_distance(comparisons: Comparisons) -> Floats:
    """How far below the others each participant's leave-one-out likelihood lies, in units of the interquartile range.

    0 for a participant at or above the first quartile; above 1.5 is pwcmp's mark for a closer look, not for exclusion.

    Args:
        comparisons: answers; items that were never compared with each other (scenes) are scored apart.

    Returns:
        (participants,) >= 0; NaN where nothing of a participant can be judged; inf below a quartile range of 0.

    Raises:
        TooFew: fewer than 4 participants can be judged.

    Source:
        Perez-Ortiz and Mantiuk, "A practical guide and software for analysing pairwise comparison experiments",
        arXiv:1712.03686, 2017, section 9; per trial, quartiles by Hazen's rule as in MATLAB.
    """
    likelihood = leave_one_out_likelihood(comparisons)
    judged = np.flatnonzero(np.isfinite(likelihood))
    if judged.size < _FEWEST:
        raise TooFew(
            f"outliers need at least {_FEWEST} participants whose answers can be judged; there are {judged.size}"
        )
    low, high = np.quantile(likelihood[judged], [0.25, 0.75], method="hazen")
    below = np.maximum(low - likelihood, 0.0)
    distance: Floats = np.full(likelihood.size, np.nan)
    if high > low:
        distance[judged] = below[judged] / (high - low)
    else:
        distance[judged] = np.where(below[judged] > 0, np.inf, 0.0)
    return distance


def leave_one_out_likelihood(comparisons: Comparisons) -> Floats:
    """Mean log10 likelihood of each participant's answers, per answer, under the JOD scale of all other participants.

    A pair that a participant met several times has the binomial probability of its count. Answers about items that the
    others' answers do not place are left out.

    Args:
        comparisons: answers; a tie counts half to each side, self-pairs enter the scale's prior only.

    Returns:
        (participants,) <= 0; NaN where nothing of a participant can be judged, and for indices without answers.
    """
    c = comparisons
    people = int(c.participant.max(initial=-1)) + 1
    edges = aggregate(c)
    scene = graph.components(c.n, edges.i, edges.j)
    total, trials = np.zeros(people), np.zeros(people)
    counts = c.weight > 0
    for group in np.unique(scene[edges.seen]):
        rows = np.flatnonzero(counts & (scene[c.left] == group))
        for person in np.unique(c.participant[rows]):
            own = rows[c.participant[rows] == person]
            others = rows[c.participant[rows] != person]
            if not np.any(c.left[own] != c.right[own]) or not np.any(c.left[others] != c.right[others]):
                continue
            value, judged = _under_others(_chosen(c, own), _chosen(c, others))
            total[person] += value
            trials[person] += judged
    mean: Floats = np.divide(total, trials * np.log(10.0), out=np.full(people, np.nan), where=trials > 0)
    return mean


def _under_others(own: Comparisons, others: Comparisons) -> tuple[float, float]:
    """Log-likelihood of one participant's answers under the scores of the others, and how many answers it judges."""
    try:
        score = thurstone(others).score
    except (NotConnected, NotConverged):
        return 0.0, 0.0  # without this participant there is no scale to judge them by
    mine = count(own)
    won, lost = mine.edges.wins_i, mine.edges.wins_j
    x = (score[mine.edges.i] - score[mine.edges.j]) / (SIGMA * mine.temperature)
    ways = gammaln(won + lost + 1.0) - gammaln(won + 1.0) - gammaln(lost + 1.0)
    known = np.isfinite(x)
    value = ways + won * log_ndtr(x) + lost * log_ndtr(-x)
    return float(value[known].sum()), float((won + lost)[known].sum())


def _chosen(c: Comparisons, rows: Ints) -> Comparisons:
    return c._replace(
        left=c.left[rows],
        right=c.right[rows],
        outcome=c.outcome[rows],
        participant=c.participant[rows],
        stage=c.stage[rows],
        weight=c.weight[rows],
        temperature=c.temperature[rows],
    )
