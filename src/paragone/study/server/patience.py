"""How long the server waits for a client: for the head of a request, and for the reading of an answer.

The guard gives up on bodies that do not come; what comes before a request is whole never reaches it. A few hundred
connections that send a letter a minute would otherwise hold all of a process's.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["PatientProtocol"]


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 with two deadlines; give it to `uvicorn.Config(http=PatientProtocol)`."""

    head_seconds = 15.0
    """For the head of a request, from the connection or its first byte on."""
    read_seconds = 60.0
    """For a client that has stopped reading an answer, from the moment the buffers are full."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there: its request is awaited."""
        super().connection_made(transport)
        self._head = self.loop.call_later(self.head_seconds, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Bytes came: of a head that is whole, or of one that is awaited from here on."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            _stop(self._head)
            self._head = None
        elif self._head is None and (before is None or before.response_complete):
            self._head = self.loop.call_later(self.head_seconds, self.transport.abort)

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
