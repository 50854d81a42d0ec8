"""Rembrandt: dark warm ground, light on the subject."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from paragone.images import lab
from paragone.make.stylise import stylise
from paragone.make.stylise.manners.rembrandt import REMBRANDT

Make = Callable[..., NDArray[np.float32]]


def rim(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([plane[:10].reshape(-1), plane[-10:].reshape(-1), plane[:, :10].reshape(-1)])


def test_the_ground_is_dark_and_warm_though_the_contents_is_light_and_cool(scene: Make, reference: Make) -> None:
    content = scene()
    made = lab(stylise(content, reference("rembrandt"), REMBRANDT))
    assert rim(lab(content)[..., 0]).mean() > 60
    assert rim(made[..., 0]).mean() < 25
    assert rim(lab(content)[..., 2]).mean() < 0
    assert rim(made[..., 2]).mean() > 2


@pytest.mark.parametrize(("row", "column"), [(0.5, 0.5), (0.45, 0.35), (0.55, 0.65)])
def test_the_light_is_on_the_subject(row: float, column: float, scene: Make, reference: Make) -> None:
    tone = lab(stylise(scene(row=row, column=column), reference("rembrandt"), REMBRANDT))[..., 0]
    y, x = np.mgrid[0:96, 0:128]
    middle = np.hypot(y - 96 * row, x - 128 * column) < 6
    assert tone[middle].mean() > 60
    assert tone[middle].mean() > rim(tone).mean() + 40
    weight = tone**3
    assert abs((weight * x).sum() / weight.sum() / 128 - column) < 0.08


def test_lights_are_warm(scene: Make, reference: Make) -> None:
    made = lab(stylise(scene(grey=True), reference("rembrandt"), REMBRANDT))
    light = made[made[..., 0] > 55]
    assert len(light) > 50
    assert light[:, 2].mean() > 10
    assert light[:, 1].mean() > 0


def test_paint_is_thicker_in_the_lights(reference: Make) -> None:
    content = np.full((128, 128, 3), 0.75, dtype=np.float32)
    tone = lab(stylise(content, reference("rembrandt"), REMBRANDT))[..., 0]
    assert tone[56:72, 56:72].mean() > tone[:12, :12].mean() + 15
    assert np.diff(tone[48:80, 48:80], axis=0).std() > 1.5 * np.diff(tone[:24, :24], axis=0).std()
