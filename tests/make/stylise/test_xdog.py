"""The extended difference of Gaussians at its limits."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from paragone.make.stylise.xdog import xdog


def test_flat_tone_is_paper_above_epsilon_and_known_grey_below() -> None:
    # S of a constant is the constant, whatever p and sigma: (1 + p) c - p c = c
    for tone in (0.5, 0.8):
        assert np.allclose(xdog(np.full((20, 20), tone), sigma=2, p=20, epsilon=0.5 - 1e-9, phi=10), 1.0)
    drawn = xdog(np.full((20, 20), 0.3), sigma=2, p=20, epsilon=0.5, phi=10)
    assert np.allclose(drawn, 1 + np.tanh(10 * (0.3 - 0.5)))


def test_without_sharpening_it_is_a_soft_threshold_of_a_blur() -> None:
    tone = np.random.default_rng(0).uniform(0, 1, (30, 30))
    blurred = ndimage.gaussian_filter(tone, 1.5)
    expected = np.where(blurred >= 0.5, 1.0, 1 + np.tanh(7 * (blurred - 0.5)))
    assert np.allclose(xdog(tone, sigma=1.5, p=0, epsilon=0.5, phi=7), expected)


def test_a_steep_threshold_is_black_and_white() -> None:
    tone = np.random.default_rng(0).uniform(0, 1, (30, 30))
    drawn = xdog(tone, sigma=1, p=5, epsilon=0.5, phi=1e6)
    assert np.isin(np.round(drawn, 9), [0.0, 1.0]).all()


def test_ink_falls_on_the_dark_side_of_an_edge() -> None:
    tone = np.full((20, 40), 0.7)
    tone[:, :20] = 0.55
    drawn = xdog(tone, sigma=1, p=20, epsilon=0.5, phi=20)
    assert drawn[10, 19] < 0.1
    assert drawn[10, 20] == 1.0
    assert drawn[10, 2] == drawn[10, 37] == 1.0
