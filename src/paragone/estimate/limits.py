"""What the numbers that reach a model may be: one place for the ranges of options and of ratings."""

from __future__ import annotations

import math

import numpy as np

from paragone.errors import BadConfig, BadInput
from paragone.estimate.arrays import Floats

__all__ = ["LARGEST_RATING", "LOOSEST", "require_iterating", "require_within", "require_within_reach"]

LARGEST_RATING = 1e100
"""Ratings lie within +- this, in their own unit: squares of such numbers, summed, stay far from overflow."""

_REAL = (int, float, np.integer, np.floating)

LOOSEST = 0.1
"""Largest tolerance of a climb, in logits or JOD; a looser one would pass the first step off as an answer."""


def require_within(
    name: str, value: object, low: float, high: float, *, where: str, zero: bool = False, advice: str = ""
) -> None:
    """Refuse a numeric option outside its range; NaN and infinity always are.

    Args:
        name: the option, as users type it.
        value: what was given.
        low: smallest value allowed.
        high: largest value allowed.
        where: the estimator, for the message.
        zero: 0 is allowed as well, where it means that something is left out.
        advice: what to do instead; empty: nothing beyond the range is said.

    Raises:
        BadConfig: the value is not a number in [low, high].
    """
    if isinstance(value, bool) or not isinstance(value, _REAL) or not low <= value <= high:
        if zero and not isinstance(value, bool) and value == 0:
            return
        other = "0 or " if zero else ""
        more = f"; {advice}" if advice else ""
        raise BadConfig(f"{where}: {name} = '{value}' is not {other}between {low:g} and {high:g}{more}", where=name)


def require_iterating(tolerance: object, max_iterations: object, *, loosest: float = math.inf) -> None:
    """Refuse a tolerance or a limit under which no iteration could end with an answer.

    Args:
        tolerance: when the iteration ends, in the unit of what it moves.
        max_iterations: how many rounds it may take.
        loosest: largest tolerance allowed.

    Raises:
        BadConfig: the tolerance is not a finite number above 0 and up to `loosest`, or the limit is not a whole number
            of at least 1.
    """
    if not (isinstance(tolerance, _REAL) and 0.0 < tolerance <= loosest and tolerance < math.inf):
        most = f" and up to {loosest:g}" if loosest < math.inf else ""
        raise BadConfig(f"tolerance = '{tolerance}' is not a finite number above 0{most}", where="tolerance")
    if isinstance(max_iterations, bool) or not isinstance(max_iterations, (int, np.integer)) or max_iterations < 1:
        raise BadConfig(
            f"max_iterations = '{max_iterations}' is not a whole number of at least 1", where="max_iterations"
        )


def require_within_reach(value: Floats) -> None:
    """Refuse ratings that are missing, infinite or too large to be squared and summed.

    Args:
        value: (k,) ratings.

    Raises:
        BadInput: a rating is not a number within +-LARGEST_RATING; names the first.
    """
    bad = np.flatnonzero(~np.isfinite(value))
    if bad.size:
        raise BadInput(f"rating {bad[0]} is {value[bad[0]]}; leave missing ratings out")
    far = np.flatnonzero(np.abs(value) > LARGEST_RATING)
    if far.size:
        raise BadInput(
            f"rating {far[0]} is {value[far[0]]:g}, beyond +-{LARGEST_RATING:g}; give the ratings in a larger unit"
        )
