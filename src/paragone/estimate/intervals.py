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
from ..stats.wilson import wilson_interval
from .arrays import Estimate, Floats

__all__ = ["Spread", "analytic_spread", "bootstrap_spread", "no_spread"]

_CHUNK = 50  # replicates handed to a model at once: bounds memory, and a bar has something to show
_MOST_RANKED = 3000  # items; ranks need an n x n covariance, 70 MB here
_FEW = 10  # people behind an item; below, the replicates' spread is used with Student's t, not their percentiles
_UNANIMOUS = 6  # people: of five who agree, chance makes 2 * 0.5^5 = .06 > .05, so no spread is then no certainty


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


def analytic_spread(fitted: Estimate, covariance: Floats | None, *, confidence: float) -> Spread:
    """Intervals from standard errors or a covariance; Student's t where the model gives degrees of freedom, Wilson's
    interval where scores are shares of trials.

    Args:
        fitted: scores, standard errors and notes; `notes["df"]` (n,) are degrees of freedom, `notes["wilson_trials"]`
            (n,) trials behind a share and `notes["wilson_scale"]` (n,) what the share is multiplied by, if any.
        covariance: (n, n) of the scores, or None to take independent errors `fitted.stderr`.
        confidence: coverage, in (0, 1).
    """
    error = fitted.stderr if covariance is None else np.sqrt(np.clip(np.diag(covariance), 0, None))
    assert error is not None
    tail = (1 + confidence) / 2
    freedom, trials = fitted.notes.get("df"), fitted.notes.get("wilson_trials")
    if covariance is None and trials is not None:
        scale = np.asarray(fitted.notes.get("wilson_scale", np.ones(len(fitted.score))), dtype=np.float64)
        low, high = (scale * end for end in wilson_interval(fitted.score / scale, trials, level=confidence))
    else:
        reach = norm.ppf(tail) * error
        if covariance is None and freedom is not None:
            freedom = np.asarray(freedom, dtype=np.float64)
            reach = t.ppf(tail, np.where(freedom > 0, freedom, np.nan)) * error
            error = reach / norm.ppf(tail)  # so that ranks, which are normal, are as careful as the intervals
        low, high = fitted.score - reach, fitted.score + reach
    unknown = ~(np.isfinite(low) & np.isfinite(high))
    low, high = np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)
    matrix = np.diag(error**2) if covariance is None else covariance
    best, worst, notes = _ranks(fitted.score, ~unknown, confidence, covariance=matrix)
    return Spread(low, high, best, worst, None, {"intervals": "analytic", **notes})


def bootstrap_spread(
    replicate: Callable[[Floats], Floats],
    score: Floats,
    people: Floats,
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

    An item judged by ten participants or more has an interval between percentiles of its replicates, moved outwards for
    few participants, so that for a plain mean it is as wide as Student's interval. With fewer, percentiles of so coarse
    a distribution say little, and the interval is Student's, from the replicates' standard deviation. An item judged
    by one participant, or by five or fewer whose resampling changes nothing, has none: that they agree is no certainty.
    Ranks are told apart with the same care: by the replicates' spread, times what Student's interval is wider.
    A replicate that does not determine the scores is left out and counted.

    Args:
        replicate: (r, n_people) weights -> (r, n) scores, NaN where a replicate determines none.
        score: (n,) scores of the full data.
        people: (n,) participants who judged each item.
        n_people: participants, the units that are resampled.
        replicates: how many.
        confidence: coverage, in (0, 1).
        seed: the same seed gives the same replicates, for any number of jobs.
        jobs: worker processes.
        people_known: False where each answer stands for a person of its own; noted.
        quiet: show no progress bar.

    Returns:
        Intervals, ranks, draws and notes; no interval with fewer than two participants.

    Source:
        Hesterberg, "What Teachers Should Know About the Bootstrap: Resampling in the Undergraduate Statistics
        Curriculum", The American Statistician 69(4), 2015, section 4.1.3 (expanded percentiles).
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
    reach = _reach(people, confidence)
    low, high = _ends(draws, score, people, reach)
    known = np.isfinite(low)
    scored = ~np.isnan(score)
    by = "participant" if people_known else "answer: the table names no participant"
    notes: dict[str, Any] = {
        "intervals": f"bootstrap by {by}",
        "replicates": replicates,
        "replicates_undetermined": int(np.isnan(draws[:, scored]).all(axis=1).sum()) if scored.any() else replicates,
        "without_interval": int((scored & ~known).sum()),
    }
    wider = score + (draws - score) * (reach / norm.ppf((1 + confidence) / 2))  # ranks as careful as the intervals
    rank_low, rank_high, said = _ranks(score, known, confidence, draws=wider)
    return Spread(low, high, rank_low, rank_high, draws, {**notes, **said})


def _reach(people: Floats, confidence: float) -> Floats:
    """(n,) standard deviations of the replicates from a score to either end of its interval; NaN below two people."""
    freedom = np.where(people >= 2, people - 1, np.nan)
    reach: Floats = np.sqrt(people / freedom) * t.ppf((1 + confidence) / 2, freedom)
    return reach


def _ends(draws: Floats, score: Floats, people: Floats, reach: Floats) -> tuple[Floats, Floats]:
    """(n,) ends of the intervals, NaN where there is none."""
    present = np.count_nonzero(~np.isnan(draws), axis=0)
    enough = (present >= 0.5 * len(draws)) & ~np.isnan(
        score
    )  # our choice: fewer replicates describe the survivors only
    sd = np.full(draws.shape[1], np.nan)
    sd[enough] = np.nanstd(draws[:, enough], axis=0, ddof=1)
    still = sd <= 1e-12 * np.maximum(np.abs(score), 1.0)
    usable = enough & (people >= 2) & ~(still & (people < _UNANIMOUS))
    low, high = score - reach * sd, score + reach * sd
    many = usable & (people >= _FEW)
    for size in np.unique(people[many]):
        at = many & (people == size)
        tail = norm.cdf(-reach[at][0])
        low[at], high[at] = np.nanquantile(draws[:, at], [tail, 1 - tail], axis=0)
    return np.where(usable, low, np.nan), np.where(usable, high, np.nan)


def _ranks(
    score: Floats,
    known: np.ndarray[Any, np.dtype[np.bool_]],
    confidence: float,
    *,
    draws: Floats | None = None,
    covariance: Floats | None = None,
) -> tuple[Floats, Floats, dict[str, Any]]:
    """Best and worst ranks among the scored items; one without an interval may hold any rank, and so widens the others'."""
    n = len(score)
    none = np.full(n, np.nan)
    scored = ~np.isnan(score)
    if n > _MOST_RANKED:
        return none, none, {"ranks": f"none: {n} items, and rank intervals are given up to {_MOST_RANKED}"}
    if not known.any():
        return none, none, {"ranks": "none: no item has an interval"}
    kept = np.flatnonzero(known)
    try:
        if draws is not None:
            ranks = rank_intervals(draws[:, kept], score=score[kept], level=confidence)
        else:
            assert covariance is not None
            ranks = rank_intervals(score=score[kept], covariance=covariance[np.ix_(kept, kept)], level=confidence)
    except TooFew as error:
        return none, none, {"ranks": f"none: {error.message}"}
    low, high = none.copy(), none.copy()
    low[scored], high[scored] = 1, scored.sum()
    low[kept], high[kept] = ranks.low, ranks.high + (scored.sum() - kept.size)
    return low, high, {}
