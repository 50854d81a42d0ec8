"""Digits and four Chinese characters as strokes of our own: lines through points, so that no font needs to be shipped.

A shape lives in a box of height 1 with y downwards. Digits serve the colour-vision plates; the characters 选 (choose),
左 (left), 右 (right), 边 (side) are all that the drawn instructions say in Chinese.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["CHARACTERS", "DIGITS", "distance", "laid_out"]

Floats = NDArray[np.float64]


def _line(*points: tuple[float, float]) -> Floats:
    return np.array(points, dtype=np.float64)


def _arc(x: float, y: float, rx: float, ry: float, start: float, end: float) -> Floats:
    """Part of an ellipse; angles in degrees, 0 to the right, growing clockwise."""
    angle = np.radians(np.linspace(start, end, 2 + int(abs(end - start) / 8)))
    return np.stack([x + rx * np.cos(angle), y + ry * np.sin(angle)], axis=1)


_SIX = (_arc(0.3, 0.69, 0.3, 0.31, 0, 360), _arc(0.56, 0.69, 0.56, 0.69, 180, 262))
DIGITS: dict[str, tuple[Floats, ...]] = {
    "0": (_arc(0.3, 0.5, 0.3, 0.5, 0, 360),),
    "1": (_line((0.08, 0.2), (0.36, 0.0), (0.36, 1.0)),),
    "2": (np.concatenate([_arc(0.3, 0.29, 0.29, 0.29, 195, 395), _line((0.02, 1.0), (0.6, 1.0))]),),
    "3": (_arc(0.28, 0.25, 0.27, 0.25, 200, 450), _arc(0.28, 0.74, 0.31, 0.26, 270, 520)),
    "4": (_line((0.45, 1.0), (0.45, 0.0), (0.0, 0.7), (0.64, 0.7)),),
    "5": (np.concatenate([_line((0.56, 0.0), (0.1, 0.0), (0.06, 0.46)), _arc(0.28, 0.68, 0.31, 0.32, 225, 510)]),),
    "6": _SIX,
    "7": (_line((0.0, 0.0), (0.6, 0.0), (0.2, 1.0)),),
    "8": (_arc(0.3, 0.24, 0.25, 0.24, 0, 360), _arc(0.3, 0.74, 0.3, 0.26, 0, 360)),
    "9": tuple(np.array([0.6, 1.0]) - stroke for stroke in _SIX),
}
"""Digit -> its strokes, each (k, 2) points x, y; about 0.6 wide."""

CHARACTERS: dict[str, tuple[Floats, ...]] = {
    "选": (
        _line((0.1, 0.08), (0.22, 0.2)),
        _line((0.03, 0.38), (0.22, 0.38), (0.22, 0.74)),
        _line((0.22, 0.74), (0.06, 0.9)),
        _line((0.16, 0.8), (0.34, 0.92), (0.98, 0.95)),
        _line((0.47, 0.06), (0.38, 0.3)),
        _line((0.43, 0.2), (0.88, 0.2)),
        _line((0.64, 0.02), (0.64, 0.42)),
        _line((0.34, 0.42), (0.96, 0.42)),
        _line((0.54, 0.42), (0.51, 0.62), (0.36, 0.78)),
        _line((0.73, 0.42), (0.73, 0.74), (0.93, 0.74), (0.95, 0.62)),
    ),
    "左": (
        _line((0.06, 0.24), (0.95, 0.24)),
        _line((0.44, 0.03), (0.36, 0.34), (0.22, 0.66), (0.04, 0.9)),
        _line((0.34, 0.54), (0.86, 0.54)),
        _line((0.6, 0.54), (0.6, 0.93)),
        _line((0.24, 0.93), (0.97, 0.93)),
    ),
    "右": (
        _line((0.05, 0.24), (0.96, 0.24)),
        _line((0.44, 0.03), (0.35, 0.32), (0.22, 0.56), (0.04, 0.76)),
        _line((0.34, 0.55), (0.34, 0.97)),
        _line((0.34, 0.55), (0.83, 0.55), (0.83, 0.97)),
        _line((0.34, 0.89), (0.83, 0.89)),
    ),
    "边": (
        _line((0.1, 0.08), (0.22, 0.2)),
        _line((0.03, 0.38), (0.22, 0.38), (0.22, 0.74)),
        _line((0.22, 0.74), (0.06, 0.9)),
        _line((0.16, 0.8), (0.34, 0.92), (0.98, 0.95)),
        _line((0.38, 0.24), (0.89, 0.24), (0.86, 0.6), (0.8, 0.74), (0.68, 0.68)),
        _line((0.62, 0.04), (0.6, 0.34), (0.52, 0.56), (0.36, 0.76)),
    ),
}
"""Character -> its strokes, each (k, 2) points in a unit square."""


def laid_out(text: str, *, gap: float) -> tuple[list[Floats], float]:
    """Return the strokes of digits and characters set side by side, and their width.

    Args:
        text: digits of `DIGITS` and characters of `CHARACTERS`.
        gap: space between two, in heights.

    Raises:
        KeyError: a letter is neither.
    """
    strokes, at = [], 0.0
    for letter in text:
        own = DIGITS[letter] if letter in DIGITS else CHARACTERS[letter]
        strokes += [stroke + np.array([at, 0.0]) for stroke in own]
        at += gap + (0.6 if letter in DIGITS else 1.0)
    return strokes, at - gap


def distance(points: Floats, strokes: list[Floats]) -> Floats:
    """Return how far points lie from the nearest stroke.

    Args:
        points: (n, 2).
        strokes: each (k, 2), k >= 2.

    Returns:
        (n,) in the unit of the points.
    """
    nearest = np.full(len(points), np.inf)
    for stroke in strokes:
        for start, end in pairwise(stroke):
            along = end - start
            share = np.clip((points - start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
            nearest = np.minimum(nearest, np.hypot(*(points - start - share[:, None] * along).T))
    return nearest
