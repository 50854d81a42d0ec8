"""Several processes that serve one port: each with a socket of its own, watched by the one that started them.

On Linux the system deals new connections among the sockets (SO_REUSEPORT). With one socket for all of them, the process that
wakes up first takes every connection that waits, so that a class which comes in together is served by one process.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Any

import uvicorn

__all__ = ["run_several", "stream_socket"]

_SPAWN = multiprocessing.get_context("spawn")
_SOON = 10.0  # seconds: a process that ends sooner cannot start, and the next one waits a little
_PAUSES = (0.0, 0.5, 1.0, 2.0, 5.0)  # seconds before the next, by how many ended soon one after another
_log = logging.getLogger("paragone.study")


def run_several(app: str, workers: int, options: Mapping[str, Any], *, grace: float) -> None:
    """Run so many processes until a signal ends this one; start another for each that ends.

    The processes end when this one does, however it ends.

    Args:
        app: 'module:function' that returns the application, called in each process.
        workers: how many.
        options: of uvicorn; host and port among them.
        grace: seconds that a process gets to finish what it was asked.
    """
    with _reserved(options["host"], options["port"]) as reserved:
        shared = None if _deals() else reserved
        if shared is not None:
            shared.listen(2048)
        running = [_started(app, options, shared) for _ in range(workers)]
        since = [time.monotonic()] * workers
        soon = 0
        try:
            while True:
                wait([process.sentinel for process in running])
                for place, process in enumerate(running):
                    if process.is_alive():
                        continue
                    soon = soon + 1 if time.monotonic() - since[place] < _SOON else 0
                    _log.error("a server process ended (exit %s); another is started", process.exitcode)
                    time.sleep(_PAUSES[min(soon, len(_PAUSES) - 1)])
                    running[place], since[place] = _started(app, options, shared), time.monotonic()
        finally:
            for process in running:
                process.terminate()
            until = time.monotonic() + grace
            for process in running:
                process.join(max(0.0, until - time.monotonic()))
                process.kill()
                process.join()


def stream_socket(host: str) -> socket.socket:
    """A TCP socket of the host's family, not bound yet.

    It names its protocol: asyncio sends at once (TCP_NODELAY) only where that is known, and else every answer to a request
    of a few hundred bytes waits for the other side's delayed acknowledgement, 40 ms.
    """
    return socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)


def _started(app: str, options: Mapping[str, Any], shared: socket.socket | None) -> SpawnProcess:
    process = _SPAWN.Process(target=_serve, args=(app, dict(options), shared))
    process.start()
    return process


def _serve(app: str, options: dict[str, Any], shared: socket.socket | None) -> None:
    """The life of one process."""
    threading.Thread(target=_end_with_parent, name="paragone-parent", daemon=True).start()
    with shared or _reserved(options["host"], options["port"]) as own:
        uvicorn.Server(uvicorn.Config(app, factory=True, **options)).run(sockets=[own])


def _end_with_parent() -> None:
    """End this process as SIGTERM does when its parent is gone, so that no orphan keeps the port."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "started by run_several"
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _deals() -> bool:
    return sys.platform == "linux"


def _reserved(host: str, port: int) -> socket.socket:
    """A socket that is bound, beside others of ours."""
    made = stream_socket(host)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if _deals():
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        made.bind((host, port))
    except BaseException:
        made.close()
        raise
    return made
