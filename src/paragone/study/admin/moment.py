"""What the store says at one moment, as frames: small ones for every page, the answers for the slow figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
import sqlalchemy as sa

from ..frozen import Frozen
from ..store import claims
from ..store import events as happened
from ..store.tables import answer, event, lease, participant
from .advice import Look
from .live import Material

__all__ = ["Answers", "Moment", "audit", "counts", "looks", "material", "moment", "remarks"]

_LEASES = {
    "lease": pl.Int64, "version": pl.Int64, "stage": pl.String, "owner": pl.String, "copy": pl.Int64, "state": pl.String,
    "priority": pl.Int64, "participant": pl.String, "replaces": pl.Int64, "taken_at": pl.Float64, "seen_at": pl.Float64,
    "away_until": pl.Float64, "done_at": pl.Float64, "answered": pl.Int64,
}  # fmt: skip
_PEOPLE = {
    "participant": pl.String, "platform": pl.String, "language": pl.String, "at": pl.Float64, "forgotten_at": pl.Float64,
}  # fmt: skip
_EVENTS = {
    "event": pl.Int64, "participant": pl.String, "lease": pl.Int64, "session": pl.String, "kind": pl.String,
    "at": pl.Float64, "body": pl.String,
}  # fmt: skip
_ANSWERS = {
    "id": pl.Int64, "lease": pl.Int64, "participant": pl.String, "trial": pl.String, "criterion": pl.String,
    "revision": pl.Int64, "value": pl.String, "seconds": pl.Float64, "at": pl.Float64,
}  # fmt: skip
_FLOW = ("consent", "declined", "device", "trials-begun", "training-failed", "finished", "screened-out", "technical")
_GOOD = ("complete", "accepted")


@dataclass(frozen=True)
class Moment:
    """What every page needs: a few hundred rows, never the answers."""

    at: float
    """UTC epoch seconds."""
    version: int
    """Id of the version in force."""
    leases: pl.DataFrame
    """Every lease, with participant (name), answered (questions) and asked (questions; null where the version in force
    has no such sheets)."""
    people: pl.DataFrame
    """Everybody who is in the store, forgotten ones too."""
    events: pl.DataFrame
    """The events of the flow, with outcome (of 'finished'; null elsewhere)."""
    paused: bool
    unblinded: bool
    """Names of what is compared are shown."""
    by_checks: frozenset[str] = frozenset()
    """Participants with a sheet that the rule checks excluded, and nobody restored."""

    @property
    def present(self) -> pl.DataFrame:
        """The leases that fill the version in force: its own, and those of earlier ones whose sheets it has not dealt
        anew."""
        current = self.leases.filter(pl.col("version") == self.version)
        others = self.leases.filter((pl.col("version") != self.version) & pl.col("asked").is_not_null())
        others = others.filter(pl.col("state") != "retired")
        others = others.join(current.select("stage", "owner"), on=["stage", "owner"], how="anti", maintain_order="left")
        return pl.concat([current, others])


def moment(c: sa.Connection, frozen: Frozen, version: int, now: float) -> Moment:
    """Read what every page needs.

    Args:
        c: a connection.
        frozen: the version in force.
        version: its id.
        now: the server's clock.
    """
    asked = _asked(frozen)
    leases = _frame(c, _LEASE_ROWS, _LEASES).join(asked, on=["stage", "owner"], how="left", maintain_order="left")
    events = _frame(c, _FLOW_ROWS, _EVENTS)
    outcome = [json.loads(body).get("outcome") if kind == "finished" else None for kind, body in
               events.select("kind", "body").iter_rows()]  # fmt: skip
    states: dict[str, str | None] = {row.name: row.kind for row in c.execute(_SWITCHES)}
    return Moment(
        at=now,
        version=version,
        leases=leases,
        people=_frame(c, _PEOPLE_ROWS, _PEOPLE),
        events=events.with_columns(pl.Series("outcome", outcome, dtype=pl.String)),
        paused=states.get("pause") == "admin.pause",
        unblinded=states.get("blind") == "admin.unblind",
        by_checks=_by_checks(c, leases),
    )


def _by_checks(c: sa.Connection, leases: pl.DataFrame) -> frozenset[str]:
    out = leases.filter((pl.col("state") == "excluded") & pl.col("participant").is_not_null())
    if not out.height:
        return frozenset()
    by = happened.excluders(c)
    return frozenset(
        name for number, name in out.select("lease", "participant").iter_rows() if by.get(number) == claims.BY_CHECKS
    )


def _asked(frozen: Frozen) -> pl.DataFrame:
    """Questions of each (stage, owner)."""
    rows = frozen.plan.group_by("stage", "owner").len("asked")
    return rows.with_columns((pl.col("asked") * max(1, len(frozen.criteria))).cast(pl.Int64))


def _frame(c: sa.Connection, query: sa.Executable, schema: Mapping[str, Any]) -> pl.DataFrame:
    rows = [tuple(row) for row in c.execute(query)]
    return pl.DataFrame(rows, schema=dict(schema), orient="row")


def _last(kinds: tuple[str, ...], name: str) -> sa.Select[Any]:
    newest = sa.select(event.c.kind).where(event.c.kind.in_(kinds)).order_by(event.c.id.desc()).limit(1)
    return sa.select(sa.literal(name).label("name"), newest.scalar_subquery().label("kind"))


_SWITCHES = sa.union_all(
    _last(("admin.pause", "admin.resume"), "pause"), _last(("admin.unblind", "admin.blind"), "blind")
)
_COUNTS = (
    sa.select(answer.c.lease_id, sa.func.count().label("answered"))
    .where(answer.c.revision == 0)
    .group_by(answer.c.lease_id)
).subquery()
_LEASE_ROWS = (
    sa.select(
        lease.c.id, lease.c.version_id, lease.c.stage, lease.c.owner, lease.c.copy, lease.c.state, lease.c.priority,
        participant.c.name, lease.c.replaces, lease.c.taken_at, lease.c.seen_at, lease.c.away_until, lease.c.done_at,
        sa.func.coalesce(_COUNTS.c.answered, 0),
    )
    .select_from(lease.outerjoin(participant).outerjoin(_COUNTS, _COUNTS.c.lease_id == lease.c.id))
    .order_by(lease.c.id)
)  # fmt: skip
_PEOPLE_ROWS = sa.select(
    participant.c.name, participant.c.platform, participant.c.language, participant.c.at, participant.c.forgotten_at
).order_by(participant.c.id)
_EVENT_COLUMNS = (
    event.c.id, participant.c.name, event.c.lease_id, event.c.session, event.c.kind, event.c.at, event.c.body,
)  # fmt: skip
_EVENT_ROWS = sa.select(*_EVENT_COLUMNS).select_from(event.outerjoin(participant))
_FLOW_ROWS = _EVENT_ROWS.where(event.c.kind.in_(_FLOW)).order_by(event.c.id)


def audit(c: sa.Connection, *, most: int = 500, before: int | None = None) -> list[dict[str, Any]]:
    """Return what was done at the desk and by its rules, newest first.

    The keys are event, participant, lease, session, kind, at, body (a dict).

    Args:
        c: a connection.
        most: rows, >= 1.
        before: only events with a smaller id; None: the newest.
    """
    desk = sa.or_(event.c.kind.like("admin.%"), event.c.kind.like("lease.%"), event.c.kind == "wave")
    rows = _EVENT_ROWS.where(desk).order_by(event.c.id.desc()).limit(most)
    if before is not None:
        rows = rows.where(event.c.id < before)
    return [dict(zip(_EVENTS, (*row[:-1], json.loads(row[-1])), strict=True)) for row in c.execute(rows)]


def looks(c: sa.Connection) -> list[Look]:
    """Return every look at the stability, oldest first."""
    rows = c.execute(sa.select(event.c.at, event.c.body).where(event.c.kind == "admin.look").order_by(event.c.id))
    made = []
    for at, body in rows:
        told = json.loads(body)
        made.append(Look(told["stage"], told["number"], told["finished"], told["bounds"], told["target"], at))
    return made


def remarks(c: sa.Connection) -> pl.DataFrame:
    """Return what people wrote in the box for remarks: participant, at, remark (null where there is none)."""
    rows = _EVENT_ROWS.where(event.c.kind == "questionnaire").order_by(event.c.id)
    told = _frame(c, rows, _EVENTS)
    texts = [json.loads(body).get("remark") or None for body in told["body"].to_list()]
    return told.select("participant", "at").with_columns(pl.Series("remark", texts, dtype=pl.String))


def counts(c: sa.Connection) -> tuple[int, int]:
    """Return how many answers there are, and how many leases are finished, whatever became of them."""
    done = sa.select(sa.func.count()).select_from(lease).where(lease.c.done_at.is_not(None))
    return int(c.execute(sa.select(sa.func.count()).select_from(answer)).scalar_one()), int(
        c.execute(done).scalar_one()
    )


class Answers:
    """The answers as a frame that only reads what is new."""

    def __init__(self) -> None:
        self._frame = pl.DataFrame(schema=_ANSWERS)

    def read(self, c: sa.Connection) -> pl.DataFrame:
        """Return every answer in the store: columns id, lease, participant, trial, criterion, revision, value, seconds, at.

        What is known is kept as long as its number of rows is that of the store (a person may have been forgotten, and
        transactions of several processes may end in another order than they began); else all is read again.
        """
        columns = (
            answer.c.id, answer.c.lease_id, participant.c.name, answer.c.trial, answer.c.criterion, answer.c.revision,
            answer.c.value, answer.c.seconds, answer.c.at,
        )  # fmt: skip
        rows = sa.select(*columns).select_from(answer.join(participant)).order_by(answer.c.id)
        last = self._frame["id"].max() if self._frame.height else 0
        until = c.execute(sa.select(sa.func.count()).select_from(answer).where(answer.c.id <= last)).scalar_one()
        if until != self._frame.height:
            self._frame = pl.DataFrame(schema=_ANSWERS)
            last = 0
        fresh = _frame(c, rows.where(answer.c.id > last), _ANSWERS)
        self._frame = pl.concat([self._frame, fresh])
        return self._frame


def material(
    c: sa.Connection,
    answers: Answers,
    version_of: Callable[[sa.Connection, int], Frozen],
    items: pl.DataFrame,
    now: float,
    version: int,
) -> Material:
    """Return the moment from which the slow figures are computed.

    Answers of an earlier version count: under the same plan as they are, under another plan with the trials of their
    own, so that no answer is read as one to another question.

    Args:
        c: a connection.
        answers: what is known of them.
        version_of: (connection, id) -> the frozen version.
        items: item and its factors.
        now: the server's clock.
        version: id of the version in force.
    """
    frozen = version_of(c, version)
    leases = pl.DataFrame(
        [tuple(row) for row in c.execute(sa.select(lease.c.id, lease.c.version_id, lease.c.state, lease.c.done_at))],
        schema={"lease": pl.Int64, "version": pl.Int64, "state": pl.String, "done_at": pl.Float64},
        orient="row",
    )
    given = answers.read(c).join(leases, on="lease", how="inner", maintain_order="left")
    plans = [frozen.plan.with_columns(wanted=pl.lit(True))]
    for other in sorted(set(given["version"].unique()) - {version}):
        plan = version_of(c, int(other)).plan
        if plan.equals(frozen.plan):
            continue
        mark = pl.lit(f"version {other}: ")
        named = [(mark + pl.col(name)).alias(name) for name in ("trial", "sheet", "repeat_of")]
        plans.append(plan.with_columns(*named, wanted=pl.lit(False)))
        theirs = pl.when(pl.col("version") == other).then(mark + pl.col("trial")).otherwise(pl.col("trial"))
        given = given.with_columns(trial=theirs)
    given = given.with_columns(
        excluded=pl.col("state").is_in(["excluded", "retired", "abandoned"]), finished=pl.col("state").is_in(_GOOD)
    )
    return Material(
        study=frozen.study,
        criteria=frozen.criteria,
        plan=pl.concat(plans, how="diagonal"),
        items=items,
        answers=given.drop("id", "version", "state", "done_at"),
        at=now,
    )
