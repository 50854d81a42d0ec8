"""Trials with a known answer: where they go, what they use."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.benchmark import Benchmark
from paragone.design.checks import check_places, pool, uses_broken
from paragone.errors import BadInput

NONE = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})


@given(st.integers(1, 60), st.integers(0, 8), st.integers(0, 999))
def test_checks_are_apart_and_neither_first_nor_last(n: int, checks: int, seed: int) -> None:
    places = check_places(n, checks, np.random.default_rng(seed)).tolist()
    assert len(set(places)) == checks
    assert all(1 <= place < n + checks for place in places)
    if n >= 2:
        assert n + checks - 1 not in places
    stretches = [int(np.searchsorted(np.linspace(1, n + checks - 1, checks + 1)[1:-1], p + 1e-9)) for p in places]
    if n > checks:
        assert stretches == list(range(checks))


def test_broken_versions_stand_apart_from_what_is_judged() -> None:
    items = pl.DataFrame({"item": ["a", "b", "x", "y"], "broken_of": [None, None, "b", "a"]})
    stock = pool(Benchmark(items, NONE))
    assert stock.items["item"].to_list() == ["a", "b"]
    assert stock.broken == ["x", "y"]
    assert stock.sound.tolist() == [1, 0]


def test_a_study_of_one_item_is_refused() -> None:
    with pytest.raises(BadInput, match="1 to be judged; a study needs at least two"):
        pool(Benchmark(pl.DataFrame({"item": ["a"]}), NONE))


def test_broken_checks_are_used_where_there_are_any() -> None:
    assert uses_broken("auto", "1", 2, 4)
    assert not uses_broken("auto", "1", 0, 4)
    assert not uses_broken("instructed", "1", 2, 4)
