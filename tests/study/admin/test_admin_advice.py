"""Stop or go on, by the rule that was declared and the looks that were logged."""

from __future__ import annotations

from desk_world import pairs_study
from paragone.study.admin.advice import Look, advise, due, look_at
from paragone.study.admin.figures.progress import Quota
from paragone.study.admin.live import Curve

STUDY = pairs_study()  # stage 1: target 0.8; stage 2: 0.95; looks at every 4 finished, two in a row


def _look(number: int, content: float | None, style: float | None, *, stage: str = "1", target: float = 0.8) -> Look:
    return Look(stage, number, number * 4, {"content": content, "style": style}, target, 1000.0 * number)


def _quota(stage: str, needed: int, done: int) -> Quota:
    return Quota(stage, needed, done, 0, needed - done, 0, 0, 0)


OPEN = [_quota("1", 12, 5), _quota("2", 8, 1)]


def test_before_the_first_look_it_is_too_early() -> None:
    said = advise(STUDY, [], [_quota("1", 12, 3), _quota("2", 8, 0)])
    assert said.word == "too early"
    assert said.stages[0].why == "The first look is due after 4 finished sheets; there are 3."
    assert said.stages[0].next_at == 4


def test_one_look_at_the_target_is_not_enough() -> None:
    said = advise(STUDY, [_look(1, 0.9, 0.85)], OPEN)
    assert said.stages[0].word == "go on"
    assert said.stages[0].why == "1 of 2 looks in a row reached 0.8; the next is due at 8 finished sheets."


def test_two_looks_in_a_row_stop_the_stage_and_not_the_study() -> None:
    said = advise(STUDY, [_look(2, 0.9, 0.8), _look(1, 0.9, 0.85)], OPEN)
    assert said.stages[0].word == "stop"
    assert said.word == "too early"
    assert said.why == "No look is due yet in stage 2."


def test_a_look_below_the_target_breaks_the_row_and_names_the_criterion() -> None:
    said = advise(STUDY, [_look(1, 0.9, 0.9), _look(2, 0.9, 0.7), _look(3, None, 0.9)], OPEN)
    assert said.stages[0].word == "go on"
    assert "content unknown; the plan is filled before the next." in said.stages[0].why  # 16 of 12 sheets
    assert said.word == "go on"


def test_a_filled_plan_needs_no_more_whatever_the_looks_say() -> None:
    said = advise(STUDY, [_look(1, 0.1, 0.1)], [_quota("1", 12, 12), _quota("2", 8, 8)])
    assert said.word == "stop"
    assert said.stages[0].why == "The plan is filled; there is nothing more to ask."


def test_a_look_is_due_once_for_every_so_many_finished_sheets() -> None:
    assert due(3, [], 4) is None
    assert due(4, [], 4) == 1
    assert due(7, [_look(1, 1.0, 1.0)], 4) is None
    assert due(13, [_look(1, 1.0, 1.0)], 4) == 3
    assert due(7, [_look(2, 1.0, 1.0)], 4) is None  # somebody was excluded since


def test_a_look_holds_the_bound_of_every_criterion() -> None:
    curves = [
        Curve("1", "content", "method", 4, [2, 4], [0.8, 0.9], [0.1, 0.82], 0.8, 4),
        Curve("1", "style", "method", 4, [], [], [], 0.8, 4, "not connected"),
    ]
    look = look_at("1", 1, curves, 5.0)
    assert look == Look("1", 1, 4, {"content": 0.82, "style": None}, 0.8, 5.0)
    assert not look.reached
