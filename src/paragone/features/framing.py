"""How a picture of any size is brought to the square that a network reads."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from ..errors import BadConfig
from ..images import Picture, as_picture, resize

__all__ = ["FRAMINGS", "Framing", "framed", "framing_id"]

Framing: TypeAlias = Literal["crop", "pad"]
"""crop: the middle of the picture; pad: the whole picture on a ground of its mean colour."""

FRAMINGS: tuple[Framing, ...] = get_args(Framing)

_RESIZER = "pil-bicubic"
_WIDER = 256 / 224  # side before the crop over side after it: how ImageNet networks are evaluated


def framed(picture: Picture, side: int, *, framing: Framing) -> Picture:
    """Give the picture as a square.

    Args:
        picture: (h, w, 3) in [0, 1], of any size; smaller ones are enlarged.
        side: side of the square, in pixels, >= 1.
        framing: 'crop': the middle square of the picture (shorter side x shorter side) is resized to 256/224 of `side`
            and its middle is taken. 'pad': the picture is resized so that its longer side is `side`, and lies in the
            middle of a square of its mean colour. Both resize by Pillow's bicubic, widened when shrinking.

    Returns:
        (side, side, 3) float32 in [0, 1].

    Raises:
        BadConfig: no such framing, or a side below 1.
        BadImage: the array is no picture.
    """
    if side < 1:
        raise BadConfig(f"side is {side}; give the side of the square in pixels, at least 1", where="side")
    framing_id(framing, side)
    picture = as_picture(picture)
    return _cropped(picture, side) if framing == "crop" else _padded(picture, side)


def framing_id(framing: str, side: int) -> str:
    """Give the words by which a definition names a framing.

    Raises:
        BadConfig: no such framing.
    """
    if framing not in FRAMINGS:
        raise BadConfig(f"framing '{framing}' is not one of {', '.join(FRAMINGS)}", where="framing")
    if framing == "crop":
        return f"middle square to {_before(side)}, middle {side} of it, {_RESIZER}"
    return f"longer side to {side}, padded with the mean colour, {_RESIZER}"


def _before(side: int) -> int:
    return int(side * _WIDER + 0.5)


def _cropped(picture: Picture, side: int) -> Picture:
    height, width = picture.shape[:2]
    shorter, wider = min(height, width), _before(side)
    middle = _middle(picture, shorter, shorter)
    return np.ascontiguousarray(_middle(resize(middle, wider, wider, resizer=_RESIZER), side, side))


def _middle(picture: Picture, height: int, width: int) -> Picture:
    top, left = (picture.shape[0] - height) // 2, (picture.shape[1] - width) // 2
    return picture[top : top + height, left : left + width]


def _padded(picture: Picture, side: int) -> Picture:
    scale = side / max(picture.shape[:2])
    height, width = (min(side, max(1, int(one * scale + 0.5))) for one in picture.shape[:2])
    small = resize(picture, height, width, resizer=_RESIZER)
    square = np.empty((side, side, 3), dtype=np.float32)
    square[:] = small.mean(axis=(0, 1), dtype=np.float64)
    top, left = (side - height) // 2, (side - width) // 2
    square[top : top + height, left : left + width] = small
    return square
