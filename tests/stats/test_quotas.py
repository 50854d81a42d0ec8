"""Quotas on picks: what can be met, and what one more item leaves possible."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import BadInput
from paragone.stats.quotas import Quotas, Room, single_faults


def _met(level: np.ndarray, wanted: tuple[np.ndarray, ...], pick: tuple[int, ...]) -> bool:
    return all(
        np.array_equal(np.bincount(level[list(pick), f], minlength=len(numbers)), numbers)
        for f, numbers in enumerate(wanted)
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_what_can_be_met_is_what_some_pick_meets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 3, (7, 2))
    wanted = tuple(np.bincount(rng.integers(0, 3, 3), minlength=3) for _ in range(2))
    possible = any(_met(level, wanted, pick) for pick in itertools.combinations(range(7), 3))
    assert Room(7, 3, Quotas(level, wanted)).can_be_met() == possible


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_an_item_is_allowed_when_some_pick_that_holds_it_meets_the_quotas(seed: int) -> None:
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 2, (6, 3))
    wanted = tuple(np.array([k, 3 - k]) for k in rng.integers(0, 4, 3))
    room = Room(6, 3, Quotas(level, wanted))
    for item in range(6):
        possible = any(item in pick and _met(level, wanted, pick) for pick in itertools.combinations(range(6), 3))
        if item in room.candidates:
            assert room.allows(item) == possible
        else:
            assert not possible


def test_three_factors_that_can_be_met_one_by_one_may_exclude_each_other() -> None:
    level = np.array([[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1]])  # any two items agree in just one factor
    one = np.array([1, 1])
    room = Room(4, 2, Quotas(level, (one, one, one)))
    assert single_faults(Quotas(level, (one, one, one))) == []
    assert not room.can_be_met()


def test_levels_that_are_too_rare_are_named() -> None:
    quotas = Quotas(np.array([[0], [0], [1]]), (np.array([1, 2]),))
    assert single_faults(quotas) == [(0, 1, 2, 1)]


def test_an_impossible_item_leaves_the_candidates() -> None:
    room = Room(3, 1, Quotas(np.array([[0], [1], [1]]), (np.array([1, 0]),)))
    assert not room.allows(1)
    assert room.candidates.tolist() == [0]


@pytest.mark.parametrize(
    ("number", "quotas", "said"),
    [
        (4, None, "4 of 3 items cannot be picked"),
        (0, None, "0 of 3 items cannot be picked"),
        (2, Quotas(np.zeros((2, 1), dtype=np.int64), (np.array([2]),)), "a level >= 0 for each of 3 items"),
        (2, Quotas(np.zeros((3, 1), dtype=np.int64), (np.array([1]),)), "must name every level and sum to the 2 picks"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(number: int, quotas: Quotas | None, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Room(3, number, quotas)
