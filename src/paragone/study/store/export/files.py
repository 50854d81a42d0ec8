"""Tables as bytes: CSV, Parquet and JSON, piece by piece, and the manifest beside them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl
import sqlalchemy as sa
from polars.io.plugins import register_io_source

from .... import __version__
from ....errors import UnknownName
from ....tables import FORMAT
from ...stated import stated
from ..tables import version
from .contract import FORMATS, TABLES
from .jspsych import trials as jspsych_trials
from .plans import Planned
from .rows import pieces, schema_of

__all__ = ["Told", "chunks", "documents", "manifest", "written"]

_CHUNK = 1 << 20  # bytes
_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^-?\d+(\.\d+)?$"


class Told(NamedTuple):
    """What a file holds."""

    rows: int
    sha256: str


def chunks(
    c: sa.Connection, plans: Mapping[int, Planned], table: str, form: str, *, anonymise: bool
) -> Iterator[tuple[bytes, int]]:
    """A table's file in pieces of bounded size, each with the number of rows that it ends.

    Args:
        c: a connection on one snapshot.
        plans: the plan of each version.
        table: a name of `TABLES`, or jspsych.
        form: csv, parquet or json.
        anonymise: leave out what leads back to a person.

    Raises:
        UnknownName: no such table or format.
    """
    if table == "jspsych":
        yield from jspsych_trials(c, plans)
        return
    if table not in TABLES:
        raise UnknownName.among(table, TABLES, "table of the export")
    if form not in FORMATS:
        raise UnknownName.among(form, FORMATS, "format of the export")
    frames = pieces(c, table, plans, anonymise=anonymise)
    if form == "csv":
        yield from _csv(frames, table)
    elif form == "json":
        yield from _json(frames)
    else:
        yield from _parquet(frames, schema_of(table, plans))


def documents(c: sa.Connection, plans: Mapping[int, Planned]) -> Iterator[tuple[str, Iterator[tuple[bytes, int]]]]:
    """The frozen versions as they are kept: settings and plan of each; the methods paragraph; and
    the data dictionary. Each in pieces."""
    for number, plan in plans.items():
        text = c.execute(sa.select(version.c.study).where(version.c.id == number)).scalar_one()
        study = json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False)
        yield f"study-{number}.json", iter([(study.encode() + b"\n", 1)])
        yield f"plan-{number}.csv", _read(plan.path, plan.rows)
    said = _methods(c)
    if said:
        yield "methods.txt", iter([(said.encode() + b"\n", 1)])
    rows = [
        (table, column.name, column.kind, column.doc) for table, schema in TABLES.items() for column in schema.columns
    ]
    words = pl.DataFrame(rows, schema=["table", "column", "kind", "meaning"], orient="row")
    yield "dictionary.csv", iter([(words.write_csv().encode(), words.height)])


def _methods(c: sa.Connection) -> str | None:
    """The methods paragraph; None: nothing is served yet, or its settings are of another version of this program."""
    try:
        return stated(c)
    except msgspec.ValidationError:
        return None


def _read(path: Path, rows: int) -> Iterator[tuple[bytes, int]]:
    with path.open("rb") as file:
        while part := file.read(_CHUNK):
            yield part, 0
    yield b"", rows


def manifest(c: sa.Connection, files: dict[str, Told], *, form: str, anonymise: bool) -> bytes:
    """What the files are, as JSON; nothing in it depends on when or where it was made."""
    query = sa.select(version.c.id, version.c.sha256, version.c.turn).order_by(version.c.id)
    frozen = [{"version": row.id, "sha256": row.sha256, "turn": row.turn} for row in c.execute(query)]
    told: dict[str, Any] = {
        "format": FORMAT,
        "made_by": f"paragone {__version__} export",
        "tables": form,
        "anonymised": anonymise,
        "versions": frozen,
        "files": {name: {"rows": one.rows, "sha256": one.sha256} for name, one in sorted(files.items())},
    }
    return json.dumps(told, indent=1).encode() + b"\n"


def written(path: Path, parts: Iterator[tuple[bytes, int]]) -> Told:
    """Write pieces to a file; return what it holds."""
    digest, rows = hashlib.sha256(), 0
    with path.open("wb") as file:
        for part, count in parts:
            digest.update(part)
            rows += count
            file.write(part)
    return Told(rows, digest.hexdigest())


def _csv(frames: Iterator[pl.DataFrame], table: str) -> Iterator[tuple[bytes, int]]:
    free = [column.name for column in TABLES[table].columns if column.kind == "text"]
    escaped = [
        pl.when(pl.col(name).str.contains(_FORMULA) & ~pl.col(name).str.contains(_NUMBER))
        .then("'" + pl.col(name))
        .otherwise(pl.col(name))
        .alias(name)
        for name in free
    ]
    for number, frame in enumerate(frames):
        yield frame.with_columns(escaped).write_csv(include_header=number == 0).encode(), frame.height


def _json(frames: Iterator[pl.DataFrame]) -> Iterator[tuple[bytes, int]]:
    first = True
    yield b"[", 0
    for frame in frames:
        if frame.height:
            lines = frame.write_ndjson().rstrip("\n").replace("\n", ",\n")
            yield (("\n" if first else ",\n") + lines).encode(), frame.height
            first = False
    yield b"\n]\n", 0


def _parquet(frames: Iterator[pl.DataFrame], schema: dict[str, Any]) -> Iterator[tuple[bytes, int]]:
    rows = 0

    def source(columns: list[str] | None, *_: object) -> Iterator[pl.DataFrame]:
        nonlocal rows
        for frame in frames:
            rows += frame.height
            yield frame.select(columns) if columns else frame

    with _aside() as path:
        lazy = register_io_source(source, schema=schema)
        lazy.sink_parquet(path, metadata={"format": str(FORMAT)})
        for part, _ in _read(path, 0):
            yield part, 0
    yield b"", rows


@contextlib.contextmanager
def _aside() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="paragone-export-") as folder:
        yield Path(folder) / "table.parquet"
