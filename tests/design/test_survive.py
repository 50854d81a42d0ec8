"""Connection without some sheets: what is called proved holds for every choice, what is called broken breaks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.design import survive
from paragone.design.pairs import n_components
from paragone.design.survive import survives

Ints = np.ndarray


def breaks(n: int, a: Ints, b: Ints, sheet: Ints, gone: tuple[int, ...]) -> bool:
    kept = ~np.isin(sheet, gone)
    return n_components(n, a[kept], b[kept]) > n_components(n, a, b)


def drawn(n: int, sheets: int, each: int, seed: int) -> tuple[Ints, Ints, Ints]:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, n, sheets * each)
    b = (a + rng.integers(1, n, a.size)) % n
    return a, b, np.repeat(np.arange(sheets), each)


@pytest.mark.parametrize("few", [True, False], ids=["every choice", "proofs and search"])
@given(st.integers(2, 9), st.integers(3, 9), st.integers(1, 12), st.integers(1, 2), st.integers(0, 9999))
@settings(max_examples=150, deadline=None)
def test_verdicts_are_true(few: bool, n: int, sheets: int, each: int, missing: int, seed: int) -> None:
    a, b, sheet = drawn(n, sheets, each, seed)
    with pytest.MonkeyPatch.context() as patch:
        if not few:
            patch.setattr(survive, "_EVERY_CHOICE", 0)
        found = survives(n, a, b, sheet, sheets, missing)
    fragile = any(breaks(n, a, b, sheet, gone) for gone in itertools.combinations(range(sheets), missing))
    if found.verdict == "proved":
        assert not fragile
    elif found.verdict == "broken":
        assert len(found.parting) <= missing
        assert breaks(n, a, b, sheet, found.parting)
    else:
        assert not few


def test_a_ring_on_one_sheet_each_is_parted_by_two_sheets() -> None:
    a = np.arange(30)
    found = survives(30, a, (a + 1) % 30, a, 30, 2)
    assert found.verdict == "broken"
    assert breaks(30, a, (a + 1) % 30, a, found.parting)
    assert survives(30, a, (a + 1) % 30, a, 30, 1).verdict == "proved"


def test_a_bridge_on_few_sheets_is_found_by_search() -> None:
    # two groups of six, each compared all with all on every one of 40 sheets, and joined on three sheets only
    i, j = np.triu_indices(6, 1)
    one = np.concatenate([np.tile(i, 40), np.tile(i + 6, 40), [0, 1, 2]])
    other = np.concatenate([np.tile(j, 40), np.tile(j + 6, 40), [6, 7, 8]])
    sheet = np.concatenate([np.repeat(np.arange(40), 15), np.repeat(np.arange(40), 15), [3, 17, 30]])
    found = survives(12, one, other, sheet, 40, 3)
    assert (found.verdict, found.parting) == ("broken", (3, 17, 30))
    assert "greedy search" in found.how


def test_wide_cuts_are_a_proof_where_disjoint_sets_are_not_enough() -> None:
    # a random graph of 200 items and degree 40 on 50 sheets of 80 pairs: no six disjoint sets span it
    rng = np.random.default_rng(0)
    halves = [rng.permutation(200) for _ in range(20)]
    a = np.concatenate(halves)
    b = np.concatenate([np.roll(half, 1) for half in halves])
    order = rng.permutation(a.size)
    sheet = np.empty(a.size, dtype=np.int64)
    sheet[order] = np.arange(a.size) // 80
    found = survives(200, a, b, sheet, 50, 3)
    assert found.verdict == "proved"
    patch = pytest.MonkeyPatch()
    patch.setattr(survive, "_by_sets", lambda *_: None)
    assert "second eigenvalue" in survives(200, a, b, sheet, 50, 3).how
    patch.undo()


def test_parts_that_were_apart_before_do_not_count() -> None:
    a, b = np.array([0, 0, 2, 2]), np.array([1, 1, 3, 3])
    sheet = np.array([0, 1, 0, 1])
    assert survives(5, a, b, sheet, 2, 1).verdict == "proved"
    assert survives(5, a, b, np.zeros(4, dtype=np.int64), 2, 1).verdict == "broken"
    none = np.empty(0, dtype=np.int64)
    assert survives(5, none, none, none, 2, 1).how == "nothing is connected"
