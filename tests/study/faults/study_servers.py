"""Study servers that start at once: in a thread, or in a process that was forked after everything was imported."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from served import served
from study_rig import Server

from paragone.study.frozen import freeze
from paragone.study.server.app import create_app
from paragone.study.server.launch import serve
from paragone.study.store import Store
from paragone.study.store.keys import read_keys

__all__ = ["Forked", "Local"]


class Local:
    """A study server in a thread of the test, with the manners of the rig's `Server`."""

    workers = 1

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url, self.port = folder, url, 0
        self.store: Store | None = None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Local:
        self.store = self._stack.enter_context(Store.open(self.url))
        app: Any = create_app(freeze(self.folder), self.store, read_keys(self.folder / "study.key"))
        self.port = urlsplit(self._stack.enter_context(served(app))).port or 0
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def answers(self) -> bool:
        """Whether it answers at this moment."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=10) as told:
            return bool(told.status == 200)


_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["paragone.study.server.launch"])


class Forked(Server):
    """`serve` in a process of its own that has imported everything before it was forked, so that it starts at once."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._folder = folder
        self._forked: Any = None

    def start(self, *, wait: bool = True) -> Forked:
        """Start it, and wait until it answers."""
        self._forked = _FORKS.Process(
            target=serve, args=(self._folder,), kwargs={"port": self.port, "quiet": True}, daemon=True
        )
        self._forked.start()
        deadline = time.monotonic() + 60
        while wait and not self.answers():
            if not self._forked.is_alive() or time.monotonic() > deadline:
                raise RuntimeError(f"the server does not answer: exit {self._forked.exitcode}")
            time.sleep(0.01)
        return self

    def kill(self) -> None:
        """SIGKILL."""
        self._forked.kill()
        self._forked.join()

    def stop(self) -> None:
        """End it."""
        self._forked.terminate()
        self._forked.join(15)
        self.kill()
