"""Numbers as a reader sees them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.report.digits import count, decimals_for, fixed, joined, ranks, with_interval


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (0.73, 0.68, 0.78, "0.73 [0.68, 0.78]"),  # the example of the style guide
        (3.994, 3.701, 4.279, "3.99 [3.70, 4.28]"),
        (73.21, 70.1, 76.3, "73.2 [70.1, 76.3]"),
        (1234.4, 1000.0, 1500.0, "1\u202f234 [1\u202f000, 1\u202f500]"),
        (-0.024, -0.124, 0.076, "−0.02 [−0.12, 0.08]"),
        (0.5, None, None, "0.500"),
        (None, None, None, "–"),
        (math.nan, 0.0, 1.0, "–"),
    ],
)
def test_digits_follow_the_interval(value: float | None, low: float | None, high: float | None, shown: str) -> None:
    assert with_interval(value, low, high) == shown


@given(st.floats(1e-4, 1e4))
def test_half_an_interval_spans_5_to_50_steps_of_the_last_digit(half: float) -> None:
    steps = half * 10 ** decimals_for([half])
    assert steps >= 5 - 1e-6 or decimals_for([half]) == 6
    assert steps < 50 or decimals_for([half]) == 0


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_printed_number_reads_back_within_half_a_step(value: float, decimals: int) -> None:
    text = fixed(value, decimals)
    assert "-" not in text
    read = float(text.replace("−", "-").replace("\u202f", ""))
    assert abs(read - value) <= 0.5 * 10.0**-decimals * (1 + 1e-9)


def test_zero_has_no_sign() -> None:
    assert fixed(-0.0001, 2) == "0.00"


def test_a_column_takes_the_digits_of_its_median_interval() -> None:
    assert decimals_for([0.3, None, 0.05, math.nan, 4.0]) == 2
    assert decimals_for([]) == 0
    assert decimals_for([], [0.0123, 0.5, 20.0]) == 3


def test_ranks_that_the_data_cannot_tell_are_ranges() -> None:
    assert [ranks(1, 1), ranks(1, 3), ranks(None, 3)] == ["1", "1–3", "–"]


def test_counts_and_lists_read_as_english() -> None:
    assert count(1, "picture") == "1 picture"
    assert count(2320, "vote") == "2\u202f320 votes"
    assert count(None, "person", "people") == "an unknown number of people"
    assert [joined([]), joined(["a"]), joined(["a", "b", "c"])] == ["", "a", "a, b and c"]
