"""Copy a store while it runs, check the copy, bring it back: one file for both databases.

A backup is a zip of JSON lines, one member for each table, and `manifest.json` with the schema's revision, counts and
SHA-256 sums. It is read on one snapshot, needs no lock, and can be restored into SQLite or PostgreSQL, whichever it came
from.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import lzma
import os
import secrets
import struct
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from ... import __version__
from ...errors import BadInput, NotFound, StoreError, WouldOverwrite
from ...tables import whole_file
from .dump import Dumped, columns_of, dumped, last_ids, lines, load, set_last_ids, tables_of
from .schema import migrate, revision_of, revisions, to_head
from .sqlite import locked
from .store import parsed, snapshot, transaction

__all__ = ["Copy", "backup", "check", "restore"]

_FORMAT = 1
_MANIFEST = "manifest.json"
_THEN = (1980, 1, 1, 0, 0, 0)  # the date of every member: the same store gives the same members

_MOST_MANIFEST = 1 << 20  # bytes; it names a dozen tables
_MOST_LINE = 1 << 30  # bytes; a row with the largest plan has a few hundred MB, and what goes on longer is no row
_ROTTEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, KeyError, ValueError, NotImplementedError,
    RuntimeError, struct.error, OverflowError,
)  # fmt: skip
"""What the zip module raises on damaged files: a wrong bit may stand for another compression, a password, a size."""


class Copy(NamedTuple):
    """What a backup holds."""

    tables: dict[str, Dumped]
    columns: dict[str, list[str]]
    last_ids: dict[str, int]
    revision: str
    """The schema's."""
    made_at: float

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(table.rows for table in self.tables.values())


def backup(url: str, path: str | Path, *, now: float | None = None) -> Copy:
    """Write all that a store holds at one moment into one file, whole or not at all.

    Args:
        url: the store; it may be served meanwhile, by this process or another.
        path: the file to write, a .zip; what stands there is replaced.
        now: the time that the file tells; None: this machine's clock.

    Raises:
        NotFound: no such store.
        BadInput: the database is no store, or newer than this program.
        StoreError: the copy is not what was read; the disk is bad.
    """
    path = Path(path)
    with snapshot(url) as c, whole_file(path) as aside:
        revision = revision_of(c)
        if revision is None:
            raise BadInput(f"{parsed(url).database}: no store in it", where=str(parsed(url).database))
        tables = tables_of(c)
        columns = {table: columns_of(c, table) for table in tables}
        copy = Copy({}, columns, last_ids(c, tables), revision, time.time() if now is None else now)
        with aside.open("wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
                for table in tables:
                    digest, rows = hashlib.sha256(), 0
                    with archive.open(_member(f"{table}.jsonl"), "w", force_zip64=True) as member:
                        for line in lines(c, table, columns[table], digest):
                            member.write(line)
                            rows += 1
                    copy.tables[table] = Dumped(rows, digest.hexdigest())
                archive.writestr(_member(_MANIFEST), _manifest(copy))
            file.flush()
            os.fsync(file.fileno())
        if check(aside) != copy:
            raise StoreError(f"{path.name}: the copy is not what was read; look at the disk", where=str(path))
    return copy


def check(path: str | Path) -> Copy:
    """Read a backup through and hold it to its own counts and sums.

    Raises:
        NotFound: no such file.
        BadInput: it is no backup, damaged, or made by a newer program; says which table.
    """
    path = Path(path)
    with _opened(path) as archive:
        copy = _told(archive, path)
        for table, expected in copy.tables.items():
            digest, rows = hashlib.sha256(), 0
            for line in _lines(archive, table, path):
                digest.update(line)
                rows += 1
            _hold(path, table, Dumped(rows, digest.hexdigest()), expected)
        return copy


def restore(path: str | Path, url: str) -> Copy:
    """Bring a backup back into an empty place, check what is there afterwards, and bring it to the newest schema.

    Nothing is left at the target unless all of it is there: SQLite files are written aside and renamed, PostgreSQL takes one
    transaction.

    Args:
        path: the backup.
        url: a SQLite file that does not exist or holds nothing, or a PostgreSQL database without a study's rows.

    Raises:
        NotFound: no such backup.
        BadInput: the backup is damaged or newer than this program.
        StoreInUse: a process has the target open.
        WouldOverwrite: the target holds something.
    """
    path, address = Path(path), parsed(url)
    copy = check(path)
    if address.get_backend_name() != "sqlite":
        with transaction(address) as c:
            _fill(c, path, copy, str(address.database))
        return copy
    target = Path(address.database or "")
    lock = locked(target)
    aside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        if target.exists():
            with snapshot(url, any_content=True) as c:
                _must_be_empty(c, target.name)
        with transaction(address.set(database=str(aside))) as c:
            _fill(c, path, copy, target.name)
        _sync(aside)
        for leftover in ("-wal", "-shm"):
            Path(f"{target}{leftover}").unlink(missing_ok=True)
        aside.replace(target)
        _sync(target.parent)
    finally:
        for leftover in ("", "-wal", "-shm"):
            Path(f"{aside}{leftover}").unlink(missing_ok=True)
        os.close(lock)
    return copy


def _fill(c: sa.Connection, path: Path, copy: Copy, where: str) -> None:
    _must_be_empty(c, where)
    if copy.revision not in revisions(c):
        raise BadInput(
            f"{path.name}: its schema '{copy.revision}' is newer than this paragone knows; install the version that made it",
            where=str(path),
        )
    migrate(c, copy.revision)
    with _opened(path) as archive:
        for table in tables_of(c):
            if columns_of(c, table) != copy.columns.get(table):
                raise BadInput(
                    f"{path.name}: its table '{table}' is not that of schema '{copy.revision}'", where=str(path)
                )
            with _taken(path, f"table '{table}'"):
                load(c, table, copy.columns[table], _lines(archive, table, path))
    with _taken(path, "last_ids"):
        set_last_ids(c, copy.last_ids)
    for table, expected in copy.tables.items():
        _hold(path, table, dumped(c, table, copy.columns[table]), expected)
    to_head(c, where)


@contextlib.contextmanager
def _taken(path: Path, what: str) -> Iterator[None]:
    """What the database does not take of a backup that fits its own sums: somebody wrote it by hand."""
    try:
        yield
    except sa.exc.OperationalError:  # the database's fault, not the file's
        raise
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, sa.exc.DBAPIError) as error:
        raise BadInput(
            f"{path.name}: {what} holds what a store does not take; take another backup", where=str(path)
        ) from error


def _must_be_empty(c: sa.Connection, where: str) -> None:
    known = {"alembic_version", "door", "sqlite_sequence"}
    full = [
        table
        for table in sa.inspect(c).get_table_names()
        if table not in known and c.execute(sa.select(sa.literal(1)).select_from(sa.table(table)).limit(1)).first()
    ]
    if full:
        raise WouldOverwrite(
            f"{where}: the target holds rows already ({', '.join(sorted(full)[:3])}); restore into an empty place",
            where=where,
        )


def _manifest(copy: Copy) -> bytes:
    told: dict[str, Any] = {
        "format": _FORMAT,
        "made_by": f"paragone {__version__}",
        "made_at": copy.made_at,
        "revision": copy.revision,
        "last_ids": copy.last_ids,
        "tables": {
            name: {"columns": copy.columns[name], "rows": table.rows, "sha256": table.sha256}
            for name, table in copy.tables.items()
        },
    }
    return json.dumps(told, indent=1).encode() + b"\n"


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _THEN)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    if not path.is_file():
        raise NotFound.path(path, "backup")
    try:
        archive = zipfile.ZipFile(path)
    except _ROTTEN as error:
        raise BadInput(f"{path.name}: no backup ({error})", where=str(path)) from error
    with archive:
        yield archive


def _told(archive: zipfile.ZipFile, path: Path) -> Copy:
    try:
        if archive.getinfo(_MANIFEST).file_size > _MOST_MANIFEST:
            raise ValueError("too long")
        told = json.loads(archive.read(_MANIFEST))
        newer = told["format"] > _FORMAT
        if not newer:
            tables = {str(name): Dumped(int(t["rows"]), str(t["sha256"])) for name, t in told["tables"].items()}
            columns = {str(name): list(map(str, t["columns"])) for name, t in told["tables"].items()}
            last = {str(name): int(number) for name, number in told["last_ids"].items()}
            return Copy(tables, columns, last, str(told["revision"]), float(told["made_at"]))
    except (*_ROTTEN, TypeError, AttributeError) as error:
        raise BadInput(f"{path.name}: no backup of paragone, or damaged ({_MANIFEST})", where=str(path)) from error
    raise BadInput(f"{path.name}: made by a newer paragone ({told.get('made_by')}); install that one", where=str(path))


def _lines(archive: zipfile.ZipFile, table: str, path: Path) -> Iterator[bytes]:
    try:
        with archive.open(f"{table}.jsonl") as member:
            while line := member.readline(_MOST_LINE):
                if len(line) == _MOST_LINE:
                    raise ValueError("a line without an end")
                yield line
    except _ROTTEN as error:
        raise BadInput(f"{path.name}: damaged in table '{table}'; take another backup", where=str(path)) from error


def _hold(path: Path, table: str, found: Dumped, expected: Dumped) -> None:
    if found != expected:
        raise BadInput(
            f"{path.name}: table '{table}' has {found.rows} rows of {expected.rows}, or other content than its sum says; "
            "take another backup",
            where=str(path),
        )


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
