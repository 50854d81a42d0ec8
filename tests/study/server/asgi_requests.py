"""Requests to an ASGI application in this process, down to single messages where that matters."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

App = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]
]


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    scope: dict[str, Any] = field(default_factory=dict)
    """The server's own scope, as its access log sees it afterwards."""
    error: BaseException | None = None
    """What the application raised after (or instead of) answering."""

    def __getitem__(self, name: str) -> str:
        return ", ".join(value for key, value in self.headers if key == name)

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


def request(
    app: App,
    method: str = "GET",
    path: str = "/",
    *,
    query: bytes = b"",
    headers: Iterable[tuple[str, str]] | Mapping[str, str] = (),
    body: bytes | Iterable[bytes] | None = None,
    host: str | None = "localhost:8000",
    peer: str = "127.0.0.1",
    scheme: str = "http",
    stall: bool = False,
) -> Answer:
    """Send one request and return what came back.

    `body` as bytes comes with a content-length, as parts without one; `stall` never sends the last part.
    """
    pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
    if host is not None:
        pairs = [("host", host), *pairs]
    parts = [body] if isinstance(body, bytes) else list(body or [])
    if isinstance(body, bytes) and not any(name.lower() == "content-length" for name, _ in pairs):
        pairs.append(("content-length", str(len(body))))
    elif body is not None and not isinstance(body, bytes):
        pairs.append(("transfer-encoding", "chunked"))
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": scheme,
        "path": path,
        "raw_path": path.encode("utf-8", "surrogateescape"),
        "root_path": "",
        "query_string": query,
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs],
        "client": (peer, 50000),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }
    answer = Answer(scope=scope)
    waiting = list(parts)

    async def receive() -> dict[str, Any]:
        if waiting:
            part = waiting.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(waiting) or stall}
        if stall:
            await asyncio.sleep(3600)
        if not parts and not answer.status:
            parts.append(b"")
            return {"type": "http.request", "body": b"", "more_body": False}
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]]
        elif message["type"] == "http.response.body":
            answer.body += message.get("body", b"")

    async def run() -> None:
        (raised,) = await asyncio.gather(app(scope, receive, send), return_exceptions=True)
        answer.error = raised

    asyncio.run(run())
    return answer
