"""Arrays at the door, 8-bit rounding and resizing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import BadImage, UnknownName
from paragone.images import RESIZERS, as_picture, resize, to_uint8

ALL = np.arange(256, dtype=np.uint8).reshape(16, 16)


def noise(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((height, width, 3)).astype(np.float32)


def test_every_type_gives_the_same_picture() -> None:
    expected = as_picture(ALL)
    for other in (ALL[..., None], ALL.astype(np.uint16) * 257, ALL / 255, np.asfortranarray(ALL / 255)):
        np.testing.assert_array_equal(as_picture(other), expected)


def test_a_picture_is_not_copied() -> None:
    picture = noise(5, 7)
    assert as_picture(picture) is picture


def test_all_byte_values_survive_the_way_there_and_back() -> None:
    np.testing.assert_array_equal(to_uint8(as_picture(ALL))[..., 0], ALL)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (ALL.astype(np.float64), r"values from 0 to 255 are not in \[0, 1\]"),
        (np.full((4, 4), -0.1), "not in"),
        (np.full((4, 4, 3), np.nan), "values from nan"),
        (np.zeros((4, 4, 4), np.uint8), r"shape \(4, 4, 4\) is not"),
        (np.zeros((0, 4, 3), np.uint8), "shape"),
        (np.zeros((4, 4), np.int64), "values of type int64"),
        (np.zeros((4, 4), bool), "values of type bool"),
    ],
)
def test_an_array_that_is_no_picture_is_refused(array: np.ndarray, said: str) -> None:
    with pytest.raises(BadImage, match=said):
        as_picture(array, where="x")


@pytest.mark.parametrize("resizer", sorted(RESIZERS))
def test_a_flat_picture_stays_flat_at_every_size(resizer: str) -> None:
    flat = np.full((12, 17, 3), 0.3, dtype=np.float32)
    for height, width in ((3, 5), (40, 12), (12, 1)):
        np.testing.assert_allclose(resize(flat, height, width, resizer=resizer), 0.3, atol=1e-6)


@pytest.mark.parametrize("resizer", sorted(RESIZERS))
def test_resizing_gives_height_and_width_in_that_order(resizer: str) -> None:
    made = resize(noise(12, 17), 5, 9, resizer=resizer)
    assert made.shape == (5, 9, 3)
    assert made.dtype == np.float32
    assert made.flags.c_contiguous


@given(st.integers(1, 13), st.integers(1, 13), st.integers(1, 20), st.integers(1, 20))
def test_area_keeps_the_mean(height: int, width: int, new_height: int, new_width: int) -> None:
    picture = noise(height, width)
    made = resize(picture, new_height, new_width, resizer="area")
    means = (np.mean(array, axis=(0, 1), dtype=np.float64) for array in (made, picture))
    np.testing.assert_allclose(*means, atol=1e-6)


def test_area_by_a_whole_factor_is_the_block_mean() -> None:
    picture = noise(12, 15)
    expected = picture.reshape(4, 3, 5, 3, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(resize(picture, 4, 5, resizer="area"), expected, atol=1e-6)


def test_shrinking_does_not_alias() -> None:
    stripes = np.zeros((64, 64, 3), np.float32)
    stripes[:, ::2] = 1
    for resizer in RESIZERS:
        made = resize(stripes, 64, 16, resizer=resizer)[:, 2:-2]
        np.testing.assert_allclose(made, 0.5, atol=0.02)


def test_its_own_size_leaves_a_picture_alone() -> None:
    picture = noise(6, 8)
    assert resize(picture, 6, 8, resizer="area") is picture


def test_an_unknown_resizer_is_named() -> None:
    with pytest.raises(UnknownName, match="no resizer 'pil-bicubik'; did you mean 'pil-bicubic'"):
        resize(noise(4, 4), 2, 2, resizer="pil-bicubik")


def test_no_picture_has_no_pixels() -> None:
    with pytest.raises(BadImage, match="both sides must be at least 1"):
        resize(noise(4, 4), 0, 2, resizer="area")
