"""Luma, linear light and CIELAB against known answers and scikit-image."""

from __future__ import annotations

import numpy as np
import pytest

from installed import needed
from paragone.images import as_picture, lab, linear, luma

PRIMARIES = as_picture(np.eye(3)[None])


def test_luma_of_the_primaries_is_bt601() -> None:
    np.testing.assert_allclose(luma(PRIMARIES)[0], [76.245, 149.685, 29.07], atol=1e-9)


def test_luma_of_grey_is_its_grey_level() -> None:
    levels = np.arange(256, dtype=np.uint8)[None]
    np.testing.assert_allclose(luma(as_picture(levels))[0], levels[0], atol=1e-5)  # float32 holds 255 to 1e-5


def test_linear_light_at_known_points() -> None:
    # IEC 61966-2-1: the straight part up to 0.04045, and 0.5 -> 0.21404
    picture = as_picture(np.array([[0.0, 0.04045, 0.5, 1.0]]))
    np.testing.assert_allclose(linear(picture)[0, :, 0], [0, 0.0031308, 0.2140411, 1], atol=1e-7)


def test_greys_have_no_chroma() -> None:
    greys = as_picture(np.linspace(0, 1, 11)[None])
    np.testing.assert_allclose(lab(greys)[..., 1:], 0, atol=1e-9)
    assert lab(greys)[0, -1, 0] == pytest.approx(100)
    assert lab(greys)[0, 0, 0] == pytest.approx(0)


def test_lab_agrees_with_scikit_image() -> None:
    color = needed("skimage.color")
    picture = np.random.default_rng(1).random((40, 50, 3)).astype(np.float32)
    # scikit-image rounds the white to (0.95047, 1, 1.08883): 0.02 units at most
    np.testing.assert_allclose(lab(picture), color.rgb2lab(picture.astype(np.float64)), atol=0.02)


def test_memory_order_changes_nothing() -> None:
    picture = np.random.default_rng(1).random((9, 8, 3)).astype(np.float32)
    for view in (luma, linear, lab):
        np.testing.assert_array_equal(view(picture), view(np.asfortranarray(picture)))
