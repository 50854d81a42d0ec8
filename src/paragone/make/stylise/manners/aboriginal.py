"""Dot painting after the Aboriginal art of Australia's deserts: rows of dots that follow every outline inwards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy import ndimage
from scipy.spatial import cKDTree
from skimage.measure import find_contours

from ....images import Picture, lab, resize
from ..analogies import fitted, repainted
from ..analogy_scan import compiled_scan
from ..palette import Palette, main_colours, srgb, tonal_index
from ..styliser import Styliser
from ..transport import guided_filter, sliced_transport

__all__ = ["ABORIGINAL", "dotted"]

Floats = NDArray[np.float64]

_OVER = 3  # canvas pixels per picture pixel, so that dots are round
_COLOURS = 5
_STEP = 1 / 76  # distance between rows, in parts of the longer side
_GROUND = 0.35  # brightness of the ground under the dots
_HALVED = 320  # pixels; above, the ground is repainted at half its size


class _Dots(NamedTuple):
    at: Floats
    """(n, 2) row and column."""
    row: NDArray[np.int64]
    """(n,) 0 for the dots along an outline, 1 for those behind them, ..."""


def dotted(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content as fields of dots in the style's main colours on a dark ground of the style's own pixels.

    Image analogies repaint the content with the style; that picture's tones, matched by rank to the style's palette,
    give the fields. Dots stand in rows at equal distances from the fields' outlines; the colour alternates by row
    between a field's own and the next one's.

    Source:
        As `repainted` for the ground; the dots are ours.
    """
    rng = np.random.default_rng(seed)
    unit = max(content.shape[:2]) / 512
    own = content.astype(np.float64)
    flat = guided_filter(own, own, radius=max(1, round(8 * unit)), epsilon=1e-2)
    colours = lab(np.clip(flat, 0.0, 1.0).astype(np.float32))
    scaled = fitted(style, content.shape)
    wanted = sliced_transport(colours.reshape(-1, 3), lab(scaled).reshape(-1, 3), rounds=8, seed=seed)
    ground = _repainted(wanted.reshape(content.shape), scaled, seed).astype(np.float64)
    palette = main_colours(style, _COLOURS)
    field = _fields(lab(ground.astype(np.float32))[..., 0], colours[..., 0], palette, unit)
    step = max(4.0, _STEP * max(content.shape[:2]))
    dots = _dots(field, step)
    return _painted(_GROUND * ground, field, dots, palette, step, rng)


def _repainted(wanted: Floats, style: Picture, seed: int) -> Picture:
    """The picture in the style's pixels; a large one at half its size, since dots cover what that loses."""
    height, width = wanted.shape[:2]
    if max(height, width) <= _HALVED:
        return repainted(wanted, style, seed=seed)
    rows, columns = (max(16, side // 2) for side in style.shape[:2])
    small = repainted(wanted[::2, ::2], resize(style, rows, columns, resizer="area"), seed=seed)
    return resize(np.clip(small, 0.0, 1.0).astype(np.float32), height, width, resizer="pil-bicubic")


def _fields(painted: Floats, light: Floats, palette: Palette, unit: float) -> NDArray[np.int64]:
    """(h, w) index of the palette's colour that each place has, in smooth fields."""
    tone = ndimage.gaussian_filter(0.5 * painted + 0.5 * light, 2.0 * unit)
    field = tonal_index(tone, 0.5 * palette.shares + 0.5 / len(palette.shares))  # no colour goes unused
    smooth: NDArray[np.int64] = ndimage.median_filter(field, size=int(2 * round(4 * unit) + 1))
    return smooth


def _dots(field: NDArray[np.int64], step: float) -> _Dots:
    """Where dots stand: evenly along curves of equal distance from the outlines, none on another."""
    outline = np.zeros(field.shape, dtype=bool)
    outline[1:] |= field[1:] != field[:-1]
    outline[:, 1:] |= field[:, 1:] != field[:, :-1]
    far = ndimage.distance_transform_edt(~outline) if outline.any() else _from_centre(field.shape)
    places: list[Floats] = []
    rows: list[NDArray[np.int64]] = []
    for row in range(int(far.max() / step) + 1):
        curves: list[Floats] = find_contours(far, (row + 0.5) * step)  # type: ignore[no-untyped-call]
        found = [_spaced(curve, step) for curve in curves]
        if found:
            places.append(np.concatenate(found))
            rows.append(np.full(len(places[-1]), row))
    if not places:
        return _Dots(np.empty((0, 2)), np.empty(0, dtype=np.int64))
    at, row_of = np.concatenate(places), np.concatenate(rows)
    kept = _apart(at, 0.8 * step)
    return _Dots(at[kept], row_of[kept])


def _from_centre(shape: tuple[int, ...]) -> Floats:
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]]
    distance: Floats = np.hypot(y - (shape[0] - 1) / 2, x - (shape[1] - 1) / 2)
    return distance


def _spaced(curve: Floats, step: float) -> Floats:
    """(k, 2) points at equal distances along a curve, about one step apart."""
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(curve, axis=0).T))])
    count = max(1, round(length[-1] / step))
    asked = (np.arange(count) + 0.5) / count * length[-1]
    return np.stack([np.interp(asked, length, curve[:, side]) for side in (0, 1)], axis=1)


def _apart(at: Floats, least: float) -> NDArray[np.int64]:
    """Indices of points kept when each that is closer than `least` to an earlier kept one is dropped."""
    near = cKDTree(at).query_ball_point(at, least)
    kept = np.zeros(len(at), dtype=bool)
    for i, others in enumerate(near):
        kept[i] = not any(kept[j] for j in others if j < i)
    return np.flatnonzero(kept)


def _painted(
    ground: Floats, field: NDArray[np.int64], dots: _Dots, palette: Palette, step: float, rng: np.random.Generator
) -> Picture:
    height, width = field.shape
    canvas = Image.fromarray(np.floor(255 * np.clip(ground, 0, 1) + 0.5).astype(np.uint8))
    canvas = canvas.resize((width * _OVER, height * _OVER), Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(canvas)
    last = len(palette.colours) - 1
    inside = np.clip(np.rint(dots.at).astype(np.intp), 0, (height - 1, width - 1))
    index = field[inside[:, 0], inside[:, 1]]
    index = np.where(dots.row % 2 == 1, np.where(index < last, index + 1, max(last - 1, 0)), index)
    colours = palette.colours[index] + rng.normal(0.0, 2.0, (len(index), 3))
    colours[:, 0] += 7.0  # paint stands out from its ground
    shown = np.floor(255 * np.clip(srgb(colours), 0, 1) + 0.5).astype(int)
    radius = 0.43 * step * (1.0 + 0.07 * rng.standard_normal(len(index)))
    for (y, x), r, colour in zip(
        ((dots.at + 0.5) * _OVER).tolist(), (radius * _OVER).tolist(), shown.tolist(), strict=True
    ):
        pen.ellipse((x - r, y - r, x + r, y + r), fill=tuple(colour))
    small = canvas.resize((width, height), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float32) / np.float32(255)


ABORIGINAL = Styliser(
    name="aboriginal",
    run=dotted,
    summary="a dot painting: rows of dots in the style's main colours that follow every outline, on a dark ground",
    source='Hertzmann et al., "Image Analogies", SIGGRAPH 2001, for the ground and the fields; the dots are ours',
    strategy="custom pipeline: image analogies from the style, tonal fields, rows of dots along their outlines",
    extra="make",
    ready=compiled_scan,
)
