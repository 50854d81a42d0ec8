"""Pictures' names on a disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Filled = Callable[..., Path]


@pytest.fixture
def filled(tmp_path: Path) -> Filled:
    """Makes a folder of empty files; names are all that is read."""

    def fill(*names: str) -> Path:
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return tmp_path

    return fill
