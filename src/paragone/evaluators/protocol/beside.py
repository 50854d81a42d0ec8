"""Who stands beside the learners on the same held-out items: metrics, metrics of sets, and floors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from ...agreement.align import matches
from ...agreement.figures import LEAST_FOR_INTERVAL, LEAST_ITEMS
from ...agreement.settled import settled
from ...scores import Scores
from ...stats.statistic import Floats, Statistic
from ..entrant import Exam
from .exams import Levels
from .floors import additive, cell_mean, floors_of
from .judged import STATISTICS, Court, Foretold

__all__ = ["floors_beside", "learned_means", "metrics_beside", "set_rows"]


def metrics_beside(court: Court, people: Scores, metrics: Iterable[Scores]) -> list[Foretold]:
    """What each metric says of the held-out items, turned where lower is better; NaN where it has no score.

    Args:
        court: the held-out items of one criterion.
        people: scores of people.
        metrics: scores of items; one without a criterion speaks to each.
    """
    bare = Scores(people.of_criterion(court.criterion), name=people.name, better=people.better)
    found = []
    for metric in metrics:
        for pair in matches(bare, metric):
            value = dict(zip(pair.items, pair.x * pair.sign, strict=True))
            score = np.array([value.get(item, math.nan) for item in court.items])
            nothing = np.full(len(score), math.nan)
            missing = int(np.isnan(score).sum())
            told = [f"{missing} of {len(score)} held-out items have no score"] if missing else []
            told += [str(pair.notes["direction"])] if "direction" in pair.notes else []
            found.append(Foretold(pair.predictor, "metric", score, nothing, nothing, pair.sign, note="; ".join(told)))
    return found


def floors_beside(exams: Sequence[Exam], levels: Levels, held_out: str, others: Sequence[str]) -> list[Foretold]:
    """What each floor says of the held-out items of one criterion, from the training items of their folds.

    Args:
        exams: of that criterion, fold by fold.
        levels: of all items.
        held_out: the held-out factor.
        others: the factors that floors may read.
    """
    found, learned = [], learned_means(exams)
    for floor in floors_of(others, held_out):
        parts, unseen = [], 0
        for exam in exams:
            if floor.adds:
                said, lost = additive(exam.train, exam.y, exam.test, levels, floor.reads, held_out)
            else:
                said, lost = cell_mean(exam.train, exam.y, exam.test, levels, floor.reads)
            parts.append(said)
            unseen += lost
        score: Floats = np.concatenate(parts)
        nothing = np.full(len(score), math.nan)
        instead = "no effect for it" if floor.adds else "the mean of all training items"
        note = f"{unseen} of {len(score)} items have a level that no training item has: {instead}" if unseen else ""
        found.append(
            Foretold(
                floor.name,
                "floor",
                score,
                nothing,
                nothing,
                reads=frozenset(floor.reads),
                note=note,
                learned=learned,
            )
        )
    return found


def learned_means(exams: Sequence[Exam]) -> Floats:
    """(n,) for each held-out item the mean target of what its fold is learned from."""
    return np.concatenate([np.full(len(exam.test), exam.y.mean()) for exam in exams])


def set_rows(court: Court, metric: Scores, levels: Levels) -> list[dict[str, Any]]:
    """Rows of the table for a metric of sets: its value of each level beside the mean of people's scores there.

    A value of a set stands once, however many items the level has: n counts levels. Repeated over the items of a fold it
    would be constant there, and over all of them claim a precision that it does not have.

    Args:
        court: the held-out items of one criterion.
        metric: scores of levels of one factor.
        levels: of all items.

    Returns:
        One row a statistic, as in `validation.TABLE`, the correlation under `pooled` with Fisher's interval.
    """
    usable = pl.col("score").is_not_null() & pl.col("score").is_finite() & (pl.col("status") == "ok")
    spoken = next((own for own in (court.criterion, None) if own in metric.criteria), "")
    rows = metric.frame.filter(usable & pl.col("criterion").eq_missing(spoken))
    factors = rows["of"].drop_nulls().unique().to_list()
    x = y = np.empty(0)
    if len(factors) == 1 and factors[0] in levels:
        x, y = _beside_means(court, levels[factors[0]], dict(zip(rows["level"], rows["score"], strict=True)))
        notes = [f"one value for each {factors[0]}: n counts levels"]
    else:
        notes = ["has no values of this criterion for levels of one factor that the items have"]
    if metric.better == "unknown":
        notes.append("unknown which end is better; a larger score was taken as better")
    x = -x if metric.better == "lower" else x
    made = []
    for statistic, (compute, _) in STATISTICS.items():
        found = compute(x, y) if len(x) >= LEAST_ITEMS else Statistic.undefined(len(x), f"{len(x)} levels")
        few = f"{len(x)} levels, {LEAST_FOR_INTERVAL} are needed for an interval" if len(x) < LEAST_FOR_INTERVAL else ""
        found = settled(found, few)
        made.append(
            {"predictor": metric.name, "kind": "set", "criterion": court.criterion, "statistic": statistic}
            | {"n": len(x), "pooled": found.value, "pooled_low": found.low, "pooled_high": found.high}
            | {"note": "; ".join(filter(None, (*notes, found.note)))}
        )
    return made


def _beside_means(court: Court, level_of: dict[str, str], value_of: dict[str, float]) -> tuple[Floats, Floats]:
    """Values of the levels, and people's mean over the items of each."""
    people: dict[str, list[float]] = {}
    for item, score in dict(zip(court.items, court.y, strict=True)).items():
        if item in level_of:
            people.setdefault(level_of[item], []).append(float(score))
    both = sorted(set(value_of) & set(people))
    return np.array([value_of[level] for level in both]), np.array([np.mean(people[level]) for level in both])
