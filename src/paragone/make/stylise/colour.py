"""Colour transfer: the content's pixels take on the style's distribution of colours, shapes stay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...images import Picture
from .styliser import Styliser

__all__ = ["MONGE_KANTOROVICH", "REINHARD", "linear_transport", "matched_moments", "monge_kantorovich", "reinhard"]

Floats = NDArray[np.float64]

# Reinhard et al. 2001, equations 4 and 6: RGB to LMS, and the axes l, alpha, beta of log LMS.
_LMS = np.array([[0.3811, 0.5783, 0.0402], [0.1967, 0.7244, 0.0782], [0.0241, 0.1288, 0.8444]])
_AXES = np.diag([3**-0.5, 6**-0.5, 2**-0.5]) @ np.array([[1.0, 1, 1], [1, 1, -2], [1, -1, 0]])
_DARKEST = 1 / 255  # one 8-bit step: the logarithm of black needs a floor


def matched_moments(pixels: Floats, target: Floats) -> Floats:
    """Return the pixels with the target's mean and standard deviation in each channel.

    Args:
        pixels: (n, c) values.
        target: (m, c) values.

    Returns:
        (n, c); a channel in which the pixels do not vary becomes the target's mean.
    """
    spread, wanted = pixels.std(axis=0), target.std(axis=0)
    gain = np.divide(wanted, spread, out=np.zeros_like(spread), where=spread > 1e-12)
    moved: Floats = (pixels - pixels.mean(axis=0)) * gain + target.mean(axis=0)
    return moved


def linear_transport(pixels: Floats, target: Floats, *, ridge: float = 1e-8) -> Floats:
    """Return the pixels moved by the cheapest linear map that gives them the target's mean and covariance.

    T = A^-1/2 (A^1/2 B A^1/2)^1/2 A^-1/2 with the covariances A of the pixels and B of the target.

    Args:
        pixels: (n, c) values.
        target: (m, c) values.
        ridge: added to the diagonal of both covariances, so that a flat channel has an inverse, > 0.

    Source:
        Pitié and Kokaram, "The linear Monge-Kantorovitch linear colour mapping for example-based colour transfer",
        IET CVMP 2007, equation 7; the map is Olkin and Pukelsheim's of 1982.
    """
    a, b = (np.cov(x.T) + ridge * np.eye(x.shape[1]) for x in (pixels, target))
    root = _power(a, 0.5)
    back = _power(a, -0.5)
    transport = back @ _power(root @ b @ root, 0.5) @ back
    moved: Floats = (pixels - pixels.mean(axis=0)) @ transport + target.mean(axis=0)
    return moved


def _power(matrix: Floats, exponent: float) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    raised: Floats = (vectors * np.maximum(values, 1e-300) ** exponent) @ vectors.T
    return raised


def reinhard(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content with the style's mean and standard deviation on the decorrelated axes l, alpha and beta.

    Source:
        Reinhard, Ashikhmin, Gooch and Shirley, "Color Transfer between Images", IEEE Computer Graphics and Applications
        21(5), 2001, equations 4 to 11.
    """
    del seed  # nothing here is random
    own, other = (_decorrelated(image) for image in (content, style))
    log_lms = matched_moments(own, other) @ np.linalg.inv(_AXES).T
    rgb = 10.0**log_lms @ np.linalg.inv(_LMS).T
    return rgb.reshape(content.shape).astype(np.float32)


def _decorrelated(image: Picture) -> Floats:
    """(n, 3): l, alpha, beta of each pixel."""
    lms = np.maximum(image.reshape(-1, 3).astype(np.float64), _DARKEST) @ _LMS.T
    axes: Floats = np.log10(lms) @ _AXES.T
    return axes


def monge_kantorovich(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content with the style's mean colour and covariance of colours.

    Source:
        As `linear_transport`, on sRGB-coded values.
    """
    del seed  # nothing here is random
    own, other = (image.reshape(-1, 3).astype(np.float64) for image in (content, style))
    return linear_transport(own, other, ridge=1e-6).reshape(content.shape).astype(np.float32)


REINHARD = Styliser(
    name="reinhard",
    run=reinhard,
    summary="the photograph in the style's colours, channel by channel",
    source='Reinhard et al., "Color Transfer between Images", IEEE CG&A 21(5), 2001, equations 4-11',
    strategy="colour: mean and spread on three decorrelated axes",
)
MONGE_KANTOROVICH = Styliser(
    name="monge-kantorovich",
    run=monge_kantorovich,
    summary="the photograph in the style's colours, their correlations too",
    source='Pitié and Kokaram, "The linear Monge-Kantorovitch linear colour mapping", IET CVMP 2007, equation 7',
    strategy="colour: mean and covariance",
)
