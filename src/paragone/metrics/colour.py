"""How far a picture's colours are from those of its style reference, wherever in the picture they stand.

Both work in CIELAB, where distance is roughly what eyes see, and on shares of pixels, so the two pictures may differ in
size. `colour-histogram` asks whether the same colours occur together and saturates once none is shared;
`colour-transport` says how far lightness and the two opponent channels would have to move, and keeps growing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..images import Picture, as_picture, lab
from ..metric import Metric

__all__ = ["COLOUR_HISTOGRAM", "COLOUR_TRANSPORT", "colour_histogram", "colour_transport"]

_STEP = 10.0  # side of a histogram cell in CIELAB units
_ORIGIN = (0.0, -90.0, -110.0)  # sRGB lies in L* 0..100, a* -87..99, b* -108..95
_NODES = (11, 20, 22)


def colour_histogram(image: NDArray[Any], style: NDArray[Any]) -> float:
    """Give the Hellinger distance between the joint CIELAB histograms of a picture and its style reference.

    Nodes stand 10 units apart in L*, a* and b*. Each pixel is shared between the eight nodes around it by nearness
    (trilinear), so a small change of colour is a small change of the distance.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.
        style: the reference; any size.

    Returns:
        0 (same histogram) to 1 (no colour shared).

    Raises:
        BadImage: an array is no picture.

    Source:
        Comaniciu, Ramesh and Meer, "Kernel-based object tracking", IEEE TPAMI 25(5), 2003 (distance from the
        Bhattacharyya coefficient of colour histograms); Swain and Ballard, "Color indexing", IJCV 7(1), 1991.
    """
    p, q = (np.sqrt(_shares(as_picture(array))) for array in (image, style))
    return math.sqrt(min(1.0, 0.5 * float(np.square(p - q).sum())))


_STRIP = 1 << 15  # pixels at a time: what is worked on stays in the processor's cache, and large pictures fit


def _strips(picture: Picture) -> Iterator[NDArray[np.float64]]:
    """CIELAB colours (k, 3) of the picture's pixels, strip by strip."""
    pixels = picture.reshape(-1, 1, 3)
    for start in range(0, len(pixels), _STRIP):
        yield lab(pixels[start : start + _STRIP]).reshape(-1, 3)


def _shares(picture: Picture) -> NDArray[np.float64]:
    """(11 * 20 * 22,) share of the pixels at each node."""
    total = np.zeros(math.prod(_NODES))
    for colours in _strips(picture):
        lower, weights = [], []
        for channel, (origin, nodes) in enumerate(zip(_ORIGIN, _NODES, strict=True)):
            place = np.clip((colours[:, channel] - origin) / _STEP, 0.0, nodes - 1)
            below = np.minimum(place.astype(np.int64), nodes - 2)
            lower.append(below)
            weights.append((1.0 - (place - below), place - below))
        base = np.ravel_multi_index(lower, _NODES)
        for corner in np.ndindex(2, 2, 2):
            weight = weights[0][corner[0]] * weights[1][corner[1]] * weights[2][corner[2]]
            index = base + np.ravel_multi_index(corner, _NODES)
            total += np.bincount(index, weights=weight, minlength=total.size)
    return total / (picture.size // 3)


def colour_transport(image: NDArray[Any], style: NDArray[Any]) -> float:
    """Give the mean distance that L*, a* and b* must move to become distributed as in the style reference.

    For each channel alone, the earth mover's (first Wasserstein) distance between all pixels of both pictures, exact
    and without bins; then the mean of the three.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.
        style: the reference; any size.

    Returns:
        CIELAB units, 0 (same distributions) upwards.

    Raises:
        BadImage: an array is no picture.

    Source:
        Rubner, Tomasi and Guibas, "The earth mover's distance as a metric for image retrieval", IJCV 40(2), 2000;
        on the line it is the area between the quantile functions.
    """
    first, second = (_sorted(as_picture(array)) for array in (image, style))
    return sum(_moved(x, y) for x, y in zip(first, second, strict=True)) / 3.0


def _sorted(picture: Picture) -> NDArray[np.float64]:
    """(3, pixels) the values of L*, a* and b*, each in rising order."""
    values = np.empty((3, picture.size // 3))
    for number, colours in enumerate(_strips(picture)):
        values[:, number * _STRIP : number * _STRIP + len(colours)] = colours.T
    values.sort(axis=1)
    return values


def _moved(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Area between the quantile functions of two samples in rising order."""
    if len(x) == len(y):
        return float(np.abs(x - y).mean())
    whole = len(x) * len(y)  # breakpoints of both step functions, in units of 1 / whole
    ends = np.union1d(np.arange(1, len(x) + 1) * len(y), np.arange(1, len(y) + 1) * len(x))
    widths = np.diff(ends, prepend=0)
    starts = ends - widths
    return float((np.abs(x[starts // len(y)] - y[starts // len(x)]) * (widths / whole)).sum())


COLOUR_HISTOGRAM = Metric(
    name="colour-histogram",
    compute=colour_histogram,
    inputs=("image", "style"),
    better="lower",
    low=0.0,
    high=1.0,
    unit="",
    summary="Distance between the colour histograms of picture and style reference (Hellinger, CIELAB)",
    definition="colour-histogram/hellinger/lab-d65/trilinear-10",
    source="Comaniciu, Ramesh and Meer, 'Kernel-based object tracking', IEEE TPAMI 25(5), 2003; "
    "Swain and Ballard, 'Color indexing', IJCV 7(1), 1991",
)

COLOUR_TRANSPORT = Metric(
    name="colour-transport",
    compute=colour_transport,
    inputs=("image", "style"),
    better="lower",
    low=0.0,
    high=math.inf,
    unit="CIELAB units",
    summary="How far lightness and opponent colours must move to be spread as in the style reference",
    definition="colour-transport/wasserstein1-mean-of-marginals/lab-d65",
    source="Rubner, Tomasi and Guibas, 'The earth mover's distance as a metric for image retrieval', IJCV 40(2), 2000",
)
