"""Egyptian: flat areas of few colours on papyrus, outlines, painted borders."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from paragone.images import lab
from paragone.make.stylise import stylise
from paragone.make.stylise.manners.egyptian import EGYPTIAN
from paragone.make.stylise.palette import main_colours

Make = Callable[..., NDArray[np.float32]]


def test_nearly_all_is_in_a_few_colours_of_the_style(scene: Make, reference: Make) -> None:
    style = reference("egyptian")
    made = lab(stylise(scene(192, 256), style, EGYPTIAN)).reshape(-1, 3)
    away, which = cKDTree(main_colours(style, 7).colours).query(made)
    assert np.median(away) < 5  # plaster is uneven
    assert (away < 16).mean() > 0.8
    assert (np.bincount(which, minlength=7) / len(which) > 0.01).sum() >= 4


def test_empty_ground_becomes_papyrus(scene: Make, reference: Make) -> None:
    made = lab(stylise(scene(192, 256), reference("egyptian"), EGYPTIAN))
    ground = made[20:60, 10:60].reshape(-1, 3).mean(axis=0)
    assert ground[0] > 65
    assert 15 < ground[2] < 50


def test_the_subject_is_not_papyrus_and_has_a_dark_outline(scene: Make, reference: Make) -> None:
    made = lab(stylise(scene(192, 256), reference("egyptian"), EGYPTIAN))
    y, x = np.mgrid[0:192, 0:256]
    away = np.hypot(y - 96, x - 128)
    assert np.quantile(made[np.abs(away - 46) < 5, 0], 0.3) < 40
    ground = made[20:60, 10:60].reshape(-1, 3).mean(axis=0)
    disk = made[away < 40].reshape(-1, 3)
    assert (np.linalg.norm(disk - ground, axis=1) > 20).mean() > 0.5


def test_borders_are_painted_at_the_top_and_at_the_foot(reference: Make) -> None:
    made = lab(stylise(np.full((256, 256, 3), 0.7, dtype=np.float32), reference("egyptian"), EGYPTIAN))

    def changes(row: int) -> int:
        line = made[row]
        return int((np.linalg.norm(np.diff(line, axis=0), axis=1) > 12).sum())

    assert changes(4) > 30
    assert changes(251) > 30
    assert changes(236) > 20  # the band of signs
    assert changes(110) < 10


def test_borders_take_less_than_a_fifth_of_a_low_picture(reference: Make) -> None:
    flat = np.full((60, 256, 3), 0.7, dtype=np.float32)
    made = lab(stylise(flat, reference("egyptian"), EGYPTIAN))[..., 0]
    busy = made.std(axis=1) > 8
    assert 0.05 < busy.mean() <= 0.25
