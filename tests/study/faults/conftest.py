"""The scenarios of benchmarks/study_faults.py, at the size of a test: its modules, and a small study."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))

from study_rig import study_folder
from study_servers import Forked, Local


@pytest.fixture(scope="session")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of sixty short sheets, to be copied."""
    return study_folder(
        tmp_path_factory.mktemp("faults") / "study", criteria=("overall",), sheets=60, trials=8, checks=1, repeats=0,
        methods=4, contents=2, platform="prolific",
    )  # fmt: skip


@pytest.fixture
def folder(planned: Path, tmp_path: Path) -> Path:
    """The study, for this test alone."""
    return Path(shutil.copytree(planned, tmp_path / "study"))


@pytest.fixture
def forked(folder: Path) -> Forked:
    """A server that can be killed."""
    return Forked(folder)


@pytest.fixture
def local(folder: Path, store_url: str) -> Callable[[], Local]:
    """Makes servers in threads, on a store of each kind; on one SQLite file only one at a time."""
    return lambda: Local(folder, store_url)
