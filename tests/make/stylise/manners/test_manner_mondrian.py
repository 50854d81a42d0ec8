"""Mondrian: rectangles of palette colours between upright black lines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from paragone.images import lab
from paragone.make.stylise import stylise
from paragone.make.stylise.manners.mondrian import MONDRIAN

Make = Callable[..., NDArray[np.float32]]


def colours_of(made: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    found, index = np.unique(made.reshape(-1, 3), axis=0, return_inverse=True)
    order = np.argsort(found.sum(axis=1), kind="stable")  # black first
    return found[order], np.argsort(order)[index.reshape(-1)].reshape(made.shape[:2])


@pytest.mark.parametrize("column", [0.3, 0.5])
def test_there_are_at_most_six_colours_and_every_area_is_a_whole_rectangle(
    column: float, scene: Make, reference: Make
) -> None:
    found, index = colours_of(stylise(scene(192, 256, column=column), reference("mondrian"), MONDRIAN))
    assert 4 <= len(found) <= 6
    assert found[0].max() < 0.15
    area, n = ndimage.label(index > 0)
    assert n > 20
    for i, box in enumerate(ndimage.find_objects(area)):
        inside = area[box] == i + 1
        assert inside.all()
        assert len(np.unique(index[box])) == 1


@pytest.mark.parametrize("dark", [False, True])
def test_the_ground_is_off_white_and_grey_even_for_dark_contents(dark: bool, scene: Make, reference: Make) -> None:
    content = (0.25 if dark else 1.0) * scene(192, 256)
    made = lab(stylise(content, reference("mondrian"), MONDRIAN))
    painted = made[..., 0] > 12
    neutral = (np.hypot(made[..., 1], made[..., 2]) < 25) & (made[..., 0] > 60)
    assert neutral.sum() / painted.sum() >= 0.45
    assert painted.mean() > 0.6


def test_the_primaries_are_the_styles_own(scene: Make) -> None:
    style = np.full((60, 60, 3), (0.95, 0.94, 0.90), dtype=np.float32)
    own = {"red": (0.66, 0.10, 0.16), "yellow": (0.90, 0.72, 0.05), "blue": (0.02, 0.28, 0.60)}
    for i, colour in enumerate(own.values()):
        style[:, 15 + 15 * i : 27 + 15 * i] = colour
    content = scene(192, 256)
    content[:90, :90] = (0.9, 0.1, 0.1)
    content[110:, :90] = (0.95, 0.85, 0.1)
    content[:60, 150:] = (0.1, 0.15, 0.7)
    found, _ = colours_of(stylise(content, style, MONDRIAN))
    for colour in own.values():
        assert np.abs(found - colour).max(axis=1).min() < 0.03


def test_lines_lie_where_colours_change(reference: Make) -> None:
    content = np.full((128, 128, 3), 0.9, dtype=np.float32)
    content[:, 77:] = (0.8, 0.1, 0.1)
    content[40:, 77:] = (0.1, 0.2, 0.7)
    black = stylise(content, reference("mondrian"), MONDRIAN).max(axis=2) < 0.15
    assert black[:, 75:80].any(axis=1).all()
    assert black[38:43, 85:].any(axis=0).all()
    assert not black[:, :60].any()
