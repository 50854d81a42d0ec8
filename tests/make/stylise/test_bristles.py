"""Bristle marks."""

from __future__ import annotations

import numpy as np

from paragone.images import luma
from paragone.make.stylise.bristles import combed


def test_marks_run_along_the_forms() -> None:
    ramp = np.linspace(0.2, 0.8, 96, dtype=np.float32)[:, None, None] * np.ones((1, 96, 3), dtype=np.float32)
    made = luma(combed(ramp, ramp).clip(0, 1).astype(np.float32))[10:-10, 10:-10]
    slope = np.diff(luma(ramp), axis=0).mean()  # the ramp's own step from row to row
    assert np.abs(np.diff(made, axis=1)).mean() < 0.5 * np.abs(np.diff(made, axis=0) - slope).mean()


def test_a_style_with_more_fine_contrast_gives_stronger_marks() -> None:
    rng = np.random.default_rng(0)
    calm = np.full((64, 64, 3), 0.5, dtype=np.float32)
    rough = np.clip(calm + 0.2 * rng.standard_normal((64, 64, 1)), 0, 1).astype(np.float32)
    content = np.linspace(0.3, 0.7, 64, dtype=np.float32)[None, :, None] * np.ones((64, 1, 3), dtype=np.float32)
    fine = [
        np.abs(np.diff(luma(combed(content, style).clip(0, 1).astype(np.float32)))).mean() for style in (calm, rough)
    ]
    assert fine[1] > 1.3 * fine[0]
