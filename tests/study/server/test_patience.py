"""Clients that do not come to the point, over real sockets."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from paragone.study.server.patience import PatientProtocol


class _Hasty(PatientProtocol):
    head_seconds = 0.4
    read_seconds = 0.4


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    size = 20_000_000 if scope["path"] == "/large" else 2
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(size).encode())]})
    for start in range(0, size, 100_000):
        part = b"x" * min(100_000, size - start)
        await send({"type": "http.response.body", "body": part, "more_body": start + len(part) < size})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    config = uvicorn.Config(_app, port=0, log_level="critical", http=_Hasty, lifespan="off", timeout_keep_alive=5)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(10)


def _closed_after(connection: socket.socket, *, most: float = 5.0) -> float:
    """Seconds until the server closes the connection."""
    began = time.monotonic()
    connection.settimeout(most)
    with contextlib.suppress(ConnectionResetError):
        while connection.recv(65536):
            pass
    return time.monotonic() - began


def _answered(connection: socket.socket) -> bool:
    got = b""
    while not got.endswith(b"\r\n\r\nxx"):
        part = connection.recv(1000)
        if not part:
            return False
        got += part
    return got.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_a_head_that_does_not_come_is_given_up(port: int, said: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(said)
        assert 0.2 < _closed_after(connection) < 3


_URL = b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n"
_HEADER = b"GET / HTTP/1.1\r\nX: " + b"a" * 20_000


@pytest.mark.parametrize(("part", "piece"), [(_URL, 30_000), (_URL, 700), (_HEADER, 700)])
def test_a_head_that_does_not_end_is_refused(port: int, part: bytes, piece: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        with contextlib.suppress(ConnectionError):
            for start in range(0, len(part), piece):
                connection.sendall(part[start : start + piece])
                time.sleep(0.002)
        connection.settimeout(3)
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1000).startswith(b"HTTP/1.1 400")
        assert _closed_after(connection) < 3


def test_many_small_headers_are_a_large_head_too(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 10_000)
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")


def test_a_head_of_twelve_kilobytes_is_heard_and_so_is_the_next(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for _ in range(3):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 12_000 + b"\r\n\r\n")
            assert _answered(connection)


def test_letter_by_letter_is_not_coming(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            for letter in b"GET / HTTP/1.1\r\nX-Slow: " + b"a" * 1000:
                connection.sendall(bytes([letter]))
                time.sleep(0.02)
        assert time.monotonic() - began < 3


def test_a_second_head_on_the_same_connection_is_awaited_no_longer(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert _answered(connection)
        time.sleep(0.6)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert _answered(connection), "a quiet connection stays open between requests"
        connection.sendall(b"GET / ")
        assert 0.2 < _closed_after(connection) < 3


def test_who_does_not_read_is_given_up_and_who_reads_gets_all(port: int) -> None:
    ask = b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(ask)
        time.sleep(1.5)
        got = 0
        with contextlib.suppress(ConnectionResetError):
            while part := connection.recv(1_000_000):
                got += len(part)
        assert got < 20_000_000
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(ask)
        got = 0
        while part := connection.recv(1_000_000):
            got += len(part)
        assert got > 20_000_000
