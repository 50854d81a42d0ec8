"""Thick paint: recoloured, flattened, and combed with bristle marks along the forms."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from ...images import Picture, lab
from .colour import linear_transport
from .palette import srgb
from .structure import along, structure
from .styliser import Styliser

__all__ = ["BRISTLES", "combed"]


def combed(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content in the style's colours under marks of bristles.

    White noise smoothed along the forms is added to the lightness, and its slope as an emboss, stronger the more fine
    contrast the style has.

    Source:
        Cabral and Leedom, "Imaging Vector Fields Using Line Integral Convolution", SIGGRAPH 1993, for the marks;
        their use as paint, with the contrast taken from the style, is ours.
    """
    rng = np.random.default_rng(seed)
    unit = max(content.shape[:2]) / 256
    shape = content.shape
    colours = linear_transport(lab(content).reshape(-1, 3), lab(style).reshape(-1, 3), ridge=1e-3).reshape(shape)
    flat = np.stack(
        [ndimage.median_filter(colours[..., c], size=int(2 * round(2 * unit) + 1)) for c in range(3)], axis=-1
    )
    angle = structure(flat, 5.0 * unit).angle
    grain = ndimage.gaussian_filter(rng.standard_normal(shape[:2]), 0.8 * unit)
    marks = along(grain, angle, 7.0 * unit)
    marks = (marks - marks.mean()) / marks.std()
    relief = ndimage.sobel(marks, axis=0) + ndimage.sobel(marks, axis=1)
    surface = 0.75 * marks + 0.25 * relief / relief.std()
    light = lab(style)[..., 0]
    wide = 3.0 * max(style.shape[:2]) / 256
    fine = float((light - ndimage.gaussian_filter(light, wide)).std())
    amount = float(np.clip(0.6 * fine, 3.0, 7.0))
    flat[..., 0] += amount * surface
    flat[..., 1:] = flat[..., 1:].mean(axis=(0, 1)) + 1.15 * (flat[..., 1:] - flat[..., 1:].mean(axis=(0, 1)))
    return srgb(flat).astype(np.float32)


BRISTLES = Styliser(
    name="bristles",
    run=combed,
    summary="thick paint combed along the forms, in the style's colours",
    source='Cabral and Leedom, "Imaging Vector Fields Using Line Integral Convolution", SIGGRAPH 1993; else ours',
    strategy="colour: mean and covariance; texture: amount of fine contrast",
)
