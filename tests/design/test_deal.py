"""Dealing, sides and order as kernels."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.design.deal import balanced_sides, dealt, ordered, reserved


def test_equal_pairs_are_moved_to_different_sheets() -> None:
    pair = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    sheet = dealt(pair, 2, np.random.default_rng(0))
    assert sheet is not None
    assert sorted(pair[sheet == 0].tolist()) == sorted(pair[sheet == 1].tolist()) == [0, 1, 2, 3]


def test_what_cannot_be_dealt_is_none() -> None:
    assert dealt(np.zeros(4, dtype=np.int64), 2, np.random.default_rng(0)) is None


@given(st.integers(1, 40), st.integers(0, 12), st.integers(1, 12), st.integers(0, 999))
@settings(max_examples=100, deadline=None)
def test_places_for_repeats_are_distinct_and_far_enough(main: int, repeats: int, distance: int, seed: int) -> None:
    main = max(main, repeats, distance)
    first, second = reserved(main + repeats, repeats, distance, np.random.default_rng(seed))
    assert len({*first.tolist(), *second.tolist()}) == 2 * repeats
    assert (second - first >= distance).all()
    assert ((first >= 0) & (second < main + repeats)).all()


@given(st.integers(4, 30), st.integers(0, 4), st.integers(0, 999))
@settings(max_examples=50, deadline=None)
def test_an_order_shows_every_trial_and_repeats_the_chosen_ones(n: int, repeats: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shown = rng.integers(0, 8, (n, 4)) + np.array([0, 0, 10, 10])
    repeated = np.sort(rng.permutation(n)[: min(repeats, n)])
    places, again = ordered(shown, repeated, 2, rng)
    assert sorted(places[~again].tolist()) == list(range(n))
    assert sorted(places[again].tolist()) == repeated.tolist()


@given(st.integers(1, 200), st.integers(1, 30), st.integers(0, 999))
@settings(max_examples=50, deadline=None)
def test_slots_of_a_pair_take_opposite_sides(n: int, n_pairs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pair = rng.integers(0, n_pairs, n)
    swap = balanced_sides(pair, rng.integers(0, 9, (n, 2, 2)), np.zeros(9, int), np.zeros(n, int), rng)
    assert np.abs(np.bincount(pair, weights=2.0 * swap - 1)).max() <= 1


def test_sides_even_out_what_chance_would_not() -> None:
    rng = np.random.default_rng(0)
    counters = np.argsort(rng.random((400, 12)), axis=1)[:, None, :2]
    swap = balanced_sides(np.arange(400), counters, np.zeros(12, int), np.zeros(400, int), rng)
    sign = 1.0 - 2.0 * swap
    balance = np.bincount(counters[:, 0, 0], weights=sign) - np.bincount(counters[:, 0, 1], weights=sign)
    assert np.abs(balance).max() <= 2


@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 999))
@settings(max_examples=50, deadline=None)
def test_slots_of_a_pair_make_up_for_earlier_sheets(n: int, n_pairs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pair = rng.integers(0, n_pairs, n)
    lean = rng.integers(-1, 2, n_pairs)
    swap = balanced_sides(pair, rng.integers(0, 9, (n, 2, 2)), np.zeros(9, int), lean[pair], rng)
    assert np.abs(lean + np.bincount(pair, weights=1 - 2.0 * swap, minlength=n_pairs)).max() <= 1


def test_sides_make_up_for_what_stood_left_before() -> None:
    # the first item stood left 10 times more, the second right: all ten slots between them and others turn it
    counters = np.array([[[0, 2 + k]] for k in range(10)])
    start = np.array([10, 0] + [0] * 10)
    swap = balanced_sides(np.arange(10), counters, start, np.zeros(10, int), np.random.default_rng(0))
    assert swap.all()
