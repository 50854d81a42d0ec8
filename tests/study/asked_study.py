"""A small study that is being asked on this machine, with its store, its keys and a clock that tests may move."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx
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

__all__ = ["AskedStudy", "Sent", "asked_study", "served_folder"]


class Sent(NamedTuple):
    """One answer of the server, whole."""

    method: str
    path: str
    status: int
    headers: str
    body: bytes


@dataclass
class AskedStudy:
    """A served study."""

    address: str
    store: Store
    keys: Keys
    frozen: Frozen
    desk: Desk
    sent: list[Sent] = field(default_factory=list)
    """Everything that went out."""
    closing: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    ahead: float = 0.0
    """Seconds by which the server's clock is ahead."""

    @property
    def latent(self) -> Scores:
        """True scores, invented."""
        return latent_scores(Benchmark.read(self.frozen.folder), seed=1)

    def browser(self) -> httpx.Client:
        """An HTTP client with cookies of its own, closed with the study."""
        made = httpx.Client(base_url=self.address, timeout=20)
        self.closing.callback(made.close)
        return made

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
        sent: list[Sent] = []
        with served(_Recorded(app, sent)) as address:
            held.append(AskedStudy(address, store, keys, frozen, app.state.desk, sent))
            with held[0].closing:
                yield held[0]


class _Recorded:
    """An application whose answers are kept."""

    def __init__(self, app: Any, sent: list[Sent]) -> None:
        self.app, self.sent = app, sent

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, headers, body = 0, "", b""

        async def kept(message: Any) -> None:
            nonlocal status, headers, body
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = "\n".join(f"{k.decode()}: {v.decode()}" for k, v in message["headers"])
            else:
                body += message.get("body", b"")
            await send(message)

        await self.app(scope, receive, kept)
        self.sent.append(Sent(scope["method"], scope["path"], status, headers, body))
