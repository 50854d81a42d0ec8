"""Distances between the colours of two pictures: analytic values, scipy, laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.images import as_picture, lab
from paragone.metrics.colour import colour_histogram, colour_transport

BOTH = [colour_histogram, colour_transport]


def noise(height: int = 20, width: int = 30, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((height, width, 3)).astype(np.float32)


def flat(red: float, green: float, blue: float, side: int = 8) -> np.ndarray:
    return np.broadcast_to(np.array([red, green, blue], np.float32), (side, side, 3))


@pytest.mark.parametrize("distance", BOTH)
def test_where_the_pixels_stand_does_not_matter(distance) -> None:
    picture = noise()
    shuffled = np.random.default_rng(1).permutation(picture.reshape(-1, 3)).reshape(picture.shape)
    assert distance(picture, shuffled) == pytest.approx(0, abs=1e-7)
    assert distance(picture, picture) == 0


@pytest.mark.parametrize("distance", BOTH)
def test_twice_the_pixels_in_the_same_colours_are_at_no_distance(distance) -> None:
    picture = noise()
    assert distance(np.concatenate([picture, picture]), picture) == pytest.approx(0, abs=1e-7)


def test_colours_with_nothing_in_common_are_at_distance_one() -> None:
    assert colour_histogram(flat(1, 0, 0), flat(0, 0, 1)) == pytest.approx(1)


def test_half_the_colours_in_common() -> None:
    # p = (1/2, 1/2) and q = (1, 0): Hellinger sqrt(1 - sqrt(1/2)); black and white lie on nodes of the histogram
    half = np.concatenate([flat(0, 0, 0), flat(1, 1, 1)])
    assert colour_histogram(half, flat(0, 0, 0)) == pytest.approx(np.sqrt(1 - np.sqrt(0.5)), abs=1e-6)


def test_black_to_white_moves_lightness_by_a_hundred() -> None:
    assert colour_transport(flat(0, 0, 0), flat(1, 1, 1)) == pytest.approx(100 / 3)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_transport_agrees_with_scipy(height: int, width: int, other: int, seed: int) -> None:
    from scipy.stats import wasserstein_distance

    first, second = noise(height, width, seed), noise(other, width, seed + 1)
    colours = [lab(as_picture(array)).reshape(-1, 3) for array in (first, second)]
    expected = np.mean([wasserstein_distance(colours[0][:, axis], colours[1][:, axis]) for axis in range(3)])
    assert colour_transport(first, second) == pytest.approx(expected, abs=1e-10)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_both_are_symmetric_and_in_range(height: int, width: int, seed: int) -> None:
    first, second = noise(height, width, seed), noise(width, height, seed + 1)
    for distance in BOTH:
        assert distance(first, second) == pytest.approx(distance(second, first), abs=1e-12)
        assert distance(first, second) >= 0
    assert colour_histogram(first, second) <= 1


@pytest.mark.parametrize("distance", BOTH)
def test_the_triangle_holds(distance) -> None:
    pictures = [noise(seed=seed) ** (seed + 1) for seed in range(3)]
    one, two, three = (distance(pictures[a], pictures[b]) for a, b in ((0, 1), (1, 2), (0, 2)))
    assert three <= one + two + 1e-12


@pytest.mark.parametrize("distance", BOTH)
def test_further_colours_are_further(distance) -> None:
    picture = noise()
    values = [distance(picture ** np.float32(gamma), picture) for gamma in (1, 1.05, 1.3, 2, 4)]
    assert values == sorted(values)


def test_a_small_change_of_colour_is_a_small_change_of_the_histogram() -> None:
    # 1 / 255 across the edge of a cell: without sharing pixels between nodes the distance would jump to 1
    values = [colour_histogram(flat(*[level / 255] * 3), flat(*[(level + 1) / 255] * 3)) for level in range(255)]
    assert max(values) < 0.25
