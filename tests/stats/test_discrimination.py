"""What predictors tell apart: small cases by hand, areas against pairs counted one by one, laws of P.1401."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from paragone.errors import BadInput
from paragone.stats import discrimination
from paragone.stats.discrimination import (
    better_worse,
    better_worse_replicates,
    different_similar,
    different_similar_replicates,
    outlier_ratio,
    pairwise_accuracy,
    pairwise_accuracy_replicates,
    rmse_interval,
    rmse_star,
    significant_pairs,
)
from paragone.stats.resample import bootstrap_weights

REPLICATES = [
    (pairwise_accuracy, pairwise_accuracy_replicates),
    (different_similar, different_similar_replicates),
    (better_worse, better_worse_replicates),
]


def test_pairs_are_told_apart_by_their_noise() -> None:
    pairs = significant_pairs([0.0, 1.0, 3.0], stderr=[0.5, 0.5, 0.5])
    # z of the three differences: 1.41, 4.24, 2.83
    assert pairs.significant.tolist() == [False, True, True]
    assert pairs.difference.tolist() == [-1.0, -3.0, -2.0]


def test_joint_replicates_see_differences_that_separate_errors_hide() -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(400, 1)) + np.array([0.0, 0.5]) + 0.05 * rng.normal(size=(400, 2))
    assert significant_pairs([0.0, 0.5], draws=draws).significant.tolist() == [True]
    assert significant_pairs([0.0, 0.5], stderr=draws.std(axis=0)).significant.tolist() == [False]


def test_three_items_by_hand() -> None:
    pairs = significant_pairs([1.0, 2.0, 3.0, 3.01], stderr=[0.01, 0.01, 0.01, 0.01])
    assert pairs.significant.sum() == 5
    # predictor swaps items 0 and 1 and ties 2 and 3
    x = [2.0, 1.0, 5.0, 5.0]
    assert pairwise_accuracy(x, pairs).value == pytest.approx(4 / 5)
    assert different_similar(x, pairs).value == 1.0  # the similar pair has difference 0, the others more
    # signed differences toward the better item: -1, 3, 3, 4, 4 and their negatives
    assert better_worse(x, pairs).value == pytest.approx(24 / 25)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31))
def test_areas_count_pairs_of_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, x = rng.normal(size=12), rng.integers(0, 6, 12).astype(float)
    pairs = significant_pairs(y, stderr=np.full(12, 0.4))
    told = pairs.significant
    if not told.any() or told.all():
        assert math.isnan(different_similar(x, pairs).value)
        return
    size = np.abs(x[pairs.first] - x[pairs.second])
    other = stats.mannwhitneyu(size[told], size[~told]).statistic / (told.sum() * (~told).sum())
    assert different_similar(x, pairs).value == pytest.approx(other, abs=1e-12)
    toward = ((x[pairs.first] - x[pairs.second]) * np.sign(pairs.difference))[told]
    both = stats.mannwhitneyu(toward, -toward).statistic / told.sum() ** 2
    assert better_worse(x, pairs).value == pytest.approx(both, abs=1e-12)
    assert better_worse(-x, pairs).value == pytest.approx(1 - both, abs=1e-12)
    assert different_similar(-3 * x + 7, pairs).value == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize(("value", "reweighted"), REPLICATES)
def test_weights_of_one_give_the_statistic_itself_exactly_and_to_first_order(
    value, reweighted, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(1)
    y = rng.normal(size=40)
    x = (y + rng.normal(size=40)).round(1)
    pairs = significant_pairs(y, stderr=np.full(40, 0.3))
    point = value(x, pairs).value
    assert reweighted(x, pairs, np.ones((2, 40))) == pytest.approx([point, point], abs=1e-12)
    monkeypatch.setattr(discrimination, "_EXACT_WORK", 0)
    assert reweighted(x, pairs, np.ones((2, 40))) == pytest.approx([point, point], abs=1e-12)


@pytest.mark.parametrize(("value", "reweighted"), REPLICATES)
def test_dropping_an_item_by_weight_is_dropping_it(value, reweighted) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(2)
    y = rng.normal(size=25)
    x = (y + rng.normal(size=25)).round(1)
    without = np.ones((1, 25))
    without[0, 7] = 0
    kept = np.delete(np.arange(25), 7)
    smaller = significant_pairs(y[kept], stderr=np.full(24, 0.3))
    whole = significant_pairs(y, stderr=np.full(25, 0.3))
    assert reweighted(x, whole, without)[0] == pytest.approx(value(x[kept], smaller).value, abs=1e-12)


@pytest.mark.parametrize("reweighted", [different_similar_replicates, better_worse_replicates])
def test_first_order_areas_spread_as_the_exact_ones(reweighted, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(3)
    y = rng.normal(size=100)
    x = y + rng.normal(size=100)
    pairs, weights = significant_pairs(y, stderr=np.full(100, 0.3)), bootstrap_weights(100, 400, 4)
    exact = reweighted(x, pairs, weights)
    monkeypatch.setattr(discrimination, "_EXACT_WORK", 0)
    linear = reweighted(x, pairs, weights)
    assert np.corrcoef(exact, linear)[0, 1] > 0.97
    assert linear.std() == pytest.approx(exact.std(), rel=0.1)


def test_a_perfect_predictor_wins_everything_and_a_constant_one_half() -> None:
    y = np.arange(10.0)
    pairs = significant_pairs(y, stderr=np.full(10, 1.0))
    assert pairwise_accuracy(y, pairs).value == better_worse(y, pairs).value == 1.0
    assert different_similar(y, pairs).value == 1.0
    assert pairwise_accuracy(np.ones(10), pairs).value == 0.5
    assert better_worse(np.ones(10), pairs).value == different_similar(np.ones(10), pairs).value == 0.5


def test_people_who_tell_nothing_apart_leave_nothing_to_score() -> None:
    pairs = significant_pairs([1.0, 1.1, 0.9], stderr=[5.0, 5.0, 5.0])
    for value, reweighted in REPLICATES:
        assert math.isnan(value([1.0, 2.0, 3.0], pairs).value)
        assert np.isnan(reweighted([1.0, 2.0, 3.0], pairs, np.ones((2, 3)))).all()


def test_outlier_ratio_and_rmse_follow_p1401() -> None:
    error, half = np.array([0.1, -0.5, 0.2, 0.9, math.nan]), np.array([0.2, 0.2, 0.2, 0.2, 0.2])
    found = outlier_ratio(error, half)
    assert found.value == 0.5
    assert found.n == 4
    assert found.high == pytest.approx(min(1, 0.5 + 1.959964 * 0.25))
    star = rmse_star(error, half, 1)
    assert star.value == pytest.approx(math.sqrt((0.3**2 + 0.7**2) / 3))
    rmse = rmse_interval(error, 1)
    assert rmse.value == pytest.approx(math.sqrt((0.01 + 0.25 + 0.04 + 0.81) / 3))
    assert rmse.low < rmse.value < rmse.high


def test_the_chi_square_interval_covers_the_true_error() -> None:
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(500):
        found = rmse_interval(rng.normal(0, 2.0, 30), 0)
        hits += found.low <= 2.0 <= found.high
    assert 0.92 <= hits / 500 <= 0.98


def test_what_does_not_fit_is_refused_or_undefined() -> None:
    with pytest.raises(BadInput, match="either standard errors or joint"):
        significant_pairs([1.0, 2.0])
    with pytest.raises(BadInput, match="do not fit"):
        significant_pairs([1.0, 2.0], stderr=[1.0])
    with pytest.raises(BadInput, match="fewer than two replicates"):
        significant_pairs([1.0, 2.0], draws=[[1.0, math.nan], [1.0, 2.0]])
    with pytest.raises(BadInput, match="half widths"):
        outlier_ratio([1.0], [1.0, 2.0])
    assert "degree of freedom" in rmse_interval([1.0, 2.0], 2).note
    assert math.isnan(rmse_star([1.0], [0.1], 4).value)
    assert math.isnan(outlier_ratio([math.nan], [1.0]).value)
