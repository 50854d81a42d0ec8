"""The one loop of image analogies that cannot be written with whole arrays: each pixel depends on those before it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import MissingExtra

__all__ = ["compiled_scan", "scan"]

_MOST = 64  # candidates a pixel: up to 24 coherent ones and those that were offered


def scan(
    own: NDArray[np.float32],
    wanted: NDArray[np.float32],
    example: NDArray[np.float32],
    allowed: NDArray[np.bool_],
    offered: NDArray[np.int32],
    window: NDArray[np.int64],
    weights: NDArray[np.float32],
    near: NDArray[np.int64],
    slack: float,
    crowding: float,
    used: NDArray[np.int32],
    source: NDArray[np.int32],
    made: NDArray[np.float32],
) -> None:
    """Choose a source pixel for every pixel, row by row; fills `source`, `made` and `used`, and reads what they hold.

    The distance of a source p from a pixel q is the squared difference of their features, plus the weighted squared
    difference of their surroundings in the example and in what is made so far. The best of the offered sources
    competes with the best coherent one (the source of a neighbour r, moved by q - r), which wins when its distance is
    at most `slack` times the other's.

    Args:
        own: (m, d) features of the example's pixels.
        wanted: (n, d) features of the pixels to be made, row by row.
        example: (h + 4, w + 4, c) the filtered example with two pixels of border all around; h w = m.
        allowed: (h, w) which pixels may be sources.
        offered: (n, k) sources found for each pixel by features alone, -1 for none; k = 0 tries every allowed source.
        window: (s, 2) row and column offsets at which surroundings are compared, within two pixels.
        weights: (s,) their weights.
        near: (r, 2) offsets of the neighbours whose sources are followed.
        slack: >= 1; large keeps pieces of the example together.
        crowding: added to a source's distance for each earlier use of its 8 x 8 block, per pixel of the block.
        used: (h // 8 + 1, w // 8 + 1) uses of each block so far.
        source: (H, W) flat index of each pixel's source, -1 where none is chosen yet; H W = n.
        made: (H, W, c) the example's values at the sources.

    Source:
        Hertzmann, Jacobs, Oliver, Curless and Salesin, "Image Analogies", SIGGRAPH 2001, section 3.2; coherence is
        Ashikhmin's, "Synthesizing Natural Textures", I3D 2001, section 3.
    """
    height, width, channels = made.shape
    rows, columns = allowed.shape
    every = offered.shape[1] == 0
    first = rows * columns if every else offered.shape[1]
    follow = np.empty(_MOST, np.int64)
    for y in range(height):
        for x in range(width):
            q = y * width + x
            n = 0
            for i in range(near.shape[0]):
                v, u = y + near[i, 0], x + near[i, 1]
                if v < 0 or v >= height or u < 0 or u >= width or source[v, u] < 0:
                    continue
                p_row = source[v, u] // columns - near[i, 0]
                p_column = source[v, u] % columns - near[i, 1]
                if p_row < 0 or p_row >= rows or p_column < 0 or p_column >= columns or not allowed[p_row, p_column]:
                    continue
                p = p_row * columns + p_column
                fresh = True
                for j in range(n):
                    if follow[j] == p:
                        fresh = False
                        break
                if fresh:
                    follow[n] = p
                    n += 1
            best, least, coherent, least_coherent = -1, np.inf, -1, np.inf
            for i in range(first + n):
                if i >= first:
                    p = follow[i - first]
                elif every:
                    p = i
                else:
                    p = offered[q, i]
                if p < 0 or not allowed[p // columns, p % columns]:
                    continue
                limit = least if i < first else min(least_coherent, slack * least)
                row, column = p // columns, p % columns
                distance = crowding * used[row // 8, column // 8]
                for d in range(own.shape[1]):
                    off = own[p, d] - wanted[q, d]
                    distance += off * off
                if distance > limit:
                    continue
                for j in range(window.shape[0]):
                    v, u = y + window[j, 0], x + window[j, 1]
                    if v < 0 or v >= height or u < 0 or u >= width or source[v, u] < 0:
                        continue
                    total = 0.0
                    for c in range(channels):
                        off = example[row + 2 + window[j, 0], column + 2 + window[j, 1], c] - made[v, u, c]
                        total += off * off
                    distance += weights[j] * total
                    if distance > limit:
                        break
                if i < first:
                    if distance < least:
                        best, least = p, distance
                elif distance < least_coherent:
                    coherent, least_coherent = p, distance
            if coherent >= 0 and least_coherent <= slack * least:
                best = coherent
            row, column = best // columns, best % columns
            source[y, x] = best
            used[row // 8, column // 8] += 1
            for c in range(channels):
                made[y, x, c] = example[row + 2, column + 2, c]


@cache
def compiled_scan() -> Callable[..., Any]:
    """Return `scan` as machine code; made at the first call of a machine, kept beside this file or in the user's cache.

    Raises:
        MissingExtra: numba is not installed.
    """
    try:
        import numba
    except ModuleNotFoundError as error:
        raise MissingExtra.library("image analogies", "numba", "make") from error
    try:
        made: Callable[..., Any] = numba.njit(scan, cache=True)
    except RuntimeError:  # neither folder can be written: compiled anew in each process
        made = numba.njit(scan)
    return made
