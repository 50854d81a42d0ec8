"""Bradley-Terry with ties: Davidson's model, in which a tie is an answer of its own and not half a win."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import log_expit, logsumexp

from paragone.errors import BadInput, NotConnected, NotConverged
from paragone.estimate.arrays import Comparisons, Estimate, Estimator, Floats
from paragone.estimate.counts import Counts, Recount, centred_inverse, count, laplacian, spread, spread_square
from paragone.estimate.edges import check_connected, is_connected
from paragone.estimate.limits import LOOSEST, require_iterating
from paragone.estimate.newton import Point, climb

__all__ = ["DAVIDSON", "davidson", "davidson_covariance", "davidson_likelihood", "davidson_replicate"]

_STDERR_UP_TO = 3000  # items; above, an (n, n) inverse is no longer "at no extra cost"


def davidson(comparisons: Comparisons, *, tolerance: float = 1e-9, max_iterations: int = 100) -> Estimate:
    """Score items by maximum likelihood where a pair may be won, lost or tied.

    With d = (s_i - s_j) / temperature, the answers "i", "j" and "tie" have probabilities proportional to exp(d/2),
    exp(-d/2) and nu. Two equal items tie with probability nu / (2 + nu), whatever the stage. A tie tells about nu, and
    about the scores only that the items are close: it costs neither side.

    Args:
        comparisons: answers with outcome 1, 0 or 0.5 (a tie); `weight` multiplies each answer's log-likelihood.
            Self-pairs carry no information about scores and are left out.
        tolerance: the climb ends when a full Newton step moves no score further than this, in logits; above 0, up to 0.1.
        max_iterations: Newton steps allowed, >= 1.

    Returns:
        Scores in logits, (n,), mean 0 over the compared items; NaN for items that were never compared. stderr from the
        inverse information (None above 3,000 items). Notes: nu, ties (weight), iterations, gradient (largest absolute),
        and those of the graph: components, strong_components,
        self_pairs, unseen.

    Raises:
        NotConnected: some score or nu would be infinite: groups that never met, a set of items that never lost, or
            nothing that holds nu (every circle of answers has at least as many ties as wins).
        BadInput: an outcome is not 0, 0.5 or 1.
        BadConfig: the tolerance or `max_iterations` is out of its range.
        NotConverged: `max_iterations` was too few.
        TooFew: no pair of different items.

    Source:
        Davidson, "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments", JASA
        65(329), 1970, eq. 2.4. The fixed point of Newman, "Efficient Computation of Rankings from Pairwise
        Comparisons", JMLR 24, 2023, section 4 is the same maximum; Newman's v is nu / 2.
    """
    require_iterating(tolerance, max_iterations, loosest=LOOSEST)
    counts = _counts(comparisons)
    graph = check_connected(counts.edges, strongly=True)
    tied = float(counts.tied.sum())
    if tied:
        _require_held_nu(counts)
    shape = _Davidson(counts, ties=bool(tied))
    top = climb(shape.at, shape.start(), tolerance=tolerance, max_iterations=max_iterations)
    score = top.x[: counts.n] - top.x[: counts.n].mean()
    notes: dict[str, Any] = {
        "nu": float(np.exp(top.x[-1])) if tied else 0.0,
        "ties": tied,
        "iterations": top.iterations,
        "gradient": top.steepest,
        **graph,
    }
    if not tied:
        notes["no_ties"] = "no answer is a tie: nu is 0 and the scores are plain Bradley-Terry's"
    stderr = None
    if counts.n <= _STDERR_UP_TO:
        stderr = spread(np.sqrt(np.diag(centred_inverse(top.point.matrix(), counts.n))), counts)
    return Estimate(spread(score, counts), stderr, notes)


def davidson_replicate(
    comparisons: Comparisons, weights: Floats, *, tolerance: float = 1e-9, max_iterations: int = 100
) -> Floats:
    """(r, n) scores under r reweightings of the participants (r, participants), from a warm start.

    NaN rows where a replicate's scores or nu would not be finite; NaN for the items that a replicate does not show.
    """
    full = davidson(comparisons, tolerance=tolerance, max_iterations=max_iterations)
    log_nu = np.log(full.notes["nu"]) if full.notes["nu"] else 0.0
    recount = Recount(comparisons)
    made = np.full((weights.shape[0], comparisons.n), np.nan)
    for row, counts in enumerate(map(recount.under, weights)):
        if counts is None or not is_connected(counts.edges, strongly=True):
            continue
        tied = bool(counts.tied.any())
        try:
            if tied:
                _require_held_nu(counts)
            start = np.append(full.score[counts.items], [log_nu] * tied)
            top = climb(_Davidson(counts, ties=tied).at, start, tolerance=tolerance, max_iterations=max_iterations)
        except (NotConnected, NotConverged):
            continue
        made[row, counts.items] = top.x[: counts.n] - top.x[: counts.n].mean()
    return made


def davidson_likelihood(
    comparisons: Comparisons, score: Floats, *, tolerance: float = 1e-9, max_iterations: int = 100
) -> float:
    """The log-likelihood at the given scores with the nu that suits them best; counts no orderings."""
    shape, x = _at_scores(comparisons, score, tolerance, max_iterations)
    return shape.at(x).value


def davidson_covariance(
    comparisons: Comparisons, score: Floats, *, tolerance: float = 1e-9, max_iterations: int = 100
) -> Floats:
    """(n, n) inverse information of the centred scores, nu being estimated as well; NaN for items never compared."""
    shape, x = _at_scores(comparisons, score, tolerance, max_iterations)
    return spread_square(centred_inverse(shape.at(x).matrix(), shape.counts.n), shape.counts)


def _counts(comparisons: Comparisons) -> Counts:
    odd = ~np.isin(comparisons.outcome, (0.0, 0.5, 1.0))
    if odd.any():
        row = int(np.flatnonzero(odd)[0])
        raise BadInput(
            f"answer {row}: outcome {comparisons.outcome[row]:g} is not 1, 0 or 0.5; davidson knows wins and ties only"
        )
    return count(comparisons)


def _at_scores(
    comparisons: Comparisons, score: Floats, tolerance: float, max_iterations: int
) -> tuple[_Davidson, Floats]:
    counts = _counts(comparisons)
    shape = _Davidson(counts, ties=bool(counts.tied.any()))
    s = np.asarray(score, dtype=np.float64)[counts.items]
    return shape, shape.profile(s, tolerance, max_iterations) if shape.ties else s


class _Davidson:
    """The log-likelihood of scores and log nu (absent where nothing is tied) with its derivatives."""

    def __init__(self, counts: Counts, *, ties: bool) -> None:
        self.counts = counts
        self.ties = ties
        self.incidence = counts.incidence()
        self.total = counts.won + counts.lost + counts.tied
        self.gauge = float(self.total.sum()) / counts.n**2  # curvature along the one flat direction, all scores alike

    def start(self) -> Floats:
        return np.zeros(self.counts.n + self.ties)

    def at(self, x: Floats) -> Point:
        c, n = self.counts, self.counts.n
        half = self.incidence @ x[:n] / 2.0
        eta = x[n] if self.ties else -np.inf
        norm = logsumexp(np.stack([half, -half, np.full(half.size, eta)]), axis=0)
        p_won, p_lost, p_tied = np.exp(half - norm), np.exp(-half - norm), np.exp(eta - norm)
        value = float(c.won @ (half - norm) + c.lost @ (-half - norm))
        lean = p_won - p_lost
        pull = (c.won - c.lost - self.total * lean) / 2.0
        gradient = self.incidence.T @ pull
        # second derivatives of the norm: (1 - p_tied - lean^2)/4 in d, -lean p_tied/2 mixed, p_tied (1 - p_tied) in eta
        bend = self.total * (4.0 * p_won * p_lost + p_tied * (p_won + p_lost)) / 4.0
        squared = self.incidence.multiply(self.incidence).tocsr()
        if not self.ties:
            return Point(
                value,
                gradient,
                lambda: self._matrix(bend),
                lambda v: self._curve(v, bend),
                squared.T @ bend + self.gauge,
            )
        value += float(c.tied @ (eta - norm))
        mixed = self.incidence.T @ (-self.total * lean * p_tied / 2.0)
        own = float(self.total @ (p_tied * (1.0 - p_tied)))
        slope = float(c.tied.sum() - self.total @ p_tied)

        def matrix() -> Floats:
            return np.block([[self._matrix(bend), mixed[:, None]], [mixed[None, :], np.array([[own]])]])

        def curvature(v: Floats) -> Floats:
            return np.append(self._curve(v[:n], bend) + mixed * v[n], mixed @ v[:n] + own * v[n])

        diagonal = np.append(squared.T @ bend + self.gauge, own)
        return Point(value, np.append(gradient, slope), matrix, curvature, diagonal)

    def _matrix(self, bend: Floats) -> Floats:
        c = self.counts
        return laplacian(c.low, c.high, bend / c.temperature**2, c.n) + self.gauge

    def _curve(self, v: Floats, bend: Floats) -> Floats:
        bent: Floats = self.incidence.T @ (bend * (self.incidence @ v)) + self.gauge * v.sum()
        return bent

    def profile(self, score: Floats, tolerance: float, max_iterations: int) -> Floats:
        """Scores and the log nu at which the expected weight of ties equals the observed one."""
        c = self.counts
        half = self.incidence @ score / 2.0
        rest = np.logaddexp(half, -half)

        def at(eta: Floats) -> Point:
            p = np.exp(log_expit(eta[0] - rest))
            value = float(c.tied @ log_expit(eta[0] - rest) + (c.won + c.lost) @ log_expit(rest - eta[0]))
            own = np.array([float(self.total @ (p * (1.0 - p)))])
            return Point(
                value, np.array([float(c.tied.sum() - self.total @ p)]), lambda: np.diag(own), lambda v: own * v, own
            )

        return np.append(score, climb(at, np.zeros(1), tolerance=tolerance, max_iterations=max_iterations).x)


def _require_held_nu(counts: Counts) -> None:
    """Refuse answers under which nu could grow for ever, the scores stretching with it.

    Moving the scores by g and log nu by 1 lowers no observed answer's probability in the limit iff g_i - g_j >= 2
    (times the temperature) for every win and |g_i - g_j| <= 2 for every tie. Such g are potentials of a graph with
    a step of -2 along each win and +2 along each tie; they exist iff no circle has more wins than ties.
    """
    up, down = counts.won > 0, counts.lost > 0
    winner = np.concatenate([counts.low[up], counts.high[down]])
    loser = np.concatenate([counts.high[up], counts.low[down]])
    step = np.concatenate([counts.temperature[up], counts.temperature[down]])
    wins = sparse.csr_array((np.ones(winner.size), (winner, loser)), shape=(counts.n, counts.n))
    if connected_components(wins, directed=True, connection="strong")[0] < counts.n:
        return  # a circle of wins alone holds nu
    tie = counts.tied > 0
    a, b, reach = counts.low[tie], counts.high[tie], counts.temperature[tie]
    source = np.concatenate([winner, a, b])
    target = np.concatenate([loser, b, a])
    length = np.concatenate([-step, reach, reach])
    distance = np.zeros(counts.n)
    for _ in range(counts.n + 1):
        shorter = distance.copy()
        np.minimum.at(shorter, target, distance[source] + length)
        if np.all(shorter >= distance - 1e-12):
            raise NotConnected(
                "ties are so many that no finite tie parameter exists (every circle of answers has at least as many "
                "ties as wins); count ties half (bradley-terry) or collect more answers"
            )
        distance = shorter


DAVIDSON = Estimator(
    name="davidson",
    model=davidson,
    reads="votes",
    summary="Bradley-Terry with a tie parameter, by maximum likelihood",
    unit="logit",
    source="Davidson, On Extending the Bradley-Terry Model to Accommodate Ties, JASA 65(329), 1970, eq. 2.4",
    covariance=davidson_covariance,
    replicate=davidson_replicate,
    connected="strongly",
    likelihood=davidson_likelihood,
    options={
        "tolerance": "largest move of a score in the last Newton step, logits, above 0, up to 0.1; default 1e-9",
        "max_iterations": "Newton steps allowed, >= 1; default 100",
    },
)
