"""Small studies as folders to work in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from command_line import Cli, call, rated_study, voted_study


@pytest.fixture
def cli() -> Cli:
    """Run the command line in this process."""
    return call


@pytest.fixture(scope="session")
def voted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with pictures, and in `bench` a benchmark with a plan and simulated votes on two criteria."""
    root = tmp_path_factory.mktemp("voted")
    voted_study(root)
    return root


@pytest.fixture(scope="session")
def rated(voted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same pictures with simulated ratings from 1 to 5."""
    root = tmp_path_factory.mktemp("rated")
    shutil.copytree(voted, root, dirs_exist_ok=True)
    rated_study(root)
    return root


def _entered(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "study"
    shutil.copytree(source, root)
    monkeypatch.chdir(root / "bench")
    return root / "bench"


@pytest.fixture
def votes_here(voted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh copy of the voted benchmark as the current folder."""
    return _entered(voted, tmp_path, monkeypatch)


@pytest.fixture
def ratings_here(rated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh copy of the rated benchmark as the current folder."""
    return _entered(rated, tmp_path, monkeypatch)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
