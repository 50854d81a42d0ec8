"""Everything about one participant, from the store."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
import sqlalchemy as sa

from ..store import events
from ..store.tables import answer, participant
from .figures.answered import checks, joined
from .figures.persons import driven, persons, watched
from .figures.progress import minutes
from .live import tolerances
from .moment import Moment
from .office import Office

__all__ = ["ACTS_OF", "Person", "details", "person"]

ACTS_OF: Mapping[str, tuple[tuple[str, str], ...]] = {
    "leased": (("release", "Give back"), ("replace", "Replace"), ("exclude", "Exclude")),
    "abandoned": (("replace", "Replace"), ("exclude", "Exclude")),
    "complete": (("accept", "Accept"), ("exclude", "Exclude")),
    "accepted": (("exclude", "Exclude"),),
    "excluded": (("restore", "Restore"), ("replace", "Replace")),
}
"""State of a sheet -> (act, word) that suit it."""
_COLUMNS = {
    "lease": pl.Int64, "trial": pl.String, "criterion": pl.String, "revision": pl.Int64, "value": pl.String,
    "seconds": pl.Float64, "at": pl.Float64, "input": pl.String, "hidden_ms": pl.Float64, "exact": pl.Boolean,
}  # fmt: skip


@dataclass(frozen=True)
class Person:
    """One participant as their page shows them."""

    row: dict[str, Any]
    """participant, platform, language, at, forgotten_at."""
    leases: list[dict[str, Any]]
    """Rows of `Moment.leases`, with the acts that suit each."""
    sessions: list[dict[str, Any]]
    """Rows of `minutes`."""
    checks: list[dict[str, Any]]
    """Rows of `checks`."""
    answers: list[dict[str, Any]]
    """lease, trial, kind, criterion, value, revision, seconds, input, at; every revision, in the order of the store."""
    summary: dict[str, Any]
    """Row of `persons`; empty where nothing was answered."""
    why: list[str]
    """Why they deserve a look."""
    hidden: float
    """Seconds during which the page was out of sight."""
    exact: float | None
    """Share of answers whose pictures were shown pixel by pixel; None: unknown."""
    device: dict[str, str]
    said: dict[str, str]
    """Answers of the questionnaire."""
    remark: str
    events: list[dict[str, Any]]
    """at, kind, lease, session, details (text)."""


def person(c: sa.Connection, office: Office, at: Moment, name: str) -> Person | None:
    """Return everything about a participant; None: there is no such name.

    Args:
        c: a connection.
        office: the desk.
        at: the moment.
        name: of the participant.
    """
    rows = at.people.filter(pl.col("participant") == name).to_dicts()
    number = c.execute(sa.select(participant.c.id).where(participant.c.name == name)).scalar()
    if not rows or number is None:
        return None
    leases = at.leases.filter(pl.col("participant") == name)
    given = _answers(c, int(number))
    asked, kinds = _asked(c, office, leases, given)
    judged = checks(asked, tolerances(office.frozen.study))
    table = persons(asked.with_columns(participant=pl.lit(name)), judged.with_columns(participant=pl.lit(name)))
    summary = table.to_dicts()[0] if table.height else {}
    told = events.of_participant(c, int(number))
    hidden = float(given["hidden_ms"].fill_null(0).sum()) / 1000
    exact = given["exact"].mean()
    device, said, remark = _told(told)
    return Person(
        row=rows[0],
        leases=[{**row, "acts": ACTS_OF.get(row["state"], ())} for row in leases.to_dicts()],
        sessions=minutes(at.events.filter(pl.col("participant") == name)).to_dicts(),
        checks=judged.to_dicts(),
        answers=[{**row, "kind": kinds.get((row["lease"], row["trial"]))} for row in given.to_dicts()],
        summary=summary,
        why=watched({**summary, "hidden": hidden, "automated": name in driven(at.events)}, office.frozen.study),
        hidden=hidden,
        exact=None if exact is None else float(str(exact)),
        device=device,
        said=said,
        remark=remark,
        events=[
            {"at": e.at, "kind": e.kind, "lease": e.lease_id, "session": e.session, "details": details(e.body)}
            for e in told
        ],
    )


def _answers(c: sa.Connection, number: int) -> pl.DataFrame:
    columns = (
        answer.c.lease_id, answer.c.trial, answer.c.criterion, answer.c.revision, answer.c.value, answer.c.seconds,
        answer.c.at, answer.c.body,
    )  # fmt: skip
    rows = []
    for *plain, text in c.execute(sa.select(*columns).where(answer.c.participant_id == number).order_by(answer.c.id)):
        body = json.loads(text or "{}")
        rows.append((*plain, body.get("input"), body.get("hidden_ms"), body.get("exact")))
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row", strict=False)


def _asked(
    c: sa.Connection, office: Office, leases: pl.DataFrame, given: pl.DataFrame
) -> tuple[pl.DataFrame, dict[tuple[int, str], str]]:
    """Answers beside what was asked, in the version of each sheet; and the kind of each trial."""
    out = pl.col("state").is_in(["excluded", "retired", "abandoned"])
    marked = given.join(leases.select("lease", "version", out.alias("excluded")), on="lease", maintain_order="left")
    marked = marked.with_columns(participant=pl.lit(""))
    parts = [joined(marked.drop("version").clear(), office.frozen.plan)]
    kinds: dict[tuple[int, str], str] = {}
    for version in marked["version"].unique().sort().to_list():
        part = marked.filter(pl.col("version") == version).drop("version")
        parts.append(joined(part, office.desk.version(c, int(version)).plan))
    whole = pl.concat(parts)
    for lease, trial, kind in whole.select("lease", "trial", "kind").iter_rows():
        kinds[lease, trial] = kind
    return whole, kinds


def _told(told: list[events.Event]) -> tuple[dict[str, str], dict[str, str], str]:
    device: dict[str, str] = {}
    said: dict[str, str] = {}
    remark = ""
    for event in told:
        if event.kind == "device":
            device = _flat(event.body)
        elif event.kind == "questionnaire":
            said, remark = _flat(event.body.get("answers", {})), str(event.body.get("remark", "") or "")
    return device, said, remark


def details(body: Mapping[str, Any]) -> str:
    """A body of an event in one line of text."""
    return "; ".join(f"{key}: {value}" for key, value in _flat(body).items())


def _flat(body: Any, before: str = "") -> dict[str, str]:
    if not isinstance(body, Mapping):
        return {before or "value": str(body)}
    made: dict[str, str] = {}
    for key, value in body.items():
        name = f"{before}.{key}" if before else str(key)
        if isinstance(value, Mapping):
            made.update(_flat(value, name))
        elif isinstance(value, (list, tuple)):
            made[name] = ", ".join(str(item) for item in value)
        elif value is not None and value != "":
            made[name] = _plain(value)
    return made


def _plain(value: object) -> str:
    """A value as text; a number that can only be a moment of this century as one."""
    if isinstance(value, float):
        if 1e9 < value < 1e10:
            return datetime.datetime.fromtimestamp(value, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
        return f"{value:g}"
    return str(value)
