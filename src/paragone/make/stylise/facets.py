"""A picture cut into convex facets by straight cuts, each where it explains most of the colours."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Facets", "facets"]

Floats = NDArray[np.float64]

_BINS = 24  # places tried for a cut across a facet


class Facets(NamedTuple):
    """Facets of a picture."""

    label: NDArray[np.int64]
    """(h, w) facet of each pixel, from 0."""
    normal: Floats
    """(k, 2) unit vector (down, across) at right angles to the cut that made each facet; for one facet, (0, 1)."""


class _Cut(NamedTuple):
    gain: float
    normal: tuple[float, float]
    after: NDArray[np.bool_]
    """Which of the facet's pixels lie beyond the cut."""


def facets(colours: Floats, weight: Floats, *, n: int, angles: Floats, least: int) -> Facets:
    """Cut a picture into n convex facets, the largest gain first.

    Args:
        colours: (h, w, c).
        weight: (h, w) > 0; where it is large, facets become small.
        n: facets wanted, >= 1; fewer where nothing is left that differs or has room.
        angles: (m,) directions of the normals that may be tried, in radians, m >= 1.
        least: pixels that a facet has at least, >= 1.

    Source:
        Radha, Vetterli and Leonardi, "Image Compression Using Binary Space Partitioning Trees", IEEE Transactions on
        Image Processing 5(12), 1996, section III. Departure: a few directions, and the middle of a facet is favoured.
    """
    height, width = weight.shape
    y, x = (plane.reshape(-1).astype(np.float64) for plane in np.mgrid[0:height, 0:width])
    values = [weight.reshape(-1), *(weight.reshape(-1) * colours[..., c].reshape(-1) for c in range(colours.shape[2]))]
    normals = [(float(np.sin(angle)), float(np.cos(angle))) for angle in angles]
    whole = np.arange(height * width)
    waiting = [(0.0, 0, whole, _best(whole, y, x, values, normals, least))]
    made: list[tuple[NDArray[np.int64], tuple[float, float]]] = [(whole, (0.0, 1.0))]
    while waiting and len(made) < n:
        _, which, pixels, cut = heapq.heappop(waiting)
        if cut is None:
            continue
        parts = pixels[~cut.after], pixels[cut.after]
        made[which] = parts[0], cut.normal
        made.append((parts[1], cut.normal))
        for index, part in zip((which, len(made) - 1), parts, strict=True):
            found = _best(part, y, x, values, normals, least)
            if found is not None:
                heapq.heappush(waiting, (-found.gain, index, part, found))
    label = np.zeros(height * width, dtype=np.int64)
    for i, (pixels, _) in enumerate(made):
        label[pixels] = i
    return Facets(label.reshape(height, width), np.array([normal for _, normal in made]))


def _best(
    pixels: NDArray[np.int64],
    y: Floats,
    x: Floats,
    values: list[Floats],
    normals: list[tuple[float, float]],
    least: int,
) -> _Cut | None:
    if len(pixels) < 2 * least:
        return None
    here = [plane[pixels] for plane in values]
    best: tuple[float, tuple[float, float], int] | None = None
    for normal in normals:
        place = _place(pixels, y, x, normal)
        counts = np.cumsum(np.bincount(place, minlength=_BINS))
        sums = np.stack([np.cumsum(np.bincount(place, plane, minlength=_BINS)) for plane in here], axis=1)
        before, after = sums[:-1], sums[-1] - sums[:-1]
        possible = (counts[:-1] >= least) & (len(pixels) - counts[:-1] >= least)
        if not possible.any():
            continue
        explained = sum((part[:, 1:] ** 2).sum(axis=1) / np.maximum(part[:, 0], 1e-12) for part in (before, after))
        gain = explained - (sums[-1, 1:] ** 2).sum() / sums[-1, 0]
        balance = 4.0 * counts[:-1] * (len(pixels) - counts[:-1]) / len(pixels) ** 2
        gain = np.where(possible, gain * (0.4 + 0.6 * balance), -1.0)
        i = int(gain.argmax())
        if gain[i] > 1e-9 and (best is None or gain[i] > best[0]):
            best = float(gain[i]), normal, i
    if best is None:
        return None
    return _Cut(best[0], best[1], _place(pixels, y, x, best[1]) > best[2])


def _place(pixels: NDArray[np.int64], y: Floats, x: Floats, normal: tuple[float, float]) -> NDArray[np.int64]:
    """(n,) bin of each pixel along the normal."""
    along = y[pixels] * normal[0] + x[pixels] * normal[1]
    low, high = float(along.min()), float(along.max())
    place: NDArray[np.int64] = ((along - low) * (_BINS / (high - low + 1e-9))).astype(np.int64)
    return place
