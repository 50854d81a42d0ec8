"""Events: everything that happened beside the answers, append-only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa

from .tables import event, insert_once

__all__ = ["Event", "append", "excluders", "of_lease", "of_participant"]


class Event(NamedTuple):
    """An event as it is stored."""

    id: int
    client_id: str | None
    participant_id: int | None
    lease_id: int | None
    session: str | None
    kind: str
    at: float
    body: dict[str, Any]


def append(
    c: sa.Connection,
    kind: str,
    now: float,
    *,
    participant_id: int | None = None,
    lease_id: int | None = None,
    session: str | None = None,
    client_id: str | None = None,
    body: Mapping[str, Any] | None = None,
) -> Literal["stored", "known", "conflict"]:
    """Store an event, once for each client id.

    Args:
        c: the connection.
        kind: what happened.
        now: the server's clock.
        participant_id: whom it is about; None: nobody in particular.
        lease_id: which lease it is about.
        session: which sitting.
        client_id: id that the client gave; None: every call is an event of its own.
        body: what else is to be kept; must be fit for JSON.

    Returns:
        'stored'; 'known' when the same event had been stored under this id; 'conflict' when another had.
    """
    text = json.dumps(body or {}, sort_keys=True, ensure_ascii=False, allow_nan=False)
    row = {
        "client_id": client_id, "participant_id": participant_id, "lease_id": lease_id, "session": session,
        "kind": kind, "at": now, "body": text,
    }  # fmt: skip
    if c.execute(_PUT[c.dialect.name], row).first() is not None:
        return "stored"
    there = c.execute(_BY_CLIENT, {"wanted": client_id}).one()
    given = (participant_id, lease_id, session, kind, text)
    return "known" if tuple(there) == given else "conflict"


def of_lease(c: sa.Connection, lease_id: int) -> list[Event]:
    """All events of a lease, in the order they were stored."""
    return _events(c, _OF_LEASE, lease_id)


def of_participant(c: sa.Connection, participant_id: int) -> list[Event]:
    """All events of a participant, in the order they were stored."""
    return _events(c, _OF_PARTICIPANT, participant_id)


def excluders(c: sa.Connection) -> dict[int, str]:
    """Return who excluded a lease last, by its id; also of leases that were restored since."""
    return {lease_id: str(json.loads(body).get("who", "")) for lease_id, body in c.execute(_EXCLUDED)}


def _events(c: sa.Connection, theirs: sa.Select[Any], whose: int) -> list[Event]:
    return [Event._make((*row[:-1], json.loads(row[-1]))) for row in c.execute(theirs, {"whose": whose})]


def _of(column: sa.Column[Any]) -> sa.Select[Any]:
    """Made once: SQLAlchemy takes longer to make it than SQLite to answer it."""
    columns = (event.c[name] for name in Event._fields)
    return sa.select(*columns).where(column == sa.bindparam("whose")).order_by(event.c.id)


_OF_LEASE, _OF_PARTICIPANT = _of(event.c.lease_id), _of(event.c.participant_id)
_EXCLUDED = (
    sa.select(event.c.lease_id, event.c.body)
    .where(event.c.kind == "admin.exclude", event.c.lease_id.is_not(None))
    .order_by(event.c.id)
)
_PUT = {dialect: insert_once(dialect, event) for dialect in ("sqlite", "postgresql")}
_BY_CLIENT = sa.select(
    event.c.participant_id, event.c.lease_id, event.c.session, event.c.kind, event.c.body
).where(event.c.client_id == sa.bindparam("wanted"))  # fmt: skip
