"""SQLite behind the store: one writer thread that commits many jobs at once, and readers on snapshots.

One fsync costs a few milliseconds, however many rows it covers. So the writer takes every job that waits, runs each in a
savepoint of its own, commits once, and only then answers all of them: nothing is acknowledged that a power cut could take.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import queue
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa

from ...errors import BadInput, NotFound, StoreError, StoreFull, StoreInUse
from .schema import at_head, foreign, to_head

__all__ = ["Sqlite", "engine_of", "locked", "told"]

T = TypeVar("T")
Job = Callable[[sa.Connection], T]

_BATCH = 256  # jobs of one commit: above it the first of them would wait too long
_READERS = 4  # threads; a reader never waits for the writer
_PRAGMAS = (
    "busy_timeout = 30000",  # milliseconds
    "synchronous = FULL",
    "foreign_keys = ON",
    "recursive_triggers = ON",  # so that INSERT OR REPLACE cannot pass the append-only triggers
    "secure_delete = ON",  # what is forgotten is overwritten
    "journal_size_limit = 67108864",
)


class _Piece(NamedTuple):
    """A job that waits for the writer."""

    job: Job[Any]
    loop: asyncio.AbstractEventLoop | None
    """Loop of `answer`; None: whoever waits is a thread."""
    answer: asyncio.Future[Any] | Future[Any]


class _Told(NamedTuple):
    """What came of a piece."""

    piece: _Piece
    value: Any
    error: BaseException | None


class Sqlite:
    """One SQLite file; see `Store`."""

    dialect = "sqlite"

    def __init__(self, url: sa.URL, *, read_only: bool = False) -> None:
        if not url.database or url.database == ":memory:":
            raise BadInput("a store needs a file: sqlite:///folder/study.db", where=str(url))
        self._path = Path(url.database)
        self._where = self._path.name
        if read_only and not self._path.is_file():
            raise NotFound.path(self._path, "store")
        self._lock: int | None = None if read_only else locked(self._path)
        self._queue: queue.SimpleQueue[_Piece | None] = queue.SimpleQueue()
        self._closed = False
        self._closing = threading.Lock()
        self._writer: threading.Thread | None = None
        self._write_engine = engine_of(url, "BEGIN IMMEDIATE", sa.pool.NullPool)
        self._read_engine = engine_of(url, "BEGIN", sa.pool.QueuePool, read_only=True)
        try:
            self._open(read_only)
        except BaseException:
            self._let_go()
            raise
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="store-read")
        if not read_only:
            self._writer = threading.Thread(target=self._serve, name="store-write", daemon=True)
            self._writer.start()

    def _open(self, read_only: bool) -> None:
        try:
            if read_only:
                with self._read_engine.connect() as c:
                    at_head(c, self._where)
                return
            with self._write_engine.begin() as c:
                to_head(c, self._where)
        except sa.exc.DBAPIError as error:
            fault = told(error, self._where)
            if fault is error:  # SQLite reads the file, and it holds something else than a store
                fault = StoreError(f"{self._where}: the database does not answer ({error.orig})", where=self._where)
            raise fault from error

    async def write(self, job: Job[T], *, single: bool = False) -> T:  # noqa: ARG002 - as on PostgreSQL
        """Run a job in the writer and return after the commit."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._put(_Piece(job, loop, answer))
        return await answer

    def write_now(self, job: Job[T]) -> T:
        """`write`, blocking."""
        answer: Future[T] = Future()
        self._put(_Piece(job, None, answer))
        return answer.result()

    async def read(self, job: Job[T]) -> T:
        """Run a job on a snapshot."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self.read_now, job)

    def read_now(self, job: Job[T]) -> T:
        """`read`, blocking."""
        try:
            with self._read_engine.connect() as c, c.begin():
                return job(c)
        except (sa.exc.DBAPIError, sqlite3.Error) as error:
            raise told(error, self._where) from error

    @property
    def queue_length(self) -> int:
        """Jobs that wait for the writer."""
        return self._queue.qsize()

    def close(self) -> None:
        """Finish what waits, then let the file go."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        if self._writer is not None:
            self._writer.join()
        self._readers.shutdown()
        self._let_go()

    def _let_go(self) -> None:
        self._write_engine.dispose()
        self._read_engine.dispose()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _put(self, piece: _Piece) -> None:
        with self._closing:
            if self._closed or self._writer is None:
                raise StoreError(
                    f"{self._where}: the store is {'closed' if self._closed else 'open for reading only'}",
                    where=self._where,
                )
            self._queue.put(piece)

    def _serve(self) -> None:
        """The writer's life: take what waits, run it, commit, tell."""
        with self._write_engine.connect() as c:
            raw = c.connection.driver_connection
            assert isinstance(raw, sqlite3.Connection)
            while batch := self._take():
                _tell(self._commit(c, raw, batch))

    def _take(self) -> list[_Piece]:
        first = self._queue.get()
        batch: list[_Piece] = []
        while first is not None:
            batch.append(first)
            if len(batch) == _BATCH:
                break
            try:
                first = self._queue.get_nowait()
            except queue.Empty:
                break
        if first is None and batch:
            self._queue.put(None)  # the end comes again, after these
        return batch

    def _commit(self, c: sa.Connection, raw: sqlite3.Connection, batch: list[_Piece]) -> list[_Told]:
        results: list[_Told] = []
        try:
            with c.begin():
                for piece in batch:
                    results.append(self._run(c, raw, piece))
                    if not raw.in_transaction:  # SQLite took everything back by itself, as it may on a full disk
                        raise results[-1].error or sqlite3.OperationalError("the transaction ended early")
        except BaseException as error:  # noqa: BLE001 - handed to everyone who waits for this commit
            fault = told(error, self._where)
            if raw.in_transaction:
                raw.rollback()
            return [_Told(piece, None, fault) for piece in batch]
        return results

    def _run(self, c: sa.Connection, raw: sqlite3.Connection, piece: _Piece) -> _Told:
        raw.execute("SAVEPOINT job")
        try:
            value = piece.job(c)
        except BaseException as error:  # noqa: BLE001 - handed to the one who asked
            if raw.in_transaction:
                raw.execute("ROLLBACK TO job")
                raw.execute("RELEASE job")
            return _Told(piece, None, told(error, self._where))
        raw.execute("RELEASE job")
        return _Told(piece, value, None)


def _tell(results: list[_Told]) -> None:
    """Hand results over: one wake-up for each event loop, however many jobs."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Told]] = defaultdict(list)
    for one in results:
        if one.piece.loop is not None:
            by_loop[one.piece.loop].append(one)
        elif one.error is not None:
            one.piece.answer.set_exception(one.error)
        else:
            one.piece.answer.set_result(one.value)
    for loop, theirs in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, theirs)


def _settle(results: list[_Told]) -> None:
    for one in results:
        if one.piece.answer.done():  # whoever asked has gone
            continue
        if one.error is not None:
            one.piece.answer.set_exception(one.error)
        else:
            one.piece.answer.set_result(one.value)


def locked(path: Path) -> int:
    """Take the lock that says that this process serves the file; the system frees it when the process ends."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise BadInput(f"{path}: no store can be made there ({error.strerror})", where=str(path)) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.read(handle, 20).decode("ascii", "replace").strip()
        os.close(handle)
        raise StoreInUse(
            f"{path.name}: another process{f' ({holder})' if holder else ''} has this store open; stop it, or use "
            "PostgreSQL for several processes",
            where=str(path),
        ) from error
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    return handle


def told(error: BaseException, where: str) -> BaseException:
    """The error as users meet it; an error that is no matter of the disk comes back as it is."""
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    if not isinstance(cause, sqlite3.Error) or isinstance(cause, sqlite3.IntegrityError):
        return error
    code = (getattr(cause, "sqlite_errorcode", None) or 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        fault: StoreError = _full(where)
    elif code in _AWAY:
        fault = StoreError(f"{where}: {_AWAY[code]} ({cause})", where=where)
    else:
        return error
    fault.__cause__ = error
    return fault


def _full(where: str) -> StoreFull:
    return StoreFull(f"{where}: the disk is full; nothing more is stored until there is room", where=where)


_AWAY = {
    sqlite3.SQLITE_BUSY: "another program holds the database for writing",
    sqlite3.SQLITE_READONLY: "the database cannot be written to; look at the file's and the folder's rights",
    sqlite3.SQLITE_IOERR: "the disk reports an error",
    sqlite3.SQLITE_CANTOPEN: "the database cannot be opened",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore a backup",
    sqlite3.SQLITE_NOTADB: "not a SQLite database",
}


def _must_not_be_foreign(raw: sqlite3.Connection, where: str) -> None:
    """Another program's database is refused before anything of it changes, its journal included."""
    tables = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and "alembic_version" not in tables:
        raise foreign(where)


def engine_of(url: sa.URL, begin: str, pool: type[sa.Pool], *, read_only: bool = False) -> sa.Engine:
    """An engine on a SQLite file, with our pragmas, whose transactions start by `begin`."""
    # a snapshot may be read on from another thread, as a response is sent; never by two at once
    engine = sa.create_engine(url, poolclass=pool, connect_args={"check_same_thread": False}, hide_parameters=True)

    @sa.event.listens_for(engine, "connect")
    def _connect(raw: sqlite3.Connection, _: Any) -> None:
        raw.isolation_level = None  # transactions begin where we say so
        for pragma in _PRAGMAS:
            raw.execute(f"PRAGMA {pragma}")
        if read_only:
            raw.execute("PRAGMA query_only = ON")
            return
        _must_not_be_foreign(raw, Path(url.database or "").name)
        raw.execute("PRAGMA journal_mode = WAL")  # stays in the file

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine
