"""Read pictures, see them in another colour space, resize them under a name, write them.

A picture is `float32`, RGB, (h, w, 3), sRGB-coded, in [0, 1], C-contiguous. It becomes that at the door, once:
`read_image` for files, `as_picture` for arrays. What a file may be, and what is made of it:

- grey (1, 8 or 16 bit) is shown on all three channels; 16 bits keep their precision, in PNG and TIFF in colour as well
  (16-bit colour in PPM and JPEG 2000 comes with 8);
- a palette is looked up; CMYK and YCbCr are converted as Pillow does, without profiles;
- what is transparent is laid over **white**, in sRGB values, as a browser page would show it;
- the EXIF orientation is applied; embedded colour profiles are **not**: numbers are taken as sRGB;
- of an animation or a multi-page file the first frame is taken.

Refused, each with one line: what is not a picture, is cut off, is empty, has more than `MAX_PIXELS` pixels, or has
values without a defined white (floating-point and 32-bit files, CIELAB files).
"""

from __future__ import annotations

from .arrays import RESIZERS, Picture, as_picture, resize, to_uint8
from .colour import lab, linear, luma
from .files import ENDINGS, MAX_BYTES, MAX_PIXELS, decode_image, read_bytes, read_image, write_image

__all__ = [
    "ENDINGS",
    "MAX_BYTES",
    "MAX_PIXELS",
    "RESIZERS",
    "Picture",
    "as_picture",
    "decode_image",
    "lab",
    "linear",
    "luma",
    "read_bytes",
    "read_image",
    "resize",
    "to_uint8",
    "write_image",
]
