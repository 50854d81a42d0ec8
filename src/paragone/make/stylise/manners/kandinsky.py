"""Kandinsky: the content as coloured washes and geometry, circles with halos, ruled lines, arcs and small grids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.transform import probabilistic_hough_line

from ....images import Picture, lab
from ..flatten import calm, nearest
from ..focus import focus
from ..inklines import flow_lines, levelled
from ..kuwahara import kuwahara
from ..palette import Palette, main_colours, srgb
from ..paper import grain
from ..sheet import Sheet
from ..styliser import Styliser

__all__ = ["KANDINSKY", "composed"]

Floats = NDArray[np.float64]

_COLOURS = 10
_CIRCLES = 16
_LINES = 30


class _Blob(NamedTuple):
    row: float
    column: float
    radius: float


def composed(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content as flat washes on the style's light ground, answered by geometry in the style's strong colours.

    Circles stand where the content has round spots, of their size; ruled lines run on along its longest straight edges;
    arcs, triangles and chequered bars are set by the seed along those lines. The subject is washed more strongly than
    what surrounds it, and its own outlines are drawn in ink.

    Source:
        Ours. Round spots: Lindeberg, "Feature Detection with Automatic Scale Selection", IJCV 30(2), 1998, section 4;
        straight edges: Galamhos, Matas and Kittler, "Progressive Probabilistic Hough Transform", CVPR 1999.
    """
    rng = np.random.default_rng(seed)
    height, width = content.shape[:2]
    unit = max(height, width) / 256
    own = lab(content)
    likely = focus(own)
    found = main_colours(style, _COLOURS)
    ground = found.colours[int(np.where(found.colours[:, 0] > 70.0, found.shares, 0.01 * found.shares).argmax())]
    picture = srgb(_washed(content, found, ground, likely, unit))
    strong = _strong(found)
    sheet = Sheet((height, width), (0.0, 0.0, 0.0))
    cover = Sheet((height, width), (0.0, 0.0, 0.0))
    dark = np.minimum(srgb(found.colours[0]), 0.12)
    tone = own[..., 0] / 100.0
    segments = _segments(tone, unit, seed)
    _planes(picture, segments, strong, unit, rng)
    for blob in _set_off(likely, unit, rng) + _blobs(tone, likely, unit):
        colour, other = strong[rng.permutation(len(strong))[:2] if len(strong) > 1 else [0, 0]]
        _halo(picture, blob, other)
        _ringed(sheet, cover, blob, (colour, other, dark), rng)
    _ruled(sheet, cover, segments, (dark, strong), likely, rng)
    mask = cover.picture().astype(np.float64)
    tint = grain((height, width), unit, rng)
    picture = picture * (1.0 - 0.93 * mask) + 0.93 * sheet.picture() * mask
    lines = flow_lines(levelled(tone, 8.0 * unit), sigma=0.6 * unit, p=16.0, epsilon=0.28, phi=9.0, length=3.0 * unit)
    ink = (1.0 - lines)[..., None] * np.clip(0.45 + 0.7 * likely, 0.0, 0.9)[..., None]
    picture = picture * (1.0 - ink) + dark * ink
    return (picture + 0.012 * tint[..., None]).astype(np.float32)


def _washed(content: Picture, found: Palette, ground: Floats, likely: Floats, unit: float) -> Floats:
    """(h, w, 3) CIELAB: the content in main colours, thinned with the ground, least so at the subject."""
    smooth = lab(kuwahara(content, radius=max(1.0, 4.0 * unit)).astype(np.float32))
    wanted = smooth.copy()
    wanted[..., 1:] *= 1.4
    label = calm(nearest(wanted, found.colours), len(found.colours), 1.8 * unit)
    flat = 0.6 * found.colours[label] + 0.4 * wanted
    strength = (0.25 + 0.55 * np.clip(1.6 * likely, 0.0, 1.0)) * np.clip(
        np.abs(flat[..., 0] - ground[0]) / 25.0, 0.35, 1
    )
    strength = ndimage.gaussian_filter(strength, 2.0 * unit)[..., None]
    washed: Floats = ground * (1.0 - strength) + flat * strength
    return washed


def _strong(found: Palette) -> Floats:
    """(k, 3) sRGB of the style's most coloured main colours, made a little stronger; its darkest where it has none."""
    chroma = np.hypot(found.colours[:, 1], found.colours[:, 2])
    chosen = found.colours[np.argsort(-chroma, kind="stable")[:6]].copy()
    chosen = chosen[np.hypot(chosen[:, 1], chosen[:, 2]) > 12.0] if (chroma > 12.0).any() else found.colours[:1].copy()
    chosen[:, 1:] *= 1.35
    return np.clip(srgb(chosen), 0.0, 1.0)


def _set_off(likely: Floats, unit: float, rng: np.random.Generator) -> list[_Blob]:
    """A few large circles where the subject is not, for balance."""
    height, width = likely.shape
    kept: list[_Blob] = []
    for radius in (19.0 * unit, 12.0 * unit, 8.0 * unit, 6.0 * unit):
        rows, columns = rng.uniform(0.08, 0.92, 40) * height, rng.uniform(0.06, 0.94, 40) * width
        crowd = likely[rows.astype(int), columns.astype(int)]
        for other in kept:
            away = np.hypot(rows - other.row, columns - other.column)
            crowd = crowd + np.exp(-((away / (2.0 * (radius + other.radius))) ** 2))
        best = int(crowd.argmin())
        kept.append(_Blob(float(rows[best]), float(columns[best]), radius))
    return kept


def _planes(
    picture: Floats,
    segments: list[tuple[tuple[float, float], tuple[float, float]]],
    strong: Floats,
    unit: float,
    rng: np.random.Generator,
) -> None:
    """Lay a few large see-through triangles that stand on straight edges."""
    for a, b in segments[:5]:
        start, end = np.array(a), np.array(b)
        ahead = (end - start) / np.hypot(*(end - start))
        aside = np.array([-ahead[1], ahead[0]]) * rng.choice([-1.0, 1.0])
        long = unit * rng.uniform(35.0, 75.0)
        middle = (start + end) / 2
        corners = [
            middle - 0.5 * long * ahead,
            middle + 0.5 * long * ahead,
            middle + rng.uniform(0.6, 1.1) * long * aside,
        ]
        sheet = Sheet((picture.shape[0], picture.shape[1]), (0, 0, 0))
        sheet.polygon([tuple(point) for point in corners], (1, 1, 1))
        share = 0.30 * sheet.picture()[..., :1].astype(np.float64)
        picture[:] = picture * (1.0 - share) + strong[int(rng.integers(len(strong)))] * share


def _blobs(tone: Floats, likely: Floats, unit: float) -> list[_Blob]:
    """Round spots, the clearest first, none inside another's rim and no large one on the subject."""
    found: list[tuple[float, _Blob]] = []
    for sigma in (2.5 * unit, 4.0 * unit, 6.5 * unit, 10.0 * unit):
        answer = np.abs(sigma**2 * ndimage.gaussian_laplace(tone, sigma))
        peak = (answer == ndimage.maximum_filter(answer, size=2 * round(sigma) + 1)) & (answer > 0.06)
        peak &= (likely < 0.35) | (sigma < 3.0 * unit)
        for row, column in np.argwhere(peak):
            found.append((float(answer[row, column]), _Blob(float(row), float(column), 1.4 * sigma)))
    found.sort(key=lambda entry: (-entry[0], entry[1]))
    kept: list[_Blob] = []
    for _, blob in found:
        apart = all(
            np.hypot(blob.row - other.row, blob.column - other.column) > 0.9 * (blob.radius + other.radius)
            for other in kept
        )
        if apart:
            kept.append(blob)
        if len(kept) == _CIRCLES:
            break
    return kept


def _halo(picture: Floats, blob: _Blob, colour: Floats) -> None:
    """Lay a soft glow around a circle."""
    reach = int(np.ceil(2.2 * blob.radius))
    top, left = (max(0, int(place) - reach) for place in (blob.row, blob.column))
    area = picture[top : int(blob.row) + reach + 1, left : int(blob.column) + reach + 1]
    y, x = np.mgrid[top : top + area.shape[0], left : left + area.shape[1]]
    away = np.hypot(y - blob.row, x - blob.column) / blob.radius
    glow = 0.55 * np.exp(-(((away - 1.0) / 0.45) ** 2))[..., None]
    area[:] = area * (1.0 - glow) + colour * glow


def _ringed(
    sheet: Sheet, cover: Sheet, blob: _Blob, colours: tuple[Floats, Floats, Floats], rng: np.random.Generator
) -> None:
    """Draw one circle: full with a ring, or a ring alone where the content must show through."""
    colour, other, dark = colours
    place = blob.column + 0.5, blob.row + 0.5
    if blob.radius > 0 and rng.uniform() < 0.35:
        for target, paint in ((sheet, dark), (cover, (1, 1, 1))):
            target.arc(*place, blob.radius, (0.0, 360.0), paint, max(0.8, 0.12 * blob.radius))
        return
    for share, paint in ((1.0, dark), (0.86, colour), (0.46, other), (0.2, dark)):
        sheet.disk(*place, share * blob.radius, paint)
    cover.disk(*place, blob.radius, (1, 1, 1))


def _segments(tone: Floats, unit: float, seed: int) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The longest straight edges, each as two points (x, y)."""
    soft = ndimage.gaussian_filter(tone, 0.9 * unit)
    slope = ndimage.gaussian_gradient_magnitude(soft, 0.7 * unit)
    edges = (slope > max(0.012 / unit, float(np.quantile(slope, 0.90)))) & (
        slope >= ndimage.maximum_filter(slope, 3) * 0.98
    )
    if not edges.any():
        return []
    lines = probabilistic_hough_line(  # type: ignore[no-untyped-call]
        edges, threshold=5, line_length=max(4, round(11 * unit)), line_gap=max(1, round(1.5 * unit)), rng=seed
    )
    ordered = sorted(lines, key=lambda line: (-np.hypot(line[0][0] - line[1][0], line[0][1] - line[1][1]), line))
    kept: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for (x0, y0), (x1, y1) in ordered:
        middle = (x0 + x1) / 2, (y0 + y1) / 2
        near = any(np.hypot(middle[0] - (a[0] + b[0]) / 2, middle[1] - (a[1] + b[1]) / 2) < 10 * unit for a, b in kept)
        if not near:
            kept.append(((float(x0), float(y0)), (float(x1), float(y1))))
    return kept[:_LINES]


def _ruled(
    sheet: Sheet,
    cover: Sheet,
    segments: list[tuple[tuple[float, float], tuple[float, float]]],
    colours: tuple[Floats, Floats],
    likely: Floats,
    rng: np.random.Generator,
) -> None:
    """Draw what follows the straight edges: lines that run on, and now and then a bar, a triangle or an arc."""
    unit = max(likely.shape) / 256
    dark, strong = colours
    white = (1.0, 1.0, 1.0)
    for i, (a, b) in enumerate(segments):
        start, end = np.array(a), np.array(b)
        ahead = (end - start) / np.hypot(*(end - start))
        aside = np.array([-ahead[1], ahead[0]])
        colour = strong[int(rng.integers(len(strong)))]
        run = unit * (rng.uniform(8.0, 30.0) + 40.0 * float(rng.uniform() < 0.3))
        middle = (start + end) / 2
        run *= 1.0 if likely[int(middle[1]), int(middle[0])] < 0.3 else 0.3  # no bars across a face
        thick = unit * float(rng.choice([0.5, 0.7, 1.0, 1.9]))
        line = [tuple(start - run * ahead), tuple(end + run * ahead)]
        for target, paint in ((sheet, dark), (cover, white)):
            target.line(line, paint, thick)
        if i % 4 == 1:
            size = unit * rng.uniform(2.0, 3.2)
            for step in range(7):
                corner = end + ahead * size * step
                for row in range(2):
                    box = [corner + aside * size * row, corner + aside * size * (row + 1)]
                    box += [box[1] + ahead * size, box[0] + ahead * size]
                    paint = dark if (step + row) % 2 else (colour if step % 3 == 0 else np.ones(3))
                    sheet.polygon([tuple(point) for point in box], paint)
                    cover.polygon([tuple(point) for point in box], white)
        elif i % 4 == 2:
            size = unit * rng.uniform(7.0, 13.0)
            corners = [start, start + size * ahead, start + 0.5 * size * ahead + size * aside]
            sheet.polygon([tuple(point) for point in corners], colour)
            cover.polygon([tuple(point) for point in corners], white)
        elif i % 4 == 3:
            size, turn = unit * rng.uniform(5.0, 14.0), float(np.degrees(np.arctan2(ahead[1], ahead[0])))
            for target, paint in ((sheet, dark), (cover, white)):
                target.arc(float(end[0]), float(end[1]), size, (turn, turn + 180.0), paint, 0.8 * unit)


KANDINSKY = Styliser(
    name="kandinsky",
    run=composed,
    summary="thin washes under circles with halos, ruled lines, arcs and chequered bars, set by the content",
    source='Ours; spots after Lindeberg, "Feature Detection with Automatic Scale Selection", IJCV 30(2), 1998; edges after '
    'Galamhos et al., "Progressive Probabilistic Hough Transform", CVPR 1999',
    strategy="custom pipeline: from the style its light ground, its darkest and its most coloured main colours",
)
