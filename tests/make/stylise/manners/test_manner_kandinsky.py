"""Kandinsky: light ground, circles, ruled lines, strong accents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paragone.images import lab, read_image
from paragone.make.stylise import stylise
from paragone.make.stylise.manners.kandinsky import KANDINSKY

Make = Callable[..., NDArray[np.float32]]


def test_a_grey_content_gets_a_light_ground_and_strong_accents_of_the_style(scene: Make, reference: Make) -> None:
    made = lab(stylise(scene(192, 256, grey=True), reference("kandinsky"), KANDINSKY))
    chroma = np.hypot(made[..., 1], made[..., 2])
    assert (made[..., 0] > 70).mean() > 0.4
    strong = chroma > 40
    assert 0.005 < strong.mean() < 0.3
    hue = np.degrees(np.arctan2(made[..., 2], made[..., 1]))[strong]
    assert len(np.unique(np.round(hue / 60))) >= 2


def test_a_round_spot_is_answered_by_a_circle(reference: Make) -> None:
    y, x = np.mgrid[0:256, 0:256]
    away = np.hypot(y - 60, x - 190)
    content = np.full((256, 256, 3), 0.8, dtype=np.float32)
    content[away < 9] = 0.1
    made = stylise(content, reference("kandinsky"), KANDINSKY)
    radius = np.arange(3, 24)
    ring = [made[np.abs(away - r) < 0.8] for r in radius]
    spread = np.array([values.std(axis=0).mean() for values in ring])  # along the ring
    level = np.array([values.mean(axis=0) for values in ring])
    assert np.median(spread[:8]) < 0.12
    assert np.abs(np.diff(level, axis=0)).max() > 0.1


def test_a_straight_edge_runs_on_as_a_ruled_line(reference: Make) -> None:
    content = np.full((256, 256, 3), 0.85, dtype=np.float32)
    content[100:160, 90:170] = 0.25
    dark = lab(stylise(content, reference("kandinsky"), KANDINSKY))[..., 0] < 40
    beyond = [dark[97:104, 60:86], dark[97:104, 174:200], dark[156:163, 60:86], dark[156:163, 174:200]]
    beyond += [dark[70:96, 87:94].T, dark[70:96, 166:173].T, dark[164:190, 87:94].T, dark[164:190, 166:173].T]
    assert max(part.any(axis=0).mean() for part in beyond) > 0.3


def test_a_real_painting_lends_its_ground(scene: Make, shared: Callable[[str], Path]) -> None:
    style = read_image(shared("art/styles/composition_viii.jpg"))
    made = lab(stylise(scene(), style, KANDINSKY))
    light = made[made[..., 0] > 75]
    assert np.abs(np.median(light, axis=0) - (88, 0, 16)).max() < 14  # cream
