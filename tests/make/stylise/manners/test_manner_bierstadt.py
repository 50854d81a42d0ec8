"""Bierstadt: light from behind and above, dark near ground."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from paragone.images import lab
from paragone.make.stylise import stylise
from paragone.make.stylise.manners.bierstadt import BIERSTADT

Make = Callable[..., NDArray[np.float32]]


def test_the_upper_part_glows_and_the_near_ground_is_in_shade(reference: Make) -> None:
    noise = np.random.default_rng(0).uniform(0.3, 0.7, (24, 32, 3)).repeat(4, 0).repeat(4, 1)  # no empty ground
    content = noise.astype(np.float32)
    made = lab(stylise(content, reference("bierstadt"), BIERSTADT))[..., 0]
    assert made[:48].mean() > lab(content)[:48, ..., 0].mean() + 5
    assert made[80:].mean() < lab(content)[80:, ..., 0].mean() - 10


@pytest.mark.parametrize("column", [0.25, 0.75])
def test_the_light_comes_from_where_the_content_is_brightest(column: float, reference: Make) -> None:
    y, x = np.mgrid[0:96, 0:128]
    glow = 0.35 + 0.5 * np.exp(-(((x / 128 - column) / 0.14) ** 2) - ((y / 96 - 0.25) / 0.2) ** 2)
    content = np.repeat(glow[..., None], 3, axis=2).astype(np.float32)
    made = lab(stylise(content, reference("bierstadt"), BIERSTADT))[..., 0]
    brightest = np.unravel_index(ndimage.gaussian_filter(made, 6).argmax(), made.shape)
    assert abs(brightest[1] / 128 - column) < 0.15
    assert brightest[0] < 55


def test_the_light_is_golden(reference: Make) -> None:
    content = np.full((96, 128, 3), 0.6, dtype=np.float32)
    made = lab(stylise(content, reference("bierstadt"), BIERSTADT))
    light = made[made[..., 0] > np.quantile(made[..., 0], 0.9)]
    assert light[:, 2].mean() > 15
    assert light[:, 0].mean() > 75


def test_empty_ground_becomes_a_sky_and_the_subject_stays(scene: Make, reference: Make) -> None:
    content = scene(192, 256)
    made = lab(stylise(content, reference("bierstadt"), BIERSTADT))
    assert made[10:60, 10:60, 0].std() > 2 * lab(content)[10:60, 10:60, 0].std()  # clouds
    y, x = np.mgrid[0:192, 0:256]
    disk = np.hypot(y - 96, x - 128) < 40
    own, seen = (ndimage.gaussian_filter(plane, 2)[disk] for plane in (lab(content)[..., 0], made[..., 0]))
    assert np.corrcoef(own, seen)[0, 1] > 0.9
