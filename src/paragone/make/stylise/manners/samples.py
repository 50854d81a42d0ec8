"""Generated reference pictures: what a style looks like where no painting of it is at hand.

Drawn by formula from a seed. They are original and stand for no particular work: each carries the palette, the light
and the texture that the manner of that name takes from a style picture, and nothing else. Label them as generated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ....errors import UnknownName
from ....images import Picture
from ..paper import grain, weave
from ..sheet import Sheet
from ..structure import along

__all__ = ["SAMPLES", "sample_style"]

Floats = NDArray[np.float64]
Generator = np.random.Generator


def sample_style(manner: str, *, seed: int = 0, side: int = 512) -> Picture:
    """Return a generated reference picture for a manner.

    Args:
        manner: one of `SAMPLES`.
        seed: another seed gives another picture of the same kind, >= 0.
        side: height and width in pixels, >= 16.

    Returns:
        (side, side, 3) float32 in [0, 1].

    Raises:
        UnknownName: there is no sample for that manner.
    """
    if manner not in _DRAWN:
        raise UnknownName.among(manner, _DRAWN, "sample of a style")
    made: Picture = np.clip(_DRAWN[manner](np.random.default_rng(seed), side), 0.0, 1.0).astype(np.float32)
    return made


def _places(side: int) -> tuple[Floats, Floats]:
    """x and y of each pixel in [0, 1]."""
    y, x = (np.mgrid[0:side, 0:side] + 0.5) / side
    return x, y


def _mixed(a: Floats, b: Floats, share: Floats) -> Floats:
    """Colours from a (share 0) to b (share 1)."""
    blend: Floats = a * (1.0 - share[..., None]) + b * share[..., None]
    return blend


def _rgb(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)


def _wavy(x: Floats, rng: Generator, *, octaves: int = 4, base: float = 1.0) -> Floats:
    """A seeded curve over x in about [-1, 1], a sum of sines that are finer and flatter one after the other."""
    total = np.zeros_like(x)
    for octave in range(octaves):
        total += 0.6**octave * np.sin(2 * np.pi * base * 2**octave * (x + rng.uniform(0, 1)) * rng.uniform(0.8, 1.2))
    return total / 1.8


def _combed(image: Floats, angle: Floats, length: float, amount: float, rng: Generator) -> Floats:
    """The picture with bristle marks along the angle."""
    marks = along(ndimage.gaussian_filter(rng.standard_normal(angle.shape), 1.0), angle, length)
    brushed: Floats = image + amount * (marks / marks.std())[..., None]
    return brushed


def _mondrian(rng: Generator, side: int) -> Floats:
    sheet = Sheet((side, side), (0.94, 0.93, 0.89))
    colours = ((0.80, 0.12, 0.11), (0.10, 0.20, 0.52), (0.95, 0.79, 0.13), (0.82, 0.83, 0.82))
    rooms = [(0.0, 0.0, 1.0, 1.0)]
    for _ in range(11):
        left, top, right, bottom = rooms.pop(int(np.argmax([(r[2] - r[0]) * (r[3] - r[1]) for r in rooms])))
        cut = rng.uniform(0.3, 0.7)
        if (right - left) * rng.uniform(0.6, 1.6) > bottom - top:
            middle = left + cut * (right - left)
            rooms += [(left, top, middle, bottom), (middle, top, right, bottom)]
        else:
            middle = top + cut * (bottom - top)
            rooms += [(left, top, right, middle), (left, middle, right, bottom)]
    for i, room in enumerate(rng.permutation(len(rooms))[:5].tolist()):
        a, b, c, d = (value * side for value in rooms[room])
        sheet.polygon([(a, b), (c, b), (c, d), (a, d)], colours[i % 4])
    for left, top, right, bottom in rooms:
        corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        sheet.line([(x * side, y * side) for x, y in corners], (0.05, 0.05, 0.06), 0.016 * side)
    return sheet.picture().astype(np.float64)


def _chinese_landscape(rng: Generator, side: int) -> Floats:
    x, y = _places(side)
    ink, tint = np.zeros((side, side)), grain((side, side), side / 256, rng)
    for layer in range(6):
        depth = layer / 5
        steep = 0.16 if layer < 3 else 0.10
        ridge = 0.22 + 0.13 * layer + steep * _wavy(x, rng, octaves=6, base=0.7 + 0.3 * layer)
        below = np.clip((y - ridge) * 60, 0.0, 1.0)
        fading = np.exp(-np.maximum(y - ridge, 0.0) / 0.10)  # into mist at the foot
        folds = 0.5 + 0.5 * np.sin(60 * (y - ridge) * (1 + 0.3 * tint) + 5 * _wavy(x, rng, base=4))
        ink = np.where(below > 0.5, 0.25 * ink * fading, ink)
        ink = np.maximum(ink, below * fading * (0.18 + 0.62 * depth) * (0.75 + 0.25 * folds))
    ink = np.clip(ink + 0.05 * tint * (ink > 0.05), 0.0, 1.0)
    paper = _rgb(0.90, 0.86, 0.76) + 0.012 * tint[..., None]
    return _mixed(paper, _rgb(0.10, 0.10, 0.11), ink)


def _egyptian(rng: Generator, side: int) -> Floats:
    ochre, blue, green = (0.64, 0.27, 0.15), (0.15, 0.36, 0.50), (0.27, 0.47, 0.35)
    black, white, yellow = (0.13, 0.10, 0.08), (0.94, 0.89, 0.76), (0.87, 0.63, 0.24)
    sheet = Sheet((side, side), (0.87, 0.75, 0.53))
    for register in range(2):
        top = 0.1 + 0.45 * register
        for i in range(24):
            sheet.polygon(_box(i / 24, top - 0.055, 1 / 24, 0.045, side), (blue, ochre, green, yellow)[i % 4])
        for edge in (top - 0.06, top - 0.005):
            sheet.line([(0, edge * side), (side, edge * side)], black, 0.006 * side)
        for figure in range(3):
            _figure(sheet, 0.17 + 0.33 * figure, top, side, (ochre, white, black, (blue, green)[figure % 2]))
    sheet.line([(0, 0.97 * side), (side, 0.97 * side)], black, 0.01 * side)
    fibres = ndimage.gaussian_filter(rng.standard_normal((side, side)), (0.8, 14)) * 6
    worn = fibres + 0.5 * grain((side, side), side / 256, rng)
    painted: Floats = sheet.picture() + 0.022 * worn[..., None]
    return painted


def _box(x: float, y: float, width: float, height: float, side: int) -> list[tuple[float, float]]:
    corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    return [(a * side, b * side) for a, b in corners]


def _figure(sheet: Sheet, x: float, top: float, side: int, colours: tuple[tuple[float, ...], ...]) -> None:
    """A standing person of a few flat shapes: shoulders from the front, legs and head from the side."""
    skin, linen, black, collar = colours

    def shape(points: tuple[tuple[float, float], ...], colour: tuple[float, ...]) -> None:
        placed = [((x + a) * side, (top + b) * side) for a, b in points]
        sheet.polygon(placed, colour)
        sheet.line([*placed, placed[0]], black, 0.004 * side)

    shape(((-0.03, 0.24), (0.0, 0.24), (0.02, 0.37), (0.05, 0.385), (-0.01, 0.385)), skin)
    shape(((0.0, 0.24), (0.03, 0.24), (0.07, 0.37), (0.10, 0.385), (0.05, 0.385)), skin)
    shape(((-0.075, 0.11), (0.075, 0.11), (0.035, 0.20), (-0.03, 0.20)), skin)
    shape(((0.06, 0.11), (0.08, 0.12), (0.135, 0.19), (0.12, 0.20)), skin)
    shape(((-0.03, 0.19), (0.035, 0.19), (0.06, 0.29), (-0.04, 0.27)), linen)
    shape(((-0.05, 0.105), (0.05, 0.105), (0.03, 0.13), (-0.03, 0.13)), collar)
    shape(((-0.035, 0.03), (0.02, 0.02), (0.035, 0.06), (0.02, 0.095), (-0.02, 0.10)), skin)
    shape(((-0.045, 0.11), (-0.045, 0.03), (-0.01, 0.01), (0.02, 0.025), (-0.01, 0.05), (-0.015, 0.11)), black)


def _picasso(rng: Generator, side: int) -> Floats:
    x, y = _places(side)
    hues = np.array(
        [
            *((0.72, 0.58, 0.38), (0.50, 0.40, 0.28), (0.58, 0.56, 0.50), (0.33, 0.32, 0.30), (0.80, 0.70, 0.52)),
            *((0.42, 0.44, 0.36), (0.30, 0.24, 0.18), (0.45, 0.50, 0.54), (0.66, 0.44, 0.28)),
        ]
    )
    code = np.zeros((side, side), dtype=np.int64)
    edge = np.full((side, side), np.inf)
    for _ in range(13):
        turn = rng.choice([0.35, 0.9, 1.45, 2.1, 2.7]) + rng.normal(0, 0.12)
        away = (x - rng.uniform(0.15, 0.85)) * np.cos(turn) + (y - rng.uniform(0.15, 0.85)) * np.sin(turn)
        part = rng.uniform() < 0.5  # a line that ends at another one
        here = (code % 2 == 0) if part else np.ones_like(edge, dtype=bool)
        code = np.where(here, 2 * code + (away > 0), code)
        edge = np.where(here, np.minimum(edge, np.abs(away)), edge)
    _, facet = np.unique(code, return_inverse=True)
    facet = facet.reshape(code.shape)
    colour = hues[rng.integers(0, len(hues), int(facet.max()) + 1)][facet]
    slope = rng.uniform(-0.5, 0.5, (int(facet.max()) + 1, 2))[facet]
    colour = colour * (1.0 + slope[..., :1] * (x - 0.5)[..., None] + slope[..., 1:] * (y - 0.5)[..., None])
    colour = _mixed(colour, _rgb(0.10, 0.09, 0.08), np.clip(1.6 - edge * 400, 0.0, 0.9))
    return _combed(colour, np.full((side, side), 0.3), side / 64, 0.02, rng)


def _carr(rng: Generator, side: int) -> Floats:
    x, y = _places(side)
    swirl = y + 0.06 * _wavy(x, rng, octaves=3) + 0.03 * np.sin(9 * x + 14 * y)
    greens = np.array([(0.62, 0.74, 0.80), (0.78, 0.80, 0.68), (0.30, 0.48, 0.42), (0.16, 0.34, 0.20)])
    browns = np.array([(0.09, 0.20, 0.12), (0.36, 0.46, 0.16), (0.14, 0.26, 0.14), (0.40, 0.27, 0.14)])
    steps = np.concatenate([greens, browns])
    place = np.clip(swirl, 0.0, 0.999) * (len(steps) - 1)
    low = place.astype(int)
    image = _mixed(steps[low], steps[low + 1], place - low)
    image = image + 0.07 * np.sin(swirl * 70)[..., None] * _rgb(0.9, 1.0, 0.7)
    for _ in range(9):
        middle, foot = rng.uniform(0.02, 0.98), rng.uniform(0.62, 0.98)
        top = foot - rng.uniform(0.35, 0.6)
        half = 0.10 * np.clip((y - top) / (foot - top), 0.0, 1.0) * (1 + 0.25 * np.sin(60 * (y - top)))
        tree = np.clip((half - np.abs(x - middle)) * 90, 0.0, 1.0) * ((y > top) & (y < foot))
        shade = 0.5 + 0.5 * np.sin(50 * (y - top) + 40 * np.abs(x - middle))
        image = _mixed(image, _mixed(_rgb(0.06, 0.17, 0.10), _rgb(0.28, 0.44, 0.18), shade), tree)
    gy, gx = np.gradient(swirl)
    return _combed(image, np.arctan2(gx, -gy) + np.pi, side / 40, 0.035, rng)


def _aboriginal(rng: Generator, side: int) -> Floats:
    sheet = Sheet((side, side), (0.16, 0.08, 0.06))
    colours = ((0.87, 0.62, 0.20), (0.95, 0.91, 0.82), (0.70, 0.24, 0.12), (0.90, 0.80, 0.52), (0.48, 0.16, 0.10))
    step = 0.024
    centres = rng.uniform(0.1, 0.9, (5, 2))
    y, x = np.mgrid[0 : 1 : step * 0.92, 0:1:step].astype(np.float64)
    x[1::2] += step / 2
    for a, b in zip((x + rng.normal(0, 0.0012, x.shape)).flat, (y + rng.normal(0, 0.0012, y.shape)).flat, strict=True):
        ring = np.hypot(a - centres[:, 0], b - centres[:, 1]).min() / step
        band = int(ring / 1.6) if ring < 8 else 2 + int(2 * (1 + np.sin(9 * a + 5 * np.sin(5 * b))))
        sheet.disk(a * side, b * side, 0.42 * step * side * rng.uniform(0.85, 1.05), colours[band % len(colours)])
    return sheet.picture().astype(np.float64)


def _rembrandt(rng: Generator, side: int) -> Floats:
    x, y = _places(side)
    tint = grain((side, side), side / 256, rng)
    ground = _rgb(0.13, 0.085, 0.05) + 0.012 * tint[..., None]
    cloth = np.clip(1.4 - np.hypot((x - 0.5) / 0.42, (y - 1.0) / 0.42) * 1.2, 0.0, 1.0)
    image = _mixed(ground, _rgb(0.27, 0.15, 0.08), cloth * (0.6 + 0.4 * np.sin(30 * x + 8 * y)))
    light = np.exp(-(((x - 0.46) / 0.17) ** 2) - ((y - 0.36) / 0.21) ** 2)
    image = _mixed(image, _rgb(0.86, 0.63, 0.38), np.clip(1.15 * light, 0.0, 1.0) ** 1.5)
    image = _mixed(image, _rgb(0.97, 0.86, 0.64), np.clip(2.2 * light - 1.3, 0.0, 0.8))
    collar = np.exp(-(((y - 0.60 - 0.3 * (x - 0.46) ** 2) / 0.022) ** 2) - ((x - 0.46) / 0.16) ** 2)
    image = _mixed(image, _rgb(0.90, 0.82, 0.66), 0.8 * collar)
    return _combed(image, np.arctan2(x - 0.46, 0.36 - y), side / 90, 0.018, rng)


def _veronese(rng: Generator, side: int) -> Floats:
    x, y = _places(side)
    cloud = np.clip(0.5 + 0.5 * _wavy(x + 0.5 * y, rng, base=1.5), 0, 1)
    image = _mixed(_rgb(0.44, 0.60, 0.78), _rgb(0.88, 0.88, 0.86), cloud * np.clip(1.3 - y, 0, 1))
    for middle in (0.12, 0.36, 0.88):
        round_off = (x - middle) / 0.055
        column = _rgb(0.90, 0.84, 0.72) * (1.0 - 0.35 * np.clip(round_off + 0.2, -1, 1) ** 2)[..., None]
        image = np.where((np.abs(round_off) < 1)[..., None], column, image)
    silks = ((0.74, 0.30, 0.30), (0.25, 0.45, 0.32), (0.88, 0.66, 0.28), (0.24, 0.34, 0.58), (0.92, 0.80, 0.74))
    for i, silk in enumerate(silks):
        middle = 0.1 + 0.2 * i
        away = np.hypot((x - middle) / 0.15, (y - 1.0) / (0.42 + 0.08 * np.sin(3 * i)))
        folds = 0.82 + 0.28 * np.sin(26 * (x - middle) + 9 * y + 3 * np.sin(7 * y + i))
        image = _mixed(image, np.array(silk) * folds[..., None], np.clip((1.0 - away) * 12, 0.0, 1.0))
    image = np.stack([ndimage.gaussian_filter(image[..., c], side / 256) for c in range(3)], axis=-1)
    return image + 0.012 * weave((side, side), side / 256, rng)[..., None]


def _bierstadt(rng: Generator, side: int) -> Floats:
    x, y = _places(side)
    shore = 0.62
    mirrored = np.where(y < shore, y, 2 * shore - y)  # the lake shows what stands above it
    sun = np.exp(-(np.hypot((x - 0.58) / 0.5, (mirrored - 0.30) / 0.32) ** 2))
    image = _mixed(_rgb(0.42, 0.54, 0.66), _rgb(1.0, 0.90, 0.64), np.clip(1.15 * sun, 0, 1))
    cloud = np.clip(_wavy(x + 2 * mirrored, rng, base=1.2) * np.sin(8 * mirrored), 0, 1)
    image = _mixed(image, _rgb(0.98, 0.84, 0.66), 0.5 * cloud)
    for layer, colour in enumerate(((0.72, 0.66, 0.60), (0.50, 0.50, 0.50), (0.30, 0.33, 0.27))):
        ridge = 0.30 + 0.12 * layer + (0.14 - 0.03 * layer) * _wavy(x, rng, octaves=6, base=1.0 + layer)
        inside = np.clip((mirrored - ridge) * 120, 0, 1)
        image = _mixed(image, _mixed(np.array(colour), _rgb(1.0, 0.88, 0.62), 0.55 * sun), inside)
    image = np.where((y >= shore)[..., None], 0.82 * image + 0.02 * np.sin(260 * y)[..., None], image)
    bank = 0.86 + 0.05 * _wavy(x, rng, octaves=5) - 0.12 * np.abs(x - 0.5)
    image = _mixed(image, _rgb(0.13, 0.12, 0.07), np.clip((y - bank) * 50, 0, 1))
    return image + 0.01 * grain((side, side), side / 256, rng)[..., None]


def _kandinsky(rng: Generator, side: int) -> Floats:
    sheet = Sheet((side, side), (0.93, 0.89, 0.76))
    colours = ((0.80, 0.20, 0.16), (0.18, 0.36, 0.62), (0.95, 0.76, 0.22), (0.36, 0.22, 0.44), (0.40, 0.54, 0.38))
    dark = (0.08, 0.07, 0.09)
    for i in range(16):
        x, y, size = rng.uniform(0.06, 0.94), rng.uniform(0.06, 0.94), rng.uniform(0.02, 0.09)
        if i % 4 == 3:
            turn = rng.uniform(0, 6.28)
            corners = [
                (x + 1.6 * size * np.cos(turn + k * 2.1), y + 1.6 * size * np.sin(turn + k * 2.1)) for k in range(3)
            ]
            sheet.polygon([(a * side, b * side) for a, b in corners], colours[i % 5])
            continue
        for ring, radius in enumerate((1.0, 0.8, 0.5)):
            colour = (colours[(i + 1) % 5], dark, colours[i % 5])[ring]
            sheet.disk(x * side, y * side, size * radius * side, colour)
    for _ in range(22):
        x, y, turn = rng.uniform(0, 1), rng.uniform(0, 1), rng.choice([0.5, 0.9, 2.2, 2.6]) + rng.normal(0, 0.1)
        long = rng.uniform(0.1, 0.35)
        ends = [(x - long * np.cos(turn), y - long * np.sin(turn)), (x + long * np.cos(turn), y + long * np.sin(turn))]
        sheet.line([(a * side, b * side) for a, b in ends], dark, rng.uniform(0.002, 0.008) * side)
    for _ in range(7):
        start = rng.uniform(0, 360)
        place = rng.uniform(0.1, 0.9, 2) * side
        sheet.arc(
            float(place[0]), float(place[1]), rng.uniform(0.04, 0.14) * side, (start, start + 170), dark, 0.005 * side
        )
    return sheet.picture() + 0.012 * grain((side, side), side / 256, rng)[..., None]


def _great_wave(rng: Generator, side: int) -> Floats:
    buff, deep, mid, pale = (0.88, 0.82, 0.68), (0.09, 0.19, 0.36), (0.28, 0.44, 0.58), (0.68, 0.76, 0.76)
    foam = (0.95, 0.93, 0.85)
    sheet = Sheet((side, side), buff)
    t = np.linspace(-0.1, 1.1, 160)
    for layer in range(4):
        swing = 0.16 - 0.02 * layer
        crest = 0.42 + 0.15 * layer + swing * np.sin(2 * np.pi * (1.0 + 0.35 * layer) * (t + rng.uniform(0, 1)))
        for depth, colour in ((0.0, deep), (0.05, mid), (0.09, deep), (0.14, pale), (0.16, deep)):
            rim = [(a * side, (b + depth) * side) for a, b in zip(t, crest, strict=True)]
            sheet.polygon([*rim, (1.1 * side, 1.2 * side), (-0.1 * side, 1.2 * side)], colour)
        for a, b, slope in zip(t[::2], crest[::2], np.gradient(crest, t)[::2], strict=True):
            for _ in range(4):
                reach = rng.uniform(0, 0.05) * (1.0 if slope > -0.2 else 0.4)
                turn = -1.2 + rng.normal(0, 0.9)
                place = (a + reach * np.cos(turn)) * side, (b + reach * np.sin(turn)) * side
                sheet.disk(*place, rng.uniform(0.006, 0.014) * side, foam)
            hook = (a - 0.02) * side, (b + 0.03) * side
            sheet.line(
                [(a * side, b * side), hook, (hook[0] - 0.008 * side, hook[1] + 0.012 * side)], foam, 0.006 * side
            )
    return sheet.picture() + 0.012 * grain((side, side), side / 256, rng)[..., None]


_DRAWN: Mapping[str, Callable[[Generator, int], Floats]] = {
    "aboriginal": _aboriginal,
    "bierstadt": _bierstadt,
    "carr": _carr,
    "chinese-landscape": _chinese_landscape,
    "egyptian": _egyptian,
    "great-wave": _great_wave,
    "kandinsky": _kandinsky,
    "mondrian": _mondrian,
    "picasso": _picasso,
    "rembrandt": _rembrandt,
    "veronese": _veronese,
}
SAMPLES = tuple(_DRAWN)
"""Manners that have a generated reference."""
