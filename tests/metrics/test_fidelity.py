"""MSE, PSNR and SSIM against published and independent values, and their laws."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from installed import needed
from paragone.errors import BadImage
from paragone.images import read_image
from paragone.metrics.fidelity import mse, psnr, psnr_y, ssim, ssim_uniform, ssim_y

PAIRS = [
    ("astronaut_jpeg10", "astronaut"),
    ("astronaut_blur2", "astronaut"),
    ("astronaut_noise20", "astronaut"),
    ("coffee_jpeg20", "coffee"),
    ("camera_gray_jpeg15", "camera_gray"),
]
ALL = [mse, psnr, psnr_y, ssim, ssim_uniform, ssim_y]


def noise(height: int = 40, width: int = 50, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((height, width, 3)).astype(np.float32)


# shared/data/metrics/README.md: the RGB values come from scikit-image 0.26 (tolerance 1e-4), the luma values from
# pyiqa 0.1.16 (numbers only, tolerance 2e-3)
@pytest.mark.parametrize(("distorted", "reference"), PAIRS)
@pytest.mark.parametrize(
    ("metric", "key", "tolerance"),
    [
        (psnr, "psnr_rgb", 1e-4),
        (psnr_y, "psnr_y", 2e-3),
        (ssim, "ssim_rgb_gauss", 1e-4),
        (ssim_uniform, "ssim_rgb_uniform7_samplecov", 1e-4),
        (ssim_y, "ssim_y_gauss", 2e-3),
    ],
)
def test_known_answers(
    metric: Callable[..., float],
    key: str,
    tolerance: float,
    distorted: str,
    reference: str,
    shared: Callable[[str], Path],
) -> None:
    expected = json.loads(shared("metrics/expected.json").read_text())["pairs (distorted vs reference)"]
    pictures = (read_image(shared(f"metrics/images/{name}.png")) for name in (distorted, reference))
    assert metric(*pictures) == pytest.approx(expected[f"{distorted} vs {reference}"][key], abs=tolerance)


@pytest.mark.parametrize("size", [(11, 11), (11, 90), (27, 28), (43, 40), (64, 33)])
def test_ssim_agrees_with_scikit_image_at_every_size(size: tuple[int, int]) -> None:
    metrics = needed("skimage.metrics")
    first, second = noise(*size), np.clip(noise(*size) * 0.7 + 0.3 * noise(*size, seed=1), 0, 1)
    wide = [array.astype(np.float64) for array in (first, second)]
    common = {"channel_axis": 2, "data_range": 1.0}
    gauss = metrics.structural_similarity(*wide, gaussian_weights=True, use_sample_covariance=False, **common)
    assert ssim(first, second) == pytest.approx(gauss, abs=1e-9)
    assert ssim_uniform(first, second) == pytest.approx(metrics.structural_similarity(*wide, **common), abs=1e-9)


def test_mse_and_psnr_of_a_constant_shift() -> None:
    black, grey = np.zeros((9, 9, 3), np.uint8), np.full((9, 9, 3), 10, np.uint8)
    assert mse(black, grey) == pytest.approx(100, rel=1e-6)
    assert psnr(black, grey) == pytest.approx(20 * math.log10(25.5), abs=1e-5)
    assert psnr(black, np.full((9, 9, 3), 255, np.uint8)) == 0


def test_ssim_of_two_flat_pictures_is_the_luminance_term() -> None:
    first, second = np.full((12, 12), 0.2, np.float32), np.full((12, 12), 0.6, np.float32)
    x, y, c1 = float(np.float32(0.2)), float(np.float32(0.6)), 1e-4
    assert ssim(first, second) == pytest.approx((2 * x * y + c1) / (x * x + y * y + c1), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_identical_pictures_are_best(seed: int) -> None:
    picture = noise(seed=seed)
    assert mse(picture, picture) == 0
    assert psnr(picture, picture) == psnr_y(picture, picture) == math.inf
    assert ssim(picture, picture) == ssim_y(picture, picture) == ssim_uniform(picture, picture) == 1.0


@settings(max_examples=30, deadline=None)
@given(st.integers(11, 40), st.integers(11, 40), st.integers(0, 2**32 - 1))
def test_all_are_symmetric_and_in_range(height: int, width: int, seed: int) -> None:
    first, second = noise(height, width, seed), noise(height, width, seed + 1)
    for metric in ALL:
        assert metric(first, second) == pytest.approx(metric(second, first), rel=1e-12)
    assert 0 <= mse(first, second) <= 255**2
    for metric in (ssim, ssim_y, ssim_uniform):
        assert -1 <= metric(first, second) <= 1


@pytest.mark.parametrize("kind", ["blur", "noise", "contrast"])
def test_more_distortion_is_never_better(kind: str) -> None:
    data = needed("skimage.data")
    picture = (data.astronaut()[:200, 150:370] / 255).astype(np.float32)
    grain = np.random.default_rng(5).standard_normal(picture.shape)
    distorted = {
        "blur": [ndimage.gaussian_filter(picture, (sigma, sigma, 0)) for sigma in (0.5, 1, 2, 4, 8)],
        "noise": [np.clip(picture + sigma * grain, 0, 1) for sigma in (0.01, 0.03, 0.1, 0.3, 1)],
        "contrast": [0.5 + share * (picture - 0.5) for share in (0.9, 0.7, 0.5, 0.3, 0.1)],
    }[kind]
    for metric in (psnr, psnr_y, ssim, ssim_y, ssim_uniform):
        values = [metric(one, picture) for one in distorted]
        assert values == sorted(values, reverse=True), metric.__name__
    errors = [mse(one, picture) for one in distorted]
    assert errors == sorted(errors)


@pytest.mark.parametrize("metric", ALL)
def test_different_sizes_are_refused(metric: Callable[..., float]) -> None:
    with pytest.raises(BadImage, match=r"picture and reference differ in size \(50 x 40 and 40 x 50\)"):
        metric(noise(40, 50), noise(50, 40))


@pytest.mark.parametrize(("metric", "need"), [(ssim, 11), (ssim_y, 11), (ssim_uniform, 7)])
def test_ssim_names_the_size_that_it_needs(metric: Callable[..., float], need: int) -> None:
    small = noise(need - 1, 30)
    with pytest.raises(BadImage, match=f"ssim needs {need} x {need} pixels, the picture's shorter side has {need - 1}"):
        metric(small, small)
