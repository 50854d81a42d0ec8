"""Versions of a study, frozen: what was asked never changes under those who were asked."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from .tables import lease, version

__all__ = ["Taken", "Version", "alone", "current", "extend", "freeze", "get", "numbers", "taken"]


class Version(NamedTuple):
    """A frozen version."""

    id: int
    sha256: str
    study: str
    plan: bytes
    """The plan as CSV."""
    items: bytes
    at: float


class Taken(NamedTuple):
    """A lease that somebody has, in whatever version."""

    version_id: int
    stage: str
    owner: str
    state: str


def freeze(
    c: sa.Connection,
    study_json: str,
    plan_csv: bytes,
    items_json: bytes,
    leases: Sequence[tuple[str, str]],
    now: float | None = None,
) -> int:
    """Make a version the one that is served; the same content again is the same version.

    Free leases of all other versions retire; people who are under way stay on theirs.

    Args:
        c: the connection.
        study_json: the study's settings.
        plan_csv: the plan.
        items_json: what pictures and prompts the plan needs.
        leases: (stage, owner) to be handed out, in the order they shall be taken; one that stands twice is dealt twice.
            Leave out what need not be asked again (see `taken`).
        now: the server's clock; None: this machine's.

    Returns:
        The version's id.
    """
    alone(c)
    digest = _digest(study_json, plan_csv, items_json)
    newest = c.execute(_NEWEST).first()
    if newest is not None and newest.sha256 == digest:
        version_id = int(newest.id)
    else:
        turn = 1 if newest is None else newest.turn + 1
        found = c.execute(sa.select(version.c.id).where(version.c.sha256 == digest)).scalar()
        if found is None:
            version_id = _add(c, digest, turn, (study_json, plan_csv, items_json), now)
        else:
            version_id = int(found)
            c.execute(version.update().where(version.c.id == version_id).values(turn=turn))
            _wake(c, version_id)
        c.execute(
            lease.update().where(lease.c.version_id != version_id, lease.c.state == "free").values(state="retired")
        )
    _deal(c, version_id, leases)
    return version_id


def extend(
    c: sa.Connection,
    study_json: str,
    plan_csv: bytes,
    items_json: bytes,
    leases: Sequence[tuple[str, str]],
    now: float | None = None,
) -> int | None:
    """Put a version that asks the same and more in the place of the one that is served.

    Free leases of earlier versions stay as they are, on the version in which they were dealt: their sheets stand in the
    new one too.

    Args:
        c: the connection.
        study_json, plan_csv, items_json: as for `freeze`.
        leases: (stage, owner) of what is new only.
        now: the server's clock; None: this machine's.

    Returns:
        The version's id; None: no version is served, or this one was frozen before, and nothing was changed.
    """
    alone(c)
    digest = _digest(study_json, plan_csv, items_json)
    newest = c.execute(_NEWEST).first()
    if newest is None or c.execute(sa.select(version.c.id).where(version.c.sha256 == digest)).first() is not None:
        return None
    version_id = _add(c, digest, newest.turn + 1, (study_json, plan_csv, items_json), now)
    _deal(c, version_id, leases)
    return version_id


def alone(c: sa.Connection) -> None:
    """From now until the transaction ends nobody else changes which version is served."""
    if c.dialect.name == "postgresql":
        c.execute(sa.text("LOCK TABLE version IN SHARE ROW EXCLUSIVE MODE"))


def current(c: sa.Connection) -> Version | None:
    """The version that is served; None: none was frozen."""
    return _version(c.execute(_VERSION.order_by(version.c.turn.desc()).limit(1)).first())


def get(c: sa.Connection, version_id: int) -> Version | None:
    """A version by its id; None: there is none."""
    return _version(c.execute(_VERSION.where(version.c.id == version_id)).first())


def numbers(c: sa.Connection) -> list[int]:
    """Ids of all versions, in the order in which they were frozen."""
    return list(c.execute(sa.select(version.c.id).order_by(version.c.id)).scalars())


def taken(c: sa.Connection) -> list[Taken]:
    """The leases that are under way, complete or accepted, of all versions; so that a new version need not ask again."""
    rows = c.execute(
        sa.select(lease.c.version_id, lease.c.stage, lease.c.owner, lease.c.state)
        .where(lease.c.state.in_(("leased", "complete", "accepted")))
        .order_by(lease.c.id)
    )
    return [Taken._make(row) for row in rows]


def _digest(study_json: str, plan_csv: bytes, items_json: bytes) -> str:
    parts = (study_json.encode(), plan_csv, items_json)
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).hexdigest()


def _add(c: sa.Connection, digest: str, turn: int, parts: tuple[str, bytes, bytes], now: float | None) -> int:
    study, plan, items = parts
    row = {
        "sha256": digest, "turn": turn, "study": study, "plan": zlib.compress(plan, 6), "items": items,
        "at": time.time() if now is None else now,
    }  # fmt: skip
    return int(c.execute(version.insert().returning(version.c.id), row).scalar_one())


_NEWEST = sa.select(version.c.id, version.c.sha256, version.c.turn).order_by(version.c.turn.desc())
_VERSION = sa.select(version.c.id, version.c.sha256, version.c.study, version.c.plan, version.c["items"], version.c.at)


def _version(row: sa.Row[*tuple[Any, ...]] | None) -> Version | None:
    if row is None:
        return None
    return Version(row.id, row.sha256, row.study, zlib.decompress(row.plan), bytes(row.items), row.at)


def _wake(c: sa.Connection, version_id: int) -> None:
    """Free the leases again that retired untaken when this version was put aside, as far as they are still needed."""
    untaken = (lease.c.version_id == version_id, lease.c.state == "retired", lease.c.participant_id.is_(None))
    c.execute(lease.update().where(*untaken, lease.c.replaces.is_(None)).values(state="free"))
    member, later = lease.alias("member"), lease.alias("later")
    counts = sa.exists().where(
        sa.or_(member.c.id == lease.c.replaces, member.c.replaces == lease.c.replaces),
        member.c.state.in_(("free", "leased", "complete", "accepted")),
    )
    newer = sa.exists().where(
        later.c.replaces == lease.c.replaces, later.c.id > lease.c.id, later.c.state == "retired",
        later.c.participant_id.is_(None),
    )  # fmt: skip
    c.execute(lease.update().where(*untaken, lease.c.replaces.is_not(None), ~counts, ~newer).values(state="free"))


def _deal(c: sa.Connection, version_id: int, leases: Sequence[tuple[str, str]]) -> None:
    """Add the leases that the version lacks; what replaces another does not count as one of them."""
    originals: Counter[tuple[str, str]] = Counter()
    copies: Counter[tuple[str, str]] = Counter()
    rows = c.execute(sa.select(lease.c.stage, lease.c.owner, lease.c.replaces).where(lease.c.version_id == version_id))
    for stage, owner, replaces in rows:
        copies[stage, owner] += 1
        originals[stage, owner] += replaces is None
    fresh = []
    for stage, owner in leases:
        if originals[stage, owner] > 0:
            originals[stage, owner] -= 1
            continue
        fresh.append(
            {"version_id": version_id, "stage": stage, "owner": owner, "copy": copies[stage, owner], "state": "free",
             "priority": 0}
        )  # fmt: skip
        copies[stage, owner] += 1
    if fresh:
        c.execute(lease.insert(), fresh)
