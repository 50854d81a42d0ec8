"""Answers go in exactly once: the hot path of the store.

Every answer carries the client's own id. The database takes it once (UNIQUE), and the same answer sent again is "known". An
answer is taken only from the person's live token and for a lease that the person holds.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa

from .tables import answer

__all__ = ["Answer", "NewAnswer", "Status", "Stored", "append", "of_lease"]

Status = Literal["stored", "known", "conflict", "gone"]
"""stored: now; known: the same answer was there; conflict: this id with another content, or another id for this trial,
criterion and revision; gone: the token is not the live one, or the lease is not (or no longer) the person's."""

_SEEN_EVERY = 5.0  # seconds between two notes of when a lease was last seen: most answers then write one row only


class NewAnswer(NamedTuple):
    """An answer as it comes in."""

    client_id: str
    """Made by the client, once for each answer."""
    trial: str
    criterion: str
    revision: int
    """0 for the first answer; ratings that may be changed count up."""
    value: str
    seconds: float | None
    """Response time."""
    body: str
    """Everything else, as JSON text; compared as text when the answer comes again."""


class Answer(NamedTuple):
    """An answer as it is stored."""

    id: int
    client_id: str
    lease_id: int
    participant_id: int
    trial: str
    criterion: str
    revision: int
    value: str
    seconds: float | None
    at: float
    body: str


class Stored(NamedTuple):
    """What became of one answer."""

    client_id: str
    status: Status


def append(
    c: sa.Connection, token_sha256: str, lease_id: int, participant_id: int, rows: Sequence[NewAnswer], now: float
) -> list[Stored]:
    """Store answers of one lease; one round trip unless some of them were there already.

    Args:
        c: the connection; `store.write(..., single=True)` suits.
        token_sha256: of the bearer token that the answers came with.
        lease_id: whose answers they are.
        participant_id: who holds the lease.
        rows: at least one; no id and no place twice, or the later one counts as sent again.
        now: the server's clock.

    Returns:
        One `Stored` for each row, in their order.
    """
    put = _append_sqlite if c.dialect.name == "sqlite" else _append_postgres
    held, stored = put(c, token_sha256, lease_id, participant_id, rows, now)
    if len(stored) == len(rows):
        return [Stored(row.client_id, "stored") for row in rows]
    return _judged(c, lease_id, participant_id, rows, held, stored)


def of_lease(c: sa.Connection, lease_id: int) -> list[Answer]:
    """All answers of a lease, every revision, in the order they were stored."""
    rows = c.execute(_OF_LEASE, {"lease": lease_id})
    return [Answer._make(row) for row in rows]


_OF_LEASE = sa.select(*(answer.c[name] for name in Answer._fields)).where(
    answer.c.lease_id == sa.bindparam("lease")
).order_by(answer.c.id)  # fmt: skip

_HELD = (
    "SELECT l.seen_at FROM visit v JOIN lease l ON l.participant_id = v.participant_id "
    "WHERE v.token_sha256 = ? AND v.ended_at IS NULL AND v.participant_id = ? AND l.id = ? "
    "AND l.state IN ('leased', 'abandoned')"
)
_PUT = (
    "INSERT INTO answer (client_id, lease_id, participant_id, trial, criterion, revision, value, seconds, at, body) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id"
)


def _append_sqlite(
    c: sa.Connection, token: str, lease_id: int, participant_id: int, rows: Sequence[NewAnswer], now: float
) -> tuple[bool, set[str]]:
    raw = c.connection.driver_connection  # SQLAlchemy's share would be most of the time that this takes
    assert isinstance(raw, sqlite3.Connection)
    held = raw.execute(_HELD, (token, participant_id, lease_id)).fetchone()
    if held is None:
        return False, set()
    stored = set()
    for row in rows:
        client_id, trial, criterion, revision, value, seconds, body = row
        given = (client_id, lease_id, participant_id, trial, criterion, revision, value, seconds, now, body)
        if raw.execute(_PUT, given).fetchone() is not None:
            stored.add(client_id)
    if held[0] is None or abs(now - held[0]) > _SEEN_EVERY:
        raw.execute("UPDATE lease SET seen_at = ? WHERE id = ?", (now, lease_id))
    return True, stored


def _append_postgres(
    c: sa.Connection, token: str, lease_id: int, participant_id: int, rows: Sequence[NewAnswer], now: float
) -> tuple[bool, set[str]]:
    given: list[Any] = [token, participant_id, lease_id, now]
    for row in rows:
        given += row
    given += [now, now]
    raw: Any = c.connection.driver_connection  # as above; an error of psycopg's own is made SQLAlchemy's by the engine
    held, stored = raw.execute(_statement(len(rows)), given).fetchone()
    return held > 0, set(stored)


@functools.lru_cache(maxsize=64)
def _statement(n_rows: int) -> str:
    """One statement for n answers: who holds the lease, the rows, and when the lease was seen.

    The lease is locked against being taken away meanwhile (forgetting a person locks it FOR UPDATE).
    """
    values = ", ".join(["(%s::text, %s::text, %s::text, %s::integer, %s::text, %s::float8, %s::text)"] * n_rows)
    return (
        "WITH held AS (SELECT l.id, l.participant_id, l.seen_at FROM visit v "
        "JOIN lease l ON l.participant_id = v.participant_id WHERE v.token_sha256 = %s AND v.ended_at IS NULL "
        "AND v.participant_id = %s AND l.id = %s AND l.state IN ('leased', 'abandoned') FOR KEY SHARE OF l), "
        "put AS (INSERT INTO answer "
        "(client_id, lease_id, participant_id, trial, criterion, revision, value, seconds, at, body) "
        "SELECT x.client_id, held.id, held.participant_id, x.trial, x.criterion, x.revision, x.value, x.seconds, "
        f"%s::float8, x.body FROM held, (VALUES {values}) "
        "AS x (client_id, trial, criterion, revision, value, seconds, body) "
        "ON CONFLICT DO NOTHING RETURNING client_id), "
        f"seen AS (UPDATE lease SET seen_at = %s::float8 FROM held WHERE lease.id = held.id "
        f"AND (held.seen_at IS NULL OR abs(%s::float8 - held.seen_at) > {_SEEN_EVERY})) "
        "SELECT (SELECT count(*) FROM held), ARRAY(SELECT client_id FROM put)"
    )


def _judged(
    c: sa.Connection, lease_id: int, participant_id: int, rows: Sequence[NewAnswer], held: bool, stored: set[str]
) -> list[Stored]:
    """The rare path: some answers were not put in; say why for each."""
    wanted = [row.client_id for row in rows]
    there = {found.client_id: found for found in map(Answer._make, c.execute(_BY_CLIENT, {"ids": wanted}))}
    told: list[Stored] = []
    for row in rows:
        found = there.get(row.client_id)
        status: Status
        if row.client_id in stored:
            stored.remove(row.client_id)  # the same id a second time in this call is judged as sent again
            status = "stored"
        elif found is not None and _same(found, row, lease_id, participant_id):
            status = "known"
        else:
            status = "conflict" if held else "gone"
        told.append(Stored(row.client_id, status))
    return told


_BY_CLIENT = sa.select(*(answer.c[name] for name in Answer._fields)).where(
    answer.c.client_id.in_(sa.bindparam("ids", expanding=True))
)  # fmt: skip


def _same(found: Answer, row: NewAnswer, lease_id: int, participant_id: int) -> bool:
    stored = (found.trial, found.criterion, found.revision, found.value, found.seconds, found.body)
    return (found.lease_id, found.participant_id) == (lease_id, participant_id) and stored == row[1:]
