"""Where edges run: the smoothed structure tensor, and smoothing along its direction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

__all__ = ["Structure", "along", "structure"]

Floats = NDArray[np.float64]


class Structure(NamedTuple):
    """Direction field of a picture."""

    angle: Floats
    """(h, w) direction along edges, in radians in (-pi/2, pi]; x to the right, y down; pi apart is the same."""
    anisotropy: Floats
    """(h, w) in [0, 1]: 0 no direction, 1 all gradients agree."""


def structure(image: NDArray[np.floating], sigma: float) -> Structure:
    """Return the direction along edges and how clear it is.

    Args:
        image: (h, w) or (h, w, c); gradients of all channels are summed.
        sigma: smoothing of the tensor, in pixels, > 0.

    Source:
        Brox, Weickert, Burgeth and Mrazek, "Nonlinear structure tensors", Image and Vision Computing 24(1), 2006,
        section 2 (the linear tensor); Kyprianidis and Döllner, "Image Abstraction by Structure Adaptive Filtering",
        2008, section 3.
    """
    planes = image.astype(np.float64)[..., None] if image.ndim == 2 else image.astype(np.float64)
    gx = np.stack([ndimage.sobel(planes[..., c], axis=1) for c in range(planes.shape[2])])
    gy = np.stack([ndimage.sobel(planes[..., c], axis=0) for c in range(planes.shape[2])])
    e, f, g = (ndimage.gaussian_filter((a * b).sum(axis=0), sigma) for a, b in ((gx, gx), (gx, gy), (gy, gy)))
    spread = np.sqrt((e - g) ** 2 + 4 * f**2)
    angle = 0.5 * np.arctan2(2 * f, e - g) + np.pi / 2
    total = e + g
    return Structure(angle, np.divide(spread, total, out=np.zeros_like(total), where=total > 1e-12))


def along(plane: Floats, angle: Floats, sigma: float) -> Floats:
    """Return a plane smoothed along a direction field by a Gaussian of the curve's length (line integral convolution).

    Args:
        plane: (h, w) values.
        angle: (h, w) direction in radians; pi apart is the same.
        sigma: standard deviation in pixels, > 0; the curve is followed for two of them each way.

    Source:
        Cabral and Leedom, "Imaging Vector Fields Using Line Integral Convolution", SIGGRAPH 1993, section 4.
    """
    height, width = plane.shape
    start = np.mgrid[0:height, 0:width].astype(np.float64)
    field = np.stack([np.sin(angle), np.cos(angle)])
    total, weight = plane.astype(np.float64), 1.0
    for sign in (1.0, -1.0):
        at, last = start.copy(), sign * field
        for step in range(1, int(np.ceil(2 * sigma)) + 1):
            rows = np.clip(np.rint(at[0]), 0, height - 1).astype(np.intp)
            columns = np.clip(np.rint(at[1]), 0, width - 1).astype(np.intp)
            here = field[:, rows, columns]
            here = np.where((here * last).sum(axis=0) < 0, -here, here)
            at, last = at + here, here
            share = float(np.exp(-(step**2) / (2 * sigma**2)))
            total = total + share * ndimage.map_coordinates(plane, at, order=1, mode="nearest")
            weight += share
    return total / weight
