"""A picture in another colour space: luma, linear light, CIELAB."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .arrays import Picture

__all__ = ["lab", "linear", "luma"]

_LUMA = (0.299, 0.587, 0.114)  # ITU-R BT.601


def luma(image: Picture) -> NDArray[np.float64]:
    """Give the luma Y' = 0.299 R' + 0.587 G' + 0.114 B' of the sRGB-coded values.

    Returns:
        (h, w) float64 in 0..255, full range (white is 255, not 235).

    Source:
        ITU-R Recommendation BT.601-7, section 2.5.1.
    """
    red, green, blue = (image[..., channel].astype(np.float64, order="C") for channel in range(3))
    return 255.0 * (_LUMA[0] * red + _LUMA[1] * green + _LUMA[2] * blue)


def linear(image: Picture) -> NDArray[np.float64]:
    """Give linear light: the sRGB curve undone.

    Returns:
        (h, w, 3) float64 in [0, 1].

    Source:
        IEC 61966-2-1:1999, section 5.2.
    """
    coded = image.astype(np.float64, order="C")
    return np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)


_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])  # IEC 61966-2-1, 5.2
_WHITE = _XYZ.sum(axis=1)  # what RGB (1, 1, 1) becomes, so that greys have a = b = 0


def lab(image: Picture) -> NDArray[np.float64]:
    """Give CIELAB under D65: lightness L* in [0, 100], a* (green to red), b* (blue to yellow).

    Returns:
        (h, w, 3) float64; for sRGB colours a* lies in [-87, 99] and b* in [-108, 95].

    Source:
        CIE 15:2004, section 8.2.1; the white is that of the sRGB matrix of IEC 61966-2-1.
    """
    light = linear(image)
    ratio = [
        (light[..., 0] * row[0] + light[..., 1] * row[1] + light[..., 2] * row[2]) / white
        for row, white in zip(_XYZ, _WHITE, strict=True)
    ]
    edge = 6.0 / 29.0
    x, y, z = (np.where(t > edge**3, np.cbrt(t), t / (3 * edge**2) + 4.0 / 29.0) for t in ratio)
    return np.stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], axis=-1)
