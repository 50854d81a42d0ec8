"""The store itself: order, durability, isolation of jobs, one process, full disks, restarts."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from paragone.errors import BadInput, NotFound, StoreError, StoreFull, StoreInUse
from paragone.study.store import Store, answers, claims, events
from paragone.study.store.store import snapshot
from paragone.study.store.tables import answer, event
from store_world import Small

UNANSWERED = "postgresql://u:secret@127.0.0.1:1/db"


def _event(kind: str, **more: Any) -> Callable[[sa.Connection], str]:
    return lambda c: events.append(c, kind, 1.0, **more)


def _kinds(c: sa.Connection) -> list[str]:
    return list(c.execute(sa.select(event.c.kind).order_by(event.c.id)).scalars())


def test_what_was_written_is_read(store: Store) -> None:
    assert store.write_now(_event("one")) == "stored"
    assert store.read_now(_kinds) == ["one"]


def test_what_was_written_is_there_after_closing(store_url: str) -> None:
    with Store.open(store_url) as store:
        store.write_now(_event("one"))
    with Store.open(store_url) as store:
        assert store.read_now(_kinds) == ["one"]


def test_many_tasks_are_all_answered(store: Store) -> None:
    async def go() -> list[str]:
        return await asyncio.gather(*(store.write(_event(f"k{number}")) for number in range(300)))

    assert set(asyncio.run(go())) == {"stored"}
    assert sorted(store.read_now(_kinds)) == sorted(f"k{number}" for number in range(300))


def test_a_job_that_fails_leaves_nothing_and_harms_nobody(store: Store) -> None:
    def broken(c: sa.Connection) -> None:
        events.append(c, "half", 1.0)
        raise ZeroDivisionError("of the job's own")

    async def go() -> list[Any]:
        jobs = [store.write(_event("a")), store.write(broken), store.write(_event("b"))]
        return await asyncio.gather(*jobs, return_exceptions=True)

    before, failed, after = asyncio.run(go())
    assert (before, after) == ("stored", "stored")
    assert isinstance(failed, ZeroDivisionError)
    assert sorted(store.read_now(_kinds)) == ["a", "b"]


def test_writes_of_several_event_loops_each_come_home(store: Store) -> None:
    done: list[str] = []

    async def one(kind: str) -> None:
        done.append(await store.write(_event(kind)))

    threads = [threading.Thread(target=lambda k=f"k{n}": asyncio.run(one(k))) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == ["stored"] * 4


def test_a_task_that_gave_up_does_not_disturb_the_others(store: Store) -> None:
    async def go() -> str:
        gone = asyncio.ensure_future(store.write(_event("gone")))
        await asyncio.sleep(0)
        gone.cancel()
        return await store.write(_event("stays"))

    assert asyncio.run(go()) == "stored"
    assert "stays" in store.read_now(_kinds)


def test_a_read_is_a_snapshot_and_cannot_write(store: Store) -> None:
    def look(c: sa.Connection) -> tuple[list[str], list[str]]:
        before = _kinds(c)
        store.write_now(_event("meanwhile"))
        return before, _kinds(c)

    assert store.read_now(look) == ([], [])
    with pytest.raises((sa.exc.DBAPIError, StoreError), match=r"read-?only"):
        store.read_now(_event("never"))
    assert asyncio.run(store.read(_kinds)) == ["meanwhile"]


def test_a_closed_store_says_so(store_url: str) -> None:
    store = Store.open(store_url)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="the store is closed"):
        store.write_now(_event("late"))
    with pytest.raises(StoreError, match="the store is closed"):
        asyncio.run(store.write(_event("late")))


def test_jobs_that_wait_are_finished_before_the_store_closes(store_url: str) -> None:
    store = Store.open(store_url)

    async def go() -> list[str]:
        waiting = [asyncio.ensure_future(store.write(_event(f"k{n}"))) for n in range(20)]
        await asyncio.sleep(0)
        await asyncio.get_running_loop().run_in_executor(None, store.close)
        return await asyncio.gather(*waiting)

    assert asyncio.run(go()) == ["stored"] * 20


def test_a_store_that_is_read_only_refuses_to_write(store_url: str) -> None:
    with Store.open(store_url) as served:
        served.write_now(_event("one"))
        with Store.open(store_url, read_only=True) as reader:
            assert reader.read_now(_kinds) == ["one"]
            with pytest.raises(StoreError, match="open for reading only"):
                reader.write_now(_event("two"))


@pytest.mark.parametrize("table", [answer, event])
@pytest.mark.parametrize("deed", ["UPDATE {} SET body = 'x'", "DELETE FROM {}"])
def test_answers_and_events_are_append_only(small: Small, table: sa.Table, deed: str) -> None:
    lease = small.lease(small.person().id)
    small.answer(lease)
    small.store.write_now(_event("one"))
    with pytest.raises(sa.exc.DBAPIError, match=f"{table.name} is append-only"):
        small.store.write_now(lambda c: c.execute(sa.text(deed.format(table.name))))
    count = sa.select(sa.func.count()).select_from(table)
    assert small.store.read_now(lambda c: c.execute(count).scalar()) == 1


def test_replacing_a_row_is_no_way_around(small: Small) -> None:
    if small.store.dialect != "sqlite":
        pytest.skip("INSERT OR REPLACE is SQLite's")
    small.store.write_now(_event("one", client_id="e1"))
    sneaky = "INSERT OR REPLACE INTO event (client_id, kind, at, body) VALUES ('e1', 'other', 0, '{}')"
    with pytest.raises(sa.exc.DBAPIError, match="event is append-only"):
        small.store.write_now(lambda c: c.execute(sa.text(sneaky)))


def test_truncating_is_no_way_around(small: Small) -> None:
    if small.store.dialect == "sqlite":
        pytest.skip("SQLite has no TRUNCATE")
    with pytest.raises(sa.exc.DBAPIError, match="event is append-only"):
        small.store.write_now(lambda c: c.execute(sa.text("TRUNCATE event")))


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("sqlite://", "a store needs a file: sqlite:///folder/study.db"),
        ("sqlite:///:memory:", "a store needs a file"),
        ("mysql://u:secret@host/db", "no store on 'mysql'; there is sqlite:/// and postgresql"),
        ("study.db", "the store's address is no URL; give sqlite:///folder/study.db"),
        ("", "the store's address is no URL; give sqlite:///folder/study.db"),
        ("postgresql://u@host/db?x=1&secret=2", "an option after the \\? that PostgreSQL does not know"),
    ],
)
def test_an_address_that_is_none_is_told(url: str, says: str) -> None:
    with pytest.raises(BadInput, match=says) as caught:
        Store.open(url)
    assert "secret" not in caught.value.message


def test_a_copy_of_an_unanswering_database_is_told_in_one_line_without_its_password() -> None:
    with pytest.raises(StoreError, match=r"^db: the database does not answer \(.*\)$") as caught, snapshot(UNANSWERED):
        pass
    assert "secret" not in caught.value.message


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "study.db").write_bytes(b"once upon a time " * 100)
    with pytest.raises(StoreError, match=r"study\.db: not a SQLite database"):
        Store.open(f"sqlite:///{tmp_path}/study.db")


def test_a_missing_file_is_not_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no store"):
        Store.open(f"sqlite:///{tmp_path}/study.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_second_process_is_refused_on_sqlite(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    code = f"from paragone.study.store import Store\nStore.open({url!r})"
    with Store.open(url):
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        with pytest.raises(StoreInUse, match=r"^study\.db: another process \(\d+\) has this store open; stop it"):
            Store.open(url)
    assert said.returncode == 1
    assert "StoreInUse: study.db: another process" in said.stderr.splitlines()[-1]
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unanswering_database_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("paragone.study.store.postgres._PAUSES", (0.0,))
    with pytest.raises(BadInput, match="no database answers there") as caught:
        Store.open(f"postgresql+psycopg://u:secret@/study?host={tmp_path}")
    assert "secret" not in caught.value.message


def test_a_full_disk_is_told_and_passes(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/study.db") as store:
        small = Small(store)
        lease = small.lease(small.person().id)
        assert small.answer(lease, "before") == "stored"
        pages = store.write_now(lambda c: c.exec_driver_sql("PRAGMA page_count").scalar_one())
        store.write_now(lambda c: c.exec_driver_sql(f"PRAGMA max_page_count = {pages}").scalar())
        acknowledged, refused = [], []
        for number in range(200):
            try:
                assert small.answer(lease, f"t{number}", body='{"much": "' + "x" * 500 + '"}') == "stored"
                acknowledged.append(f"t{number}")
            except StoreFull:
                refused.append(f"t{number}")
        assert refused
        store.write_now(lambda c: c.exec_driver_sql("PRAGMA max_page_count = 1000000").scalar())
        assert small.answer(lease, "after") == "stored"
        stored = store.read_now(lambda c: list(c.execute(sa.select(answer.c.trial).order_by(answer.c.id)).scalars()))
        assert stored == ["before", *acknowledged, "after"]


def test_a_full_disk_is_an_error_of_its_class(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/study.db") as store:
        store.write_now(lambda c: c.exec_driver_sql("PRAGMA max_page_count = 1").scalar())
        with pytest.raises(StoreFull, match=r"study\.db: the disk is full; nothing more is stored until there is room"):
            store.write_now(_event("big", body={"much": "x" * 1_000_000}))


def test_a_lost_connection_is_made_again(postgres: Callable[[], Any]) -> None:
    others = "pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    kill = f"SELECT pg_terminate_backend(pid) FROM {others}"
    with postgres() as url, Store.open(url) as store:
        small = Small(store)
        lease = small.lease(small.person().id)
        other = sa.create_engine(url, poolclass=sa.pool.NullPool, isolation_level="AUTOCOMMIT")
        for number in range(5):
            assert small.answer(lease, f"t{number}") == "stored"
            assert asyncio.run(store.write(_event(f"k{number}"), single=True)) == "stored"
            with other.connect() as c:
                c.execute(sa.text(kill))
        assert asyncio.run(store.write(_event("last"), single=True)) == "stored"
        assert store.read_now(_kinds) == [*(f"k{number}" for number in range(5)), "last"]


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_restart_of_the_database_loses_and_doubles_nothing(postgres: Any, mode: str) -> None:
    with postgres() as url, Store.open(url) as store:
        small = Small(store)
        held = [small.lease(small.person().id) for _ in range(4)]
        over = threading.Event()
        acknowledged: set[str] = set()

        async def answering(lease: claims.Lease, number: int) -> None:
            person, count = lease.participant_id or 0, 0
            while not over.is_set():
                count += 1
                row = answers.NewAnswer(f"{number}-{count}", f"t{count}", "q", 0, "left", 1.0, "{}")
                while True:  # as a browser does: the same answer again until it is acknowledged
                    try:
                        (told,) = await store.write(
                            lambda c, row=row: answers.append(c, small.token(person), lease.id, person, [row], 1.0),
                            single=True,
                        )
                    except StoreError:
                        await asyncio.sleep(0.1)
                        continue
                    assert told.status in ("stored", "known")
                    acknowledged.add(row.client_id)
                    break

        async def go() -> None:
            tasks = [asyncio.ensure_future(answering(lease, n)) for n, lease in enumerate(held)]
            for _ in range(2):
                await asyncio.sleep(0.3)
                await asyncio.to_thread(postgres.restart, mode)
            await asyncio.sleep(0.3)
            over.set()
            await asyncio.gather(*tasks)

        asyncio.run(go())
        stored = store.read_now(lambda c: list(c.execute(sa.select(answer.c.client_id)).scalars()))
        assert len(stored) == len(set(stored))
        assert set(stored) == acknowledged
