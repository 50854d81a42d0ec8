"""Direction fields and smoothing along them: known answers."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.make.stylise.structure import along, structure


@pytest.mark.parametrize("degrees", [0, 30, 90, 135])
def test_the_direction_runs_along_a_grating(degrees: int) -> None:
    y, x = np.mgrid[0:64, 0:64]
    slope = np.radians(degrees)
    grating = np.sin(0.5 * (-x * np.sin(slope) + y * np.cos(slope)))  # constant along the direction
    field = structure(grating, 4.0)
    off = (field.angle[16:48, 16:48] - slope + np.pi / 2) % np.pi - np.pi / 2
    assert np.abs(off).max() < np.radians(3)
    assert field.anisotropy[32, 32] > 0.95


def test_nothing_has_no_direction() -> None:
    assert np.allclose(structure(np.full((20, 20), 0.5), 2.0).anisotropy, 0.0)


def test_smoothing_along_stripes_keeps_them_and_across_removes_them() -> None:
    stripes = np.tile(np.sin(np.arange(64) * 1.2)[:, None], (1, 64))
    kept = along(stripes, np.zeros((64, 64)), 6.0)
    gone = along(stripes, np.full((64, 64), np.pi / 2), 6.0)
    assert np.allclose(kept, stripes)
    assert np.abs(gone[20:44]).max() < 0.05
