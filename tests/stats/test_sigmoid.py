"""The profiled search against every centre and very many slopes tried one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from paragone.stats.sigmoid import MIN_SLOPE, STEEP, fit_sigmoid
from paragone.stats.statistic import Floats

SHAPES = {
    "line": lambda x: 0.3 * x,
    "sigmoid": lambda x: expit(3 * x),
    "noise": lambda x: 0.0 * x,
    "exponential": np.exp,
    "step": lambda x: (x > 0.3) * 1.0,
    "hump": lambda x: -(x**2),
}


def squared_error(x: Floats, y: Floats, slope: float, centre: float, *, straight: bool) -> float:
    """By a general least-squares solver."""
    columns = [np.ones_like(x), expit(slope * (x - centre))] + ([x] if straight else [])
    design = np.column_stack(columns)
    return float(((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2).sum())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("straight", [True, False])
def test_no_cell_of_a_dense_grid_is_better(shape: str, straight: bool) -> None:
    rng = np.random.default_rng(1)
    x = np.sort(rng.normal(size=40))
    x = (x - x.mean()) / x.std()
    y = SHAPES[shape](x) + 0.5 * rng.normal(size=40)
    fit = fit_sigmoid(x, y, straight=straight, monotone=False, max_slope=np.inf)
    curve = fit.rise * expit(fit.slope * (x - fit.centre)) + fit.straight * x + fit.shift
    ours = float(((y - curve) ** 2).sum())
    centres = np.r_[x, (x[1:] + x[:-1]) / 2, x[0] - np.geomspace(0.1, 30, 8), x[-1] + np.geomspace(0.1, 30, 8)]
    best = min(
        squared_error(x, y, slope, centre, straight=straight)
        for slope in np.geomspace(MIN_SLOPE, 1000, 24)
        for centre in centres
    )
    assert ours <= best * (1 + 1e-6)  # an exponential is reached to about a millionth


def test_the_slope_stays_within_its_limit_and_a_rising_fit_rises() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=60)
    x = (x - x.mean()) / x.std()
    for seed in range(5):
        y = np.random.default_rng(seed).normal(size=60) - x
        fit = fit_sigmoid(x, y, straight=True, monotone=True, max_slope=STEEP)
        assert MIN_SLOPE <= fit.slope <= STEEP * (1 + 1e-12)
        at = np.linspace(x.min(), x.max(), 2001)
        steps = np.diff(fit.rise * expit(fit.slope * (at - fit.centre)) + fit.straight * at)
        assert (steps >= -1e-9).all()
        assert not fit.turns
