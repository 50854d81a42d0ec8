"""Bierstadt: golden light that breaks through haze over a far distance, a dark near ground, fine smooth paint."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ....images import Picture, lab
from ..colour import linear_transport
from ..focus import backdrop
from ..kuwahara import kuwahara
from ..palette import main_colours, srgb
from ..paper import grain
from ..strokes import brushed
from ..styliser import Styliser

__all__ = ["BIERSTADT", "luminous"]

Floats = NDArray[np.float64]


class _Sun(NamedTuple):
    row: float
    column: float


def luminous(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content lit from behind: a glow and rays where its upper part is brightest, haze far off, shade near.

    Where the content is empty ground, clouds and far peaks stand instead. The light's colour is that of the style's
    lightest main colour, the near ground's that of its darkest.

    Source:
        Ours; the parts as `linear_transport`, `kuwahara`, `brushed` and `backdrop`.
    """
    rng = np.random.default_rng(seed)
    height, width = content.shape[:2]
    unit = max(height, width) / 256
    own, other = lab(content), lab(style)
    moved = linear_transport(own.reshape(-1, 3), other.reshape(-1, 3), ridge=1.0).reshape(own.shape)
    colours = 0.40 * own + 0.60 * moved
    colours[..., 0] = 0.6 * own[..., 0] + 0.4 * moved[..., 0]
    clear = np.clip(srgb(colours), 0.0, 1.0).astype(np.float32)
    painted = 0.6 * kuwahara(clear, radius=max(1.0, 2.6 * unit)) + 0.4 * brushed(clear, clear, seed=seed)
    found = main_colours(style, 8).colours
    warm, dark = _light(found), srgb(found[0] * (1.0, 0.7, 0.7)).clip(0.0, 0.3)
    y, x = np.mgrid[0:height, 0:width] / unit
    down = (np.arange(height) + 0.5)[:, None] / height
    behind = backdrop(own)
    sun = _sun(own[..., 0], behind, unit)
    away = np.hypot(x - sun.column / unit, (y - sun.row / unit) * 1.15)
    sky = (behind * np.clip(1.75 - 1.6 * down, 0.0, 0.94))[..., None]
    painted = painted * (1.0 - sky) + _sky(behind.shape, sun, warm, rng) * sky
    far = np.clip(1.25 - 1.35 * down, 0.0, 1.0) * (0.35 + 0.65 * behind)
    haze = (0.50 * far * np.exp(-((away / 150.0) ** 2)))[..., None]
    painted = painted * (1.0 - haze) + warm * haze
    shade = np.clip(1.12 - 0.45 * (away / 150.0) ** 1.3 - 0.45 * np.clip((down - 0.72) / 0.28, 0.0, 1.0), 0.30, 1.0)
    painted = painted * shade[..., None] + dark * (1.0 - shade[..., None]) * 0.7
    glow = np.exp(-((away / 62.0) ** 2)) * (0.30 + 0.70 * behind)
    beams = _beams(np.arctan2(y - sun.row / unit, x - sun.column / unit), rng) * np.exp(-away / 95.0)
    beams = beams * np.clip(away / 40.0 - 0.3, 0.0, 1.0) * np.clip(1.3 - 0.9 * down, 0.0, 1.0) * (0.35 + 0.65 * behind)
    lit = np.clip(0.70 * glow + 0.45 * beams, 0.0, 0.9)[..., None]
    painted = 1.0 - (1.0 - painted) * (1.0 - lit * warm)
    bloom = np.stack([ndimage.gaussian_filter(painted[..., c], 7.0 * unit) for c in range(3)], axis=-1)
    painted = 1.0 - (1.0 - painted) * (1.0 - 0.22 * np.maximum(bloom - 0.3, 0.0))
    grey = painted.mean(axis=2, keepdims=True)
    painted = 1.12 * (grey + 1.2 * (painted - grey)) - 0.04  # deep, clear varnish
    lit_up: Picture = (painted + 0.008 * grain((height, width), unit, rng)[..., None]).astype(np.float32)
    return lit_up


def _light(found: Floats) -> Floats:
    """(3,) sRGB of the lightest main colour, turned to gold where it is not warm."""
    lightest = found[-1].copy()
    lightest[0] = float(np.clip(lightest[0], 84.0, 92.0))
    lightest[1:] = 0.4 * lightest[1:] + 0.6 * np.array([9.0, 54.0])
    return np.clip(srgb(lightest), 0.0, 1.0)


def _sun(lightness: Floats, behind: Floats, unit: float) -> _Sun:
    """The brightest wide place behind the subject, in the upper part."""
    height, width = lightness.shape
    wide = ndimage.gaussian_filter(lightness * (0.2 + 0.8 * behind), 14.0 * unit)
    y, x = (np.mgrid[0:height, 0:width] + 0.5) / np.array([height, width])[:, None, None]
    wide = wide * np.exp(-(((y - 0.26) / 0.20) ** 2) - ((x - 0.5) / 0.38) ** 2)
    row, column = np.unravel_index(int(wide.argmax()), wide.shape)
    return _Sun(float(row), float(column))


def _sky(shape: tuple[int, int], sun: _Sun, warm: Floats, rng: np.random.Generator) -> Floats:
    """(h, w, 3) sRGB: heaped clouds lit from the sun's side before blue, peaks in haze below them."""
    height, width = shape
    unit = max(shape) / 256
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    heaps = np.zeros(shape)
    for size, share in ((26.0, 1.0), (12.0, 0.55), (5.5, 0.3), (2.5, 0.16)):
        noise = ndimage.gaussian_filter(rng.standard_normal(shape), (0.62 * size * unit, size * unit))
        heaps += share * noise / max(float(noise.std()), 1e-12)
    dense = 1.0 / (1.0 + np.exp(-2.6 * (heaps - 0.1)))
    down, across = np.gradient(ndimage.gaussian_filter(heaps, 1.5 * unit))
    toward_y, toward_x = sun.row - y, sun.column - x
    lit = -(down * toward_y + across * toward_x) / np.maximum(np.hypot(toward_y, toward_x), unit) * 9.0 * unit
    lit = np.clip(0.5 + 0.5 * lit, 0.0, 1.0)[..., None]
    near = np.exp(-((np.hypot(toward_y, toward_x) / (85.0 * unit)) ** 2))[..., None]
    cloud = np.array([0.50, 0.47, 0.50]) * (1.0 - lit) + (0.55 * warm + 0.45 * np.array([1.0, 0.94, 0.84])) * lit
    sky = np.array([0.36, 0.50, 0.64]) * (1.0 - near) + warm * near
    painted: Floats = (
        sky * (1.0 - dense[..., None]) + (cloud * (1.0 - 0.5 * near) + 0.5 * warm * near) * dense[..., None]
    )
    for layer in range(2):
        edge = np.zeros(width)
        for octave in range(6):
            place = x[0] / width * (1.3 + 0.9 * layer) * 2.0**octave + rng.uniform(0, 1)
            edge += 0.36**octave * (1.0 - 2.0 * np.abs(place % 1.0 - 0.5))
        ridge = height * (0.52 + 0.14 * layer - (0.32 - 0.12 * layer) * (edge - 0.55))
        inside = np.clip((y - ridge) / unit, 0.0, 1.0)[..., None]
        crags = sum(s * ndimage.gaussian_filter(rng.standard_normal(shape), s * unit) for s in (1.2, 2.4, 4.8))
        slope = np.gradient(crags, axis=1) * np.sign(sun.column - x)
        face = np.clip(0.45 - 0.5 * slope / max(float(slope.std()), 1e-12), 0.0, 1.0)[..., None]
        rock = np.array([0.38, 0.40, 0.48]) * (1.0 - 0.15 * layer) + 0.36 * face * warm
        veil = np.clip((y - ridge) / (0.30 * height), 0.0, 0.8)[..., None]
        rock = rock * (1.0 - veil) + (0.6 * warm + 0.25) * veil
        painted = painted * (1.0 - 0.85 * inside) + rock * 0.85 * inside
    return painted


def _beams(turn: Floats, rng: np.random.Generator) -> Floats:
    """(h, w) in [0, 1]: bright and dark rays by direction, a periodic seeded curve."""
    total = np.zeros_like(turn)
    for waves, size in ((4, 1.0), (7, 0.8), (11, 0.6), (18, 0.3)):
        total += size * np.sin(waves * turn + rng.uniform(0.0, 2.0 * np.pi))
    beams: Floats = np.clip(0.35 + 0.4 * total, 0.0, 1.0)
    return beams


BIERSTADT = Styliser(
    name="bierstadt",
    run=luminous,
    summary="golden light through haze from behind, a dark near ground, fine smooth paint",
    source='Ours; average of Kyprianidis et al., "Anisotropic Kuwahara Filtering", CGF 28(7), 2009, and Hertzmann, '
    '"Painterly Rendering with Curved Brush Strokes of Multiple Sizes", SIGGRAPH 1998',
    strategy="combination: from the style its lightest and darkest main colour, and mean and covariance of its colours",
)
