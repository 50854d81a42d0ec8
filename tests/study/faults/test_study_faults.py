"""Short forms of benchmarks/study_faults.py: what breaks is announced, and no answer is lost, doubled or altered."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from study_crowd import Crowd, compared
from study_faults import (
    Broken,
    arrivals,
    as_planned,
    database_restarts,
    disk_full,
    fill,
    kills,
    second_refused,
    two_servers,
)  # fmt: skip
from study_rig import Server, postgresql, small_disk, study_folder
from study_servers import Local

from paragone.study.store.tables import answer, event, lease

Locals = Callable[[], Any]


def test_a_server_that_is_killed_again_and_again_loses_no_answer(folder: Path, forked: Server) -> None:
    url = f"sqlite:///{folder / 'study.db'}"
    told = kills(forked, folder, url, 3, clients=6, pause=0.2)
    assert told["kills"] == 3
    assert told["people finished"] >= 6


@pytest.mark.slow
def test_workers_and_those_who_watch_them_may_be_killed(folder: Path) -> None:
    with postgresql() as database:
        url = database.make()
        told = kills(Server(folder, store_url=url, workers=2), folder, url, 3, clients=6, pause=0.2)
    assert told["people finished"] >= 6


@pytest.mark.slow
def test_a_second_server_on_one_sqlite_file_is_refused(folder: Path) -> None:
    told = second_refused(Server(folder), folder)
    assert "another process" in told["second server"]
    assert "use PostgreSQL for several processes" in told["second store"]


def test_two_servers_on_one_postgresql_are_one_study(
    folder: Path, postgres: Callable[..., AbstractContextManager[str]]
) -> None:
    with postgres() as url:
        told = two_servers(Local(folder, url), Local(folder, url), folder, url, clients=4)
    assert told["tabs that were replaced"] == 6
    assert told["people finished"] == 8


def test_a_full_disk_is_told_and_forgotten(folder: Path) -> None:
    url = f"sqlite:///{folder / 'study.db'}"
    server = Local(folder, url)

    def pages(most: int) -> None:
        server.store.write_now(lambda c: c.exec_driver_sql(f"PRAGMA max_page_count = {most}"))

    told = disk_full(server, lambda: pages(1), lambda: pages(1_000_000), folder, url, clients=4)
    assert told["refused with 503"] > 8
    assert told["people finished"] >= 4


@pytest.mark.slow
def test_a_full_disk_under_postgresql_is_told_and_forgotten(folder: Path) -> None:
    try:
        with small_disk(Path(tempfile.mkdtemp()) / "small", 24_000) as disk, postgresql() as database:
            disk.parent.chmod(0o755)
            url = database.make(disk=disk)
            ballast = disk / "ballast"
            told = disk_full(Local(folder, url), lambda: fill(ballast), ballast.unlink, folder, url, clients=4)
            database.drop(url)
    except PermissionError as error:
        pytest.skip(f"{error}; it takes root")
    assert told["refused with 503"] > 8


@pytest.mark.slow
def test_a_database_that_goes_and_comes_loses_no_answer(folder: Path) -> None:
    with postgresql() as database:
        url = database.make()
        told = database_restarts(Local(folder, url), database, folder, url, 2, clients=6)
    assert told["restarts"] == 2


def test_forty_people_at_once_have_a_sheet_each_as_it_was_planned(folder: Path, local: Locals, store_url: str) -> None:
    told = arrivals(local(), folder, store_url, people=40, sheets=60, within=0.5, pause=0.0)
    assert (told["finished"], told["told full"], told["pairs over quota"]) == (40, 0, 0)


def test_more_people_than_sheets_are_told_so_and_the_plan_is_kept(
    tmp_path: Path, local: Locals, store_url: str
) -> None:
    few = study_folder(
        tmp_path / "few", criteria=("overall",), sheets=6, trials=6, checks=0, repeats=0, methods=4, contents=2,
        platform="prolific",
    )  # fmt: skip
    server = local()
    server.folder = few
    told = arrivals(server, few, store_url, people=16, sheets=6, within=0.0, pause=0.0)
    assert (told["finished"], told["told full"], told["all of the plan"]) == (6, 10, True)


def test_forty_eight_consents_at_once_give_forty_eight_sheets(folder: Path, local: Locals, store_url: str) -> None:
    with local() as server:
        with Crowd([server.port], 48, rudeness=0.0, pause=0.0, each=1, until="device") as people:
            people.finish()
        rows = server.store.read_now(lambda c: list(c.execute(sa.select(lease).where(lease.c.state == "leased"))))
        consents = sa.select(sa.func.count(sa.distinct(event.c.lease_id))).where(event.c.kind == "consent")
        given = server.store.read_now(lambda c: c.execute(consents).scalar_one())
    assert people.lost == []
    assert (len(rows), len({row.participant_id for row in rows}), given) == (48, 48, 48)


def test_the_comparison_sees_what_is_lost_doubled_or_altered(folder: Path, local: Locals, store_url: str) -> None:
    with local() as server:
        with Crowd([server.port], 2, pause=0.0, each=1) as people:
            people.finish()
        count = sa.select(sa.func.count()).select_from(answer)
        n = server.store.read_now(lambda c: c.execute(count).scalar_one())
    journal = people.journal
    assert compared(journal, store_url, folder).good
    assert n == len(journal.acknowledged) == 2 * 9
    rng = random.Random(1)
    name = rng.choice(sorted(journal.sent))
    kept = journal.sent[name]
    for key, other in (("value", "other"), ("seconds", 0.25), ("criterion", "else"), ("trial", "x" * 16), ("body", {})):
        journal.sent[name] = {**kept, key: other}
        assert compared(journal, store_url, folder).altered == [name], key
    journal.sent[name] = kept
    journal.acknowledged.add("never stored")
    assert compared(journal, store_url, folder).lost == ["never stored"]
    journal.acknowledged.remove("never stored")
    del journal.sent[name]
    assert compared(journal, store_url, folder).doubled == [name]


def test_the_comparison_with_the_plan_sees_another_plan(
    folder: Path, tmp_path: Path, local: Locals, store_url: str
) -> None:
    arrivals(local(), folder, store_url, people=3, sheets=60, within=0.0, pause=0.0)
    other = Path(shutil.copytree(folder, tmp_path / "other", ignore=shutil.ignore_patterns("study.db*")))
    plan = (other / "plan.csv").read_text().splitlines()
    head = plan[0].split(",")
    left = head.index("left")
    changed = [line.split(",") for line in plan[1:]]
    for row in changed:
        if row[left].startswith("m"):
            row[head.index("trial")] += "x"
    (other / "plan.csv").write_text("\n".join([plan[0], *(",".join(row) for row in changed)]) + "\n")
    with pytest.raises(Broken, match="is not what the sheets"):
        as_planned(other, store_url)
