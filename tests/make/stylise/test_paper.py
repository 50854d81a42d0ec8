"""Grounds have mean 0 and deviation 1, from a seed, at any size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from paragone.make.stylise.paper import grain, weave

Ground = Callable[[tuple[int, int], float, np.random.Generator], NDArray[np.float64]]


@pytest.mark.parametrize("ground", [grain, weave])
@pytest.mark.parametrize("shape", [(16, 16), (16, 90), (70, 64)])
def test_a_ground_is_standard_and_follows_from_the_seed(ground: Ground, shape: tuple[int, int]) -> None:
    made = ground(shape, max(shape) / 256, np.random.default_rng(5))
    assert made.shape == shape
    assert np.isclose(made.mean(), 0.0, atol=1e-9)
    assert np.isclose(made.std(), 1.0)
    assert np.array_equal(made, ground(shape, max(shape) / 256, np.random.default_rng(5)))
    assert not np.array_equal(made, ground(shape, max(shape) / 256, np.random.default_rng(6)))


def test_threads_of_a_canvas_run_across_and_down() -> None:
    made = weave((128, 128), 2.0, np.random.default_rng(0))
    power = np.abs(np.fft.fft2(made)) ** 2
    oblique = power[10:60, 10:60].sum(axis=None)
    upright = power[2:64, :3].sum() + power[:3, 2:64].sum()
    assert upright / (62 * 6) > 3 * oblique / 2500


def test_grain_is_uneven_at_every_size() -> None:
    made = grain((256, 256), 1.0, np.random.default_rng(0))
    spectrum = np.abs(np.fft.fft(made, axis=0)).mean(axis=1)[1:100]
    assert (np.diff(np.array([spectrum[:4].mean(), spectrum[4:20].mean(), spectrum[20:60].mean()])) < 0).all()
    assert spectrum[20:60].mean() > 0.05 * spectrum[:4].mean()
