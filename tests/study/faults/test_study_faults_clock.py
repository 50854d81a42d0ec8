"""The server's clock jumps, forwards and back, while people answer: nobody is lost, nothing is waited for twice."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest
import sqlalchemy as sa
from served import served
from study_crowd import Journal, Rude
from study_folder import HEAD, PAIRS, RATINGS, frozen_study

from paragone.study.client import Walker
from paragone.study.server.app import create_app
from paragone.study.store import Store, answers, claims
from paragone.study.store.keys import Keys
from paragone.study.store.tables import lease

_START = 1_800_000_000.0
_DAY = 86_400.0
_JUMPS = (0.0, 0.5, -0.5, 3600.0, -3600.0, 400 * _DAY, -400 * _DAY)
_CALM = HEAD + "[training]\nauto = 0\n"


class Clock:
    """A clock that may jump whenever it is asked.

    Args:
        rng: when and how far.
        often: share of times.
    """

    def __init__(self, rng: random.Random, often: float) -> None:
        self.now, self._rng, self._often = _START, rng, often

    def __call__(self) -> float:
        self.now += 0.01
        if self._rng.random() < self._often:
            self.now += self._rng.choice(_JUMPS)
        return self.now


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("settings", [PAIRS, RATINGS], ids=["pairs", "ratings"])
def test_whoever_answers_while_the_clock_jumps_comes_to_the_end(
    tmp_path: Path, store_url: str, settings: str, seed: int
) -> None:
    rng = random.Random(seed)
    clock = Clock(rng, 0.2)
    frozen = frozen_study(tmp_path / "study", settings, head=_CALM)
    breaks: list[float] = []

    def rest(seconds: float) -> None:
        breaks.append(seconds)
        clock.now += seconds

    values = ("left", "right") if settings == PAIRS else ("1.5", "4")
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(Store.open(store_url))
        address = stack.enter_context(
            served(create_app(frozen, store, Keys(bytes(32)), clock=clock, keeps_house=False))
        )
        people = [Rude([int(address.rpartition(":")[2])], Journal(), rng) for _ in range(3)]
        for one in people:
            stack.callback(one.close)
        walkers = [Walker(one, lambda _t, _c: (rng.choice(values), 1.0), rest=rest) for one in people]
        states = [walker.enter() for walker in walkers]
        for _ in range(600):
            for number, walker in enumerate(walkers):
                states[number] = walker.go(states[number]) if states[number]["phase"] != "done" else walker.state()
            if rng.random() < 0.3:
                store.write_now(lambda c: claims.sweep(c, clock(), 2700.0))
            if all(len(walker.codes) == (1 if settings == PAIRS else 2) for walker in walkers):
                break
        leases = store.read_now(lambda c: list(c.execute(sa.select(lease).where(lease.c.participant_id.is_not(None)))))
        rows = [row for one in leases for row in store.read_now(lambda c, one=one: answers.of_lease(c, one.id))]
    assert [state["phase"] for state in states] == ["done"] * 3
    assert {one.state for one in leases} <= {"complete", "excluded"}
    assert len(leases) == 3
    given = {one["id"]: one["value"] for walker in walkers for one in walker.acknowledged}
    assert {row.client_id: row.value for row in rows} == given
    assert len(rows) == sum(len(s.trials) for o in leases for s in frozen.sheets(o.stage, o.owner)) * 2
    assert all(0 <= seconds <= 30 for seconds in breaks), "no jump makes a break longer than it is"
