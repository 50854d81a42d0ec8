"""Cuts of a picture by straight lines, where the right cut is known."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.make.stylise.facets import facets

ANGLES = np.arange(12) * np.pi / 12


def halves(turn: float, size: int = 48) -> np.ndarray:
    y, x = np.mgrid[0:size, 0:size] - (size - 1) / 2
    return ((y * np.sin(turn) + x * np.cos(turn)) > 0).astype(np.int64)


@pytest.mark.parametrize("turn", [0.0, np.pi / 4, np.pi / 2, 5 * np.pi / 6])
def test_one_cut_finds_the_line_between_two_colours(turn: float) -> None:
    half = halves(turn)
    colours = np.array([[20.0, 5, 5], [80.0, -5, 9]])[half]
    found = facets(colours, np.ones(half.shape), n=2, angles=ANGLES, least=9)
    agree = (found.label == half).mean()
    assert max(agree, 1 - agree) > 0.97
    assert np.allclose(np.abs(found.normal @ (np.sin(turn), np.cos(turn))), 1.0)


def test_facets_are_as_many_as_asked_for_and_none_is_too_small() -> None:
    colours = np.random.default_rng(0).uniform(0, 100, (40, 60, 3))
    found = facets(colours, np.ones((40, 60)), n=17, angles=ANGLES, least=30)
    counts = np.bincount(found.label.reshape(-1))
    assert len(counts) == 17
    assert counts.min() >= 30
    assert found.normal.shape == (17, 2)
    assert np.allclose(np.hypot(*found.normal.T), 1.0)


def test_facets_are_convex() -> None:
    colours = np.random.default_rng(1).uniform(0, 100, (40, 60, 3))
    found = facets(colours, np.ones((40, 60)), n=12, angles=ANGLES, least=30)
    for facet in range(12):
        y, x = np.nonzero(found.label == facet)
        first, second = np.random.default_rng(2).integers(0, len(y), (2, 300))
        middle = found.label[(y[first] + y[second]) // 2, (x[first] + x[second]) // 2]
        assert (middle == facet).mean() > 0.95  # rounding of the middle may fall beyond a rim


def test_a_flat_picture_is_one_facet() -> None:
    found = facets(np.full((20, 20, 3), 40.0), np.ones((20, 20)), n=9, angles=ANGLES, least=4)
    assert (found.label == 0).all()
    assert np.array_equal(found.normal, [[0.0, 1.0]])


def test_weight_draws_the_cuts() -> None:
    colours = np.random.default_rng(3).uniform(0, 100, (60, 60, 3))
    weight = np.full((60, 60), 0.01)
    weight[:, :30] = 1.0
    label = facets(colours, weight, n=20, angles=ANGLES, least=20).label
    assert len(np.unique(label[:, :28])) > 2 * len(np.unique(label[:, 32:]))
