"""A picture's few main colours, and CIELAB back to sRGB."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ...images import Picture, lab

__all__ = ["Palette", "main_colours", "srgb", "tonal_index"]

Floats = NDArray[np.float64]

_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])  # IEC 61966-2-1, 5.2


class Palette(NamedTuple):
    """Main colours of a picture, darkest first."""

    colours: Floats
    """(k, 3) CIELAB."""
    shares: Floats
    """(k,) part of the picture that each stands for; sums to 1."""


def srgb(colours: Floats) -> Floats:
    """Return sRGB-coded values of CIELAB colours (D65); outside [0, 1] where sRGB has no such colour.

    Args:
        colours: (..., 3) L*, a*, b* as `paragone.images.lab` gives them.

    Source:
        CIE 15:2004, section 8.2.1, and IEC 61966-2-1:1999, section 5.2, both inverted.
    """
    y = (colours[..., 0] + 16.0) / 116.0
    ratio = np.stack([y + colours[..., 1] / 500.0, y, y - colours[..., 2] / 200.0], axis=-1)
    edge = 6.0 / 29.0
    xyz = np.where(ratio > edge, ratio**3, 3 * edge**2 * (ratio - 4.0 / 29.0)) * _XYZ.sum(axis=1)
    light = xyz @ np.linalg.inv(_XYZ).T
    coded: Floats = np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.abs(light) ** (1 / 2.4) - 0.055)
    return coded


def main_colours(image: Picture, k: int) -> Palette:
    """Return up to k main colours by k-means in CIELAB; no chance is involved.

    Centres start at the mean colour's nearest pixel and then at the pixel farthest from all centres so far.

    Args:
        image: the picture.
        k: most colours, >= 1; fewer where the picture has fewer.

    Source:
        Lloyd, "Least squares quantization in PCM", IEEE Transactions on Information Theory 28(2), 1982; the start is
        Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical Computer Science 38, 1985.
    """
    pixels = lab(image).reshape(-1, 3)
    pixels = pixels[:: max(1, len(pixels) // 4096)]
    centres = pixels[[int(((pixels - pixels.mean(axis=0)) ** 2).sum(axis=1).argmin())]]
    while len(centres) < k:
        distance = cKDTree(centres).query(pixels)[0]
        if distance.max() < 1e-6:
            break
        centres = np.concatenate([centres, pixels[[int(distance.argmax())]]])
    for _ in range(30):
        nearest = cKDTree(centres).query(pixels)[1]
        counts = np.bincount(nearest, minlength=len(centres))
        sums = np.stack([np.bincount(nearest, pixels[:, c], minlength=len(centres)) for c in range(3)], axis=1)
        moved = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
        if np.abs(moved - centres).max() < 1e-3:
            break
        centres = moved
    counts = np.bincount(cKDTree(centres).query(pixels)[1], minlength=len(centres))
    order = np.argsort(centres[:, 0], kind="stable")
    return Palette(centres[order], counts[order] / counts.sum())


def tonal_index(lightness: Floats, shares: Floats) -> NDArray[np.int64]:
    """Return which main colour each pixel gets when tones are matched by rank: the darkest share of pixels gets the
    first.

    Args:
        lightness: (h, w) of the content.
        shares: (k,) parts, darkest colour first.
    """
    rank = np.empty(lightness.size)
    rank[np.argsort(lightness.reshape(-1), kind="stable")] = (np.arange(lightness.size) + 0.5) / lightness.size
    index = np.searchsorted(np.cumsum(shares)[:-1], rank)
    return index.reshape(lightness.shape).astype(np.int64)
