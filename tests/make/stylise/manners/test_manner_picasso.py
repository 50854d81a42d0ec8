"""Picasso: shifted facets, few colours, dark rims."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import cKDTree

from paragone.images import lab
from paragone.make.stylise import stylise
from paragone.make.stylise.manners.picasso import PICASSO
from paragone.make.stylise.palette import main_colours

Make = Callable[..., NDArray[np.float32]]


def test_facets_break_a_straight_edge(reference: Make) -> None:
    content = np.full((192, 192, 3), 0.85, dtype=np.float32)
    content += (0.1 * np.random.default_rng(0).uniform(-1, 1, (6, 6, 1))).repeat(32, 0).repeat(32, 1).astype(np.float32)
    content = np.clip(content, 0, 1)
    content[:, 96:] *= 0.3
    tone = lab(stylise(content, reference("picasso"), PICASSO))[..., 0]
    edge = np.array([np.abs(np.diff(ndimage.gaussian_filter1d(row, 4)))[70:122].argmax() for row in tone])
    assert edge.std() > 1.0  # it was a line
    assert np.abs(np.median(edge) - 25) < 8  # about where it stood


def test_colours_lie_near_the_styles_few(scene: Make, reference: Make) -> None:
    style = reference("picasso")
    tree = cKDTree(main_colours(style, 9).colours)
    made = lab(stylise(scene(), style, PICASSO)).reshape(-1, 3)
    assert np.median(tree.query(made)[0]) < 0.6 * np.median(tree.query(lab(scene()).reshape(-1, 3))[0])


def test_there_are_dark_lines_where_the_content_has_none(reference: Make) -> None:
    rng = np.random.default_rng(0)
    soft = np.stack([ndimage.gaussian_filter(rng.standard_normal((192, 192)), 25) for _ in range(3)], axis=-1)
    content = np.clip(0.65 + 0.15 * soft / soft.std(), 0, 1).astype(np.float32)
    tone = lab(stylise(content, reference("picasso"), PICASSO))[..., 0]
    lines = tone < ndimage.median_filter(tone, 9) - 15
    assert 0.02 < lines.mean() < 0.25
    area, _ = ndimage.label(~lines)
    assert (np.bincount(area.reshape(-1))[1:] > 60).sum() > 15


def test_facets_are_shaded_from_edge_to_edge(reference: Make) -> None:
    content = np.full((128, 128, 3), 0.6, dtype=np.float32)
    tone = ndimage.gaussian_filter(lab(stylise(content, reference("picasso"), PICASSO))[..., 0], 4)
    assert 8 < np.ptp(tone) < 40
