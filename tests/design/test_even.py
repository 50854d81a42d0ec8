"""What sheets show is even, and stays what was dealt."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.benchmark import Benchmark
from paragone.design.even import even_repeats, evened, exposure_cells

Maker = Callable[..., Benchmark]


@given(st.integers(1, 12), st.integers(1, 20), st.integers(2, 30), st.integers(1, 4), st.integers(0, 999))
@settings(max_examples=80, deadline=None)
def test_exchanges_keep_sizes_and_never_give_an_owner_a_key_twice(
    n_sheets: int, size: int, n_keys: int, per_owner: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    owner = np.arange(n_sheets) // per_owner
    sizes = rng.integers(max(1, size - 1), size + 1, n_sheets)
    sheet = np.repeat(np.arange(n_sheets), sizes)
    n_keys = max(n_keys, int(np.bincount(owner, weights=sizes).max()))
    key = np.concatenate([rng.permutation(n_keys)[: int((owner[sheet] == o).sum())] for o in range(owner[-1] + 1)])
    cells = np.stack([key % 5, 5 + key % 3], axis=1)
    made = evened(sheet, key, owner, cells, np.ones(8), rng)
    assert np.bincount(made, minlength=n_sheets).tolist() == sizes.tolist()
    for o in range(owner[-1] + 1):
        mine = key[owner[made] == o]
        assert np.unique(mine).size == mine.size


def spread(sheet: np.ndarray, cells: np.ndarray, n_sheets: int, n_cells: int) -> float:
    counts = np.zeros((n_sheets, n_cells))
    np.add.at(counts, (sheet[:, None], cells), 1)
    return float((counts**2).sum())


@given(st.integers(2, 20), st.integers(4, 40), st.integers(0, 999))
@settings(max_examples=40, deadline=None)
def test_exchanges_never_make_the_counts_less_even(n_sheets: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sheet = np.repeat(np.arange(n_sheets), size)
    cells = np.stack([rng.integers(0, 6, sheet.size), rng.integers(0, 10, sheet.size)], axis=1)
    made = evened(sheet, np.arange(sheet.size), np.arange(n_sheets), cells, np.ones(10), rng)
    assert spread(made, cells, n_sheets, 10) <= spread(sheet, cells, n_sheets, 10)


def test_cells_that_can_be_shared_out_evenly_are() -> None:
    # 8 sheets of 24 slots and 6 cells: 4 a sheet are possible, and chance gives up to 10
    rng = np.random.default_rng(0)
    cells = rng.permutation(np.tile(np.arange(6), 32))[:, None]
    made = evened(np.repeat(np.arange(8), 24), np.arange(192), np.arange(8), cells, np.ones(6), rng)
    counts = np.zeros((8, 6))
    np.add.at(counts, (made, cells[:, 0]), 1)
    assert (counts == 4).all()


def test_nothing_changes_where_there_is_one_sheet_or_nothing_to_even_out() -> None:
    rng = np.random.default_rng(0)
    cells = np.zeros((6, 1), dtype=np.int64)
    assert (
        evened(np.zeros(6, dtype=np.int64), np.arange(6), np.zeros(1, dtype=np.int64), cells, np.ones(1), rng).max()
        == 0
    )
    sheet = np.repeat(np.arange(3), 2)
    assert evened(sheet, np.arange(6), np.arange(3), cells[:, :0], np.empty(0), rng).tolist() == sheet.tolist()


def test_repeats_fill_the_cells_that_a_sheet_shows_least() -> None:
    cells, one = np.array([[0], [0], [0], [1], [2], [2]]), np.zeros(6, dtype=np.int64)
    rng = np.random.default_rng(0)
    assert even_repeats(one, cells, np.ones(3), 1, rng)[0].tolist() == [3]
    assert 3 in even_repeats(one, cells, np.ones(3), 3, rng)[0].tolist()
    assert even_repeats(one, cells, np.ones(3), 6, rng)[0].tolist() == list(range(6))
    assert even_repeats(one, cells, np.ones(3), 0, rng)[0].size == 0


def test_repeats_make_up_for_what_other_sheets_show_too_seldom() -> None:
    sheet = np.array([0, 1, 0, 1, 0, 1, 0])
    cells = np.array([[0], [0], [0], [0], [1], [1], [1]])  # 4 to 3: repeats bring 5 to 5 or 6 to 5
    for seed in range(20):
        again = np.concatenate(even_repeats(sheet, cells, np.ones(2), 2, np.random.default_rng(seed)))
        counts = np.bincount(np.concatenate([cells[:, 0], cells[again, 0]]))
        assert sorted(sheet[again].tolist()) == [0, 0, 1, 1]
        assert abs(int(counts[0]) - int(counts[1])) == 1


def test_cells_are_the_levels_under_comparison_by_each_factor_of_a_group(grid_benchmark: Maker) -> None:
    items = grid_benchmark(4, 2, 3).items
    ids, weight = exposure_cells(items, "method", ["content", "style"], 10)
    assert ids.shape == (24, 3)
    assert [np.unique(ids[:, column]).size for column in range(3)] == [8, 12, 24]
    assert weight.size == 44
    assert np.unique(ids).size == 44
    assert exposure_cells(items, "", ["style"], 10, by_item=False)[0].max() == 2
    assert exposure_cells(items, "method", [], 10, by_item=False)[1].tolist() == [1.0] * 4
    assert exposure_cells(items, "", [], 10, by_item=False)[0].shape == (24, 0)
