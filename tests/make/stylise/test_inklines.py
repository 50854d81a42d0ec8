"""Lines along forms at their limits."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from paragone.make.stylise.inklines import flow_lines, levelled
from paragone.make.stylise.xdog import xdog


def test_flat_tone_is_paper_above_epsilon_and_known_grey_below() -> None:
    drawn = flow_lines(np.full((24, 24), 0.3), sigma=1, p=20, epsilon=0.5, phi=10, length=2)
    assert np.allclose(drawn, 1 + np.tanh(10 * (0.3 - 0.5)))
    assert np.allclose(flow_lines(np.full((24, 24), 0.6), sigma=1, p=20, epsilon=0.5, phi=10, length=2), 1.0)


def test_a_straight_edge_is_inked_on_its_dark_side_only() -> None:
    tone = np.full((40, 40), 0.7)
    tone[:, :20] = 0.55
    drawn = flow_lines(tone, sigma=1, p=20, epsilon=0.5, phi=20, length=3)
    assert (drawn[10:30, 18] < 0.2).all()
    assert np.allclose(drawn[10:30, 22], 1.0)
    assert np.allclose(drawn[10:30, 5], 1.0)


def test_grain_makes_fewer_dots_than_without_flow() -> None:
    grain = 0.6 + 0.05 * ndimage.gaussian_filter(np.random.default_rng(0).standard_normal((80, 80)), 0.7)
    flow = flow_lines(grain, sigma=1, p=20, epsilon=0.5, phi=10, length=4)
    plain = xdog(grain, sigma=1, p=20, epsilon=0.5, phi=10)
    assert (1 - flow).mean() < 0.5 * (1 - plain).mean()


def test_levelled_areas_are_equally_light_and_small_things_keep_their_contrast() -> None:
    tone = np.full((60, 200), 0.1)
    tone[:, 100:] = 0.9
    tone[30, 50] += 0.2
    level = levelled(tone, 8.0)
    assert np.isclose(level[30, 20], 0.62)
    assert np.isclose(level[30, 180], 0.62)
    assert np.isclose(level[30, 50] - level[30, 40], 0.2, atol=0.01)
