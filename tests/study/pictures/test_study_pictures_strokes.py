"""Digits and characters of our own are shapes that can be told apart."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from paragone.study.pictures.strokes import CHARACTERS, DIGITS, distance, laid_out


def grid(text: str, size: int = 60) -> np.ndarray:
    """The text drawn in a unit square, stroke 0.1 thick."""
    y, x = np.mgrid[:size, :size] / size
    return distance(np.stack([x.ravel(), y.ravel()], axis=1), laid_out(text, gap=0.2)[0]) < 0.05


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(sorted({**DIGITS, **CHARACTERS}), 2)))
def test_two_shapes_differ(one: str, other: str) -> None:
    first, second = grid(one), grid(other)
    assert (first & second).sum() < 0.9 * (first | second).sum()


def test_every_shape_lies_in_its_box() -> None:
    for strokes, width in [(s, 0.68) for s in DIGITS.values()] + [(s, 1.0) for s in CHARACTERS.values()]:
        points = np.concatenate(strokes)
        assert points[:, 1].min() >= -0.001
        assert points[:, 1].max() <= 1.001
        assert points[:, 0].min() >= -0.04
        assert points[:, 0].max() <= width


def test_shapes_stand_side_by_side() -> None:
    strokes, width = laid_out("1选", gap=0.25)
    assert width == pytest.approx(0.6 + 0.25 + 1.0)
    assert len(strokes) == len(DIGITS["1"]) + len(CHARACTERS["选"])
    assert strokes[-1][:, 0].min() > 0.85
    with pytest.raises(KeyError):
        laid_out("x", gap=0.1)


def test_distance_is_that_to_the_nearest_point_of_a_line() -> None:
    line = [np.array([[0.0, 0.0], [2.0, 0.0]])]
    points = np.array([[1.0, 3.0], [-3.0, 4.0], [2.0, 0.0], [5.0, 4.0]])
    np.testing.assert_allclose(distance(points, line), [3.0, 5.0, 0.0, 5.0])
