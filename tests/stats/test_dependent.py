"""Tests between predictors: published examples, and that they hold their level."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from paragone.errors import BadInput
from paragone.stats.dependent import (
    bootstrap_difference,
    independent_z,
    rmse_f_test,
    steiger_z,
    williams_t,
    zou_interval,
)


def test_williams_t_equals_the_published_examples() -> None:
    # Silver, Hittner and May 2006 (DEPCOR): r = .3, .4, .5, n = 100 -> t = -1.0767, p = .2843
    found = williams_t(0.3, 0.4, 0.5, 100)
    assert found.statistic == pytest.approx(-1.0767, abs=5e-5)
    assert found.p == pytest.approx(0.2843, abs=5e-5)
    # Steiger 1980, p. 247: r = .4, .5, .1, n = 103 -> -.8913 there
    assert williams_t(0.4, 0.5, 0.1, 103).statistic == pytest.approx(-0.8913, abs=5e-5)


def test_steigers_z_equals_the_published_examples() -> None:
    # cocor 1.1 tests: Steiger 1980 case A -.8887185; DEPCOR -1.0718, p .2838
    assert steiger_z(0.4, 0.5, 0.1, 103).statistic == pytest.approx(-0.8887185, abs=5e-8)
    found = steiger_z(0.3, 0.4, 0.5, 100)
    assert found.statistic == pytest.approx(-1.0718, abs=5e-5)
    assert found.p == pytest.approx(0.2838, abs=5e-5)


def test_zous_interval_equals_the_published_example() -> None:
    # Zou 2007, example 2: r = .396, .179, .088, n = 66 -> (-.093, .517)
    assert zou_interval(0.396, 0.179, 0.088, 66) == pytest.approx((-0.093, 0.517), abs=5e-4)


def test_swapping_the_predictors_turns_the_sign() -> None:
    for test in (williams_t, steiger_z):
        a, b = test(0.3, 0.55, 0.4, 60), test(0.55, 0.3, 0.4, 60)
        assert (a.statistic, a.p) == pytest.approx((-b.statistic, b.p), rel=1e-12)
        assert (a.low, a.high) == pytest.approx((-b.high, -b.low), rel=1e-12)


def three(rng: np.random.Generator, n: int, loads: tuple[float, float]) -> tuple[float, float, float]:
    y = rng.normal(size=n)
    common = rng.normal(size=n)
    a, b = (load * y + 0.8 * common + 0.6 * rng.normal(size=n) for load in loads)
    return float(np.corrcoef(a, y)[0, 1]), float(np.corrcoef(b, y)[0, 1]), float(np.corrcoef(a, b)[0, 1])


def test_williams_holds_its_level_and_beats_the_independent_z() -> None:
    rng = np.random.default_rng(1)
    null = np.mean([williams_t(*three(rng, 60, (0.7, 0.7)), 60).p < 0.05 for _ in range(1000)])
    assert 0.03 <= null <= 0.07
    power = [(williams_t(*r, 60).p < 0.05, independent_z(*r[:2], 60).p < 0.05) for r in
             (three(rng, 60, (0.9, 0.6)) for _ in range(200))]  # fmt: skip
    assert np.mean([a for a, _ in power]) > 2 * np.mean([b for _, b in power])


def test_independent_z_is_p1401s() -> None:
    found = independent_z(0.9, 0.8, 50)
    assert found.statistic == pytest.approx((math.atanh(0.9) - math.atanh(0.8)) / math.sqrt(2 / 47))
    assert found.p == pytest.approx(2 * stats.norm.sf(found.statistic))


def test_the_f_test_takes_the_larger_error_first_and_both_tails() -> None:
    found = rmse_f_test(0.5, 0.8, 40)
    assert found.statistic == pytest.approx(2.56)
    assert found.difference == pytest.approx(-0.3)
    assert found.p == pytest.approx(2 * stats.f.sf(2.56, 40, 40))
    assert rmse_f_test(0.8, 0.5, 40).p == found.p
    assert rmse_f_test(0.5, 0.5, 40).p == 1.0


def test_paired_replicates_see_what_separate_ones_do_not() -> None:
    rng = np.random.default_rng(2)
    common = rng.normal(size=500)
    a, b = common + 0.2 + 0.05 * rng.normal(size=500), common + 0.05 * rng.normal(size=500)
    found = bootstrap_difference(0.2, 0.0, a, b)
    assert found.low > 0
    assert found.p == pytest.approx(2 / 501, abs=1e-12)
    assert bootstrap_difference(0.2, 0.0, a, b[::-1].copy()).p > 0.5


def test_replicates_without_a_number_are_left_out_and_counted() -> None:
    a = np.array([1.0, math.nan, 3.0, 2.0])
    found = bootstrap_difference(1.0, 0.0, a, np.zeros(4))
    assert "1 replicates" in found.note
    assert found.low >= 1.0


def test_undecidable_cases_have_no_p() -> None:
    assert math.isnan(williams_t(0.5, 0.6, 0.3, 3).p)
    assert williams_t(0.5, 0.5, 1.0, 50).p == 1.0 == steiger_z(0.5, 0.5, 1.0, 50).p
    assert math.isnan(steiger_z(1.0, 0.5, 0.5, 50).p)
    assert math.isnan(independent_z(1.0, 0.5, 50).p)
    assert math.isnan(rmse_f_test(0.0, 0.5, 10).p)
    assert "zero" in rmse_f_test(0.0, 0.5, 10).note
    assert math.isnan(bootstrap_difference(1.0, 0.0, [1.0, math.nan], [0.0, 0.0]).p)
    assert all(math.isnan(end) for end in zou_interval(0.1, 0.2, 0.3, 3))


def test_impossible_correlations_are_refused() -> None:
    with pytest.raises(BadInput, match=r"lie in \[-1, 1\]"):
        williams_t(1.2, 0.5, 0.5, 50)
    with pytest.raises(BadInput, match="cannot hold together"):
        williams_t(0.9, -0.9, 0.9, 50)
    with pytest.raises(BadInput, match="paired replicates"):
        bootstrap_difference(0.0, 0.0, [1.0, 2.0], [1.0])
