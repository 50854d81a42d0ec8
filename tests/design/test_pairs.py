"""Decks: balance of every prefix, connection by the first pairs, no pair before its turn."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paragone.design.pairs import Cells, across_deck, levelled, n_components, within_deck


@given(st.integers(2, 9), st.integers(1, 5), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_a_cycle_of_the_within_deck_holds_every_pair_once(size: int, groups: int, seed: int) -> None:
    group, level = np.repeat(np.arange(groups), size), np.tile(np.arange(size), groups)
    total = groups * size * (size - 1) // 2
    deck = within_deck(group, level, total, 0, 0, np.random.default_rng(seed))
    assert deck.n_pairs == total
    assert len({(min(a, b), max(a, b)) for a, b in zip(deck.a.tolist(), deck.b.tolist(), strict=True)}) == total
    assert (group[deck.a] == group[deck.b]).all()


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_as_many_pairs_as_a_tree_needs_connect_every_group(size: int, groups: int, seed: int) -> None:
    group, level = np.repeat(np.arange(groups), size), np.tile(np.arange(size), groups)
    deck = within_deck(group, level, groups * (size - 1), 0, 0, np.random.default_rng(seed))
    assert n_components(group.size, deck.a, deck.b) == groups


@given(st.lists(st.integers(1, 8), min_size=1, max_size=6), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_groups_of_any_sizes_are_connected_by_as_many_pairs_as_trees_need(sizes: list[int], seed: int) -> None:
    sizes = [*sizes, 2]
    group = np.repeat(np.arange(len(sizes)), sizes)
    slots = sum(size - 1 for size in sizes)
    deck = within_deck(group, np.arange(group.size), slots, 0, 0, np.random.default_rng(seed))
    assert deck.a.size == slots
    assert n_components(group.size, deck.a, deck.b) == len(sizes)


@given(st.integers(2, 6).map(lambda k: 2 * k), st.integers(1, 200), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_every_prefix_of_a_within_deck_is_balanced(size: int, slots: int, seed: int) -> None:
    deck = within_deck(np.zeros(size, dtype=np.int64), np.arange(size), slots, 0, 0, np.random.default_rng(seed))
    shown = np.bincount(np.concatenate([deck.a, deck.b]), minlength=size)
    assert shown.max() - shown.min() <= 1


@given(st.lists(st.integers(1, 9), min_size=2, max_size=7), st.integers(0, 99))
@example(sizes=[1, 1, 1, 1, 2], seed=65)  # where joining the groups first closed a circle among the items
@example(sizes=[4, 4, 1, 1], seed=4)  # no step visits ten items in turn past groups of four
@settings(max_examples=60, deadline=None)
def test_as_many_pairs_as_a_tree_needs_connect_everything_across_groups(sizes: list[int], seed: int) -> None:
    group = np.repeat(np.arange(len(sizes)), sizes)
    deck = across_deck(group, np.arange(group.size), group.size - 1, 0, 0, np.random.default_rng(seed))
    assert n_components(group.size, deck.a, deck.b) == 1
    assert (group[deck.a] != group[deck.b]).all()


@given(st.integers(3, 8), st.integers(3, 8), st.integers(1, 300), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_items_of_equal_groups_are_shown_equally_often_across(size: int, groups: int, slots: int, seed: int) -> None:
    group = np.repeat(np.arange(groups), size)
    deck = across_deck(group, np.tile(np.arange(size), groups), slots, 0, 0, np.random.default_rng(seed))
    shown = np.bincount(np.concatenate([deck.a, deck.b]), minlength=group.size)
    assert shown.max() - shown.min() <= 3  # a round or cycle in progress, and the odd item out of it


def test_cycles_repeat_no_pair_while_there_are_new_ones() -> None:
    group = np.repeat(np.arange(40), 10)
    deck = across_deck(group, np.tile(np.arange(10), 40), 8_000, 0, 0, np.random.default_rng(0))
    low, high = np.minimum(deck.a, deck.b), np.maximum(deck.a, deck.b)
    assert np.unique(low * 400 + high).size == 8_000
    shown = np.bincount(np.concatenate([deck.a, deck.b]))
    assert shown.min() == shown.max() == 40


@pytest.mark.parametrize("deck_of", [within_deck, across_deck])
def test_shared_pairs_come_again_far_away(deck_of) -> None:  # type: ignore[no-untyped-def]
    group = np.repeat(np.arange(12), 12)
    deck = deck_of(group, np.tile(np.arange(12), 12), 400, 50, 1, np.random.default_rng(3))
    key = np.minimum(deck.a, deck.b) * 144 + np.maximum(deck.a, deck.b)
    values, counts = np.unique(key, return_counts=True)
    assert sorted(counts.tolist()) == [1] * 300 + [2] * 50
    gaps = [np.ptp(np.flatnonzero(key == value)) for value in values[counts == 2]]
    assert min(gaps) > 100


@given(st.integers(3, 6), st.integers(2, 4), st.booleans(), st.integers(0, 999))
@settings(max_examples=60, deadline=None)
def test_levelling_keeps_the_rule_the_connection_and_the_balance_of_pairs(
    size: int, groups: int, within: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    group, level = np.repeat(np.arange(groups), size), np.tile(np.arange(size), groups)
    n = group.size
    i, j = np.triu_indices(n, 1)
    allowed = np.stack([i, j], axis=1)[(group[i] == group[j]) == within]
    pairs = rng.permutation(allowed)[: max(4, 2 * len(allowed) // 3)]
    cells = Cells(np.stack([level, size + group, size + groups + np.arange(n)], axis=1), np.ones(size + groups + n))
    made = levelled(pairs, group, cells, rng, within=within)
    assert ((group[made[:, 0]] == group[made[:, 1]]) == within).all()
    assert (made[:, 0] != made[:, 1]).all()
    assert n_components(n, made[:, 0], made[:, 1]) <= n_components(n, pairs[:, 0], pairs[:, 1])
    times = Counter(tuple(sorted(pair)) for pair in made.tolist())
    assert max(times.values()) == 1

    def uneven(shown: np.ndarray) -> float:
        return float((np.bincount(cells.ids[shown].ravel()).astype(float) ** 2).sum())

    assert uneven(made) <= uneven(pairs)


def test_a_deck_shows_its_cells_evenly() -> None:
    # 5 levels in each of 12 groups in 4 rows of 3: 90 pairs show each level in a row 9 times
    group, level = np.repeat(np.arange(12), 5), np.tile(np.arange(5), 12)
    cells = Cells((level * 4 + group // 3)[:, None], np.ones(20))
    for seed in range(10):
        deck = within_deck(group, level, 90, 0, 0, np.random.default_rng(seed), cells)
        shown = np.bincount(cells.ids[np.concatenate([deck.a, deck.b]), 0])
        assert (shown.min(), shown.max()) in ((9, 9), (8, 10))
