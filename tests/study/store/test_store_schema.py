"""Migrations and tables agree, on both databases, up and down."""

from __future__ import annotations

import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from paragone.errors import BadInput, StoreError
from paragone.study.store import Store
from paragone.study.store.schema import migrate, revision_of
from paragone.study.store.store import snapshot
from paragone.study.store.tables import METADATA


def test_migrations_end_where_the_tables_are(empty_url: str) -> None:
    engine = sa.create_engine(empty_url, poolclass=sa.pool.NullPool)
    with engine.begin() as c:
        migrate(c)
        assert compare_metadata(MigrationContext.configure(c, opts={"compare_type": True}), METADATA) == []


def test_checks_and_constraints_are_those_of_the_tables(empty_url: str) -> None:
    """What alembic's comparison does not look at."""
    engine = sa.create_engine(empty_url, poolclass=sa.pool.NullPool)
    with engine.begin() as c:
        migrate(c)
        seen = sa.inspect(c)
        for table in METADATA.sorted_tables:
            for kind, rows in (
                (sa.UniqueConstraint, seen.get_unique_constraints(table.name)),
                (sa.CheckConstraint, seen.get_check_constraints(table.name)),
                (sa.ForeignKeyConstraint, seen.get_foreign_keys(table.name)),
            ):
                named = {part.name for part in table.constraints if type(part) is kind}
                assert {row["name"] for row in rows} == named, (table.name, kind)


def test_migrations_go_up_and_down_and_up(empty_url: str) -> None:
    engine = sa.create_engine(empty_url, poolclass=sa.pool.NullPool)
    with engine.begin() as c:
        migrate(c)
        head = revision_of(c)
    with engine.begin() as c:
        migrate(c, "base")
        assert revision_of(c) is None
        assert set(sa.inspect(c).get_table_names()) <= {"alembic_version"}
        left = "SELECT count(*) FROM pg_proc WHERE proname = 'refuse_change'"
        assert c.dialect.name == "sqlite" or c.execute(sa.text(left)).scalar() == 0
    with engine.begin() as c:
        migrate(c)
        assert revision_of(c) == head


def test_a_newer_schema_is_refused(empty_url: str) -> None:
    Store.open(empty_url).close()
    engine = sa.create_engine(empty_url, poolclass=sa.pool.NullPool)
    with engine.begin() as c:
        c.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    for read_only in (False, True):
        with pytest.raises(BadInput, match="its schema '9999' is newer than this paragone knows; install the version"):
            Store.open(empty_url, read_only=read_only)


def test_an_older_schema_cannot_be_read_until_it_was_written(empty_url: str) -> None:
    engine = sa.create_engine(empty_url, poolclass=sa.pool.NullPool)
    with engine.begin() as c:
        migrate(c)
        migrate(c, "base")
    with pytest.raises(BadInput, match="its schema is older than this paragone; open it for writing once"):
        Store.open(empty_url, read_only=True)
    Store.open(empty_url).close()
    Store.open(empty_url, read_only=True).close()


def test_a_database_of_somebody_else_is_refused(empty_url: str) -> None:
    engine = sa.create_engine(empty_url, poolclass=sa.pool.NullPool)
    with engine.begin() as c:
        c.execute(sa.text("CREATE TABLE customers (id INTEGER)"))
    with pytest.raises(BadInput, match="a database with other tables in it; name an empty one"):
        Store.open(empty_url)


def test_a_database_of_somebody_else_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with contextlib.closing(sqlite3.connect(path)) as c, c:
        c.execute("CREATE TABLE customers (id INTEGER)")
    url, before = f"sqlite:///{path}", path.read_bytes()
    with pytest.raises(BadInput, match=r"study\.db: a database with other tables in it"):
        Store.open(url)
    with pytest.raises(BadInput, match=r"study\.db: no store in it; name the database of a served study"):
        Store.open(url, read_only=True)
    with pytest.raises(BadInput, match=r"study\.db: no store in it"), snapshot(url):
        pass
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("study.db-*"))


def test_a_database_with_branches_of_somebody_else_is_refused(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "study.db")) as raw, raw:
        raw.execute("CREATE TABLE alembic_version (version_num TEXT)")
        raw.execute("INSERT INTO alembic_version VALUES ('aaa'), ('bbb')")
    for read_only in (False, True):
        with pytest.raises(BadInput, match=r"study\.db: its schema 'aaa, bbb' is newer than this paragone knows"):
            Store.open(f"sqlite:///{tmp_path}/study.db", read_only=read_only)


def test_a_table_of_versions_that_is_none_is_told_in_one_line(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "study.db")) as raw, raw:
        raw.execute("CREATE TABLE alembic_version (x INTEGER)")
    with pytest.raises(StoreError, match=r"study\.db: the database does not answer \(no such column"):
        Store.open(f"sqlite:///{tmp_path}/study.db")


def test_a_store_that_lost_a_table_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    Store.open(url).close()
    with contextlib.closing(sqlite3.connect(tmp_path / "study.db")) as raw, raw:
        raw.execute("DROP TABLE answer")
    for read_only in (False, True):
        with pytest.raises(BadInput, match=r"study\.db: damaged, its table 'answer' is missing; restore a backup"):
            Store.open(url, read_only=read_only)


def test_two_workers_that_start_together_do_not_collide(postgres: object) -> None:
    with postgres() as url, ThreadPoolExecutor(4) as pool:  # type: ignore[operator]
        for opened in pool.map(lambda _: Store.open(url), range(4)):
            assert opened.read_now(revision_of) is not None
            opened.close()
