"""Texture by patches: the picture is quilted from pieces of the style."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ...images import Picture, resize
from .colour import monge_kantorovich
from .styliser import Styliser

__all__ = ["PATCHES", "pieced"]

Floats = NDArray[np.float64]

_PIECES = 8000  # most style patches that are searched; a seeded choice among more
_CANDIDATES = 24  # patches of the right tone among which the best fitting one is laid
_CELLS = 3  # a patch's tone is compared by the means of 3 x 3 cells, which leaves its texture free


def pieced(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content quilted from overlapping patches of the style, coarse pieces first, then finer.

    A patch must suit the recoloured content in tone and colour; among those that do, the one that continues its
    neighbours best is laid, cut along the line where it differs least. A second pass with smaller pieces follows the
    first one's result as well as the content, and a little of the recoloured content is mixed in.

    Source:
        Efros and Freeman, "Image Quilting for Texture Synthesis and Transfer", SIGGRAPH 2001, sections 2 and 3.
        Departure: the candidates come from a k-d tree over cell means, and recolouring first is ours.
    """
    rng = np.random.default_rng(seed)
    height, width = content.shape[:2]
    wanted = np.clip(monge_kantorovich(content, style), 0.0, 1.0).astype(np.float64)
    longest = max(height, width)
    sized = [max(16, round(side * longest / max(style.shape[:2]))) for side in style.shape[:2]]
    example = resize(style, sized[0], sized[1], resizer="area").astype(np.float64)
    picture = wanted
    for parts, share in ((18, 0.0), (36, 0.4)):
        side = int(np.clip(round(longest / parts), 4, min(height, width, *example.shape[:2])))
        picture = _quilted((1.0 - share) * wanted + share * picture, _stock(example, side, rng), side)
    mixed: Picture = (0.8 * picture + 0.2 * wanted).astype(np.float32)
    return mixed


def _stock(example: Floats, side: int, rng: np.random.Generator) -> Floats:
    """(p, side, side, 3) patches of the style."""
    windows = np.lib.stride_tricks.sliding_window_view(example, (side, side), axis=(0, 1))
    rows, columns = windows.shape[:2]
    chosen = rng.permutation(rows * columns)[:_PIECES]
    stock: Floats = windows[chosen // columns, chosen % columns].transpose(0, 2, 3, 1)
    return stock


def _tones(patches: Floats) -> Floats:
    """(p, 27) mean colours of a patch's cells."""
    edges = np.linspace(0, patches.shape[1], _CELLS + 1).astype(int)[:-1]
    sums = np.add.reduceat(np.add.reduceat(patches, edges, axis=1), edges, axis=2)
    sizes = np.diff(np.append(edges, patches.shape[1]))
    means: Floats = (sums / (sizes[:, None] * sizes[None, :])[None, :, :, None]).reshape(len(patches), -1)
    return means


def _quilted(guide: Floats, stock: Floats, side: int) -> Floats:
    """The guide rebuilt from patches of the stock, laid row by row over `side // 3` pixels of overlap."""
    height, width = guide.shape[:2]
    overlap = max(1, side // 3)
    tops, lefts = (_starts(length, side, side - overlap) for length in (height, width))
    windows = np.lib.stride_tricks.sliding_window_view(guide, (side, side), axis=(0, 1))
    asked = windows[np.ix_(tops, lefts)].transpose(0, 1, 3, 4, 2).reshape(-1, side, side, 3)
    k = min(_CANDIDATES, len(stock))
    tone, near = cKDTree(_tones(stock)).query(_tones(asked), k=k)
    tone, near = tone.reshape(tops.size, lefts.size, k), near.reshape(tops.size, lefts.size, k)
    canvas = np.zeros_like(guide)
    for i, top in enumerate(tops.tolist()):
        for j, left in enumerate(lefts.tolist()):
            place = canvas[top : top + side, left : left + side]
            up = int(tops[i - 1]) + side - top if i else 0
            back = int(lefts[j - 1]) + side - left if j else 0
            offered = stock[near[i, j]]
            misfit = ((offered[:, :up] - place[:up]) ** 2).sum(axis=(1, 2, 3))
            misfit += ((offered[:, :, :back] - place[:, :back]) ** 2).sum(axis=(1, 2, 3))
            cells = side * (up + back) / _CELLS**2
            patch = offered[int((misfit + cells * tone[i, j] ** 2).argmin())]
            mask = np.ones((side, side), dtype=bool)
            if up:
                mask[:up] &= _below_seam(((patch[:up] - place[:up]) ** 2).sum(axis=2).T).T
            if back:
                mask[:, :back] &= _below_seam(((patch[:, :back] - place[:, :back]) ** 2).sum(axis=2))
            place[mask] = patch[mask]
    return canvas


def _starts(length: int, side: int, step: int) -> NDArray[np.int64]:
    return np.unique(np.append(np.arange(0, length - side + 1, step), length - side))


def _below_seam(error: Floats) -> NDArray[np.bool_]:
    """(n, w) true from the cheapest top-to-bottom path on; one pixel a row, neighbours at most one column apart."""
    cost = error.tolist()  # a few hundred small strips a picture: plain lists are faster than arrays here
    w = len(cost[0])
    for above, row in pairwise(cost):
        for column in range(w):
            row[column] += min(above[max(0, column - 1) : column + 2])
    seam = [cost[-1].index(min(cost[-1]))]
    for row in reversed(cost[:-1]):
        low = max(0, seam[-1] - 1)
        near = row[low : seam[-1] + 2]
        seam.append(low + near.index(min(near)))
    return np.arange(w)[None, :] >= np.array(seam[::-1])[:, None]


PATCHES = Styliser(
    name="patches",
    run=pieced,
    summary="the picture quilted from pieces of the style, brushwork and all",
    source='Efros and Freeman, "Image Quilting for Texture Synthesis and Transfer", SIGGRAPH 2001, sections 2 and 3',
    strategy="colour and texture: pieces of the style itself",
)
