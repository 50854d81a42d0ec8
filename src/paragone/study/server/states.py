"""The State: everything the browser is told about where a participant is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from ...design import RatingStage
from ..cards import cards_of
from ..flow import Given, Phase, Where, criteria_order
from ..frozen import Sheet
from ..pictures import choices, public_id
from ..pictures.plates import SIDE
from ..texts import Texts, load
from . import parts
from .desk import Desk, Facts
from .profiles import Return
from .shown import asked, shown_card, shown_practice, shown_trial

__all__ = ["AHEAD", "State", "done_part", "state_of", "trained_part", "trial_order"]

State = dict[str, Any]
AHEAD = 2
"""Trials that are served beyond the current one."""
_BY_CODE = {"done.next-now": "now", "done.next-later": "later"}
"""Text -> the one of [client.lab] in its place, where people come by a lab's code and not by a link."""
_UNNAMED = {"done.code-text": "code", "done.return": "return", "button.return": "button"}
"""Text -> the one of [client.unnamed] in its place, where no panel names the people."""
_GOING: tuple[Phase, ...] = ("trial", "break", "questionnaire", "finish")


def state_of(desk: Desk, facts: Facts, now: float, *, way_back: Return | None = None) -> State:
    """Return the State of a participant.

    Args:
        desk: the process's desk.
        facts: where they are.
        now: the server's clock.
        way_back: how they return to their panel, where something was finished.
    """
    frozen, at, texts = facts.frozen, facts.where, load(facts.language)
    study = frozen.study
    phase = _phase(desk, at)
    state: State = {
        "phase": phase,
        "study": {
            "title": parts.title(study, facts.language),
            "language": facts.language,
            "languages": list(study.pages.languages),
            "preview": desk.settings.preview,
            "lab": desk.settings.lab,
            "simulated": frozen.simulated,
        },
        "participant": facts.visit.name,
        "session": {"number": facts.sessions[0] + at.number, "of": sum(facts.sessions)},
        "progress": {"done": at.frontier, "of": len(at.sheet.trials) if at.sheet else 0},
        "now": now,
        "device": {
            **parts.device(frozen, _plates(desk, facts) if phase == "device" else []),
            "full_screen": study.display.full_screen or desk.settings.lab,
        },
        "texts": _client_texts(facts.language, desk.profile.name == "lab", desk.settings.lab, desk.named),
    }
    if phase == "consent":
        state["consent"] = parts.consent(frozen, facts.language, _likely_stage(facts), named=desk.named)
    elif phase == "wait":
        state["wait"] = {"until": at.until}
    if phase in ("done", "wait", "preview-end"):
        state["done"] = done_part(at.outcome or "completed", way_back, texts, None)
    if at.lease is None or at.sheet is None:
        return state
    stage = at.lease.stage
    if phase == "instructions":
        state["instructions"] = parts.instructions(frozen, facts.language, stage)
    elif phase == "tutorial":
        state["tutorial"] = {"cards": _cards(desk, facts)}
    elif phase == "training":
        state["training"] = _training(desk, facts, texts)
    elif phase == "ready":
        state["ready"] = parts.ready(texts, at.number, at.sessions)
        if at.training is not None:
            state["training"] = trained_part(facts)
        state["trials"] = _trials(desk, facts, at.sheet, range(min(1 + AHEAD, len(at.sheet.trials))))
    elif phase in _GOING:
        state |= _going(desk, facts, at.sheet, phase, texts)
    return state


def done_part(outcome: str, way_back: Return | None, texts: Texts, following: State | None) -> State:
    """Return how something ended.

    Args:
        outcome: one of OUTCOMES.
        way_back: how the participant returns to their panel; None: nothing to return with.
        texts: words of their language.
        following: {"at", "session"} of the next session; None: none.
    """
    form = None
    if way_back is not None and way_back.form is not None:
        form = {"action": way_back.form.action, "fields": dict(way_back.form.fields)}
    return {
        "outcome": outcome,
        "code": way_back.code if way_back else None,
        "redirect": way_back.url if way_back else None,
        "form": form,
        "text": texts[f"done.{outcome}"],
        "next": following,
    }


def trained_part(facts: Facts) -> State:
    """Return what is said to the answers of a training that is over, passed or not."""
    at = facts.where
    assert at.lease is not None
    assert at.training is not None, "there was a training"
    questions = facts.frozen.practice[at.lease.stage]
    return {"feedback": parts.feedback(questions, at.training.answers, load(facts.language))}


@lru_cache(maxsize=16)
def _client_texts(language: str, by_code: bool, kiosk: bool, named: bool) -> msgspec.Raw:
    """What the browser needs of a language, as JSON that is made once; some words are others in a lab or without a panel."""
    told = dict(load(language).client)
    if not named:
        told |= {key: told[f"unnamed.{words}"] for key, words in _UNNAMED.items()}
    if by_code:
        told |= {key: told[f"lab.{words}"] for key, words in _BY_CODE.items()}
    if kiosk:  # nobody closes the page
        told["done.close"] = told["lab.thanks"]
    return msgspec.Raw(msgspec.json.encode(told))


def _phase(desk: Desk, at: Where) -> str:
    if desk.settings.preview and at.phase == "done":
        return "preview-end"
    if desk.paused and at.phase not in ("done", "wait", "closed"):
        return "paused"
    return at.phase


def _likely_stage(facts: Facts) -> str:
    return next(iter(facts.stages or facts.frozen.stages))


def _plates(desk: Desk, facts: Facts) -> list[State]:
    if facts.lease is None:
        return []
    return [
        {"id": desk.plate_id(facts.lease.id, n), "w": SIDE, "h": SIDE, "choices": choices(plate)}
        for n, plate in enumerate(desk.plates(facts.frozen))
    ]


def _cards(desk: Desk, facts: Facts) -> list[State]:
    assert facts.lease is not None
    stage, lease = facts.lease.stage, facts.lease.id
    return [
        shown_card(facts.frozen, stage, card, desk.tutorial_id(lease, n), facts.language)
        for n, card in enumerate(cards_of(facts.frozen, stage))
    ]


def _training(desk: Desk, facts: Facts, texts: Texts) -> State:
    at, frozen = facts.where, facts.frozen
    assert at.lease is not None
    questions = frozen.practice[at.lease.stage]
    practised = at.training
    assert practised is not None
    shown = []
    for number, question in enumerate(questions):
        public = desk.practice_id(at.lease.id, number)
        trial = asked(frozen, at.lease.stage, shown_practice(question), [question.criterion], public, facts.language)
        shown.append({**trial, "back": False, "number": number + 1, "of": len(questions)})
    attempts = frozen.study.training.attempts
    open_answers = practised.answers if any(value is not None for value in practised.answers) else practised.before
    failed = practised.before is not None
    return {
        **parts.training_words(practised, len(questions), attempts, texts),
        "attempt": practised.attempt,
        "attempts": attempts,
        "again": parts.instructions(frozen, facts.language, at.lease.stage)["parts"] if failed else [],
        "questions": shown,
        "feedback": None if open_answers is None else parts.feedback(questions, open_answers, texts),
    }


def _going(desk: Desk, facts: Facts, sheet: Sheet, phase: str, texts: Texts) -> State:
    at, told = facts.where, State()
    stage = facts.frozen.stages[sheet.trials[0].stage]
    n = len(sheet.trials)
    end = min(at.frontier + 1 + AHEAD, at.gate if phase == "trial" else n)
    told["trials"] = _trials(desk, facts, sheet, range(at.frontier, end))
    if isinstance(stage, RatingStage) and stage.back:
        told["earlier"] = _trials(desk, facts, sheet, range(at.frontier))
    if phase == "break":
        told["break"] = {"seconds": round(at.remaining, 3)}
    if phase == "questionnaire":
        told["questionnaire"] = parts.questionnaire(facts.frozen.study, texts)
    return told


def _trials(desk: Desk, facts: Facts, sheet: Sheet, places: range) -> list[State]:
    frozen, lease = facts.frozen, facts.where.lease
    assert lease is not None
    order = trial_order(facts)
    given: dict[str, list[Given]] = defaultdict(list)
    for (name, _), answer in facts.where.given.items():
        given[name].append(answer)
    shown = [sheet.trials[place] for place in places]
    return [
        asked(
            frozen,
            lease.stage,
            shown_trial(trial),
            order,
            public_id(desk.key, lease.id, trial.trial),
            facts.language,
            given=_given(given.get(trial.trial, [])),
        )
        for trial in shown
    ]


def trial_order(facts: Facts) -> list[str]:
    """The criteria in the order in which this participant is asked in this session."""
    at, frozen = facts.where, facts.frozen
    assert at.lease is not None
    assert at.sheet is not None
    return criteria_order(frozen.study, frozen.stages[at.lease.stage], at.lease.id, at.sheet.session, frozen.criteria)


def _given(last: Sequence[Given]) -> State:
    """What was answered to a trial: criterion -> value, the revision, and the ticked distortions."""
    if not last:
        return {}
    told: State = {answer.criterion: answer.value for answer in last}
    told["revision"] = max(answer.revision for answer in last)
    ticked = [word for answer in last for word in answer.distortions]
    return {**told, "distortions": list(dict.fromkeys(ticked))} if ticked else told
