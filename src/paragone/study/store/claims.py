"""Leases: who works on which sheets. Handed out once, given back, replaced, never lost.

A lease is all sheets of one owner of the plan in one stage. Of each there is one copy that counts; a copy that is
excluded or abandoned may be replaced by a new free one, which points back at the planned one. Rare moves (all but `claim`)
take one lock on PostgreSQL, so that they see each other's work; on SQLite there is one writer anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from . import events
from .tables import answer, lease, participant

__all__ = [
    "BY_CHECKS",
    "Lease",
    "Swept",
    "abandon",
    "accept",
    "away",
    "claim",
    "exclude",
    "finish",
    "get",
    "leases_of",
    "release",
    "replace",
    "restore",
    "retire_all",
    "sweep",
]

BY_CHECKS = "rule: checks"
"""Who excludes a lease with too few right checks: the study itself, not the desk."""
_DESK = 0x706C65617365  # number of PostgreSQL's advisory lock for the rare moves
_MARGIN = 64  # claims that may be under way at the same moment in all processes
_FIRST = -1  # priority of a replacement: before all that were planned
_UNDER_WAY = ("leased", "abandoned")


class Lease(NamedTuple):
    """A lease as it is stored."""

    id: int
    version_id: int
    stage: str
    owner: str
    copy: int
    state: str
    priority: int
    participant_id: int | None
    replaces: int | None
    """The planned lease whose copy this is; None: it is planned itself."""
    taken_at: float | None
    seen_at: float | None
    away_until: float | None
    """Between two sessions: not missed before; None: never away."""
    done_at: float | None


class Swept(NamedTuple):
    """What a sweep did, by lease id."""

    abandoned: tuple[int, ...]
    added: tuple[int, ...]
    """Replacements that are free now."""
    revived: tuple[int, ...]
    """Abandoned ones whose person came back."""


def claim(c: sa.Connection, participant_id: int, stages: Sequence[str], at_once: int, now: float) -> Lease | None:
    """Give a participant a lease: the one they hold, or the next free one of the first stage that has any.

    Nobody gets two leases of one stage. An abandoned lease is its person's own again.

    Args:
        c: the connection.
        participant_id: who asks.
        stages: stages that they may do, the preferred one first.
        at_once: most leases that may be under way at the same time.
        now: the server's clock.

    Returns:
        The lease; None: the stages have none left, too many are under way, or there is no such person.
    """
    if c.execute(_PERSON, {"person": participant_id}).first() is None:
        return None
    held = _held(c, participant_id)
    if held is not None:
        return _revived(c, held, now) if held.state == "abandoned" else held
    if not _room(c, at_once):
        return None
    for stage in stages:
        row = c.execute(_CLAIM, {"asked": stage, "person": participant_id, "now": now}).first()
        if row is not None:
            return Lease._make(row)
    return None


def get(c: sa.Connection, lease_id: int) -> Lease | None:
    """A lease by its id; None: there is none."""
    return _made(c.execute(_LEASE.where(lease.c.id == lease_id)).first())


def leases_of(c: sa.Connection, participant_id: int) -> list[Lease]:
    """The leases of a participant, in the order they were made; those of a forgotten one are retired."""
    return [Lease._make(row) for row in c.execute(_THEIRS, {"person": participant_id})]


def away(c: sa.Connection, lease_id: int, until: float | None, now: float) -> None:
    """Between two sessions: the lease is not missed before `until`; None: its person is back."""
    c.execute(_its(lease_id, _UNDER_WAY).values(away_until=now if until is None else until, seen_at=now))


def finish(c: sa.Connection, lease_id: int, now: float) -> Lease | None:
    """Complete a lease that is under way; finishing twice changes nothing.

    Returns:
        The lease, complete (or accepted or excluded already); None: it is nobody's.
    """
    _lock(c)
    done = {"state": "complete", "done_at": now}
    found = _made(c.execute(_its(lease_id, _UNDER_WAY).values(**done).returning(*_COLUMNS)).first())
    if found is not None:
        _even(c, found, now, False)
        return found
    found = get(c, lease_id)
    return found if found is not None and found.state in ("complete", "accepted", "excluded") else None


def accept(c: sa.Connection, lease_id: int) -> Lease | None:
    """Accept a complete lease; None: it is not complete."""
    c.execute(_its(lease_id, ("complete",)).values(state="accepted"))
    found = get(c, lease_id)
    return found if found is not None and found.state == "accepted" else None


def exclude(c: sa.Connection, lease_id: int, now: float, *, who: str, why: str, replace: bool = True) -> Lease | None:
    """Exclude a lease: its answers stay and no longer count.

    Args:
        c: the connection.
        lease_id: which.
        now: the server's clock.
        who: who decided.
        why: the reason.
        replace: deal a copy.

    Returns:
        The lease, excluded; None: nobody took it, so there is nothing to exclude.
    """
    _lock(c)
    taken = (*_UNDER_WAY, "complete", "accepted")
    found = _made(c.execute(_its(lease_id, taken).values(state="excluded").returning(*_COLUMNS)).first())
    if found is not None:
        _tell(c, "admin.exclude", now, found, who=who, why=why)
        _even(c, found, now, replace)
        return found
    found = get(c, lease_id)
    return found if found is not None and found.state == "excluded" else None


def restore(c: sa.Connection, lease_id: int, now: float, *, who: str, why: str) -> Lease | None:
    """Take an exclusion back; a replacement that nobody took retires.

    Returns:
        The lease, complete or under way as it was; None: it is not excluded.
    """
    _lock(c)
    back = sa.case((lease.c.done_at.is_not(None), "complete"), else_="leased")
    seen = sa.case((lease.c.done_at.is_not(None), lease.c.seen_at), else_=now)  # who goes on is not missed at once
    counted = _its(lease_id, ("excluded",)).values(state=back, seen_at=seen).returning(*_COLUMNS)
    found = _made(c.execute(counted).first())
    if found is None:
        return None
    _even(c, found, now, False)
    _tell(c, "admin.restore", now, found, who=who, why=why)
    return found


def release(c: sa.Connection, lease_id: int, now: float, *, who: str = "", why: str = "", replace: bool = True) -> None:
    """Give a lease back: free for others while it has no answers, else abandoned and replaced.

    Args:
        c: the connection.
        lease_id: which; nothing happens to one that is not under way.
        now: the server's clock.
        who: who decided; empty: the study itself, and no event of the desk is written.
        why: the reason.
        replace: deal a copy where there are answers.
    """
    _lock(c)
    if who and (found := get(c, lease_id)) is not None:
        _tell(c, "admin.release", now, found, who=who, why=why)
    unanswered = ~sa.exists().where(answer.c.lease_id == lease_id)
    free = {"state": "free", "participant_id": None, "taken_at": None, "seen_at": None, "away_until": None}
    given_back = _its(lease_id, ("leased",)).where(unanswered).values(**free).returning(*_COLUMNS)
    found = _made(c.execute(given_back).first())
    if found is None:
        _abandon(c, lease_id, now, why or "released", replace)
    else:
        _even(c, found, now, False)


def abandon(c: sa.Connection, lease_id: int, now: float, *, why: str, replace: bool = True) -> bool:
    """Count a lease as left, as when the panel says so; its person may still come back. Return whether it was under way."""
    _lock(c)
    return _abandon(c, lease_id, now, why, replace)


def replace(c: sa.Connection, lease_id: int, now: float, *, who: str, why: str) -> Lease | None:
    """Deal a copy of an abandoned or excluded lease, or of one under way, which then counts as abandoned.

    Returns:
        The copy that replaces it, a new one or the one that is there; None: there is nothing to replace.
    """
    _lock(c)
    _abandon(c, lease_id, now, why, False)
    found = get(c, lease_id)
    if found is None or found.state not in ("abandoned", "excluded"):
        return None
    _tell(c, "admin.replace", now, found, who=who, why=why)
    _even(c, found, now, True)
    root = found.replaces or found.id
    counts = ("free", "leased", "complete", "accepted")
    copies = _LEASE.where(sa.or_(lease.c.id == root, lease.c.replaces == root), lease.c.state.in_(counts))
    return Lease._make(c.execute(copies.order_by(lease.c.id.desc())).first() or ())


def retire_all(c: sa.Connection, participant_id: int, now: float, *, replace: bool) -> list[int]:
    """Retire every lease of a person who is forgotten; deal copies of those that counted. Return their ids."""
    _lock(c)
    theirs = _LEASE.where(lease.c.participant_id == participant_id, lease.c.state != "retired").order_by(lease.c.id)
    held = [Lease._make(row) for row in c.execute(theirs.with_for_update())]
    for one in held:
        c.execute(lease.update().where(lease.c.id == one.id).values(state="retired"))
        if replace and one.state in (*_UNDER_WAY, "complete", "accepted"):
            _even(c, one, now, True)
    return [one.id for one in held]


def sweep(c: sa.Connection, now: float, abandon_seconds: float, replace: bool = True) -> Swept:
    """Find who left and who came back: run it every minute or so.

    A lease is abandoned when it was not seen for twice the median time that finished leases of its stage took, and at
    least for `abandon_seconds`. An abandoned one that was seen again is under way again, and its replacement retires if
    nobody took it.

    Args:
        c: the connection.
        now: the server's clock; one that goes back only makes the sweep wait longer.
        abandon_seconds: least time without an answer.
        replace: deal a copy of each abandoned lease.
    """
    _lock(c)
    abandoned: list[int] = []
    revived = list(c.execute(sa.select(lease.c.id).where(*_CAME_BACK).order_by(lease.c.id)).scalars())
    for lease_id in revived:
        c.execute(_its(lease_id, ("abandoned",)).values(state="leased"))
        _even(c, _there(c, lease_id), now, False)
    stages = c.execute(sa.select(lease.c.stage).where(lease.c.state == "leased").distinct().order_by(lease.c.stage))
    for stage in stages.scalars().all():
        limit = max(2 * _median_seconds(c, stage), abandon_seconds)
        left = sa.select(lease.c.id).where(lease.c.stage == stage, lease.c.state == "leased", now - _SEEN >= limit)
        for lease_id in c.execute(left.order_by(lease.c.id)).scalars().all():
            if _abandon(c, lease_id, now, f"not seen for {limit:.0f} s", replace):
                abandoned.append(lease_id)
    roots = sa.select(sa.func.coalesce(lease.c.replaces, lease.c.id)).where(lease.c.id.in_(abandoned))
    added = sa.select(lease.c.id).where(lease.c.replaces.in_(roots), lease.c.state == "free").order_by(lease.c.id)
    return Swept(tuple(abandoned), tuple(c.execute(added).scalars()), tuple(revived))


_COLUMNS = tuple(lease.c[name] for name in Lease._fields)
_LEASE = sa.select(*_COLUMNS)
_SEEN = sa.case((lease.c.away_until > lease.c.seen_at, lease.c.away_until), else_=lease.c.seen_at)
_CAME_BACK = (lease.c.state == "abandoned", lease.c.seen_at.is_not(None))  # abandoning empties `seen_at`


def _claim() -> sa.Executable:
    theirs = lease.alias("theirs")
    person, stage = sa.bindparam("person", type_=sa.Integer), sa.bindparam("asked", type_=sa.Text)
    had = sa.exists().where(theirs.c.participant_id == person, theirs.c.stage == stage)
    free = lease.alias("free")
    first = (
        sa.select(free.c.id)
        .where(free.c.state == "free", free.c.stage == stage, ~had)
        .order_by(free.c.priority, free.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    now = sa.bindparam("now", type_=sa.Double)
    given = {"state": "leased", "participant_id": person, "taken_at": now, "seen_at": now, "away_until": None}
    taken: sa.Executable = (
        lease.update().where(lease.c.id == first.scalar_subquery()).values(**given).returning(*_COLUMNS)
    )
    return taken


_CLAIM = _claim()
_OF = lease.c.participant_id == sa.bindparam("person")
_THEIRS = _LEASE.where(_OF).order_by(lease.c.id)
_HELD = _LEASE.where(_OF, lease.c.state.in_(_UNDER_WAY)).order_by(lease.c.state.desc(), lease.c.id)
_HOW_MANY = sa.select(sa.func.count()).select_from(lease).where(lease.c.state == "leased")
_PERSON = (
    sa.select(participant.c.id)
    .where(participant.c.id == sa.bindparam("person"), participant.c.forgotten_at.is_(None))
    .with_for_update(key_share=True)
)


def _lock(c: sa.Connection) -> None:
    if c.dialect.name == "postgresql":
        c.execute(sa.text("SELECT pg_advisory_xact_lock(:desk)"), {"desk": _DESK})


def _its(lease_id: int, states: Sequence[str]) -> sa.Update:
    if_so: sa.Update = lease.update().where(lease.c.id == lease_id, lease.c.state.in_(states))
    return if_so


def _made(row: sa.Row[*tuple[Any, ...]] | None) -> Lease | None:
    return None if row is None else Lease._make(row)


def _there(c: sa.Connection, lease_id: int) -> Lease:
    return Lease._make(c.execute(_LEASE.where(lease.c.id == lease_id)).one())


def _held(c: sa.Connection, participant_id: int) -> Lease | None:
    """What a person is on: under way before abandoned."""
    return _made(c.execute(_HELD, {"person": participant_id}).first())


def _room(c: sa.Connection, at_once: int) -> bool:
    """Whether one more may be under way; near the limit claims queue, so that it is kept exactly."""
    count = c.execute(_HOW_MANY).scalar_one()
    if count + _MARGIN < at_once:
        return True
    _lock(c)
    return int(c.execute(_HOW_MANY).scalar_one()) < at_once


def _revived(c: sa.Connection, held: Lease, now: float) -> Lease:
    _lock(c)
    c.execute(_its(held.id, ("abandoned",)).values(state="leased", seen_at=now))
    found = _there(c, held.id)
    _even(c, found, now, False)
    return found


def _abandon(c: sa.Connection, lease_id: int, now: float, why: str, replace: bool) -> bool:
    before = get(c, lease_id)
    if (
        c.execute(_its(lease_id, ("leased",)).values(state="abandoned", seen_at=None).returning(lease.c.id)).first()
        is None
    ):
        return False
    found = _there(c, lease_id)
    events.append(
        c, "lease.abandoned", now, participant_id=found.participant_id, lease_id=lease_id,
        body={"why": why, "seen_at": before.seen_at if before else None},
    )  # fmt: skip
    _even(c, found, now, replace)
    return True


def _even(c: sa.Connection, one: Lease, now: float, replace: bool) -> None:
    """Keep one copy that counts in the family of a lease: its planned one and all that replace it.

    Free copies retire beside one that somebody has; a new one is dealt where `replace` and none counts.
    """
    root = one.replaces or one.id
    family = sa.or_(lease.c.id == root, lease.c.replaces == root)
    states = c.execute(sa.select(lease.c.state).where(family)).scalars().all()
    if any(state in ("leased", "complete", "accepted") for state in states):
        c.execute(lease.update().where(family, lease.c.state == "free").values(state="retired"))
    elif replace and "free" not in states:
        same = (lease.c.version_id == one.version_id, lease.c.stage == one.stage, lease.c.owner == one.owner)
        last = c.execute(sa.select(sa.func.max(lease.c.copy)).where(*same)).scalar_one()
        row = {
            "version_id": one.version_id, "stage": one.stage, "owner": one.owner, "copy": last + 1, "state": "free",
            "priority": _FIRST, "replaces": root,
        }  # fmt: skip
        made = c.execute(lease.insert().returning(lease.c.id), row).scalar_one()
        events.append(c, "lease.replaced", now, lease_id=one.id, body={"by": made})


def _median_seconds(c: sa.Connection, stage: str) -> float:
    """Median time of the stage's finished leases that had one session; 0 where there is none."""
    took = lease.c.done_at - lease.c.taken_at
    finished = sa.and_(
        lease.c.stage == stage, lease.c.state.in_(("complete", "accepted")), took > 0, lease.c.away_until.is_(None)
    )
    n = c.execute(sa.select(sa.func.count()).select_from(lease).where(finished)).scalar_one()
    middle = sa.select(took).where(finished).order_by(took).limit(1).offset(n // 2)
    return float(c.execute(middle).scalar_one()) if n else 0.0


def _tell(c: sa.Connection, kind: str, now: float, one: Lease, *, who: str, why: str) -> None:
    body = {"who": who, "why": why}
    events.append(c, kind, now, participant_id=one.participant_id, lease_id=one.id, body=body)
