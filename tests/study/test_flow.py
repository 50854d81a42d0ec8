"""Laws of the flow: wherever a participant stops, they go on as if they had not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.design import PairStage, RatingStage, Study
from paragone.design.pages import People, Questionnaire, Training, Tutorial
from paragone.study.flow import (
    ENDINGS,
    Checked,
    Given,
    Happened,
    Held,
    Where,
    checked,
    criteria_order,
    practised,
    where,
)
from paragone.study.frozen import Frozen
from paragone.study.practice import PracticeQuestion

CRITERIA = ("content", "style")
SECONDS = 60
LEASE = Held(7, "s", "s-1", "leased")


def frozen_of(
    stage: PairStage | RatingStage,
    *,
    sessions: int = 1,
    trials: int = 5,
    checks: Sequence[str | None] = (),
    practice: int = 1,
    **study: object,
) -> Frozen:
    """A version with one owner whose sheets hold so many trials, the first ones checks with those right answers."""
    pairs = isinstance(stage, PairStage)
    rows = []
    for session in range(1, sessions + 1):
        for position in range(1, trials + 1):
            check = position <= len(checks)
            rows.append(
                {
                    "trial": f"t{session}-{position}", "sheet": f"s-1-{session}", "owner": "s-1", "session": str(session),
                    "stage": "s", "position": position, "kind": "check" if check else "main",
                    "left": "a" if pairs else None, "right": "b" if pairs else None, "item": None if pairs else "a",
                    "expected": checks[position - 1] if check else None, "repeat_of": None,
                    "check": "broken" if check else None,
                }
            )  # fmt: skip
    questions = tuple(
        PracticeQuestion(criterion="content", expected="left", left="a", right="b") for _ in range(practice)
    )
    schema = {name: pl.Int64 if name == "position" else pl.String for name in rows[0]}
    return Frozen(
        study=Study(stage=[stage], criteria=list(CRITERIA), **study),  # type: ignore[arg-type]
        plan=pl.DataFrame(rows, schema=schema),
        pictures={},
        words={},
        practice={"s": questions} if questions else {},
        name="n",
        criteria=CRITERIA,
        simulated=False,
        folder=Path(),
    )


PAIRS = PairStage(name="s", participants=1, trials=5, repeats=0, break_seconds=SECONDS)
RATINGS = RatingStage(name="s", participants=1, break_seconds=0)


class Life:
    """A participant who does what the flow asks for; the clock may jump before every deed."""

    def __init__(self, frozen: Frozen, jumps: Iterator[float]) -> None:
        self.frozen, self.jumps = frozen, jumps
        self.now = 1_000_000.0
        self.events: list[Happened] = []
        self.answers: list[Given] = []
        self.phases: list[tuple[str, int]] = []
        self.waited: Counter[int] = Counter()

    def where(self) -> Where:
        held = LEASE if any(event.kind == "consent" for event in self.events) else None
        return where(self.frozen, held, self.events, self.answers, self.now)

    def note(self, kind: str, at: Where, **body: object) -> None:
        session = at.sheet.session if at.sheet else None
        self.events.append(Happened(kind, self.now, LEASE.id, session, body))

    def deed(self) -> bool:
        """Do the next thing; False: there is nothing left to do."""
        self.now += next(self.jumps)
        at = self.where()
        self.phases.append((at.phase, at.number))
        if at.phase == "trial":
            assert at.sheet is not None
            trial = at.sheet.trials[at.frontier]
            open_ = [name for name in CRITERIA if (trial.trial, name) not in at.given]
            self.answers.append(Given(trial.trial, open_[0], 0, "left", self.now))
        elif at.phase == "break":
            assert at.began is not None
            if self.now < at.began:
                self.note("break-began", at)
            elif at.remaining > 0:
                self.waited[at.number] += at.remaining
                self.now += at.remaining
            else:
                self.note("break-ended", at)
        elif at.phase == "wait":
            assert at.until is not None
            self.now = at.until
        elif at.phase == "training":
            self.note("training", at, answers={"0": "left"})
        elif at.phase == "ready":
            self.note("trials-begun", at)
        elif at.phase == "finish":
            self.note("finished", at, outcome="completed")
        elif at.phase == "done":
            return False
        else:
            self.note(at.phase, at)
        return True


def lived(frozen: Frozen, jumps: Iterator[float]) -> Life:
    life = Life(frozen, jumps)
    for _ in range(500):
        if not life.deed():
            return life
    raise AssertionError(f"no end: {life.phases[-5:]}")


def order(life: Life) -> list[tuple[str, int]]:
    """The phases in which the life was, each stay once."""
    return [key for key, _ in groupby(phase for phase in life.phases if phase[0] != "wait")]


def steady() -> Iterator[float]:
    while True:
        yield 1.0


FIRST = [(name, 1) for name in ("consent", "device", "instructions", "tutorial", "training", "ready")]


def test_a_straight_run_has_every_phase_once_and_in_order() -> None:
    life = lived(frozen_of(PAIRS), steady())
    wanted = [*FIRST, ("trial", 1), ("break", 1), ("trial", 1), ("questionnaire", 1), ("finish", 1), ("done", 1)]
    assert order(life) == wanted


def test_later_sessions_have_only_device_ready_and_trials_and_the_last_one_the_questionnaire() -> None:
    life = lived(frozen_of(RATINGS, sessions=3, tutorial=Tutorial(kind="text-to-image")), steady())
    later = [(name, n) for n in (2, 3) for name in ("device", "ready", "trial", "questionnaire", "finish")]
    later.remove(("questionnaire", 2))
    assert order(life) == [*FIRST, ("trial", 1), ("finish", 1), *later, ("done", 3)]


def test_what_the_settings_leave_empty_is_skipped() -> None:
    stage = PairStage(name="s", participants=1, trials=5, repeats=0, break_seconds=0)
    frozen = frozen_of(
        stage, practice=0, tutorial=Tutorial(kind="none"), questionnaire=Questionnaire(ask=[], remark=False)
    )
    phases = [name for name, _ in order(lived(frozen, steady()))]
    assert phases == ["consent", "device", "instructions", "ready", "trial", "finish", "done"]


JUMPS = st.lists(st.one_of(st.just(1.0), st.floats(-90, 90), st.floats(-1e5, 1e5)), max_size=60)


def then_steady(jumps: Sequence[float]) -> Iterator[float]:
    yield from jumps
    yield from steady()


@settings(max_examples=60, deadline=None)
@given(JUMPS, st.sampled_from([1, 2]))
def test_a_clock_that_jumps_changes_no_phase_and_brings_no_second_break(jumps: list[float], sessions: int) -> None:
    frozen = frozen_of(PAIRS, sessions=sessions)
    life = lived(frozen, then_steady(jumps))
    assert order(life) == order(lived(frozen, steady()))
    ended = Counter(event.session for event in life.events if event.kind == "break-ended")
    assert set(ended.values()) == {1}


@settings(max_examples=60, deadline=None)
@given(st.floats(-1e6, 1e6))
def test_one_jump_of_the_clock_adds_no_more_than_one_break(jump: float) -> None:
    life = Life(frozen_of(PAIRS), steady())
    while life.where().phase != "break":
        life.deed()
    life.now += jump
    while life.where().phase == "break":
        life.deed()
    assert life.waited[1] <= SECONDS
    assert life.where().phase == "trial"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_who_comes_back_goes_on_where_they_were(data: st.DataObject) -> None:
    frozen = frozen_of(PAIRS, sessions=2)
    whole = lived(frozen, steady())
    life = Life(frozen, steady())
    for _ in range(data.draw(st.integers(0, len(whole.phases) - 1))):
        life.deed()
    again = Life(frozen, steady())
    again.events, again.answers, again.now = list(life.events), list(life.answers), life.now + 3600
    again.answers = data.draw(st.permutations(again.answers))
    while again.deed():
        pass
    assert [(a.trial, a.criterion) for a in again.answers[len(life.answers) :]] == [
        (a.trial, a.criterion) for a in whole.answers[len(life.answers) :]
    ]
    assert [key for key, _ in groupby(order(life) + order(again))] == order(whole)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_part_of_what_happened_gives_a_place(data: st.DataObject) -> None:
    frozen = frozen_of(PAIRS, sessions=2)
    whole = lived(frozen, steady())
    events = [event for event in whole.events if data.draw(st.booleans())]
    answers = [answer for answer in whole.answers if data.draw(st.booleans())]
    lease = data.draw(
        st.sampled_from([None, LEASE, LEASE._replace(state="excluded"), LEASE._replace(state="complete")])
    )
    at = where(frozen, lease, events, answers, whole.now + data.draw(st.floats(-1e6, 1e6)))
    assert 0 <= at.frontier <= 5
    assert 0 <= at.remaining <= SECONDS
    assert at.gate <= 5


@pytest.mark.parametrize(("kind", "outcome"), sorted(ENDINGS.items()))
def test_an_ending_ends_it(kind: str, outcome: str) -> None:
    life = lived(frozen_of(PAIRS), steady())
    at = where(life.frozen, LEASE, [*life.events[:3], Happened(kind, 0.0, LEASE.id)], [], life.now)
    assert (at.phase, at.outcome) == ("done", outcome)


def test_without_a_lease_the_study_is_full() -> None:
    assert where(frozen_of(PAIRS), None, [Happened("consent", 0.0)], [], 1.0).phase == "full"


@pytest.mark.parametrize(
    ("state", "phase"), [("leased", "device"), ("abandoned", "device"), ("excluded", "closed"), ("retired", "closed")]
)
def test_only_a_lease_under_way_goes_on(state: str, phase: str) -> None:
    held = LEASE._replace(state=state)
    assert where(frozen_of(PAIRS), held, [Happened("consent", 0.0)], [], 1.0).phase == phase


def test_the_next_session_waits_for_the_gap_and_no_longer_where_the_clock_was_set_back() -> None:
    frozen = frozen_of(RATINGS, sessions=2, people=People(gap_hours=1))
    life = Life(frozen, steady())
    while ("finish", 1) not in life.phases:
        life.deed()
    finished = life.events[-1].at
    assert (life.where().phase, life.where().until) == ("wait", finished + 3600)
    life.now = finished - 1e6
    assert life.where().until == life.now + 3600
    life.now = finished + 3600
    assert (life.where().phase, life.where().number) == ("device", 2)


def test_before_the_break_is_over_nothing_behind_it_may_be_answered() -> None:
    life = Life(frozen_of(PAIRS), steady())
    while life.where().phase != "break":
        life.deed()
    at = life.where()
    assert (at.frontier, at.gate) == (3, 3)
    life.now += SECONDS
    assert life.where().gate == 5


def test_an_answer_behind_the_break_ends_it() -> None:
    life = Life(frozen_of(PAIRS), steady())
    while life.where().phase != "break":
        life.deed()
    life.answers.append(Given("t1-4", "content", 0, "left", life.now + SECONDS))
    assert life.where().phase == "trial"


def test_training_counts_attempts_and_keeps_the_answers_of_the_last() -> None:
    frozen = frozen_of(PAIRS, practice=2, training=Training(attempts=2))
    wrong = Happened("training", 0.0, 7, "1", {"answers": {"0": "left", "1": "right"}})
    half = Happened("training", 0.0, 7, "1", {"answers": {"1": "left"}})
    rest = Happened("training", 0.0, 7, "1", {"answers": {"0": "left"}})
    assert practised(frozen, "s", [wrong])[:3] == (2, (None, None), ("left", "right"))
    assert practised(frozen, "s", [wrong, half]).answers == (None, "left")
    assert practised(frozen, "s", [wrong, half, rest]).passed
    assert practised(frozen, "s", [wrong, wrong]).failed


@pytest.mark.parametrize(
    ("right", "shown", "needed", "failed"),
    [(4, 6, 5, True), (5, 6, 5, False), (6, 6, 5, False), (2, 4, 3, True), (3, 4, 3, False), (0, 4, 0, False)],
)
def test_too_few_right_checks_exclude(right: int, shown: int, needed: int, failed: bool) -> None:
    stage = PairStage(name="s", participants=1, trials=8, repeats=0, checks=shown, checks_needed=needed)
    frozen = frozen_of(stage, trials=8, checks=["left"] * shown)
    (sheet,) = frozen.sheets("s", "s-1")
    said = [
        Given(trial.trial, name, 0, "left" if place < right else "right", 0.0)
        for place, trial in enumerate(sheet.trials)
        for name in CRITERIA
    ]
    found = checked(stage, sheet, CRITERIA, said)
    assert (sum(found.right.values()), found.failed(needed)) == (right, failed)


def test_a_check_is_right_on_every_criterion_or_wrong_and_the_last_revision_counts() -> None:
    frozen = frozen_of(PAIRS, checks=["left"])
    (sheet,) = frozen.sheets("s", "s-1")
    said = [Given("t1-1", "content", 0, "left", 0.0), Given("t1-1", "style", 0, "right", 0.0)]
    assert checked(PAIRS, sheet, CRITERIA, said).wrong == {"broken": 1}
    assert checked(PAIRS, sheet, CRITERIA, [*said, Given("t1-1", "style", 1, "left", 1.0)]).right == {"broken": 1}


@pytest.mark.parametrize("expected", [None, "left"])
def test_a_check_that_cannot_be_judged_is_held_against_nobody(expected: str | None) -> None:
    frozen = frozen_of(PAIRS, checks=[expected])
    (sheet,) = frozen.sheets("s", "s-1")
    found = checked(PAIRS, sheet, CRITERIA, [Given("t1-1", "content", 0, "left", 0.0)])
    assert found == Checked({}, {}, {"broken": 1})
    assert not found.failed(1)


@pytest.mark.parametrize(("value", "right"), [("0", 1), ("1.5", 1), ("1.6", 0)])
def test_a_broken_item_is_rated_low(value: str, right: int) -> None:
    frozen = frozen_of(RATINGS, checks=["0"])
    (sheet,) = frozen.sheets("s", "s-1")
    said = [Given("t1-1", name, 0, value, 0.0) for name in CRITERIA]
    assert sum(checked(RATINGS, sheet, CRITERIA, said).right.values()) == right


def test_criteria_take_every_place_equally_often_among_leases_in_a_row() -> None:
    study, names = Study(stage=[PAIRS], seed=5), ["a", "b", "c"]
    orders = [tuple(criteria_order(study, PAIRS, lease, "1", names)) for lease in range(3, 33)]
    for place in range(3):
        assert set(Counter(order_[place] for order_ in orders).values()) == {10}
    assert len(set(orders)) == 6


def test_criteria_of_pairs_keep_their_order_over_sessions_and_those_of_ratings_do_not() -> None:
    study, names = Study(stage=[PAIRS], seed=5), ["a", "b", "c", "d"]
    assert len({tuple(criteria_order(study, PAIRS, 9, str(s), names)) for s in range(20)}) == 1
    assert len({tuple(criteria_order(study, RATINGS, 9, str(s), names)) for s in range(20)}) > 5
