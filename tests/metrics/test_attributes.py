"""The five attributes against analytic values, scikit-image and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import ndimage

from installed import needed
from paragone.images import as_picture, luma
from paragone.metrics.attributes import blur, colourfulness, contrast, light, si


def flat(red: int, green: int, blue: int, side: int = 32) -> np.ndarray:
    return np.broadcast_to(np.array([red, green, blue], np.uint8), (side, side, 3))


def halves(low: int, high: int, side: int = 32) -> np.ndarray:
    return np.repeat(np.where(np.arange(side) < side // 2, low, high)[None], side, axis=0).astype(np.uint8)


def noise(seed: int = 0, side: int = 64) -> np.ndarray:
    return np.random.default_rng(seed).random((side, side, 3)).astype(np.float32)


def test_light_of_flat_pictures_is_their_luma() -> None:
    assert light(flat(0, 0, 0)) == 0
    assert light(flat(255, 255, 255)) == pytest.approx(255)
    assert light(flat(255, 0, 0)) == pytest.approx(0.299 * 255, abs=1e-9)


def test_contrast_of_half_black_half_white_is_the_largest() -> None:
    assert contrast(halves(0, 255)) == pytest.approx(127.5)
    assert contrast(halves(100, 140)) == pytest.approx(20, abs=1e-5)


@pytest.mark.parametrize("colour", [(0, 0, 0), (128, 128, 128), (17, 200, 3)])
def test_a_flat_picture_has_no_contrast_no_si_and_no_blur(colour: tuple[int, int, int]) -> None:
    assert contrast(flat(*colour)) == 0
    assert si(flat(*colour)) == pytest.approx(0, abs=1e-9)
    assert math.isnan(blur(flat(*colour)))


def test_grey_is_not_colourful() -> None:
    assert colourfulness(halves(3, 250)) == 0


def test_colourfulness_of_flat_red_is_its_offset_alone() -> None:
    # rg = 255, yb = 127.5, no spread: 0.3 sqrt(255^2 + 127.5^2)
    assert colourfulness(flat(255, 0, 0)) == pytest.approx(0.3 * math.hypot(255, 127.5))


def test_colourfulness_of_half_red_half_green_is_spread_and_offset() -> None:
    # rg = +-255 (variance 255^2, mean 0), yb = 127.5 everywhere
    picture = np.concatenate([flat(255, 0, 0), flat(0, 255, 0)])
    assert colourfulness(picture) == pytest.approx(255 + 0.3 * 127.5)


def test_si_of_one_even_slope_is_zero() -> None:
    slope = np.repeat(np.arange(64)[None] * 3, 64, axis=0).astype(np.uint8)
    assert si(slope) == pytest.approx(0, abs=1e-4)


def test_si_of_a_step_edge_by_hand() -> None:
    # Sobel gives 4 * 100 in the two columns at the edge of 30 inner columns, 0 elsewhere
    share = 2 / 30
    assert si(halves(50, 150)) == pytest.approx(400 * math.sqrt(share * (1 - share)), abs=1e-3)


def test_si_agrees_with_an_independent_sobel() -> None:
    y = luma(noise())
    down = np.zeros((62, 62))
    across = np.zeros((62, 62))
    kernel = np.array([[1, 2, 1], [0, 0, 0], [-1, -2, -1]])
    for row in range(3):
        for column in range(3):
            window = y[row : row + 62, column : column + 62]
            down += kernel[row, column] * window
            across += kernel[column, row] * window
    assert si(noise()) == pytest.approx(float(np.sqrt(down**2 + across**2).std()), rel=1e-12)


@pytest.mark.parametrize("sigma", [0, 0.7, 2, 5])
def test_blur_agrees_with_scikit_image(sigma: float) -> None:
    measure = needed("skimage.measure")
    y = ndimage.gaussian_filter(luma(noise()) / 255, sigma)
    # one formula in another order of sums: rounding only. Beyond float32 the luma would differ, so grey is made of it
    grey = as_picture(y.astype(np.float32))
    assert blur(grey) == pytest.approx(measure.blur_effect(luma(grey) / 255), abs=1e-9)


def test_blur_sees_the_blurrier_axis() -> None:
    across = as_picture(ndimage.gaussian_filter1d(noise()[..., 0], 3, axis=1))
    down = as_picture(np.ascontiguousarray(across.swapaxes(0, 1)))
    assert blur(across) == pytest.approx(blur(down), abs=1e-12)
    assert blur(across) > blur(noise()) + 0.2


def test_blur_of_stripes_counts_the_axis_that_has_edges() -> None:
    assert 0 <= blur(halves(0, 255)) < 1


def test_more_blur_is_more_blur() -> None:
    data = needed("skimage.data")
    astronaut = data.astronaut()[:256, 100:356] / 255
    values = [blur(ndimage.gaussian_filter(astronaut, (sigma, sigma, 0))) for sigma in (0, 0.5, 1, 2, 4)]
    assert values == sorted(values)
    assert len(set(values)) == 5


def test_more_light_is_more_light() -> None:
    values = [light(noise() * share) for share in (0.2, 0.5, 1)]
    assert values == sorted(values)


def test_a_picture_too_small_for_its_gradients_is_undefined_not_wrong() -> None:
    assert math.isnan(blur(flat(0, 0, 0, side=2)))
