"""Adaptive dealing: from a plan and the votes on it to the next wave of sheets, and to the plan with them.

The command line and the server deal through this one function, so that both give the same sheets for the same votes.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from ..benchmark import Benchmark
from ..design import PairStage, Study, next_wave
from ..errors import BadConfig, TooFew, UnknownName
from ..estimate import Question, estimate
from ..judgements import Votes
from ..plan import Plan
from ..scores import Scores

__all__ = ["ESTIMATOR", "Wave", "adaptive_stage", "adaptive_stages", "grown", "sheets_left", "targets", "wave"]

ESTIMATOR = "bradley-terry-ridge"
"""Scores the votes. Its prior keeps scores finite where an item always won, and its intervals come from its curvature:
they exist for the votes of one person, where resampled people would leave most of a sparse design unconnected."""


class Wave(NamedTuple):
    """What is dealt next."""

    stage: str
    sheets: int
    answers: int
    """Votes that were looked at, one for each trial and criterion; 0: the wave is dealt evenly."""
    plan: Plan
    """The new sheets only."""
    left: int
    """Sheets that the stage has left to deal after them."""


def adaptive_stages(study: Study) -> list[str]:
    """Names of the stages that are dealt in waves, in the study's order."""
    stages = zip(study.stage_names, study.stage, strict=True)
    return [name for name, stage in stages if isinstance(stage, PairStage) and stage.adaptive]


def targets(study: Study) -> dict[str, int]:
    """Sheets that the stages which are dealt in waves will have when all waves are dealt."""
    stages = zip(study.stage_names, study.stage, strict=True)
    return {name: stage.participants for name, stage in stages if isinstance(stage, PairStage) and stage.adaptive}


def adaptive_stage(study: Study, plan: Plan, name: str = "") -> str:
    """Return the stage of which a wave can be dealt.

    Args:
        study: the settings.
        plan: all sheets so far.
        name: the stage; empty: the first adaptive one that has sheets left to deal.

    Raises:
        UnknownName: no such stage.
        BadConfig: it is not adaptive, or has all its sheets.
    """
    adaptive = adaptive_stages(study)
    if name and name not in study.stage_names:
        raise UnknownName.among(name, study.stage_names, "stage")
    if name and name not in adaptive:
        raise BadConfig(
            f"stage '{name}' is not dealt in waves; study.toml says so by adaptive = true, before the plan is made",
            where="stage.adaptive",
        )
    if not adaptive:
        raise BadConfig(
            "no stage is dealt in waves; study.toml says so by adaptive = true, before the plan is made",
            where="stage.adaptive",
        )
    asked = [name] if name else adaptive
    open_ = [one for one in asked if sheets_left(study, plan.frame, one) > 0]
    if not open_:
        many = study.stage[study.stage_names.index(asked[0])].participants
        raise BadConfig(
            f"stage '{asked[0]}' has all its {many} sheets; raise participants for more"
            if len(asked) == 1
            else f"stages {', '.join(asked)} have all their sheets; raise participants for more",
            where="stage.participants",
        )
    return open_[0]


def sheets_left(study: Study, plan: pl.DataFrame, stage: str) -> int:
    """Return how many sheets of a stage are still to be dealt.

    Args:
        study: the settings.
        plan: columns stage and sheet of all sheets so far.
        stage: its name.
    """
    there = plan.filter(pl.col("stage") == stage)["sheet"].n_unique()
    return max(0, study.stage[study.stage_names.index(stage)].participants - there)


def wave(plan: Plan, study: Study, benchmark: Benchmark, votes: Votes | None, stage: str) -> Wave:
    """Deal the next wave of a stage.

    Votes of all stages count, as they are about the same items. Items that no comparison joins are scored apart.

    Args:
        plan: all sheets so far, of every stage.
        study: the settings.
        benchmark: the items.
        votes: what people answered; None: nothing yet, and the wave is dealt evenly.
        stage: name of an adaptive stage, see `adaptive_stage`.

    Raises:
        UnknownName, BadConfig: as for `design.next_wave`.
        BadInput: the plan shows items that the benchmark does not have.
        CannotScore: the votes cannot be scored.
    """
    record = study.stage[study.stage_names.index(adaptive_stage(study, plan, stage))]
    assert isinstance(record, PairStage)
    scores, answers = _scored(votes, study.seed)
    dealt = next_wave(plan, study, benchmark, scores, stage, record.wave, study.seed)
    whole = grown(plan, dealt)
    return Wave(stage, dealt.frame["sheet"].n_unique(), answers, dealt, sheets_left(study, whole.frame, stage))


def _scored(votes: Votes | None, seed: int) -> tuple[Scores | None, int]:
    if votes is None or votes.main.frame.height == 0:
        return None, 0
    question = Question(intervals="analytic", seed=seed, apart=True)
    try:
        return estimate(votes, ESTIMATOR, question=question), votes.main.frame.height
    except TooFew:  # no two different items were compared: nothing is known
        return None, 0


def grown(plan: Plan, dealt: Plan) -> Plan:
    """Return a plan with further sheets.

    A plan that names no references gets none with the new sheets: they follow from the settings, for all sheets alike.

    Args:
        plan: what there was.
        dealt: the new sheets.

    Raises:
        BadTable: a trial stands in both.
    """
    beside = [name for name in dealt.frame.columns if name.startswith(("left.", "right.", "item."))]
    named = any(name.startswith(("left.", "right.", "item.")) for name in plan.frame.columns)
    fresh = dealt.frame if named else dealt.frame.drop(beside)
    return Plan(pl.concat([plan.frame, fresh], how="diagonal_relaxed"))
