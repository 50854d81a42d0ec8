"""Oil painting without strokes: an edge-following Kuwahara filter on recoloured pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from ...images import Picture
from .colour import monge_kantorovich
from .structure import structure
from .styliser import Styliser

__all__ = ["KUWAHARA", "kuwahara", "painted"]

Floats = NDArray[np.float64]

_SECTORS = 8
_TURNS = 6  # orientations for which the elongated filter is computed; pixels blend the two nearest


def kuwahara(image: NDArray[np.floating], *, radius: float, sharpness: float = 8.0, stretch: float = 1.5) -> Floats:
    """Return the image flattened inside regions, with edges kept and smoothed along their direction.

    Around each pixel an ellipse along the local edge is cut into 8 overlapping sectors; the result is the mean of the
    sectors' means, each weighted by 1 / (1 + s^q) with its standard deviation s (in 8-bit steps) and sharpness q.

    Args:
        image: (h, w, 3) in [0, 1].
        radius: of the window, in pixels, >= 1.
        sharpness: exponent q, > 0; large takes the calmest sector alone.
        stretch: ratio of the ellipse's long axis to the radius, >= 1 (the short axis is radius / stretch).

    Source:
        Kyprianidis, Kang and Döllner, "Image and Video Abstraction by Anisotropic Kuwahara Filtering", Computer
        Graphics Forum 28(7), 2009, with the polynomial weights of Kyprianidis, Semmo, Kang and Döllner, "Anisotropic
        Kuwahara Filtering with Polynomial Weighting Functions", EG UK TPCG 2010, section 3. Departure: the ellipse
        turns in 6 steps, between which results are blended, and does not shrink where there is no direction; so FFTs
        do all sums.
    """
    height, width = image.shape[:2]
    reach = int(np.ceil(radius * stretch))
    pixels = np.pad(image.astype(np.float64), ((reach, reach), (reach, reach), (0, 0)), mode="reflect")
    planes = np.concatenate([pixels, (pixels**2).sum(axis=2, keepdims=True)], axis=2).astype(np.float32)
    shape = [fft.next_fast_len(side, real=True) for side in planes.shape[:2]]
    spectra = fft.rfft2(planes, shape, axes=(0, 1))
    angle = structure(image, 2.0 + radius / 4).angle
    place = (angle % np.pi) / np.pi * _TURNS
    total = np.zeros((height, width, 3))
    for turn in range(_TURNS):
        near = 1.0 - np.abs((place - turn + _TURNS / 2) % _TURNS - _TURNS / 2)
        if (near > 0).any():
            filtered = _filtered(spectra, shape, (height, width), turn * np.pi / _TURNS, radius, sharpness, stretch)
            total += np.maximum(near, 0.0)[..., None] * filtered
    return total


def _filtered(
    spectra: NDArray[np.complex64],
    shape: list[int],
    size: tuple[int, int],
    angle: float,
    radius: float,
    sharpness: float,
    stretch: float,
) -> Floats:
    """The filter with its ellipse at one angle, everywhere."""
    height, width = size
    weighted, weight = np.zeros((height, width, 3)), np.zeros((height, width))
    for sector in _sectors(angle, radius, stretch):
        reach = sector.shape[0] // 2
        kernel = fft.rfft2(sector[::-1, ::-1].astype(np.float32), shape)
        sums = fft.irfft2(spectra * kernel[..., None], shape, axes=(0, 1))
        sums = sums[2 * reach : 2 * reach + height, 2 * reach : 2 * reach + width]
        mean = sums[..., :3]
        variance = np.maximum(sums[..., 3] - (mean**2).sum(axis=2), 0.0) * 255.0**2
        share = 1.0 / (1.0 + variance ** (sharpness / 2))
        weighted += share[..., None] * mean
        weight += share
    return weighted / weight[..., None]


def _sectors(angle: float, radius: float, stretch: float) -> Floats:
    """(8, d, d): weights of the sectors of an ellipse, each summing to 1."""
    reach = int(np.ceil(radius * stretch))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1].astype(np.float64)
    u = (x * np.cos(angle) + y * np.sin(angle)) / (radius * stretch)
    v = (-x * np.sin(angle) + y * np.cos(angle)) / (radius / stretch)
    zeta = 2.0 / radius
    eta = (zeta + np.cos(np.pi / _SECTORS)) / np.sin(np.pi / _SECTORS) ** 2
    inside = (u**2 + v**2 <= 1.0) * np.exp(-3.125 * (u**2 + v**2))
    weights = []
    for k in range(_SECTORS):
        c, s = np.cos(2 * np.pi * k / _SECTORS), np.sin(2 * np.pi * k / _SECTORS)
        across, outward = c * u + s * v, -s * u + c * v
        weights.append(np.maximum(0.0, outward + zeta - eta * across**2) ** 2)
    sectors = np.stack(weights)
    sectors = sectors / np.maximum(sectors.sum(axis=0), 1e-12) * inside
    made: Floats = sectors / sectors.sum(axis=(1, 2), keepdims=True)
    return made


def painted(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content in the style's colours, flattened twice into dabs that follow its edges.

    Source:
        As `kuwahara` and `linear_transport`.
    """
    unit = max(content.shape[:2]) / 256
    recoloured = np.clip(monge_kantorovich(content, style, seed=seed), 0.0, 1.0)
    once = kuwahara(recoloured, radius=5.0 * unit)
    return kuwahara(once, radius=6.0 * unit).astype(np.float32)


KUWAHARA = Styliser(
    name="kuwahara",
    run=painted,
    summary="smooth oil paint in the style's colours, dabs along edges",
    source='Kyprianidis et al., "Image and Video Abstraction by Anisotropic Kuwahara Filtering", CGF 28(7), 2009',
    strategy="colour: mean and covariance; abstraction of the content",
)
