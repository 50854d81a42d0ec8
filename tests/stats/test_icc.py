"""Reliability against Shrout and Fleiss's example, simulation and its own laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paragone.errors import BadInput
from paragone.stats.icc import icc_incomplete, icc_two_way, split_half

# Shrout and Fleiss 1979, table 2: six targets, four judges. Published: ICC(2,1) = .29, ICC(2,4) = .62.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)


def test_the_published_example_with_its_intervals() -> None:
    found = icc_two_way(SHROUT_FLEISS)
    assert found.single.value == pytest.approx(0.29, abs=0.005)
    assert found.average.value == pytest.approx(0.62, abs=0.005)
    # R psych::ICC on the same table prints ICC2 .019 to .76 and ICC2k .071 to .93.
    assert (found.single.low, found.single.high) == pytest.approx((0.019, 0.76), abs=0.002)
    assert (found.average.low, found.average.high) == pytest.approx((0.071, 0.93), abs=0.004)
    assert found.k == 4
    assert found.raters == 4
    assert found.single.n == 6


def test_variance_components_of_a_complete_table_are_the_analysis_of_variance() -> None:
    item, rater = np.indices(SHROUT_FLEISS.shape)
    whole = icc_two_way(SHROUT_FLEISS)
    same = icc_incomplete(SHROUT_FLEISS.ravel(), item.ravel(), rater.ravel())
    assert same.single.value == pytest.approx(whole.single.value, abs=1e-12)
    assert same.average.value == pytest.approx(whole.average.value, abs=1e-12)


def simulated(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Item variance 1, rater variance .5, rest 1.5: ICC(2,1) = 1/3."""
    return rng.normal(size=(n, 1)) + rng.normal(0, 0.5**0.5, (1, k)) + rng.normal(0, 1.5**0.5, (n, k))


def test_f_intervals_cover_the_truth() -> None:
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(300):
        found = icc_two_way(simulated(rng, 30, 12)).single
        hits += found.low <= 1 / 3 <= found.high
    assert 0.92 <= hits / 300 <= 0.98  # nominal .95, standard error of 300 runs .013


def test_variance_components_find_the_truth_when_half_the_cells_are_missing() -> None:
    rng = np.random.default_rng(3)
    found = []
    for _ in range(100):
        table = simulated(rng, 40, 15)
        item, rater = np.nonzero(rng.random(table.shape) < 0.5)
        found.append(icc_incomplete(table[item, rater], item, rater).single.value)
    assert np.mean(found) == pytest.approx(1 / 3, abs=0.03)  # standard error of 100 runs about .01


def test_jackknife_intervals_cover_what_other_raters_would_find() -> None:
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(200):
        items = rng.normal(size=(40, 1))
        table = items + rng.normal(0, 0.5**0.5, (1, 20)) + rng.normal(0, 1.5**0.5, (40, 20))
        item, rater = np.nonzero(rng.random(table.shape) < 0.6)
        found = icc_incomplete(table[item, rater], item, rater).single
        truth = items.var(ddof=1) / (
            items.var(ddof=1) + 2.0
        )  # of these items: a jackknife over raters holds them fixed
        hits += found.low <= truth <= found.high
    assert 0.88 <= hits / 200 <= 0.99  # nominal .95; the jackknife of a ratio is a little short


def test_many_raters_leave_in_groups_and_the_interval_stays_about_as_wide() -> None:
    rng = np.random.default_rng(7)
    table = simulated(rng, 30, 150)
    item, rater = np.nonzero(rng.random(table.shape) < 0.3)
    some = rater < 60
    many = icc_incomplete(table[item, rater], item, rater).single
    few = icc_incomplete(table[item, rater][some], item[some], rater[some]).single
    assert many.low < many.value < many.high
    assert (many.high - many.low) == pytest.approx((few.high - few.low) * (60 / 150) ** 0.5, rel=0.4)


def test_shifting_and_scaling_all_ratings_changes_nothing() -> None:
    a, b = icc_two_way(SHROUT_FLEISS), icc_two_way(3 * SHROUT_FLEISS - 100)
    assert (a.single.value, a.single.low, a.single.high) == pytest.approx(
        (b.single.value, b.single.low, b.single.high), abs=1e-9
    )


def test_tables_that_say_nothing_give_no_number() -> None:
    same = icc_two_way(np.full((4, 3), 2.0))
    assert math.isnan(same.single.value)
    assert "all ratings are the same" in same.single.note
    chain = icc_incomplete([1.0, 2.0, 3.0], [0, 1, 2], [0, 1, 2])
    assert math.isnan(chain.single.value)
    assert "overlap too little" in chain.single.note
    assert "no rating" in icc_incomplete([], [], []).single.note
    with pytest.raises(BadInput, match="complete table"):
        icc_two_way([[1, 2], [3, math.nan]])
    with pytest.raises(BadInput, match="one length"):
        icc_incomplete([1.0], [0, 1], [0])


def test_perfect_raters_are_perfectly_reliable_without_an_interval() -> None:
    found = icc_two_way(np.repeat(np.arange(5.0)[:, None], 3, axis=1))
    assert found.single.value == pytest.approx(1.0)
    assert math.isnan(found.single.low)


def test_split_halves_step_up_to_the_reliability_of_all_raters() -> None:
    rng = np.random.default_rng(6)
    table = (rng.normal(size=(1, 400)) + rng.normal(0, 1.5, (20, 400))).copy()
    half, stepped = split_half(table, splits=300, seed=1)
    truth = 1 / (1 + 1.5**2 / 20)
    assert stepped.value == pytest.approx(truth, abs=0.02)  # 400 items: standard error about .01
    assert half.value == pytest.approx(1 / (1 + 1.5**2 / 10), abs=0.03)
    assert half.low < half.value < half.high


def test_split_halves_repeat_with_their_seed_and_need_four_raters() -> None:
    table = np.random.default_rng(0).normal(size=(7, 9))
    assert split_half(table, splits=50, seed=3) == split_half(table, splits=50, seed=3)
    few, _ = split_half(table[:3], seed=0)
    assert math.isnan(few.value)
    assert "need four" in few.note
    none, _ = split_half(np.ones((6, 8)), seed=0)
    assert math.isnan(none.value)
    with pytest.raises(BadInput, match="matrix"):
        split_half([1.0, 2.0], seed=0)
