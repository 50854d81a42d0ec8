"""What a picture is as an array, its check at the door, its 8-bit form, and resizing under a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import sparse

from ..errors import BadImage, UnknownName

__all__ = ["RESIZERS", "Picture", "as_picture", "resize", "to_uint8"]

Picture = NDArray[np.float32]
"""(h, w, 3) float32, sRGB-coded, in [0, 1], C-contiguous."""


def as_picture(image: NDArray[Any], *, where: str = "picture") -> Picture:
    """Give an array as a picture, or say what is wrong with it; one that is a picture already is not copied.

    Args:
        image: (h, w, 3), or (h, w) or (h, w, 1) for grey; uint8 in 0..255, uint16 in 0..65535, or floats in [0, 1].
            A float array in 0..255 is refused: the range is never guessed.
        where: name of the picture, for messages.

    Returns:
        (h, w, 3) float32 in [0, 1], C-contiguous.

    Raises:
        BadImage: another shape, type or range; NaN.
    """
    image = np.asarray(image)
    if image.ndim == 2:
        image = image[..., None]
    if image.ndim != 3 or image.shape[2] not in (1, 3) or 0 in image.shape:
        raise BadImage(f"{where}: shape {image.shape} is not (height, width, 3) or (height, width)", where=where)
    if image.dtype == np.uint8:
        image = image.astype(np.float32) / np.float32(255)
    elif image.dtype == np.uint16:
        image = image.astype(np.float32) / np.float32(65535)
    elif image.dtype in (np.float16, np.float32, np.float64):
        low, high = float(image.min()), float(image.max())
        if not (low >= 0.0 and high <= 1.0):
            raise BadImage(
                f"{where}: values from {low:g} to {high:g} are not in [0, 1]; divide by the value of white, "
                "or hand in uint8 or uint16",
                where=where,
            )
        image = image.astype(np.float32, copy=False)
    else:
        raise BadImage(f"{where}: values of type {image.dtype}; hand in uint8, uint16 or floats in [0, 1]", where=where)
    if image.shape[2] == 1:
        image = np.repeat(image, 3, axis=2)
    return np.ascontiguousarray(image)


def to_uint8(image: Picture) -> NDArray[np.uint8]:
    """Round to 8 bits, halves up: what a PNG of the picture would hold."""
    return np.floor(as_picture(image) * np.float64(255) + 0.5).astype(np.uint8)


def _overlap(source: int, target: int) -> sparse.csr_array:
    """(target, source) weights: how much of each target cell every source cell covers; rows sum to 1."""
    edges = np.union1d(np.arange(source + 1) * target, np.arange(target + 1) * source)  # in 1 / (source * target)
    starts = edges[:-1]
    weights = np.diff(edges) / source
    return sparse.csr_array((weights, (starts // source, starts // target)), shape=(target, source))


def _area(image: Picture, height: int, width: int) -> Picture:
    rows, columns = _overlap(image.shape[0], height), _overlap(image.shape[1], width)
    down = (rows @ image.reshape(image.shape[0], -1).astype(np.float64)).reshape(height, image.shape[1], 3)
    across = columns @ down.transpose(1, 0, 2).reshape(image.shape[1], -1)
    made = across.reshape(width, height, 3).transpose(1, 0, 2)
    clipped: Picture = np.clip(made, 0.0, 1.0).astype(np.float32, order="C")
    return clipped


def _pillow(method: Image.Resampling) -> Callable[[Picture, int, int], Picture]:
    def resized(image: Picture, height: int, width: int) -> Picture:
        channels = [
            np.asarray(Image.fromarray(np.ascontiguousarray(image[..., channel])).resize((width, height), method))
            for channel in range(3)
        ]
        clipped: Picture = np.clip(np.stack(channels, axis=-1), 0.0, 1.0).astype(np.float32, order="C")
        return clipped

    return resized


RESIZERS: Mapping[str, Callable[[Picture, int, int], Picture]] = {
    "area": _area,
    "pil-bicubic": _pillow(Image.Resampling.BICUBIC),
    "pil-bilinear": _pillow(Image.Resampling.BILINEAR),
    "pil-lanczos": _pillow(Image.Resampling.LANCZOS),
}
"""name -> function(image, height, width). The name is part of the definition of every metric that resizes.

area: mean over the exact area of each new pixel. pil-*: Pillow's filters, widened when shrinking (no aliasing), on
float32 values, without rounding to 8 bits; bicubic has a = -0.5. All clip to [0, 1].
"""


def resize(image: Picture, height: int, width: int, *, resizer: str) -> Picture:
    """Give the picture at another size; at its own size it is returned as it is.

    Args:
        image: the picture.
        height: new height in pixels, >= 1.
        width: new width in pixels, >= 1.
        resizer: a name of `RESIZERS`.

    Raises:
        UnknownName: no such resizer.
        BadImage: a side below 1 pixel.
    """
    if resizer not in RESIZERS:
        raise UnknownName.among(resizer, RESIZERS, "resizer")
    if height < 1 or width < 1:
        raise BadImage(f"cannot resize to {width} x {height} pixels; both sides must be at least 1", where="resize")
    if image.shape[:2] == (height, width):
        return image
    return RESIZERS[resizer](image, height, width)
