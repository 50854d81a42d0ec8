"""A study that is served beside what else a program does: for simulated participants, on this machine alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from ...errors import StoreError
from ..frozen import Frozen, freeze
from ..store import Store
from ..store.keys import Keys, read_keys
from .app import create_app
from .desk import ServerSettings

__all__ = ["Aside", "MovableClock", "served_aside"]

_PATIENCE = 60.0  # seconds until the server listens, or has stopped


class MovableClock:
    """The time of this machine, and what was added to it; it never goes back."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self._lock = threading.Lock()

    def __call__(self) -> float:
        """UTC epoch seconds."""
        return time.time() + self.ahead

    def move(self, until: float) -> None:
        """Let it be so late at least."""
        with self._lock:
            self.ahead += max(0.0, until - self())


@dataclass(frozen=True)
class Aside:
    """What is served."""

    address: str
    """Where it is found, with a slash at its end."""
    frozen: Frozen
    store: Store
    keys: Keys
    clock: MovableClock


@contextmanager
def served_aside(folder: Path, store_url: str) -> Iterator[Aside]:
    """Serve the study of a folder in a thread while the block runs.

    Args:
        folder: holds benchmark.toml, items.csv, study.toml, plan.csv and the pictures; gets study.key.
        store_url: where answers are kept.

    Raises:
        BadInput: whatever `freeze` and the store refuse.
        StoreError: the server did not start.
    """
    frozen = freeze(folder, rehearsal=True)
    keys, clock = read_keys(folder / "study.key"), MovableClock()
    with Store.open(store_url) as store:
        app = create_app(frozen, store, keys, ServerSettings(), clock=clock)
        config = uvicorn.Config(
            app, host="127.0.0.1", port=0, access_log=False, log_level="warning", server_header=False,
            proxy_headers=False, lifespan="on", ws="none", timeout_graceful_shutdown=1,
        )  # fmt: skip
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, name="paragone-aside", daemon=True)
        thread.start()
        try:
            port = _port(server, thread)
            yield Aside(f"http://127.0.0.1:{port}/", frozen, store, keys, clock)
        finally:
            server.should_exit = True
            thread.join(_PATIENCE)


def _port(server: uvicorn.Server, thread: threading.Thread) -> int:
    """The port that a server listens on, once it does."""
    late = time.monotonic() + _PATIENCE
    while not server.started:
        if not thread.is_alive() or time.monotonic() > late:
            raise StoreError("the study's server did not start on this machine; try paragone serve to see why")
        time.sleep(0.01)
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port
