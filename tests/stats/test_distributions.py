"""Distances between distributions against scipy, closed forms and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from paragone.errors import BadInput, TooFew
from paragone.stats.distributions import (
    gaussian_distance,
    small_sample_level,
    wasserstein,
    weighted_mean,
    weighted_median,
)

FEW = st.lists(st.floats(-100, 100, allow_subnormal=False), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(FEW, FEW)
def test_wasserstein_equals_scipys(x: list[float], y: list[float]) -> None:
    assert wasserstein(x, y)[0] == pytest.approx(stats.wasserstein_distance(x, y), abs=1e-9)


def test_wasserstein_of_a_shift_is_the_shift() -> None:
    x = np.random.default_rng(0).normal(size=50)
    assert wasserstein(x, x + 3.25)[0] == pytest.approx(3.25)


def test_weights_are_repetitions() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=9), rng.normal(size=7)
    u, v = rng.integers(0, 4, (6, 9)), rng.integers(1, 4, (6, 7))
    again = [(np.repeat(x, a), np.repeat(y, b)) for a, b in zip(u, v, strict=True)]
    assert wasserstein(x, y, u, v) == pytest.approx([stats.wasserstein_distance(a, b) for a, b in again])
    assert weighted_mean(x, u) == pytest.approx([a.mean() for a, _ in again])
    assert weighted_median(x, u) == pytest.approx([np.median(a) for a, _ in again])
    assert gaussian_distance(x, u) == pytest.approx([gaussian_distance(a)[0] for a, _ in again])


def test_no_weight_gives_no_number() -> None:
    none = np.zeros((1, 3))
    x = [1.0, 2.0, 4.0]
    assert all(np.isnan(of(x, none)[0]) for of in (weighted_mean, weighted_median, gaussian_distance))
    assert np.isnan(wasserstein(x, x, none, np.ones((1, 3)))[0])


def test_the_distance_from_a_gaussian_is_the_area_between_the_curves() -> None:
    x = np.random.default_rng(2).exponential(size=15)
    z = np.sort((x - x.mean()) / x.std())

    def gap(at: float) -> float:
        return abs(float((z <= at).mean()) - float(stats.norm.cdf(at)))

    area = sum(integrate.quad(gap, a, b, limit=200, epsabs=1e-10)[0] for a, b in zip([-12, *z], [*z, 12], strict=True))
    assert gaussian_distance(x)[0] == pytest.approx(area, abs=1e-7)


def test_known_distributions_have_their_distance_from_a_gaussian() -> None:
    """A uniform, an exponential and two equal heaps: the mean gap of the quantile functions, by quadrature."""
    at = (np.arange(20_000) + 0.5) / 20_000
    for quantile in (stats.uniform.ppf(at), stats.expon.ppf(at), np.sign(at - 0.5)):
        z = (quantile - quantile.mean()) / quantile.std()
        expected = np.abs(z - stats.norm.ppf(at)).mean()
        assert gaussian_distance(quantile)[0] == pytest.approx(expected, abs=2e-3)
    assert gaussian_distance(stats.norm.ppf(at))[0] < 2e-3


def test_samples_of_a_gaussian_lie_where_the_docstring_says() -> None:
    rng = np.random.default_rng(3)
    made = np.array([gaussian_distance(rng.normal(size=100))[0] for _ in range(400)]) * 10
    assert made.mean() == pytest.approx(0.82, abs=0.05)
    assert np.quantile(made, 0.95) == pytest.approx(1.2, abs=0.1)


def test_shift_and_scale_do_not_move_the_distance_from_a_gaussian() -> None:
    x = np.random.default_rng(4).exponential(size=30)
    assert gaussian_distance(1e6 + 40 * x)[0] == pytest.approx(gaussian_distance(x)[0], rel=1e-6)


def test_equal_values_have_no_distance_from_a_gaussian() -> None:
    assert np.isnan(gaussian_distance(np.full(5, 0.1))[0])


def test_the_wider_level_is_that_of_a_t_interval() -> None:
    """By hand for n = 10: t(0.975, 9) = 2.2622, times sqrt(10 / 9) = 2.3846, beyond which a normal has 0.86 %."""
    assert (1 - small_sample_level(0.95, 10)) / 2 == pytest.approx(0.0086, abs=1e-4)
    assert small_sample_level(0.95, 100_000) == pytest.approx(0.95, abs=1e-4)


@pytest.mark.slow
def test_widened_percentiles_cover_as_they_claim_with_seven_pictures() -> None:
    from paragone.stats.resample import bootstrap_weights, percentile_interval

    rng, hits = np.random.default_rng(5), 0
    for _ in range(400):
        x, y = rng.normal(1.0, 1.0, 80), rng.normal(0.0, 1.0, 7)
        draws = weighted_mean(x, bootstrap_weights(80, 400, rng)) - weighted_mean(y, bootstrap_weights(7, 400, rng))
        ends = percentile_interval(draws, level=small_sample_level(0.95, 7))
        hits += bool(ends.low <= 1.0 <= ends.high)
    assert 0.92 <= hits / 400 <= 0.99


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(BadInput, match="do not belong together"):
        weighted_mean([1.0, 2.0], np.ones((1, 3)))
    with pytest.raises(BadInput, match="values must be finite and weights 0 or above"):
        weighted_mean([math.nan], np.ones((1, 1)))
    with pytest.raises(BadInput, match="2 rows of weights on one side and 1 on the other"):
        wasserstein([1.0], [2.0], np.ones((2, 1)))
    with pytest.raises(BadInput, match=r"interval level 1.0 is not between 0 and 1"):
        small_sample_level(1.0, 5)
    with pytest.raises(TooFew, match="1 unit cannot be resampled"):
        small_sample_level(0.95, 1)
