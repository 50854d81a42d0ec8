from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from read_votes import drawn

from paragone.errors import NotConverged
from paragone.estimate import newton
from paragone.estimate.counts import count
from paragone.estimate.newton import Point, climb
from paragone.estimate.thurstone import _Surface


def bowl(x: np.ndarray) -> Point:
    """A quartic hill with its top at (1, -2), and a saddle's curvature far from it."""
    d = x - np.array([1.0, -2.0])
    gradient = -d - d**3
    bend = 1.0 + 3.0 * d**2
    value = float(-(d**2 / 2 + d**4 / 4).sum())
    return Point(value, gradient, lambda: np.diag(bend), lambda v: bend * v, bend)


def ripple(x: np.ndarray) -> Point:
    """cos x: near pi the curvature has the wrong sign and Newton's own step would go to the valley."""
    return Point(
        float(np.cos(x[0])), -np.sin(x), lambda: np.diag(np.cos(x)), lambda v: np.cos(x) * v, np.abs(np.cos(x))
    )


def slide(x: np.ndarray) -> Point:
    """x - log(1 + e^x), which rises for ever."""
    p = 1.0 / (1.0 + np.exp(-x))
    bend = p * (1.0 - p)
    return Point(float((x - np.logaddexp(0, x))[0]), 1.0 - p, lambda: np.diag(bend), lambda v: bend * v, bend)


def test_the_top_of_a_hill_is_found_to_rounding():
    top = climb(bowl, np.array([9.0, 9.0]))
    np.testing.assert_allclose(top.x, [1.0, -2.0], rtol=0, atol=1e-14)
    assert top.steepest < 1e-14


def test_a_start_near_a_valley_still_climbs():
    top = climb(ripple, np.array([np.pi - 0.1]))
    assert top.point.value == pytest.approx(1.0, abs=1e-15)


def test_the_start_is_not_written_to():
    start = np.array([9.0, 9.0])
    climb(bowl, start)
    assert start.tolist() == [9.0, 9.0]


def test_too_few_steps_are_an_error_and_not_an_answer():
    with pytest.raises(NotConverged, match=r"still move by .* after 2 steps; allow more \(max_iterations\)"):
        climb(bowl, np.array([9.0, 9.0]), max_iterations=2)


def test_a_watcher_is_asked_where_a_slope_never_ends():
    asked = []
    climb(slide, np.array([0.0]), max_iterations=500, watch=lambda x: asked.append(float(x[0])))
    assert asked[-1] > 20


def test_a_hill_without_a_number_is_an_error():
    def nowhere(x: np.ndarray) -> Point:
        value = 0.0 if not x.any() else float("nan")
        return Point(value, np.ones(1), lambda: np.eye(1), lambda v: v, np.ones(1))

    with pytest.raises(NotConverged, match="no step raises the likelihood any further"):
        climb(nowhere, np.zeros(1))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), prior=st.booleans())
def test_the_value_never_falls_from_step_to_step(seed: int, prior: bool):
    surface = _Surface(count(drawn(seed, m=40)), prior=prior)
    trace = np.array(climb(surface.at, np.zeros(7)).trace)
    assert np.all(np.diff(trace) >= -1e-12 * np.abs(trace[1:]))
    assert trace[-1] > trace[0]


def test_conjugate_gradients_and_cholesky_find_the_same_top(monkeypatch):
    surface = _Surface(count(drawn(5, n=12, m=300)), prior=True)
    dense = climb(surface.at, np.zeros(12))
    monkeypatch.setattr(newton, "DENSE", 0)
    sparse = climb(surface.at, np.zeros(12))
    np.testing.assert_allclose(sparse.x, dense.x, rtol=0, atol=1e-9)
