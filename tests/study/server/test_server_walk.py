"""A participant walks through a study over HTTP, from the door to the code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from served import people_of, served
from study_folder import PAIRS, RATINGS, frozen_study

from paragone.study.client import Walker
from paragone.study.server.app import create_app
from paragone.study.store import Store, answers, claims, events
from paragone.study.store.keys import read_keys


@dataclass
class World:
    """A served study whose clock the test holds."""

    app: FastAPI
    store: Store
    address: str
    now: float = 1_000_000.0

    def rest(self, seconds: float) -> None:
        self.now += seconds

    def walker(self, http: httpx.Client, **options: Any) -> Walker:
        """A participant who knows the answers of training and checks."""
        made = Walker(http, self._right, rest=self.rest, **options)
        return made

    def _right(self, trial: dict[str, Any], criterion: str) -> tuple[str, float]:
        expected = self.expected(trial["id"])
        return expected or ("left" if trial["scale"] is None else "2.5"), 1.5

    def expected(self, public: str) -> str | None:
        for sitting in self.app.state.desk._sittings.values():
            if public in sitting.index:
                return sitting.trials[sitting.index[public]].expected
            if public in sitting.others:
                return sitting.frozen.practice[sitting.lease.stage][sitting.others[public][1]].expected
        return None


@pytest.fixture
def opened(store_url: str, tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Serves a study of some settings; once on each database."""
    import contextlib

    with contextlib.ExitStack() as stack:

        def serve(settings: str = PAIRS, **options: Any) -> World:
            frozen = frozen_study(tmp_path / "study", settings, **options)
            store = stack.enter_context(Store.open(store_url))
            world = World(None, store, "")  # type: ignore[arg-type]
            keys = read_keys(tmp_path / "study.key")
            world.app = create_app(frozen, store, keys, clock=lambda: world.now, keeps_house=False)
            world.address = stack.enter_context(served(world.app))
            return world

        yield serve


def test_a_participant_walks_from_the_door_to_the_code(opened: Callable[..., World]) -> None:
    world = opened()
    with people_of(world.address) as (http,):
        walker = world.walker(http)
        done = walker.walk(walker.enter())
        assert done["done"]["outcome"] == "completed"
        assert walker.state()["done"]["code"] == walker.codes[0]

        def stored(c: Any) -> tuple[int, str]:
            (lease,) = claims.leases_of(c, 1)
            return len(answers.of_lease(c, lease.id)), lease.state

        assert world.store.read_now(stored) == (8 * 2, "complete")
        kinds = [event.kind for event in world.store.read_now(lambda c: events.of_participant(c, 1))]
        assert kinds == [
            "consent", "device", "instructions", "tutorial", "training", "trials-begun", "break-ended", "questionnaire",
            "finished",
        ]  # fmt: skip


def test_sessions_of_a_rating_stage_follow_each_other(opened: Callable[..., World]) -> None:
    world = opened(RATINGS)
    with people_of(world.address) as (http,):
        walker = world.walker(http)
        first = walker.walk(walker.enter())
        assert first["done"]["next"]["session"] == 2
        state = walker.state()
        assert (state["phase"], state["session"]) == ("device", {"number": 2, "of": 2})
        walker.walk(state)
        assert walker.state()["phase"] == "done"
