"""PostgreSQL behind the store: psycopg's blocking connections in a few threads, for several processes or hosts.

Each writing thread keeps one connection. A job is one transaction; a job of one statement (`single`) goes without BEGIN and
COMMIT. A job that loses its connection is run again, which is safe because every job is idempotent.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import sqlalchemy as sa

from ...errors import BadInput, MissingExtra, StoreError, StoreFull
from .schema import at_head, to_head

__all__ = ["Postgres", "first_line"]

T = TypeVar("T")
Job = Callable[[sa.Connection], T]

_WRITERS = 24  # threads and connections of each process; more only queue in the server
_READERS = 4
_PAUSES = (0.0, 0.3, 1.0, 2.0)  # seconds before each further try; a restart takes about two
_AGAIN = ("40001", "40P01", "57P01", "57P02", "57P03")  # serialisation, deadlock, shut down, crash, starting up
_FULL = ("53100",)


class Postgres:
    """One PostgreSQL database; see `Store`."""

    dialect = "postgresql"

    def __init__(self, url: sa.URL, *, read_only: bool = False) -> None:
        self._where = f"{url.host or 'postgresql'}/{url.database}"
        self._read_only = read_only
        try:
            self._engine = sa.create_engine(
                url,
                pool_size=_WRITERS + _READERS,
                max_overflow=_READERS,
                connect_args={"connect_timeout": 10},
                hide_parameters=True,
            )
        except ImportError as error:
            raise MissingExtra.library("a store on PostgreSQL", "psycopg", "serve") from error
        self._kept: dict[int, sa.Connection] = {}  # by thread
        self._autocommit = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._closed = False
        check = at_head if read_only else to_head
        try:
            self._try(lambda: self._once(lambda c: check(c, self._where)))
        except sa.exc.DBAPIError as error:
            self._engine.dispose()
            raise BadInput(
                f"{self._where}: no database answers there ({first_line(error)})", where=self._where
            ) from error
        except BaseException:
            self._engine.dispose()
            raise
        self._writers = ThreadPoolExecutor(_WRITERS, thread_name_prefix="store-write")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="store-read")

    async def write(self, job: Job[T], *, single: bool = False) -> T:
        """Run a job in a transaction of its own, or as one statement, and return after the commit."""
        self._still_open()
        run = self._write_single if single else self._write
        return await asyncio.get_running_loop().run_in_executor(self._writers, run, job)

    def write_now(self, job: Job[T]) -> T:
        """`write`, blocking."""
        self._still_open()
        return self._writers.submit(self._write, job).result()

    async def read(self, job: Job[T]) -> T:
        """Run a job on a snapshot."""
        self._still_open()
        return await asyncio.get_running_loop().run_in_executor(self._readers, self.read_now, job)

    def read_now(self, job: Job[T]) -> T:
        """`read`, blocking."""
        return self._told(lambda: self._try(lambda: self._on_snapshot(job)))

    @property
    def queue_length(self) -> int:
        """Jobs that wait for a thread."""
        return self._writers._work_queue.qsize()

    def close(self) -> None:
        """Finish what waits, then close the connections."""
        self._closed = True
        self._writers.shutdown()
        self._readers.shutdown()
        for kept in self._kept.values():
            kept.close()
        self._kept.clear()
        self._engine.dispose()

    def _still_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self._where}: the store is closed", where=self._where)

    def _write(self, job: Job[T]) -> T:
        return self._told(lambda: self._try(lambda: self._on_kept(_transaction(job))))

    def _write_single(self, job: Job[T]) -> T:
        return self._told(lambda: self._try(lambda: self._on_kept(job)))

    def _on_kept(self, job: Job[T]) -> T:
        """Run a job on this thread's connection, which says BEGIN only when told to."""
        if self._read_only:
            raise StoreError(f"{self._where}: the store is open for reading only", where=self._where)
        thread = threading.get_ident()
        c = self._kept.get(thread)
        if c is None:
            c = self._kept[thread] = self._autocommit.connect()
        try:
            return job(c)
        except BaseException as error:
            del self._kept[thread]
            told = self._of_the_driver(c, error)
            c.close()  # which rolls back
            if told is None:
                raise
            raise told from error

    def _of_the_driver(self, c: sa.Connection, error: BaseException) -> sa.exc.DBAPIError | None:
        """What SQLAlchemy would have made of an error, where a job spoke to the driver without it; None: it did not."""
        dialect = self._engine.dialect
        base = dialect.loaded_dbapi.Error
        if not isinstance(error, base):
            return None
        gone = c.invalidated or dialect.is_disconnect(error, c.connection.driver_connection, None)
        if gone:
            c.invalidate()
        told = sa.exc.DBAPIError.instance("(by the driver)", None, error, base, True, gone, dialect)
        assert isinstance(told, sa.exc.DBAPIError)
        return told

    def _once(self, job: Job[T]) -> T:
        with self._engine.begin() as c:
            return job(c)

    def _on_snapshot(self, job: Job[T]) -> T:
        options: dict[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._engine.connect().execution_options(**options) as c, c.begin():
            return job(c)

    def _try(self, once: Callable[[], T]) -> T:
        """Run until it passes; only a lost connection or a transaction that the server gave up is tried again."""
        for pause in _PAUSES:
            try:
                return once()
            except sa.exc.DBAPIError as error:
                if not (error.connection_invalidated or _state(error) in _AGAIN or _refused(error)):
                    raise
            time.sleep(pause)
        return once()

    def _told(self, run: Callable[[], T]) -> T:
        try:
            return run()
        except sa.exc.DBAPIError as error:
            if _state(error) in _FULL:
                raise StoreFull(
                    f"{self._where}: the disk is full; nothing more is stored until there is room", where=self._where
                ) from error
            if isinstance(error, sa.exc.OperationalError):
                raise StoreError(
                    f"{self._where}: the database does not answer ({first_line(error)})", where=self._where
                ) from error
            raise


def _transaction(job: Job[T]) -> Job[T]:
    def whole(c: sa.Connection) -> T:
        c.exec_driver_sql("BEGIN")
        value = job(c)
        c.exec_driver_sql("COMMIT")
        return value

    return whole


def _state(error: sa.exc.DBAPIError) -> str:
    return getattr(error.orig, "sqlstate", None) or ""


def _refused(error: sa.exc.DBAPIError) -> bool:
    """Whether no connection came about, as while the server restarts."""
    return isinstance(error, sa.exc.OperationalError) and error.statement is None and not _state(error)


def first_line(error: sa.exc.DBAPIError) -> str:
    """What the database said first."""
    return str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
