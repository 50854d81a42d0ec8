"""Thurstone's Case V in just-objectionable differences (JOD), with the prior that keeps unanimous pairs finite."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import log_ndtr

from paragone.errors import NotConnected, NotConverged
from paragone.estimate.arrays import Comparisons, Estimate, Estimator, Floats
from paragone.estimate.counts import Counts, Recount, centred_inverse, count, laplacian, spread, spread_square
from paragone.estimate.edges import check_connected, is_connected
from paragone.estimate.jod_prior import DistancePrior, mills
from paragone.estimate.limits import LOOSEST, require_iterating
from paragone.estimate.newton import Point, Summit, climb

__all__ = ["SIGMA", "THURSTONE", "thurstone", "thurstone_covariance", "thurstone_likelihood", "thurstone_replicate"]

SIGMA = (
    1.4826  # JOD; 1 JOD apart is 75 % to 25 %: 1 / Phi^-1(0.75) to the four digits that the JOD scale is defined with
)
_HELD = 1e-4  # curvature of a pair's answers, per answer; at distance 0 it is 0.64, at 7 JOD 1e-4
_STDERR_UP_TO = 3000  # items


def thurstone(
    comparisons: Comparisons, *, prior: bool = True, tolerance: float = 1e-9, max_iterations: int = 200
) -> Estimate:
    """Score items in JOD: P(i beats j) = Phi((q_i - q_j) / (1.4826 temperature)); 1 JOD apart is 75 % of the answers.

    With the prior, every compared pair's distance is expected to resemble the distances that all compared pairs' counts
    suggest, which pulls in pairs whose answers happen to be unanimous. The prior adds sum over pairs of
    log(prior_ij + 0.1), where prior_ij = sum over counts c of p_ij^k_c (1 - p_ij)^(n_c - k_c) / (the same summed over
    all pairs), both orders of every pair taken and k_c moved by one where the n_c answers are unanimous. The surface
    may then have several hilltops; the one above "all items equal" is given, as pwcmp does.

    Args:
        comparisons: answers; a tie counts half to each side, `weight` is how often an answer counts. Answers about an
            item shown against itself enter the prior (as a pair at distance 0) and nothing else.
        prior: use the prior. Without it, plain maximum likelihood.
        tolerance: the climb ends when a full Newton step moves no score further than this, JOD; above 0, up to 0.1.
        max_iterations: Newton steps allowed, >= 1.

    Returns:
        JOD, (n,), mean 0 over the compared items; NaN for items that were never compared. stderr from the curvature at
        the answer (None above 3,000 items). Notes: prior, iterations, gradient (largest absolute), and those of the
        graph: components, strong_components, self_pairs, unseen.

    Raises:
        NotConnected: the items fall into groups that never met; or, without the prior, some score would be infinite;
            or the prior is too weak to hold a score.
        BadConfig: the prior would need a table beyond memory (very many different fractional counts).
        BadConfig: the tolerance or `max_iterations` is out of its range.
        NotConverged: `max_iterations` was too few.
        TooFew: no pair of different items.

    Source:
        Thurstone, "A Law of Comparative Judgment", Psychological Review 34, 1927 (Case V); Perez-Ortiz and Mantiuk, "A
        practical guide and software for analysing pairwise comparison experiments", arXiv:1712.03686, 2017, sections
        4 to 6, with the prior of its software pwcmp.
    """
    require_iterating(tolerance, max_iterations, loosest=LOOSEST)
    counts = count(comparisons)
    graph = check_connected(counts.edges, strongly=not prior)
    top = _climb(_Surface(counts, prior=prior), np.zeros(counts.n), tolerance, max_iterations)
    score = top.x - top.x.mean()
    notes: dict[str, Any] = {"prior": prior, "iterations": top.iterations, "gradient": top.steepest, **graph}
    stderr = None
    if counts.n <= _STDERR_UP_TO:
        stderr = spread(np.sqrt(np.diag(centred_inverse(top.point.matrix(), counts.n))), counts)
    return Estimate(spread(score, counts), stderr, notes)


def thurstone_replicate(
    comparisons: Comparisons,
    weights: Floats,
    *,
    prior: bool = True,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
) -> Floats:
    """(r, n) scores under r reweightings of the participants (r, participants).

    NaN rows where a replicate determines no scores; NaN for the items that a replicate does not show. Without the prior
    the hill has one top and the climb starts from the full answer; with it, from all items equal, as in `thurstone`.
    """
    require_iterating(tolerance, max_iterations, loosest=LOOSEST)
    start = np.zeros(comparisons.n)
    if not prior:
        start = thurstone(comparisons, prior=False, tolerance=tolerance, max_iterations=max_iterations).score
    recount = Recount(comparisons)
    made = np.full((weights.shape[0], comparisons.n), np.nan)
    for row, counts in enumerate(map(recount.under, weights)):
        if counts is None or not is_connected(counts.edges, strongly=not prior):
            continue
        try:
            top = _climb(_Surface(counts, prior=prior), start[counts.items], tolerance, max_iterations)
        except (NotConnected, NotConverged):
            continue
        made[row, counts.items] = top.x - top.x.mean()
    return made


def thurstone_likelihood(
    comparisons: Comparisons,
    score: Floats,
    *,
    prior: bool = True,
    tolerance: float = 1e-9,  # noqa: ARG001  the model's options, so that one call serves both
    max_iterations: int = 200,  # noqa: ARG001
) -> float:
    """What `thurstone` maximises at the given scores: the log-likelihood, plus the log-prior where it is used."""
    counts = count(comparisons)
    return _Surface(counts, prior=prior).at(np.asarray(score, dtype=np.float64)[counts.items]).value


def thurstone_covariance(
    comparisons: Comparisons,
    score: Floats,
    *,
    prior: bool = True,
    tolerance: float = 1e-9,  # noqa: ARG001  the model's options, so that one call serves both
    max_iterations: int = 200,  # noqa: ARG001
) -> Floats:
    """(n, n) inverse curvature of the centred scores at the answer, JOD^2; NaN for items never compared."""
    counts = count(comparisons)
    point = _Surface(counts, prior=prior).at(np.asarray(score, dtype=np.float64)[counts.items])
    return spread_square(centred_inverse(point.matrix(), counts.n), counts)


def _climb(surface: _Surface, start: Floats, tolerance: float, max_iterations: int) -> Summit:
    return climb(
        surface.at,
        start,
        tolerance=tolerance,
        max_iterations=max_iterations,
        longest=SIGMA,
        watch=surface.require_held if surface.prior else None,
    )


class _Surface:
    """Log-likelihood plus log-prior of the scores, with derivatives."""

    def __init__(self, counts: Counts, *, prior: bool) -> None:
        self.counts = counts
        self.incidence = counts.incidence() / SIGMA
        self.squared = self.incidence.multiply(self.incidence).tocsr()
        self.won = counts.won + counts.tied / 2.0
        self.lost = counts.lost + counts.tied / 2.0
        self.gauge = float((self.won + self.lost).sum()) / (SIGMA * counts.n) ** 2  # the flat direction: all alike
        self.prior = DistancePrior.of(self.won, self.lost, counts.alone) if prior else None

    def at(self, q: Floats) -> Point:
        x = self.incidence @ q
        value = float(self.won @ log_ndtr(x) + self.lost @ log_ndtr(-x))
        slope = self.won * mills(x) - self.lost * mills(-x)
        bend = _bend(x, self.won, self.lost)
        if self.prior is None:
            return Point(
                value,
                self.incidence.T @ slope,
                lambda: self._matrix(bend),
                lambda v: self._curve(v, bend),
                self._diagonal(bend),
            )
        belief = self.prior.at(x)
        bend = bend + belief.bend

        def matrix() -> Floats:
            return self._matrix(bend + belief.coupled_diagonal()) + belief.coupled_rest(self.incidence)

        def curvature(v: Floats) -> Floats:
            coupled: Floats = self.incidence.T @ belief.coupled(self.incidence @ v)
            return self._curve(v, bend) + coupled

        gradient = self.incidence.T @ (slope + belief.slope)
        return Point(value + belief.value, gradient, matrix, curvature, self._diagonal(np.abs(bend)))

    def require_held(self, q: Floats) -> None:
        """Refuse scores at which all curvature between two sets of items has died out: they drift apart for ever."""
        counts = self.counts
        held = _bend(self.incidence @ q, self.won, self.lost) > _HELD * (self.won + self.lost)
        ones = np.ones(int(held.sum()))
        links = sparse.csr_array((ones, (counts.low[held], counts.high[held])), shape=(counts.n, counts.n))
        groups, _ = connected_components(links, directed=False)
        if groups > 1:
            raise NotConnected(
                f"answers between {groups} groups of items are unanimous and the prior does not hold them at a finite "
                "distance; collect more answers or use bradley-terry-ridge"
            )

    def _matrix(self, bend: Floats) -> Floats:
        c = self.counts
        return laplacian(c.low, c.high, bend / (SIGMA * c.temperature) ** 2, c.n) + self.gauge

    def _curve(self, v: Floats, bend: Floats) -> Floats:
        bent: Floats = self.incidence.T @ (bend * (self.incidence @ v)) + self.gauge * v.sum()
        return bent

    def _diagonal(self, bend: Floats) -> Floats:
        diagonal: Floats = np.asarray(self.squared.T @ bend) + self.gauge
        return diagonal


def _bend(x: Floats, won: Floats, lost: Floats) -> Floats:
    """(E,) minus the second derivative of won log Phi(x) + lost log Phi(-x)."""
    up, down = mills(x), mills(-x)
    return won * up * np.maximum(x + up, 0.0) + lost * down * np.maximum(down - x, 0.0)


THURSTONE = Estimator(
    name="thurstone",
    model=thurstone,
    reads="votes",
    summary="Thurstone Case V in just-objectionable differences, with pwcmp's prior on distances",
    unit="JOD",
    source="Perez-Ortiz and Mantiuk, A practical guide and software for analysing pairwise comparison experiments, "
    "arXiv:1712.03686, 2017, sections 4 to 6",
    covariance=thurstone_covariance,
    replicate=thurstone_replicate,
    shrinks=True,
    connected="weakly",
    likelihood=thurstone_likelihood,
    options={
        "prior": "expect distances like those of the other pairs, so that unanimous pairs stay finite; default true",
        "tolerance": "largest move of a score in the last Newton step, JOD, above 0, up to 0.1; default 1e-9",
        "max_iterations": "Newton steps allowed, >= 1; default 200",
    },
)
