"""The subject is found where it was put, and the empty ground around it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from paragone.make.stylise.focus import backdrop, focus, spot, unlike_rim


def scene(row: int, column: int) -> NDArray[np.float64]:
    """CIELAB: a plain blue-grey ground with a chequered warm disk."""
    y, x = np.mgrid[0:96, 0:128]
    image = np.full((96, 128, 3), (60.0, -2.0, -18.0))
    disk = np.hypot(y - row, x - column) < 16
    chequer = ((y // 4 + x // 4) % 2 == 0).astype(float)
    image[disk] = np.stack([30 + 40 * chequer, 30 + 0 * chequer, 40 + 0 * chequer], axis=-1)[disk]
    return image


@pytest.mark.parametrize(("row", "column"), [(48, 64), (40, 40), (60, 90)])
def test_the_subject_is_where_it_was_put(row: int, column: int) -> None:
    likely = focus(scene(row, column))
    assert likely.max() == 1.0
    assert likely.min() >= 0.0
    found = spot(likely)
    assert abs(found.row - row) < 8
    assert abs(found.column - column) < 8
    assert 3 < found.height < 24
    assert 3 < found.width < 24


def test_the_spot_of_a_known_weight_is_its_mean_and_deviation() -> None:
    likely = np.zeros((9, 20))
    likely[4, 6] = likely[4, 10] = 1.0
    assert spot(likely) == (4.0, 8.0, 0.0, 2.0)


def test_what_is_like_the_rim_is_not_unlike_it() -> None:
    image = scene(48, 64)
    unlike = unlike_rim(image)
    assert np.allclose(unlike[:20], 0.0, atol=1e-9)
    assert (unlike[44:52, 60:68] > 30).all()


def test_the_backdrop_is_the_ground_and_not_the_subject() -> None:
    ground = backdrop(scene(48, 64))
    assert (ground[:20] > 0.95).all()
    assert (ground[40:56, 56:72] < 0.05).all()


def test_ground_that_does_not_reach_the_rim_is_no_backdrop() -> None:
    image = scene(48, 64)
    y, x = np.mgrid[0:96, 0:128]
    image[np.hypot(y - 48, x - 64) < 34] = (30.0, 30.0, 40.0)
    image[np.hypot(y - 48, x - 64) < 20] = (60.0, -2.0, -18.0)
    ground = backdrop(image)
    assert (ground[44:52, 60:68] == 0.0).all()
    assert ground[2, 2] > 0.95


def test_a_busy_picture_has_no_backdrop_and_a_flat_one_is_nothing_else() -> None:
    noise = np.random.default_rng(0).uniform(0, 100, (64, 64, 3)) - (0, 50, 50)
    assert backdrop(noise).max() < 0.05
    flat = focus(np.full((16, 40, 3), 50.0))
    assert np.isfinite(flat).all()
