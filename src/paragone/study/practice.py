"""Training questions: a participant answers them right before the trials begin."""

from __future__ import annotations

import math
from pathlib import PurePosixPath

import msgspec
import numpy as np
import polars as pl

from ..benchmark import Benchmark
from ..design import PairStage, RatingStage, Text, check_tolerance, references
from ..design.pages import Question
from .faults import Stock, broken_of

__all__ = ["PracticeQuestion", "is_right", "practice"]


class PracticeQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One question with a known answer."""

    criterion: str
    expected: str
    """left, right or tie; for ratings the middle of the accepted range."""
    within: float = 0.0
    """Ratings: largest accepted distance from `expected`."""
    left: str | None = None
    """Key of the picture on the left; None in a rating question."""
    right: str | None = None
    item: str | None = None
    """Key of the rated picture; None in a question on a pair."""
    references: tuple[tuple[str, str, str], ...] = ()
    """(side, factor, key of the picture)."""
    when_right: Text = ""
    """Feedback; empty: ours."""
    when_wrong: Text = ""
    instructed: bool = False
    """The page tells the answer."""


def is_right(value: str, expected: str, within: float = 0.0) -> bool | None:
    """Return whether an answer is the expected one; None where that cannot be judged.

    Args:
        value: left, right, tie, or a number as text.
        expected: the right answer.
        within: largest accepted distance between numbers, in their unit.
    """
    if expected in ("left", "right", "tie"):
        return value == expected if value in ("left", "right", "tie") else None
    try:
        distance = abs(float(value) - float(expected))
    except ValueError:
        return None
    return None if math.isnan(distance) else distance <= within + 1e-9


def practice(stock: Stock) -> tuple[dict[str, list[PracticeQuestion]], list[str]]:
    """Return the training questions of each stage, and a line for each one that cannot be asked.

    Questions of the settings come first; a stage that none of them fits gets `training.auto` of ours: broken versions
    where its checks are of that kind, else questions that tell their answer.

    Args:
        stock: what the version is made from; its plan has no faults.
    """
    asked: dict[str, list[PracticeQuestion]] = {}
    wrong: list[str] = []
    for number, question in enumerate(stock.study.training.question, start=1):
        where = f"study.toml: training question {number}"
        wrong += _unfit(question, stock, where)
    for name, stage in stock.stages.items():
        own = [q for q in stock.study.training.question if _fits(q, name, stage)]
        if own and not wrong:
            asked[name] = [_own(question, stage, stock) for question in own]
        elif not own:
            asked[name] = _auto(name, stage, stock)
    return asked, wrong


def _fits(question: Question, name: str, stage: PairStage | RatingStage) -> bool:
    if question.stage:
        return question.stage == name
    return ("item" in question.pictures) == isinstance(stage, RatingStage)


def _unfit(question: Question, stock: Stock, where: str) -> list[str]:
    roles = set(question.pictures)
    pairs = {"left", "right"} <= roles
    lines = []
    if question.stage and question.stage not in stock.stages:
        lines.append(f"{where}: no stage '{question.stage}'; there is {', '.join(stock.stages)}")
    if pairs == ("item" in roles):
        lines.append(f"{where}: pictures need either left and right, or item")
    elif question.stage in stock.stages and pairs != isinstance(stock.stages[question.stage], PairStage):
        lines.append(f"{where}: its pictures do not fit stage '{question.stage}'")
    if question.criterion and question.criterion not in stock.criteria:
        lines.append(f"{where}: no criterion '{question.criterion}'; there is {', '.join(stock.criteria)}")
    if pairs and question.expected not in ("left", "right"):
        lines.append(f"{where}: expected is '{question.expected}'; give left or right")
    if "item" in roles and is_right(question.expected or "none", "0") is None:
        lines.append(f"{where}: expected is '{question.expected}'; give a number of the scale")
    for role, picture in question.pictures.items():
        path = PurePosixPath(picture)
        if picture not in stock.images and (path.is_absolute() or ".." in path.parts):
            lines.append(f"{where}: {role} '{picture}' lies outside the study's folder")
    return lines


def _own(question: Question, stage: PairStage | RatingStage, stock: Stock) -> PracticeQuestion:
    keys = {role: name if name in stock.images else f"file:{name}" for role, name in question.pictures.items()}
    sides = ("left", "right") if isinstance(stage, PairStage) else ("item",)
    beside = [role for role in keys if role not in ("left", "right", "item")]
    return PracticeQuestion(
        criterion=question.criterion or stock.criteria[0],
        expected=question.expected,
        within=0.0 if isinstance(stage, PairStage) else question.within,
        left=keys.get("left"),
        right=keys.get("right"),
        item=keys.get("item"),
        references=tuple((side, role, keys[role]) for side in sides for role in beside),
        when_right=question.right,
        when_wrong=question.wrong,
    )


def _auto(name: str, stage: PairStage | RatingStage, stock: Stock) -> list[PracticeQuestion]:
    number = stock.study.training.auto
    rng = np.random.default_rng([stock.study.seed, 1 + list(stock.stages).index(name)])
    broken = [] if stage.check == "instructed" else broken_of(stock.benchmark)
    chosen = [broken[i] for i in rng.permutation(len(broken))[:number].tolist()]
    sides = rng.permutation(np.arange(number) % 2).tolist()
    rows = stock.plan.filter((stock.plan["stage"] == name) & stock.plan["kind"].is_in(["main", "repeat"]))
    questions = []
    for turn in range(number if rows.height else 0):
        criterion = stock.criteria[turn % len(stock.criteria)]
        pair = chosen[turn % len(chosen)] if chosen else None
        row = rows.row(int(rng.integers(rows.height)), named=True)
        if isinstance(stage, PairStage):
            shown = _broken_shown(pair, sides[turn]) if pair else (row["left"], row["right"])
            questions.append(_auto_pair(stage, name, criterion, shown, sides[turn], pair is None, stock.benchmark))
        else:
            version = pair[0] if pair and sides[turn] == 0 else None
            questions.append(_auto_rating(stage, name, criterion, version, row["item"], stock.benchmark, rng))
    return questions


def _broken_shown(pair: tuple[str, str], side: int) -> tuple[str, str]:
    """Left and right of a broken version and its sound item, the sound one on side 0 (left) or 1 (right)."""
    return (pair[1], pair[0]) if side == 0 else pair


def _auto_pair(
    stage: PairStage, name: str, criterion: str, shown: tuple[str, str], side: int, told: bool, benchmark: Benchmark
) -> PracticeQuestion:
    left, right = shown
    return PracticeQuestion(
        criterion=criterion,
        expected=("left", "right")[side],
        left=left,
        right=right,
        references=(*_beside("left", left, stage, name, benchmark), *_beside("right", right, stage, name, benchmark)),
        instructed=told,
    )


def _auto_rating(
    stage: RatingStage,
    name: str,
    criterion: str,
    broken: str | None,
    item: str,
    benchmark: Benchmark,
    rng: np.random.Generator,
) -> PracticeQuestion:
    """Broken items and questions that tell the value take turns, so that one value is never right throughout."""
    whole = stage.high - stage.low
    if broken is not None:
        item, expected, within = broken, stage.low, check_tolerance(stage, "broken")
    else:
        steps = math.floor(whole / stage.step + 1e-9)
        expected, within = (
            stage.low + stage.step * int(rng.integers(steps + 1)),
            check_tolerance(stage, "instructed"),
        )
    return PracticeQuestion(
        criterion=criterion,
        expected=f"{expected:.10g}",
        within=within,
        item=item,
        references=_beside("item", item, stage, name, benchmark),
        instructed=broken is None,
    )


def _beside(
    side: str, item: str, stage: PairStage | RatingStage, name: str, benchmark: Benchmark
) -> tuple[tuple[str, str, str], ...]:
    """(side, factor, key) of what stands beside an item in a stage."""
    shown = {"left": [item], "right": [item], "item": [None]} if side != "item" else {"left": [None], "item": [item]}
    row = pl.DataFrame(shown, schema=dict.fromkeys(shown, pl.String))
    factors = references.beside(benchmark, stage, name)
    told = references.with_references(row, benchmark, factors).row(0, named=True)
    return tuple(
        (side, factor, f"reference:{factor}:{told[f'{side}.{factor}']}")
        for factor in factors
        if told[f"{side}.{factor}"] is not None
    )
