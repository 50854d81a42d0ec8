"""What an admin may do: each act asks once, wants a reason where people are concerned, is an event, and can be undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from ...errors import BadInput, UnknownName
from ..flow import ENDINGS
from ..store import claims, events, people
from ..store.tables import lease, participant

__all__ = ["ACTS", "LEAST_REASON", "MOST_REASON", "Act", "Order", "done"]

LEAST_REASON = 3
"""Fewest characters of a reason."""
MOST_REASON = 500
"""Most characters of a reason."""
_UNDER_WAY = ("leased", "abandoned")
_COUNTING = (*_UNDER_WAY, "complete", "accepted")


@dataclass(frozen=True)
class Order:
    """One act, ordered."""

    target: str
    """Name of a participant, number of a lease, or '' for the study."""
    who: str
    """The admin."""
    why: str
    now: float
    replace: bool
    """Deal copies of sheets that no longer count."""


@dataclass(frozen=True)
class Act:
    """One kind of act."""

    title: str
    """What the button says."""
    says: str
    """What happens, in a sentence or two, as it is asked."""
    on: Literal["person", "sheet", "study"]
    run: Callable[[sa.Connection, Order], str]
    """Does it and returns what was done, in a sentence.

    Raises BadInput where there is nothing to do, UnknownName where there is no such target."""
    undo: str = ""
    """Name of the act that takes it back; empty: it cannot be undone."""
    reason: bool = True
    """A reason must be given."""


def done(c: sa.Connection, name: str, order: Order) -> str:
    """Do an act.

    Args:
        c: a connection that may write.
        name: one of `ACTS`.
        order: whom it is about, by whom, and why.

    Returns:
        What was done, in a sentence.

    Raises:
        UnknownName: no such act, participant or lease.
        BadInput: the reason is missing or too long, or there is nothing to do.
    """
    if name not in ACTS:
        raise UnknownName.among(name, ACTS, "act of the desk")
    act = ACTS[name]
    if act.reason and len(order.why.strip()) < LEAST_REASON:
        raise BadInput(f"{act.title.lower()} needs a reason of {LEAST_REASON} characters or more", where="why")
    if len(order.why) > MOST_REASON:
        raise BadInput(f"a reason has at most {MOST_REASON} characters", where="why")
    return act.run(c, order)


def _person(c: sa.Connection, name: str) -> int:
    found = c.execute(
        sa.select(participant.c.id).where(participant.c.name == name, participant.c.forgotten_at.is_(None))
    ).scalar()
    if found is None:
        raise UnknownName(f"no participant '{name[:80]}' (or they are forgotten)", where=name)
    return int(found)


def _held(c: sa.Connection, name: str, states: tuple[str, ...], nothing: str) -> list[int]:
    theirs = lease.c.participant_id == _person(c, name)
    found = c.execute(sa.select(lease.c.id).where(theirs, lease.c.state.in_(states)).order_by(lease.c.id)).scalars()
    made = [int(number) for number in found]
    if not made:
        raise BadInput(f"{name}: {nothing}", where=name)
    return made


def _lease(order: Order) -> int:
    if not (order.target.isascii() and order.target.isdigit() and len(order.target) < 10):
        raise UnknownName(f"no sheet '{order.target[:80]}'; sheets are named by a number", where=order.target)
    return int(order.target)


def _exclude_person(c: sa.Connection, order: Order) -> str:
    for number in _held(c, order.target, _COUNTING, "holds no sheet that counts"):
        claims.exclude(c, number, order.now, who=order.who, why=order.why, replace=order.replace)
    return f"{order.target} is excluded; the answers are kept and no longer count."


def _restore_person(c: sa.Connection, order: Order) -> str:
    for number in _held(c, order.target, ("excluded",), "is not excluded"):
        claims.restore(c, number, order.now, who=order.who, why=order.why)
    return f"{order.target} counts again."


def _end_person(kind: str, said: str) -> Callable[[sa.Connection, Order], str]:
    """End a person's part, unless they are through: their page tells them so, with the code of that outcome."""

    def run(c: sa.Connection, order: Order) -> str:
        number = _person(c, order.target)
        before = {one.kind for one in events.of_participant(c, number)}
        held = claims.leases_of(c, number)
        going = [one for one in held if one.state in _UNDER_WAY]
        if "consent" not in before or before & set(ENDINGS) or (not going and any(one.done_at for one in held)):
            raise BadInput(
                f"{order.target}: has not begun or is through, so there is nothing to end", where=order.target
            )
        body = {"who": order.who, "why": order.why}
        last = going[-1].id if going else None
        events.append(c, kind, order.now, participant_id=number, lease_id=last, body=body)
        for one in going:
            claims.release(c, one.id, order.now, why=kind, replace=order.replace)
            after = claims.get(c, one.id)
            if after is not None and after.participant_id == number:  # it has answers: nothing more goes in
                claims.exclude(c, one.id, order.now, who=order.who, why=order.why, replace=order.replace)
        return f"{order.target} {said}; the page tells them so, with the code of that outcome."

    return run


def _exclude(c: sa.Connection, order: Order) -> str:
    number = _lease(order)
    found = claims.exclude(c, number, order.now, who=order.who, why=order.why, replace=order.replace)
    if found is None:
        raise BadInput(f"sheet {number}: nobody took it, so there is nothing to exclude", where=order.target)
    return f"Sheet {number} is excluded; its answers are kept and no longer count."


def _restore(c: sa.Connection, order: Order) -> str:
    number = _lease(order)
    if claims.restore(c, number, order.now, who=order.who, why=order.why) is None:
        raise BadInput(f"sheet {number} is not excluded", where=order.target)
    return f"Sheet {number} counts again."


def _accept(c: sa.Connection, order: Order) -> str:
    number = _lease(order)
    before = claims.get(c, number)
    found = claims.accept(c, number)
    if found is None or before is None or before.state != "complete":
        raise BadInput(f"sheet {number} is not complete, or accepted already", where=order.target)
    body = {"who": order.who, "why": order.why}
    events.append(c, "admin.accept", order.now, participant_id=found.participant_id, lease_id=number, body=body)
    return f"Sheet {number} is accepted."


def _release(c: sa.Connection, order: Order) -> str:
    number = _lease(order)
    found = claims.get(c, number)
    if found is None or found.state != "leased":
        raise BadInput(f"sheet {number} is not under way", where=order.target)
    claims.release(c, number, order.now, who=order.who, why=order.why, replace=order.replace)
    return f"Sheet {number} is given back."


def _replace(c: sa.Connection, order: Order) -> str:
    number = _lease(order)
    copy = claims.replace(c, number, order.now, who=order.who, why=order.why)
    if copy is None:
        raise BadInput(
            f"sheet {number} is neither left, excluded nor under way; nothing to replace", where=order.target
        )
    return f"Sheet {copy.id} takes the place of {number}."


def _switch(kind: str, said: str) -> Callable[[sa.Connection, Order], str]:
    def run(c: sa.Connection, order: Order) -> str:
        events.append(c, kind, order.now, body={"who": order.who, "why": order.why})
        return said

    return run


def _forget(c: sa.Connection, order: Order) -> str:
    found = people.forget(c, order.target, order.now, replace=order.replace, who=order.who)
    if found is None:
        raise UnknownName(f"no participant '{order.target[:80]}' (or they are forgotten already)", where=order.target)
    return f"{found.name} is forgotten: {found.answers} answers, {found.events} events, {found.visits} visits deleted."


ACTS: Mapping[str, Act] = {
    "exclude-person": Act(
        "Exclude",
        "All sheets of this participant stop counting. The answers are kept; where the study says so, copies of the "
        "sheets are handed out to others. This says nothing about pay.",
        "person", _exclude_person, undo="restore-person",
    ),
    "restore-person": Act(
        "Restore", "The sheets of this participant count again; copies that nobody took are withdrawn.",
        "person", _restore_person, undo="exclude-person",
    ),
    "screen-out": Act(
        "Screen out", "This participant does not fit the study. Their page says so and gives the code of those who are "
        "screened out; answers they gave are kept and do not count, and their sheet is handed out to others.",
        "person", _end_person("screened-out", "is screened out"),
    ),
    "technical": Act(
        "End for a fault", "This participant cannot go on for a fault on your side. Their page says so and gives the code "
        "of technical failures; answers they gave are kept and do not count, and their sheet is handed out to others.",
        "person", _end_person("technical", "is let go"),
    ),
    "exclude": Act(
        "Exclude", "This sheet stops counting. Its answers are kept; where the study says so, a copy is handed out.",
        "sheet", _exclude, undo="restore",
    ),
    "restore": Act(
        "Restore", "This sheet counts again; a copy that nobody took is withdrawn.", "sheet", _restore, undo="exclude"
    ),
    "accept": Act(
        "Accept", "This sheet was looked at and is good. It counts before and after.", "sheet", _accept, undo="exclude",
        reason=False,
    ),
    "release": Act(
        "Give back", "The participant loses this sheet: others get it, or a copy of it where it has answers. The "
        "participant may come back to it.", "sheet", _release,
    ),
    "replace": Act(
        "Replace", "A copy of this sheet is handed out next; one under way counts as left.", "sheet", _replace
    ),
    "pause": Act(
        "Pause", "Nobody can begin or answer until you resume; answers that are under way wait in the browsers and are "
        "not lost.", "study", _switch("admin.pause", "The study is paused."), undo="resume",
    ),
    "resume": Act(
        "Resume", "Participants can begin and answer again.", "study",
        _switch("admin.resume", "The study goes on."), undo="pause", reason=False,
    ),
    "unblind": Act(
        "Show names", "The names of what is compared are shown to everybody at the desk in place of letters. Whoever "
        "decides about exclusions or the end of the study should not know them before.", "study",
        _switch("admin.unblind", "Names are shown."), undo="blind",
    ),
    "blind": Act(
        "Show letters", "Letters are shown in place of the names of what is compared.", "study",
        _switch("admin.blind", "Letters are shown."), undo="unblind", reason=False,
    ),
    "forget": Act(
        "Forget", "All that is stored of this participant is deleted: answers, events, visits, panel ids. Only the "
        "number of deleted rows is kept. This cannot be undone; earlier backups still hold the data.",
        "person", _forget,
    ),
}  # fmt: skip
"""Name of each act -> the act."""
