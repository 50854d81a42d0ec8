"""Direction fields, Kuwahara, palettes, seams: known answers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest
from numpy.typing import NDArray
from skimage.color import lab2rgb

from paragone.images import lab
from paragone.make.stylise.kuwahara import _sectors, kuwahara
from paragone.make.stylise.palette import main_colours, srgb, tonal_index
from paragone.make.stylise.patches import _below_seam, _tones
from paragone.make.stylise.strokes import brushed
from paragone.make.stylise.structure import along, structure

Make = Callable[..., NDArray[np.float32]]


@pytest.mark.parametrize("degrees", [0, 30, 90, 135])
def test_the_direction_runs_along_a_grating(degrees: int) -> None:
    y, x = np.mgrid[0:64, 0:64]
    slope = np.radians(degrees)
    grating = np.sin(0.5 * (-x * np.sin(slope) + y * np.cos(slope)))  # constant along the direction
    field = structure(grating, 4.0)
    off = (field.angle[16:48, 16:48] - slope + np.pi / 2) % np.pi - np.pi / 2
    assert np.abs(off).max() < np.radians(3)
    assert field.anisotropy[32, 32] > 0.95


def test_nothing_has_no_direction() -> None:
    assert np.allclose(structure(np.full((20, 20), 0.5), 2.0).anisotropy, 0.0)


def test_smoothing_along_stripes_keeps_them_and_across_removes_them() -> None:
    stripes = np.tile(np.sin(np.arange(64) * 1.2)[:, None], (1, 64))
    kept = along(stripes, np.zeros((64, 64)), 6.0)
    gone = along(stripes, np.full((64, 64), np.pi / 2), 6.0)
    assert np.allclose(kept, stripes)
    assert np.abs(gone[20:44]).max() < 0.05


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


def test_the_seam_takes_the_cheapest_connected_path() -> None:
    error = np.ones((6, 5))
    path = [2, 2, 3, 4, 3, 2]
    error[np.arange(6), path] = 0
    mask = _below_seam(error)
    assert mask.argmax(axis=1).tolist() == path
    assert mask[:, -1].all()


def test_the_seam_is_as_cheap_as_the_best_of_all_paths() -> None:
    error = np.random.default_rng(4).uniform(0, 1, (5, 4))
    paths = [p for p in product(range(4), repeat=5) if all(abs(a - b) <= 1 for a, b in pairwise(p))]
    best = min(sum(error[row, column] for row, column in enumerate(path)) for path in paths)
    chosen = _below_seam(error).argmax(axis=1)
    assert error[np.arange(5), chosen].sum() == pytest.approx(best)


def test_tones_of_a_patch_are_means_of_its_cells() -> None:
    patch = np.random.default_rng(0).uniform(0, 1, (2, 9, 9, 3))
    expected = patch.reshape(2, 3, 3, 3, 3, 3).mean(axis=(2, 4)).reshape(2, -1)
    assert np.allclose(_tones(patch), expected)


def test_strokes_come_close_to_a_flat_picture_and_cover_it() -> None:
    flat = np.full((48, 48, 3), 0.6, dtype=np.float32)
    painted = brushed(flat, flat)
    assert np.abs(painted.mean(axis=(0, 1)) - 0.6).max() < 0.03
    assert painted.std() < 0.1
