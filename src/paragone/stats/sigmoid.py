"""Least squares with one sigmoid: y ~ shift + straight x + rise sigma(slope (x - centre)), without a start.

For a fixed slope and centre the rest is linear, so the squared error is profiled in closed form over a grid of both,
and over every step between or through neighbouring values of x, where the error of weak data falls without end. The
best cells are refined by a simplex. Nothing depends on a start or on chance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from .statistic import Floats, Ints

__all__ = ["MIN_SLOPE", "STEEP", "Sigmoid", "fit_sigmoid"]

STEEP = 20.0
"""Slope, per standard deviation of x, above which a sigmoid is called steep. Our choice: it then rises within a fifth
of a standard deviation, a step between two groups of items rather than a curve."""
MIN_SLOPE = 0.05
"""Smallest slope tried, per standard deviation; below, the sigmoid is a line (or an exponential, by a far centre)."""

_SLOPES = 24  # grid rows, MIN_SLOPE to STEEP
_CENTRES = 41  # grid columns
_REFINED = 6  # cells that are looked at more closely
_ZOOMS = 4  # how often
_POLISHED = 3  # rough minima that are refined to the last digit
_TAIL = 4.0  # |slope (x - centre)| beyond which a sigmoid is nearly an exponential
_FARTHEST = 14.0  # where it is one to a millionth; farther out, parameters grow and cancel each other in float64
_STEPS = 40.0  # |slope (x - centre)| at which a sigmoid equals 0 or 1 to float64: a step
_STEEPEST = 1e15  # where no limit is set: float64 tells no nearer neighbours apart
_FLAT = 1e-20  # sum of squares below which a sigmoid is constant over the data
_EQUAL = 1e-12  # share of the targets' sum of squares by which errors must differ to count as different
_SEARCHED = 4096  # items among which minima are looked for; more only polish them
_BLOCK = 200_000  # numbers held at once: they stay in the processor's cache


class Sigmoid(NamedTuple):
    """The fitted parameters, in standardised x."""

    rise: float
    straight: float
    shift: float
    slope: float
    """> 0, per standard deviation of x."""
    centre: float
    turns: bool
    """True where the curve is not monotone over the observed range."""


def fit_sigmoid(x: Floats, y: Floats, *, straight: bool, monotone: bool, max_slope: float) -> Sigmoid:
    """Fit the best sigmoid plus line.

    Args:
        x: (n,) standardised scores, mean 0 and sd 1, four or more distinct ones; turned so that a monotone fit rises.
        y: (n,) targets.
        straight: True with the linear term, False without.
        monotone: the curve may not fall anywhere over the range of x.
        max_slope: limit of the slope, > MIN_SLOPE; may be infinite.

    Source:
        Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
        separate", SIAM J. Numer. Anal. 10(2), 1973.
    """
    problem = _Problem(x, y, straight=straight, monotone=monotone, limit=max_slope)
    searched = problem
    if len(x) > _SEARCHED:
        part = np.argsort(x, kind="stable")[np.linspace(0, len(x) - 1, _SEARCHED).astype(np.int64)]
        searched = _Problem(x[part], y[part], straight=straight, monotone=monotone, limit=max_slope)
    slope, centre = problem.polish(searched.search())
    rise, linear, shift = problem.linear(slope, centre)
    return Sigmoid(rise, linear, shift, slope, centre, problem.turns(rise, linear, slope, centre))


class _Problem:
    """The profiled problem; cells are pairs of slope and centre."""

    def __init__(self, x: Floats, y: Floats, *, straight: bool, monotone: bool, limit: float) -> None:
        self.x, self.y, self.straight, self.monotone, self.limit = x, y, straight, monotone, limit
        self.low, self.high = float(x.min()), float(x.max())
        self.y0 = y - y.mean()
        self.x0 = x - x.mean()
        self.xx, self.xy, self.yy = float(self.x0 @ self.x0), float(self.x0 @ self.y0), float(self.y0 @ self.y0)

    def search(self) -> list[tuple[float, float]]:
        """Slope and centre of rough minima, best first."""
        slopes = np.geomspace(MIN_SLOPE, min(STEEP, self.limit), _SLOPES)
        grid = np.array([(s, c) for s in slopes for c in self._centres(s)])
        errors = self._many(grid)
        chosen = _local_minima(errors.reshape(_SLOPES, _CENTRES))[:_REFINED]
        cells, errors = self._zoomed(grid[chosen], errors[chosen], 0.2, 0.5 / grid[chosen, 0] + 0.1)
        steps = _steps(self.x, self.y, straight=self.straight)
        steps = steps[steps[:, 0] <= min(self.limit, _STEEPEST)]
        if len(steps):
            by_step = self._many(steps)
            few = np.argsort(by_step, kind="stable")[:_REFINED]
            steep, by_step = self._zoomed(steps[few], by_step[few], 2.5, _STEPS / steps[few, 0])
            cells, errors = np.concatenate([cells, steep]), np.concatenate([errors, by_step])
        return [(float(cells[i, 0]), float(cells[i, 1])) for i in np.argsort(errors, kind="stable")]

    def _zoomed(self, cells: Floats, errors: Floats, log_slope: float, centre: Floats) -> tuple[Floats, Floats]:
        """Each cell moved to the best place of ever finer grids around it, the first of the given half widths."""
        size = np.column_stack([np.full(len(cells), log_slope), centre])
        offsets = np.stack(np.meshgrid(np.linspace(-1, 1, 7), np.linspace(-1, 1, 7)), axis=-1).reshape(-1, 2)
        for _ in range(_ZOOMS):
            around = cells[:, None, :] + np.zeros_like(offsets)[None]
            around[:, :, 0] *= np.exp(size[:, :1] * offsets[None, :, 0])
            around[:, :, 1] += size[:, 1:] * offsets[None, :, 1]
            around[:, :, 0] = np.clip(around[:, :, 0], MIN_SLOPE, min(self.limit, _STEEPEST))
            found = self._many(around.reshape(-1, 2)).reshape(len(cells), -1)
            best = found.argmin(axis=1)
            least = found[np.arange(len(cells)), best]
            better = least < errors
            cells = np.where(better[:, None], around[np.arange(len(cells)), best], cells)
            errors, size = np.where(better, least, errors), size / 2.5
        return cells, errors

    def polish(self, rough: list[tuple[float, float]]) -> tuple[float, float]:
        """Slope and centre of the best minimum, to the last digit; of equally good ones the gentlest."""
        fine = [self._refine(slope, centre) for slope, centre in rough[:_POLISHED]]
        far = [(slope, self._far(slope, centre)) for slope, centre, _ in fine if self._far(slope, centre) != centre]
        fine += [self._refine(slope, centre) for slope, centre in far]
        least = min(error for _, _, error in fine)
        slope, centre, _ = min(found for found in fine if found[2] <= least + _EQUAL * self.yy)
        return slope, centre

    def _many(self, cells: Floats) -> Floats:
        step = max(1, _BLOCK // len(self.x))
        parts = [self.errors(cells[i : i + step, 0], cells[i : i + step, 1]) for i in range(0, len(cells), step)]
        return np.concatenate(parts)

    def _centres(self, slope: float) -> Floats:
        """Centres worth trying: quantiles of x, and beyond its ends, where the sigmoid is an exponential."""
        inner = np.quantile(self.x, np.linspace(0.0, 1.0, _CENTRES - 12))
        outer = np.geomspace(0.8, 8.0, 6) / slope
        return np.sort(np.concatenate([inner, self.low - outer, self.high + outer]))

    def _far(self, slope: float, centre: float) -> float:
        """Where a sigmoid that is nearly an exponential over the data is one: the error falls on towards there."""
        if centre > self.high + _TAIL / slope:
            return self.high + _FARTHEST / slope
        if centre < self.low - _TAIL / slope:
            return self.low - _FARTHEST / slope
        return centre

    def _refine(self, slope: float, centre: float) -> tuple[float, float, float]:
        """Slope, centre and error at the nearest minimum, by Nelder and Mead's simplex."""
        bounds = math.log(MIN_SLOPE), math.log(min(self.limit, _STEEPEST))

        def place(z: Floats) -> tuple[float, float]:
            s = math.exp(min(max(float(z[0]), bounds[0]), bounds[1]))
            return s, min(max(float(z[1]), self.low - _FARTHEST / s), self.high + _FARTHEST / s)

        def cost(z: Floats) -> float:
            s, c = place(z)
            return float(self.errors(np.array([s]), np.array([c]))[0])

        start, size = np.array([math.log(slope), centre]), np.array([0.03, 0.05 / slope])
        simplex = np.array([start, start - size * [1.0, 0.0], start + size * [0.0, 1.0]])
        options = {"initial_simplex": simplex, "maxiter": 400, "xatol": 1e-8, "fatol": _EQUAL * max(self.yy, 1e-300)}
        found, before = minimize(cost, start, method="Nelder-Mead", options=options), cost(start)
        if before - found.fun <= _EQUAL * self.yy:  # a step may stand anywhere in its gap: leave it in the middle
            return slope, centre, before
        return (*place(found.x), float(found.fun))

    def errors(self, slope: Floats, centre: Floats) -> Floats:
        """(k,) least squared errors over the linear parameters at k cells."""
        return self._profile(slope, centre)[0]

    def linear(self, slope: float, centre: float) -> tuple[float, float, float]:
        """Rise, straight and shift at one cell."""
        _, rise, straight = self._profile(np.array([slope]), np.array([centre]))
        mean = float(expit(slope * (self.x - centre)).mean())
        return float(rise[0]), float(straight[0]), float(self.y.mean() - rise[0] * mean - straight[0] * self.x.mean())

    def turns(self, rise: float, straight: float, slope: float, centre: float) -> bool:
        """True where the slope of the curve changes its sign over the observed range."""
        least, most = (float(v[0]) for v in self._steepness(np.array([slope]), np.array([centre])))
        ends = (straight + rise * least, straight + rise * most)
        slack = 1e-9 * max(abs(straight), abs(rise) * most)
        return min(ends) < -slack and max(ends) > slack

    def _steepness(self, slope: Floats, centre: Floats) -> tuple[Floats, Floats]:
        """Least and largest derivative of the sigmoid over the observed range."""

        def derivative(at: Floats | float) -> Floats:
            s = expit(slope * (at - centre))
            return np.asarray(slope * s * (1.0 - s))

        ends = derivative(self.low), derivative(self.high)
        return np.minimum(*ends), derivative(np.clip(centre, self.low, self.high))

    def _profile(self, slope: Floats, centre: Floats) -> tuple[Floats, Floats, Floats]:
        """Squared error, rise and straight at each cell, under the constraint where there is one."""
        s = expit(slope[:, None] * (self.x[None, :] - centre[:, None]))
        s -= s.mean(axis=1, keepdims=True)
        ss, sx, sy = (s * s).sum(axis=1), s @ self.x0, s @ self.y0
        alone = np.divide(sy, ss, out=np.zeros_like(sy), where=ss > _FLAT)
        zero = np.zeros_like(sy)
        if not self.straight:
            rise = np.maximum(alone, 0.0) if self.monotone else alone
            return self._error(rise, zero, ss, sx, sy), rise, zero
        determinant = ss * self.xx - sx * sx
        free = (ss > _FLAT) & (determinant > 1e-12 * ss * self.xx)
        safe = np.where(free, determinant, 1.0)
        rise = np.where(free, (sy * self.xx - sx * self.xy) / safe, 0.0)
        straight = np.where(free, (ss * self.xy - sx * sy) / safe, self.xy / self.xx)
        if not self.monotone:
            return self._error(rise, straight, ss, sx, sy), rise, straight
        # Monotone: straight + rise * g >= 0 for the least and the largest derivative g of the sigmoid. The edges of
        # this cone are the curves that stand still at one of the two.
        least, most = self._steepness(slope, centre)
        inside = (straight + rise * least >= 0) & (straight + rise * most >= 0)
        error = np.where(inside, self._error(rise, straight, ss, sx, sy), np.inf)
        for edge_rise, edge_straight in ((np.ones_like(ss), -least), (-np.ones_like(ss), most)):
            size = edge_rise**2 * ss + 2.0 * edge_rise * edge_straight * sx + edge_straight**2 * self.xx
            along = edge_rise * sy + edge_straight * self.xy
            parts = edge_rise**2 * ss + edge_straight**2 * self.xx
            solid = size > np.maximum(1e-12 * parts, _FLAT)  # neither constant nor cancelling each other
            step = np.maximum(np.divide(along, size, out=np.zeros_like(size), where=solid), 0.0)
            on_edge = self._error(step * edge_rise, step * edge_straight, ss, sx, sy)
            better = on_edge < error
            rise, straight = np.where(better, step * edge_rise, rise), np.where(better, step * edge_straight, straight)
            error = np.where(better, on_edge, error)
        return error, rise, straight

    def _error(self, rise: Floats, straight: Floats, ss: Floats, sx: Floats, sy: Floats) -> Floats:
        explained = 2.0 * (rise * sy + straight * self.xy)
        return np.asarray(self.yy - explained + rise**2 * ss + 2.0 * rise * straight * sx + straight**2 * self.xx)


def _steps(x: Floats, y: Floats, *, straight: bool) -> Floats:
    """(k, 2) slopes and centres of sigmoids that are steps: between two neighbours in x, or through one of them.

    A step through a value of x takes any height there, so that value fits exactly: the others decide the rest, and the
    height follows. At most some two million numbers are looked at, so among very many items only some gaps are tried.
    """
    values, group = np.unique(x, return_inverse=True)
    m = len(values)
    kept = np.unique(np.linspace(0, m - 2, min(m - 1, max(2_000_000 // len(x), 41))).astype(np.int64))
    gaps = np.diff(values)
    between = np.column_stack([2.0 * _STEPS / gaps[kept], (values[kept] + values[kept + 1]) / 2.0])
    inner = kept[kept > 0]
    through = [_through(x, y, group, values, inner, straight=s) for s in {straight, False}]
    return np.concatenate([between, *through])


def _through(x: Floats, y: Floats, group: Ints, values: Floats, inner: Ints, *, straight: bool) -> Floats:
    """Slopes and centres of steps through each inner value whose height there lies between the two levels."""
    count, total = np.bincount(group).astype(np.float64), np.bincount(group, weights=y)
    columns = [np.ones_like(values), values] if straight else [np.ones_like(values)]
    k = len(columns) + 1
    normal, right = np.zeros((len(inner), k, k)), np.zeros((len(inner), k))
    for i, a in enumerate(columns):
        right[:, i] = (a * total).sum() - (a * total)[inner]
        right[:, -1] = (total.sum() - np.cumsum(total))[inner]
        above = (count * a).sum() - np.cumsum(count * a)
        normal[:, i, -1] = normal[:, -1, i] = above[inner]
        for j, b in enumerate(columns):
            normal[:, i, j] = (count * a * b).sum() - (count * a * b)[inner]
    normal[:, -1, -1] = (count.sum() - np.cumsum(count))[inner]
    usable = np.abs(np.linalg.det(normal)) > 1e-9 * len(x)
    inner, found = inner[usable], np.linalg.solve(normal[usable], right[usable][:, :, None])[:, :, 0]
    level = sum(found[:, i] * a[inner] for i, a in enumerate(columns))
    rise = np.where(found[:, -1] == 0.0, np.nan, found[:, -1])
    height = (total / count)[inner]
    t = (height - level) / rise
    proper = (t > 1e-6) & (t < 1.0 - 1e-6)
    inner, t = inner[proper], t[proper]
    slope = 1.5 * _STEPS / np.minimum(np.diff(values)[inner - 1], np.diff(values)[inner])
    return np.column_stack([slope, values[inner] - logit(t) / slope])


def _local_minima(errors: Floats) -> list[int]:
    """Flat indices of the cells no worse than their neighbours, best first."""
    padded = np.pad(errors, 1, constant_values=np.inf)
    around = [
        padded[1 + i : padded.shape[0] - 1 + i, 1 + j : padded.shape[1] - 1 + j]
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (i, j) != (0, 0)
    ]
    lowest = errors <= np.min(around, axis=0)
    cells = np.flatnonzero(lowest)
    return [int(i) for i in cells[np.argsort(errors.ravel()[cells], kind="stable")]]
