"""Carr: bands that sweep along the forms, in the style's colours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from paragone.images import lab
from paragone.make.stylise import stylise
from paragone.make.stylise.manners.carr import CARR

Make = Callable[..., NDArray[np.float32]]


def test_flat_ground_gets_level_bands_of_a_fixed_width(reference: Make) -> None:
    content = np.full((256, 256, 3), 0.6, dtype=np.float32)
    tone = lab(stylise(content, reference("carr"), CARR))[..., 0]
    power = (np.abs(np.fft.rfft(tone - tone.mean(), axis=0)) ** 2).mean(axis=1)
    assert 256 / 24 < power.argmax() < 256 / 11  # about 17 units of 1/256 a band
    across = (np.abs(np.fft.rfft(tone - tone.mean(), axis=1)) ** 2).mean(axis=0)
    assert power[8:30].sum() > 2 * across[8:30].sum()


def test_bands_follow_a_form(reference: Make) -> None:
    y, x = np.mgrid[0:192, 0:192] - 95.5
    hill = np.exp(-(x**2 + y**2) / (2 * 45**2))
    content = np.repeat(hill[..., None], 3, axis=2).astype(np.float32)
    tone = lab(stylise(content, reference("carr"), CARR))[..., 0]
    level = stylise(np.full_like(content, 0.5), reference("carr"), CARR)
    marks = tone - ndimage.gaussian_filter(tone, 12)
    gy, gx = np.gradient(ndimage.gaussian_filter(marks, 2))
    flank = np.abs(np.abs(x) - 45) < 25
    flank &= np.abs(y) < 20  # left and right of the top, where the form runs up and down
    flat = lab(level)[..., 0]
    fy, fx = np.gradient(ndimage.gaussian_filter(flat - ndimage.gaussian_filter(flat, 12), 2))
    assert (gx[flank] ** 2).sum() / (gy[flank] ** 2).sum() > 2 * (fx[flank] ** 2).sum() / (fy[flank] ** 2).sum()


def test_colours_move_to_the_styles(scene: Make, reference: Make) -> None:
    style = lab(reference("carr")).reshape(-1, 3).mean(axis=0)
    before = lab(scene()).reshape(-1, 3).mean(axis=0)
    after = lab(stylise(scene(), reference("carr"), CARR)).reshape(-1, 3).mean(axis=0)
    assert np.linalg.norm(after - style) < 0.4 * np.linalg.norm(before - style)


def test_small_things_are_swept_less_than_empty_ground(scene: Make, reference: Make) -> None:
    content = scene(192, 192)
    made = stylise(content, reference("carr"), CARR)
    own, seen = (lab(image)[..., 0] for image in (content, made))
    fine, kept = (tone - ndimage.gaussian_filter(tone, 5) for tone in (own, seen))
    disk = np.hypot(*(np.mgrid[0:192, 0:192] - 95.5)) < 40
    assert np.corrcoef(fine[disk], kept[disk])[0, 1] > 0.5


def _two_grounds(side: int, blotch: float) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """A light ground over a dark one, both with soft blotches of about a tenth of a side, and the blotches in L*."""
    rng = np.random.default_rng(5)
    cloud = ndimage.gaussian_filter(rng.standard_normal((side, side)), side / 25)
    tone = np.where(np.arange(side)[:, None] < side // 2, 0.62, 0.34) + blotch * cloud / cloud.std()
    content = np.repeat(tone[..., None], 3, axis=2).astype(np.float32)
    return content, lab(content)[..., 0]


def test_a_region_is_painted_as_a_whole_and_its_border_stays(reference: Make) -> None:
    side = 192
    plain, blotched = (stylise(_two_grounds(side, size)[0], reference("carr"), CARR) for size in (0.0, 0.012))
    cloud = _two_grounds(side, 0.012)[1] - _two_grounds(side, 0.0)[1]
    left = lab(blotched)[..., 0] - lab(plain)[..., 0]
    for rows in (slice(0, side // 2 - 12), slice(side // 2 + 12, side)):
        seen, own = (plane[rows] - plane[rows].mean() for plane in (left, cloud))
        assert own.std() > 0.9  # such blotches can be seen in the content
        assert left[rows].std() < 0.5 * own.std()
        assert abs((seen * own).mean() / (own**2).mean()) < 0.1
    tone = lab(blotched)[..., 0].mean(axis=1)
    steepest = np.abs(np.diff(tone))[side // 2 - 20 : side // 2 + 20]
    assert steepest.argmax() in (18, 19, 20)
    assert np.abs(tone[side // 2 + 2] - tone[side // 2 - 3]) > 0.7 * np.ptp(tone[side // 2 - 20 : side // 2 + 20])


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (3, 2), (8, 8), (2, 300), (400, 5)])
def test_the_smallest_and_narrowest_pictures_go_through(shape: tuple[int, int], reference: Make) -> None:
    noise = np.random.default_rng(0).uniform(0, 1, (*shape, 3)).astype(np.float32)
    for content in (noise, np.full_like(noise, 0.4)):
        for style in (reference("carr"), content[:1, :1]):
            made = CARR.run(content, style, seed=1)
            assert made.shape == content.shape
            assert np.isfinite(made).all()
