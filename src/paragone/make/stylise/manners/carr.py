"""Carr: forests and skies as heavy, swelling bands that sweep along the forms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ....images import Picture, lab
from ..colour import linear_transport
from ..kuwahara import kuwahara
from ..palette import srgb
from ..structure import along
from ..styliser import Styliser

__all__ = ["CARR", "swelling"]

Floats = NDArray[np.float64]


def swelling(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content in the style's colours, carved into bands that sweep along its forms.

    A smooth field made of the content's tones and a slow wave fixes both where bands lie, at equal steps of it, and
    where brush marks run, along it. Bands are light on one flank and dark on the other.

    Source:
        Ours; the parts as `linear_transport`, `kuwahara` and `along`.
    """
    rng = np.random.default_rng(seed)
    height, width = content.shape[:2]
    unit = max(height, width) / 256
    own, other = lab(content), lab(style)
    moved = linear_transport(own.reshape(-1, 3), other.reshape(-1, 3), ridge=1.0).reshape(own.shape)
    moved[..., 1:] = 0.85 * moved[..., 1:] + 0.15 * own[..., 1:]
    flat = kuwahara(np.clip(srgb(moved), 0.0, 1.0), radius=max(1.0, 4.5 * unit))
    field = _field(lab(flat.astype(np.float32))[..., 0], unit, rng)
    down, across = np.gradient(field)
    angle = np.arctan2(across, -down)  # along the bands: a quarter turn from the slope
    steep = np.hypot(down, across) * 6.0 * unit
    clear = np.minimum(1.0, steep / 0.12) / (1.0 + steep**2)  # neither where the field is flat nor where bands crowd
    phase = 2.0 * np.pi * field
    fine = _detail(own[..., 0], unit)
    band = (np.sin(phase) + 0.35 * np.sin(2.0 * phase + 0.8)) * clear * (1.0 - 0.75 * fine)
    swept = np.stack([along(flat[..., c], angle, 2.5 * unit) for c in range(3)], axis=-1)
    share = (0.75 - 0.65 * fine)[..., None]  # eyes and windows are left as they are
    colours = lab(np.clip(share * swept + (1.0 - share) * flat, 0.0, 1.0).astype(np.float32))
    marks = along(ndimage.gaussian_filter(rng.standard_normal((height, width)), 0.6 * unit), angle, 6.0 * unit)
    marks /= max(float(marks.std()), 1e-12)
    colours[..., 0] += 7.0 * band + 2.6 * marks
    middle = colours[..., 1:].mean(axis=(0, 1))
    colours[..., 1:] = middle + (1.2 + 0.12 * band[..., None]) * (colours[..., 1:] - middle)
    colours[..., 2] += 3.0 * band  # lit flanks are warmer
    return srgb(colours).astype(np.float32)


def _field(lightness: Floats, unit: float, rng: np.random.Generator) -> Floats:
    """(h, w) in bands: equal values lie along the forms, and along slow waves where there are none."""
    height, width = lightness.shape
    y, x = np.mgrid[0:height, 0:width] / unit
    form = ndimage.gaussian_filter(lightness, 8.0 * unit)
    low, middle, high = np.percentile(form, (2, 50, 98))
    waves = sum(
        size * np.sin(2.0 * np.pi * (x * np.cos(turn) + y * np.sin(turn)) / length + start)
        for size, length, turn, start in zip(
            (9.0, 6.0, 4.0),
            rng.uniform(70, 150, 3),
            rng.uniform(-0.6, 0.6, 3),
            rng.uniform(0, 2 * np.pi, 3),
            strict=True,
        )
    )
    field: Floats = 4.5 * (form - middle) / max(float(high - low), 20.0) + (y + waves) / 17.0
    return field


def _detail(lightness: Floats, unit: float) -> Floats:
    """(h, w) in [0, 1]: how much small things stand out."""
    fine = np.abs(lightness - ndimage.gaussian_filter(lightness, 3.0 * unit))
    shown: Floats = np.clip(ndimage.gaussian_filter(fine, 2.5 * unit) / 9.0, 0.0, 1.0)
    return shown


CARR = Styliser(
    name="carr",
    run=swelling,
    summary="heavy swelling bands and brush marks that sweep along the forms, in forest colours",
    source='Ours; flattening after Kyprianidis et al., "Anisotropic Kuwahara Filtering", CGF 28(7), 2009; marks after '
    'Cabral and Leedom, "Imaging Vector Fields Using Line Integral Convolution", SIGGRAPH 1993',
    strategy="custom pipeline: from the style mean and covariance of its colours; bands follow the content",
)
