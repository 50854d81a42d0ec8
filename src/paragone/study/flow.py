"""What comes next for a participant: a pure function of the study, what happened so far, and the clock.

The order is consent, device, instructions, tutorial, training, ready, trials with a break in the middle, questionnaire,
finish; phases that the settings leave empty are skipped, and later sessions have only device, ready and trials. Nothing
here reads a store or a clock, so a session that is taken up again, one that ran straight through and one that is
simulated are the same thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from ..design import PairStage, RatingStage, Study, check_tolerance
from .cards import cards_of
from .frozen import Frozen, Sheet, Trial
from .practice import is_right

__all__ = [
    "ENDINGS",
    "Checked",
    "Given",
    "Happened",
    "Held",
    "Phase",
    "Practised",
    "Where",
    "checked",
    "criteria_order",
    "practised",
    "where",
]

Phase = Literal[
    "consent", "device", "instructions", "tutorial", "training", "ready", "trial", "break", "questionnaire", "finish",
    "done", "wait", "full", "closed",
]  # fmt: skip

ENDINGS = {"training-failed": "failed-training", "screened-out": "screened-out", "technical": "technical"}
"""Kind of event that ends a person's part in the study -> outcome."""
_UNDER_WAY = ("leased", "abandoned")  # who comes back to an abandoned lease may finish it; both sets of answers stay
_HOUR = 3600.0  # seconds


class Happened(NamedTuple):
    """One event of a participant."""

    kind: str
    at: float
    """UTC epoch seconds by the server's clock."""
    lease: int | None = None
    session: str | None = None
    body: Mapping[str, Any] = {}


class Given(NamedTuple):
    """One answer."""

    trial: str
    criterion: str
    revision: int
    value: str
    at: float
    distortions: tuple[str, ...] = ()


class Held(NamedTuple):
    """A lease that a participant has."""

    id: int
    stage: str
    owner: str
    state: str


class Practised(NamedTuple):
    """How far the training is."""

    attempt: int
    """Number of the attempt that is open, or of the last one, from 1."""
    answers: tuple[str | None, ...]
    """What the open attempt has, question by question; None: not answered yet."""
    before: tuple[str | None, ...] | None
    """The answers of the attempt before, all given; None: there was none."""
    passed: bool
    failed: bool
    """The last attempt is used up."""


@dataclass(frozen=True)
class Where:
    """Where a participant is."""

    phase: Phase
    lease: Held | None = None
    sheet: Sheet | None = None
    """The session under way, or the one that was finished."""
    number: int = 1
    """Number of the session, from 1."""
    sessions: int = 1
    frontier: int = 0
    """Trials of the sheet that are answered, from its beginning; the index of the current trial."""
    given: Mapping[tuple[str, str], Given] = field(default_factory=dict)
    """(trial, criterion) -> the last answer of the sheet."""
    remaining: float = 0.0
    """Seconds of the break that are left."""
    began: float | None = None
    """When the break began; None: no break is on."""
    break_ahead: bool = False
    """A break is to come, or not over yet."""
    until: float | None = None
    """Phase wait: when the next session may begin."""
    outcome: str | None = None
    """Phase done: one of OUTCOMES."""
    training: Practised | None = None
    """Phases training, and ready in the first session: how the training went."""

    @property
    def answering(self) -> bool:
        """Whether answers are taken."""
        return self.phase in ("trial", "break", "questionnaire", "finish")

    @property
    def gate(self) -> int:
        """Trials before this index may be answered: none, those before the break, or all."""
        if self.sheet is None or not self.answering:
            return 0
        return self.sheet.half if self.break_ahead else len(self.sheet.trials)


def where(
    frozen: Frozen,
    lease: Held | None,
    events: Sequence[Happened],
    answers: Iterable[Given],
    now: float,
) -> Where:
    """Return where a participant is.

    Args:
        frozen: the version that the lease belongs to.
        lease: what the participant holds; None: nothing (yet, or nothing was left).
        events: everything that happened to the participant, in the order in which it was stored.
        answers: answers on this lease, in any order.
        now: UTC epoch seconds.
    """
    for event in events:
        if event.kind in ENDINGS:
            return Where("done", lease, outcome=ENDINGS[event.kind])
    if not any(event.kind == "consent" for event in events):
        return Where("consent", lease)
    if lease is None:
        return Where("full")
    sheets = frozen.sheets(lease.stage, lease.owner)
    mine = [event for event in events if event.lease == lease.id]
    ends = {event.session: event for event in mine if event.kind == "finished"}
    open_sheets = [sheet for sheet in sheets if sheet.session not in ends]
    last = next((event for event in reversed(mine) if event.kind == "finished"), None)
    until = None
    if last is not None and open_sheets:
        gap = frozen.study.people.gap_hours * _HOUR
        until = min(last.at, now) + gap  # a clock that was set back does not lengthen the gap
    if not open_sheets:
        return Where("done", lease, sheets[-1], len(sheets), len(sheets), outcome="completed")
    sheet = open_sheets[0]
    number = sheets.index(sheet) + 1
    at = {"lease": lease, "sheet": sheet, "number": number, "sessions": len(sheets)}
    if lease.state not in _UNDER_WAY:
        return Where("closed", **at)  # type: ignore[arg-type]
    if until is not None and now < until:
        return Where("wait", until=until, **at)  # type: ignore[arg-type]
    return _in_session(frozen, lease, sheet, number, len(sheets), mine, events, answers, now)


def _in_session(
    frozen: Frozen,
    lease: Held,
    sheet: Sheet,
    number: int,
    sessions: int,
    mine: Sequence[Happened],
    events: Sequence[Happened],
    answers: Iterable[Given],
    now: float,
) -> Where:
    here = [event for event in mine if event.session == sheet.session]
    did = {event.kind for event in here}
    frontier, first, last = _given(sheet, frozen.criteria, answers)
    phase: Phase | None = None
    training = None
    if "trials-begun" not in did:
        phase, training = _before(frozen, lease.stage, did, here, number)
        return Where(phase, lease, sheet, number, sessions, frontier, last, training=training)
    seconds = float(frozen.stages[lease.stage].break_seconds)
    half, n = sheet.half, len(sheet.trials)
    passed = not seconds or "break-ended" in did or frontier > half or half == n or _touched(sheet.trials[half:], last)
    began, remaining = None, 0.0
    if frontier == n:
        asks = frozen.study.questionnaire
        asked = any(event.kind == "questionnaire" for event in events)
        phase = "questionnaire" if number == sessions and (asks.ask or asks.remark) and not asked else "finish"
    elif frontier == half and not passed:
        anchors = [event.at for event in here if event.kind == "break-began"]
        began = anchors[-1] if anchors else max(answer.at for answer in first.values())
        remaining = min(max(began + seconds - now, 0.0), seconds)
        phase = "break"
    else:
        phase = "trial"
    ahead = not passed and (frontier < half or remaining > 0)
    return Where(phase, lease, sheet, number, sessions, frontier, last, remaining, began, ahead)


def _before(
    frozen: Frozen, stage: str, did: set[str], here: Sequence[Happened], number: int
) -> tuple[Phase, Practised | None]:
    """The phase before the trials of a session."""
    if "device" not in did:
        return "device", None
    if number == 1:
        if "instructions" not in did:
            return "instructions", None
        if "tutorial" not in did and cards_of(frozen, stage):
            return "tutorial", None
        if frozen.practice.get(stage):
            training = practised(frozen, stage, here)
            return ("ready" if training.passed else "training"), training
    return "ready", None


def practised(frozen: Frozen, stage: str, events: Iterable[Happened]) -> Practised:
    """Return how far the training of a stage is.

    Args:
        frozen: the version.
        stage: its name.
        events: of the session; those of kind 'training' have the answers, {number from 0 as text: value}, one question
            or several at a time.
    """
    questions = frozen.practice[stage]
    attempts = frozen.study.training.attempts
    attempt, answers, before = 1, dict[int, str](), None
    for event in events:
        if event.kind != "training":
            continue
        for number, value in event.body.get("answers", {}).items():
            answers.setdefault(int(number), str(value))
        if len(answers) < len(questions):
            continue
        whole = tuple(answers[number] for number in range(len(questions)))
        if all(is_right(value, q.expected, q.within) for value, q in zip(whole, questions, strict=True)):
            return Practised(attempt, whole, before, True, False)
        if attempt == attempts:
            return Practised(attempt, whole, before, False, True)
        attempt, answers, before = attempt + 1, {}, whole
    return Practised(attempt, tuple(answers.get(n) for n in range(len(questions))), before, False, False)


def _given(
    sheet: Sheet, criteria: Sequence[str], answers: Iterable[Given]
) -> tuple[int, dict[tuple[str, str], Given], dict[tuple[str, str], Given]]:
    """Trials answered in a row, and the first and the last answer to each (trial, criterion) of the first half / all."""
    place = {trial.trial: index for index, trial in enumerate(sheet.trials)}
    first: dict[tuple[str, str], Given] = {}
    last: dict[tuple[str, str], Given] = {}
    for answer in answers:
        index = place.get(answer.trial)
        if index is None:
            continue
        key = (answer.trial, answer.criterion)
        if index < sheet.half and (key not in first or answer.revision < first[key].revision):
            first[key] = answer
        if key not in last or answer.revision > last[key].revision:
            last[key] = answer
    frontier = 0
    while frontier < len(sheet.trials) and all((sheet.trials[frontier].trial, name) in last for name in criteria):
        frontier += 1
    return frontier, first, last


def _touched(trials: Sequence[Trial], last: Mapping[tuple[str, str], Given]) -> bool:
    names = {trial.trial for trial in trials}
    return any(name in names for name, _ in last)


def criteria_order(
    study: Study, stage: PairStage | RatingStage, lease: int, session: str, criteria: Sequence[str]
) -> list[str]:
    """Return the criteria in the order in which one participant is asked.

    In pairs the order stays the same for a participant and is counterbalanced between them: of n leases in a row each
    criterion comes first, second, ... once. In ratings it is drawn anew for each participant and session.

    Args:
        study: its seed.
        stage: pairs or ratings.
        lease: id of the lease.
        session: name of the session.
        criteria: what is asked.
    """
    n = len(criteria)
    if isinstance(stage, RatingStage):
        return [criteria[i] for i in _shuffled(n, study.seed, lease, *session.encode())]
    block, turn = divmod(lease, n)
    base = _shuffled(n, study.seed, block)
    return [criteria[i] for i in base[turn:] + base[:turn]]


@lru_cache(maxsize=4096)
def _shuffled(n: int, *seed: int) -> tuple[int, ...]:
    return tuple(np.random.default_rng(seed).permutation(n).tolist())


@dataclass(frozen=True)
class Checked:
    """How the checks of one session went, by kind of check."""

    right: Mapping[str, int]
    wrong: Mapping[str, int]
    unknown: Mapping[str, int]
    """Checks that cannot be judged: no answer, or nothing expected; they count for nobody and against nobody."""

    def failed(self, needed: int) -> bool:
        """Whether too few are right, whatever the unknown ones would have been."""
        return sum(self.right.values()) + sum(self.unknown.values()) < needed


def checked(stage: PairStage | RatingStage, sheet: Sheet, criteria: Sequence[str], answers: Iterable[Given]) -> Checked:
    """Return how the checks of a session went: a check is right where every criterion's last answer is.

    A rating is right within `design.check_tolerance`.

    Args:
        stage: its scale.
        sheet: the session.
        criteria: what is asked in each trial.
        answers: on this lease, in any order.
    """
    _, _, last = _given(sheet, criteria, answers)
    count: dict[str, dict[str, int]] = {"right": {}, "wrong": {}, "unknown": {}}
    for trial in sheet.trials:
        if trial.kind != "check":
            continue
        kind = trial.check or "broken"
        said = [last.get((trial.trial, name)) for name in criteria]
        within = check_tolerance(stage, kind) if isinstance(stage, RatingStage) else 0.0
        found = [
            None if answer is None or trial.expected is None else is_right(answer.value, trial.expected, within)
            for answer in said
        ]
        verdict = "wrong" if False in found else "unknown" if None in found else "right"
        count[verdict][kind] = count[verdict].get(kind, 0) + 1
    return Checked(**count)
