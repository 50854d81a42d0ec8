"""Resampling, intervals and ranks: exact small cases, coverage, and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from paragone.errors import BadInput, TooFew
from paragone.stats.resample import (
    basic_interval,
    bca_interval,
    bootstrap_weights,
    normal_draws,
    percentile_interval,
    rank_groups,
    rank_intervals,
)


def test_weights_count_draws_with_replacement() -> None:
    w = bootstrap_weights(5, 4000, 1)
    assert (w.sum(axis=1) == 5).all()
    assert w.dtype == np.float64
    assert w.mean(axis=0) == pytest.approx(np.ones(5), abs=0.06)  # sd of a mean of 4,000 counts: .014
    assert w.var() == pytest.approx(0.8, abs=0.03)
    assert (bootstrap_weights(5, 3, 1) == bootstrap_weights(5, 3, 1)).all()


def test_clusters_are_drawn_whole() -> None:
    w = bootstrap_weights(6, 200, 2, clusters=["a", "b", "a", "c", "b", "a"])
    assert (w[:, 0] == w[:, 2]).all()
    assert (w[:, 0] == w[:, 5]).all()
    assert (w[:, 1] == w[:, 4]).all()
    assert (w[:, 0] + w[:, 1] + w[:, 3] == 3).all()


def test_percentile_ends_are_the_quantiles_of_what_is_there() -> None:
    draws = np.array([[1.0, 5.0], [2.0, math.nan], [3.0, 6.0], [4.0, 7.0]])
    found = percentile_interval(draws, level=0.5)
    assert found.low == pytest.approx([1.75, 5.5])
    assert found.high == pytest.approx([3.25, 6.5])
    assert found.dropped.tolist() == [0, 1]
    assert math.isnan(float(percentile_interval([1.0, math.nan]).low))


def test_the_basic_interval_turns_the_percentile_interval_round() -> None:
    draws = np.arange(101.0)
    around, turned = percentile_interval(draws), basic_interval(60.0, draws)
    assert float(turned.low) == 120 - float(around.high)
    assert float(turned.high) == 120 - float(around.low)


def test_bca_equals_scipy_on_the_mean_of_a_skewed_sample() -> None:
    x = np.random.default_rng(0).exponential(size=40)
    other = stats.bootstrap((x,), np.mean, n_resamples=2000, method="BCa", rng=np.random.default_rng(2))
    found = bca_interval(x.mean(), other.bootstrap_distribution, (x.sum() - x) / 39)
    assert float(found.low) == pytest.approx(other.confidence_interval.low, abs=1e-9)
    assert float(found.high) == pytest.approx(other.confidence_interval.high, abs=1e-9)


def test_bca_is_undefined_where_every_replicate_lies_on_one_side() -> None:
    found = bca_interval(10.0, np.arange(5.0), np.arange(4.0))
    assert math.isnan(float(found.low))
    assert math.isnan(float(found.high))


def test_normal_draws_have_the_covariance_they_were_asked_for() -> None:
    sigma = np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]]) / 3  # singular: sums to zero
    draws = normal_draws([1.0, 0.0, -1.0], sigma, 20000, 3)
    assert np.cov(draws, rowvar=False) == pytest.approx(sigma, abs=0.02)
    assert draws.sum(axis=1) == pytest.approx(np.zeros(20000), abs=1e-9)
    holed = normal_draws([1.0, math.nan, 0.0], np.eye(3), 5, 0)
    assert np.isnan(holed[:, 1]).all()
    assert not np.isnan(holed[:, [0, 2]]).any()


def test_items_far_apart_get_their_rank_and_equal_ones_share_all() -> None:
    far = rank_intervals(score=[3.0, 9.0, 6.0], covariance=0.01 * np.eye(3))
    assert far.low.tolist() == far.high.tolist() == [3, 1, 2]
    near = rank_intervals(score=[3.0, 3.1, 2.9], covariance=np.eye(3))
    assert near.low.tolist() == [1, 1, 1]
    assert near.high.tolist() == [3, 3, 3]
    assert rank_groups(score=[5.0, 5.01, 1.0], covariance=0.1 * np.eye(3)).tolist() == [1, 1, 3]


def test_scores_that_rise_and_fall_together_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    draws = 10 * rng.normal(size=(500, 1)) + np.array([0.0, 1.0]) + 0.1 * rng.normal(size=(500, 2))
    assert rank_intervals(draws).low.tolist() == [2, 1]
    alone = draws[rng.permutation(500)]
    assert rank_intervals(np.column_stack([draws[:, 0], alone[:, 1]])).low.tolist() == [1, 1]


def test_exact_ties_without_noise_share_a_rank() -> None:
    found = rank_intervals(score=[1.0, 1.0, 0.0], covariance=np.zeros((3, 3)))
    assert found.low.tolist() == [1, 1, 3]
    assert found.high.tolist() == [2, 2, 3]


def test_items_without_a_score_have_no_rank() -> None:
    draws = np.random.default_rng(0).normal(size=(50, 3)) * 0.01 + [3.0, 2.0, 1.0]
    draws[:, 1] = math.nan
    found = rank_intervals(draws, score=[3.0, math.nan, 1.0])
    assert found.low[[0, 2]].tolist() == [1, 2]
    assert math.isnan(found.low[1])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.permutations(range(6)))
def test_ranks_follow_the_items_when_they_are_reordered(seed: int, order: list[int]) -> None:
    draws = np.random.default_rng(seed).normal(size=(60, 6)) + np.arange(6) / 2
    whole, moved = rank_intervals(draws), rank_intervals(draws[:, order])
    assert whole.low[order].tolist() == moved.low.tolist()
    assert whole.high[order].tolist() == moved.high.tolist()


@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
def test_rank_intervals_hold_the_true_ranks(spread: float) -> None:
    rng = np.random.default_rng(7)
    plain, holm = [], []
    for _ in range(60):
        truth = np.sort(rng.normal(0, spread, 30))[::-1]
        score, rank = truth + rng.normal(size=30), np.arange(1, 31)
        one = rank_intervals(score=score, covariance=np.eye(30))
        other = rank_intervals(score=score, covariance=np.eye(30), adjust="holm")
        plain.append(np.mean((one.low <= rank) & (rank <= one.high)))
        holm.append(np.mean((other.low <= rank) & (rank <= other.high)))
        assert (other.low <= one.low).all()
        assert (other.high >= one.high).all()
    assert np.mean(plain) >= 0.95
    assert np.mean(holm) >= 0.99


def test_ranks_say_what_they_miss() -> None:
    with pytest.raises(BadInput, match="either joint replicates or a covariance"):
        rank_intervals()
    with pytest.raises(BadInput, match="needs the n scores"):
        rank_intervals(covariance=np.eye(3))
    with pytest.raises(TooFew, match="1 of 2 replicates"):
        rank_intervals([[1.0, 2.0], [math.nan, 1.0]])
    with pytest.raises(BadInput, match="clusters need one label"):
        bootstrap_weights(3, 2, 0, clusters=["a"])
    with pytest.raises(BadInput, match="at least one unit"):
        bootstrap_weights(0, 2, 0)
    with pytest.raises(BadInput, match="do not belong together"):
        normal_draws([1.0], np.eye(2), 3, 0)
