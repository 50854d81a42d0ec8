"""`sanitised`: a picture file becomes the bytes that may go to a browser: pixels and colour information, nothing else.

A PNG keeps its compressed pixels byte for byte and loses every chunk that does not change how they look (`png`).
Everything else is decoded once, here, and served as PNG. A JPEG could keep its data and lose its APPn and COM segments
instead, and would be about a tenth of the size; it is decoded all the same, because browsers differ in how they undo
JPEG (rounding, chroma upsampling), because the orientation stands in a segment that must go, and because so all people,
and the metrics, see the same numbers: those of `paragone.images.read_image`.

A PNG is decoded and written anew in three cases only: its EXIF orientation turns it, some pixel is transparent (laid
over white, as metrics see it, not over the page's grey), or its compressed data hold more than its pixels.
Refused: SVG (it may carry scripts), animations and files of several pages, CMYK (it has no defined look on a screen),
and what is damaged or too large.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFile, UnidentifiedImageError

from ...errors import BadImage
from ...images import decode_image, read_bytes, to_uint8
from .icc import colour_only, described
from .png import SIGNATURE, Png, packed, profile_chunk, read_png

__all__ = [
    "MAX_BYTES",
    "MAX_PIXELS",
    "Looks",
    "Picture",
    "look",
    "must_decode",
    "png_bytes",
    "rgb",
    "sanitised",
    "sanitised_bytes",
]

MAX_PIXELS = 64_000_000
"""Largest picture that is shown; our choice: eight 4K screens, and 192 MB once decoded in the participant's browser."""

MAX_BYTES = 64 << 20
"""Largest file that is shown, 64 MiB; our choice: at 10 Mbit/s it takes a minute to load."""

_PACKING = 4  # of 9: a third of the time of Pillow's 6, and files about 5 % larger
_READ = ("AVIF", "BMP", "GIF", "JPEG", "JPEG2000", "MPO", "PNG", "PPM", "TIFF", "WEBP")
_PLAIN = ("1", "L", "LA", "P", "RGB", "RGBA")
"""Modes of Pillow that need no look at their values before they are shown."""
_DAMAGED = (
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
    Warning,  # where the process has made errors of them
)
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


@dataclass(frozen=True)
class Picture:
    """What a browser gets of a picture, and what is known about it."""

    bytes: bytes
    """A PNG file with pixels and colour information only."""
    width: int
    """As shown, in pixels."""
    height: int
    sha256: str
    """Digest, in hexadecimal, of the file *as it was given*: the key of caches and of the frozen study."""
    media_type: str
    """'image/png'."""
    profile: str
    """What the file says about colour: 'untagged', 'sRGB', "ICC 'Display P3' 1f2e3d4c", 'gAMA 0.45455', 'cICP 9/16/0/1';
    for the researcher."""


class Looks(NamedTuple):
    """What a file says about its picture before it is decoded."""

    width: int
    """As shown, in pixels: turned as the orientation says."""
    height: int
    profile: str
    """As in `Picture`."""


def sanitised(path: str | Path) -> Picture:
    """Read a picture file and return what may go to a browser.

    Args:
        path: the file; its content decides the format.

    Returns:
        A PNG whose pixels are those of the file.

    Raises:
        NotFound: no such file.
        BadImage: not a picture, damaged, animated, CMYK, SVG, above `MAX_PIXELS` or `MAX_BYTES`.
    """
    return sanitised_bytes(read_bytes(path), where=str(path))


def sanitised_bytes(raw: bytes, *, where: str = "picture") -> Picture:
    """Do what `sanitised` does with a file's bytes.

    Raises:
        BadImage: as for `sanitised`.
    """
    png = _chunks(raw, where)
    seen, turn = _look(raw, png, where)
    clean = _as_it_is(png, turn, where) if png is not None else None
    if clean is None:
        clean = _anew(raw, png, turn, where)
    return Picture(
        bytes=clean,
        width=seen.width,
        height=seen.height,
        sha256=hashlib.sha256(raw).hexdigest(),
        media_type="image/png",
        profile=seen.profile,
    )


def look(raw: bytes, *, where: str = "picture") -> Looks:
    """Read size and colour information of a picture file without decoding it, and refuse what cannot be shown.

    Raises:
        BadImage: as for `sanitised`, except for damage that only decoding finds.
    """
    return _look(raw, _chunks(raw, where), where)[0]


def must_decode(raw: bytes, *, where: str = "picture") -> None:
    """Decode a picture once, and refuse the damage that `look` does not find. Much cheaper than `sanitised_bytes`.

    Raises:
        BadImage: its pixels are damaged or cut off, or of a kind that has no look on a screen.
    """
    with _opened(raw, where) as image:
        image.load()
        plain = image.mode in _PLAIN
    if not plain:
        to_uint8(decode_image(raw, where=where))


def png_bytes(pixels: NDArray[np.uint8], *, like: bytes = b"") -> bytes:
    """Write pixels as PNG, without any words in it.

    Args:
        pixels: (h, w) or (h, w, 3) uint8.
        like: a sanitised PNG whose colour information the new one gets, if it has as many colour channels; empty: none.
    """
    memory = io.BytesIO()
    Image.fromarray(pixels).save(memory, format="PNG", compress_level=_PACKING)
    made = read_png(memory.getvalue(), where="picture")
    model = read_png(like, where="picture") if like else made
    return packed(made, colour=model.colour if model.grey == made.grey else ())


def rgb(png: bytes, *, where: str = "picture") -> NDArray[np.uint8]:
    """Decode a sanitised PNG to 8-bit colour.

    Returns:
        (h, w, 3) uint8.

    Raises:
        BadImage: it cannot be decoded.
    """
    with _opened(png, where) as image:
        if image.mode in ("1", "L", "P", "RGB") and "transparency" not in image.info:
            return np.asarray(image.convert("RGB"))
    return to_uint8(decode_image(png, where=where))


_BEFORE_MARKUP = b"\xef\xbb\xbf \t\r\n"


def _chunks(raw: bytes, where: str) -> Png | None:
    """The chunks of a PNG file, None for other formats; too many bytes and drawings are refused."""
    if len(raw) > MAX_BYTES:
        size, limit = len(raw) / 2**20, MAX_BYTES >> 20
        raise BadImage(
            f"{where}: {size:.0f} MiB is more than the {limit} MiB that are shown; make it smaller", where=where
        )
    head = raw[:4096].lower()
    if head.lstrip(_BEFORE_MARKUP).startswith(b"<") and b"<svg" in head:  # not a picture whose remarks speak of one
        raise BadImage(f"{where}: SVG may carry scripts and is not shown; export it as PNG", where=where)
    return read_png(raw, where=where) if raw.startswith(SIGNATURE) else None


def _look(raw: bytes, png: Png | None, where: str) -> tuple[Looks, int]:
    """Size and colour of a picture, and its orientation, 1 to 8."""
    if png is not None:
        if png.animated:
            raise _animated(where)
        _in_pixels(png.width, png.height, where)
        turn = 1
        if png.oriented:
            with _opened(raw, where) as image:
                turn = _orientation(image)
        return Looks(*_turned(png.width, png.height, turn), png.profile), turn
    with _opened(raw, where) as image:
        _in_pixels(*image.size, where)
        if image.format != "MPO" and getattr(image, "n_frames", 1) > 1:
            raise _animated(where)
        if image.mode == "CMYK":
            raise BadImage(f"{where}: CMYK has no defined look on a screen; save it as RGB", where=where)
        turn = _orientation(image)
        profile = image.info.get("icc_profile")
        said = "untagged"
        if isinstance(profile, bytes) and colour_only(profile, grey=_is_grey(image)) is not None:
            said = described(profile)
        return Looks(*_turned(*image.size, turn), said), turn


def _as_it_is(png: Png, turn: int, where: str) -> bytes | None:
    """The PNG with its own compressed pixels; None where they must be written anew."""
    with _translated(where):
        if turn != 1 or (png.transparency and png.depth == 16) or not png.tight:
            return None
    clean = packed(png)
    with _opened(clean, where) as image:
        image.load()
        if png.kind in (4, 6) or png.transparency:
            alpha = image if image.mode in ("RGBA", "LA") else image.convert("RGBA")
            if alpha.getchannel("A").getextrema()[0] != 255:
                return None
    return clean


def _anew(raw: bytes, png: Png | None, turn: int, where: str) -> bytes:
    """The picture decoded and written as PNG with the colour information of its file."""
    with _opened(raw, where) as image:
        grey, profile = _is_grey(image), image.info.get("icc_profile")
        pixels: NDArray[np.uint8] | None = None
        if image.format in ("JPEG", "MPO", "WEBP") and image.mode in ("L", "RGB") and "transparency" not in image.info:
            image.load()
            pixels = np.asarray(image.transpose(_TURNS[turn]) if turn != 1 else image)
    if pixels is None:
        pixels = to_uint8(decode_image(raw, where=where))
        pixels = np.ascontiguousarray(pixels[..., 0]) if grey else pixels
    colour: tuple[tuple[bytes, bytes], ...] = png.colour if png is not None else ()
    if png is None and isinstance(profile, bytes):
        clean = colour_only(profile, grey=grey)
        colour = (profile_chunk(clean),) if clean is not None else ()
    return packed(read_png(png_bytes(pixels), where=where), colour=colour)


def _is_grey(image: Image.Image) -> bool:
    return image.mode in ("1", "L", "LA", "La", "I", "F") or image.mode.startswith("I;16")


@contextmanager
def _opened(raw: bytes, where: str) -> Iterator[ImageFile.ImageFile]:
    with _translated(where), Image.open(io.BytesIO(raw), formats=_formats()) as image:
        yield image


@contextmanager
def _translated(where: str) -> Iterator[None]:
    """Pillow's and zlib's many errors become one line.

    Warnings are left alone: silencing them is a setting of the whole process, and this runs in several threads.
    """
    try:
        yield
    except BadImage:
        raise
    except UnidentifiedImageError as error:
        raise BadImage(f"{where}: not a picture that can be read; save it as PNG or JPEG", where=where) from error
    except _DAMAGED as error:
        reason = str(error).strip().split("\n")[0][:120] or type(error).__name__
        raise BadImage(f"{where}: damaged or cut off ({reason}); save the picture again", where=where) from error


def _formats() -> tuple[str, ...]:
    Image.init()
    return tuple(name for name in _READ if name in Image.OPEN)


def _orientation(image: ImageFile.ImageFile) -> int:
    """1 to 8; a damaged EXIF block counts as none, as in `read_image`."""
    if image.format == "TIFF":
        return 1  # Pillow turns it by itself, and has said the turned size
    try:
        turn = image.getexif().get(0x0112, 1)
    except _DAMAGED:
        return 1
    return turn if turn in _TURNS else 1


def _turned(width: int, height: int, turn: int) -> tuple[int, int]:
    return (height, width) if turn >= 5 else (width, height)


def _in_pixels(width: int, height: int, where: str) -> None:
    if width * height > MAX_PIXELS:
        raise BadImage(
            f"{where}: {width} x {height} pixels are more than the {MAX_PIXELS // 1_000_000} million that are shown; "
            "make it smaller",
            where=where,
        )


def _animated(where: str) -> BadImage:
    return BadImage(f"{where}: it has several frames or pages; a study shows still pictures, save one", where=where)
