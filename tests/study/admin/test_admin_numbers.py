"""Figures with their intervals: shares of people's answers, medians, rates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, poisson

from paragone.stats.wilson import wilson_interval
from paragone.study.admin.figures.numbers import median_number, rate_number, share_number


def test_a_share_of_single_trials_has_wilsons_interval() -> None:
    hits = np.array([1] * 14 + [0] * 6)
    found = share_number(hits, np.ones(20))
    # with one trial a person the ratio's variance is p (1 - p) / (n - 1): an effective n of 19
    low, high = wilson_interval(0.7, 19)
    assert (found.value, found.n) == (0.7, 20)
    assert (found.low, found.high) == pytest.approx((float(low), float(high)))


def test_people_who_always_answer_alike_are_worth_one_answer_each() -> None:
    wide = share_number([10, 10, 10, 0, 0], [10] * 5)
    narrow = share_number([6, 6, 6, 6, 6], [10] * 5)
    assert wide.value == narrow.value == 0.6
    low, high = wilson_interval(0.6, 4)
    assert (wide.low, wide.high) == pytest.approx((float(low), float(high)))
    low, high = wilson_interval(0.6, 50)
    assert (narrow.low, narrow.high) == pytest.approx((float(low), float(high)))


def test_a_share_of_all_is_as_sure_as_there_are_people() -> None:
    found = share_number([6, 6, 6], [6, 6, 6])
    low, _ = wilson_interval(1.0, 3)
    assert (found.value, found.low, found.high, found.n) == (1.0, float(low), 1.0, 18)


def test_intervals_of_shares_hold_the_truth_when_people_differ() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        own = rng.beta(6, 4, size=30)  # mean 0.6, people differ
        found = share_number(rng.binomial(12, own), np.full(30, 12))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.6 <= found.high
    assert 0.92 <= held / 400 <= 0.98


def test_nothing_counted_is_unknown_and_not_zero() -> None:
    assert share_number([], []).value is None
    assert share_number([0], [0]).value is None
    assert median_number([]).value is None
    assert rate_number(0, 0.0).value is None


def test_the_median_lies_between_order_statistics_that_hold_it() -> None:
    found = median_number(np.arange(1.0, 21.0))
    assert found.value == 10.5
    assert (found.low, found.high) == (6.0, 15.0)  # Conover's table: n = 20, r = 6, s = 15 (coverage .9586)
    assert binom.cdf(5, 20, 0.5) < 0.025 < binom.cdf(6, 20, 0.5)
    assert (
        median_number([1.0, 2.0, 3.0, 4.0, 5.0]).low is None
    )  # of five the range holds the median 93.75 % of the time
    assert median_number([1.0, np.nan, 3.0]).n == 2


def test_a_rate_has_the_exact_poisson_interval() -> None:
    found = rate_number(10, 2.0)
    assert found.value == 5.0
    assert (found.low, found.high) == pytest.approx((4.7954 / 2, 18.3904 / 2), abs=1e-4)  # Garwood's table, 10 events
    assert poisson.sf(9, 2 * found.low) == pytest.approx(0.025)
    assert poisson.cdf(10, 2 * found.high) == pytest.approx(0.025)
    assert rate_number(0, 1.0).low == 0.0
    assert rate_number(0, 1.0).high == pytest.approx(3.6889, abs=1e-4)
