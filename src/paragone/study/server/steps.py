"""What a step does: jobs that look where a participant is, note what happened, and look again, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa

from ..flow import Checked, Phase, checked
from ..pictures import score
from ..pictures.plates import NOTHING
from ..store import claims, events, people
from ..store.tables import event, participant
from ..texts import load
from . import models
from .desk import Desk, Facts, given_on, look
from .entry import opened_ids
from .parts import consent
from .profiles import Return, completion

__all__ = ["Done", "finish", "next_session", "refresh", "step", "telemetry", "wants_lease", "way_back"]

_AWAY_SECONDS = 7 * 86_400.0  # our choice: who finished a session has a week for the next one before it counts as left


class Done(NamedTuple):
    """What came of a step."""

    status: Literal["done", "not-now", "ended", "unknown", "declined"]
    """done: it is stored (now or before); not-now: it is not that step's turn; ended: another tab took over; unknown: nobody
    has that token; declined: the person is gone."""
    facts: Facts | None = None
    back: Return | None = None
    failed: Facts | None = None
    """Where they were when the last attempt at the training failed; None: it did not, just now."""


_TURN: Mapping[str, tuple[Phase, str]] = {
    "consent": ("consent", "consent"),
    "decline": ("consent", "declined"),
    "device": ("device", "device"),
    "instructions": ("instructions", "instructions"),
    "tutorial": ("tutorial", "tutorial"),
    "training": ("training", "training"),
    "begin": ("ready", "trials-begun"),
    "break": ("break", "break-ended"),
    "questionnaire": ("questionnaire", "questionnaire"),
}
"""Step -> the phase in which it is taken, and the kind of its event."""


def step(c: sa.Connection, desk: Desk, token: str, taken: models.AnyStep, now: float) -> Done:
    """Take a step, once.

    Args:
        c: a connection that may write.
        desk: the process's desk.
        token: SHA-256 of the bearer token.
        taken: the step.
        now: the server's clock.
    """
    facts = look(c, desk, token, now)
    if facts is None or not facts.visit.live:
        return Done("unknown" if facts is None else "ended")
    before = _known(c, taken.id)
    if before is not None:
        mine = before == facts.visit.participant_id
        return Done("done" if mine else "not-now", facts, way_back(c, desk, facts))
    at = facts.where
    phase, kind = _TURN[taken.step]
    if at.phase != phase or (taken.step == "break" and at.remaining > 0):
        return Done("not-now", facts, way_back(c, desk, facts))
    if isinstance(taken, models.DeclineStep):
        back = way_back(c, desk, facts, outcome="no-consent")
        people.decline(c, facts.visit.participant_id, now)
        return Done("declined", facts, back)
    body = _body(desk, facts, taken)
    if body is None:
        return Done("not-now", facts)
    lease = facts.lease
    if isinstance(taken, models.ConsentStep):
        lease = claims.claim(c, facts.visit.participant_id, facts.stages, facts.frozen.study.people.at_once, now)
    elif lease is not None:
        claims.away(c, lease.id, None, now)
    events.append(
        c,
        kind,
        now,
        participant_id=facts.visit.participant_id,
        lease_id=lease.id if lease else None,
        session=at.sheet.session if at.sheet else None,
        client_id=taken.id,
        body=body,
    )
    after = look(c, desk, token, now)
    assert after is not None, "a step does not end a visit"
    failed = None
    if taken.step == "training" and after.where.training is not None and after.where.training.failed:
        failed = after
        _failed_training(c, after, now)
        after = look(c, desk, token, now)
        assert after is not None, "failing the training does not end a visit"
    return Done("done", after, way_back(c, desk, after), failed)


def _failed_training(c: sa.Connection, facts: Facts, now: float) -> None:
    assert facts.lease is not None, "training belongs to a lease"
    events.append(
        c, "training-failed", now, participant_id=facts.visit.participant_id, lease_id=facts.lease.id,
        session=facts.where.sheet.session if facts.where.sheet else None,
    )  # fmt: skip
    claims.release(c, facts.lease.id, now, why="failed training", replace=facts.frozen.study.people.replace)


def _body(desk: Desk, facts: Facts, taken: models.AnyStep) -> dict[str, Any] | None:
    """What is kept of a step; None: it does not fit what was asked."""
    at, study = facts.where, facts.frozen.study
    if isinstance(taken, models.ConsentStep):
        told = {
            consent(facts.frozen, language, stage, named=desk.named)["version"]
            for language in study.pages.languages
            for stage in facts.frozen.stages
        }
        return {"version": taken.body.version, "language": facts.language} if taken.body.version in told else None
    if isinstance(taken, models.TrainingStep):
        assert facts.lease is not None, "training belongs to a lease"
        questions = facts.frozen.practice[facts.lease.stage]
        places = {desk.practice_id(facts.lease.id, n): n for n in range(len(questions))}
        given: dict[str, str] = {}
        seconds: dict[str, float | None] = {}
        for answer in taken.body.answers:
            number = places.get(answer.trial)
            if number is None or answer.criterion != questions[number].criterion:
                return None
            given[str(number)], seconds[str(number)] = answer.value, answer.seconds
        return {"attempt": at.training.attempt if at.training else 1, "answers": given, "seconds": seconds}
    if isinstance(taken, models.QuestionnaireStep):
        texts = load(facts.language)
        for name, value in taken.body.answers.items():
            if name not in study.questionnaire.ask or value not in {choice["id"] for choice in texts.choices(name)}:
                return None
        return {"answers": dict(taken.body.answers), "remark": taken.body.remark if study.questionnaire.remark else ""}
    if isinstance(taken, models.BreakStep):
        return {"began": at.began}
    if isinstance(taken, models.DeviceStep):
        return _screen(desk, facts, dict(taken.body))
    return dict(taken.body) if isinstance(taken.body, dict) else {}


def _screen(desk: Desk, facts: Facts, told: dict[str, Any]) -> dict[str, Any] | None:
    """What is kept of a screen: what the browser tells, and the answers to colour-vision plates by their number."""
    answered = told.pop("plates", None) or {}
    shown = desk.plates(facts.frozen)
    if facts.lease is None or not isinstance(answered, dict):
        return None
    places = {desk.plate_id(facts.lease.id, n): n for n in range(len(shown))}
    if not set(answered) <= set(places):
        return None
    given: list[str | None] = [None] * len(shown)
    for public, value in answered.items():
        given[places[public]] = None if value is None else str(value) or NOTHING
    if not shown:
        return told
    seen = score(shown, given)
    plates = {str(n): value for n, value in enumerate(given) if value is not None}
    return {
        **told,
        "plates": plates,
        "vision": {"outcome": seen.outcome, "right": seen.right, "answered": seen.answered},
    }


def refresh(c: sa.Connection, desk: Desk, token: str, now: float, *, spoken: str | None = None) -> Done:
    """Look where a participant is, and do what time itself has brought about.

    A break that began later than now (the clock was set back) begins anew, once; who is through with one stage and may do
    another gets it; who found the study full is given what has become free since.

    Args:
        c: a connection that may write.
        desk: the process's desk.
        token: SHA-256 of the bearer token.
        now: the server's clock.
        spoken: language to go on in; None: as before.
    """
    facts = look(c, desk, token, now)
    if facts is None or not facts.visit.live:
        return Done("unknown" if facts is None else "ended")
    if spoken is not None:
        person = participant.c.id == facts.visit.participant_id
        c.execute(participant.update().where(person).values(language=spoken))
    if facts.where.phase == "break" and facts.where.began is not None and now < facts.where.began:
        assert facts.lease is not None
        assert facts.where.sheet is not None
        events.append(
            c, "break-began", now, participant_id=facts.visit.participant_id, lease_id=facts.lease.id,
            session=facts.where.sheet.session,
        )  # fmt: skip
    if wants_lease(facts, now) and not desk.paused:
        claims.claim(c, facts.visit.participant_id, facts.stages, facts.frozen.study.people.at_once, now)
    again = look(c, desk, token, now)
    assert again is not None, "looking does not end a visit"
    return Done("done", again, way_back(c, desk, again))


def next_session(facts: Facts) -> float | None:
    """When a participant may begin what follows the session that they finished; None: nothing follows."""
    at = facts.where
    if at.phase == "wait":
        return at.until
    last = [event.at for event in facts.events if event.kind == "finished"]
    if not last:
        return None
    if at.phase == "done":
        may = at.outcome == "completed" and facts.stages
        return last[-1] + facts.frozen.study.people.gap_hours * 3600.0 if may else None
    return last[-1]


def wants_lease(facts: Facts, now: float) -> bool:
    """Whether a participant waits for something to do: nothing was free when they came, or another stage may follow."""
    if facts.where.phase == "full":
        return True
    following = next_session(facts) if facts.where.phase == "done" else None
    return following is not None and now >= following


def way_back(c: sa.Connection, desk: Desk, facts: Facts, *, outcome: str | None = None) -> Return | None:
    """How a participant goes back to their panel; None: there is nothing to go back with yet."""
    ended = outcome or facts.where.outcome or ("completed" if facts.where.phase == "wait" else None)
    if ended is None:
        return None
    sealed = c.execute(sa.select(participant.c.sealed).where(participant.c.id == facts.visit.participant_id)).scalar()
    ids = opened_ids(desk.unseal(sealed) if sealed else None)
    return completion(desk.profile, desk.codes, ended, ids)


def telemetry(c: sa.Connection, token: str, sent: models.TelemetrySent, now: float) -> Done:
    """Note what a browser tells of itself, once."""
    visit = people.who(c, token)
    if visit is None or not visit.live:
        return Done("unknown" if visit is None else "ended")
    body = {"kind": sent.kind, "body": dict(sent.body)}
    going = [lease for lease in claims.leases_of(c, visit.participant_id) if lease.state in ("leased", "abandoned")]
    events.append(
        c, "telemetry", now, participant_id=visit.participant_id, lease_id=going[-1].id if going else None,
        client_id=sent.id, body=body,
    )  # fmt: skip
    return Done("done")


def finish(c: sa.Connection, desk: Desk, token: str, client_id: str, now: float) -> Done:
    """End a session whose every answer is there; the last one completes the lease and judges the checks.

    Too few right checks exclude the lease, which can be undone, and another person gets a copy; the participant has done
    the work and gets the code of those who completed. A check that cannot be judged is never held against anybody.

    Args:
        c: a connection that may write.
        desk: the process's desk.
        token: SHA-256 of the bearer token.
        client_id: the client's id of this call.
        now: the server's clock.
    """
    facts = look(c, desk, token, now)
    if facts is None or not facts.visit.live:
        return Done("unknown" if facts is None else "ended")
    at = facts.where
    if at.phase != "finish":
        over = at.phase in ("done", "wait") or _known(c, client_id) == facts.visit.participant_id
        return Done("done" if over else "not-now", facts, way_back(c, desk, facts, outcome=at.outcome or "completed"))
    assert facts.lease is not None
    assert at.sheet is not None
    frozen, lease = facts.frozen, facts.lease
    stage = frozen.stages[lease.stage]
    given = given_on(c, frozen, lease.id)
    sheets = frozen.sheets(lease.stage, lease.owner)
    verdict = checked(stage, at.sheet, frozen.criteria, given)
    events.append(
        c, "finished", now, participant_id=facts.visit.participant_id, lease_id=lease.id, session=at.sheet.session,
        client_id=client_id, body={"outcome": "completed", "visit": facts.visit.id, "checks": _told(verdict)},
    )  # fmt: skip
    if at.number < at.sessions:
        gap = frozen.study.people.gap_hours * 3600.0
        claims.away(c, lease.id, now + gap + _AWAY_SECONDS, now)
    else:
        claims.finish(c, lease.id, now)
        failed = [
            (sheet.session, found)
            for sheet in sheets
            if (found := checked(stage, sheet, frozen.criteria, given)).failed(stage.checks_needed)
        ]
        if failed:
            why = "; ".join(_said(session, found, stage.checks_needed, len(sheets)) for session, found in failed)
            claims.exclude(c, lease.id, now, who=claims.BY_CHECKS, why=why, replace=frozen.study.people.replace)
    again = look(c, desk, token, now)
    assert again is not None, "finishing does not end a visit"
    return Done("done", again, way_back(c, desk, again, outcome="completed"))


def _told(verdict: Checked) -> dict[str, dict[str, int]]:
    return {"right": dict(verdict.right), "wrong": dict(verdict.wrong), "unknown": dict(verdict.unknown)}


def _said(session: str, found: Checked, needed: int, sessions: int) -> str:
    right, wrong = sum(found.right.values()), sum(found.wrong.values())
    where = f"session {session}: " if sessions > 1 else ""
    return f"{where}{right} of {right + wrong} checks right, {needed} needed"


def _known(c: sa.Connection, client_id: str) -> int | None:
    """Whose event has that client id; None: nobody's."""
    return c.execute(sa.select(event.c.participant_id).where(event.c.client_id == client_id)).scalar()
