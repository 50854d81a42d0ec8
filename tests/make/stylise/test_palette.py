"""Main colours, tones, and CIELAB back to sRGB."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from skimage.color import lab2rgb

from paragone.images import lab
from paragone.make.stylise.palette import main_colours, srgb, tonal_index

Make = Callable[..., NDArray[np.float32]]


def test_lab_and_back_is_the_same_colour() -> None:
    cube = np.array(list(product([0, 0.02, 0.3, 0.7, 1], repeat=3)), dtype=np.float32)[None]
    assert np.abs(srgb(lab(cube)) - cube).max() < 1e-6


def test_lab_to_srgb_agrees_with_scikit_image() -> None:
    # skimage 0.26 rounds its white point to five digits, hence the tolerance
    colours = np.array([[[50.0, 20, -30], [80, -10, 40], [5, 1, 1]]])
    assert np.abs(srgb(colours) - lab2rgb(colours)).max() < 1e-3


def test_main_colours_are_the_colours_there_are(picture: Make) -> None:
    image = np.zeros((20, 30, 3), dtype=np.float32)
    image[:, 10:] = [1, 0, 0]
    image[:, 25:] = [1, 1, 1]
    found = main_colours(image, 5)
    assert np.allclose(srgb(found.colours), [[0, 0, 0], [1, 0, 0], [1, 1, 1]], atol=1e-5)
    assert found.shares == pytest.approx([1 / 3, 1 / 2, 1 / 6], abs=0.01)
    assert len(main_colours(picture(), 6).colours) == 6


def test_tones_are_matched_by_rank() -> None:
    index = tonal_index(np.array([[0.9, 0.1, 0.5, 0.6]]), np.array([0.25, 0.5, 0.25]))
    assert index.tolist() == [[2, 0, 1, 1]]
