"""Egyptian: flat areas of a few earth colours in dark outline on papyrus, between painted borders."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ....images import Picture, lab
from ..flatten import calm, nearest
from ..focus import unlike_rim
from ..inklines import flow_lines, levelled
from ..kuwahara import kuwahara
from ..palette import Palette, main_colours, srgb
from ..paper import grain
from ..sheet import Sheet
from ..styliser import Styliser

__all__ = ["EGYPTIAN", "wall_painting"]

Floats = NDArray[np.float64]
Line = Callable[..., None]

_COLOURS = 7
_GROUND = 0.42  # least part of the picture in the ground's colour
_DARKEST = 0.14  # most part of it in the darkest


def wall_painting(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content in flat colours of the style with dark outlines, between borders, over a band of signs.

    The ground is the style's commonest light colour; what is unlike a subject becomes ground first. Borders take at
    most a fifth of the height and cover the content's top and foot.

    Source:
        Ours; the parts as `kuwahara`, `main_colours`, `calm` and `flow_lines`. The signs are simple drawings in the
        way of hieroglyphs and say nothing.
    """
    rng = np.random.default_rng(seed)
    height, width = content.shape[:2]
    unit = max(height, width) / 256
    own = lab(content)
    found = main_colours(style, _COLOURS)
    ground = _ground(found)
    smooth = lab(kuwahara(content, radius=max(1.0, 4.0 * unit)).astype(np.float32))
    label = _coloured(smooth, unlike_rim(smooth), found.colours, ground)
    label = calm(label, len(found.colours), 1.8 * unit)
    colours = srgb(found.colours)
    picture = colours[label]
    dark = np.minimum(colours[0], srgb(np.array([16.0, 4.0, 6.0])))
    tone = levelled(own[..., 0] / 100.0, 8.0 * unit)
    lines = flow_lines(tone, sigma=0.8 * unit, p=16.0, epsilon=0.30, phi=10.0, length=4.0 * unit)
    ink = np.maximum(_outline(label, unit), 1.0 - lines)[..., None]
    picture = picture * (1.0 - ink) + dark * ink
    _bordered(picture, colours, ground, dark, unit, rng)
    fibres = ndimage.gaussian_filter(rng.standard_normal((height, width)), (0.4 * unit, 7.0 * unit))
    fibres += ndimage.gaussian_filter(rng.standard_normal((height, width)), (5.0 * unit, 0.4 * unit))
    worn = 0.5 * grain((height, width), unit, rng) + fibres / max(float(fibres.std()), 1e-12)
    plastered: Picture = (picture * (1.0 + 0.035 * worn[..., None])).astype(np.float32)
    return plastered


def _ground(found: Palette) -> int:
    """Index of the commonest colour in the lighter half of the tones."""
    light = np.where(found.colours[:, 0] >= found.colours[:, 0].mean(), found.shares, -1.0)
    return int(light.argmax())


def _coloured(colours: Floats, unlike: Floats, palette: Floats, ground: int) -> NDArray[np.int64]:
    """(h, w) nearest main colour, with as much favour for the ground as it needs, and dark kept to the darkest."""
    low, high = np.percentile(colours[..., 0], (3, 97))
    wanted = colours.copy()
    span = palette[-1, 0] - palette[0, 0]
    wanted[..., 0] = palette[0, 0] + span * np.clip((colours[..., 0] - low) / max(float(high - low), 20.0), 0.0, 1.0)
    wanted[..., 1:] *= 1.3
    if len(palette) == 1:
        return nearest(wanted, palette)
    distance = np.stack(
        [np.sqrt(((wanted - colour) ** 2 * (0.8, 1.1, 1.1)).sum(axis=2)) for colour in palette], axis=-1
    )
    lead = distance[..., 0] - distance[..., 1:].min(axis=2)
    distance[..., 0] += max(0.0, -float(np.quantile(lead, _DARKEST)))
    distance[..., ground] -= 28.0 * np.exp(-((unlike / 9.0) ** 2)) * (wanted[..., 0] > 40.0)
    distance[..., ground] += np.minimum(unlike, 40.0) + np.maximum(0.0, 45.0 - wanted[..., 0])
    others = np.delete(distance, ground, axis=2).min(axis=2)
    distance[..., ground] -= max(0.0, float(np.quantile(distance[..., ground] - others, _GROUND)))
    chosen: NDArray[np.int64] = distance.argmin(axis=2).astype(np.int64)
    return chosen


def _outline(label: NDArray[np.int64], unit: float) -> Floats:
    border = np.zeros(label.shape, dtype=bool)
    border[1:] |= label[1:] != label[:-1]
    border[:, 1:] |= label[:, 1:] != label[:, :-1]
    if not border.any():
        return np.zeros(label.shape)
    outline: Floats = np.clip(2.2 * ndimage.gaussian_filter(border.astype(np.float64), 0.5 * unit) * unit, 0.0, 1.0)
    return outline


def _bordered(
    picture: Floats, colours: Floats, ground: int, dark: Floats, unit: float, rng: np.random.Generator
) -> None:
    """Paint the borders over the picture's first and last rows."""
    height, width = picture.shape[:2]
    # The band of signs is at the foot: what a head would lose is worth more than what a foot does.
    blocks, signs = (max(2, round(min(share * height, most * unit))) for share, most in ((0.045, 9.0), (0.10, 20.0)))
    paints = [colour for i, colour in enumerate(colours) if i not in (0, ground)] or [dark]
    paints.sort(key=lambda colour: -float(np.ptp(colour)))
    for foot, rows in ((False, blocks), (True, blocks)):
        sheet = Sheet((rows, width), dark)
        step = rows * 1.1
        for i in range(int(width / step) + 1):
            left, right = i * step, (i + 1) * step - max(1.0, 0.8 * unit)
            box = [(left, 0.12 * rows), (right, 0.12 * rows), (right, 0.88 * rows), (left, 0.88 * rows)]
            sheet.polygon(box, paints[i % min(4, len(paints))])
        picture[slice(height - rows, height) if foot else slice(0, rows)] = sheet.picture()
    sheet = Sheet((signs, width), colours[ground])
    step = 0.95 * signs
    order = [int(i) for _ in range(1 + int(width / step) // len(_SIGNS) + 1) for i in rng.permutation(len(_SIGNS))]
    for i in range(int(width / step)):
        left = (width - int(width / step) * step) / 2 + i * step

        def line(
            points: list[tuple[float, float]],
            colour: int = -1,
            *,
            thick: float = 0.07,
            filled: bool = False,
            left: float = left,
        ) -> None:
            placed = [(left + 0.1 * signs + 0.75 * signs * x, 0.1 * signs + 0.78 * signs * y) for x, y in points]
            if filled:
                sheet.polygon(placed, paints[colour % len(paints)])
                placed.append(placed[0])
            sheet.line(placed, dark, max(0.7, thick * signs))

        _SIGNS[order[i]](line)
        sheet.line([(left, 0), (left, signs)], dark, max(0.7, 0.03 * signs))
    sheet.line([(0, 0.5 * unit), (width, 0.5 * unit)], dark, unit)
    picture[height - blocks - signs : height - blocks] = sheet.picture()


def _round(x: float, y: float, a: float, b: float) -> list[tuple[float, float]]:
    turn = np.linspace(0.0, 2.0 * np.pi, 24)
    return [(float(x + a * np.cos(t)), float(y + b * np.sin(t))) for t in turn]


def _water(line: Line) -> None:
    for y in (0.2, 0.5, 0.8):
        line([(i / 8, y + (0.07 if i % 2 else -0.07)) for i in range(9)], thick=0.05)


def _sun(line: Line) -> None:
    line(_round(0.5, 0.5, 0.34, 0.34), 0, filled=True)
    line(_round(0.5, 0.5, 0.07, 0.07), 1, filled=True)


def _eye(line: Line) -> None:
    line([(0.0, 0.45), (0.25, 0.28), (0.6, 0.28), (0.95, 0.45), (0.6, 0.58), (0.25, 0.58)], 1, filled=True)
    line(_round(0.45, 0.43, 0.12, 0.12), 0, filled=True)
    line([(0.0, 0.2), (0.3, 0.06), (0.7, 0.06), (1.0, 0.22)])
    line([(0.4, 0.6), (0.4, 0.92)])
    line([(0.52, 0.6), (0.75, 0.9), (0.95, 0.85)])


def _knot(line: Line) -> None:
    line(_round(0.5, 0.22, 0.17, 0.22), 2, thick=0.1)
    line([(0.5, 0.44), (0.5, 1.0)], thick=0.11)
    line([(0.15, 0.54), (0.85, 0.54)], thick=0.11)


def _reed(line: Line) -> None:
    line([(0.45, 0.9), (0.3, 0.45), (0.4, 0.05), (0.62, 0.2), (0.58, 0.6), (0.55, 0.9)], 2, filled=True)
    line([(0.5, 0.9), (0.5, 1.0), (0.75, 1.0)])


def _basket(line: Line) -> None:
    line([(0.05, 0.45), (0.95, 0.45), (0.82, 0.7), (0.6, 0.85), (0.4, 0.85), (0.18, 0.7)], 3, filled=True)


def _bird(line: Line) -> None:
    body = [(0.12, 0.22), (0.28, 0.08), (0.42, 0.16), (0.46, 0.34), (0.72, 0.52), (1.0, 0.82), (0.62, 0.72), (0.4, 0.7)]
    line([*body, (0.26, 0.5), (0.26, 0.28)], 0, filled=True)
    line([(0.42, 0.7), (0.42, 1.0), (0.26, 1.0)])
    line([(0.54, 0.7), (0.54, 1.0), (0.38, 1.0)])


def _snake(line: Line) -> None:
    line(
        [(0.0, 0.5), (0.08, 0.32), (0.25, 0.35), (0.35, 0.62), (0.55, 0.62), (0.7, 0.5), (0.85, 0.62), (1.0, 0.62)],
        thick=0.1,
    )


def _loaf(line: Line) -> None:
    line([(0.2, 0.4), (0.3, 0.15), (0.5, 0.08), (0.7, 0.15), (0.8, 0.4)], 1, filled=True)
    line([(0.15, 0.65), (0.85, 0.65), (0.85, 0.9), (0.15, 0.9)], 2, filled=True)


_SIGNS: tuple[Callable[[Line], None], ...] = (_water, _sun, _eye, _knot, _reed, _basket, _bird, _snake, _loaf)

EGYPTIAN = Styliser(
    name="egyptian",
    run=wall_painting,
    summary="flat earth colours in dark outline on papyrus, between borders of blocks, over a band of signs",
    source='Ours; flattening after Kyprianidis et al., "Anisotropic Kuwahara Filtering", CGF 28(7), 2009; lines after '
    'Kang et al., "Flow-Based Image Abstraction", IEEE TVCG 15(1), 2009',
    strategy="custom pipeline: from the style its seven main colours, the commonest light one as ground",
)
