"""Picasso: the subject broken into tilted facets that each see it from a slightly different side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ....images import Picture, lab
from ..colour import linear_transport
from ..facets import Facets, facets
from ..flatten import nearest, region_means
from ..focus import focus
from ..inklines import flow_lines, levelled
from ..kuwahara import kuwahara
from ..palette import main_colours, srgb
from ..structure import along
from ..styliser import Styliser

__all__ = ["PICASSO", "cubist"]

Floats = NDArray[np.float64]

_FACETS = 90


def cubist(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content broken into facets in the style's few colours, with dark outlines.

    Straight cuts in a few directions divide the picture, smallest at the subject. In each facet the content is turned,
    scaled and shifted a little about the facet's middle, drawn towards one main colour of the style, and shaded from
    one edge to the other; then come the facets' rims and the content's own lines as the facet sees them.

    Source:
        Ours; the parts as `facets`, `linear_transport`, `kuwahara` and `flow_lines`.
    """
    rng = np.random.default_rng(seed)
    height, width = content.shape[:2]
    unit = max(height, width) / 256
    own, other = lab(content), lab(style)
    moved = linear_transport(own.reshape(-1, 3), other.reshape(-1, 3), ridge=1.0).reshape(own.shape)
    moved[..., 0] = 0.35 * moved[..., 0] + 0.65 * (18.0 + 0.76 * own[..., 0])
    moved[..., 1:] = 0.8 * moved[..., 1:] + 0.2 * own[..., 1:]
    flat = lab(kuwahara(np.clip(srgb(moved), 0.0, 1.0), radius=max(1.0, 3.5 * unit)).astype(np.float32))
    tone = levelled(own[..., 0] / 100.0, 10.0 * unit)
    lines = flow_lines(tone, sigma=0.8 * unit, p=16.0, epsilon=0.30, phi=8.0, length=3.0 * unit)
    angles = np.arange(6) * np.pi / 6 + np.pi / 12 + rng.normal(0.0, 0.08, 6)
    smooth = np.stack([ndimage.gaussian_filter(own[..., c], 2.0 * unit) for c in range(3)], axis=-1)
    least = max(4, round((6.0 * unit) ** 2))
    cut = facets(smooth, 0.15 + focus(own), n=_FACETS, angles=angles, least=least)
    place = _seen(cut, unit, rng)
    seen = np.stack([ndimage.map_coordinates(flat[..., c], place, order=1, mode="nearest") for c in range(3)], axis=-1)
    drawn = ndimage.map_coordinates(lines, place, order=1, mode="nearest")
    palette = main_colours(style, 9).colours
    means = region_means(seen, cut.label)
    pull = palette[nearest(means, palette)]
    colours = 0.52 * seen + 0.22 * means[cut.label] + 0.26 * pull[cut.label]
    colours[..., 0] += _shade(cut, rng)
    rim = _rim(cut.label, 0.5 * unit)
    marks = along(ndimage.gaussian_filter(rng.standard_normal((height, width)), 0.5 * unit), _slant(cut), 3.0 * unit)
    colours[..., 0] += 2.2 * marks / max(float(marks.std()), 1e-12)
    ink = 1.0 - drawn * (1.0 - rim)
    dark = palette[0].copy()
    dark[0] = min(dark[0], 14.0)
    ink = 0.9 * ink[..., None]
    made: Picture = (srgb(colours) * (1.0 - ink) + srgb(dark) * ink).astype(np.float32)
    return made


def _seen(cut: Facets, unit: float, rng: np.random.Generator) -> Floats:
    """(2, h, w) rows and columns of the content that each pixel shows."""
    height, width = cut.label.shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    middle = region_means(np.stack([y, x], axis=-1), cut.label)
    k = len(middle)
    turn = np.radians(rng.normal(0.0, 7.0, k))[cut.label]
    scale = (1.0 / rng.uniform(0.95, 1.12, k))[cut.label]
    shift = rng.normal(0.0, 2.2 * unit, (k, 2))[cut.label]
    at = np.stack([y, x], axis=-1) - middle[cut.label]
    rows = scale * (np.cos(turn) * at[..., 0] - np.sin(turn) * at[..., 1])
    columns = scale * (np.sin(turn) * at[..., 0] + np.cos(turn) * at[..., 1])
    found: Floats = np.moveaxis(np.stack([rows, columns], axis=-1) + middle[cut.label] + shift, -1, 0)
    return found


def _shade(cut: Facets, rng: np.random.Generator) -> Floats:
    """(h, w) L* from about -14 to 14, rising across each facet from the cut that made it."""
    height, width = cut.label.shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    normal = cut.normal[cut.label]
    along_normal = y * normal[..., 0] + x * normal[..., 1]
    k = len(cut.normal)
    index = np.arange(k)
    low, high = (f(along_normal, cut.label, index) for f in (ndimage.minimum, ndimage.maximum))
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    share = (along_normal - low[cut.label]) / np.maximum(high - low, 1.0)[cut.label]
    strength = (rng.choice([-1.0, 1.0], k) * rng.uniform(10.0, 28.0, k))[cut.label]
    shade: Floats = strength * (share - 0.5)
    return shade


def _slant(cut: Facets) -> Floats:
    """(h, w) direction of brush marks: along the cut that made each facet."""
    normal = cut.normal[cut.label]
    return np.arctan2(normal[..., 1], -normal[..., 0])


def _rim(label: NDArray[np.int64], width: float) -> Floats:
    """(h, w) in [0, 1]: 1 on the borders of facets."""
    border = np.zeros(label.shape, dtype=bool)
    border[1:] |= label[1:] != label[:-1]
    border[:, 1:] |= label[:, 1:] != label[:, :-1]
    rim: Floats = np.clip(3.2 * width * ndimage.gaussian_filter(border.astype(np.float64), width), 0.0, 1.0)
    return rim


PICASSO = Styliser(
    name="picasso",
    run=cubist,
    summary="tilted, shaded facets in a few muted colours with dark outlines",
    source='Ours; facets after Radha et al., "Image Compression Using Binary Space Partitioning Trees", IEEE TIP 5(12), '
    '1996; lines after Kang et al., "Flow-Based Image Abstraction", IEEE TVCG 15(1), 2009',
    strategy="custom pipeline: from the style its nine main colours, and mean and covariance of its colours",
)
