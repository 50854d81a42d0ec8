"""Picture files: read with all their bits and upright, refused with one line, written whole or not at all."""

from __future__ import annotations

import functools
import io
import struct
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFile, UnidentifiedImageError

from ..errors import BadImage, NotFound, UnknownName
from ..tables import whole_file
from .arrays import Picture, to_uint8

__all__ = ["ENDINGS", "MAX_BYTES", "MAX_PIXELS", "decode_image", "read_bytes", "read_image", "write_image"]

ENDINGS = (".avif", ".bmp", ".gif", ".jp2", ".jpeg", ".jpg", ".png", ".ppm", ".pgm", ".tif", ".tiff", ".webp")
"""Endings, in lower case, by which a folder's pictures are found; a file that is named is read whatever its ending."""

MAX_PIXELS = 80_000_000
"""Largest picture that is read: 0.96 GB as float32. Our choice; just below the size at which Pillow warns of a bomb."""

MAX_BYTES = 1 << 29
"""Largest file that is read, 512 MiB; our choice."""

_READ = ("AVIF", "BMP", "GIF", "JPEG", "JPEG2000", "PNG", "PPM", "TIFF", "WEBP")
"""Pillow's other readers are left out: some start programs (EPS), none is a format in which pictures are judged."""


@functools.cache
def _readers() -> tuple[str, ...]:
    """Those of `_READ` that this build of Pillow has."""
    Image.init()
    return tuple(name for name in _READ if name in Image.OPEN)


_BROKEN = (
    OSError,
    SyntaxError,
    ValueError,
    ArithmeticError,
    LookupError,
    EOFError,
    MemoryError,
    RuntimeError,
    TypeError,
    AttributeError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)
"""What Pillow's decoders raise on files that are damaged or made to harm."""


def read_image(path: str | Path) -> Picture:
    """Read a picture file.

    Args:
        path: the file; its content decides the format, not its ending.

    Returns:
        (h, w, 3) float32 sRGB in [0, 1], upright.

    Raises:
        NotFound: no such file.
        BadImage: it is not a picture, is damaged, is too large, or has no defined white.
    """
    return decode_image(read_bytes(path), where=str(path))


def read_bytes(path: str | Path) -> bytes:
    """Read a picture file's bytes, undecoded.

    Raises:
        NotFound: no such file.
        BadImage: it is a folder or no ordinary file, is larger than `MAX_BYTES`, or may not be read.
    """
    path = Path(path)
    try:
        if not path.exists():
            raise NotFound.path(path, "picture")
        if not path.is_file():
            raise BadImage(f"{path}: not a file but a folder or device; name a picture", where=str(path))
        if path.stat().st_size > MAX_BYTES:
            raise BadImage(
                f"{path}: {path.stat().st_size / 2**20:.0f} MiB is more than the {MAX_BYTES >> 20} MiB that are read; "
                "make the picture smaller",
                where=str(path),
            )
        return path.read_bytes()
    except OSError as error:
        raise BadImage(f"{path}: cannot be read ({error.strerror})", where=str(path)) from error


def decode_image(raw: bytes, *, where: str = "picture") -> Picture:
    """Decode the bytes of a picture file; see `read_image`.

    Args:
        raw: content of a PNG, JPEG, WebP, TIFF, BMP, GIF, ... file.
        where: name of the file, for messages.

    Raises:
        BadImage: as for `read_image`.
    """
    if not raw:
        raise BadImage(f"{where}: the file is empty; save the picture again", where=where)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # damaged metadata is no matter; Pillow's bomb warning is answered below
        try:
            with Image.open(io.BytesIO(raw), formats=_readers()) as image:
                width, height = image.size
                if width * height > MAX_PIXELS:
                    raise _too_large(where, f"{width} x {height} pixels are")
                coded = _channels(image, raw, where)
                turned = _upright(coded, image)
        except UnidentifiedImageError as error:
            raise BadImage(f"{where}: not a picture that can be read; save it as PNG or JPEG", where=where) from error
        except Image.DecompressionBombError as error:
            raise _too_large(where, "its pixels are") from error
        except _BROKEN as error:
            reason = str(error).strip().split("\n")[0][:120] or type(error).__name__
            raise BadImage(f"{where}: damaged or cut off ({reason}); save the picture again", where=where) from error
    return _over_white(turned)


def _too_large(where: str, what: str) -> BadImage:
    limit = MAX_PIXELS // 1_000_000
    return BadImage(f"{where}: {what} more than the {limit} million that are read; make it smaller", where=where)


def _channels(image: Image.Image, raw: bytes, where: str) -> NDArray[np.float32]:
    """The first frame's values in [0, 1] as (h, w, 1 to 4): grey, grey and alpha, RGB, or RGB and alpha."""
    wide = _wide_channels(image, raw)
    if wide is not None:
        return wide
    mode = image.mode
    if mode.startswith("I;16"):
        return _keyed(np.asarray(image)[..., None], image)
    if mode == "I" and image.format == "PPM":
        return _keyed(np.asarray(image)[..., None], image)
    if mode in ("I", "F", "LAB", "HSV"):
        raise BadImage(
            f"{where}: a picture in mode {mode} has no defined white; save it as 8- or 16-bit RGB or grey", where=where
        )
    if mode in ("P", "PA", "RGBa", "La") or "transparency" in image.info:
        image = image.convert("RGBA")
    elif mode == "1":
        image = image.convert("L")
    elif mode not in ("L", "LA", "RGB", "RGBA"):
        image = image.convert("RGB")
    values = np.asarray(image).astype(np.float32) / np.float32(255)
    return values if values.ndim == 3 else values[..., None]


_WIDE = {"RGB;16B": 3, "RGB;16L": 3, "RGB;16N": 3, "RGBA;16B": 4, "RGBA;16L": 4, "RGBA;16N": 4, "LA;16B": 2}
_OTHER_HALF = {"B": "L", "L": "B", "N": "B"}


def _wide_channels(image: Image.Image, raw: bytes) -> NDArray[np.float32] | None:
    """All 16 bits of a picture with several 16-bit channels, or None where there are none to save.

    Pillow keeps the high byte of each value only. Decoding the file a second time, as if its bytes stood in the other
    order, gives the low bytes.
    """
    if not isinstance(image, ImageFile.ImageFile) or not image.tile or image.format not in ("PNG", "TIFF"):
        return None
    arguments = image.tile[0].args
    rawmode = arguments[0] if isinstance(arguments, tuple) else arguments
    count = _WIDE.get(str(rawmode))
    if count is None:
        return None
    name, _, order = str(rawmode).partition(";16")
    other = "RGBA" if count == 2 else f"{name};16{_OTHER_HALF[order]}"
    with Image.open(io.BytesIO(raw), formats=_readers()) as second:
        assert isinstance(second, ImageFile.ImageFile)
        second.tile = [tile._replace(args=_renamed(tile.args, other)) for tile in second.tile]
        low = np.asarray(second)
    if count == 2:
        pairs = low.reshape(*low.shape[:2], 2, 2).astype(np.int32)
        return _keyed(pairs[..., 0] * 256 + pairs[..., 1], image)
    return _keyed(np.asarray(image).astype(np.int32) * 256 + low, image)


def _keyed(values: NDArray[Any], image: Image.Image) -> NDArray[np.float32]:
    """16-bit values in [0, 1]; where the file names one colour as transparent, an alpha channel is added."""
    shown = values.astype(np.float32) / np.float32(65535)
    key = image.info.get("transparency")
    if key is None:
        return shown
    alpha = (values != np.atleast_1d(key)).any(axis=2, keepdims=True)
    return np.concatenate([shown, alpha.astype(np.float32)], axis=2)


def _renamed(arguments: Any, rawmode: str) -> Any:
    return (rawmode, *arguments[1:]) if isinstance(arguments, tuple) else rawmode


def _upright(values: NDArray[np.float32], image: Image.Image) -> NDArray[np.float32]:
    """Turn and mirror as the EXIF orientation says; a damaged EXIF block counts as none."""
    try:
        orientation = image.getexif().get(0x0112, 1)
    except _BROKEN:
        return values
    if orientation in (5, 6, 7, 8):
        values = values.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        values = values[::-1]
    if orientation in (2, 3, 6, 7):
        values = values[:, ::-1]
    return values


def _over_white(values: NDArray[np.float32]) -> Picture:
    """Three channels from one to four: alpha mixes with white, grey is repeated."""
    if values.shape[2] in (2, 4):
        alpha = values[..., -1:]
        values = values[..., :-1] * alpha + (np.float32(1) - alpha)
    if values.shape[2] == 1:
        values = np.repeat(values, 3, axis=2)
    return np.ascontiguousarray(values, dtype=np.float32)


_FORMATS: dict[str, tuple[str, dict[str, Any]]] = {
    ".png": ("PNG", {}),
    ".jpg": ("JPEG", {"quality": 95, "subsampling": 0}),
    ".jpeg": ("JPEG", {"quality": 95, "subsampling": 0}),
    ".webp": ("WEBP", {"lossless": True}),
    ".tif": ("TIFF", {}),
    ".tiff": ("TIFF", {}),
}


def write_image(image: Picture, path: str | Path) -> Path:
    """Write a picture with 8 bits a channel, whole or not at all.

    Args:
        image: the picture.
        path: ends in .png, .tif (both exact to 8 bits), .webp (lossless) or .jpg (quality 95, full colour).

    Raises:
        UnknownName: another ending.
        BadImage: the array is no picture.
    """
    path = Path(path)
    if path.suffix.lower() not in _FORMATS:
        raise UnknownName.among(path.suffix or path.name, _FORMATS, "picture format")
    kind, options = _FORMATS[path.suffix.lower()]
    made = Image.fromarray(to_uint8(image))
    with whole_file(path) as aside:
        made.save(aside, format=kind, **options)
    return path
