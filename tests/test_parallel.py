"""Work is spread without changing what comes out of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paragone.errors import BadConfig
from paragone.parallel import spread, track


def _square(number: int) -> int:
    return number * number


def _folder(_: int) -> str:
    return os.getcwd()


@pytest.mark.parametrize("jobs", [1, 2, -1])
def test_results_come_in_order_for_any_number_of_jobs(jobs: int) -> None:
    assert spread(_square, list(range(20)), jobs=jobs) == [number * number for number in range(20)]


def test_workers_stand_where_their_caller_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spread(_folder, [1, 2, 3], jobs=2)
    monkeypatch.chdir(tmp_path)
    assert {Path(folder).resolve() for folder in spread(_folder, [1, 2, 3], jobs=2)} == {tmp_path.resolve()}


def test_no_processes_at_all_are_refused() -> None:
    with pytest.raises(BadConfig, match="jobs is 0; give the number of processes"):
        spread(_square, [1, 2], jobs=0)


def test_a_bar_changes_nothing() -> None:
    assert list(track([1, 2, 3], "counting")) == [1, 2, 3]
    assert list(track(iter("ab"), "counting", total=2, quiet=True)) == ["a", "b"]
