"""People: who arrives, which visit is theirs, which tab is the live one; and forgetting them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import NamedTuple

import sqlalchemy as sa

from . import claims, events
from .tables import answer, door, event, insert_once, lab_code, lease, participant, visit

__all__ = [
    "KEY_SECONDS",
    "SIMULATED",
    "Forgotten",
    "Kept",
    "Participant",
    "Visit",
    "add_codes",
    "answered",
    "arrive",
    "arrive_by_code",
    "decline",
    "end_visits",
    "forget",
    "get",
    "kept",
    "open_visit",
    "purge",
    "take_token",
    "unused_codes",
    "who",
]

KEY_SECONDS = 600.0
"""How long the one-time key of an entry is good for, in seconds."""
SIMULATED = "simulated"
"""Platform of simulated participants; their names begin with sim-."""


class Participant(NamedTuple):
    """A person of the study."""

    id: int
    name: str
    """'p-0001': what tables and exports show; of a simulated participant 'sim-0001'."""
    fresh: bool
    """Arrived by this very call."""
    language: str | None = None


class Visit(NamedTuple):
    """One entry of a person: one tab."""

    id: int
    participant_id: int
    name: str
    """The participant's."""
    live: bool
    """False: a newer tab took over."""
    submission_hmac: str | None = None


class Kept(NamedTuple):
    """What the store holds of a person."""

    name: str
    answers: int
    events: int


class Forgotten(NamedTuple):
    """What was deleted with a person."""

    participant_id: int
    name: str
    answers: int
    events: int
    visits: int
    leases: int
    """Leases that retired."""


def arrive(
    c: sa.Connection,
    platform: str,
    external_hmac: str | None,
    sealed: bytes | None,
    language: str | None,
    now: float,
    *,
    purge_after: float | None = None,
) -> Participant:
    """Find the participant of a panel's id, or make a new one.

    Args:
        c: the connection.
        platform: the profile that they came through.
        external_hmac: HMAC of the panel's id; None: anonymous, always a new participant.
        sealed: the panel's ids, encrypted; None: nothing is kept.
        language: language that they started in.
        now: the server's clock.
        purge_after: when `purge` deletes `sealed`; None: never.
    """
    known = (participant.c.platform == platform, participant.c.external_hmac == external_hmac)
    if external_hmac is not None and (found := _find(c, *known)) is not None:
        return found
    row = {
        "platform": platform, "external_hmac": external_hmac, "sealed": sealed, "purge_after": purge_after,
        "language": language, "at": now,
    }  # fmt: skip
    made = _insert(c, row)
    if made is None:  # the same person arrived through another connection at this moment
        found = _find(c, *known)
        assert found is not None
        return found
    return Participant(made, _name(made, platform), True, language)


def get(c: sa.Connection, participant_id: int) -> Participant | None:
    """A participant by id; None: there is none."""
    return _find(c, participant.c.id == participant_id)


def kept(c: sa.Connection, participant_name_or_hmac: str) -> Kept | None:
    """Return how much the store holds of a person; None: no such person, or they are forgotten.

    Args:
        c: the connection.
        participant_name_or_hmac: 'p-0001', or the HMAC of the panel's id.
    """
    named = sa.or_(
        participant.c.name == participant_name_or_hmac, participant.c.external_hmac == participant_name_or_hmac
    )
    person = c.execute(sa.select(participant).where(named, participant.c.forgotten_at.is_(None))).first()
    if person is None:
        return None
    counts = [
        c.execute(sa.select(sa.func.count()).select_from(table).where(table.c.participant_id == person.id)).scalar_one()
        for table in (answer, event)
    ]
    return Kept(person.name, *counts)


def answered(c: sa.Connection) -> bool:
    """Whether there is an answer of anybody who is not simulated."""
    real = sa.select(answer.c.id).join(participant, participant.c.id == answer.c.participant_id)
    return c.execute(real.where(participant.c.platform != SIMULATED).limit(1)).first() is not None


def add_codes(c: sa.Connection, codes: dict[str, str], now: float) -> int:
    """Store one-use codes of a lab, SHA-256 of the code to its label; return how many are new."""
    put = insert_once(c.dialect.name, lab_code)
    return sum(
        c.execute(put, {"code_sha256": code, "label": label, "at": now}).first() is not None
        for code, label in codes.items()
    )


def unused_codes(c: sa.Connection) -> int:
    """How many codes of a lab nobody has used yet."""
    return int(c.execute(sa.select(sa.func.count()).where(lab_code.c.used_by.is_(None))).scalar_one())


def arrive_by_code(c: sa.Connection, code_sha256: str, language: str | None, now: float) -> Participant | None:
    """The participant of a lab code, made when it is used first; None: there is no such code."""
    locked = sa.select(lab_code.c.id, lab_code.c.used_by).where(lab_code.c.code_sha256 == code_sha256).with_for_update()
    code = c.execute(locked).first()
    if code is None:
        return None
    if code.used_by is not None:
        return get(c, code.used_by)
    person = arrive(c, "lab", None, None, language, now)
    c.execute(lab_code.update().where(lab_code.c.id == code.id).values(used_by=person.id))
    return person


def open_visit(
    c: sa.Connection,
    participant_id: int,
    key_sha256: str | None,
    cookie_sha256: str | None,
    submission_hmac: str | None,
    now: float,
) -> int:
    """Store a new entry of a person; return its id."""
    row = {
        "participant_id": participant_id, "key_sha256": key_sha256, "cookie_sha256": cookie_sha256,
        "submission_hmac": submission_hmac, "at": now,
    }  # fmt: skip
    return int(c.execute(visit.insert().returning(visit.c.id), row).scalar_one())


def take_token(c: sa.Connection, key_or_cookie_sha256: str, token_sha256: str, now: float) -> Visit | None:
    """Make a token the person's live one; every older token of theirs ends.

    A key works once and for `KEY_SECONDS`; a cookie works always. A visit that had a token goes on as a new visit, so that
    the older token is still known, as one that was replaced.

    Args:
        c: the connection.
        key_or_cookie_sha256: SHA-256 of the secret that the browser shows.
        token_sha256: SHA-256 of the new token.
        now: the server's clock.

    Returns:
        The live visit; None: the secret is unknown, used or too old.
    """
    either = sa.or_(visit.c.key_sha256 == key_or_cookie_sha256, visit.c.cookie_sha256 == key_or_cookie_sha256)
    found = c.execute(sa.select(visit).where(either)).first()
    if found is None:
        return None
    c.execute(
        sa.select(participant.c.id).where(participant.c.id == found.participant_id).with_for_update(key_share=True)
    )
    found = c.execute(sa.select(visit).where(either)).first()  # as it is once nobody else can change it
    if found is None:
        return None
    if found.token_sha256 == token_sha256 and found.ended_at is None:  # this very call, repeated
        return _visit(c, found.id)
    change: dict[str, object] = {"token_sha256": token_sha256, "ended_at": None}
    if found.key_sha256 == key_or_cookie_sha256:
        if found.key_used_at is not None or now - found.at > KEY_SECONDS:
            return None
        change["key_used_at"] = now
    ended = visit.update().where(visit.c.participant_id == found.participant_id, visit.c.ended_at.is_(None))
    c.execute(ended.where(visit.c.token_sha256.is_not(None)).values(ended_at=now))
    visit_id = found.id
    if found.token_sha256 is not None:
        c.execute(visit.update().where(visit.c.id == found.id).values(cookie_sha256=None))
        visit_id = open_visit(c, found.participant_id, None, found.cookie_sha256, found.submission_hmac, now)
    c.execute(visit.update().where(visit.c.id == visit_id).values(**change))
    return _visit(c, visit_id)


def who(c: sa.Connection, token_sha256: str) -> Visit | None:
    """Whose token it is; None: nobody's."""
    row = c.execute(_WHO, {"token": token_sha256}).first()
    return None if row is None else Visit(row[0], row[1], row[2], row[3] is None, row[4])


def end_visits(c: sa.Connection, participant_id: int, now: float) -> None:
    """End every token of a person, as when a lab's browser is handed to the next."""
    live = visit.update().where(visit.c.participant_id == participant_id, visit.c.ended_at.is_(None))
    c.execute(live.values(ended_at=now, cookie_sha256=None))


def decline(c: sa.Connection, participant_id: int, now: float | None = None) -> None:
    """Delete a person who did not consent, and count it without saying who; once they hold a lease this does nothing.

    Nothing is left but an event 'declined' without an id.
    """
    holds = sa.select(lease.c.id).where(lease.c.participant_id == participant_id)
    if _find(c, participant.c.id == participant_id) is None or c.execute(holds).first() is not None:
        return
    _open_door(c, True)
    c.execute(event.delete().where(event.c.participant_id == participant_id))
    _open_door(c, False)
    c.execute(lab_code.update().where(lab_code.c.used_by == participant_id).values(used_by=None))
    c.execute(visit.delete().where(visit.c.participant_id == participant_id))
    c.execute(participant.delete().where(participant.c.id == participant_id))
    events.append(c, "declined", time.time() if now is None else now)


def purge(c: sa.Connection, now: float) -> int:
    """Delete the encrypted panel ids whose time is over; return how many.

    What reached the store in the very moment in which its person was forgotten goes as well.
    """
    forgotten = sa.select(participant.c.id).where(participant.c.forgotten_at.is_not(None))
    late = [table for table in (answer, event) if c.execute(_about(table, forgotten).limit(1)).first() is not None]
    if late:
        _open_door(c, True)
        for table in late:
            c.execute(table.delete().where(table.c.participant_id.in_(forgotten)))
        _open_door(c, False)
    due = sa.and_(participant.c.sealed.is_not(None), participant.c.purge_after <= now)
    gone = c.execute(participant.update().where(due).values(sealed=None).returning(participant.c.id))
    return len(gone.all())


def forget(
    c: sa.Connection, participant_name_or_hmac: str, now: float, *, replace: bool = True, who: str = ""
) -> Forgotten | None:
    """Delete what is stored of a person, on request: answers, events, visits, panel ids. Their name stays, empty.

    Leases that they held retire; `replace` deals copies of those that counted. An event 'admin.forget' keeps the counts.

    Args:
        c: the connection.
        participant_name_or_hmac: 'p-0001', or the HMAC of the panel's id.
        now: the server's clock.
        replace: deal copies.
        who: who asked for it, for the event.

    Returns:
        What was deleted; None: no such person, or they are forgotten already.
    """
    named = sa.or_(
        participant.c.name == participant_name_or_hmac, participant.c.external_hmac == participant_name_or_hmac
    )
    person = c.execute(sa.select(participant).where(named).with_for_update(key_share=True)).first()
    if person is None or person.forgotten_at is not None:
        return None
    retired = claims.retire_all(c, person.id, now, replace=replace)
    _open_door(c, True)
    answers = len(c.execute(answer.delete().where(answer.c.participant_id == person.id).returning(answer.c.id)).all())
    told = len(c.execute(event.delete().where(event.c.participant_id == person.id).returning(event.c.id)).all())
    _open_door(c, False)
    visits = len(c.execute(visit.delete().where(visit.c.participant_id == person.id).returning(visit.c.id)).all())
    empty = {"external_hmac": None, "sealed": None, "purge_after": None, "language": None, "forgotten_at": now}
    c.execute(participant.update().where(participant.c.id == person.id).values(**empty))
    counts = {"answers": answers, "events": told, "visits": visits, "leases": len(retired)}
    body = {"participant": person.name, "who": who, **counts}
    events.append(c, "admin.forget", now, body=body)
    return Forgotten(person.id, person.name, **counts)


def _insert(c: sa.Connection, row: Mapping[str, object]) -> int | None:
    """Insert a participant under a name of its own; None: the panel's id is there already."""
    made = c.execute(insert_once(c.dialect.name, participant), {**row, "name": secrets.token_hex(16)}).scalar()
    if made is not None:
        named = _name(made, str(row["platform"]))
        c.execute(participant.update().where(participant.c.id == made).values(name=named))
    return None if made is None else int(made)


def _name(participant_id: int, platform: str) -> str:
    """Whoever is simulated says so in every table."""
    return f"{'sim' if platform == SIMULATED else 'p'}-{participant_id:04d}"


def _find(c: sa.Connection, *where: sa.ColumnElement[bool]) -> Participant | None:
    row = c.execute(sa.select(participant.c.id, participant.c.name, participant.c.language).where(*where)).first()
    return None if row is None else Participant(row.id, row.name, False, row.language)


def _about(table: sa.Table, persons: sa.Select[int]) -> sa.Select[int]:
    return sa.select(table.c.id).where(table.c.participant_id.in_(persons))


def _open_door(c: sa.Connection, is_open: bool) -> None:
    """The one way past the append-only triggers; on PostgreSQL its row lock lets one such job through at a time."""
    c.execute(door.update().values(open=int(is_open)))


_WHO = sa.select(
    visit.c.id, visit.c.participant_id, participant.c.name, visit.c.ended_at, visit.c.submission_hmac
).join_from(visit, participant).where(visit.c.token_sha256 == sa.bindparam("token"))  # fmt: skip


def _visit(c: sa.Connection, visit_id: int) -> Visit:
    row = c.execute(
        sa.select(visit.c.id, visit.c.participant_id, participant.c.name, visit.c.ended_at, visit.c.submission_hmac)
        .join_from(visit, participant)
        .where(visit.c.id == visit_id)
    ).one()
    return Visit(row[0], row[1], row[2], row[3] is None, row[4])
