"""Brush strokes."""

from __future__ import annotations

import numpy as np

from paragone.make.stylise.strokes import brushed


def test_strokes_come_close_to_a_flat_picture_and_cover_it() -> None:
    flat = np.full((48, 48, 3), 0.6, dtype=np.float32)
    painted = brushed(flat, flat)
    assert np.abs(painted.mean(axis=(0, 1)) - 0.6).max() < 0.03
    assert painted.std() < 0.1


def test_strokes_keep_the_large_shapes() -> None:
    image = np.full((64, 64, 3), 0.2, dtype=np.float32)
    image[16:48, 16:48] = [0.9, 0.5, 0.1]
    assert np.abs(brushed(image, image) - image).mean() < 0.08
