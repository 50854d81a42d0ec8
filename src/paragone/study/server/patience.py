"""How long the server waits for a client, and how much it listens to: the head of a request, and the reading of an answer.

The guard gives up on bodies that do not come; what comes before a request is whole never reaches it. A few hundred
connections that send a letter a minute would otherwise hold all of a process's. The parser is uvicorn's in C (httptools):
the other one, in Python, is a third of the processor time that an answer to a trial takes.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["PatientProtocol"]

_TOO_LARGE = "The head of the request is too large."


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 with two deadlines and a limit; give it to `uvicorn.Config(http=PatientProtocol)`."""

    head_seconds = 15.0
    """For the head of a request, from the connection or its first byte on."""
    read_seconds = 60.0
    """For a client that has stopped reading an answer, from the moment the buffers are full."""
    head_bytes = 16 * 1024
    """Most bytes of a head; the parser itself would go on for ever."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._in_head = False
        self._n_head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there: its request is awaited."""
        super().connection_made(transport)
        self._head = self.loop.call_later(self.head_seconds, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Bytes came: of a head that is whole, or of one that is awaited from here on."""
        before = self.cycle
        if self._in_head:
            self._n_head += len(data)  # what a header has so far is not told before its end
        if self._in_head and self._n_head > self.head_bytes:
            self.send_400_response(_TOO_LARGE)
            return
        super().data_received(data)
        if self.cycle is not before:
            _stop(self._head)
            self._head = None
        elif self._head is None and (before is None or before.response_complete):
            self._head = self.loop.call_later(self.head_seconds, self.transport.abort)

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._in_head, self._n_head = True, 0

    def on_url(self, url: bytes) -> None:
        """A part of the address, of which a long one has several."""
        super().on_url(url)
        self._counted(len(self.url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header."""
        super().on_header(name, value)
        self._n_head += len(name) + len(value)
        self._counted(self._n_head)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._in_head = False
        super().on_headers_complete()

    def _counted(self, n: int) -> None:
        if n > self.head_bytes:
            raise ValueError(_TOO_LARGE)  # the parser's caller answers 400 and closes

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        super().pause_writing()
        self._reading = self._reading or self.loop.call_later(self.read_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read again."""
        super().resume_writing()
        _stop(self._reading)
        self._reading = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is awaited any more."""
        _stop(self._head)
        _stop(self._reading)
        super().connection_lost(exc)


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
