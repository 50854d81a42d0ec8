"""The composite likelihood of shared scores and the spread of personal tastes, for `tastes`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit

from paragone.errors import NotConverged, TooFew
from paragone.estimate.arrays import Comparisons, Floats, Ints
from paragone.estimate.counts import laplacian
from paragone.estimate.edges import Edges, aggregate
from paragone.estimate.limits import require_within
from paragone.estimate.newton import Point, Summit, climb

__all__ = ["Mixture", "Repeats"]

_REACH = 8.0  # standard deviations at which the integral over tastes is cut, an error of 1e-15
_WIDEST = 0.6  # step of the trapezoid rule in z; its error for the normal density alone is 1e-23
_BLOCK = 20_000  # units integrated at once: 15 MB an array
_RIDGES = (1e-6, 1e6)  # per logit^2, beside 0: less holds no score, more leaves the votes without a say
_NEAR_ZERO = 1e-2  # omega in which a climb may rest that is drawn to 0
_HEIGHTS = np.geomspace(1e-6, 0.99, 200)  # share of the distance to the poles that the rule may look
_AWAY = (0.5, 0.2, 1.5)  # omega from which a climb that rests on a saddle is tried again
_ENOUGH_PEOPLE = 20  # participants; from here the spread over them says more than the model does (our choice)


class Repeats(NamedTuple):
    pairs: int
    """(participant, pair) units with more than one answer."""
    agree: float
    """Share of two answers drawn from one unit that are alike, ties half alike."""


class _Units(NamedTuple):
    """Log-likelihood of each unit and its derivatives in x (difference of the shared scores) and omega."""

    value: Floats
    x: Floats
    omega: Floats
    xx: Floats
    x_omega: Floats
    omega_omega: Floats


class Mixture:
    """Composite log-likelihood of (s, omega), omega = sqrt(2) tau: even in omega, so omega = 0 needs no boundary.

    A unit is one participant's answers about one pair; an entry is those of its answers that share a temperature.
    """

    def __init__(self, comparisons: Comparisons, ridge: float) -> None:
        require_within("ridge", ridge, *_RIDGES, zero=True, where="bradley-terry-tastes")
        c = comparisons
        self.ridge = ridge
        self.edges: Edges = aggregate(c)
        self.items: Ints = np.flatnonzero(self.edges.seen)
        self.n = int(self.items.size)
        rows = np.flatnonzero((c.weight > 0) & (c.left != c.right))
        left, right = np.searchsorted(self.items, c.left[rows]), np.searchsorted(self.items, c.right[rows])
        person, weight = c.participant[rows], c.weight[rows]
        low, high = np.minimum(left, right), np.maximum(left, right)
        for_low = np.where(left < right, c.outcome[rows], 1.0 - c.outcome[rows])
        people, who = np.unique(person, return_inverse=True)
        copies = np.bincount(who, weight) / np.bincount(who)
        inner = weight / copies[who]
        levels, level = np.unique(c.temperature[rows], return_inverse=True)
        unit_key = (who * self.n + low) * self.n + high
        entries, entry = np.unique(unit_key * levels.size + level, return_inverse=True)
        units, self.first = np.unique(entries // levels.size, return_index=True)
        self.unit = np.searchsorted(units, entries // levels.size)
        self.won = np.bincount(entry, inner * for_low, entries.size)
        self.lost = np.bincount(entry, inner * (1.0 - for_low), entries.size)
        self.heat = levels[entries % levels.size]
        self.most = float(np.bincount(self.unit, self.won + self.lost).max())
        self.answers = np.bincount(np.searchsorted(units, unit_key), minlength=units.size)
        pair, self.person = units % (self.n * self.n), units // (self.n * self.n)
        self.people = int(people.size)
        self.copies = copies[self.person]
        size = np.arange(units.size)
        self.low, self.high = pair // self.n, pair % self.n
        signs, places = np.repeat([1.0, -1.0], units.size), np.concatenate([self.low, self.high])
        self.incidence = sparse.csr_array((signs, (np.concatenate([size, size]), places)), shape=(units.size, self.n))
        self.squared = self.incidence.multiply(self.incidence).tocsr()
        self.gauge = float(self.copies @ self.answers) / self.n**2

    def start(self) -> Floats:
        return np.append(np.zeros(self.n), 1.0)

    def at(self, x: Floats) -> Point:
        part = self._units(x)
        away = x[:-1] - x[:-1].mean()
        value = float(self.copies @ part.value) - 0.5 * self.ridge * float(away @ away)
        slope = self.incidence.T @ (self.copies * part.x) - self.ridge * away
        bend, mixed = -self.copies * part.xx, self.incidence.T @ (-self.copies * part.x_omega)
        own = -float(self.copies @ part.omega_omega)
        gradient = np.append(slope, self.copies @ part.omega)

        level = self.gauge - self.ridge / self.n

        def matrix() -> Floats:
            scores = laplacian(self.low, self.high, bend, self.n) + self.ridge * np.eye(self.n) + level
            return np.block([[scores, mixed[:, None]], [mixed[None, :], np.array([[own]])]])

        def curvature(v: Floats) -> Floats:
            scores, last = v[:-1], v[-1]
            out = self.incidence.T @ (bend * (self.incidence @ scores)) + self.ridge * scores + level * scores.sum()
            return np.append(out + mixed * last, mixed @ scores + own * last)

        diagonal = np.append(self.squared.T @ np.abs(bend) + self.gauge + self.ridge, abs(own))
        return Point(value, gradient, matrix, curvature, diagonal)

    def profile(self, s: Floats, tolerance: float, max_iterations: int) -> Floats:
        """x at the given scores with the omega at which the likelihood is largest."""

        def at(omega: Floats) -> Point:
            part = self._units(np.concatenate([s, omega]))
            own = np.array([-float(self.copies @ part.omega_omega)])
            slope = np.array([float(self.copies @ part.omega)])
            return Point(self.at_value(s, part), slope, lambda: np.diag(own), lambda v: own * v, own)

        return np.concatenate([s, _off_the_saddle(at, np.ones(1), tolerance, max_iterations).x])

    def top(self, start: Floats, tolerance: float, max_iterations: int) -> Summit:
        """The most likely (s, omega), climbing from a start."""
        return _off_the_saddle(self.at, start, tolerance, max_iterations)

    def at_value(self, s: Floats, part: _Units) -> float:
        away = s - s.mean()
        return float(self.copies @ part.value) - 0.5 * self.ridge * float(away @ away)

    def covariance(self, x: Floats) -> Floats:
        """(n + 1, n + 1) of the centred scores and omega: sandwich over participants, or the inverse curvature."""
        centring = np.eye(self.n + 1)
        centring[:-1, :-1] -= 1.0 / self.n
        inverse: Floats = centring @ np.linalg.inv(self.at(x).matrix()) @ centring
        if self.people < _ENOUGH_PEOPLE:
            return inverse
        part = self._units(x)
        pulls = sparse.csr_array(
            (self.copies * part.x, (self.person, np.arange(self.person.size))), shape=(self.people, self.person.size)
        )
        by_person = (pulls @ self.incidence).toarray()
        by_person = np.column_stack([by_person, np.bincount(self.person, self.copies * part.omega, self.people)])
        influence = by_person @ inverse
        spread: Floats = influence.T @ influence * (self.people / (self.people - 1.0))
        return spread

    def agreement(self, x: Floats, covariance: Floats | None) -> tuple[float, float]:
        """Implied chance, over the compared pairs, that one person twice and that two people answer alike (stage 0).

        Estimated differences are wider than true ones by their noise; they are narrowed to the true spread first.
        """
        pairs, counts = np.unique(np.stack([self.low, self.high]), axis=1, return_counts=True)
        d = x[pairs[0]] - x[pairs[1]]
        if covariance is not None:
            own = np.diag(covariance)
            noise = own[pairs[0]] + own[pairs[1]] - 2.0 * covariance[pairs[0], pairs[1]]
            d = d * np.sqrt(max(0.0, 1.0 - float(counts @ noise) / max(float(counts @ (d * d)), 1e-300)))
        nodes, log_weights = _nodes(abs(float(x[-1])), 2.0)
        p = expit(d[:, None] + x[-1] * nodes)
        weights = np.exp(log_weights)
        mean, square = p @ weights, (p * p) @ weights
        share = counts / counts.sum()
        return float(share @ (1.0 - 2.0 * mean + 2.0 * square)), float(share @ (1.0 - 2.0 * mean * (1.0 - mean)))

    def repeats(self) -> Repeats:
        """What the repeated pairs show; refuses answers from which tau cannot be told."""
        many = self.answers > 1
        won = np.bincount(self.unit, self.won, self.answers.size)[many]
        lost = np.bincount(self.unit, self.lost, self.answers.size)[many]
        if not many.any():
            raise TooFew("nobody answered the same pair twice, so tastes cannot be told from noise; use bradley-terry")
        if not np.any((won > 0) & (lost > 0)):
            raise TooFew(
                f"nobody ever changed an answer on the {int(many.sum())} repeated pairs, so tastes would be infinitely "
                "strong against noise; collect more repeats or use bradley-terry"
            )
        total = won + lost
        alike = (won * (won - 1.0) + lost * (lost - 1.0)) / (total * (total - 1.0))
        return Repeats(int(many.sum()), float(alike.mean()))

    def _units(self, x: Floats) -> _Units:
        d, omega = self.incidence @ x[:-1], float(x[-1])
        nodes, log_weights = _nodes(abs(omega) / float(self.heat.min()), self.most)
        blocks = []
        ends = np.append(self.first, self.unit.size)
        for start in range(0, d.size, _BLOCK):
            stop = min(start + _BLOCK, d.size)
            span = slice(ends[start], ends[stop])
            blocks.append(
                self._integrate(d[start:stop], omega, span, self.first[start:stop] - ends[start], nodes, log_weights)
            )
        return _Units(*(np.concatenate(column) for column in zip(*blocks, strict=True)))

    def _integrate(
        self, d: Floats, omega: float, span: slice, first: Ints, nodes: Floats, log_weights: Floats
    ) -> _Units:
        """Integrate units over the taste z ~ N(0, 1): the difference is d + omega z."""
        heat, won, lost = self.heat[span, None], self.won[span, None], self.lost[span, None]
        entry = d[self.unit[span] - self.unit[span.start]][:, None]
        y = (entry + omega * nodes) / heat
        up = log_expit(y)
        p = np.exp(up)
        g = won * up + lost * (up - y)  # log sigma(-y) = log sigma(y) - y
        g1 = (won - (won + lost) * p) / heat
        g2 = -(won + lost) * p * (1.0 - p) / heat**2
        if first.size < g.shape[0]:
            g, g1, g2 = (np.add.reduceat(part, first, axis=0) for part in (g, g1, g2))
        g = g + log_weights
        top = g.max(axis=1, keepdims=True)
        pi = np.exp(g - top)
        total = pi.sum(axis=1, keepdims=True)
        pi /= total
        curve = pi * (g2 + g1 * g1)
        g1 = pi * g1
        x, omega_slope = g1.sum(axis=1), g1 @ nodes
        return _Units(
            value=(top + np.log(total))[:, 0],
            x=x,
            omega=omega_slope,
            xx=curve.sum(axis=1) - x * x,
            x_omega=curve @ nodes - x * omega_slope,
            omega_omega=curve @ nodes**2 - omega_slope**2,
        )


def _nodes(width: float, most: float) -> tuple[Floats, Floats]:
    """Nodes and log weights that average a product of up to `most` logistic functions of width * z over z ~ N(0, 1).

    At height y / width above the axis a logistic function is at most 1 / cos(y / 2) times, and the normal density
    exp(y^2 / 2 width^2) times as large as on it, so the trapezoid rule with step h errs, relative to the integral, by
    no more than 2 exp(y^2 / 2 width^2 - 2 pi y / (width h)) / cos(y / 2)^most for every y in (0, pi). The step is the
    longest that keeps this at exp(-30), 1e-13, for some y.

    Source:
        Trefethen and Weideman, "The Exponentially Convergent Trapezoidal Rule", SIAM Review 56(3), 2014, theorem 5.1.
    """
    width = max(width, 1e-6)
    y = np.pi * _HEIGHTS
    lost = 30.0 - most * np.log(np.cos(y / 2.0)) + (y / width) ** 2 / 2.0
    step = min(_WIDEST, float(np.max(2.0 * np.pi * y / (width * lost))))
    count = int(np.ceil(_REACH / step))
    nodes = np.linspace(-_REACH, _REACH, 2 * count + 1)
    log_weights = -0.5 * nodes**2
    return nodes, log_weights - np.log(np.exp(log_weights).sum())


def _off_the_saddle(at: Callable[[Floats], Point], start: Floats, tolerance: float, max_iterations: int) -> Summit:
    """The top of a function that is even in its last unknown, omega.

    Its slope in omega is 0 wherever omega is, so a climb that starts or lands there stays, be it a top or a saddle.
    """
    x = np.array(start)
    for away in (None, *_AWAY):
        if away is not None:
            x[-1] = away
        top = climb(at, x, tolerance=tolerance, max_iterations=max_iterations, longest=2.0)
        x = top.x.copy()
        if abs(x[-1]) > _NEAR_ZERO:
            return top
        x[-1] = 0.0
        if at(x).curvature(np.eye(x.size)[-1])[-1] >= 0.0:
            return top
    raise NotConverged("bradley-terry-tastes: the climb ends on a saddle at tastes of 0; use a ridge above 0")
