"""A connection ends when its time is over."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time

import pytest

from paragone.remote.line import Line
from remote.asking import ask


@pytest.mark.parametrize("drips", [b"HTTP/1.1 200 OK\r\nx: ", b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n"])
def test_a_service_that_drips_is_given_up_in_time(drips: bytes) -> None:
    ended = threading.Event()

    def drip(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection, contextlib.suppress(OSError):
            connection.recv(1 << 16)
            connection.sendall(drips)
            for _ in range(1000):
                connection.sendall(b"a")
                time.sleep(0.02)
        ended.set()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=drip, args=(server,), daemon=True).start()
        began = time.monotonic()
        answer = ask(f"http://127.0.0.1:{server.getsockname()[1]}", timeout_s=0.4, tries=1, price=1.0)
        assert time.monotonic() - began < 3
    assert re.fullmatch("no (whole )?answer in 0.4 s", answer.reason)
    assert answer.cost == 1.0
    assert ended.wait(5)  # the connection was cut, not left behind


class _Held:
    """What httpx hands out of a connection."""

    def __init__(self, held: socket.socket) -> None:
        self.held = held

    def get_extra_info(self, name: str) -> socket.socket | None:
        return self.held if name == "socket" else None


def test_a_connection_that_comes_after_the_end_is_cut_at_once() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line = Line()
        line.heard("connection.connect_tcp.started", {})
        assert not line.made
        line.cut()
        line.heard("connection.connect_tcp.complete", {"return_value": _Held(ours)})
        assert line.made
        assert line.over
        theirs.settimeout(5)
        assert theirs.recv(1) == b""
