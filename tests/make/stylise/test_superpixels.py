"""Stained glass."""

from __future__ import annotations

import numpy as np

from paragone.make.stylise.superpixels import stained_glass


def test_pieces_take_the_styles_colours() -> None:
    content = np.zeros((128, 128, 3), dtype=np.float32)
    content[:, 64:] = 1.0
    style = np.zeros((128, 128, 3), dtype=np.float32)
    style[:, :64] = [0.1, 0.1, 0.4]
    style[:, 64:] = [0.9, 0.8, 0.2]
    made = stained_glass(content, style)
    assert np.allclose(np.median(made[:, :60].reshape(-1, 3), axis=0), [0.1, 0.1, 0.4], atol=0.08)
    assert np.allclose(np.median(made[:, 68:].reshape(-1, 3), axis=0), [0.9, 0.8, 0.2], atol=0.08)


def test_there_are_dark_lines_between_pieces() -> None:
    flat = np.full((128, 128, 3), 0.7, dtype=np.float32)
    made = stained_glass(flat, flat)
    assert made.min() < 0.55
    assert np.median(made) > 0.6
