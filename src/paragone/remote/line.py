"""`Line`: the connection under one try, which can be cut however slowly the other side drips."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

__all__ = ["Line"]


class Line:
    """The connection of one try, which can be cut from another thread."""

    def __init__(self) -> None:
        """No connection is made yet, and none is over."""
        self.made = self.over = False
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()

    def heard(self, event: str, info: Mapping[str, Any]) -> None:
        """What httpx tells while it works; a connection that comes too late is cut at once."""
        if not event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            return
        found = info["return_value"].get_extra_info("socket")
        with self._lock:
            self.made = True
            if isinstance(found, socket.socket):
                self._sockets.append(found)
        if self.over:
            self.cut()

    def cut(self) -> None:
        """End the connection; a read that waits on it ends too."""
        with self._lock:
            self.over = True
            for held in self._sockets:
                with suppress(OSError):
                    socket.socket.shutdown(held, socket.SHUT_RDWR)  # below TLS, which would wait for the other side
