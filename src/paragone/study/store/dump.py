"""Rows of a database as JSON lines, the same for every database: what a backup is made of."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from .tables import door

__all__ = ["Dumped", "columns_of", "dumped", "last_ids", "lines", "load", "set_last_ids", "tables_of"]

_PIECE = 2_000  # rows held at a time
_OURS = ("alembic_version", door.name)  # made by the migrations, not by a study


class Dumped(NamedTuple):
    """What a table held."""

    rows: int
    sha256: str
    """Of its lines, in the order of their ids."""


def tables_of(c: sa.Connection) -> list[str]:
    """The tables with a study's rows, those that others refer to first."""
    names = [name for name, _ in sa.inspect(c).get_sorted_table_and_fkc_names() if name is not None]
    return [name for name in names if name not in _OURS and not name.startswith("sqlite_")]


def columns_of(c: sa.Connection, table: str) -> list[str]:
    """A table's columns, by name."""
    return sorted(str(column["name"]) for column in sa.inspect(c).get_columns(table))


def lines(c: sa.Connection, table: str, columns: Sequence[str], digest: Any = None) -> Iterator[bytes]:
    """A table's rows in the order of their ids, each a JSON array in a line; bytes are {"base64": text}.

    Args:
        c: the connection; rows are fetched in pieces.
        table: its name.
        columns: their names, as the values shall stand.
        digest: a `hashlib` object that takes every line in; None: nobody counts.
    """
    source = sa.table(table, *(sa.column(name) for name in columns))
    query = sa.select(*source.columns).order_by(sa.column("id"))
    options = {"stream_results": True, "yield_per": _PIECE}
    for row in c.execute(query, execution_options=options):
        line = json.dumps([_plain(value) for value in row], ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        if digest is not None:
            digest.update(line)
        yield line


def dumped(c: sa.Connection, table: str, columns: Sequence[str]) -> Dumped:
    """What a table holds, as its lines would tell."""
    digest, rows = hashlib.sha256(), 0
    for _ in lines(c, table, columns, digest):
        rows += 1
    return Dumped(rows, digest.hexdigest())


def load(c: sa.Connection, table: str, columns: Sequence[str], source: Iterable[bytes]) -> int:
    """Insert lines into a table; return how many."""
    target = sa.table(table, *(sa.column(name) for name in columns))
    rows, piece = 0, []
    for line in source:
        piece.append({name: _stored(value) for name, value in zip(columns, json.loads(line), strict=True)})
        rows += 1
        if len(piece) == _PIECE:
            c.execute(sa.insert(target), piece)
            piece = []
    if piece:
        c.execute(sa.insert(target), piece)
    return rows


def last_ids(c: sa.Connection, tables: Iterable[str]) -> dict[str, int]:
    """The largest id that each table ever gave, so that a restored store does not give one twice."""
    if c.dialect.name == "sqlite":
        known = {name: int(last) for name, last in c.exec_driver_sql("SELECT name, seq FROM sqlite_sequence")}
        return {table: known.get(table, 0) for table in tables}
    return {
        table: int(
            c.exec_driver_sql(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {table}_id_seq").scalar_one()
        )
        for table in tables
    }


def set_last_ids(c: sa.Connection, last: dict[str, int]) -> None:
    """Let each table go on counting where another stopped."""
    for table, number in last.items():
        if c.dialect.name == "sqlite":
            c.execute(sa.text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": table})
            c.execute(
                sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :seq)"), {"name": table, "seq": number}
            )
        elif number:
            c.execute(
                sa.text("SELECT setval(CAST(:name AS regclass), :seq)"), {"name": f"{table}_id_seq", "seq": number}
            )


def _plain(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, (bytes, memoryview)) else value


def _stored(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value
