"""Picking a few points that cover many: greedy k-centre, facility location, and the volume of a kernel.

All three grow a pick one point at a time, keep what is fixed, meet quotas exactly (`quotas`) where they can be met, and may
be told to spread over levels first (`balance`). Without quotas and balance their guarantees are the known ones; with them
the picks are still the greedy ones among what is allowed, and the guarantees weaken (stated at each function).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import BadInput

from .points import as_points, kernel_width, squared_distances
from .quotas import Quotas, Room
from .statistic import Floats, Ints

__all__ = ["Pick", "facility_location", "k_centre", "log_det"]

_NEVER = "the quotas cannot be met together by any pick from this pool"
_ROWS = 512  # candidates looked at together: bounds memory


class Pick(NamedTuple):
    """What was picked, and what each pick was worth."""

    picked: Ints
    """(k,) indices in the order of picking, fixed ones first."""
    gain: Floats
    """(k,) k-centre: distance from the points picked before (NaN for the first); else what the objective rose by."""
    value: float
    """Objective of the whole pick: k-centre the largest distance of any point from its nearest pick (smaller is
    better); facility location and log-det their sums (larger is better)."""


class _Rule(Protocol):
    """An objective that grows with the pick."""

    def bounds(self, candidates: Ints) -> Floats:
        """Upper bounds of the candidates' merits now; larger is picked first."""
        ...

    def merit(self, index: int) -> float:
        """The exact merit of one candidate, at most its bound."""
        ...

    def take(self, index: int) -> float:
        """Pick, and give the gain to report."""
        ...


def k_centre(
    points: ArrayLike,
    number: int,
    *,
    quotas: Quotas | None = None,
    fixed: Sequence[int] = (),
    balance: ArrayLike | None = None,
    starts: int = 32,
) -> Pick:
    """Pick points so that none of the pool is far from its nearest pick: always the farthest one next.

    Where nothing is fixed, the walk begins at each of the most central points (whose farthest neighbour is nearest) in
    turn, and the best walk is kept; ties go to the more central start, then to the smaller index.

    Args:
        points: (n, p) coordinates; distances are Euclidean, so standardise first.
        number: how many to pick, in [1, n].
        quotas: how many of each level exactly; None: no quotas.
        fixed: indices that are picked beforehand; they count towards number and quotas.
        balance: (n, f) levels, counted from 0, over which the picks spread first: among the points that add least
            unevenness (sum over factors of the squared counts of their levels) the rule decides. None: no balance.
        starts: how many first points are tried, >= 1.

    Returns:
        The pick; without quotas and balance its value is at most twice the best possible (with fixed points: of the
        best that holds them). With quotas no factor is proved for this greedy.

    Raises:
        BadInput: shapes, number or fixed indices that do not fit; quotas that cannot be met.

    Source:
        Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical Computer Science 38, 1985,
        section 3.
    """
    x = as_points(points)
    if starts < 1:
        raise BadInput(f"{starts} starts are none; give 1 or more")
    best: Pick | None = None
    for first in [tuple(fixed)] if fixed else _central(x, number, quotas, starts):
        rule = _Farthest(x)
        picked, gain = _grown(len(x), number, rule, quotas, first, balance)
        value = float(rule.nearest.max())
        if best is None or value < best.value * (1.0 - 1e-12):
            best = Pick(picked, gain, value)
    assert best is not None
    return best


def facility_location(
    points: ArrayLike,
    number: int,
    *,
    width: float | None = None,
    quotas: Quotas | None = None,
    fixed: Sequence[int] = (),
    balance: ArrayLike | None = None,
) -> Pick:
    """Pick points so that every point of the pool resembles some pick: the largest rise of the sum of likenesses next.

    The objective is sum_x max_{s picked} exp(-|x - s|^2 / (2 width^2)). Gains only shrink as picks are added, so old ones
    bound new ones and most need not be computed again.

    Args:
        points: as in `k_centre`, as are number, quotas, fixed and balance.
        number: as there.
        width: of the likeness, > 0; None: `kernel_width(points)`.
        quotas: as there.
        fixed: as there.
        balance: as there.

    Returns:
        The pick; its value is at least 1 - 1/e of the best without quotas and balance, 1/2 with quotas of one factor,
        1/(f + 1) with quotas of f factors whose partial picks can always be completed.

    Raises:
        BadInput: as for `k_centre`; a width that is not above 0.

    Source:
        Nemhauser, Wolsey and Fisher, "An analysis of approximations for maximizing submodular set functions I",
        Mathematical Programming 14, 1978 (1 - 1/e), and part II (matroids); Minoux, "Accelerated greedy algorithms for
        maximizing submodular set functions", 1978.
    """
    x = as_points(points)
    rule = _Likeness(x, _checked_width(x, width))
    picked, gain = _grown(len(x), number, rule, quotas, fixed, balance)
    return Pick(picked, gain, float(rule.best.sum()))


def log_det(
    points: ArrayLike,
    number: int,
    *,
    width: float | None = None,
    noise: float = 0.1,
    quotas: Quotas | None = None,
    fixed: Sequence[int] = (),
    balance: ArrayLike | None = None,
) -> Pick:
    """Pick points that are unlike each other: the largest log det(I + K / noise) of the picks' RBF kernel K.

    K_ij = exp(-|x_i - x_j|^2 / (2 width^2)). A pick's gain is log(1 + v / noise), v what the picks before leave of its
    variance in a Gaussian process with that kernel. The first pick, for which all are equal, is the most typical point.

    Args:
        points: as in `k_centre`, as are number, quotas, fixed and balance.
        number: as there.
        width: of the kernel, > 0; None: `kernel_width(points)`.
        noise: variance of the noise, > 0; smaller punishes near twins harder. The default is our choice.
        quotas: as there.
        fixed: as there.
        balance: as there.

    Returns:
        The pick; guarantees as for `facility_location`, since the objective is monotone and submodular.

    Raises:
        BadInput: as for `k_centre`; a width or noise that is not above 0.

    Source:
        Krause, Singh and Guestrin, "Near-optimal sensor placements in Gaussian processes", JMLR 9, 2008, section 3;
        the objective is the information gain of their equation for entropy with independent noise. The update of all
        variances at once is a partial Cholesky factorisation.
    """
    x = as_points(points)
    if not noise > 0:
        raise BadInput(f"noise is {noise}; it must be above 0")
    rule = _Volume(x, _checked_width(x, width), noise)
    picked, gain = _grown(len(x), number, rule, quotas, fixed, balance)
    return Pick(picked, gain, float(gain.sum()))


def _checked_width(x: Floats, width: float | None) -> float:
    if width is not None and not width > 0:
        raise BadInput(f"kernel width is {width}; it must be above 0")
    return kernel_width(x) if width is None else width


def _central(x: Floats, number: int, quotas: Quotas | None, starts: int) -> list[tuple[int, ...]]:
    """The first picks to try, most central first; only such as leave the quotas possible."""
    room = Room(len(x), number, quotas)
    if not room.can_be_met():
        raise BadInput(_NEVER)
    order = np.argsort(-_Farthest(x).bounds(np.arange(len(x))), kind="stable")
    allowed = (int(index) for index in order if room.allows(int(index)))
    return [(index,) for index in itertools.islice(allowed, starts)]


class _Farthest:
    """k-centre."""

    def __init__(self, x: Floats) -> None:
        self.x = x
        self.nearest: Floats = np.full(len(x), np.inf)

    def bounds(self, candidates: Ints) -> Floats:
        if np.isinf(self.nearest[0]):  # nothing is picked: the centre of the pool
            parts = range(0, len(candidates), _ROWS)
            worst = [squared_distances(self.x[candidates[k : k + _ROWS]], self.x).max(axis=1) for k in parts]
            central: Floats = -np.sqrt(np.concatenate(worst))
            return central
        return self.nearest[candidates]

    def merit(self, index: int) -> float:
        return float(self.bounds(np.array([index]))[0])

    def take(self, index: int) -> float:
        gain = float(self.nearest[index])
        self.nearest = np.minimum(self.nearest, np.sqrt(squared_distances(self.x, self.x[index : index + 1])[:, 0]))
        return gain if np.isfinite(gain) else float("nan")


class _Likeness:
    """Facility location; bounds are the gains of earlier rounds."""

    def __init__(self, x: Floats, width: float) -> None:
        self.x, self.width = x, width
        self.best: Floats = np.zeros(len(x))
        self._bound: Floats = np.full(len(x), np.inf)
        self.evaluated = 0

    def _likeness(self, indices: Ints) -> Floats:
        made: Floats = np.exp(-squared_distances(self.x[indices], self.x) / (2.0 * self.width**2))
        return made

    def bounds(self, candidates: Ints) -> Floats:
        fresh = candidates[np.isinf(self._bound[candidates])]
        for start in range(0, len(fresh), _ROWS):
            part = fresh[start : start + _ROWS]
            self._bound[part] = np.maximum(self._likeness(part) - self.best, 0.0).sum(axis=1)
            self.evaluated += len(part)
        return self._bound[candidates]

    def merit(self, index: int) -> float:
        self._bound[index] = np.maximum(self._likeness(np.array([index]))[0] - self.best, 0.0).sum()
        self.evaluated += 1
        return float(self._bound[index])

    def take(self, index: int) -> float:
        new = np.maximum(self.best, self._likeness(np.array([index]))[0])
        gain = float((new - self.best).sum())
        self.best = new
        return gain


class _Volume:
    """log det(I + K / noise) by a growing Cholesky factor."""

    def __init__(self, x: Floats, width: float, noise: float) -> None:
        self.x, self.width, self.noise = x, width, noise
        self.rest: Floats = np.full(len(x), 1.0 + 1.0 / noise)
        self.rows: Floats = np.zeros((0, len(x)))

    def bounds(self, candidates: Ints) -> Floats:
        if not len(self.rows):  # every first pick has the same variance: the most typical point begins
            return _Likeness(self.x, self.width).bounds(candidates)
        made: Floats = np.log(np.maximum(self.rest[candidates], 1.0))  # below 1 is rounding: what is left is >= 0
        return made

    def merit(self, index: int) -> float:
        return float(self.bounds(np.array([index]))[0])

    def take(self, index: int) -> float:
        left = max(float(self.rest[index]), 1.0)
        gain, pivot = math.log(left), math.sqrt(left)
        row = np.exp(-squared_distances(self.x[index : index + 1], self.x)[0] / (2.0 * self.width**2)) / self.noise
        row[index] += 1.0
        row = (row - self.rows[:, index] @ self.rows) / pivot
        self.rows = np.vstack([self.rows, row])
        self.rest = self.rest - row**2
        return gain


def _grown(
    n: int,
    number: int,
    rule: _Rule,
    quotas: Quotas | None,
    fixed: Sequence[int],
    balance: ArrayLike | None,
) -> tuple[Ints, Floats]:
    """Take the fixed items, then always the best one allowed."""
    room = Room(n, number, quotas)
    if len(set(fixed)) != len(fixed) or len(fixed) > number or any(not 0 <= index < n for index in fixed):
        raise BadInput(f"fixed items must be different indices below {n}, at most {number} of them, not {list(fixed)}")
    if not room.can_be_met():
        raise BadInput(_NEVER)
    counts = _Counts(n, balance)
    picked: list[int] = []
    gains: list[float] = []
    for place in range(number):
        index = fixed[place] if place < len(fixed) else _next(room, rule, counts)
        if place < len(fixed) and not room.allows(index):
            raise BadInput(f"with fixed item {index} the quotas cannot be met; free it or change them")
        gains.append(rule.take(index))
        room.take(index)
        counts.take(index)
        picked.append(index)
    return np.array(picked, dtype=np.int64), np.array(gains)


def _next(room: Room, rule: _Rule, counts: _Counts) -> int:
    """The allowed candidate of least unevenness with the largest merit; ties go to the smaller index."""
    candidates = room.candidates
    uneven = counts.added(candidates)
    for least in np.unique(uneven):
        tier = candidates[uneven == least]
        bound = rule.bounds(tier)
        best, merit = -1, -np.inf
        for at in np.lexsort((tier, -bound)):
            if best >= 0 and bound[at] < merit:
                break
            index = int(tier[at])
            if not room.allows(index):
                continue
            value = rule.merit(index)
            if value > merit or (value == merit and index < best):
                best, merit = index, value
        if best >= 0:
            return best
    raise AssertionError("the room was found to be completable, and nothing completes it")


class _Counts:
    """How many picks each level of the balanced factors has."""

    def __init__(self, n: int, balance: ArrayLike | None) -> None:
        self._level = np.zeros((n, 0), dtype=np.int64) if balance is None else np.asarray(balance, dtype=np.int64)
        if self._level.ndim != 2 or len(self._level) != n or (self._level < 0).any():
            raise BadInput(f"balance needs a level >= 0 for each of {n} items and each factor")
        self._count = [np.zeros(int(column.max()) + 1, dtype=np.int64) for column in self._level.T]

    def added(self, candidates: Ints) -> Ints:
        """How much each candidate adds to the sum of squared counts."""
        made = np.zeros(len(candidates), dtype=np.int64)
        for factor, count in enumerate(self._count):
            made += 2 * count[self._level[candidates, factor]] + 1
        return made

    def take(self, index: int) -> None:
        for factor, count in enumerate(self._count):
            count[self._level[index, factor]] += 1
