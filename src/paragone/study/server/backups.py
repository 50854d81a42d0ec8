"""Copies of the store while it is served: one an hour, the last 24 kept."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import ParagoneError
from ..store import backup

__all__ = ["keeps_backups", "pruned"]

_EVERY_SECONDS = 3600.0
_KEPT = 24
_PATIENCE = 60.0  # seconds that a copy under way gets when the server stops
_NAME = re.compile(r"\d{8}T\d{6}Z\.zip")
_log = logging.getLogger("paragone.study")


@contextmanager
def keeps_backups(
    address: str, folder: Path, *, every: float = _EVERY_SECONDS, kept: int = _KEPT
) -> Iterator[threading.Thread]:
    """While the block runs, copy a store to a folder every so often.

    A copy that fails is told to the log and tried again the next time; the study goes on.

    Args:
        address: the store's URL.
        folder: where copies go, named by the UTC time.
        every: seconds between two copies.
        kept: how many are kept.
    """
    over = threading.Event()

    def run() -> None:
        while not over.wait(every):
            try:
                folder.mkdir(exist_ok=True)
                backup.backup(address, folder / time.strftime("%Y%m%dT%H%M%SZ.zip", time.gmtime()))
                pruned(folder, kept)
            except (ParagoneError, OSError) as error:
                _log.error("backup: %s", error)

    thread = threading.Thread(target=run, name="backups", daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        over.set()
        thread.join(_PATIENCE)


def pruned(folder: Path, kept: int = _KEPT) -> list[Path]:
    """Delete all but the newest copies that `keeps_backups` made, and return what was deleted; other files stay."""
    made = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    old = made[: max(0, len(made) - kept)]
    for path in old:
        path.unlink()
    return old
