"""One scale from pairs and ratings together: both speak of the same qualities, each with its own noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import log_ndtr

from paragone.errors import BadInput, CannotScore, NotConnected, TooFew
from paragone.estimate.arrays import Comparisons, Estimate, Estimator, Floats, Ints, Opinions
from paragone.estimate.counts import centred_inverse, laplacian
from paragone.estimate.edges import Edges, aggregate
from paragone.estimate.jod_prior import mills
from paragone.estimate.limits import LOOSEST, require_iterating, require_within_reach
from paragone.estimate.newton import Point, Summit, climb
from paragone.estimate.thurstone import SIGMA

__all__ = ["UNIFIED", "unified", "unified_covariance", "unified_likelihood", "unified_replicate"]

_RATER = SIGMA / np.sqrt(2.0)  # JOD; the noise of one item's impression, of which a pair's answer contains two
_HELD = 1e-4  # curvature per answer below which nothing holds a distance; see thurstone
_STEEPEST = np.log(1e3)  # of JOD in a standard deviation of all ratings; honest studies have between 0.01 and 100
_STDERR_UP_TO = 3000  # items


def unified(
    comparisons: Comparisons,
    opinions: Opinions,
    *,
    prior: bool = True,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
) -> Estimate:
    """Score items in JOD from pairwise answers and ratings by maximum likelihood on one scale.

    A pair: P(i beats j) = Phi((q_i - q_j) / (1.4826 temperature)). A rating: r ~ N(a q_j + b, (a c 1.0484)^2), a > 0,
    so c is the noise of a rating relative to that of an impression in a pair (1.0484 = 1.4826 / sqrt 2). The pairs give
    the unit; the ratings tell about the same q, and join groups of items that were never compared as long as both hold
    rated items.

    Args:
        comparisons: m answers over n items, ties half; self-pairs are left out.
        opinions: k ratings of the same n items, larger is better. `weight` in both is how often an answer counts.
        prior: q ~ N(mean, n 1.0484^2) as published, which keeps items with unanimous answers finite and pulls the
            others in a little. Without it, plain maximum likelihood.
        tolerance: the climb ends when a full Newton step moves nothing further than this (JOD; log a, log c; b / a);
            above 0, up to 0.1.
        max_iterations: Newton steps allowed, >= 1.

    Returns:
        JOD, (n,), mean 0 over the items that were compared or rated; NaN for the others. stderr from the curvature
        (None above 3,000 items). Notes: a, b (the rating expected of an item at 0), c, pairs, ratings (total weights),
        groups_by_pairs, unseen, iterations, gradient. By maximum likelihood c is low by about sqrt((k - 1) / k) where
        items have k ratings each.

    Raises:
        TooFew: no pair or no rating, or no item has two different ratings, so that c could shrink to nothing.
        CannotScore: pairs and ratings contradict each other: a goes to 0 or to infinity.
        NotConnected: some items are linked to the others neither by pairs nor by ratings; or, without the prior, a
            distance would be infinite.
        BadInput: the two speak of different numbers of items, or a value is not finite.
        BadConfig: the tolerance or `max_iterations` is out of its range.
        NotConverged: `max_iterations` was too few.

    Source:
        Perez-Ortiz, Mikhailiuk, Zerman, Hulusic, Valenzise and Mantiuk, "From Pairwise Comparisons and Rating to a
        Unified Quality Scale", IEEE TIP 29, 2020, section III.
    """
    require_iterating(tolerance, max_iterations, loosest=LOOSEST)
    surface = _Joint(comparisons, opinions, prior=prior)
    top = surface.top(surface.start(), tolerance, max_iterations)
    s = surface.size
    score = top.x[:s] - top.x[:s].mean()
    stretch, offset, precision = np.exp(top.x[s]), top.x[s + 1] + top.x[:s].mean(), np.exp(top.x[s + 2])
    notes: dict[str, Any] = {
        "a": float(surface.unit / stretch),
        "b": float(surface.centre + surface.unit * offset / stretch),
        "c": float(1.0 / (precision * _RATER)),
        "prior": prior,
        "pairs": float(surface.edges.votes.sum()),
        "ratings": float(surface.weight.sum()),
        "groups_by_pairs": surface.groups_by_pairs(),
        "unseen": np.setdiff1d(np.arange(comparisons.n), surface.items),
        "iterations": top.iterations,
        "gradient": top.steepest,
    }
    stderr = None
    if s <= _STDERR_UP_TO:
        stderr = _spread(np.sqrt(np.diag(centred_inverse(top.point.matrix(), s))), surface)
    return Estimate(_spread(score, surface), stderr, notes)


def unified_replicate(
    comparisons: Comparisons,
    opinions: Opinions,
    weights: Floats,
    *,
    prior: bool = True,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
) -> Floats:
    """(r, n) scores under r reweightings of the participants (r, participants), who count alike in pairs and ratings.

    NaN rows where a replicate determines no common scale; NaN for the items that a replicate does not show.
    """
    require_iterating(tolerance, max_iterations, loosest=LOOSEST)
    made = np.full((weights.shape[0], comparisons.n), np.nan)
    for row, counts in enumerate(weights):
        votes = comparisons._replace(weight=comparisons.weight * counts[comparisons.participant])
        rated = opinions._replace(weight=opinions.weight * counts[opinions.participant])
        try:
            surface = _Joint(votes, rated, prior=prior)
            q = surface.top(surface.start(), tolerance, max_iterations).x[: surface.size]
        except CannotScore:
            continue
        made[row, surface.items] = q - q.mean()
    return made


def unified_likelihood(
    comparisons: Comparisons,
    opinions: Opinions,
    score: Floats,
    *,
    prior: bool = True,
    tolerance: float = 1e-9,  # noqa: ARG001  the model's options, so that one call serves both
    max_iterations: int = 200,  # noqa: ARG001
) -> float:
    """What `unified` maximises (log-likelihood, plus log-prior where used) at the given scores and the best a, b, c."""
    surface = _Joint(comparisons, opinions, prior=prior)
    return surface.at(surface.profile(np.asarray(score, dtype=np.float64)[surface.items])).value


def unified_covariance(
    comparisons: Comparisons,
    opinions: Opinions,
    score: Floats,
    *,
    prior: bool = True,
    tolerance: float = 1e-9,  # noqa: ARG001  the model's options, so that one call serves both
    max_iterations: int = 200,  # noqa: ARG001
) -> Floats:
    """(n, n) inverse curvature of the centred scores, JOD^2, a, b and c being estimated too; NaN for items unseen."""
    surface = _Joint(comparisons, opinions, prior=prior)
    x = surface.profile(np.asarray(score, dtype=np.float64)[surface.items])
    full = np.full((comparisons.n, comparisons.n), np.nan)
    block = centred_inverse(surface.at(x).matrix(), surface.size)
    full[np.ix_(surface.items, surface.items)] = block
    return full


_BOTH = "unified needs pairwise answers and ratings of the same criterion"


class _Joint:
    """Log-likelihood (and log-prior) of x = (q, log alpha, beta, log tau).

    A rating r, in units of all ratings' spread v = (r - centre) / unit, leaves (alpha v - beta - q) tau ~ N(0, 1); so
    a = unit / alpha, b = centre + unit beta / alpha, c = 1 / (1.0484 tau). Moving all q up and beta down changes
    nothing; `gauge` gives that direction curvature.
    """

    def __init__(self, comparisons: Comparisons, opinions: Opinions, *, prior: bool) -> None:
        if comparisons.n != opinions.n:
            raise BadInput(
                f"votes speak of {comparisons.n} items, ratings of {opinions.n}; both must number the same items"
            )
        counts = opinions.weight > 0
        raw = opinions.value[counts]
        if not raw.size:
            raise TooFew(f"no rating; {_BOTH} (thurstone reads pairs alone)")
        if not (comparisons.weight > 0).any():
            raise TooFew(f"no pairwise answer; {_BOTH} (mos reads ratings alone)")
        require_within_reach(raw)
        if not np.isfinite(opinions.weight).all():
            raise BadInput("ratings: a weight is not finite; leave such rows out")
        self.edges: Edges = aggregate(comparisons)
        seen = self.edges.seen
        seen[opinions.item[counts]] = True
        self.items: Ints = np.flatnonzero(seen)
        self.size = int(self.items.size)
        self.low = np.searchsorted(self.items, self.edges.i)
        self.high = np.searchsorted(self.items, self.edges.j)
        rows, share = np.arange(self.low.size), 1.0 / (SIGMA * self.edges.temperature)
        self.share = share
        places = (np.concatenate([rows, rows]), np.concatenate([self.low, self.high]))
        self.incidence = sparse.csr_array((np.concatenate([share, -share]), places), shape=(rows.size, self.size))
        self.squared = self.incidence.multiply(self.incidence).tocsr()
        self.item = np.searchsorted(self.items, opinions.item[counts])
        self.weight = opinions.weight[counts]
        self.centre = float(np.average(raw, weights=self.weight))
        self.unit = float(np.sqrt(np.average((raw - self.centre) ** 2, weights=self.weight))) or 1.0
        self.value = (raw - self.centre) / self.unit
        self.rated = self._per_item(self.weight)
        self.narrow = 1.0 / (self.size * _RATER**2) if prior else 0.0
        self.gauge = float(self.edges.votes.sum() + self.weight.sum()) / (SIGMA * self.size) ** 2
        self.constant = -float(self.weight.sum()) * (np.log(self.unit) + 0.5 * np.log(2.0 * np.pi))

    def start(self) -> Floats:
        return np.zeros(self.size + 3)

    def top(self, start: Floats, tolerance: float, max_iterations: int) -> Summit:
        """The most likely unknowns; raises where the answers leave them open."""
        self._require_joined()
        self._require_repeats()
        return climb(
            self.at,
            start,
            tolerance=tolerance,
            max_iterations=max_iterations,
            longest=SIGMA,
            watch=self._require_held,
        )

    def at(self, x: Floats) -> Point:
        s, q = self.size, x[: self.size]
        d = self.incidence @ q
        up, down = mills(d), mills(-d)
        away = q - q.mean()
        value = float(self.edges.wins_i @ log_ndtr(d) + self.edges.wins_j @ log_ndtr(-d))
        value += self.constant - 0.5 * self.narrow * float(away @ away)
        slope = self.incidence.T @ (self.edges.wins_i * up - self.edges.wins_j * down) - self.narrow * away
        bend = self.edges.wins_i * up * (d + up) + self.edges.wins_j * down * (down - d)

        w, v, t2 = self.weight, np.exp(x[s]) * self.value, np.exp(2.0 * x[s + 2])
        e = v - x[s + 1] - q[self.item]
        total, we, wv = float(w.sum()), w * e, w * v
        value += total * float(x[s] + x[s + 2]) - 0.5 * t2 * float(we @ e)
        e_item = t2 * self._per_item(we)
        gradient = np.concatenate([slope + e_item, [total - t2 * (we @ v), t2 * we.sum(), total - t2 * (we @ e)]])
        cross = np.stack([-t2 * self._per_item(wv), t2 * self.rated, -2.0 * e_item], axis=1)
        corner = t2 * np.array(
            [
                [wv @ v + we @ v, -wv.sum(), 2.0 * (we @ v)],
                [-wv.sum(), total, -2.0 * we.sum()],
                [2.0 * (we @ v), -2.0 * we.sum(), 2.0 * (we @ e)],
            ]
        )
        own = t2 * self.rated + self.narrow

        level = self.gauge - self.narrow / s

        def matrix() -> Floats:
            scores = laplacian(self.low, self.high, bend * self.share**2, s) + np.diag(own) + level
            return np.block([[scores, cross], [cross.T, corner]])

        def curvature(u: Floats) -> Floats:
            scores, rest = u[:s], u[s:]
            out = self.incidence.T @ (bend * (self.incidence @ scores)) + own * scores + level * scores.sum()
            return np.concatenate([out + cross @ rest, cross.T @ scores + corner @ rest])

        diagonal = np.concatenate([self.squared.T @ bend + own + self.gauge, np.diag(corner)])
        return Point(value, gradient, matrix, curvature, diagonal)

    def profile(self, q: Floats) -> Floats:
        """x at the given q with log alpha, beta and log tau where the likelihood is largest."""
        s = self.size

        def at(y: Floats) -> Point:
            whole = self.at(np.concatenate([q, y]))
            units = np.eye(s + 3)[:, s:].T
            corner = np.stack([whole.curvature(unit)[s:] for unit in units])
            return Point(whole.value, whole.gradient[s:], lambda: corner, lambda v: corner @ v, np.diag(corner))

        return np.concatenate([q, climb(at, np.zeros(3)).x])

    def groups_by_pairs(self) -> int:
        """How many groups of items the pairs alone would leave (an item that was only rated is one)."""
        return self._groups(np.ones(self.low.size, dtype=bool), hub=False)

    def _require_joined(self) -> None:
        groups = self._groups(np.ones(self.low.size, dtype=bool), hub=True)
        if groups > 1:
            raise NotConnected(
                f"items fall into {groups} groups that neither pairs nor ratings join; "
                "rate some items of each group or compare across them"
            )

    def _require_repeats(self) -> None:
        """Refuse ratings that scores could match exactly: their noise would go to 0 and the likelihood to infinity."""
        order = np.argsort(self.item, kind="stable")
        item, value = self.item[order], self.value[order]
        if not np.any((item[1:] == item[:-1]) & (value[1:] != value[:-1])):
            raise TooFew(
                "no item has two different ratings, so the noise of ratings is unknown; collect more ratings an item"
            )

    def _require_held(self, x: Floats) -> None:
        """Refuse unknowns that drift to infinity: a distance that nothing holds, or ratings that pairs contradict."""
        if not self.narrow:
            self._require_finite_unit(x)
        if abs(x[self.size]) > _STEEPEST:
            raise CannotScore(
                "pairs and ratings do not order the items alike, so that no common scale exists; "
                "check which end of the rating scale is good, or score each kind alone"
            )

    def _require_finite_unit(self, x: Floats) -> None:
        d = self.incidence @ x[: self.size]
        up, down = mills(d), mills(-d)
        bend = self.edges.wins_i * up * np.maximum(d + up, 0.0) + self.edges.wins_j * down * np.maximum(down - d, 0.0)
        held = bend > _HELD * self.edges.votes
        if not held.any() or self._groups(held, hub=True) > 1:
            raise NotConnected(
                "the pairwise answers are too unanimous for a finite unit of the scale; "
                "use the prior or collect more answers"
            )

    def _groups(self, links: NDArray[np.bool_], *, hub: bool) -> int:
        """Groups of items joined by the chosen edges and, with the hub, by being rated on one scale."""
        rated = np.flatnonzero(self.rated > 0) if hub else np.empty(0, dtype=np.int64)
        first = np.concatenate([self.low[links], rated])
        second = np.concatenate([self.high[links], np.full(rated.size, self.size)])
        nodes = self.size + int(hub)
        graph = sparse.csr_array((np.ones(first.size), (first, second)), shape=(nodes, nodes))
        return int(connected_components(graph, directed=False)[0])

    def _per_item(self, row: Floats) -> Floats:
        return np.bincount(self.item, row, self.size).astype(np.float64)


def _spread(values: Floats, surface: _Joint) -> Floats:
    full = np.full(surface.edges.n, np.nan)
    full[surface.items] = values
    return full


UNIFIED = Estimator(
    name="unified",
    model=unified,
    reads="both",
    summary="One scale in JOD from pairwise answers and ratings together",
    unit="JOD",
    source="Perez-Ortiz et al., From Pairwise Comparisons and Rating to a Unified Quality Scale, IEEE TIP 29, 2020",
    covariance=unified_covariance,
    replicate=unified_replicate,
    shrinks=True,
    likelihood=unified_likelihood,
    options={
        "prior": "keep scores near their mean, normal with variance n 1.0484^2 JOD^2; default true",
        "tolerance": "largest move in the last Newton step, JOD, above 0, up to 0.1; default 1e-9",
        "max_iterations": "Newton steps allowed, >= 1; default 200",
    },
)
