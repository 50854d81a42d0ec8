"""Averages in linear light."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from paragone.errors import BadImage
from paragone.images import linear
from paragone.make.stylise import stylise
from paragone.make.stylise.average import AVERAGE, averaged

Make = Callable[..., NDArray[np.float32]]


def test_black_and_white_average_to_half_the_light() -> None:
    black, white = np.zeros((2, 2, 3), dtype=np.float32), np.ones((2, 2, 3), dtype=np.float32)
    made = averaged([black, white])
    assert np.allclose(made, 0.735357, atol=1e-6)  # 1.055 * 0.5 ** (1 / 2.4) - 0.055, IEC 61966-2-1
    assert np.allclose(averaged([black, white], [3.0, 1.0]), 1.055 * 0.25 ** (1 / 2.4) - 0.055, atol=1e-6)


def test_light_adds_up(picture: Make) -> None:
    a, b = picture(), picture(seed=1)
    assert np.allclose(linear(averaged([a, b], [1.0, 2.0])), (linear(a) + 2 * linear(b)) / 3, atol=1e-6)


def test_one_picture_is_its_own_average(picture: Make) -> None:
    assert np.allclose(averaged([picture()]), picture(), atol=1e-6)


def test_values_outside_the_range_are_clipped_first() -> None:
    bright = np.full((2, 2, 3), 2.0, dtype=np.float32)
    assert np.allclose(averaged([bright, np.zeros_like(bright)]), 0.735357, atol=1e-6)


def test_pictures_and_weights_that_do_not_go_together_are_refused(picture: Make) -> None:
    with pytest.raises(BadImage, match="average: no picture; give at least one"):
        averaged([])
    with pytest.raises(BadImage, match="all of one size"):
        averaged([picture(), picture(20, 20)])
    for weights in ([1.0], [0.0, 0.0], [-1.0, 2.0], [np.nan, 1.0]):
        with pytest.raises(BadImage, match="give one a picture, none below 0, not all 0"):
            averaged([picture(), picture()], weights)


def test_the_styliser_gives_one_picture_for_a_seed(picture: Make) -> None:
    made = stylise(picture(), picture(seed=1), AVERAGE, seed=2)
    assert np.array_equal(made, stylise(picture(), picture(seed=1), AVERAGE, seed=2))
    assert made.shape == picture().shape
