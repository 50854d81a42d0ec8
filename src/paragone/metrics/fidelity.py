"""How far a picture keeps to its content reference, pixel by pixel: MSE, PSNR and SSIM.

All work on sRGB-coded values. A reference of another size is resized to the picture before they are called: `measure`
does it, with the resizer that stands in their definition. `mse`, `psnr` and `ssim` read RGB; a style transfer changes
colour by intent, so `psnr-y` and `ssim-y`, which read the luma only, are often the fairer question.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ..errors import BadImage
from ..images import Picture, as_picture, luma
from ..metric import Metric

__all__ = [
    "MSE",
    "PSNR",
    "PSNR_Y",
    "SSIM",
    "SSIM_UNIFORM",
    "SSIM_Y",
    "mse",
    "psnr",
    "psnr_y",
    "ssim",
    "ssim_uniform",
    "ssim_y",
]

Plane = NDArray[np.floating[Any]]
Planes = NDArray[np.float64]


def _pair(image: NDArray[Any], content: NDArray[Any]) -> tuple[Picture, Picture]:
    first, second = as_picture(image, where="image"), as_picture(content, where="content")
    if first.shape != second.shape:
        sizes = " and ".join(f"{array.shape[1]} x {array.shape[0]}" for array in (first, second))
        raise BadImage(f"picture and reference differ in size ({sizes}); resize one of them", where="content")
    return first, second


def mse(image: NDArray[Any], content: NDArray[Any]) -> float:
    """Give the mean squared error over all pixels and channels.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.
        content: the reference, of the same size.

    Returns:
        Squared sRGB levels, 0 (identical) to 65025 (black against white).

    Raises:
        BadImage: an array is no picture, or the sizes differ.
    """
    first, second = _pair(image, content)
    difference = first.astype(np.float64) - second
    return 255.0**2 * float(np.square(difference).mean())


def psnr(image: NDArray[Any], content: NDArray[Any]) -> float:
    """Give the peak signal-to-noise ratio, 10 log10(255^2 / `mse`).

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes.
        content: the reference, of the same size.

    Returns:
        dB, 0 (black against white) upwards; inf for identical pictures.

    Raises:
        BadImage: an array is no picture, or the sizes differ.
    """
    return _decibels(mse(image, content))


def psnr_y(image: NDArray[Any], content: NDArray[Any]) -> float:
    """Give `psnr` of the luma planes; same arguments, unit and range."""
    first, second = _pair(image, content)
    return _decibels(float(np.square(luma(first) - luma(second)).mean()))


def _decibels(error: float) -> float:
    return 10.0 * math.log10(255.0**2 / error) if error > 0 else math.inf


_C1, _C2 = 0.01**2, 0.03**2  # (K1 L)^2 and (K2 L)^2 with the paper's K1, K2 and L = 1
_GAUSS = np.exp(-(np.arange(-5, 6) ** 2) / (2 * 1.5**2))
_GAUSS /= _GAUSS.sum()
_UNIFORM = 7


def ssim(image: NDArray[Any], content: NDArray[Any]) -> float:
    """Give the structural similarity: mean over RGB of the mean SSIM map under an 11 x 11 Gaussian window.

    sigma 1.5, population covariance, K1 = 0.01, K2 = 0.03; only windows that lie wholly inside the picture count. No
    automatic downsampling.

    Args:
        image: (h, w, 3) sRGB in [0, 1], or what `as_picture` takes; both sides at least 11 pixels.
        content: the reference, of the same size.

    Returns:
        -1 to 1, 1 for identical pictures.

    Raises:
        BadImage: an array is no picture, the sizes differ, or a side is below 11 pixels.

    Source:
        Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error visibility to structural similarity",
        IEEE TIP 13(4), 2004, equation 13 and section III-C.
    """
    first, second = _pair(image, content)
    planes = _channels(first, second)
    return float(np.mean([_structure(x, y, _gauss, len(_GAUSS)) for x, y in planes]))


def ssim_y(image: NDArray[Any], content: NDArray[Any]) -> float:
    """Give `ssim` of the luma planes; same arguments, range, errors and source."""
    first, second = _pair(image, content)
    return _structure(luma(first) / 255.0, luma(second) / 255.0, _gauss, len(_GAUSS))


def ssim_uniform(image: NDArray[Any], content: NDArray[Any]) -> float:
    """Give SSIM over RGB under a 7 x 7 uniform window with sample covariance: scikit-image's default, to compare with.

    Same arguments, range, errors and source as `ssim`; both sides at least 7 pixels.
    """
    first, second = _pair(image, content)
    count = _UNIFORM**2
    planes = _channels(first, second)
    return float(np.mean([_structure(x, y, _mean, _UNIFORM, count / (count - 1)) for x, y in planes]))


def _channels(first: Picture, second: Picture) -> list[tuple[Plane, Plane]]:
    return [
        (np.ascontiguousarray(first[..., channel]), np.ascontiguousarray(second[..., channel])) for channel in range(3)
    ]


def _gauss(stack: Planes) -> Planes:
    """Gaussian-weighted means of all 11 x 11 windows inside each (rows, columns) plane of (k, rows, columns)."""
    last, half = len(_GAUSS) - 1, len(_GAUSS) // 2
    for axis in (1, 2):
        length = stack.shape[axis] - last
        shifted = [_from(stack, axis, tap, length) for tap in range(last + 1)]
        made = shifted[half] * _GAUSS[half]
        both = np.empty_like(made)
        for tap in range(half):  # the window is symmetric: one product for two taps
            np.add(shifted[tap], shifted[last - tap], out=both)
            both *= _GAUSS[tap]
            made += both
        stack = made
    return stack


def _from(stack: Planes, axis: int, start: int, length: int) -> Planes:
    return stack[:, start : start + length] if axis == 1 else stack[:, :, start : start + length]


def _mean(stack: Planes) -> Planes:
    """Means of all 7 x 7 windows inside each plane."""
    half = _UNIFORM // 2
    for axis in (1, 2):
        stack = ndimage.uniform_filter1d(stack, _UNIFORM, axis=axis)
    return stack[:, half:-half, half:-half]


_STRIP = 16  # rows at a time, so that all maps of a strip stay in the processor's cache


def _structure(x: Plane, y: Plane, window: Callable[[Planes], Planes], taps: int, unbias: float = 1.0) -> float:
    """Mean of the SSIM map of two planes in [0, 1], strip by strip.

    Four windowed means are enough, for only the sum of the two variances is asked for. For x = y the two fractions
    hold the same numbers above and below, so the result is exactly 1.
    """
    if min(x.shape) < taps:
        raise BadImage(
            f"ssim needs {taps} x {taps} pixels, the picture's shorter side has {min(x.shape)}", where="image"
        )
    rows, columns = int(x.shape[0]) - taps + 1, int(x.shape[1]) - taps + 1
    total = 0.0
    for top in range(0, rows, _STRIP):
        strip = slice(top, min(top + _STRIP, rows) + taps - 1)
        a, b = x[strip].astype(np.float64), y[strip].astype(np.float64)
        mu_x, mu_y, variances, covariance = window(np.stack([a, b, a * a + b * b, a * b]))
        power, cross = mu_x * mu_x + mu_y * mu_y, 2.0 * mu_x * mu_y
        variances = unbias * (variances - power)
        covariance = unbias * (2.0 * covariance - cross)
        likeness = (cross + _C1) * (covariance + _C2) / ((power + _C1) * (variances + _C2))
        total += float(likeness.sum())
    return total / float(rows * columns)


_WANG = (
    "Wang, Bovik, Sheikh and Simoncelli, 'Image quality assessment: from error visibility to structural similarity', "
    "IEEE TIP 13(4), 2004, equation 13"
)
_POWER = "Mean squared error; Wang and Bovik, 'Mean squared error: love it or leave it?', IEEE SPM 26(1), 2009, eq. 1-2"
_RESIZED = "ref-pil-bicubic"


def _fidelity(name: str, compute: Callable[..., float], **facts: Any) -> Metric:
    return Metric(name=name, compute=compute, inputs=("image", "content"), same_size=True, **facts)


MSE = _fidelity(
    "mse",
    mse,
    better="lower",
    low=0.0,
    high=255.0**2,
    unit="squared sRGB levels (0-255)",
    summary="Mean squared difference from the content reference, RGB",
    definition=f"mse/rgb-255/{_RESIZED}",
    source=_POWER,
)

PSNR = _fidelity(
    "psnr",
    psnr,
    better="higher",
    low=0.0,
    high=math.inf,
    unit="dB",
    summary="Peak signal-to-noise ratio to the content reference, RGB",
    definition=f"psnr/rgb-255/{_RESIZED}",
    source=_POWER,
)

PSNR_Y = _fidelity(
    "psnr-y",
    psnr_y,
    better="higher",
    low=0.0,
    high=math.inf,
    unit="dB",
    summary="Peak signal-to-noise ratio to the content reference, luma only",
    definition=f"psnr/bt601-full-255/{_RESIZED}",
    source=_POWER,
)

SSIM = _fidelity(
    "ssim",
    ssim,
    better="higher",
    low=-1.0,
    high=1.0,
    unit="",
    summary="Structural similarity to the content reference, RGB, Gaussian window",
    definition=f"ssim/rgb-mean/gauss11-1.5/cov-population/valid/{_RESIZED}",
    source=_WANG,
    smallest=len(_GAUSS),
)

SSIM_Y = _fidelity(
    "ssim-y",
    ssim_y,
    better="higher",
    low=-1.0,
    high=1.0,
    unit="",
    summary="Structural similarity to the content reference, luma only, Gaussian window",
    definition=f"ssim/bt601-full/gauss11-1.5/cov-population/valid/{_RESIZED}",
    source=_WANG,
    smallest=len(_GAUSS),
)

SSIM_UNIFORM = _fidelity(
    "ssim-uniform",
    ssim_uniform,
    better="higher",
    low=-1.0,
    high=1.0,
    unit="",
    summary="Structural similarity as scikit-image computes it by default, RGB, 7 x 7 window",
    definition=f"ssim/rgb-mean/uniform7/cov-sample/valid/{_RESIZED}",
    source=_WANG,
    smallest=_UNIFORM,
)
