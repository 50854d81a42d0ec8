"""Mondrian: upright rectangles in primary colours and off-white between black lines."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ....images import Picture, lab
from ..flatten import region_means
from ..focus import focus
from ..palette import main_colours, srgb
from ..styliser import Styliser

__all__ = ["MONDRIAN", "rectangles"]

Floats = NDArray[np.float64]

_ROOMS = 130  # our choice: at 512 pixels a face is still one, and the grid is still a grid
_GROUND = 0.48  # least part of the sheet in off-white and greys
# CIELAB: off-white, light grey, red, yellow, blue, black; what a style picture does not have is taken from here
_OWN = np.array([(94.0, 0, 4), (80, 0, 2), (45, 62, 42), (82, 5, 76), (30, 16, -50), (7, 0, 0)])
_WHITE, _GREY, _DARKEST = 0, 1, 5
_NEUTRALS, _PRIMARIES = (0, 1), (2, 3, 4)
_MOST = (1.0, 0.2, 0.26, 0.26, 0.26, 0.05)
# Most part of the sheet in each; photographs with dark grounds would turn black, and lawns yellow, without it.


class _Room(NamedTuple):
    top: int
    left: int
    bottom: int
    right: int


def rectangles(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content as upright rectangles in the style's primaries between black lines.

    The sheet is cut in two again and again, always where a cut explains most of the colours' variance, first in what
    looks like the subject; early cuts give thick lines. A rectangle takes the nearest of six colours, after the
    content's tones were stretched; no colour gets more than its share, and neutrals get just so much favour that the
    ground keeps its own.

    Source:
        Ours; cutting by explained variance is that of Breiman, Friedman, Olshen and Stone, "Classification and
        Regression Trees", 1984, section 8.4.
    """
    del seed  # nothing here is random
    height, width = content.shape[:2]
    unit = max(height, width) / 256
    own = lab(content)
    soft = np.stack([ndimage.gaussian_filter(own[..., c], unit) for c in range(3)], axis=-1)
    rooms, cuts = _cut(soft, 0.12 + focus(own), least=max(3, round(4.0 * unit)))
    label = np.zeros((height, width), dtype=np.int64)
    for i, room in enumerate(rooms):
        label[room.top : room.bottom, room.left : room.right] = i
    areas = np.bincount(label.reshape(-1), minlength=len(rooms)) / label.size
    palette = _palette(style)
    picture = srgb(palette)[_colours(region_means(soft, label), areas, palette)][label]
    black = srgb(palette[_DARKEST])
    for order, cut in enumerate(cuts):
        thick = max(1, round(unit * (2.6 - 1.5 * min(1.0, order / 60))))
        top, left = (max(0, start - thick // 2) for start in (cut.top, cut.left))
        picture[top : cut.bottom + (thick + 1) // 2, left : cut.right + (thick + 1) // 2] = black
    return picture.astype(np.float32)


def _cut(colours: Floats, weight: Floats, *, least: int) -> tuple[list[_Room], list[_Room]]:
    """The rooms, and the cuts between them as rooms of no width or no height, in order of what they explain."""
    height, width = weight.shape
    planes = np.concatenate([weight[..., None], weight[..., None] * colours], axis=-1)
    sums = np.zeros((height + 1, width + 1, 4))
    sums[1:, 1:] = planes.cumsum(axis=0).cumsum(axis=1)
    whole = _Room(0, 0, height, width)
    waiting = [(*_best(sums, whole, least), 0, whole)]
    done: list[_Room] = []
    cuts: list[_Room] = []
    while waiting and len(waiting) + len(done) < _ROOMS:
        loss, across, place, _, room = heapq.heappop(waiting)
        if loss >= -1e-6 * sums[-1, -1, 0]:  # nothing left that differs by more than rounding
            done.append(room)
            continue
        if across:
            parts = room._replace(bottom=place), room._replace(top=place)
            cuts.append(room._replace(top=place, bottom=place))
        else:
            parts = room._replace(right=place), room._replace(left=place)
            cuts.append(room._replace(left=place, right=place))
        for side, part in enumerate(parts):
            heapq.heappush(waiting, (*_best(sums, part, least), 2 * len(cuts) + side, part))
    return done + [entry[-1] for entry in waiting], cuts


def _best(sums: Floats, room: _Room, least: int) -> tuple[float, bool, int]:
    """(minus the variance explained, whether the cut runs across, its row or column) of a room's best cut."""
    best = (0.0, False, 0)
    for across in (False, True):
        start, end = (room.top, room.bottom) if across else (room.left, room.right)
        places = np.arange(start + least, end - least + 1)
        if not len(places):
            continue
        if across:
            before = sums[places, room.right] - sums[places, room.left]
            before = before - (sums[room.top, room.right] - sums[room.top, room.left])
        else:
            before = sums[room.bottom, places] - sums[room.top, places]
            before = before - (sums[room.bottom, room.left] - sums[room.top, room.left])
        total = sums[room.bottom, room.right] - sums[room.top, room.right]
        total = total - (sums[room.bottom, room.left] - sums[room.top, room.left])
        after = total - before
        explained = sum((part[..., 1:] ** 2).sum(axis=-1) / part[..., 0] for part in (before, after))
        gain = explained - (total[1:] ** 2).sum() / total[0]
        middling = 1.0 - 0.3 * np.abs(2.0 * (places - start) / (end - start) - 1.0)  # slivers are ugly
        i = int((gain * middling).argmax())
        if -float(gain[i] * middling[i]) < best[0]:
            best = (-float(gain[i] * middling[i]), across, int(places[i]))
    return best


def _palette(style: Picture) -> Floats:
    """(6, 3) `_OWN` with each colour replaced by the style's main colour of that kind, where it has one."""
    palette = _OWN.copy()
    found = main_colours(style, 10).colours
    chroma, hue = np.hypot(found[:, 1], found[:, 2]), np.arctan2(found[:, 2], found[:, 1])
    for i in _PRIMARIES:
        turn = np.angle(np.exp(1j * (hue - np.arctan2(_OWN[i, 2], _OWN[i, 1]))))
        fits = (chroma > 30) & (np.abs(turn) < 0.45) & (np.abs(found[:, 0] - _OWN[i, 0]) < 25)
        if fits.any():
            palette[i] = found[fits][chroma[fits].argmax()]
    if found[-1, 0] > 82 and chroma[-1] < 25:
        palette[0] = found[-1]
    if found[0, 0] < 15:
        palette[_DARKEST] = found[0]
    return palette


def _colours(means: Floats, areas: Floats, palette: Floats) -> NDArray[np.int64]:
    """(k,) index into the palette of each room."""
    low, high = np.percentile(np.repeat(means[:, 0], np.maximum(1, np.rint(areas * 1000).astype(int))), (4, 96))
    wanted = means.copy()
    wanted[:, 0] = 5.0 + 90.0 * np.clip((means[:, 0] - low) / max(high - low, 20.0), 0.0, 1.0)
    wanted[:, 1:] *= 1.8
    cost = np.sqrt(((wanted[:, None] - palette[None]) ** 2 * (1.0, 0.7, 0.7)).sum(axis=2))
    for colour in (_DARKEST, *_PRIMARIES):
        lead = cost[:, colour] - np.delete(cost, colour, axis=1).min(axis=1)
        order = np.argsort(lead, kind="stable")
        cost[order[np.cumsum(areas[order]) > _MOST[colour]], colour] = np.inf
    neutral = cost[:, list(_NEUTRALS)].min(axis=1) - np.delete(cost, _NEUTRALS, axis=1).min(axis=1)
    order = np.argsort(neutral, kind="stable")
    last = order[int(np.searchsorted(np.cumsum(areas[order]), _GROUND - 1e-9))]
    cost[:, list(_NEUTRALS)] -= max(0.0, float(neutral[last])) + 1e-9
    chosen: NDArray[np.int64] = cost.argmin(axis=1).astype(np.int64)
    grey = np.flatnonzero(chosen == _GREY)
    order = grey[np.argsort(means[grey, 0], kind="stable")]
    chosen[order[np.cumsum(areas[order]) > _MOST[_GREY]]] = _WHITE
    return chosen


MONDRIAN = Styliser(
    name="mondrian",
    run=rectangles,
    summary="upright rectangles in red, yellow, blue and off-white between black lines",
    source='Ours; cuts by explained variance after Breiman et al., "Classification and Regression Trees", 1984, 8.4',
    strategy="custom pipeline: from the style its red, yellow, blue, off-white and black, each where it has one",
)
