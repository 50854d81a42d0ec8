"""An adaptive study while it is served: waves come when sheets run low, and nobody loses their place."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from adaptive_study import ADAPTIVE, adaptive_folder
from asked_study import AskedStudy, served_folder
from served import people_of

from paragone.benchmark import Benchmark
from paragone.design import islands
from paragone.errors import BadInput, CannotScore
from paragone.plan import Plan
from paragone.study.admin.moment import moment
from paragone.study.client import Walker
from paragone.study.frozen import Frozen, freeze, grown
from paragone.study.server import dealer as dealing
from paragone.study.server.dealer import Dealer, deal
from paragone.study.store import Store, claims, events, people, versions
from paragone.study.store.tables import event
from paragone.study.wave_worker import Wanted, in_process, made, wanted
from paragone.study.waves import Wave
from paragone.study.waves import grown as with_wave
from store_world import sha

STATES = "SELECT version_id, owner, state FROM lease ORDER BY id"
WAVES = "SELECT body FROM event WHERE kind = 'wave' ORDER BY id"


def here(asked: Wanted, _stop: threading.Event) -> Wave:
    """The wave, dealt in this process."""
    return made(asked)


def address_of(store: Store) -> str:
    return store.url.render_as_string(hide_password=False)


def choosing(client: httpx.Client) -> Walker:
    """Somebody who answers by the public id, which says nothing."""
    return Walker(client, lambda trial, _criterion: ("left" if ord(trial["id"][0]) % 3 else "right", 1.5), tries=5)


def waited(study: AskedStudy, waves: int) -> None:
    """Until so many waves were dealt."""
    until = time.monotonic() + 60
    while study.one("SELECT count(*) FROM event WHERE kind = 'wave'") != waves:
        assert time.monotonic() < until, f"no wave: {study.rows(STATES)}"
        time.sleep(0.05)


def test_a_wave_comes_while_people_answer_and_a_restart_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dealing, "_TICK", 0.1)
    folder = adaptive_folder(tmp_path / "study")
    first = Plan.read(folder / "plan.csv")
    with ExitStack() as stack:
        study = stack.enter_context(served_folder(folder))
        one, two, three, four = stack.enter_context(people_of(study.address, 4))
        slow = choosing(one)
        state = slow.walk(slow.enter(), until="trial")
        slow.give(state["trials"][0])
        before = slow.state()
        for client in (two, three):
            person = choosing(client)
            assert person.walk(person.enter())["done"]["outcome"] == "completed"
        waited(study, 1)
        again = slow.state()
        assert again["trials"] == before["trials"], "who is under way stays on their sheet"
        late = choosing(four)
        assert late.walk(late.enter())["done"]["outcome"] == "completed"
        assert slow.walk()["done"]["outcome"] == "completed"
        states = study.rows(STATES)
        assert [version for version, _, _ in states] == [1, 1, 1, 2, 2, 2]
        assert [owner for _, owner, _ in states] == [f"within-{n:03d}" for n in range(1, 7)]
        assert [state for _, _, state in states] == ["complete"] * 4 + ["free"] * 2
    whole = Plan.read(folder / "plan.csv")
    assert whole.frame.filter(pl.col("sheet").is_in(first.sheets)).equals(first.frame)
    wave = Plan(whole.frame.filter(~pl.col("sheet").is_in(first.sheets)))
    assert (len(wave.sheets), islands(wave, Benchmark.read(folder))) == (3, 2)
    with ExitStack() as stack:
        study = stack.enter_context(served_folder(folder))
        assert study.rows(STATES) == states, "the same plan goes on"
        for client in stack.enter_context(people_of(study.address, 2)):
            person = choosing(client)
            assert person.walk(person.enter())["done"]["outcome"] == "completed"
        waited(study, 2)
        (last,) = stack.enter_context(people_of(study.address, 1))
        person = choosing(last)
        person.walk(person.enter())
        (said,) = study.rows(WAVES)[1]
        assert '"sheets": 1' in str(said)
        assert '"stage": "within"' in str(said)
        assert f'"answers": {6 * 6 * 2}' in str(said), "six people, six pairs each, two criteria"
        (beyond,) = stack.enter_context(people_of(study.address, 1))
        nobody = choosing(beyond)
        assert nobody.step("consent", {"version": nobody.enter()["consent"]["version"]})["phase"] == "full"
    assert len(Plan.read(folder / "plan.csv").sheets) == 7


class Served:
    """A store with the first wave in it, without people."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder
        self.known: dict[int, Frozen] = {}
        self.store.write_now(lambda c: deal(c, freeze(folder), 1.0))

    def dealer(self, run: Callable[[Wanted, threading.Event], Wave] = here) -> Dealer:
        return Dealer(self.store, self.version, clock=lambda: 1000.0, run=run)

    def version(self, c: Any, number: int) -> Frozen:
        row = versions.get(c, number)
        assert row is not None
        return self.known.setdefault(number, Frozen.of_parts(row.study, row.plan, row.items, folder=self.folder))

    def taken(self, name: str) -> claims.Lease:
        """A lease that somebody new has."""

        def job(c: Any) -> claims.Lease:
            person = people.arrive(c, "open", sha(name), None, "en", 1000.0)
            lease = claims.claim(c, person.id, ["within"], 100, 1000.0)
            assert lease is not None
            return lease

        return self.store.write_now(job)

    def leases(self) -> list[tuple[int, str, str]]:
        query = "SELECT version_id, owner, state FROM lease ORDER BY id"
        return [tuple(row) for row in self.store.read_now(lambda c: c.exec_driver_sql(query).all())]

    def events(self, kind: str) -> list[dict[str, Any]]:
        rows = self.store.read_now(lambda c: c.execute(event.select().where(event.c.kind == kind)).all())
        return [json.loads(row.body) for row in rows]


@contextmanager
def opened(url: str, folder: Path) -> Iterator[Served]:
    with Store.open(url) as store:
        yield Served(store, adaptive_folder(folder))


@pytest.fixture
def small(store_url: str, tmp_path: Path) -> Iterator[Served]:
    with opened(store_url, tmp_path / "study") as found:
        yield found


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Iterator[Served]:
    with opened(f"sqlite:///{tmp_path / 'study.db'}", tmp_path / "study") as found:
        yield found


def test_a_wave_is_dealt_when_hardly_a_sheet_is_free_and_not_before(small: Served) -> None:
    dealer = small.dealer()
    assert dealer.look() == []
    for name in "ab":
        small.taken(name)
    assert dealer.low() == [], "one is free, and two are under way"
    small.taken("c")
    assert dealer.look() == ["within"]
    assert dealer.look() == []
    assert [state for _, _, state in small.leases()] == ["leased"] * 3 + ["free"] * 3
    assert small.events("wave") == [{"stage": "within", "sheets": 3, "answers": 0, "version": 2}]
    for name in "def":
        small.taken(name)
    assert dealer.look() == ["within"]
    small.taken("g")
    assert dealer.low() == [], "all seven are dealt"


def test_a_free_sheet_of_an_earlier_version_is_still_handed_out(small: Served) -> None:
    for name in "abc":
        lease = small.taken(name)
    small.dealer().look()
    small.store.write_now(lambda c: claims.exclude(c, lease.id, 1001.0, who="me", why="test"))
    again = small.taken("d")
    assert (again.owner, again.replaces) == (lease.owner, lease.id), "a replacement goes before what is new"
    at = small.store.read_now(lambda c: moment(c, small.version(c, 2), 2, 1002.0)).present
    assert sorted(at["state"].to_list()) == ["excluded", *["free"] * 3, *["leased"] * 3], "the desk sees all of them"
    dealt = small.leases()
    small.store.write_now(lambda c: deal(c, freeze(small.folder), 2.0))
    assert small.leases() == dealt, "a restart deals nothing twice"


def test_a_wave_that_fails_is_told_and_dealt_later(
    on_sqlite: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(dealing, "_TICK", 0.01)
    monkeypatch.setattr(dealing, "_AGAIN", 0.01)
    tries = []

    def third(asked: Wanted, _stop: threading.Event) -> Wave:
        tries.append(asked.stage)
        if len(tries) < 3:
            raise CannotScore("the votes say nothing")
        return made(asked)

    for name in "abc":
        on_sqlite.taken(name)
    before = (on_sqlite.folder / "plan.csv").read_bytes()
    dealer = on_sqlite.dealer(third)
    with pytest.raises(CannotScore, match="the votes say nothing"):
        dealer.look()
    assert (on_sqlite.folder / "plan.csv").read_bytes() == before
    assert len(on_sqlite.leases()) == 3
    dealer.start()
    until = time.monotonic() + 30
    while len(on_sqlite.leases()) == 3:
        assert time.monotonic() < until
        time.sleep(0.01)
    dealer.stop()
    assert tries == ["within"] * 3
    assert "no wave was dealt, and it is tried again" in caplog.text


def never(asked: Wanted, _stop: threading.Event) -> Wave:
    raise AssertionError(f"a wave of {asked.stage} is dealt")


def test_a_plan_that_goes_on_already_is_taken_as_it_is(on_sqlite: Served) -> None:
    """As after a crash between plan.csv and the store, or `paragone plan --wave`."""
    for name in "abc":
        on_sqlite.taken(name)

    def killed(asked: Wanted, _stop: threading.Event) -> Wave:
        dealt = made(asked)
        with_wave(Plan.read(on_sqlite.folder / "plan.csv"), dealt.plan).write(on_sqlite.folder / "plan.csv")
        raise CannotScore("killed")

    with pytest.raises(CannotScore, match="killed"):
        on_sqlite.dealer(killed).look()
    written = (on_sqlite.folder / "plan.csv").read_bytes()
    assert on_sqlite.dealer(never).look() == ["within"]
    assert (on_sqlite.folder / "plan.csv").read_bytes() == written
    assert len(on_sqlite.leases()) == 6
    assert on_sqlite.events("wave")[0]["answers"] is None


def test_another_plan_in_the_folder_is_left_alone(on_sqlite: Served, tmp_path: Path) -> None:
    for name in "abc":
        on_sqlite.taken(name)
    other = adaptive_folder(tmp_path / "other", ADAPTIVE.replace("wave = 3", "wave = 4"))
    text = (other / "plan.csv").read_bytes()
    (on_sqlite.folder / "plan.csv").write_bytes(text)
    with pytest.raises(BadInput, match=r"plan\.csv of the folder is not the plan that is served"):
        on_sqlite.dealer(never).look()
    assert (on_sqlite.folder / "plan.csv").read_bytes() == text


def test_two_processes_deal_one_wave(postgres_store: Callable[[], str], tmp_path: Path) -> None:
    with opened(postgres_store(), tmp_path / "study") as small, Store.open(address_of(small.store)) as second:
        for name in "abc":
            small.taken(name)
        began, go_on = threading.Event(), threading.Event()

        def slow(asked: Wanted, _stop: threading.Event) -> Wave:
            began.set()
            assert go_on.wait(30)
            return made(asked)

        found: list[list[str]] = []
        thread = threading.Thread(target=lambda: found.append(small.dealer(slow).look()))
        thread.start()
        assert began.wait(30)
        assert Dealer(second, small.version, run=never).look() == []
        go_on.set()
        thread.join(60)
        assert found == [["within"]]
        assert Dealer(second, small.version, run=never).look() == []
        assert len(small.events("wave")) == 1


def test_the_wave_of_a_process_is_that_of_this_one(on_sqlite: Served) -> None:
    frozen = on_sqlite.store.read_now(lambda c: on_sqlite.version(c, 1))
    plan = Plan.read(on_sqlite.folder / "plan.csv")
    asked = wanted(address_of(on_sqlite.store), on_sqlite.folder, frozen.study, plan, "within")
    there = in_process(asked, threading.Event())
    assert there.plan.frame.equals(made(asked).plan.frame)
    wrong = wanted(address_of(on_sqlite.store), on_sqlite.folder, frozen.study, plan, "elsewhere")
    with pytest.raises(CannotScore, match="no stage 'elsewhere'"):
        in_process(wrong, threading.Event())


def test_only_what_is_new_is_dealt_when_a_version_grows(small: Served) -> None:
    lease = small.taken("a")
    frozen = freeze(small.folder)
    plan = Plan.read(small.folder / "plan.csv")
    dealt = made(wanted(address_of(small.store), small.folder, frozen.study, plan, "within"))
    after = grown(frozen, with_wave(plan, dealt.plan))
    small.store.write_now(lambda c: deal(c, after, 2.0))
    assert [(version, state) for version, _, state in small.leases()] == [
        (1, "leased"), (1, "free"), (1, "free"), (2, "free"), (2, "free"), (2, "free"),
    ]  # fmt: skip
    kept = small.store.read_now(lambda c: claims.get(c, lease.id))
    assert kept is not None
    assert kept.version_id == 1
    assert small.store.read_now(lambda c: events.of_lease(c, lease.id)) == []
