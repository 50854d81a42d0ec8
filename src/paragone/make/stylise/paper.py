"""Grounds to paint on: paper or plaster with grain of several sizes, and woven canvas."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

__all__ = ["grain", "weave"]

Floats = NDArray[np.float64]

_SIZES = ((0.5, 0.35), (1.5, 0.30), (6.0, 0.20), (30.0, 0.15))  # sigma in units and weight; our choice, by eye


def grain(shape: tuple[int, int], unit: float, rng: np.random.Generator) -> Floats:
    """Return the unevenness of paper: noise of four sizes.

    Args:
        shape: height and width in pixels.
        unit: pixels per 1/256 of the longer side, > 0.
        rng: source of the noise.

    Returns:
        (h, w) of mean 0 and standard deviation 1.
    """
    total = np.zeros(shape)
    for sigma, weight in _SIZES:
        total += weight * _standard(ndimage.gaussian_filter(rng.standard_normal(shape), sigma * unit, mode="wrap"))
    return _standard(total)


def weave(shape: tuple[int, int], unit: float, rng: np.random.Generator) -> Floats:
    """Return the relief of a plain woven canvas, threads of uneven thickness over and under each other.

    Args:
        shape: height and width in pixels.
        unit: pixels per 1/256 of the longer side, > 0.
        rng: source of the unevenness.

    Returns:
        (h, w) of mean 0 and standard deviation 1.
    """
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float64)
    period = max(2.0, 1.6 * unit)  # pixels a thread
    u, v = (
        np.pi * (place / period + 0.6 * _standard(ndimage.gaussian_filter(rng.standard_normal(shape), sigma)))
        for place, sigma in ((x, (12 * unit, unit)), (y, (unit, 12 * unit)))  # threads wander slowly along themselves
    )
    threads = np.cos(u) * np.cos(v) + 0.5 * np.cos(2 * u) + 0.5 * np.cos(2 * v)
    return _standard(threads + 0.6 * rng.standard_normal(shape))


def _standard(plane: Floats) -> Floats:
    spread = float(plane.std())
    centred: Floats = plane - plane.mean()
    return centred / spread if spread > 1e-12 else centred
