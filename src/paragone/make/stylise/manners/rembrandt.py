"""Rembrandt: a warm light on the subject out of a dark brown ground, thick paint where it is light."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ....images import Picture, lab
from ..colour import linear_transport
from ..focus import focus, spot
from ..kuwahara import kuwahara
from ..palette import main_colours, srgb
from ..paper import grain
from ..structure import along, structure
from ..styliser import Styliser

__all__ = ["REMBRANDT", "chiaroscuro"]

Floats = NDArray[np.float64]

_DEEPEST, _BRIGHTEST = 5.0, 90.0  # L* of the ground and of the highest lights


def chiaroscuro(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content under one warm light that falls on its subject; the rest sinks into the style's ground.

    Lightness goes through a steep curve and is dimmed away from the subject; colours come half from moving the
    content's, half from what the style shows at that lightness. Lights are thick, with bristle marks; shadows are thin.

    Source:
        Ours; the parts as `kuwahara`, `linear_transport` and `along`.
    """
    rng = np.random.default_rng(seed)
    height, width = content.shape[:2]
    unit = max(height, width) / 256
    own, other = lab(content), lab(style)
    moved = linear_transport(own.reshape(-1, 3), other.reshape(-1, 3), ridge=1e-2).reshape(own.shape)
    likely = focus(own)
    centre = spot(likely)
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    down = (y - centre.row + 0.5 * centre.height) / (1.7 * max(centre.height, 0.11 * height))
    across = (x - centre.column) / (1.6 * max(centre.width, 0.10 * width))
    beam = np.exp(-0.5 * (down**2 + across**2))
    tone = _tone(own[..., 0], likely)
    light = tone * (0.10 + 0.90 * np.clip(0.85 * beam + 0.35 * likely, 0.0, 1.0))
    lightness = _DEEPEST + (_BRIGHTEST - _DEEPEST) * light
    shown = _shown(style, lightness)
    hue = np.arctan2(own[..., 2], own[..., 1])
    warm = 0.35 + 0.65 * np.clip(np.cos(hue - 1.0), 0.0, 1.0)  # his pigments were earths: greens and blues are muted
    colours = 0.62 * shown + 0.14 * (moved[..., 1:] - moved[..., 1:].mean(axis=(0, 1)))
    colours += 0.38 * own[..., 1:] * (warm * np.clip(light * 1.6, 0.1, 1.0))[..., None]
    painted = kuwahara(srgb(np.concatenate([lightness[..., None], colours], axis=-1)), radius=max(1.0, 3.0 * unit))
    angle = structure(painted, 4.0 * unit).angle
    marks = along(ndimage.gaussian_filter(rng.standard_normal((height, width)), 0.5 * unit), angle, 3.5 * unit)
    relief = ndimage.sobel(marks, axis=0) + ndimage.sobel(marks, axis=1)
    thick = (marks / max(float(marks.std()), 1e-12) + relief / max(float(relief.std()), 1e-12)) * (
        0.004 + 0.030 * light
    )
    ground = 0.008 * grain((height, width), unit, rng)
    made: Picture = (painted + (thick + ground)[..., None] * np.array([1.0, 0.86, 0.62])).astype(np.float32)
    return made


def _tone(lightness: Floats, likely: Floats) -> Floats:
    """Lightness in [0, 1] through a steep curve that turns at the subject's own middle tone."""
    weight = likely / likely.sum()
    middle = float(np.clip((weight * lightness).sum(), 25.0, 65.0))
    steep: Floats = 1.0 / (1.0 + np.exp(-(lightness - middle) / 11.0))
    return steep


def _shown(style: Picture, lightness: Floats) -> Floats:
    """(h, w, 2) a* and b* that the style has at each lightness, between its main colours."""
    found = main_colours(style, 8).colours
    return np.stack([np.interp(lightness, found[:, 0], found[:, c]) for c in (1, 2)], axis=-1)


REMBRANDT = Styliser(
    name="rembrandt",
    run=chiaroscuro,
    summary="a warm light on the subject out of a dark brown ground, thick paint in the lights",
    source='Ours; flattening after Kyprianidis et al., "Anisotropic Kuwahara Filtering", CGF 28(7), 2009; marks after '
    'Cabral and Leedom, "Imaging Vector Fields Using Line Integral Convolution", SIGGRAPH 1993',
    strategy="combination: from the style its colour at each lightness, and mean and covariance of its colours",
)
