"""Five attributes of one picture: light, contrast, colourfulness, blur and spatial information.

They describe, they do not judge: AGIQA-1K compares natural and generated pictures by their distributions (its Fig. 3).
Only blur has an end that its authors call better.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ..images import as_picture, luma
from ..metric import Metric

__all__ = ["BLUR", "COLOURFULNESS", "CONTRAST", "LIGHT", "SI", "blur", "colourfulness", "contrast", "light", "si"]

_AGIQA = "fig. 3 of Zhang et al., 'A perceptual quality assessment exploration for AIGC images' (AGIQA-1K), 2023"


def light(image: NDArray[Any]) -> float:
    """Give the mean luma.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.

    Returns:
        Grey levels, 0 (black) to 255 (white).

    Raises:
        BadImage: the array is no picture.

    Source:
        Hosu et al., "The Konstanz natural video database (KoNViD-1k)", QoMEX 2017; luma of ITU-R BT.601.
    """
    return float(luma(as_picture(image)).mean())


def contrast(image: NDArray[Any]) -> float:
    """Give the root-mean-square contrast: the population standard deviation of the luma.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.

    Returns:
        Grey levels, 0 (flat) to 127.5 (half black, half white).

    Raises:
        BadImage: the array is no picture.

    Source:
        Peli, "Contrast in complex images", JOSA A 7(10), 1990, section 1 (RMS contrast).
    """
    y = luma(as_picture(image))
    return float((y - y.flat[0]).std())


def colourfulness(image: NDArray[Any]) -> float:
    """Give Hasler and Süsstrunk's colourfulness M3: spread and offset of two opponent channels.

    With rg = R - G and yb = (R + G) / 2 - B in 0..255, it is sqrt(var rg + var yb) + 0.3 sqrt(mean(rg)^2 + mean(yb)^2).

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.

    Returns:
        0 (grey) to 297.7 (the formula's maximum); the authors call 15 slightly, 45 averagely and 82 highly colourful.

    Raises:
        BadImage: the array is no picture.

    Source:
        Hasler and Süsstrunk, "Measuring colourfulness in natural images", SPIE 5007, 2003, equation for M(3).
    """
    coded = 255.0 * as_picture(image).astype(np.float64)
    red, green, blue = (np.ascontiguousarray(coded[..., channel]) for channel in range(3))
    rg = red - green
    yb = 0.5 * (red + green) - blue
    return math.sqrt(rg.var() + yb.var()) + 0.3 * math.hypot(rg.mean(), yb.mean())


_TAPS = 11


def blur(image: NDArray[Any]) -> float:
    """Give the perceptual blur of Crete et al.: how little a strong blur changes the picture's edges.

    The luma is averaged over 11 pixels along one axis. Where F and B are the absolute gradients of picture and average
    along that axis, the value is 1 - sum max(0, F - B) / sum F; the larger of the two axes counts. A picture that is
    blurred already loses little. As in scikit-image, gradients are Sobel's and the average has 11 taps; the paper has
    differences of neighbours and 9 taps.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes; both sides at least 11 pixels.

    Returns:
        0 (sharp) to 1 (blurred); an axis without any gradient does not count, NaN where both have none.

    Raises:
        BadImage: the array is no picture.

    Source:
        Crete, Dolmiere, Ladret and Nicolas, "The blur effect: perception and estimation with a new no-reference
        perceptual blur metric", SPIE 6492, 2007, section 3.
    """
    y = luma(as_picture(image)) / 255.0
    y -= y.flat[0]  # a flat picture has no gradient, not rounding noise
    axes = [value for value in map(_blur_along, (y, np.ascontiguousarray(y.T))) if not math.isnan(value)]
    return max(axes, default=math.nan)


def _blur_along(y: NDArray[np.float64]) -> float:
    """Crete's value for gradients along the last axis."""
    inside = (slice(2, -1), slice(2, -1))
    sharp = np.abs(ndimage.sobel(y, axis=-1))[inside]
    soft = np.abs(ndimage.sobel(ndimage.uniform_filter1d(y, _TAPS, axis=-1), axis=-1))[inside]
    total = float(sharp.sum())
    if total <= 1e-9 * sharp.size:  # 1e-9 of white: rounding, no gradient
        return math.nan
    return 1.0 - float(np.maximum(0.0, sharp - soft).sum()) / total


def si(image: NDArray[Any]) -> float:
    """Give the spatial information: the standard deviation of the Sobel gradient's magnitude over the luma.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes; both sides at least 3 pixels.

    Returns:
        Grey levels, 0 (flat, or one even slope) upwards; pixels without all eight neighbours are left out.

    Raises:
        BadImage: the array is no picture.

    Source:
        ITU-T Recommendation P.910, section on spatial perceptual information (SI), for one frame, full-range luma.
    """
    y = luma(as_picture(image))
    across = ndimage.sobel(y, axis=1)[1:-1, 1:-1]
    down = ndimage.sobel(y, axis=0)[1:-1, 1:-1]
    magnitude = np.sqrt(across * across + down * down)
    return float((magnitude - magnitude.flat[0]).std())


LIGHT = Metric(
    name="light",
    compute=light,
    inputs=("image",),
    better="neither",
    low=0.0,
    high=255.0,
    unit="grey levels (0-255)",
    summary="Mean luma: how bright the picture is",
    definition="light/mean/bt601-full",
    source=f"Hosu et al., 'The Konstanz natural video database (KoNViD-1k)', QoMEX 2017; {_AGIQA}",
)

CONTRAST = Metric(
    name="contrast",
    compute=contrast,
    inputs=("image",),
    better="neither",
    low=0.0,
    high=127.5,
    unit="grey levels (0-255)",
    summary="RMS contrast: standard deviation of the luma",
    definition="contrast/std-population/bt601-full",
    source=f"Peli, 'Contrast in complex images', JOSA A 7(10), 1990, section 1; {_AGIQA}",
)

COLOURFULNESS = Metric(
    name="colourfulness",
    compute=colourfulness,
    inputs=("image",),
    better="neither",
    low=0.0,
    high=255.0 * math.sqrt(1.25 * 1.09),  # (rg, yb) has length 255 sqrt(1.25) at most; s + 0.3 m is largest on a circle
    unit="sRGB levels (0-255)",
    summary="How colourful: spread and offset of the opponent channels",
    definition="colourfulness/hasler-m3/srgb-255/var-population",
    source=f"Hasler and Süsstrunk, 'Measuring colourfulness in natural images', SPIE 5007, 2003; {_AGIQA}",
)

BLUR = Metric(
    name="blur",
    compute=blur,
    inputs=("image",),
    better="lower",
    low=0.0,
    high=1.0,
    unit="",
    summary="Perceptual blur: 0 sharp, 1 blurred",
    definition="blur/crete2007/taps11-sobel-max/bt601-full",
    source="Crete, Dolmiere, Ladret and Nicolas, 'The blur effect: perception and estimation with a new no-reference "
    f"perceptual blur metric', SPIE 6492, 2007, section 3; {_AGIQA}",
    smallest=_TAPS,
)

SI = Metric(
    name="si",
    compute=si,
    inputs=("image",),
    better="neither",
    low=0.0,
    high=255.0 * math.sqrt(5.0),  # half of the largest Sobel magnitude, 255 sqrt(20); a bound, not attained
    unit="grey levels (0-255)",
    summary="Spatial information: spread of the edge strength, large for busy pictures",
    definition="si/itu-p910/sobel-std-population/bt601-full",
    source=f"ITU-T Recommendation P.910, spatial perceptual information; {_AGIQA}",
    smallest=3,
)
