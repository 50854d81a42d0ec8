"""Small studies that several tests of the desk read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from desk_visitor import Desk
from desk_world import World, answered, pairs_study, ratings_study
from paragone.observers import Observers
from paragone.study.admin.live import Live, Material, compute


@pytest.fixture(scope="session")
def pairs_world() -> World:
    """Two stages of pairs; three people in twenty do not look."""
    return answered(pairs_study(), Observers(careless=0.15, temperature=0.3))


@pytest.fixture(scope="session")
def ratings_world() -> World:
    """One stage of ratings."""
    return answered(ratings_study(), Observers())


@pytest.fixture(scope="session")
def attentive_world() -> World:
    """Two stages of pairs answered without a slip."""
    return answered(pairs_study(), Observers(lapse=0.0, temperature=0.001, taste_sd=0.0, left_bias_sd=0.0))


_KNOWN: dict[int, Live] = {}


def quick(material: Material) -> Live:
    """The slow figures with few resamples, in this process; the same answers are computed once."""
    key = int(material.answers.drop("at").hash_rows().sum())
    if key not in _KNOWN:
        _KNOWN[key] = compute(material, replicates=100)
    return replace(_KNOWN[key], at=material.at)


@pytest.fixture
def desk(tmp_path: Path, sqlite_store: Path, pairs_world: World) -> Iterator[Desk]:
    """Two stages of pairs, 15 of 20 sheets finished and one half way."""
    shutil.copyfile(sqlite_store, tmp_path / "study.db")
    made = Desk(tmp_path, f"sqlite:///{tmp_path / 'study.db'}", pairs_world, finished=15, run=quick)
    yield made
    made.close()


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory, sqlite_store: Path, pairs_world: World) -> Iterator[Desk]:
    """The same, computed once and shared by tests that change nothing."""
    folder = tmp_path_factory.mktemp("still")
    shutil.copyfile(sqlite_store, folder / "study.db")
    made = Desk(folder, f"sqlite:///{folder / 'study.db'}", pairs_world, finished=15, run=quick)
    made.office.keeper.refresh()
    yield made
    made.close()
