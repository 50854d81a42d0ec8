"""Climb a smooth likelihood to its top by damped Newton steps; used by every model that has no simpler way up."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from paragone.errors import NotConverged
from paragone.estimate.arrays import Floats
from paragone.estimate.limits import LOOSEST, require_iterating

__all__ = ["DENSE", "Point", "Summit", "climb"]

DENSE = 150  # unknowns; up to here a Cholesky factor is as quick as conjugate gradients (our measurement)
_SLACK = 64 * np.finfo(np.float64).eps  # a sum of many logarithms is no surer than this, relative to its size


_WORTH = 1e-4  # share of the gain that the slope promises which a step must bring (Armijo's usual constant)


class Point(NamedTuple):
    """What a function to be maximised says about one place."""

    value: float
    """The function."""
    gradient: Floats
    """(k,) its first derivatives."""
    matrix: Callable[[], Floats]
    """H (k, k), minus the second derivatives, flat directions bent by the caller; asked for up to DENSE unknowns."""
    curvature: Callable[[Floats], Floats]
    """v (k,) -> H v, for more unknowns."""
    diagonal: Floats
    """(k,) the diagonal of H, which preconditions the conjugate gradients."""


class Summit(NamedTuple):
    """Where the climb ended."""

    x: Floats
    """(k,) the unknowns."""
    point: Point
    """The function there."""
    trace: tuple[float, ...]
    """The value at the start and after each step; it never falls by more than rounding."""

    @property
    def iterations(self) -> int:
        """Steps taken."""
        return len(self.trace) - 1

    @property
    def steepest(self) -> float:
        """Largest absolute first derivative at the end."""
        return float(np.abs(self.point.gradient).max(initial=0.0))


def climb(
    at: Callable[[Floats], Point],
    start: Floats,
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 100,
    longest: float = 4.0,
    watch: Callable[[Floats], None] | None = None,
) -> Summit:
    """Maximise a twice differentiable function from a starting point.

    Each step solves |H| step = gradient, |H| being H with the signs of its negative eigenvalues turned, and is halved
    until it gains. Near the top one step squares the error, so the step that ends the climb leaves an
    error far below `tolerance`. A slope that levels off towards infinity ends the climb too, once what is left to gain
    is below `tolerance`^2 / 10^6: the caller asks the curvature whether anything holds the answer.

    Args:
        at: the function, its first derivatives and minus its second ones at a point (k,).
        start: (k,) where to begin; not written to.
        tolerance: the climb ends after a full step of which no coordinate is longer than this, in (0, 0.1].
        max_iterations: steps allowed, >= 1.
        longest: no coordinate moves further than this in one step, in the unknowns' own unit.
        watch: called with the unknowns after every 25 steps and at the end; raises where they flee to infinity.

    Raises:
        BadConfig: the tolerance or `max_iterations` is out of its range.
        NotConverged: `max_iterations` steps did not end the climb, or no step could raise the value.
    """
    require_iterating(tolerance, max_iterations, loosest=LOOSEST)
    x = np.array(start, dtype=np.float64)
    here = at(x)
    trace = [here.value]
    for _ in range(max_iterations):
        step = _newton_step(here, longest)
        promised = float(
            here.gradient @ step
        )  # twice what a Newton step gains: squared distance to the top, in its errors
        slack = _SLACK * (1.0 + abs(here.value))
        share = 1.0
        while True:
            there = at(x + share * step)
            if np.isfinite(there.value) and there.value >= here.value + _WORTH * share * promised - slack:
                break
            share /= 2.0
            if share < 1e-12:
                raise NotConverged(
                    "no step raises the likelihood any further; the answers leave the scores undetermined"
                )
        x, here = x + share * step, there
        trace.append(here.value)
        ended = share == 1.0 and (float(np.abs(step).max(initial=0.0)) <= tolerance or promised <= 1e-6 * tolerance**2)
        if watch is not None and (ended or len(trace) % 25 == 0):
            watch(x)
        if ended:
            return Summit(x, here, tuple(trace))
    raise NotConverged(
        f"the scores still move by {float(np.abs(step).max(initial=0.0)):.2g} after {max_iterations} steps; "
        "allow more (max_iterations) or use a prior"
    )


def _newton_step(here: Point, longest: float) -> Floats:
    step = _dense_step(here) if here.gradient.size <= DENSE else _conjugate_step(here)
    far = float(np.abs(step).max(initial=0.0))
    return step * (longest / far) if far > longest else step


def _dense_step(here: Point) -> Floats:
    hessian = here.matrix()
    try:
        step: Floats = cho_solve(cho_factor(hessian), here.gradient)
    except LinAlgError:  # not near a hilltop: turn the directions that curve upwards round, so that every step climbs
        bends, directions = np.linalg.eigh(hessian)
        sizes = np.maximum(np.abs(bends), max(1e-14 * float(np.abs(bends).max()), 1e-200))
        step = directions @ ((directions.T @ here.gradient) / sizes)
    return step


def _conjugate_step(here: Point, *, precision: float = 1e-10) -> Floats:
    """Solve H step = gradient by preconditioned conjugate gradients, leaving at the first downhill curvature."""
    gradient = here.gradient
    inverse = 1.0 / np.maximum(np.abs(here.diagonal), 1e-12 * float(np.abs(here.diagonal).max(initial=1.0)))
    step = np.zeros_like(gradient)
    residual = gradient.copy()
    direction = inverse * residual
    power = float(residual @ direction)
    goal = precision * precision * power
    for _ in range(10 * gradient.size):
        bent = here.curvature(direction)
        bend = float(direction @ bent)
        if bend <= 0.0:
            return step if step.any() else direction
        length = power / bend
        step = step + length * direction
        residual = residual - length * bent
        conditioned = inverse * residual
        power, before = float(residual @ conditioned), power
        if power <= goal:
            break
        direction = conditioned + (power / before) * direction
    return step
