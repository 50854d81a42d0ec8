"""Intervals of scores, and ranks that admit what the data cannot tell apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm, t

from ..errors import TooFew
from ..parallel import spread, track
from ..stats.resample import bootstrap_weights, rank_intervals
from .arrays import Estimate, Floats

__all__ = ["Spread", "analytic_spread", "bootstrap_spread", "no_spread"]

_CHUNK = 50  # replicates handed to a model at once: bounds memory, and a bar has something to show
_MOST_RANKED = 3000  # items; ranks need an n x n covariance, 70 MB here


@dataclass(frozen=True)
class Spread:
    """How sure the scores of n items are."""

    low: Floats
    high: Floats
    rank_low: Floats
    rank_high: Floats
    draws: Floats | None
    """(replicates, n) joint replicates, NaN where one determines no score; None without a bootstrap."""
    notes: Mapping[str, Any]


def no_spread(score: Floats, notes: Mapping[str, Any]) -> Spread:
    """The spread of scores whose intervals are unknown: all NaN."""
    none = np.full(len(score), np.nan)
    return Spread(none, none, none, none, None, notes)


def analytic_spread(fitted: Estimate, covariance: Floats | None, *, confidence: float, seed: int) -> Spread:
    """Intervals from standard errors or a covariance; Student's t where the model gives degrees of freedom.

    Args:
        fitted: scores, standard errors and notes; `notes["df"]` (n,) are degrees of freedom, if any.
        covariance: (n, n) of the scores, or None to take independent errors `fitted.stderr`.
        confidence: coverage, in (0, 1).
        seed: unused randomness is none; kept so that both spreads are called alike.
    """
    del seed
    error = fitted.stderr if covariance is None else np.sqrt(np.clip(np.diag(covariance), 0, None))
    assert error is not None
    tail = (1 + confidence) / 2
    freedom = fitted.notes.get("df")
    if covariance is None and freedom is not None:
        freedom = np.asarray(freedom, dtype=np.float64)
        reach = t.ppf(tail, np.where(freedom > 0, freedom, np.nan)) * error
    else:
        reach = norm.ppf(tail) * error
    reach = np.where(np.isfinite(reach), reach, np.nan)
    matrix = np.diag(error**2) if covariance is None else covariance
    low, high, notes = _ranks(fitted.score, confidence, covariance=matrix)
    return Spread(fitted.score - reach, fitted.score + reach, low, high, None, {"intervals": "analytic", **notes})


def bootstrap_spread(
    replicate: Callable[[Floats], Floats],
    score: Floats,
    n_people: int,
    *,
    replicates: int,
    confidence: float,
    seed: int,
    jobs: int = 1,
    people_known: bool = True,
    quiet: bool = False,
) -> Spread:
    """Intervals from resampled participants.

    The interval lies between percentiles of the replicates that are moved outwards for few participants, so that for a
    plain mean of p participants it is as wide as Student's interval (Hesterberg, "What Teachers Should Know About the
    Bootstrap", The American Statistician 69(4), 2015, section 4.1.3, expanded percentiles). A replicate that does not
    determine the scores is left out and counted.

    Args:
        replicate: (r, n_people) weights -> (r, n) scores, NaN where a replicate determines none.
        score: (n,) scores of the full data.
        n_people: participants, the units that are resampled.
        replicates: how many.
        confidence: coverage, in (0, 1).
        seed: the same seed gives the same replicates, for any number of jobs.
        jobs: worker processes.
        people_known: False where each answer stands for a person of its own; noted.
        quiet: show no progress bar.

    Returns:
        Intervals, ranks, draws and notes; no interval with fewer than two participants.
    """
    if n_people < 2:
        return no_spread(score, {"intervals": "none: a bootstrap by participant needs two or more of them"})
    weights = bootstrap_weights(n_people, replicates, seed)
    pieces = [weights[start : start + _CHUNK] for start in range(0, replicates, _CHUNK)]
    if jobs == 1:
        parts = [replicate(piece) for piece in track(pieces, "bootstrap", quiet=quiet)]
    else:
        parts = spread(replicate, pieces, jobs=jobs, label="bootstrap", quiet=quiet)
    draws = np.concatenate(parts)
    draws = np.where(np.isfinite(draws), draws, np.nan)
    notes: dict[str, Any] = {
        "intervals": "bootstrap by participant"
        if people_known
        else "bootstrap by answer: the table names no participant",
        "replicates": replicates,
        "replicates_undetermined": int(np.isnan(draws).all(axis=1).sum()),
    }
    low, high = _expanded(draws, n_people, confidence)
    missing = np.isnan(score)
    low[missing] = high[missing] = np.nan
    rank_low, rank_high, said = _ranks(score, confidence, draws=draws)
    return Spread(low, high, rank_low, rank_high, draws, {**notes, **said})


def _expanded(draws: Floats, n_people: int, confidence: float) -> tuple[Floats, Floats]:
    reach = np.sqrt(n_people / (n_people - 1)) * t.ppf((1 + confidence) / 2, n_people - 1)
    tail = norm.cdf(-reach)
    known = np.count_nonzero(~np.isnan(draws), axis=0)
    enough = known >= 0.5 * len(draws)  # our choice: an interval from fewer replicates describes the survivors only
    low, high = np.full(draws.shape[1], np.nan), np.full(draws.shape[1], np.nan)
    if enough.any():
        low[enough], high[enough] = np.nanquantile(draws[:, enough], [tail, 1 - tail], axis=0)
    return low, high


def _ranks(
    score: Floats, confidence: float, *, draws: Floats | None = None, covariance: Floats | None = None
) -> tuple[Floats, Floats, dict[str, Any]]:
    none = np.full(len(score), np.nan)
    if len(score) > _MOST_RANKED:
        return none, none, {"ranks": f"none: {len(score)} items, and rank intervals are given up to {_MOST_RANKED}"}
    try:
        if draws is not None:
            ranks = rank_intervals(draws, score=score, level=confidence)
        else:
            ranks = rank_intervals(score=score, covariance=covariance, level=confidence)
    except TooFew as error:
        return none, none, {"ranks": f"none: {error.message}"}
    return ranks.low, ranks.high, {}
