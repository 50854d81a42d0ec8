"""Which reference a picture shows, where its name does not say so: found by comparing pixels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import BadInput
from ...images import Picture, read_image, resize

__all__ = ["FARTHEST", "Likeness"]

FARTHEST = 0.04
"""Largest mean absolute difference of thumbnails, in parts of white, at which a picture still counts as the reference.
Our choice, from 102 real references (18 of this project's art, 84 of Kitov's set): copies squeezed or cropped to 256 pixels
and saved as JPEG of quality 50 differ by at most 0.019, two different references by at least 0.074."""
_CLEARLY = 2.0  # the next reference must be farther by this factor; our choice
_SIDE = 32  # pixels of the thumbnails


class Likeness:
    """Thumbnails of a factor's references, made once; programs may have squeezed or centre-cropped them to a square."""

    def __init__(self, references: Mapping[str, Path]) -> None:
        """Read the references; those that cannot be read are never found."""
        self._shown: dict[str, tuple[NDArray[np.float64], ...]] = {}
        for level, path in references.items():
            try:
                picture = read_image(path)
            except BadInput:
                continue
            self._shown[level] = (_thumbnail(picture), _thumbnail(_centre(picture)))

    def level(self, path: Path) -> str | None:
        """Return the level whose reference a picture shows, or None where none is near or two are equally near.

        Args:
            path: the picture; one that cannot be read shows nothing.
        """
        try:
            picture = read_image(path)
        except BadInput:
            return None
        here = _thumbnail(picture)
        far = {level: min(float(np.abs(here - own).mean()) for own in both) for level, both in self._shown.items()}
        ranked = sorted(far, key=lambda level: far[level])
        if not ranked or far[ranked[0]] > FARTHEST:
            return None
        if len(ranked) > 1 and far[ranked[1]] < max(_CLEARLY * far[ranked[0]], 1.5 / 255):
            return None
        return ranked[0]


def _thumbnail(picture: Picture) -> NDArray[np.float64]:
    return resize(picture, _SIDE, _SIDE, resizer="area").astype(np.float64)


def _centre(picture: Picture) -> Picture:
    height, width = picture.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return np.ascontiguousarray(picture[top : top + side, left : left + side])
