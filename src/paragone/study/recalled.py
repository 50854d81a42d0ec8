"""What the store recorded of a study, for its methods paragraph."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from .frozen import Frozen
from .recorded import Recorded, StageRecord
from .store.people import SIMULATED
from .store.tables import answer, event, lease, participant

__all__ = ["ReadPlates", "recalled"]

_ENDS = {"training-failed": "failed-training", "screened-out": "screened-out", "technical": "technical"}
_COUNTED = ("main", "repeat")
_GOOD = ("complete", "accepted")
_PIECE = 1000  # rows read at a time, so that memory holds no more of the answers than their times

ReadPlates = Callable[[int, Mapping[str, Any]], tuple[int, int] | None]


class _Lease(NamedTuple):
    id: int
    version_id: int
    stage: str
    state: str
    participant_id: int | None
    done_at: float | None


class _Event(NamedTuple):
    participant_id: int | None
    lease_id: int | None
    kind: str
    at: float
    body: dict[str, Any]


def recalled(
    c: sa.Connection,
    version_of: Callable[[sa.Connection, int], Frozen],
    *,
    read_plates: ReadPlates | None = None,
    simulated: bool = False,
) -> Recorded:
    """Return what was recorded of everybody, for `methods_paragraph`; of people alone, where any took part.

    Args:
        c: a connection to the store.
        version_of: (connection, id) -> the frozen version: answers count by the plan under which they were given.
        read_plates: (participant id, what the page sent of the plates) -> (read correctly, shown); None: how plates were
            read is not recorded.
        simulated: no person took part, whatever the participants' names say.
    """
    leases = [_Lease(*row) for row in c.execute(sa.select(*(lease.c[name] for name in _Lease._fields)))]
    events = _events(c)
    made_up = set(c.execute(sa.select(participant.c.id).where(participant.c.platform == SIMULATED)).scalars())
    if any(one.kind == "consent" and one.participant_id not in made_up for one in events):
        leases = [one for one in leases if one.participant_id not in made_up]
        events = [one for one in events if one.participant_id not in made_up]
    elif made_up:
        simulated = True
    frozen = {number: version_of(c, number) for number in {one.version_id for one in leases}}
    names = list(dict.fromkeys(name for one in frozen.values() for name in one.stages))
    stages = {name: _stage(c, [one for one in leases if one.stage == name], events, frozen) for name in names}
    agreed = {one.participant_id for one in events if one.kind == "consent"}
    outcomes = _outcomes(events)
    done = {one.participant_id for one in leases if one.done_at is not None}
    seated = {one.participant_id for one in leases} | {one.participant_id for one in events if one.kind == "device"}
    kept = sorted({one.participant_id for one in leases if _is_kept(one) and one.participant_id is not None})
    screens = _first(events, "device", kept)
    stood = _last(events, "station", kept)
    about = _first(events, "questionnaire", kept)
    asked = any(one.study.questionnaire.ask for one in frozen.values())
    finished = [one.at for one in events if one.kind == "finished"]
    began = [one.at for one in events if one.kind == "consent"]
    return Recorded(
        simulated=simulated,
        consented=len(agreed),
        declined=sum(one.kind == "declined" for one in events),
        outcomes=Counter(outcomes.values()),
        turned_away=len(agreed - seated - set(outcomes)),
        unfinished=len(agreed & seated - done - set(outcomes)),
        stages=stages,
        displays=[
            {**screens.get(person, {}), **stood.get(person, {})} for person in kept if {person} & {*screens, *stood}
        ]
        or None,
        plates=_plates(screens, read_plates),
        vision=_vision(events, kept),
        persons=[about.get(person, {}).get("answers", {}) for person in kept] if asked and kept else None,
        began=min(began, default=None),
        ended=max(finished, default=None),
    )


def _events(c: sa.Connection) -> list[_Event]:
    kinds = ("consent", "declined", "device", "vision", "station", "questionnaire", "finished", "admin.exclude", *_ENDS)
    columns = (event.c.participant_id, event.c.lease_id, event.c.kind, event.c.at, event.c.body)
    rows = c.execute(sa.select(*columns).where(event.c.kind.in_(kinds)).order_by(event.c.id))
    return [_Event(person, held, kind, at, json.loads(body)) for person, held, kind, at, body in rows]


def _outcomes(events: list[_Event]) -> dict[int | None, str]:
    """Participant -> how their part ended, where it did not end as completed."""
    ends = {one.participant_id: _ENDS[one.kind] for one in events if one.kind in _ENDS}
    for one in events:
        outcome = one.body.get("outcome", "completed")
        if one.kind == "finished" and outcome != "completed":
            ends.setdefault(one.participant_id, str(outcome))
    return ends


def _is_kept(one: _Lease) -> bool:
    return one.state in _GOOD and one.done_at is not None


def _stage(c: sa.Connection, leases: list[_Lease], events: list[_Event], frozen: Mapping[int, Frozen]) -> StageRecord:
    done = [one for one in leases if one.done_at is not None]
    out = {one.id for one in done if one.state == "excluded"}
    why = {one.lease_id: one.body for one in events if one.kind == "admin.exclude"}  # the last one counts
    kept = {one.id: one for one in done if _is_kept(one)}
    answers, seconds, exact = _answers(c, kept, frozen)
    return StageRecord(
        completed=len(done),
        excluded=Counter(str(why.get(number, {}).get("why") or "no reason given") for number in sorted(out)),
        sessions=sum(one.kind == "finished" and one.lease_id in kept for one in events),
        answers=answers,
        seconds=seconds,
        exact=exact,
    )


def _answers(
    c: sa.Connection, kept: Mapping[int, _Lease], frozen: Mapping[int, Frozen]
) -> tuple[int, Sequence[float], int | None]:
    """Number, response times, and how many were given to pictures in whole device pixels (None: not recorded)."""
    kinds = {number: dict(one.plan.select("trial", "kind").iter_rows()) for number, one in frozen.items()}
    place = (answer.c.lease_id, answer.c.trial, answer.c.criterion, answer.c.revision)
    asked = sa.select(*place, answer.c.seconds, answer.c.body).order_by(*place)
    rows = c.execute(asked.execution_options(yield_per=_PIECE))
    n, whole, unknown = 0, 0, 0
    seconds: list[float] = []
    for (held, trial, _), given in itertools.groupby(rows, key=lambda row: tuple(row[:3])):
        if held not in kept or kinds[kept[held].version_id].get(trial) not in _COUNTED:
            continue
        revisions = list(given)
        first, last = revisions[0][4], json.loads(revisions[-1][5]).get("exact")
        n, whole, unknown = n + 1, whole + (last is True), unknown + (last is None)
        if first is not None:
            seconds.append(first)
    return n, seconds, whole if n and not unknown else None


def _first(events: list[_Event], kind: str, people: list[int]) -> dict[int, dict[str, Any]]:
    """Participant -> the first event of a kind, of those people who have one."""
    found: dict[int, dict[str, Any]] = {}
    wanted = set(people)
    for one in events:
        if one.kind == kind and one.participant_id in wanted:
            found.setdefault(one.participant_id, one.body)
    return found


def _last(events: list[_Event], kind: str, people: list[int]) -> dict[int, dict[str, Any]]:
    """Participant -> the last event of a kind, of those people who have one."""
    return _first(events[::-1], kind, people)


def _vision(events: list[_Event], people: list[int]) -> dict[str, Counter[str]] | None:
    """Test -> result -> participants; of a test that was entered again, the last result that is one."""
    results: dict[str, dict[int, str]] = {}
    for one in events:
        if one.kind != "vision" or one.participant_id not in people:
            continue
        for test, said in one.body.items():
            known = results.setdefault(test, {})
            if said != "not-tested" or one.participant_id not in known:
                known[one.participant_id] = str(said).replace("-", " ")
    return {test: Counter(known.values()) for test, known in results.items()} or None


def _plates(screens: Mapping[int, dict[str, Any]], read: ReadPlates | None) -> list[tuple[int, int]] | None:
    if read is None:
        return None
    told = [read(person, body["plates"]) for person, body in screens.items() if body.get("plates")]
    return [one for one in told if one is not None] or None
