"""A sheet to draw on: polygons, lines and disks with smooth rims, in pixels of the picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from ...images import Picture

__all__ = ["Sheet"]

Colour = Sequence[float] | NDArray[np.floating]
Points = Iterable[tuple[float, float]]

_OVER = 3  # drawn pixels per picture pixel, so that rims are smooth


class Sheet:
    """A picture under way. x to the right, y down, in picture pixels; colours are sRGB in [0, 1].

    Args:
        shape: height and width in pixels.
        colour: of the empty sheet.
    """

    def __init__(self, shape: tuple[int, int], colour: Colour) -> None:
        self._image = Image.new("RGB", (shape[1] * _OVER, shape[0] * _OVER), _coded(colour))
        self._pen = ImageDraw.Draw(self._image)

    def polygon(self, points: Points, colour: Colour) -> None:
        """Fill a polygon."""
        self._pen.polygon([(x * _OVER, y * _OVER) for x, y in points], fill=_coded(colour))

    def line(self, points: Points, colour: Colour, width: float) -> None:
        """Draw a line through the points, with round ends and joints."""
        placed = [(x * _OVER, y * _OVER) for x, y in points]
        thick = max(1, round(width * _OVER))
        self._pen.line(placed, fill=_coded(colour), width=thick, joint="curve")
        if thick > _OVER:
            for x, y in (placed[0], placed[-1]):
                self._pen.ellipse((x - thick / 2, y - thick / 2, x + thick / 2, y + thick / 2), fill=_coded(colour))

    def disk(self, x: float, y: float, radius: float | tuple[float, float], colour: Colour) -> None:
        """Fill a disk, or an upright ellipse of two radii (across, down)."""
        a, b = radius if isinstance(radius, tuple) else (radius, radius)
        self._pen.ellipse(((x - a) * _OVER, (y - b) * _OVER, (x + a) * _OVER, (y + b) * _OVER), fill=_coded(colour))

    def arc(self, x: float, y: float, radius: float, span: tuple[float, float], colour: Colour, width: float) -> None:
        """Draw part of a circle between two angles in degrees, clockwise from the right."""
        box = ((x - radius) * _OVER, (y - radius) * _OVER, (x + radius) * _OVER, (y + radius) * _OVER)
        self._pen.arc(box, *span, fill=_coded(colour), width=max(1, round(width * _OVER)))

    def picture(self) -> Picture:
        """Return what is drawn so far: (h, w, 3) float32 in [0, 1]."""
        size = self._image.width // _OVER, self._image.height // _OVER
        small = self._image.resize(size, Image.Resampling.BOX)
        return np.asarray(small, dtype=np.float32) / np.float32(255)


def _coded(colour: Colour) -> tuple[int, int, int]:
    red, green, blue = (round(255 * min(1.0, max(0.0, float(value)))) for value in colour)
    return red, green, blue
