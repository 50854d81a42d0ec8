"""The monotone cubic: the free one where that is monotone, the best monotone one where not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from paragone.errors import BadInput, TooFew
from paragone.stats.cubic import fit_monotone_cubic


def test_a_monotone_truth_is_found_exactly() -> None:
    x = np.linspace(-1, 4, 30)
    fit = fit_monotone_cubic(x, 2 + x + 0.1 * (x - 1) ** 3)
    assert fit.coefficients == pytest.approx((1.9, 1.3, -0.3, 0.1), abs=1e-6)
    assert fit.rising


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**31))
def test_the_curve_never_turns_and_is_as_good_as_a_general_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=40) * 3 + 1
    y = rng.normal() * x + rng.normal() * x**2 / 5 + rng.normal() * x**3 / 20 + rng.normal(size=40)
    fit = fit_monotone_cubic(x, y)
    steps = np.diff(fit.predict(np.linspace(x.min(), x.max(), 2001)))
    assert (steps * (1 if fit.rising else -1) >= -1e-9 * np.abs(y).max()).all()
    assert fit.sse == pytest.approx(float(((y - fit.predict(x)) ** 2).sum()), rel=1e-8, abs=1e-9)
    grid = np.linspace(x.min(), x.max(), 400)
    best = np.inf
    for sign in (1.0, -1.0):
        found = minimize(
            lambda c: float(((y - np.polyval(c, x)) ** 2).sum()),
            np.array([0.0, 0.0, sign * 0.1, y.mean()]),
            constraints={"type": "ineq", "fun": lambda c, s=sign: s * np.polyval(np.polyder(c), grid)},
            method="SLSQP",
            options={"maxiter": 300, "ftol": 1e-10},
        )
        if found.success:
            best = min(best, found.fun)
    assert fit.sse <= best * (1 + 1e-3)  # the solver's 400 constraints leave gaps, so it may cheat a little


def test_too_little_is_refused() -> None:
    with pytest.raises(TooFew, match="4 items"):
        fit_monotone_cubic([1, 2, 3, 4], [1, 2, 3, 4])
    with pytest.raises(BadInput, match="one length"):
        fit_monotone_cubic([1, 2], [1])
