"""The worst that missing sheets can do, against every choice of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.design.missing import least_possible, lost_sheets, worst_missing


def by_hand(counts: np.ndarray, missing: int) -> float:
    """Every choice of up to so many sheets."""
    worst = 0.0
    for size in range(missing + 1):
        for gone in itertools.combinations(range(len(counts)), size):
            left = np.delete(counts, gone, axis=0).sum(axis=0)
            if left.sum():
                worst = max(worst, float(np.abs(left / left.mean() - 1).max()))
    return worst


@given(st.integers(2, 7), st.integers(1, 5), st.integers(1, 3), st.integers(0, 9999), st.booleans())
@settings(max_examples=150, deadline=None)
def test_the_worst_is_that_of_all_choices(sheets: int, cells: int, missing: int, seed: int, even: bool) -> None:
    rng = np.random.default_rng(seed)
    missing = min(missing, sheets - 1)
    counts = rng.integers(1, 6, (sheets, cells))
    if even:  # all sheets equally long
        counts = np.stack([rng.multinomial(12, np.full(cells, 1 / cells)) for _ in range(sheets)])
    assert worst_missing(counts, missing) == pytest.approx(by_hand(counts, missing), abs=1e-9)


@given(st.integers(2, 12), st.integers(1, 6), st.integers(1, 4), st.integers(0, 9999))
@settings(max_examples=100, deadline=None)
def test_no_sharing_out_is_better_than_the_least_possible(sheets: int, cells: int, missing: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    missing = min(missing, sheets - 1)
    counts = np.stack([rng.multinomial(3 * cells, np.full(cells, 1 / cells)) for _ in range(sheets)])
    assert worst_missing(counts, missing) >= least_possible(counts.sum(axis=0), sheets, missing) - 1e-12


def test_counts_that_are_as_even_as_can_be_reach_the_least_possible() -> None:
    counts = np.array([[2, 1], [1, 2], [2, 1], [1, 2]])  # 6 of each on 4 sheets: 1 or 2 a sheet
    # without one sheet 4 of one and 5 of the other are left: 1/9 from the mean
    assert worst_missing(counts, 1) == pytest.approx(1 / 9)
    assert least_possible(counts.sum(axis=0), 4, 1) == pytest.approx(1 / 9)


def test_without_anything_left_there_is_no_number() -> None:
    assert math.isnan(worst_missing(np.ones((2, 3), dtype=np.int64), 2))
    assert math.isnan(worst_missing(np.zeros((3, 3), dtype=np.int64), 1))
    assert math.isnan(least_possible(np.ones(3, dtype=np.int64), 1, 1))


@pytest.mark.parametrize(("sheets", "lost"), [(1, 1), (19, 1), (20, 1), (21, 2), (122, 7), (142, 8), (264, 14)])
def test_five_percent_of_the_sheets_are_rounded_up(sheets: int, lost: int) -> None:
    assert lost_sheets(sheets) == lost
