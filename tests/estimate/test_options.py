"""Numeric options of every estimator: what no model can work with is refused by name, never computed with."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

from paragone.errors import BadConfig, CannotScore
from paragone.estimate import ESTIMATORS, Comparisons, Estimator, Opinions

ALL = [ESTIMATORS.get(name) for name in ESTIMATORS.builtin]
NUMBERS = [
    pytest.param(estimator, parameter.name, id=f"{estimator.name}-{parameter.name}")
    for estimator in ALL
    for parameter in inspect.signature(estimator.model).parameters.values()
    if isinstance(parameter.default, (int, float)) and not isinstance(parameter.default, bool)
]
ITERATING = [
    pytest.param(estimator, id=estimator.name)
    for estimator in ALL
    if "max_iterations" in inspect.signature(estimator.model).parameters
]
SIGNED = {("dmos", "anchor"), ("elo", "initial")}  # documented as numbers of either sign


def _data(estimator: Estimator) -> tuple[Any, ...]:
    """Every item wins and loses, some pair is judged twice, and every participant rates every item."""
    rng = np.random.default_rng(0)
    n, people, m = 4, 6, 240
    left = rng.integers(n, size=m)
    right = (left + rng.integers(1, n, size=m)) % n
    outcome = (rng.random(m) < 1 / (1 + np.exp(-0.5 * (left - right)))).astype(float)
    outcome[::10] = 0.5
    none = np.zeros(m, dtype=np.int64)
    votes = Comparisons(n, left, right, outcome, rng.integers(people, size=m), none, np.ones(m), np.ones(m))
    item, who = (grid.ravel() for grid in np.meshgrid(np.arange(n), np.arange(people)))
    value = 1.0 + item + rng.normal(0, 0.5, item.size)
    session, content = np.zeros(item.size, dtype=np.int64), np.array([0, 0, 1, 1])
    ratings = Opinions(n, people, item, who, session, value, np.ones(item.size), np.array([3, 3, 3, -1]), content)
    return {"votes": (votes,), "ratings": (ratings,), "both": (votes, ratings)}[estimator.reads]


def _refusal(estimator: Estimator, option: str, value: float) -> BadConfig:
    with pytest.raises(BadConfig) as caught:
        estimator.model(*_data(estimator), **{option: value})
    return caught.value


@pytest.mark.parametrize("estimator", [pytest.param(e, id=e.name) for e in ALL])
def test_the_answers_of_this_file_can_be_scored(estimator: Estimator) -> None:
    assert np.isfinite(estimator.model(*_data(estimator)).score).all()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(("estimator", "option"), NUMBERS)
def test_what_is_no_finite_number_is_refused_by_the_option_s_name(
    estimator: Estimator, option: str, value: float
) -> None:
    error = _refusal(estimator, option, value)
    assert f"{option} = '{value}' is not" in error.message
    assert error.where == option
    if estimator.replicate is not None:
        with pytest.raises(BadConfig, match=f"{option} = "):
            estimator.replicate(*_data(estimator), np.ones((1, 6)), **{option: value})


@pytest.mark.parametrize(("estimator", "option"), NUMBERS)
def test_a_negative_number_is_refused_unless_the_option_has_a_sign(estimator: Estimator, option: str) -> None:
    if (estimator.name, option) in SIGNED:
        shift = estimator.model(*_data(estimator)).score - estimator.model(*_data(estimator), **{option: -1.0}).score
        default = inspect.signature(estimator.model).parameters[option].default
        np.testing.assert_allclose(shift, default + 1.0)
    else:
        assert f"{option} = '-1' is not" in _refusal(estimator, option, -1).message


@pytest.mark.parametrize("value", [1e308, 1e-320])
@pytest.mark.parametrize(("estimator", "option"), NUMBERS)
def test_numbers_at_the_ends_of_the_machine_s_range_are_refused_or_harmless(
    estimator: Estimator, option: str, value: float
) -> None:
    try:
        score = estimator.model(*_data(estimator), **{option: value}).score
    except (BadConfig, CannotScore):
        return
    assert np.isfinite(score).all()
    assert np.ptp(score) > 0


@pytest.mark.parametrize("limit", [0, -5, 1.5, True])
@pytest.mark.parametrize("estimator", ITERATING)
def test_no_model_iterates_less_than_once(estimator: Estimator, limit: Any) -> None:
    error = _refusal(estimator, "max_iterations", limit)
    assert error.message == f"max_iterations = '{limit}' is not a whole number of at least 1"


@pytest.mark.parametrize("estimator", ITERATING)
def test_no_model_takes_a_tolerance_of_nothing(estimator: Estimator) -> None:
    assert "tolerance = '0.0' is not a finite number above 0" in _refusal(estimator, "tolerance", 0.0).message


@pytest.mark.parametrize("estimator", [e for e in ITERATING if e.values[0].reads != "ratings"])
def test_a_climb_does_not_pass_its_first_step_off_as_an_answer(estimator: Estimator) -> None:
    assert "above 0 and up to 0.1" in _refusal(estimator, "tolerance", 50.0).message
