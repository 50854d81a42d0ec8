"""Greedy picks against the best picks, which small pools can be searched for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import BadInput
from paragone.stats import coverage
from paragone.stats.coverage import Pick, facility_location, k_centre, log_det
from paragone.stats.points import kernel_width, standardised
from paragone.stats.quotas import Quotas

Rule = Callable[..., Pick]
RULES = (k_centre, facility_location, log_det)


def _points(seed: int, n: int = 9) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3))


def _distances(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2)))


def _value(rule: Rule, x: np.ndarray, pick: tuple[int, ...], width: float, noise: float = 0.1) -> float:
    """The objective, written out."""
    d, s = _distances(x), list(pick)
    if rule is k_centre:
        return float(d[:, s].min(axis=1).max())
    k = np.exp(-(d**2) / (2 * width**2))
    if rule is facility_location:
        return float(k[:, s].max(axis=1).sum())
    return float(np.linalg.slogdet(np.eye(len(s)) + k[np.ix_(s, s)] / noise)[1])


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), number=st.integers(1, 4))
def test_the_value_is_the_objective_of_the_pick(rule: Rule, seed: int, number: int) -> None:
    x = _points(seed)
    made = rule(x, number)
    assert made.value == pytest.approx(_value(rule, x, tuple(made.picked), kernel_width(x)), rel=1e-9)
    assert len(set(made.picked.tolist())) == number


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), number=st.integers(1, 4))
def test_k_centre_is_within_twice_the_best(seed: int, number: int) -> None:
    x = _points(seed)
    best = min(_value(k_centre, x, pick, 1.0) for pick in itertools.combinations(range(len(x)), number))
    assert best - 1e-12 <= k_centre(x, number).value <= 2 * best + 1e-12
    assert k_centre(x, number, starts=1).value <= 2 * best + 1e-12


@pytest.mark.parametrize("rule", [facility_location, log_det])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), number=st.integers(1, 4))
def test_greedy_is_within_its_share_of_the_best(rule: Rule, seed: int, number: int) -> None:
    x = _points(seed)
    width = kernel_width(x)
    best = max(_value(rule, x, pick, width) for pick in itertools.combinations(range(len(x)), number))
    assert (1 - math.exp(-1)) * best <= rule(x, number).value <= best + 1e-9


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_facility_location_under_the_quotas_of_one_factor_is_within_half_of_the_best(seed: int) -> None:
    x, rng = _points(seed), np.random.default_rng(seed)
    level = rng.permutation(np.arange(9) % 3)[:, None]
    quotas = Quotas(level, (np.array([2, 1, 1]),))
    picks = [p for p in itertools.combinations(range(9), 4) if np.bincount(level[list(p), 0]).tolist() == [2, 1, 1]]
    picks = [p for p in picks if len(np.bincount(level[list(p), 0], minlength=3)) == 3]
    best = max(_value(facility_location, x, pick, kernel_width(x)) for pick in picks)
    made = facility_location(x, 4, quotas=quotas)
    assert 0.5 * best <= made.value <= best + 1e-9
    assert np.bincount(level[made.picked, 0], minlength=3).tolist() == [2, 1, 1]


@pytest.mark.parametrize("rule", RULES)
def test_three_far_heaps_give_one_pick_each(rule: Rule) -> None:
    heaps = np.repeat([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]], 5, axis=0)
    x = heaps + np.random.default_rng(0).normal(scale=0.1, size=heaps.shape)
    assert sorted(int(i) // 5 for i in rule(x, 3).picked) == [0, 1, 2]


def test_k_centre_on_a_line_is_known() -> None:
    made = k_centre(np.arange(5.0)[:, None], 3, starts=1)
    assert made.picked.tolist() == [2, 0, 4]  # the middle, then the ends
    assert made.gain[1:].tolist() == [2.0, 2.0]
    assert made.value == 1.0


def test_the_first_gain_of_log_det_is_the_variance_of_one_point() -> None:
    made = log_det(_points(1), 2, noise=0.5)
    assert made.gain[0] == pytest.approx(math.log(1 + 1 / 0.5))


@pytest.mark.parametrize("rule", [facility_location, log_det])
def test_gains_only_shrink(rule: Rule) -> None:
    assert (np.diff(rule(_points(2, 60), 12).gain) <= 1e-12).all()


def test_lazy_bounds_pick_what_full_evaluation_picks() -> None:
    x = _points(3, 80)
    k = np.exp(-(_distances(x) ** 2) / (2 * kernel_width(x) ** 2))
    best = np.zeros(80)
    plain: list[int] = []
    for _ in range(10):
        gains = np.maximum(k - best, 0).sum(axis=1)
        gains[plain] = -1
        plain.append(int(gains.argmax()))
        best = np.maximum(best, k[plain[-1]])
    assert facility_location(x, 10).picked.tolist() == plain


def test_most_gains_are_never_computed_again() -> None:
    x = _points(4, 400)
    rule = coverage._Likeness(x, kernel_width(x))
    coverage._grown(400, 20, rule, None, (), None)
    assert rule.evaluated < 400 + 20 * 400 / 4


@pytest.mark.parametrize("rule", RULES)
def test_fixed_points_come_first_and_quotas_are_met(rule: Rule) -> None:
    x, rng = _points(5, 40), np.random.default_rng(5)
    level = rng.integers(0, 2, (40, 2))
    half = np.array([3, 3])
    made = rule(x, 6, quotas=Quotas(level, (half, half)), fixed=[7, 3])
    assert made.picked[:2].tolist() == [7, 3]
    assert [np.bincount(level[made.picked, f]).tolist() for f in (0, 1)] == [[3, 3], [3, 3]]


@pytest.mark.parametrize("rule", RULES)
def test_balance_spreads_over_levels_first(rule: Rule) -> None:
    level = np.array([0] * 27 + [1, 2, 2])[:, None]
    made = rule(_points(6, 30), 3, balance=level)
    assert sorted(level[made.picked, 0].tolist()) == [0, 1, 2]


@pytest.mark.parametrize("rule", RULES)
def test_relabelling_the_points_relabels_the_pick(rule: Rule) -> None:
    x, order = _points(7, 30), np.random.default_rng(7).permutation(30)
    assert order[rule(x[order], 5).picked].tolist() == rule(x, 5).picked.tolist()


@pytest.mark.parametrize("rule", RULES)
def test_equal_points_are_no_obstacle(rule: Rule) -> None:
    made = rule(np.zeros((5, 2)), 3)
    assert sorted(made.picked.tolist()) == [0, 1, 2]
    assert np.isfinite(made.value)


def test_standardised_columns_have_mean_0_and_deviation_1_and_flat_ones_are_0() -> None:
    x = np.column_stack([np.arange(5.0), np.full(5, 0.1)])
    made = standardised(x)
    assert made.mean(axis=0) == pytest.approx([0, 0])
    assert made.std(axis=0) == pytest.approx([1, 0])
    assert x[0, 1] == 0.1


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: k_centre(x, 0), "0 of 9 items cannot be picked"),
        (lambda x: k_centre(x, 2, starts=0), "0 starts are none"),
        (lambda x: k_centre(x, 2, fixed=[1, 1]), "fixed items must be different"),
        (lambda x: k_centre(x, 2, fixed=[9]), "indices below 9"),
        (lambda x: facility_location(x, 2, width=0.0), "kernel width is 0.0"),
        (lambda x: log_det(x, 2, noise=0.0), "noise is 0.0"),
        (lambda x: k_centre(x * np.nan, 2), "missing or infinite"),
        (lambda x: k_centre(x[0], 2), r"points must have shape \(items, properties\)"),
        (lambda x: k_centre(x, 2, balance=np.zeros((3, 1))), "balance needs a level >= 0 for each of 9 items"),
        (lambda x: log_det(x, 2, quotas=Quotas(np.zeros((9, 1), int), (np.array([0, 2]),))), "cannot be met together"),
        (lambda x: k_centre(x, 2, quotas=Quotas(np.zeros((9, 1), int), (np.array([0, 2]),))), "cannot be met together"),
        (
            lambda x: k_centre(x, 1, fixed=[1], quotas=Quotas(np.arange(9)[:, None] % 2, (np.array([1, 0]),))),
            "with fixed item 1 the quotas cannot be met",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call: Callable[[np.ndarray], object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        call(_points(8))
