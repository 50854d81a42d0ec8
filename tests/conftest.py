"""Fixtures that several rooms share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("PARAGONE_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """A path inside the folder of real data that lies beside the project; skips where a user's clone has none."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            if os.environ.get("CI") == "true":
                pytest.fail(f"real data missing: {name}; in CI they must be there")
            pytest.skip(f"real data not beside this clone: {name}")
        return path

    return find
