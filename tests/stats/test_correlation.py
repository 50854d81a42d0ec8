"""Correlations: against scipy, under weights against real resamples, and where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from paragone.errors import BadInput
from paragone.stats import correlation
from paragone.stats.correlation import (
    kendall,
    kendall_replicates,
    pearson,
    pearson_replicates,
    spearman,
    spearman_replicates,
)
from paragone.stats.resample import bootstrap_weights
from paragone.stats.statistic import Floats, Statistic

ALL: list[tuple[Callable[..., Statistic], Callable[..., Floats], Callable[..., tuple[float, float]]]] = [
    (pearson, pearson_replicates, stats.pearsonr),
    (spearman, spearman_replicates, stats.spearmanr),
    (kendall, kendall_replicates, stats.kendalltau),
]


def tied(seed: int, n: int = 80) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 12, n).astype(float)
    return x, (x + rng.normal(0, 6, n)).round()


@pytest.mark.parametrize(("ours", "_", "theirs"), ALL)
def test_values_equal_scipy_with_ties_and_missing(ours, _, theirs) -> None:  # type: ignore[no-untyped-def]
    x, y = tied(1)
    x[3] = y[5] = math.nan
    kept = ~np.isnan(x) & ~np.isnan(y)
    found = ours(x, y)
    assert found.value == pytest.approx(theirs(x[kept], y[kept])[0], abs=1e-13)
    assert found.n == 78


def test_pearsons_interval_equals_scipy() -> None:
    x, y = tied(2)
    other = stats.pearsonr(x, y).confidence_interval()
    assert pearson(x, y)[1:3] == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize(("_", "reweighted", "theirs"), ALL)
def test_weights_are_the_resample_they_count(_, reweighted, theirs) -> None:  # type: ignore[no-untyped-def]
    x, y = tied(3)
    weights = bootstrap_weights(len(x), 20, 4)
    resampled = [theirs(np.repeat(x, w.astype(int)), np.repeat(y, w.astype(int)))[0] for w in weights]
    assert reweighted(x, y, weights) == pytest.approx(resampled, abs=1e-12)


@pytest.mark.parametrize(("rho", "ours"), [(0.3, spearman), (0.9, spearman), (0.6, pearson), (0.5, kendall)])
def test_intervals_cover_the_truth(rho: float, ours: Callable[..., Statistic]) -> None:
    truth = {pearson: rho, spearman: 6 / math.pi * math.asin(rho / 2), kendall: 2 / math.pi * math.asin(rho)}[ours]
    rng = np.random.default_rng(8)
    hits = 0
    for _ in range(400):
        x = rng.normal(size=40)
        found = ours(x, rho * x + math.sqrt(1 - rho**2) * rng.normal(size=40))
        hits += found.low <= truth <= found.high
    assert 0.92 <= hits / 400 <= 0.985  # nominal .95, standard error .011


def test_kendall_to_first_order_spreads_as_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = tied(5, 300)
    weights = np.vstack([np.ones(300), bootstrap_weights(300, 300, 6)])
    exact = kendall_replicates(x, y, weights)
    monkeypatch.setattr(correlation, "_EXACT_WORK", 0)
    linear = kendall_replicates(x, y, weights)
    assert linear[0] == pytest.approx(exact[0], abs=1e-12)
    assert linear.std() == pytest.approx(exact.std(), rel=0.05)
    assert np.corrcoef(exact, linear)[0, 1] > 0.98
    assert np.isnan(kendall_replicates(np.ones(300), y, weights)).all()


def test_bootstrap_and_fisher_agree_on_a_large_sample() -> None:
    rng = np.random.default_rng(9)
    x = rng.normal(size=400)
    y = x + rng.normal(size=400)
    for ours, _, _ in ALL:
        a, b = ours(x, y), ours(x, y, interval="bootstrap", replicates=2000, seed=1)
        assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=0.03)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31))
def test_rank_correlations_see_the_order_only_and_change_sign_with_it(seed: int) -> None:
    x, y = tied(seed, 25)
    for ours in (spearman, kendall):
        r = ours(x, y).value
        assert ours(np.exp(x / 4), y).value == pytest.approx(r, abs=1e-12, nan_ok=True)
        assert ours(-x, y).value == pytest.approx(-r, abs=1e-12, nan_ok=True)
    assert pearson(1e6 * x + 1e9, y).value == pytest.approx(pearson(x, y).value, abs=1e-7, nan_ok=True)


@pytest.mark.parametrize("ours", [pearson, spearman, kendall])
def test_a_constant_side_or_too_few_numbers_give_no_correlation(ours: Callable[..., Statistic]) -> None:
    constant = ours([1, 1, 1, 1], [1, 2, 3, 4])
    assert math.isnan(constant.value)
    assert "first vector is constant" in constant.note
    assert constant.n == 4
    assert "two or more" in ours([1.0], [2.0]).note
    small = ours([1, 2, 3], [1, 3, 2])
    assert small.defined
    assert math.isnan(small.low)
    assert "no interval" in small.note
    perfect = ours([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])
    assert perfect[:3] == (1.0, 1.0, 1.0)
    assert "perfect" in perfect.note


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(BadInput, match="one length"):
        pearson([1, 2], [1, 2, 3])
    with pytest.raises(BadInput, match="infinite"):
        spearman([1, math.inf], [1, 2])
    with pytest.raises(BadInput, match="no interval 'exact'"):
        kendall([1, 2, 3], [1, 2, 3], interval="exact")  # type: ignore[arg-type]


def test_a_resample_that_is_constant_is_counted_out() -> None:
    found = pearson([1, 1, 1, 2], [1, 2, 3, 4], interval="bootstrap", replicates=200, seed=0)
    assert "constant and left out" in found.note
    assert not math.isnan(found.low)
