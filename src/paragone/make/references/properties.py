"""What a picture is like in numbers: eight properties at one working size, and levels of colour and detail made of them.

They serve to choose references that differ; none of them says that a picture is good.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ...errors import BadConfig
from ...images import as_picture, lab, luma, resize
from ...images.arrays import Picture
from ...metrics.attributes import colourfulness, contrast, light, si

__all__ = [
    "PROPERTIES",
    "RESIZER",
    "SIDE",
    "Level",
    "Property",
    "at_side",
    "busyness",
    "colour_level",
    "detail_level",
    "edge_density",
    "hue_spread",
    "mean_gradient",
    "picture_properties",
]

SIDE = 256
"""Working size: longer side in pixels. Our choice: no reference in use is smaller, so pictures are only ever shrunk, and
what counts is structure that is seen at a glance."""
RESIZER = "pil-bicubic"
"""Resizer by which pictures come to the working size; widened when it shrinks, so that nothing aliases."""

Level = Literal["low", "medium", "high"]


class Property(NamedTuple):
    """One property: its function of a picture at the working size, its unit, and what it says."""

    compute: Callable[[NDArray[Any]], float]
    unit: str
    summary: str


def at_side(image: NDArray[Any], side: int = SIDE, *, resizer: str = RESIZER) -> Picture:
    """Give the picture with its longer side at so many pixels, proportions kept.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.
        side: longer side in pixels, >= 16; the shorter one is rounded, and at least 1.
        resizer: a name of `images.RESIZERS`.

    Raises:
        BadConfig: side below 16.
        BadImage: the array is no picture.
        UnknownName: no such resizer.
    """
    if side < 16:
        raise BadConfig(
            f"a working size of {side} pixels is too small to measure anything; give 16 or more", where="side"
        )
    picture = as_picture(image)
    height, width = picture.shape[:2]
    longest = max(height, width)
    sides = (max(1, round(height * side / longest)), max(1, round(width * side / longest)))
    return resize(picture, *sides, resizer=resizer)


def picture_properties(image: NDArray[Any], *, side: int = SIDE) -> dict[str, float]:
    """Give every property of `PROPERTIES` at the working size.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.
        side: longer side in pixels at which it is measured, >= 16. Gradients, edges and busyness depend on it, so
            numbers at different sides are not comparable.

    Returns:
        Name -> value, in the order of `PROPERTIES`; all finite.

    Raises:
        BadConfig, BadImage: as for `at_side`.
    """
    picture = at_side(image, side)
    return {name: entry.compute(picture) for name, entry in PROPERTIES.items()}


def mean_gradient(image: NDArray[Any]) -> float:
    """Give the mean steepness of the luma, by derivatives of a Gaussian of 1 pixel.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.

    Returns:
        Grey levels (0-255) per pixel, 0 (flat) to about 100.

    Raises:
        BadImage: the array is no picture.
    """
    return float(np.hypot(*_gradient(as_picture(image))).mean())


_WEAK, _STRONG = 4.0, 10.0  # grey levels per pixel; our choice: 10 is a step of 25 levels seen through the Gaussian


def edge_density(image: NDArray[Any]) -> float:
    """Give the share of pixels on thin edges, found as Canny finds them.

    Gradient of a Gaussian of 1 pixel; kept where it is largest across the edge; of the chains above 4 grey levels per
    pixel those that somewhere exceed 10.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.

    Returns:
        0 (no edge) to about 0.3.

    Raises:
        BadImage: the array is no picture.

    Source:
        Canny, "A computational approach to edge detection", IEEE PAMI 8(6), 1986, sections VI to VIII; the thresholds
        are ours.
    """
    down, across = _gradient(as_picture(image))
    size = np.hypot(down, across)
    along = np.stack([down, across]) / np.where(size > 0, size, 1.0)
    here = np.indices(size.shape)
    ahead, behind = (ndimage.map_coordinates(size, here + way * along, order=1, mode="nearest") for way in (1, -1))
    ridge = (size >= ahead) & (size > behind)  # of two equal neighbours one
    chains, found = ndimage.label(ridge & (size > _WEAK), structure=np.ones((3, 3)))
    kept = np.zeros(found + 1, dtype=bool)
    kept[np.unique(chains[ridge & (size > _STRONG)])] = True
    kept[0] = False
    return float(kept[chains].mean())


_BLOCK = 16  # pixels, at the working size
_BUSY = 6.0  # grey levels; our choice: structure that is plainly seen


def busyness(image: NDArray[Any]) -> float:
    """Give the share of the picture that is filled with fine structure rather than left calm.

    Fine structure is the luma without its Gaussian average of 2 pixels; a block of about 16 x 16 pixels is busy where its
    root mean square exceeds 6 grey levels. Unlike a mean gradient, one hard contour does not raise it.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.

    Returns:
        0 (calm everywhere) to 1 (busy everywhere).

    Raises:
        BadImage: the array is no picture.
    """
    y = luma(as_picture(image))
    energy = np.square(y - ndimage.gaussian_filter(y, 2.0))
    rows, columns = (np.arange(max(1, round(n / _BLOCK))) * n // max(1, round(n / _BLOCK)) for n in y.shape)
    sums = np.add.reduceat(np.add.reduceat(energy, rows, axis=0), columns, axis=1)
    sizes = np.outer(np.diff([*rows, y.shape[0]]), np.diff([*columns, y.shape[1]]))
    return float((sums / sizes > _BUSY**2).mean())


def hue_spread(image: NDArray[Any]) -> float:
    """Give how far the hues disagree: the mean chroma minus the chroma of the mean colour, in CIELAB.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.

    Returns:
        CIELAB units, 0 (grey, or one hue however strong) to about 60 (strong opposite hues).

    Raises:
        BadImage: the array is no picture.
    """
    colours = lab(as_picture(image))[..., 1:].reshape(-1, 2)
    return max(0.0, float(np.hypot(colours[:, 0], colours[:, 1]).mean() - np.hypot(*colours.mean(axis=0))))


def colour_level(value: float) -> Level:
    """Give the level of a colourfulness: low below 52, high from 70.5, medium between.

    Args:
        value: colourfulness M3 at the working size, >= 0.

    Source:
        Hasler and Süsstrunk, "Measuring colourfulness in natural images", SPIE 5007, 2003, table of categories: the
        bounds are the middles between their 'averagely' (45), 'quite' (59) and 'highly colourful' (82).
    """
    return _level(value, 52.0, 70.5)


def detail_level(value: float) -> Level:
    """Give the level of detail of a busyness: low below 0.80, high from 0.95, medium between.

    The bounds are ours, set on twelve paintings: Hokusai's Great Wave (0.75) is low, van Gogh's Night Café (0.92) medium,
    his Père Tanguy (1.00) high. Photographs with a calm ground are low.

    Args:
        value: `busyness` at the working size of 256 pixels, in [0, 1].
    """
    return _level(value, 0.80, 0.95)


def _level(value: float, medium: float, high: float) -> Level:
    return "low" if value < medium else "medium" if value < high else "high"


def _gradient(picture: Picture) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Down and across, grey levels per pixel; exactly 0 on a flat picture."""
    y = luma(picture)
    y -= y.flat[0]
    return ndimage.gaussian_filter(y, 1.0, order=(1, 0)), ndimage.gaussian_filter(y, 1.0, order=(0, 1))


PROPERTIES: Mapping[str, Property] = MappingProxyType(
    {
        "light": Property(light, "grey levels (0-255)", "mean luma"),
        "contrast": Property(contrast, "grey levels (0-255)", "standard deviation of the luma"),
        "colourfulness": Property(colourfulness, "sRGB levels (0-255)", "spread and offset of opponent colours"),
        "hue_spread": Property(hue_spread, "CIELAB units", "how far the hues disagree"),
        "si": Property(si, "grey levels (0-255)", "spread of the edge strength"),
        "gradient": Property(mean_gradient, "grey levels per pixel", "mean steepness of the luma"),
        "edges": Property(edge_density, "share of pixels", "pixels on thin edges"),
        "busyness": Property(busyness, "share of the picture", "area filled with fine structure"),
    }
)
"""Name -> property, in the order of tables and plots; all are measured at the working size."""
