"""Scores while the study runs, how stable their ranking is, and whether to stop: computed from frames, nothing else.

Rankings are of the levels of the factor under comparison (`compare`) where a stage has one, else of the items. Only
answers of leases that are not excluded count; stability and looks rest on finished ones.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from ...consistency import consistency
from ...design import PairStage, RatingStage, Study, check_tolerance
from ...errors import CannotScore
from ...estimate import ESTIMATORS, Estimator, Question, estimate
from ...estimate.encoding import Coded, code_ratings, code_votes
from ...judgements import Ratings, Votes
from ...stats.stability import stability_curve
from .few import MOST, few_levels
from .figures.answered import CheckRow, Third, check_rates, checks, joined, left_share, position_effect, time_histogram
from .figures.numbers import Number
from .figures.persons import persons
from .figures.shown import Cells, Web, exposure, pairings, webs

__all__ = ["REPLICATES", "Asked", "Curve", "Level", "Live", "Material", "ScoreTable", "compute", "tolerances"]

REPLICATES = 200
"""Resamples behind intervals and bounds: enough for what is looked at while more data come in; a report takes 1,000."""
_SIZES = 8
_MANY = 100  # levels or items; beyond, one ranking takes so long that the curve has fewer points and resamples
_SEED = 20_260_101


@dataclass(frozen=True)
class Material:
    """One moment of a study."""

    study: Study
    criteria: tuple[str, ...]
    plan: pl.DataFrame
    """The trials of every version that was answered; `wanted` is true where the version in force asks them."""
    items: pl.DataFrame
    """item and its factors, as text."""
    answers: pl.DataFrame
    """lease, participant, trial, criterion, revision, value, seconds, at, excluded, finished."""
    at: float
    """UTC epoch seconds of the moment."""


@dataclass(frozen=True)
class Level:
    """One row of a table of scores."""

    name: str
    score: Number
    rank_low: int | None
    rank_high: int | None


@dataclass(frozen=True)
class ScoreTable:
    """Scores of one criterion."""

    stages: list[str]
    """Stages behind it."""
    criterion: str
    of: str
    """Factor whose levels are scored, or 'item'."""
    estimator: str
    unit: str
    rows: list[Level]
    """Best first; those without a score last."""
    people: int
    note: str = ""
    """Why there are no scores, or what a reader must know."""


@dataclass(frozen=True)
class Curve:
    """How stable the ranking of one stage and criterion is."""

    stage: str
    criterion: str
    of: str
    ranked: int
    """Levels or items in the ranking."""
    sizes: list[int]
    """Finished people drawn."""
    median: list[float]
    low: list[float]
    """Lower 2.5 % bound at each size; the last, of all people, rests on twice as many resamples as the others."""
    target: float
    people: int
    """Finished people behind the ranking of all."""
    note: str = ""
    """Why there is no curve."""

    @property
    def bound(self) -> float | None:
        """The lower bound at all finished people; None: unknown."""
        return self.low[-1] if self.low else None

    @property
    def reached(self) -> bool:
        """True where the bound is at the target."""
        return self.bound is not None and self.bound >= self.target


@dataclass(frozen=True)
class Asked:
    """Questions of one stage and criterion against the plan's."""

    stage: str
    criterion: str
    kept: int
    """Answers to main and repeat trials, of leases that are not excluded."""
    excluded: int
    target: int


@dataclass(frozen=True)
class Live:
    """Everything that takes longer than a page may wait."""

    at: float
    """The moment it shows, UTC epoch seconds."""
    answers: int
    """Answers in the store at that moment, revisions among them."""
    seconds: float = 0.0
    """How long it took to compute."""
    asked: list[Asked] = field(default_factory=list)
    tables: list[ScoreTable] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    webs: list[Web] = field(default_factory=list)
    cells: list[Cells] = field(default_factory=list)
    checks: list[CheckRow] = field(default_factory=list)
    times: list[dict[str, Any]] = field(default_factory=list)
    """Rows of `time_histogram`."""
    left: list[tuple[str, Number]] = field(default_factory=list)
    thirds: list[Third] = field(default_factory=list)
    consistency: list[dict[str, Any]] = field(default_factory=list)
    """Rows of `consistency`."""
    persons: list[dict[str, Any]] = field(default_factory=list)
    """Rows of `persons`."""


def tolerances(study: Study) -> dict[str, dict[str, float]]:
    """Stage -> check -> how far a rating may lie from the right one.

    As in `practice`: what was told may be missed by a slip, a broken picture by what is still bad. Pairs have none.
    """
    made: dict[str, dict[str, float]] = {}
    for name, stage in zip(study.stage_names, study.stage, strict=True):
        if isinstance(stage, RatingStage):
            made[name] = {check: check_tolerance(stage, check) for check in ("instructed", "broken")}
    return made


def compute(material: Material, *, replicates: int = REPLICATES) -> Live:
    """Return every slow figure of one moment.

    Args:
        material: the moment.
        replicates: resamples behind intervals and bounds, >= 100.
    """
    asked = joined(material.answers, material.plan)
    judged = checks(asked, tolerances(material.study))
    kept = asked.filter(~pl.col("excluded"))
    votes, ratings = _votes(kept), _ratings(kept)
    return Live(
        at=material.at,
        answers=material.answers.height,
        asked=_questions(asked, material),
        tables=_tables(votes, ratings, material, replicates),
        curves=_curves(kept.filter(pl.col("finished")), material, replicates),
        webs=webs(votes),
        cells=_shown(asked, material),
        checks=check_rates(judged),
        times=time_histogram(asked).to_dicts(),
        left=left_share(asked),
        thirds=position_effect(asked),
        consistency=[row for answers in (votes, ratings) for row in _consistent(answers, replicates)],
        persons=persons(asked, judged).to_dicts(),
    )


def _votes(rows: pl.DataFrame) -> Votes | None:
    pairs = rows.filter(pl.col("left").is_not_null() & pl.col("value").is_in(["left", "right", "tie"]))
    main = pairs.filter(pl.col("kind").is_in(["main", "repeat"])).with_columns(choice=pl.col("value"))
    return Votes(main.drop("value", "item", "at", "lease")) if main.height else None


def _ratings(rows: pl.DataFrame) -> Ratings | None:
    number = pl.col("value").cast(pl.Float64, strict=False)
    single = rows.filter(pl.col("item").is_not_null() & number.is_finite() & pl.col("kind").is_in(["main", "repeat"]))
    single = single.with_columns(value=number, expected=pl.lit(None, dtype=pl.Float64))
    return Ratings(single.drop("left", "right", "at", "lease")) if single.height else None


def _questions(asked: pl.DataFrame, material: Material) -> list[Asked]:
    main = asked.filter(pl.col("kind").is_in(["main", "repeat"]))
    counts = {
        (stage, criterion, excluded): n
        for stage, criterion, excluded, n in main.group_by("stage", "criterion", "excluded").len().iter_rows()
    }
    planned = _wanted(material).filter(pl.col("kind").is_in(["main", "repeat"])).group_by("stage").len()
    targets = dict(planned.iter_rows())
    return [
        Asked(stage, criterion, counts.get((stage, criterion, False), 0), counts.get((stage, criterion, True), 0),
              targets.get(stage, 0))
        for stage in material.study.stage_names
        for criterion in material.criteria
    ]  # fmt: skip


def _wanted(material: Material) -> pl.DataFrame:
    plan = material.plan
    return plan.filter(pl.col("wanted")) if "wanted" in plan.columns else plan


def _shown(asked: pl.DataFrame, material: Material) -> list[Cells]:
    stages = dict(zip(material.study.stage_names, material.study.stage, strict=True))
    factors = {name: (stage.compare, stage.group) for name, stage in stages.items()}
    made = exposure(asked, _wanted(material), material.items, factors)
    for name, stage in stages.items():
        if isinstance(stage, PairStage) and stage.compare in material.items.columns:
            made.append(pairings(asked, material.items, name, stage.compare))
    return made


def _consistent(answers: Votes | Ratings | None, replicates: int) -> list[dict[str, Any]]:
    if answers is None:
        return []
    return consistency(answers, replicates=max(100, replicates // 2), seed=_SEED).frame.to_dicts()


def _tables(votes: Votes | None, ratings: Ratings | None, material: Material, replicates: int) -> list[ScoreTable]:
    made: list[ScoreTable] = []
    for answers, kind in ((votes, PairStage), (ratings, RatingStage)):
        if answers is None:
            continue
        stages = _stages_of(material.study, kind)
        compare = {stage.compare for stage in stages.values()}
        of = compare.pop() if len(compare) == 1 else ""
        levels = _levels(material.items, of)
        for criterion in material.criteria:
            part = type(answers)(answers.frame.filter(pl.col("criterion") == criterion))
            if part.frame.height:
                what = of if levels is not None else "item"
                question = Question(
                    replicates=replicates,
                    seed=_SEED,
                    levels=levels,
                    factor=what if levels is not None else None,
                    apart=True,
                )
                made.append(_table(part, criterion, list(stages), what, question))
    return made


def _stages_of(study: Study, kind: type[PairStage] | type[RatingStage]) -> dict[str, PairStage | RatingStage]:
    pairs = zip(study.stage_names, study.stage, strict=True)
    return {name: stage for name, stage in pairs if isinstance(stage, kind)}


def _levels(items: pl.DataFrame, factor: str) -> pl.DataFrame | None:
    if not factor or factor not in items.columns:
        return None
    return items.select("item", pl.col(factor).cast(pl.String).alias("level")).drop_nulls()


def _table(answers: Votes | Ratings, criterion: str, stages: list[str], of: str, question: Question) -> ScoreTable:
    estimator = _estimator(answers)
    people = answers.frame["participant"].n_unique()
    try:
        scores = estimate(answers, estimator, question=question)
    except CannotScore as error:
        return ScoreTable(stages, criterion, of, estimator.name, estimator.unit, [], people, error.message)
    frame = scores.frame.sort("score", descending=True, nulls_last=True)
    notes = scores.made["notes"].get(criterion, {})
    groups = notes.get("groups")
    note = f"{groups} groups were never compared; scores of different groups cannot be compared" if groups else ""
    rows = [
        Level(
            str(row[scores.key]),
            Number(row["score"], row["low"], row["high"], int(row["n"] or 0), row["status"].removeprefix("ok")),
            row["rank_low"],
            row["rank_high"],
        )
        for row in frame.iter_rows(named=True)
    ]
    return ScoreTable(stages, criterion, of, estimator.name, estimator.unit, rows, people, note)


def _estimator(answers: Votes | Ratings) -> Estimator:
    found: Estimator = ESTIMATORS.get("rank-centrality" if isinstance(answers, Votes) else "mos")
    return found


def _curves(finished: pl.DataFrame, material: Material, replicates: int) -> list[Curve]:
    made = []
    for name, stage in zip(material.study.stage_names, material.study.stage, strict=True):
        target = material.study.stop.target.get(name, 0.95)
        rows = finished.filter(pl.col("stage") == name)
        answers = _votes(rows) if isinstance(stage, PairStage) else _ratings(rows)
        levels = _levels(material.items, stage.compare)
        of = stage.compare if levels is not None else "item"
        for criterion in material.criteria:
            made.append(_curve(answers, (name, criterion, of), levels, target, replicates))
    return made


def _curve(
    answers: Votes | Ratings | None,
    about: tuple[str, str, str],
    levels: pl.DataFrame | None,
    target: float,
    replicates: int,
) -> Curve:
    stage, criterion, of = about

    def none(note: str, ranked: int = 0, people: int = 0) -> Curve:
        return Curve(stage, criterion, of, ranked, [], [], [], target, people, note)

    part = None if answers is None else answers.frame.filter(pl.col("criterion") == criterion)
    if answers is None or part is None or part.height == 0:
        return none("nobody has finished a sheet yet")
    estimator = _estimator(answers)
    try:
        coded = _coded(part, levels, pairs=isinstance(answers, Votes))
        data = coded.comparisons if coded.comparisons is not None else coded.opinions
        score = estimator.model(data).score
        people = len(coded.participants)
        many_ranked = len(coded.items) > _MANY
        given = coded.comparisons
        replicate = few_levels(given) if given is not None and len(coded.items) <= MOST else _of(estimator, data)
        sizes = _sizes(people, _SIZES // 2 if many_ranked else _SIZES)
        whole = max(100, replicates // 2) if many_ranked else replicates
        parts = [
            stability_curve(replicate, score, people, some, replicates=many, seed=_SEED)
            for some, many in ((sizes[:-1], whole // 2), (sizes[-1:], whole))
        ]
    except CannotScore as error:
        return none(error.message, people=part["participant"].n_unique())
    median, low = ([value for found in parts for value in getattr(found, end).tolist()] for end in ("median", "low"))
    return Curve(stage, criterion, of, int(np.isfinite(score).sum()), list(sizes), median, low, target, people)


def _of(estimator: Estimator, data: Any) -> Callable[[Any], Any]:
    assert estimator.replicate is not None, "the estimators of the desk have a batched form"
    return functools.partial(estimator.replicate, data)


def _coded(part: pl.DataFrame, levels: pl.DataFrame | None, *, pairs: bool) -> Coded:
    if pairs:
        return code_votes(part, levels=levels, temperature={}, reliability={})
    return code_ratings(part, levels=levels, reliability={})


def _sizes(people: int, count: int) -> Sequence[int]:
    steps = np.linspace(people / count, people, count)
    return sorted({max(2, math.ceil(step)) for step in steps} | {people}) if people >= 2 else [people]
