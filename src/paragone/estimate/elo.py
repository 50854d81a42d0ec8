"""Elo ratings: an online update per answer, for comparison with leaderboards; the order of the answers matters."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np
from scipy.special import expit

from paragone.errors import TooFew
from paragone.estimate.arrays import Comparisons, Estimate, Estimator, Floats, Ints
from paragone.estimate.edges import aggregate
from paragone.estimate.limits import require_within

__all__ = ["ELO", "elo", "elo_replicate"]

_RANGES = {"k": (1e-6, 1e6), "scale": (1e-3, 1e6), "base": (1.001, 1e6), "initial": (-1e6, 1e6)}


def elo(
    comparisons: Comparisons, *, k: float = 4.0, scale: float = 400.0, base: float = 10.0, initial: float = 1000.0
) -> Estimate:
    """Score items by one pass over the answers in their order, each moving both ratings by what it surprised.

    R_left += K w (outcome - E), R_right -= the same, E = 1 / (1 + base^((R_right - R_left) / (scale temperature))).
    The result is a running average that remembers late answers best; it does not converge to anything as answers repeat
    and has no standard error of its own. For scores that do not depend on the order use bradley-terry.

    Args:
        comparisons: answers in the order in which they were given; a tie is an outcome of 0.5, `weight` multiplies K (0
            skips the answer) and `temperature` the scale. Self-pairs change nothing.
        k: largest move of a rating by one answer of weight 1, in points, 1e-6 to 1e6.
        scale: difference in points at which the odds are `base` to 1, 1e-3 to 1e6.
        base: those odds, 1.001 to 1e6.
        initial: where every item starts, points, -1e6 to 1e6.

    Returns:
        Ratings in points, (n,); the mean over the compared items stays `initial`. NaN for items never compared. No
        stderr. Notes: order, unseen, self_pairs.

    Raises:
        BadConfig: k, scale, base or initial is out of range.
        TooFew: no pair of different items.
        BadInput: an index, outcome, weight or temperature is out of range.

    Source:
        Elo, "The Rating of Chessplayers, Past and Present", 1978, section 1.6; defaults as in evalica 0.4.2.
    """
    _check(k, scale, base, initial)
    edges = aggregate(comparisons)
    rows = _rows(comparisons)
    steepness = log(base) / scale
    rating = [float(initial)] * comparisons.n
    columns = (
        comparisons.left[rows].tolist(),
        comparisons.right[rows].tolist(),
        comparisons.outcome[rows].tolist(),
        (k * comparisons.weight[rows]).tolist(),
        (steepness / comparisons.temperature[rows]).tolist(),
    )
    for left, right, outcome, gain, steep in zip(*columns, strict=True):
        x = steep * (rating[left] - rating[right])
        # either form of the logistic, so that no gap overflows
        expected = 1.0 / (1.0 + exp(-x)) if x >= 0.0 else exp(x) / (1.0 + exp(x))
        move = gain * (outcome - expected)
        rating[left] += move
        rating[right] -= move
    notes: dict[str, Any] = {
        "order": "the ratings depend on the order of the answers",
        "unseen": np.flatnonzero(~edges.seen),
        "self_pairs": edges.self_pairs,
    }
    return Estimate(np.where(edges.seen, np.array(rating), np.nan), None, notes)


def elo_replicate(
    comparisons: Comparisons,
    weights: Floats,
    *,
    k: float = 4.0,
    scale: float = 400.0,
    base: float = 10.0,
    initial: float = 1000.0,
) -> Floats:
    """(r, n) ratings under r reweightings of the participants (r, participants): one pass updates all replicates.

    A participant who counts twice moves ratings by twice K. Items whose answers all have weight 0 are NaN.
    """
    _check(k, scale, base, initial)
    rows = _rows(comparisons)
    if not rows.size:
        raise TooFew("no answer compares two different items; nothing to score")
    steepness = log(base) / scale
    replicates = weights.shape[0]
    rating = np.full((comparisons.n, replicates), float(initial))
    seen = np.zeros((comparisons.n, replicates), dtype=bool)
    by_person = np.ascontiguousarray(weights.T)
    columns = zip(
        comparisons.left[rows].tolist(),
        comparisons.right[rows].tolist(),
        comparisons.outcome[rows].tolist(),
        comparisons.participant[rows].tolist(),
        (k * comparisons.weight[rows]).tolist(),
        (steepness / comparisons.temperature[rows]).tolist(),
        strict=True,
    )
    for left, right, outcome, person, gain, steep in columns:
        counts = by_person[person]
        move = gain * counts * (outcome - expit(steep * (rating[left] - rating[right])))
        rating[left] += move
        rating[right] -= move
        seen[left] |= counts > 0
        seen[right] |= counts > 0
    return np.where(seen, rating, np.nan).T


def _rows(comparisons: Comparisons) -> Ints:
    rows: Ints = np.flatnonzero((comparisons.weight > 0) & (comparisons.left != comparisons.right))
    return rows


def _check(k: float, scale: float, base: float, initial: float) -> None:
    for name, value in (("k", k), ("scale", scale), ("base", base), ("initial", initial)):
        require_within(name, value, *_RANGES[name], where="elo")


ELO = Estimator(
    name="elo",
    model=elo,
    reads="votes",
    summary="Elo's online ratings, for comparison with leaderboards; depends on the order of the answers",
    unit="Elo points",
    source="Elo, The Rating of Chessplayers, Past and Present, 1978, section 1.6",
    replicate=elo_replicate,
    ordered=True,
    options={
        "k": "largest move of a rating by one answer, points, 1e-6 to 1e6; default 4",
        "scale": "difference at which the odds are base to 1, points, 1e-3 to 1e6; default 400",
        "base": "those odds, 1.001 to 1e6; default 10",
        "initial": "where every item starts, points, -1e6 to 1e6; default 1000",
    },
)
