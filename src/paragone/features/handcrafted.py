"""A picture's colours and gradients in 27 numbers, without any network."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ..images import Picture, as_picture, lab

__all__ = ["HANDCRAFTED", "handcrafted"]

_SCALES = (1.0, 2.0, 4.0)  # pixels, deviation of the smoothing before the gradient
_BINS = 8

HANDCRAFTED = (
    *(f"mean of {c}" for c in "Lab"),
    *(f"deviation of {c}" for c in "Lab"),
    *(f"covariance of {c}" for c in ("L and a", "L and b", "a and b")),
    *(f"skewness of {c}" for c in "Lab"),
    *(f"{what} gradient at {s:g} px" for s in _SCALES for what in ("mean", "deviation of the")),
    *(f"share of edges at {180 * i // _BINS} degrees" for i in range(_BINS)),
    "balance of fine and coarse gradients",
)
"""Names of the numbers, in order."""


def handcrafted(image: Picture) -> NDArray[np.float64]:
    """Give the picture's colour statistics (CIELAB) and gradient statistics (of L*).

    Args:
        image: the picture; pictures that are compared must have one size, since gradients are counted in pixels.

    Returns:
        (27,) float64 in the order of `HANDCRAFTED`, in units of CIELAB, shares and ratios: bring each to one scale before
        distances are taken. A flat picture has no edges: its shares are 0.

    Raises:
        BadImage: the array is no picture.
    """
    seen = lab(as_picture(image))
    pixels = seen.reshape(-1, 3)
    mean = pixels.mean(axis=0)
    apart = pixels - mean
    covariance = apart.T @ apart / len(pixels)
    deviation = np.sqrt(np.diag(covariance))
    cubes = (apart * apart * apart).mean(axis=0)
    skewness = np.divide(cubes, deviation**3, out=np.zeros(3), where=deviation > 1e-6)
    gradients, first = [], (np.zeros(1), np.zeros(1))
    for scale in _SCALES:
        down, across = (ndimage.gaussian_filter(seen[..., 0], scale, order=o, mode="nearest") for o in ((1, 0), (0, 1)))
        gradients.append(np.hypot(down, across))
        first = first if scale != _SCALES[0] else (down, across)
    angle = np.mod(np.arctan2(first[0], first[1]) + np.pi / (2 * _BINS), np.pi)
    bins = np.minimum((angle / np.pi * _BINS).astype(np.int64), _BINS - 1)
    strength = np.bincount(bins.reshape(-1), gradients[0].reshape(-1), minlength=_BINS)
    total = strength.sum()
    shares = strength / total if total > 1e-9 * pixels.shape[0] else np.zeros(_BINS)
    fine, coarse = gradients[0].mean(), gradients[-1].mean()
    balance = (fine - coarse) / (fine + coarse) if fine + coarse > 1e-9 else 0.0
    return np.concatenate(
        [
            mean,
            deviation,
            covariance[[0, 0, 1], [1, 2, 2]],
            skewness,
            np.array([value for one in gradients for value in (one.mean(), one.std())]),
            shares,
            [balance],
        ]
    )
