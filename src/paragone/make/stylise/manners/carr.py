"""Carr: forests and skies as a few flat masses, carved into heavy, swelling bands that sweep along the forms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.segmentation import felzenszwalb

from ....images import Picture, lab
from ..colour import linear_transport
from ..flatten import joined, region_means
from ..kuwahara import kuwahara
from ..palette import srgb
from ..structure import along
from ..styliser import Styliser

__all__ = ["CARR", "swelling"]

Floats = NDArray[np.float64]

_LEAST = 8  # pixels a side, our choice: where less is given, slopes and covariances have nothing to stand on


def swelling(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content laid in as flat masses of the style's colours, then carved into bands along its forms.

    Masses are segments of the content, neighbours of close colour joined, each in its one recoloured mean; small things
    are put in on top. A smooth field made of the masses' tones and a slow wave then fixes both where bands lie, at equal
    steps of it, and where brush marks run, along it. Bands are light on one flank and dark on the other.

    Source:
        Felzenszwalb and Huttenlocher, "Efficient Graph-Based Image Segmentation", International Journal of Computer
        Vision 59(2), 2004, for the segments; the painting over them is ours; the parts as `joined`, `linear_transport`,
        `kuwahara` and `along`.
    """
    height, width = content.shape[:2]
    content, style = _with_room(content), _with_room(style)
    rng = np.random.default_rng(seed)
    unit = max(height, width) / 256
    own = lab(content)
    fine = _detail(own[..., 0], unit)
    flat = _laid_in(own, lab(style), fine, unit)
    field = _field(lab(flat.astype(np.float32))[..., 0], unit, rng)
    down, across = np.gradient(field)
    angle = np.arctan2(across, -down)  # along the bands: a quarter turn from the slope
    steep = np.hypot(down, across) * 6.0 * unit
    clear = np.minimum(1.0, steep / 0.12) / (1.0 + steep**2)  # neither where the field is flat nor where bands crowd
    phase = 2.0 * np.pi * field
    band = (np.sin(phase) + 0.35 * np.sin(2.0 * phase + 0.8)) * clear * (1.0 - 0.75 * fine)
    swept = np.stack([along(flat[..., c], angle, 2.5 * unit) for c in range(3)], axis=-1)
    share = (0.75 - 0.65 * fine)[..., None]  # eyes and windows are left as they are
    colours = lab(np.clip(share * swept + (1.0 - share) * flat, 0.0, 1.0).astype(np.float32))
    marks = along(ndimage.gaussian_filter(rng.standard_normal(fine.shape), 0.6 * unit), angle, 6.0 * unit)
    marks /= max(float(marks.std()), 1e-12)
    colours[..., 0] += 7.0 * band + 2.6 * marks
    middle = colours[..., 1:].mean(axis=(0, 1))
    colours[..., 1:] = middle + (1.2 + 0.12 * band[..., None]) * (colours[..., 1:] - middle)
    colours[..., 2] += 3.0 * band  # lit flanks are warmer
    return srgb(colours).astype(np.float32)[:height, :width]


def _with_room(image: Picture) -> Picture:
    """The picture, its last row and column repeated where it is smaller than slopes need."""
    short = [(0, max(0, _LEAST - side)) for side in image.shape[:2]]
    return np.pad(image, (*short, (0, 0)), mode="edge")


def _laid_in(own: Floats, other: Floats, fine: Floats, unit: float) -> Floats:
    """(h, w, 3) sRGB: masses in the style's colours with soft outlines, small things on top."""
    mass = _masses(own, unit)
    keep = 0.9 * fine[..., None]
    filled = (1.0 - keep) * region_means(own, mass)[mass] + keep * own
    moved = linear_transport(filled.reshape(-1, 3), other.reshape(-1, 3), ridge=1.0).reshape(own.shape)
    moved[..., 1:] = 0.85 * moved[..., 1:] + 0.15 * filled[..., 1:]
    return kuwahara(np.clip(srgb(moved), 0.0, 1.0), radius=max(1.0, 2.8 * unit))


def _masses(colours: Floats, unit: float) -> NDArray[np.int64]:
    """(h, w) mass that each pixel belongs to: segments, those of close colour joined, so that they keep to the forms."""
    least = max(1, round(6.0 * unit**2))
    parts = felzenszwalb(colours / 100.0, scale=3.0 * unit**2, sigma=0.9 * unit, min_size=least)
    return joined(parts.astype(np.int64), colours, limit=6.0, room=(10.0 * unit) ** 2)


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
    summary="a few flat masses under heavy swelling bands and brush marks along the forms, in forest colours",
    source='Ours; masses after Felzenszwalb and Huttenlocher, "Efficient Graph-Based Image Segmentation", IJCV 59(2), '
    '2004; marks after Cabral and Leedom, "Imaging Vector Fields Using Line Integral Convolution", SIGGRAPH 1993',
    strategy="custom pipeline: from the style mean and covariance of its colours; masses and bands follow the content",
)
