"""`Store`: where a study keeps what happened, on SQLite or PostgreSQL, by jobs that are the same for both."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import sqlalchemy as sa
from psycopg.conninfo import make_conninfo

from ...errors import BadInput, NotFound, StoreError
from . import sqlite
from .postgres import Postgres, first_line
from .schema import known, no_store
from .sqlite import Sqlite

__all__ = ["Job", "Store", "parsed", "snapshot", "transaction"]

T = TypeVar("T")
Job = Callable[[sa.Connection], T]
"""What is asked of a store: a function of a connection. It must be idempotent, must not commit, and returns plain values.

It may run twice (PostgreSQL, after a lost connection), and beside others of its kind (PostgreSQL)."""


class Store:
    """An open store. `write` returns after the commit, `read` works on a snapshot; both also come blocking."""

    def __init__(self, engine: Sqlite | Postgres, url: sa.URL) -> None:
        self._engine = engine
        self.url = url
        """Address of the database; its password is not shown when printed."""

    @classmethod
    def open(cls, url: str, *, read_only: bool = False) -> Store:
        """Open a store, make it where there is none, and bring it to the newest schema.

        Args:
            url: 'sqlite:///folder/study.db' or 'postgresql+psycopg://user:password@host/database'.
            read_only: take no lock and change nothing; works while a server has the store open.

        Raises:
            StoreInUse: another process has this SQLite file open.
            BadInput: its schema is newer, it is no store, or no database answers at the address.
            NotFound: `read_only`, and no such file.
        """
        address = parsed(url)
        kind = Sqlite if address.get_backend_name() == "sqlite" else Postgres
        return cls(kind(address, read_only=read_only), address)

    @property
    def dialect(self) -> str:
        """sqlite or postgresql."""
        return self._engine.dialect

    @property
    def queue_length(self) -> int:
        """Jobs that wait to be written."""
        return self._engine.queue_length

    async def write(self, job: Job[T], *, single: bool = False) -> T:
        """Run a job that may change the store, whole or not at all; return its result after the commit.

        Args:
            job: see `Job`.
            single: the job is one statement (as `answers.append` in the common case) or several that need not stand
                together; PostgreSQL then runs it without BEGIN and COMMIT. SQLite makes no difference.

        Raises:
            StoreFull: the disk is full; nothing of the job is stored.
            StoreError: the database does not answer, or the store is closed.
        """
        return await self._engine.write(job, single=single)

    async def read(self, job: Job[T]) -> T:
        """Run a job that only reads, on a snapshot."""
        return await self._engine.read(job)

    def write_now(self, job: Job[T]) -> T:
        """`write`, blocking; not for use inside an event loop."""
        return self._engine.write_now(job)

    def read_now(self, job: Job[T]) -> T:
        """`read`, blocking."""
        return self._engine.read_now(job)

    def close(self) -> None:
        """Finish the jobs that wait and let the database go; closing twice does nothing."""
        self._engine.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def parsed(url: str) -> sa.URL:
    """An address of a store, checked.

    Raises:
        BadInput: it is none; the message holds no password.
    """
    try:
        address = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError) as error:
        raise BadInput(
            "the store's address is no URL; give sqlite:///folder/study.db or postgresql+psycopg://user@host/database",
            where="store",
        ) from error
    if address.drivername == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
    if address.drivername not in ("sqlite", "sqlite+pysqlite", "postgresql+psycopg"):
        raise BadInput(
            f"no store on '{address.drivername}'; there is sqlite:/// and postgresql+psycopg://", where="store"
        )
    if address.get_backend_name() == "postgresql":
        try:
            make_conninfo("", **{name: str(value) for name, value in address.query.items()})
        except psycopg.ProgrammingError as error:  # which names it, and it may be a piece of a password
            raise BadInput(
                "the store's address has an option after the ? that PostgreSQL does not know; a password with odd "
                "characters is best left to PGPASSWORD or ~/.pgpass",
                where="store",
            ) from error
    return address


@contextlib.contextmanager
def snapshot(url: str, *, any_content: bool = False) -> Iterator[sa.Connection]:
    """A connection that reads one moment of a store of any schema that this program knows; it takes no lock.

    Args:
        url: the store.
        any_content: also of a database that is no store.

    Raises:
        NotFound: no such file.
        BadInput: the schema is newer than this program, or there is none.
        StoreError: the database does not answer.
    """
    address = parsed(url)
    options: dict[str, Any] = {}
    if address.get_backend_name() == "sqlite":
        if not Path(address.database or "").is_file():
            raise NotFound.path(address.database, "store")
        engine = sqlite.engine_of(address, "BEGIN", sa.pool.NullPool, read_only=True)
    else:
        engine = sa.create_engine(address, poolclass=sa.pool.NullPool, hide_parameters=True)
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    where = Path(address.database or "").name
    with _told(where), engine.connect().execution_options(**options) as c, c.begin():
        if not any_content and known(c, where) is None:
            raise no_store(where)
        yield c


@contextlib.contextmanager
def transaction(address: sa.URL) -> Iterator[sa.Connection]:
    """A connection in one transaction on a database that nobody serves; committed when the block ends well."""
    if address.get_backend_name() == "sqlite":
        engine = sqlite.engine_of(address, "BEGIN IMMEDIATE", sa.pool.NullPool)
    else:
        engine = sa.create_engine(address, poolclass=sa.pool.NullPool, hide_parameters=True)
    with _told(Path(address.database or "").name), engine.begin() as c:
        yield c


@contextlib.contextmanager
def _told(where: str) -> Iterator[None]:
    try:
        yield
    except sa.exc.DBAPIError as error:
        fault = sqlite.told(error, where)
        if fault is not error:
            raise fault from error
        if isinstance(error, sa.exc.OperationalError):
            raise StoreError(f"{where}: the database does not answer ({first_line(error)})", where=where) from error
        raise
