"""Ink lines that follow the forms: a difference of Gaussians across each edge, smoothed along it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from .structure import along, structure

__all__ = ["flow_lines", "levelled"]

Floats = NDArray[np.float64]


def flow_lines(
    lightness: Floats, *, sigma: float, p: float, epsilon: float, phi: float, length: float, k: float = 1.6
) -> Floats:
    """Return an ink drawing of long unbroken lines: 1 is paper, 0 is ink.

    As `xdog`, but the two Gaussians run across the edge only, and their difference is averaged along the edge before
    the threshold, so grain makes no dots.

    Args:
        lightness: (h, w) in [0, 1].
        sigma: width of the lines, in pixels, > 0.
        p: how much edges are sharpened, >= 0.
        epsilon: tone in [0, 1] above which paper stays bare.
        phi: steepness of the threshold, > 0.
        length: standard deviation along the edge, in pixels, > 0.
        k: ratio of the two Gaussians, > 1.

    Returns:
        (h, w) in [0, 1].

    Source:
        Kang, Lee and Chui, "Flow-Based Image Abstraction", IEEE TVCG 15(1), 2009, section 3; threshold and the second
        smoothing along the edge: Winnemöller, Kyprianidis and Olsen, "XDoG: An eXtended difference-of-Gaussians
        compendium", Computers & Graphics 36(6), 2012, section 2.4.
    """
    angle = structure(lightness, 2.0 * k * sigma).angle
    height, width = lightness.shape
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float64)
    across = -np.cos(angle), np.sin(angle)  # a quarter turn from the direction (sin, cos) in rows, columns
    narrow, wide = np.zeros_like(lightness), np.zeros_like(lightness)
    sums = [0.0, 0.0]
    reach = int(np.ceil(2.5 * k * sigma))
    for step in range(-reach, reach + 1):
        at = [rows + step * across[0], columns + step * across[1]]
        tone = ndimage.map_coordinates(lightness, at, order=1, mode="nearest")
        shares = [float(np.exp(-(step**2) / (2 * s**2))) for s in (sigma, k * sigma)]
        narrow += shares[0] * tone
        wide += shares[1] * tone
        sums = [total + share for total, share in zip(sums, shares, strict=True)]
    sharp = along((1.0 + p) * narrow / sums[0] - p * wide / sums[1], angle, length)
    drawn = np.where(sharp >= epsilon, 1.0, 1.0 + np.tanh(phi * (sharp - epsilon)))
    return along(drawn, angle, 1.0)


def levelled(lightness: Floats, sigma: float, *, middle: float = 0.62) -> Floats:
    """Return lightness in which wide areas are all equally light, so that lines alone are drawn and dark areas stay bare.

    Args:
        lightness: (h, w) in [0, 1].
        sigma: of the surroundings that count as an area, in pixels, > 0.
        middle: lightness that areas get, in [0, 1].
    """
    level: Floats = middle + lightness - ndimage.gaussian_filter(lightness, sigma)
    return level
