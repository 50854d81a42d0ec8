"""Rows of each exported table, in pieces of bounded size, always in the same order."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import polars as pl
import sqlalchemy as sa

from ....tables import Schema
from ..tables import answer, event, lease, participant, version
from .contract import TABLES, WITHHELD
from .plans import Planned

__all__ = ["PIECE", "pieces", "schema_of"]

PIECE = 50_000
"""Rows held in memory at a time."""

_DTYPES = {"id": pl.String, "text": pl.String, "number": pl.Float64, "whole": pl.Int64, "flag": pl.Boolean}
_COUNT = ("complete", "accepted")
_NEVER = ("codes",)  # completion codes are secrets
_ENDS = {"screened-out": "screened-out", "training-failed": "failed-training", "technical": "technical"}
_TOLD = ("onset_ms", "load_ms", "input", "hidden_ms", "exact", "scale", "zoom", "order", "distortions")


def schema_of(table: str, plans: Mapping[int, Planned]) -> dict[str, Any]:
    """Column names and types of a table, as the frames of `pieces` have them; a plan's reference columns come last."""
    named: dict[str, Any] = {column.name: _DTYPES[column.kind] for column in TABLES[table].columns}
    if table == "trials":
        named |= dict.fromkeys(sorted({name for plan in plans.values() for name in plan.beside}), pl.String)
    return named


def pieces(
    c: sa.Connection,
    table: str,
    plans: Mapping[int, Planned],
    *,
    anonymise: bool = False,
    only_version: int | None = None,
) -> Iterator[pl.DataFrame]:
    """A table's rows as frames of about `PIECE` rows; at least one frame, which may be empty.

    Args:
        c: a connection on one snapshot.
        table: a name of `TABLES`.
        plans: the plan of each version.
        anonymise: leave out what leads back to a person.
        only_version: rows of answers of one version only; None: of all.
    """
    schema = schema_of(table, plans)
    empty = True
    for made in _MADE[table](_Asked(c, plans, anonymise, only_version)):
        if made.height:
            empty = False
            hidden = WITHHELD.get(table, ()) if anonymise else ()
            frame = made.with_columns(pl.lit(None, dtype=schema[name]).alias(name) for name in hidden)
            absent = (pl.lit(None, dtype=kind).alias(name) for name, kind in schema.items() if name not in made.columns)
            yield frame.with_columns(*absent).select(pl.col(name).cast(kind) for name, kind in schema.items())
    if empty:
        yield pl.DataFrame(schema=schema)


class _Asked(NamedTuple):
    """What is to be read."""

    c: sa.Connection
    plans: Mapping[int, Planned]
    anonymise: bool
    only_version: int | None


def _streamed(c: sa.Connection, query: sa.Select[Any]) -> Iterator[Sequence[Any]]:
    result = c.execute(query, execution_options={"stream_results": True, "yield_per": PIECE})
    yield from result.partitions(PIECE)


_LATER = answer.alias("later")
_REVISED = sa.exists().where(
    _LATER.c.lease_id == answer.c.lease_id,
    _LATER.c.trial == answer.c.trial,
    _LATER.c.criterion == answer.c.criterion,
    _LATER.c.revision > answer.c.revision,
)


def _answers(*where: sa.ColumnElement[bool], told: bool = True) -> Callable[[_Asked], Iterator[pl.DataFrame]]:
    def made(asked: _Asked) -> Iterator[pl.DataFrame]:
        query = (
            sa.select(*(_TOLD_COLUMNS if told else _BARE_COLUMNS))
            .join_from(answer, lease, answer.c.lease_id == lease.c.id)
            .join(participant, answer.c.participant_id == participant.c.id)
            .where(*where)
            .order_by(answer.c.lease_id, answer.c.id)
        )
        if asked.only_version is not None:
            query = query.where(lease.c.version_id == asked.only_version)
        for rows in _streamed(asked.c, query):
            yield _placed(_answer_frame(rows, told), asked.plans)

    return made


_BARE_COLUMNS = (
    participant.c.name.label("participant"), answer.c.lease_id.label("lease"), lease.c.version_id.label("version"),
    lease.c.stage, lease.c.owner, lease.c.state, answer.c.trial, answer.c.at,
)  # fmt: skip
_TOLD_COLUMNS = (
    *_BARE_COLUMNS, answer.c.criterion, answer.c.revision, answer.c.value.label("answer"), answer.c.seconds, answer.c.body,
)  # fmt: skip


def _answer_frame(rows: Sequence[Any], told: bool) -> pl.DataFrame:
    names = [column.name for column in (_TOLD_COLUMNS if told else _BARE_COLUMNS)]
    columns: dict[str, Sequence[Any]] = dict(zip(names, zip(*rows, strict=True), strict=True))
    kinds = {column.name: _DTYPES[column.kind] for column in TABLES["answers"].columns}
    if told:
        columns |= _bodies(columns.pop("body"))
    return pl.DataFrame(columns, schema={name: kinds[name] for name in columns}, strict=False)


def _bodies(texts: Sequence[str]) -> dict[str, Sequence[Any]]:
    """What came with each answer, in columns; what has none is in `more`."""
    bodies = [msgspec.json.decode(text) for text in texts]
    parts: dict[str, Sequence[Any]] = {name: [body.pop(name, None) for body in bodies] for name in _TOLD}
    parts["distortions"] = [";".join(ticked) if ticked else None for ticked in parts["distortions"]]
    parts["more"] = [_json(body) if body else None for body in bodies]
    return parts


def _placed(frame: pl.DataFrame, plans: Mapping[int, Planned]) -> pl.DataFrame:
    """Answers with sheet and session of their trial; null where the plan does not have it."""
    parts = [
        plans[number].of(theirs).select(pl.lit(number, dtype=pl.Int64).alias("version"), "trial", "sheet", "session")
        for number, theirs in _owners(frame).items()
    ]
    places = pl.concat(parts).unique(["version", "trial"], keep="first", maintain_order=True)
    return frame.join(places, on=["version", "trial"], how="left", maintain_order="left")


def _owners(frame: pl.DataFrame) -> dict[int, list[tuple[str, str]]]:
    wanted: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for number, stage, owner in frame.select("version", "stage", "owner").unique(maintain_order=True).iter_rows():
        wanted[number].append((stage, owner))
    return wanted


def _leases(c: sa.Connection, *where: sa.ColumnElement[bool]) -> Iterator[Sequence[Any]]:
    query = (
        sa.select(
            lease.c.id, lease.c.version_id, lease.c.stage, lease.c.owner, lease.c.copy, lease.c.state, participant.c.name,
            lease.c.replaces, lease.c.taken_at, lease.c.done_at,
        )
        .join_from(lease, participant, lease.c.participant_id == participant.c.id, isouter=True)
        .where(*where)
        .order_by(lease.c.id)
    )  # fmt: skip
    return _streamed(c, query)


def _lease_table(asked: _Asked) -> Iterator[pl.DataFrame]:
    for rows in _leases(asked.c):
        yield _frame(TABLES["leases"], rows)


def _trials(asked: _Asked) -> Iterator[pl.DataFrame]:
    held: list[tuple[Any, ...]] = []
    count = 0
    for rows in _leases(asked.c, lease.c.participant_id.is_not(None)):
        for row in rows:
            held.append((row[0], row[6], row[1], row[5], row[2], row[3]))
            count += asked.plans[row[1]].count(row[2], row[3])
            if count >= PIECE:
                yield _planned_for(held, asked.plans)
                held, count = [], 0
    if held:
        yield _planned_for(held, asked.plans)


def _planned_for(leases: Sequence[tuple[Any, ...]], plans: Mapping[int, Planned]) -> pl.DataFrame:
    """The trials of leases (id, participant, version, state, stage, owner), lease by lease."""
    kinds = {column.name: _DTYPES[column.kind] for column in TABLES["trials"].columns[:6]}
    frame = pl.DataFrame(leases, schema=kinds, orient="row")
    trials = [
        plans[number].of(theirs).with_columns(pl.lit(number, dtype=pl.Int64).alias("version"))
        for number, theirs in _owners(frame).items()
    ]
    keys = ["version", "stage", "owner"]
    return frame.join(pl.concat(trials, how="diagonal"), on=keys, how="inner", maintain_order="left_right")


def _sessions(asked: _Asked) -> Iterator[pl.DataFrame]:
    keys = ["lease", "participant", "version", "state", "stage", "owner", "session", "sheet"]
    counts = {"answers": pl.len(), "first_at": pl.col("at").min(), "last_at": pl.col("at").max()}
    seen = _answers(~_REVISED, told=False)(asked)
    parts = [frame.group_by(keys, maintain_order=True).agg(**counts) for frame in seen if frame.height]
    if not parts:
        return
    again = {
        "answers": pl.col("answers").sum(),
        "first_at": pl.col("first_at").min(),
        "last_at": pl.col("last_at").max(),
    }
    whole = pl.concat(parts).group_by(keys, maintain_order=True).agg(**again)
    query = (
        sa.select(event.c.lease_id, event.c.session, event.c.body).where(event.c.kind == "device").order_by(event.c.id)
    )
    screens = {(row[0], row[1]): row[2] for rows in _streamed(asked.c, query) for row in rows}  # the last one counts
    told = [screens.get((row[0], row[1])) for row in whole.select("lease", "session").iter_rows()]
    yield whole.with_columns(pl.Series("device", told, dtype=pl.String))


def _participants(asked: _Asked) -> Iterator[pl.DataFrame]:
    query = sa.select(participant).order_by(participant.c.id)
    kinds = ("consent", "questionnaire", "finished", *_ENDS)
    for rows in _streamed(asked.c, query):
        told: dict[int, dict[str, Any]] = defaultdict(dict)
        about = (
            sa.select(event.c.participant_id, event.c.kind, event.c.at, event.c.body)
            .where(event.c.participant_id.between(rows[0].id, rows[-1].id), event.c.kind.in_(kinds))
            .order_by(event.c.id)
        )
        for person, kind, at, body in asked.c.execute(about):
            _note(told[person], kind, at, json.loads(body))
        made = [
            {
                "participant": row.name, "platform": row.platform, "external_hmac": row.external_hmac,
                "language": row.language, "arrived_at": row.at, "forgotten_at": row.forgotten_at, **told[row.id],
            }
            for row in rows
        ]  # fmt: skip
        yield _frame(TABLES["participants"], made)


def _note(told: dict[str, Any], kind: str, at: float, body: dict[str, Any]) -> None:
    if kind == "consent":
        told |= {"consent": body.get("version"), "consent_at": at}
    elif kind == "questionnaire":
        given = body.get("answers") or {}
        told |= {name: given.get(name) for name in ("gender", "age", "expertise", "region")}
        told["remark"] = body.get("remark") or None
    else:
        told["outcome"] = _ENDS.get(kind) or body.get("outcome")


def _events(asked: _Asked) -> Iterator[pl.DataFrame]:
    query = (
        sa.select(
            event.c.id, event.c.at, event.c.kind, participant.c.name, event.c.lease_id, event.c.session, event.c.body
        )
        .join_from(event, participant, event.c.participant_id == participant.c.id, isouter=True)
        .where(event.c.kind.not_in(_NEVER))
        .order_by(event.c.id)
    )
    for rows in _streamed(asked.c, query):
        made = [(*row[:-1], _nameless(row[2], row[-1])) for row in rows] if asked.anonymise else rows
        yield _frame(TABLES["events"], made)


def _nameless(kind: str, body: str) -> str:
    """The body without what leads back to a person: words of browsers and desks, and remarks."""
    if kind in ("device", "telemetry") or kind.startswith("admin."):
        return _json(_numbers(json.loads(body)))
    if kind == "questionnaire":
        return _json({key: value for key, value in json.loads(body).items() if key != "remark"})
    return body


def _numbers(value: Any) -> Any:
    """Only numbers and yes or no, at whatever depth."""
    if isinstance(value, dict):
        kept = {key: _numbers(part) for key, part in value.items()}
        return {key: part for key, part in kept.items() if part not in (None, {}, [])}
    if isinstance(value, list):
        return [part for part in map(_numbers, value) if part not in (None, {}, [])]
    return value if isinstance(value, (bool, int, float)) else None


def _exclusions(asked: _Asked) -> Iterator[pl.DataFrame]:
    deeds = {f"admin.{deed}": deed for deed in ("exclude", "restore", "release", "replace", "accept")}
    deeds["lease.abandoned"] = "abandoned"
    query = (
        sa.select(
            event.c.id, event.c.at, event.c.kind, event.c.lease_id, participant.c.name, lease.c.stage, lease.c.owner,
            lease.c.state, event.c.body,
        )
        .join_from(event, lease, event.c.lease_id == lease.c.id)
        .join(participant, event.c.participant_id == participant.c.id, isouter=True)
        .where(event.c.kind.in_(deeds))
        .order_by(event.c.id)
    )  # fmt: skip
    for rows in _streamed(asked.c, query):
        bodies = [json.loads(row[-1]) for row in rows]
        made = [
            (*row[:2], deeds[row[2]], *row[3:-1], body.get("who"), body.get("why"))
            for row, body in zip(rows, bodies, strict=True)
        ]
        yield _frame(TABLES["exclusions"], made)


def _stimuli(asked: _Asked) -> Iterator[pl.DataFrame]:
    for number, items in asked.c.execute(sa.select(version.c.id, version.c["items"]).order_by(version.c.id)).all():
        told = msgspec.json.decode(items)
        texts = told.get("words", {})
        rows = [
            {
                "version": number, "stimulus": key, **{name: picture.get(name) for name in _PICTURE},
                "texts": _json(texts[key]) if key in texts else None,
            }
            for key, picture in sorted(told.get("pictures", {}).items())
        ]  # fmt: skip
        for start in range(0, len(rows), PIECE):
            yield _frame(TABLES["stimuli"], rows[start : start + PIECE])


_PICTURE = ("path", "sha256", "width", "height", "profile")


def _frame(schema: Schema, rows: Iterable[Any]) -> pl.DataFrame:
    types = {column.name: _DTYPES[column.kind] for column in schema.columns}
    return pl.DataFrame(
        [row if isinstance(row, dict) else tuple(row) for row in rows], schema=types, orient="row", strict=False
    )


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


_MADE: dict[str, Callable[[_Asked], Iterator[pl.DataFrame]]] = {
    "answers": _answers(~_REVISED),
    "answers_clean": _answers(~_REVISED, lease.c.state.in_(_COUNT)),
    "revisions": _answers(_REVISED),
    "trials": _trials,
    "sessions": _sessions,
    "leases": _lease_table,
    "participants": _participants,
    "events": _events,
    "exclusions": _exclusions,
    "stimuli": _stimuli,
}
