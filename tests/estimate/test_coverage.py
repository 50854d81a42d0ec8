"""Intervals hold the truth about as often as they claim; the full study is benchmarks/study_coverage.py."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

STUDY = Path(__file__).resolve().parents[2] / "benchmarks" / "study_coverage.py"


@pytest.fixture(scope="module")
def study() -> ModuleType:
    """The simulation itself, so that test and study cannot drift apart."""
    spec = importlib.util.spec_from_file_location("study_coverage", STUDY)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "intervals", "simulations"),
    [
        ("bradley-terry", "analytic", 200),
        ("mos", "analytic", 200),
        ("bradley-terry", "bootstrap", 60),
        ("mos", "bootstrap", 60),
    ],
)
def test_coverage_is_between_92_and_98_percent(study: ModuleType, name: str, intervals: str, simulations: int) -> None:
    share, _, failed = study.coverage(name, intervals, simulations)
    assert failed == 0
    assert 0.92 <= share <= 0.98
