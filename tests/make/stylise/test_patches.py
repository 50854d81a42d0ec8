"""Quilting: seams and tones."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from paragone.make.stylise.patches import _below_seam, _tones, pieced


def test_the_seam_takes_the_cheapest_connected_path() -> None:
    error = np.ones((6, 5))
    path = [2, 2, 3, 4, 3, 2]
    error[np.arange(6), path] = 0
    mask = _below_seam(error)
    assert mask.argmax(axis=1).tolist() == path
    assert mask[:, -1].all()


def test_the_seam_is_as_cheap_as_the_best_of_all_paths() -> None:
    error = np.random.default_rng(4).uniform(0, 1, (5, 4))
    paths = [p for p in product(range(4), repeat=5) if all(abs(a - b) <= 1 for a, b in pairwise(p))]
    best = min(sum(error[row, column] for row, column in enumerate(path)) for path in paths)
    chosen = _below_seam(error).argmax(axis=1)
    assert error[np.arange(5), chosen].sum() == pytest.approx(best)


def test_tones_of_a_patch_are_means_of_its_cells() -> None:
    patch = np.random.default_rng(0).uniform(0, 1, (2, 9, 9, 3))
    expected = patch.reshape(2, 3, 3, 3, 3, 3).mean(axis=(2, 4)).reshape(2, -1)
    assert np.allclose(_tones(patch), expected)


def test_a_style_quilted_with_itself_is_nearly_itself() -> None:
    y, x = np.mgrid[0:48, 0:64] / 64
    smooth = np.stack([x, y, 1 - x], axis=-1).astype(np.float32)
    assert np.abs(pieced(smooth, smooth) - smooth).mean() < 0.02
