"""Veronese: clear rich colours, shadows with colour, canvas."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from paragone.images import lab
from paragone.make.stylise import stylise
from paragone.make.stylise.manners.veronese import VERONESE

Make = Callable[..., NDArray[np.float32]]


def striped(*colours: tuple[float, float, float]) -> NDArray[np.float32]:
    content = np.zeros((96, 128, 3), dtype=np.float32)
    for i, colour in enumerate(colours):
        content[:, i * 128 // len(colours) : (i + 1) * 128 // len(colours)] = colour
    noise = np.random.default_rng(0).normal(0, 0.12, (24, 32, 1)).repeat(4, 0).repeat(4, 1)  # no empty ground
    return np.clip(content + noise, 0, 1).astype(np.float32)


def test_shadows_never_reach_black_and_are_cooler_than_lights(reference: Make) -> None:
    content = striped((0.02, 0.02, 0.02), (0.5, 0.5, 0.5), (0.95, 0.95, 0.95))
    made = lab(stylise(content, reference("veronese"), VERONESE))
    soft = np.stack([ndimage.gaussian_filter(made[..., c], 3) for c in range(3)], axis=-1)
    assert soft[..., 0].min() > 6
    dark, light = soft[:, 10:32], soft[:, 100:120]
    assert light[..., 0].mean() > 75
    assert dark[..., 2].mean() < light[..., 2].mean() - 4


def test_muted_colours_turn_rich_in_the_hue_of_a_silk(reference: Make) -> None:
    content = striped((0.55, 0.42, 0.42), (0.40, 0.48, 0.42), (0.40, 0.44, 0.55))
    own, made = lab(content), lab(stylise(content, reference("veronese"), VERONESE))
    for part in (slice(8, 34), slice(50, 78), slice(94, 120)):
        before, after = (image[:, part, 1:].reshape(-1, 2).mean(axis=0) for image in (own, made))
        assert np.linalg.norm(after) > 1.05 * np.linalg.norm(before)


def test_empty_ground_becomes_sky_and_columns(scene: Make, reference: Make) -> None:
    content = scene()
    content[..., :] = np.where(content[..., 2:] > content[..., :1], np.float32([0.70, 0.66, 0.60]), content)
    made = lab(stylise(content, reference("veronese"), VERONESE))
    sky = made[5:40, 30:50].reshape(-1, 3)
    assert sky[:, 2].min() < -8  # blue
    assert made[20:70, 9:13, 2].mean() > made[20:70, 30:50, 2].mean() + 5  # stone is warmer than sky


def test_it_lies_on_canvas(reference: Make) -> None:
    made = stylise(np.full((256, 256, 3), 0.6, dtype=np.float32), reference("veronese"), VERONESE).mean(axis=2)
    fine = made - ndimage.gaussian_filter(made, 1.5)
    assert 0.004 < fine[:, 40:200].std() < 0.04
