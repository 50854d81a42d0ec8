"""A small study that is being asked on this machine, with its store, its keys and a clock that tests may move."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from served import served
from study_folder import PAIRS, study_folder

from paragone.benchmark import Benchmark
from paragone.observers import latent_scores
from paragone.scores import Scores
from paragone.study.frozen import Frozen, freeze
from paragone.study.server.app import create_app
from paragone.study.server.desk import Desk, ServerSettings
from paragone.study.store import Store
from paragone.study.store.keys import Keys

__all__ = ["AskedStudy", "asked_study", "served_folder"]


@dataclass
class AskedStudy:
    """A served study."""

    address: str
    store: Store
    keys: Keys
    frozen: Frozen
    desk: Desk
    ahead: float = 0.0
    """Seconds by which the server's clock is ahead."""

    @property
    def latent(self) -> Scores:
        """True scores, invented."""
        return latent_scores(Benchmark.read(self.frozen.folder), seed=1)

    def one(self, query: str) -> object:
        """The first value that a query of the store gives."""
        return self.store.read_now(lambda c: c.exec_driver_sql(query).scalar())

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Everything that a query of the store gives."""
        return self.store.read_now(lambda c: [tuple(row) for row in c.exec_driver_sql(query)])


@contextlib.contextmanager
def asked_study(folder: Path, settings: str = PAIRS, *, lab: bool = False) -> Iterator[AskedStudy]:
    """The study of `study_folder`, served."""
    with served_folder(study_folder(folder / "study", settings), lab=lab) as here:
        yield here


@contextlib.contextmanager
def served_folder(folder: Path, *, lab: bool = False, keys: Keys | None = None) -> Iterator[AskedStudy]:
    """The study of a folder, served from a store beside it."""
    frozen = freeze(folder, rehearsal=True)
    keys = keys or Keys(b"k" * 32)
    held: list[AskedStudy] = []
    with Store.open(f"sqlite:///{folder / 'study.db'}") as store:

        def clock() -> float:
            return time.time() + (held[0].ahead if held else 0.0)

        app = create_app(frozen, store, keys, ServerSettings(lab=lab), clock=clock)
        with served(app) as address:
            held.append(AskedStudy(address, store, keys, frozen, app.state.desk))
            yield held[0]
