"""Taking the means of two groupings out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import BadInput, NotConverged
from paragone.stats.sweep import swept


@given(st.integers(3, 40), st.integers(1, 6), st.integers(1, 6), st.integers(0, 9999))
@settings(max_examples=80, deadline=None)
def test_residuals_are_those_of_a_regression_on_indicators(m: int, a: int, b: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second, values = rng.integers(0, a, m), rng.integers(0, b, m), rng.standard_normal((m, 2))
    design = np.concatenate([np.eye(a)[first], np.eye(b)[second]], axis=1)
    fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
    assert swept(values, first, second) == pytest.approx(values - fitted, abs=1e-6)


def test_the_slope_of_swept_numbers_is_that_of_the_whole_regression() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 7, 300), rng.integers(0, 5, 300)
    x = rng.standard_normal(300) + first
    y = 0.3 * x + first - 2.0 * second + 0.1 * rng.standard_normal(300)
    design = np.concatenate([x[:, None], np.eye(7)[first], np.eye(5)[second]], axis=1)
    left = swept(np.stack([y, x], axis=1), first, second)
    assert left[:, 0] @ left[:, 1] / (left[:, 1] @ left[:, 1]) == pytest.approx(np.linalg.lstsq(design, y)[0][0])


def test_the_argument_stays_as_it_is() -> None:
    values = np.arange(4.0)
    swept(values, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    assert values.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_what_cannot_be_swept_is_refused() -> None:
    one = np.zeros(2, dtype=np.int64)
    with pytest.raises(BadInput, match="3 numbers with groups of 2 and 2"):
        swept(np.zeros(3), one, one)
    with pytest.raises(BadInput, match="not finite"):
        swept([1.0, np.nan], one, one)
    chain = np.arange(40)
    with pytest.raises(NotConverged, match="not taken out within 2 passes"):
        swept(np.random.default_rng(0).standard_normal(40), chain // 2, (chain + 1) // 2, limit=2)
