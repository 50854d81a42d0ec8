"""A study's application behind a real server on this machine, in a thread of the test."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import uvicorn

__all__ = ["people_of", "served"]


@contextlib.contextmanager
def served(app: Any) -> Iterator[str]:
    """Address of the application while the block runs."""
    config = uvicorn.Config(app, port=0, log_level="warning", access_log=False, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        if time.monotonic() > deadline or not thread.is_alive():
            raise RuntimeError("the test's server did not start")
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)


@contextlib.contextmanager
def people_of(address: str, n: int = 1) -> Iterator[list[httpx.Client]]:
    """So many browsers, each with cookies of its own."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(httpx.Client(base_url=address, timeout=20)) for _ in range(n)]
