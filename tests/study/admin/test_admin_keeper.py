"""Slow figures beside the pages: what is read, when it is computed again, and that looks are logged once."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import sqlalchemy as sa

from desk_visitor import Desk
from desk_world import World, dealt, fill, frozen_of
from paragone.errors import CannotScore
from paragone.study.admin import keeper as room
from paragone.study.admin.keeper import Keeper
from paragone.study.admin.live import Live, Material, compute
from paragone.study.admin.moment import Answers, counts, looks, material, moment
from paragone.study.admin.worker import in_process, pack, result, unpack
from paragone.study.frozen import Frozen
from paragone.study.store import Store, claims, people, versions
from paragone.study.store.tables import answer, event, lease


@pytest.fixture
def filled(store_url: str, tmp_path: Path, pairs_world: World) -> Iterator[tuple[Store, Frozen, int]]:
    """A store of each kind with 15 finished sheets and one half way."""
    frozen = frozen_of(pairs_world, tmp_path)
    with Store.open(store_url) as store:
        version = dealt(store, frozen)
        fill(store, frozen, pairs_world, finished=15)
        yield store, frozen, version


def test_a_moment_holds_every_lease_with_its_answers(filled: tuple[Store, Frozen, int]) -> None:
    store, frozen, version = filled
    at = store.read_now(lambda c: moment(c, frozen, version, 1.0))
    assert at.leases.height == 20
    assert at.leases["answered"].sum() == store.read_now(counts)[0] == 420
    assert at.leases.filter(pl.col("stage") == "1")["asked"].unique().to_list() == [28]
    assert at.leases["state"].value_counts(sort=True).rows() == [("complete", 15), ("free", 4), ("leased", 1)]
    assert at.people.height == 16
    assert set(at.events["kind"]) == {"consent", "device", "trials-begun", "finished"}
    assert at.events.filter(pl.col("kind") == "finished")["outcome"].unique().to_list() == ["completed"]
    assert not at.paused


def test_answers_are_read_once_and_again_when_some_are_gone(filled: tuple[Store, Frozen, int]) -> None:
    store, frozen, version = filled
    known = Answers()
    assert store.read_now(known.read).height == 420
    row = {"client_id": "late", "lease_id": 16, "participant_id": 16, "trial": "2-004-009", "criterion": "style",
           "revision": 0, "value": "left", "seconds": 3.0, "at": 5.0, "body": "{}"}  # fmt: skip
    store.write_now(lambda c: c.execute(answer.insert(), row))
    assert store.read_now(known.read).height == 421
    store.write_now(lambda c: people.forget(c, "p-0001", 9.0))
    frame = store.read_now(known.read)
    assert frame.height == 421 - 28
    assert "p-0001" not in frame["participant"].to_list()
    made = store.read_now(lambda c: material(c, known, lambda _c, _v: frozen, pl.DataFrame({"item": []}), 1.0, version))
    assert made.answers.height == frame.height


def test_what_is_excluded_or_left_does_not_count(filled: tuple[Store, Frozen, int]) -> None:
    store, frozen, version = filled
    store.write_now(lambda c: claims.exclude(c, 2, 9.0, who="ada", why="test"))
    store.write_now(lambda c: claims.abandon(c, 16, 9.0, why="test"))
    made = store.read_now(
        lambda c: material(c, Answers(), lambda _c, _v: frozen, pl.DataFrame({"item": []}), 1.0, version)
    )
    out = made.answers.filter(pl.col("excluded"))
    assert sorted(out["lease"].unique()) == [2, 16]
    assert made.answers.filter(pl.col("finished"))["lease"].n_unique() == 14


def test_answers_to_an_earlier_plan_are_answers_to_its_questions(
    filled: tuple[Store, Frozen, int], pairs_world: World
) -> None:
    store, frozen, version = filled
    swapped = frozen.plan.rename({"left": "right", "right": "left"}).select(frozen.plan.columns)
    other = Frozen(
        study=frozen.study, plan=swapped, pictures={}, words={}, practice={}, name="grid", criteria=frozen.criteria,
        simulated=False, folder=frozen.folder,
    )  # fmt: skip
    later = dealt(store, other)
    known = {version: frozen, later: other}
    items = pairs_world.benchmark.items
    made = store.read_now(lambda c: material(c, Answers(), lambda _c, v: known[v], items, 1.0, later))
    assert made.answers["trial"].str.starts_with(f"version {version}: ").all()
    found = compute(made, replicates=100)
    before = store.read_now(lambda c: material(c, Answers(), lambda _c, v: known[v], items, 1.0, version))
    expected = compute(before, replicates=100)
    assert [row.score.value for row in found.tables[0].rows] == pytest.approx(
        [row.score.value for row in expected.tables[0].rows]
    )
    assert all(row.target == 144 for row in found.asked if row.stage == "1")
    at = store.read_now(lambda c: moment(c, other, later, 1.0))
    assert at.present.filter(pl.col("version") == later).height == 20
    assert at.present.height == 20  # the new version asks all of them again


def test_a_version_that_need_not_ask_again_counts_what_was_asked(
    filled: tuple[Store, Frozen, int], pairs_world: World
) -> None:
    store, frozen, _ = filled
    study, plan, items, leases = frozen.parts
    later = store.write_now(lambda c: versions.freeze(c, study + " ", plan, items, leases[16:], 9.0))
    at = store.read_now(lambda c: moment(c, frozen, later, 1.0))
    assert at.present["state"].value_counts(sort=True).rows() == [("complete", 15), ("free", 4), ("leased", 1)]


def test_the_worker_gives_what_is_computed_here(pairs_world: World) -> None:
    made = pairs_world.material(pairs_world.answers.head(100))
    again = unpack(pack(made))
    assert again.study == made.study
    assert again.answers.equals(made.answers)
    there = in_process(made)
    assert there == compute(made)


def test_a_worker_that_fails_says_how(pairs_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made = pairs_world.material(pairs_world.answers.drop("trial"))
    with pytest.raises(CannotScore, match=r"the live figures could not be computed \(exit 1\): .*trial"):
        in_process(made)
    monkeypatch.setattr("paragone.study.admin.worker._SECONDS", 0.01)
    with pytest.raises(CannotScore, match="took longer than 0 s and were given up"):
        in_process(pairs_world.material())


def test_the_result_travels_whole(pairs_world: World) -> None:
    import msgspec

    live = compute(pairs_world.material(pairs_world.answers.head(100)), replicates=100)
    assert result(msgspec.msgpack.encode(live)) == live


class Counting:
    """Counts how often figures are computed."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, moment: Material) -> Live:
        self.times += 1
        return Live(at=moment.at, answers=moment.answers.height)


def test_figures_are_computed_again_when_something_is_new_and_not_before(
    filled: tuple[Store, Frozen, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, frozen, version = filled
    run = Counting()
    kept = Keeper(store, lambda _c, _v: frozen, lambda: version, pl.DataFrame({"item": []}), clock=lambda: 7.0, run=run)
    kept._turn = 0.0
    kept.watch()
    assert kept.due()
    assert kept.refresh().answers == 420
    assert not kept.due()
    later = [0.0]
    real = time.monotonic
    monkeypatch.setattr(room.time, "monotonic", lambda: real() + later[0])
    later[0] = 100.0
    assert not kept.due()  # nothing is new
    row = {
        "lease_id": 16,
        "participant_id": 16,
        "criterion": "style",
        "revision": 0,
        "value": "left",
        "at": 5.0,
        "body": "{}",
    }

    def more(first: int, last: int) -> None:
        rows = [{**row, "client_id": f"n{n}", "trial": f"n{n}"} for n in range(first, last)]
        store.write_now(lambda c: c.execute(answer.insert(), rows))

    more(0, 1)
    assert kept.due()  # one answer, and 30 seconds are over
    kept.refresh()
    later[0] = 110.0
    more(1, 100)
    assert not kept.due()  # 99 answers within ten seconds
    more(100, 201)
    assert kept.due()  # 200 answers
    later[0] = 101.0
    assert not kept.due()  # but never within five seconds
    kept.refresh()
    later[0] = 200.0
    store.write_now(lambda c: claims.exclude(c, 3, 9.0, who="ada", why="test"))
    assert kept.due()  # an exclusion changes what counts
    assert run.times == 3


def test_while_nobody_is_at_the_desk_only_looks_are_computed(
    filled: tuple[Store, Frozen, int], monkeypatch: pytest.MonkeyPatch, pairs_world: World
) -> None:
    store, frozen, version = filled
    live = compute(pairs_world.material(), replicates=100)
    kept = Keeper(store, lambda _c, _v: frozen, lambda: version, pl.DataFrame({"item": []}), run=lambda _: live)
    later = [0.0]
    real = time.monotonic
    monkeypatch.setattr(room.time, "monotonic", lambda: real() + later[0])
    kept._turn = 10.0
    assert not kept.due()  # a look is due, and another process may have its turn first
    later[0] = 11.0
    assert kept.due()
    kept.refresh()
    later[0] = 5000.0
    row = {"client_id": "n", "trial": "n", "lease_id": 16, "participant_id": 16, "criterion": "style", "revision": 0,
           "value": "left", "at": 5.0, "body": "{}"}  # fmt: skip
    store.write_now(lambda c: c.execute(answer.insert(), row))
    assert not kept.due()  # an answer is no look
    kept.watch()
    assert kept.due()
    later[0] = 7000.0
    assert not kept.due()  # they went home


def test_looks_that_are_due_are_logged_once_whatever_happens(
    tmp_path: Path, sqlite_store: Path, pairs_world: World
) -> None:
    shutil.copyfile(sqlite_store, tmp_path / "study.db")
    made = Desk(tmp_path, f"sqlite:///{tmp_path / 'study.db'}", pairs_world, finished=None, run=_known(pairs_world))
    made.office.keeper.refresh()
    made.office.keeper.refresh()
    found = made.store.read_now(looks)
    assert [(look.stage, look.number, look.finished, look.target) for look in found] == [
        ("1", 3, 12, 0.8),
        ("2", 2, 8, 0.95),
    ]
    assert set(found[0].bounds) == {"content", "style"}
    kinds = made.store.read_now(
        lambda c: c.execute(sa.select(sa.func.count()).where(event.c.kind == "admin.look")).scalar_one()
    )
    assert kinds == 2
    made.close()


def _known(world: World):
    live = compute(world.material(), replicates=100)
    return lambda moment: live


def test_a_failure_is_told_and_the_old_figures_stay(
    filled: tuple[Store, Frozen, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, frozen, version = filled
    monkeypatch.setattr(room, "_TICK", 0.01)
    fails = [False]

    def run(moment: Material) -> Live:
        if fails[0]:
            raise CannotScore("no luck")
        return Live(at=moment.at, answers=moment.answers.height)

    kept = Keeper(store, lambda _c, _v: frozen, lambda: version, pl.DataFrame({"item": []}), run=run)
    kept.refresh()
    fails[0] = True
    kept._seen, kept._began = None, -float("inf")
    kept.watch()
    kept.start()
    deadline = time.monotonic() + 10
    while not kept.failed and time.monotonic() < deadline:
        time.sleep(0.01)
    kept.stop()
    assert kept.failed == "no luck"
    assert kept.live is not None
    assert kept.live.answers == 420
    assert not kept.due()  # a minute's rest after a failure


def test_leases_of_the_store_have_the_states_the_desk_knows() -> None:
    from paragone.study.admin.pages import STATES
    from paragone.study.store.tables import LEASE_STATES

    assert set(STATES) == set(LEASE_STATES)
    assert lease.c.state is not None
