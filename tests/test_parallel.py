"""Work is spread without changing what comes out of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import joblib
import pytest

from paragone.errors import BadConfig
from paragone.parallel import spread, track


def _square(number: int) -> int:
    return number * number


def _process(_: int) -> int:
    return os.getpid()


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


@pytest.mark.parametrize(("cores", "pieces", "started"), [(2, 20, 2), (8, 3, 3), (400, 5, 5)])
@pytest.mark.parametrize("jobs", [99999, -1])
def test_no_more_processes_start_than_there_are_cores_or_pieces(
    jobs: int, cores: int, pieces: int, started: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def parallel(*, n_jobs: int, **_: object) -> Callable[[Iterable[Any]], list[int]]:
        asked.append(n_jobs)
        return lambda calls: [function(*args) for function, args, _ in calls]

    monkeypatch.setattr(joblib, "effective_n_jobs", lambda n_jobs: cores)
    monkeypatch.setattr(joblib, "Parallel", parallel)
    assert spread(_square, list(range(pieces)), jobs=jobs) == [number * number for number in range(pieces)]
    assert asked == [started]


def test_on_one_core_no_process_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joblib, "effective_n_jobs", lambda n_jobs: 1)
    assert spread(_process, [1, 2, 3], jobs=99999) == [os.getpid()] * 3


def test_a_hundred_thousand_jobs_on_this_machine_are_as_many_as_its_cores() -> None:
    found = set(spread(_process, list(range(40)), jobs=99999))
    assert 1 <= len(found) <= joblib.cpu_count()
