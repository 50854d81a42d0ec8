"""A lean load generator: HTTP/1.1 on raw sockets, kept alive, many connections in one process.

It costs some 50 us a request, so that on two CPUs the server under test has nearly all of one and a half for itself.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import random
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["TIMED_OUT", "Heard", "Outcome", "Seat", "Wire", "answer_request", "answering", "hammer", "request"]

TIMED_OUT = 2.0  # seconds, as wrk counts; the request goes on and its time is counted
_GIVEN_UP = 30.0
_HEAD = (
    "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 "
    "(KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36\r\nAccept: */*\r\nAccept-Language: en-GB,en;q=0.9\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\nOrigin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n"
    "Sec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\nReferer: http://127.0.0.1:{port}/\r\nConnection: keep-alive\r\n"
)


class Heard(NamedTuple):
    """An answer."""

    status: int
    head: bytes
    body: bytes


class Wire(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._parts = bytearray()
        self._head = b""
        self._left = -1
        self._waits: asyncio.Future[Heard] | None = None

    @classmethod
    async def to(cls, port: int) -> Wire:
        """Connect to this machine."""
        _, wire = await asyncio.get_running_loop().create_connection(cls, "127.0.0.1", port)
        return wire

    def ask(self, request: bytes) -> asyncio.Future[Heard]:
        """Send a request; the future gets the answer."""
        assert self._transport is not None
        self._waits = asyncio.get_running_loop().create_future()
        if self.closed:
            self._waits.set_exception(ConnectionError("closed"))
        else:
            self._transport.write(request)
        return self._waits

    @property
    def closed(self) -> bool:
        """Nothing can be asked any more."""
        return self._transport is None or self._transport.is_closing()

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parts += data
        if self._left < 0:
            end = self._parts.find(b"\r\n\r\n")
            if end < 0:
                return
            self._head = bytes(self._parts[:end])
            del self._parts[: end + 4]
            at = self._head.lower().find(b"content-length:")
            self._left = int(self._head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(self._parts) >= self._left:
            heard = Heard(int(self._head[9:12]), self._head, bytes(self._parts))
            self._parts.clear()
            self._left = -1
            if self._head.startswith(b"HTTP/1.0") or b"connection: close" in self._head.lower():
                self.close()  # the server is going to
            if self._waits is not None and not self._waits.done():
                self._waits.set_result(heard)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waits is not None and not self._waits.done():
            self._waits.set_exception(exc or ConnectionError("the server hung up"))


@dataclass
class Outcome:
    """What came of a run."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    """Seconds of each request that was answered as it should be."""
    wrong: dict[str, int] = field(default_factory=dict)
    """Everything else, by what it was."""
    timed_out: int = 0
    """Requests that took longer than `TIMED_OUT`."""
    n_bytes: int = 0
    """Of the bodies that came."""
    n_stored: int = 0
    """Answers that were stored by the requests that count."""
    n_acknowledged: int = 0
    """Answers that were stored by all requests, those before the counting too."""

    @property
    def per_second(self) -> float:
        """Requests per second."""
        return len(self.times) / self.seconds

    def quantile(self, share: float) -> float:
        """Milliseconds within which that share of the requests was answered."""
        ordered = sorted(self.times)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


async def hammer(
    port: int,
    connections: Sequence[Callable[[], bytes | None]],
    seconds: float,
    *,
    good: tuple[int, ...] = (200, 201),
    warm: int = 0,
    begin: Callable[[], None] = lambda: None,
    end: Callable[[], None] = lambda: None,
) -> Outcome:
    """Send requests on many connections, one at a time on each, and return what came of them.

    Args:
        port: on this machine.
        connections: one maker of requests for each connection; it returns None when it has no more.
        seconds: how long is counted; infinite: until no connection has any more.
        good: statuses that count.
        warm: requests on each connection before the counting begins.
        begin, end: called when the counting begins and ends.
    """
    outcome = Outcome()
    wires = list(await asyncio.gather(*(Wire.to(port) for _ in connections)))
    cold = len(wires)
    start = stop = math.inf

    async def one(number: int, make: Callable[[], bytes | None]) -> None:
        nonlocal cold, start, stop
        for turn in itertools.count():
            if turn == warm:
                cold -= 1
                if not cold:
                    begin()
                    start = time.perf_counter()
                    stop = start + seconds
            sent = time.perf_counter()
            request = make() if sent < stop else None
            if request is None:
                return
            said = ""
            try:
                if wires[number].closed:
                    wires[number] = await Wire.to(port)
                heard = await asyncio.wait_for(wires[number].ask(request), _GIVEN_UP)
                said = "" if heard.status in good else str(heard.status)
            except (OSError, TimeoutError) as error:
                said = type(error).__name__
                wires[number].close()
            now = time.perf_counter()
            stored = 0 if said else heard.body.count(b'"stored"')
            outcome.n_acknowledged += stored
            if not start <= now < stop:
                continue
            outcome.n_stored += stored
            outcome.timed_out += now - sent > TIMED_OUT
            if said:
                outcome.wrong[said] = outcome.wrong.get(said, 0) + 1
            else:
                outcome.times.append(now - sent)
                outcome.n_bytes += len(heard.body)

    async def watch() -> None:
        while time.perf_counter() < stop and not all(task.done() for task in tasks):
            await asyncio.sleep(0.005)
        end()
        outcome.seconds = time.perf_counter() - start

    tasks = [asyncio.create_task(one(*pair)) for pair in enumerate(connections)]
    await asyncio.gather(watch(), *tasks)
    for wire in wires:
        wire.close()
    return outcome


@dataclass
class Seat:
    """A participant in the middle of a sheet."""

    token: str
    trials: Sequence[str] = ()
    """Public ids of the trials, in their order."""
    done: int = 0
    """Answers that were sent."""


def answering(
    port: int, seats: Sequence[Seat], criteria: Sequence[str], *, together: bool = False, state: bool = False
) -> Callable[[], bytes | None]:
    """Return a maker of requests that answers the sheets of some participants in turn.

    Args:
        port: of the server.
        seats: they take turns, so that each stays below the session's limit of answers a second.
        criteria: what is asked in each trial.
        together: all criteria in one request, else one after the other.
        state: ask for the state after each trial, as the page does.
    """
    turn = itertools.cycle(seats)
    left: list[bytes] = []

    def make() -> bytes | None:
        if left:
            return left.pop()
        for _ in seats:
            seat = next(turn)
            place, part = divmod(seat.done, len(criteria))
            if place == len(seat.trials):
                continue
            asked = criteria if together and not part else criteria[part : part + 1]
            seat.done += len(asked)
            if state and not seat.done % len(criteria):
                left.append(request(port, "GET", "/api/state", token=seat.token))
            return answer_request(port, seat.token, seat.trials[place], asked, first=part)
        return None

    return make


def answer_request(port: int, token: str, trial: str, criteria: Sequence[str], *, first: int = 0) -> bytes:
    """A request with one answer to each criterion, as the participant's page sends it."""
    answers = [
        {
            "id": str(uuid.UUID(int=random.getrandbits(128), version=4)),  # uuid4() would ask the system each time
            "trial": trial, "criterion": name, "revision": 0, "value": "left", "seconds": 2.134,
            "body": {"onset_ms": 81234, "load_ms": 44, "input": "key", "hidden_ms": 0, "exact": True, "scale": 1,
            "zoom": 0, "order": order},
        }
        for order, name in enumerate(criteria, first)
    ]  # fmt: skip
    return request(port, "POST", "/api/answers", token=token, body={"answers": answers})


def request(
    port: int, method: str, path: str, *, token: str = "", cookie: str = "", body: object = None, form: bool = False
) -> bytes:
    """A request as a browser sends it; its body goes as JSON, or as it is where it is a form."""
    head = _HEAD.format(method=method, path=path, port=port)
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    if cookie:
        head += f"Cookie: {cookie}\r\n"
    if body is None:
        return f"{head}\r\n".encode()
    content = str(body).encode() if form else json.dumps(body, separators=(",", ":")).encode()
    kind = "application/x-www-form-urlencoded" if form else "application/json"
    return f"{head}Content-Type: {kind}\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content
