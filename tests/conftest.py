"""Fixtures that several rooms share."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from installed import lacking

SHARED = Path(os.environ.get("PARAGONE_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """A path inside the folder of real data that lies beside the project; skips where a user's clone has none."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            lacking(f"real data not beside this clone: {name}")
        return path

    return find


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any connection that would leave this machine fails the test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        inside = isinstance(address, (str, bytes)) or str(address[0]) in ("127.0.0.1", "::1", "localhost")
        if not inside:
            raise RuntimeError(f"no network but loopback in tests: {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
