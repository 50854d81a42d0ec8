"""The Kuwahara filter: what it leaves alone and what it flattens."""

from __future__ import annotations

import numpy as np

from paragone.make.stylise.kuwahara import _sectors, kuwahara


def test_kuwahara_leaves_flat_colour_and_a_straight_edge_alone() -> None:
    image = np.full((40, 40, 3), 0.2)
    image[:, 20:] = [0.9, 0.4, 0.1]
    assert np.abs(kuwahara(image, radius=4.0) - image).max() < 2e-3


def test_kuwahara_flattens_grain() -> None:
    rng = np.random.default_rng(0)
    grain = 0.5 + 0.05 * rng.standard_normal((60, 60, 3))
    assert kuwahara(grain, radius=5.0)[10:-10, 10:-10].std() < 0.35 * grain.std()


def test_sectors_are_means_that_together_cover_the_ellipse_evenly() -> None:
    sectors = _sectors(0.4, 6.0, 1.5)
    assert np.allclose(sectors.sum(axis=(1, 2)), 1.0)
    assert (sectors >= 0).all()
    assert np.allclose(sectors[0], sectors[4][::-1, ::-1])
