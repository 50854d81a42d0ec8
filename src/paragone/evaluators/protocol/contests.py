"""Does a learner beat the others? Paired tests over folds and over held-out levels, and the gain over the strongest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import t as student

from ...stats.dependent import Difference
from ...stats.holm import holm
from ...stats.resample import bootstrap_weights, percentile_interval
from ...stats.statistic import Floats
from .judged import LEAST_FOLDS, STATISTICS, Court, Foretold, Kind, covering, expanded_level, fold_mean

__all__ = ["contests", "gains", "paired_folds", "relative_gain"]

_UNSURE = 0.025  # share of resamples beyond which a baseline is not told from 0: the usual one-sided tail


def contests(court: Court, said: Sequence[Foretold]) -> list[dict[str, Any]]:
    """Test each learner against every metric and floor, and against the learners that come after it.

    Two tests a statistic, on the items that both predict: 'folds', a paired t test of the correlations per fold, and
    'levels', the difference of the pooled correlations over its standard error from a bootstrap over held-out levels,
    with Student's t of levels - 1 degrees of freedom (percentiles of few levels would be far too sure). p values are
    adjusted by Holm over all pairs of one criterion, statistic and method. Folds share training items, so that their
    values are not quite independent: the t test over them is approximate.

    There is no test over levels for a predictor that follows the mean of what it learned from (`Court.follows`): it would
    lose to anything, and not because of what it knows.

    Returns:
        Rows as in `validation.TESTS`; NaN where the folds or levels do not determine a number, and `note` says why.
    """
    learners = [own for own in said if own.kind == "learner"]
    pairs = [(a, b) for at, a in enumerate(learners) for b in learners[at + 1 :]]
    pairs += [(a, b) for a in learners for b in said if b.kind in ("metric", "floor")]
    rows = []
    for statistic in STATISTICS:
        for method in ("folds", "levels"):
            family: list[dict[str, Any]] = []
            for a, b in pairs:
                result, n = (_over_folds if method == "folds" else _over_levels)(court, a, b, statistic)
                family.append(
                    {
                        "predictor": a.predictor,
                        "other": b.predictor,
                        "other_kind": b.kind,
                        "criterion": court.criterion,
                        "statistic": statistic,
                        "method": method,
                        "difference": result.difference,
                        "low": result.low,
                        "high": result.high,
                        "p": result.p,
                        "n": n,
                        "note": result.note,
                    }
                )
            for row, adjusted in zip(family, holm([row["p"] for row in family]), strict=True):
                rows.append({**row, "p_holm": float(adjusted)})
    return rows


def gains(court: Court, said: Sequence[Foretold]) -> list[dict[str, Any]]:
    """The relative gain of each learner over the strongest metric, and over the strongest floor.

    The strongest is the one with the largest mean over folds among those that cover the folds and items (`covering`).
    Picking a maximum favours the baseline: the best of many metrics is in part the luckiest on these folds, and the
    interval does not pick again.

    Returns:
        Rows as in `validation.GAINS`.
    """
    rows = []
    for statistic in STATISTICS:
        for kind in ("metric", "floor"):
            strongest = _strongest(court, said, kind, statistic)
            if strongest is None:
                continue
            for learner in (own for own in said if own.kind == "learner"):
                a, b = _values(court, learner, strongest, statistic)
                rows.append(
                    {
                        "learner": learner.predictor,
                        "criterion": court.criterion,
                        "statistic": statistic,
                        "baseline": strongest.predictor,
                        "baseline_kind": kind,
                        **relative_gain(a, b, repeated=court.repeated, replicates=court.replicates, seed=court.seed),
                    }
                )
    return rows


def paired_folds(first: Floats, second: Floats) -> Difference:
    """Mean difference of two predictors over folds, with Student's t interval and test.

    Args:
        first: (k,) correlations per fold; NaN: undefined.
        second: (k,) of the other predictor, fold by fold.

    Returns:
        Mean of first - second over the folds in which both are defined, 95 % interval, t and the two-sided p; NaN with a
        note for fewer than three such folds or equal differences.
    """
    gap = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    gap = gap[~np.isnan(gap)]
    if not len(gap):
        return Difference(math.nan, math.nan, math.nan, math.nan, math.nan, "no fold in which both are defined")
    mean = float(gap.mean())
    if len(gap) < LEAST_FOLDS:
        return Difference(mean, math.nan, math.nan, math.nan, math.nan, f"{len(gap)} folds in which both are defined")
    error = float(gap.std(ddof=1)) / math.sqrt(len(gap))
    return _student(mean, error, len(gap) - 1, "the differences show no spread")


def relative_gain(
    learner: Floats, baseline: Floats, *, repeated: bool = False, replicates: int = 1000, seed: int = 0
) -> dict[str, Any]:
    """(mean learner - mean baseline) / mean baseline, with an interval from resampled folds.

    Args:
        learner: (k,) correlations per fold; NaN: undefined.
        baseline: (k,) of the baseline, fold by fold.
        repeated: folds share held-out items; no interval then.
        replicates: resamples of the folds, both predictors together.
        seed: of them.

    Returns:
        learner_mean and baseline_mean over the folds in which both are defined, their number, gain, low, high, note.
        The gain is NaN where the baseline's mean is not above 0, or not above 0 in more than 2.5 % of the resamples: a
        share of what may be nothing has no meaning, and its interval no end.
    """
    known = ~np.isnan(learner) & ~np.isnan(baseline)
    a, b = np.asarray(learner)[known], np.asarray(baseline)[known]
    k = len(a)
    row: dict[str, Any] = {
        "baseline_mean": float(b.mean()) if k else math.nan,
        "learner_mean": float(a.mean()) if k else math.nan,
        "gain": math.nan,
        "low": math.nan,
        "high": math.nan,
        "folds": k,
        "note": "",
    }
    if not k or row["baseline_mean"] <= 0.0:
        return {**row, "note": "the strongest baseline is not above 0" if k else "no fold in which both are defined"}
    row["gain"] = row["learner_mean"] / row["baseline_mean"] - 1.0
    if k < LEAST_FOLDS or repeated or not replicates:
        return {**row, "note": "folds share held-out items: no interval" if repeated else f"{k} folds: no interval"}
    weights = bootstrap_weights(k, replicates, seed)
    below = weights @ b / k
    draws = np.where(below > 0, weights @ a / k / np.where(below > 0, below, 1.0) - 1.0, np.nan)
    lost = int(np.isnan(draws).sum())
    if lost > _UNSURE * len(draws):
        note = f"the baseline is not above 0 in {lost} of {len(draws)} resamples, so that a share of it says nothing"
        return {**row, "gain": math.nan, "note": note}
    bounds = percentile_interval(draws, level=expanded_level(k))
    note = f"the baseline is not above 0 in {lost} of {len(draws)} resamples, left out" if lost else ""
    return {**row, "low": float(bounds.low), "high": float(bounds.high), "note": note}


def _strongest(court: Court, said: Sequence[Foretold], kind: Kind | str, statistic: str) -> Foretold | None:
    over = [fold_mean(court.by_fold(own, statistic), repeated=court.repeated) for own in said]
    covers = covering([one.folds for one in over], [int((~np.isnan(own.score)).sum()) for own in said])
    able = [at for at, own in enumerate(said) if own.kind == kind and over[at].folds and covers[at]]
    return said[max(able, key=lambda at: (over[at].mean, -at))] if able else None


def _values(court: Court, a: Foretold, b: Foretold, statistic: str) -> tuple[Floats, Floats]:
    """Correlations per fold of both, on the items that both predict."""
    kept = court.common(a, b)
    first, second = (np.array([f.value for f in court.by_fold(own, statistic, kept)]) for own in (a, b))
    return first, second


def _over_folds(court: Court, a: Foretold, b: Foretold, statistic: str) -> tuple[Difference, int]:
    first, second = _values(court, a, b, statistic)
    result = paired_folds(first, second)
    if court.repeated:
        gap = "folds share held-out items, so that their number says too much: no test over folds"
        result = Difference(result.difference, math.nan, math.nan, math.nan, math.nan, gap)
    return result, int((~np.isnan(first - second)).sum())


def _over_levels(court: Court, a: Foretold, b: Foretold, statistic: str) -> tuple[Difference, int]:
    kept = court.common(a, b)
    levels = len(np.unique(court.level[kept]))
    first, second = court.pooled(a, statistic, kept), court.pooled(b, statistic, kept)
    gap = first.value - second.value
    lost = next((own.note for own in (first, second) if not own.defined), "")
    lost = lost or next(filter(None, (court.follows(own) for own in (a, b))), "")
    why = lost or court.few_levels(np.flatnonzero(kept)) or ("" if court.replicates else "no resamples were asked for")
    if why:
        return Difference(gap, math.nan, math.nan, math.nan, math.nan, why), levels
    draws = court.draws(a, statistic, kept) - court.draws(b, statistic, kept)
    draws = draws[~np.isnan(draws)]
    error = float(draws.std(ddof=1)) * math.sqrt(levels / (levels - 1)) if len(draws) > 1 else 0.0
    return _student(gap, error, levels - 1, "the resamples show no spread"), levels


def _student(gap: float, error: float, freedom: int, flat: str) -> Difference:
    """A difference with its t interval and test; without both where there is no error to compare with."""
    if error <= 1e-15:
        return Difference(gap, math.nan, math.nan, math.nan, 1.0 if gap == 0.0 else math.nan, flat)
    half, t = float(student.ppf(0.975, freedom)) * error, gap / error
    return Difference(gap, gap - half, gap + half, t, float(2.0 * student.sf(abs(t), freedom)))
