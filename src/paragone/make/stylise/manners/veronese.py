"""Veronese: clear, rich silks side by side in silvery light, coloured shadows, soft paint on woven canvas."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ....images import Picture, lab
from ..colour import linear_transport
from ..focus import backdrop
from ..kuwahara import kuwahara
from ..palette import main_colours, srgb
from ..paper import weave
from ..strokes import brushed
from ..styliser import Styliser

__all__ = ["VERONESE", "silken"]

Floats = NDArray[np.float64]

_COLOURS = 10


def silken(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content in the style's clear colours, the average of a smoothed and a brushed version, under a glow.

    What has colour is drawn towards the nearest hue among the style's main colours, made richer and given the sheen of
    cloth; lights turn silvery, shadows keep colour and never reach black. Where the
    content is empty ground, a sky between columns stands instead.

    Source:
        Ours; the parts as `linear_transport`, `kuwahara` and `brushed`.
    """
    rng = np.random.default_rng(seed)
    height, width = content.shape[:2]
    unit = max(height, width) / 256
    own, other = lab(content), lab(style)
    moved = linear_transport(own.reshape(-1, 3), other.reshape(-1, 3), ridge=1.0).reshape(own.shape)
    colours = 0.5 * own + 0.5 * moved
    colours[..., 1:] = _dyed(colours[..., 1:], style)
    sheen = colours[..., 0] - ndimage.gaussian_filter(colours[..., 0], 7.0 * unit)
    rich = np.clip(np.hypot(colours[..., 1], colours[..., 2]) / 35.0, 0.0, 1.0)
    low, high = np.percentile(own[..., 0], (1, 99))
    light = 12.0 + 78.0 * np.clip((0.6 * own[..., 0] + 0.4 * moved[..., 0] - low) / max(high - low, 20.0), 0.0, 1.1)
    colours[..., 0] = np.clip(light + 0.55 * rich * sheen, 8.0, 98.0)
    shade = np.clip((42.0 - colours[..., 0]) / 30.0, 0.0, 1.0)[..., None]
    colours[..., 1:] += shade * np.array([4.0, -9.0])  # shadows reflect the sky
    bright = np.clip((colours[..., 0] - 72.0) / 25.0, 0.0, 1.0)[..., None]
    colours[..., 1:] = colours[..., 1:] * (1.0 - 0.45 * bright) + bright * np.array([0.5, 3.0])
    wanted = np.clip(srgb(colours), 0.0, 1.0)
    behind = (0.95 * backdrop(own))[..., None]
    clear: Picture = (wanted * (1.0 - behind) + _stage((height, width), rng) * behind).astype(np.float32)
    smooth = kuwahara(clear, radius=max(1.0, 4.0 * unit))
    painted = 0.6 * smooth + 0.4 * brushed(clear, clear, seed=seed)
    glow = np.stack([ndimage.gaussian_filter(painted[..., c], 6.0 * unit) for c in range(3)], axis=-1)
    painted = 1.0 - (1.0 - painted) * (1.0 - 0.22 * np.maximum(glow - 0.35, 0.0))
    canvas = weave((height, width), unit, rng)
    varnish = np.array([1.0, 0.97, 0.91])
    made: Picture = (painted * varnish * (1.0 + 0.022 * canvas[..., None])).astype(np.float32)
    return made


def _stage(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """(h, w, 3) sRGB: pale clouds before a blue sky between fluted columns of light stone."""
    height, width = shape
    unit = max(shape) / 256
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    heaps = np.zeros(shape)
    for size, share in ((24.0, 1.0), (10.0, 0.5), (4.0, 0.2)):
        noise = ndimage.gaussian_filter(rng.standard_normal(shape), (0.5 * size * unit, size * unit))
        heaps += share * noise / max(float(noise.std()), 1e-12)
    dense = (0.85 / (1.0 + np.exp(-2.2 * heaps)))[..., None]
    down = (y / height)[..., None]
    sky = np.array([0.34, 0.50, 0.70]) * (1.0 - down) + np.array([0.66, 0.74, 0.78]) * down
    stage: Floats = sky * (1.0 - dense) + np.array([0.90, 0.87, 0.80]) * dense
    for place in (0.09, 0.91):
        across = (x - place * width) / (13.0 * unit)
        turn = np.arcsin(np.clip(across, -1.0, 1.0))
        stone = 0.92 - 0.34 * np.clip(across + 0.35, -1.0, 1.4) ** 2 - 0.07 * (np.cos(14.0 * turn) > 0.55)
        column = np.clip((1.0 - np.abs(across)) * 8.0, 0.0, 1.0)[..., None]
        stage = stage * (1.0 - column) + stone[..., None] * np.array([0.97, 0.90, 0.78]) * column
    return stage


def _dyed(chroma: Floats, style: Picture) -> Floats:
    """(h, w, 2) a* and b* drawn towards the hue of the style's nearest coloured main colour, and richer."""
    found = main_colours(style, _COLOURS).colours[:, 1:]
    silks = found[np.hypot(found[:, 0], found[:, 1]) > 14.0]
    size = np.hypot(chroma[..., 0], chroma[..., 1])
    if not len(silks):
        return 1.2 * chroma
    hues = silks / np.hypot(silks[:, 0], silks[:, 1])[:, None]
    likeness = chroma[..., 0, None] * hues[:, 0] + chroma[..., 1, None] * hues[:, 1]
    weight = np.exp(6.0 * (likeness / np.maximum(size, 1e-6)[..., None] - 1.0))
    toward = np.stack([(weight * hues[:, c]).sum(axis=-1) / weight.sum(axis=-1) for c in range(2)], axis=-1)
    richer = 1.65 * size / (1.0 + (size / 75.0) ** 2)
    mixed: Floats = 0.35 * 1.3 * chroma / (1.0 + (size / 110.0) ** 2)[..., None] + 0.65 * richer[..., None] * toward
    return mixed


VERONESE = Styliser(
    name="veronese",
    run=silken,
    summary="clear rich cloth colours in silvery light, soft paint on woven canvas",
    source='Ours; average of Kyprianidis et al., "Anisotropic Kuwahara Filtering", CGF 28(7), 2009, and Hertzmann, '
    '"Painterly Rendering with Curved Brush Strokes of Multiple Sizes", SIGGRAPH 1998',
    strategy="combination: from the style the hues of its main colours, and mean and covariance of its colours",
)
