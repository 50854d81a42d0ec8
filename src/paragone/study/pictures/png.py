"""PNG files as chunks: read with every checksum, kept only as far as they say how pixels look, and put together again.

What is kept, and why nothing else:

- IHDR, PLTE (of palette pictures), tRNS, IDAT, IEND: the pixels. IDAT stays byte for byte.
- cICP, iCCP, sRGB, gAMA, cHRM: browsers manage colour by them. The name in iCCP is free text and becomes a constant; of
  the profile inside only what colour is computed from stays (`icc.colour_only`).
- sBIT, bKGD, hIST, sPLT, pHYs: no browser shows a pixel differently for them, so they go. tEXt, zTXt, iTXt, eXIf, tIME,
  private chunks and whatever follows IEND carry words: prompts, model names, dates; they go.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...errors import BadImage
from .icc import SRGB, colour_only, described

__all__ = ["SIGNATURE", "Png", "packed", "profile_chunk", "read_png"]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
"""The eight bytes that every PNG begins with."""

_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_LENGTHS = {b"cICP": 4, b"sRGB": 1, b"gAMA": 4, b"cHRM": 32}
_ORDER = (b"cICP", b"iCCP", b"sRGB", b"gAMA", b"cHRM")
_MOST_PROFILE = 1 << 22  # bytes; the largest profiles in use, of printers, have about 2 MiB
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_ORIENTED = (b"XML:com.adobe.xmp", b"Raw profile type exif")


@dataclass(frozen=True)
class Png:
    """What a PNG file says about its pixels."""

    width: int
    height: int
    depth: int
    """Bits a sample: 1, 2, 4, 8 or 16."""
    kind: int
    """Colour type: 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGB with alpha."""
    interlaced: bool
    colour: tuple[tuple[bytes, bytes], ...]
    """Name and content of the colour chunks, made clean, strongest first."""
    profile: str
    """What the colour chunks say, in words; see `sanitise.Picture.profile`."""
    palette: bytes
    """PLTE of a palette picture, else empty."""
    transparency: bytes
    """tRNS, else empty."""
    data: tuple[bytes, ...]
    """Content of the IDAT chunks."""
    animated: bool
    """It is an APNG."""
    oriented: bool
    """It carries a chunk in which an orientation may stand."""

    @property
    def grey(self) -> bool:
        """It has one colour channel."""
        return self.kind in (0, 4)

    @property
    def tight(self) -> bool:
        """The compressed data hold the rows of the picture and not a byte more."""
        unpacker, size = zlib.decompressobj(), 0
        wanted = self._raw_size()
        for part in self.data:
            while part:
                size += len(unpacker.decompress(part, 1 << 20))
                part = unpacker.unconsumed_tail
                if size > wanted:
                    return False
        while not unpacker.eof and (more := unpacker.decompress(b"", 1 << 20)):
            size += len(more)
        return unpacker.eof and size == wanted and not unpacker.unused_data

    def _raw_size(self) -> int:
        bits = _CHANNELS[self.kind] * self.depth
        grids = [(self.width, self.height)]
        if self.interlaced:
            grids = [(-((x - self.width) // dx), -((y - self.height) // dy)) for x, y, dx, dy in _PASSES]
        return sum(h * (1 + (w * bits + 7) // 8) for w, h in grids if w > 0 and h > 0)


def read_png(raw: bytes, *, where: str) -> Png:
    """Read a PNG's chunks and check each one's length and checksum; pixels are not decoded.

    Args:
        raw: the file.
        where: its name, for messages.

    Raises:
        BadImage: cut off, a checksum that does not hold, chunks in an impossible order, or an impossible header.

    Source:
        W3C, "Portable Network Graphics (PNG) Specification (Third Edition)", 2025, sections 5, 10 and 11.
    """
    head: tuple[int, ...] | None = None
    colour: dict[bytes, bytes] = {}
    palette = transparency = b""
    data: list[bytes] = []
    animated = oriented = ended = False
    for name, body in _chunks(raw, where):
        if head is None:
            head = _header(name, body, where)
        elif name == b"IDAT":
            if ended:
                raise _damaged(where, "its pixels stand in two places")
            data.append(body)
            continue
        elif name == b"PLTE":
            if palette or data or len(body) % 3 or not 3 <= len(body) <= 768:
                raise _damaged(where, "its palette is wrong")
            palette = body
        elif name == b"tRNS" and not data:
            transparency = transparency or body
        elif name in _ORDER and not data and not palette:
            colour.setdefault(name, body)
        elif name == b"acTL":
            animated = True
        elif name == b"eXIf" or body.startswith(_ORIENTED):
            oriented = True
        elif name != b"IEND" and not name[0] & 0x20:
            raise _damaged(where, f"it needs the unknown chunk {name.decode('latin-1')}")
        ended = bool(data)
    if head is None or not data:
        raise _damaged(where, "it has no pixels")
    width, height, depth, kind, interlaced = head
    if kind == 3 and not palette:
        raise _damaged(where, "its palette is missing")
    if transparency and not _fits(transparency, kind, palette):
        raise _damaged(where, "its tRNS chunk is wrong")
    clean, profile = _colour(colour, grey=kind in (0, 4))
    return Png(
        width=width,
        height=height,
        depth=depth,
        kind=kind,
        interlaced=bool(interlaced),
        colour=clean,
        profile=profile,
        palette=palette if kind == 3 else b"",
        transparency=transparency,
        data=tuple(data),
        animated=animated,
        oriented=oriented,
    )


def packed(png: Png, *, colour: tuple[tuple[bytes, bytes], ...] | None = None) -> bytes:
    """Give the file of a PNG: signature, header, colour, palette, transparency, pixels, end.

    Args:
        png: what to write.
        colour: colour chunks to write in place of its own; None: its own.
    """
    kept = png if colour is None else replace(png, colour=colour)
    head = struct.pack(">IIBBBBB", kept.width, kept.height, kept.depth, kept.kind, 0, 0, int(kept.interlaced))
    parts = [(b"IHDR", head), *kept.colour]
    parts += [(b"PLTE", kept.palette)] if kept.palette else []
    parts += [(b"tRNS", kept.transparency)] if kept.transparency else []
    parts += [(b"IDAT", body) for body in kept.data] + [(b"IEND", b"")]
    return SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(body, zlib.crc32(name)))
        for name, body in parts
    )


def profile_chunk(icc: bytes) -> tuple[bytes, bytes]:
    """The iCCP chunk of a profile, under a name that says nothing."""
    return b"iCCP", b"icc\0\0" + zlib.compress(icc, 9)


def _chunks(raw: bytes, where: str) -> Iterator[tuple[bytes, bytes]]:
    """Every chunk up to IEND; what follows is not looked at."""
    at = len(SIGNATURE)
    while True:
        if len(raw) < at + 12:
            raise _damaged(where, "it is cut off")
        (length,) = struct.unpack_from(">I", raw, at)
        name, body = raw[at + 4 : at + 8], raw[at + 8 : at + 8 + length]
        if len(raw) < at + 12 + length:
            raise _damaged(where, "it is cut off")
        if not name.isalpha():
            raise _damaged(where, "a chunk has no name")
        if struct.unpack_from(">I", raw, at + 8 + length)[0] != zlib.crc32(body, zlib.crc32(name)):
            raise _damaged(where, f"the checksum of its {name.decode('latin-1')} chunk does not hold")
        yield name, body
        if name == b"IEND":
            return
        at += 12 + length


def _header(name: bytes, body: bytes, where: str) -> tuple[int, ...]:
    if name != b"IHDR" or len(body) != 13:
        raise _damaged(where, "its header is missing")
    width, height, depth, kind, packing, filtering, interlaced = struct.unpack(">IIBBBBB", body)
    if not (0 < width < 1 << 31 and 0 < height < 1 << 31) or depth not in _DEPTHS.get(kind, ()):
        raise _damaged(where, "its header is impossible")
    if packing or filtering or interlaced > 1:
        raise _damaged(where, "its header is impossible")
    return width, height, depth, kind, interlaced


def _fits(transparency: bytes, kind: int, palette: bytes) -> bool:
    if kind == 3:
        return len(transparency) <= len(palette) // 3
    return len(transparency) == {0: 2, 2: 6}.get(kind, -1)


def _colour(found: dict[bytes, bytes], *, grey: bool) -> tuple[tuple[tuple[bytes, bytes], ...], str]:
    """The colour chunks made clean, and what they say; malformed ones go, as browsers ignore them too."""
    kept: dict[bytes, bytes] = {name: body for name, body in found.items() if len(body) == _LENGTHS.get(name)}
    if kept.get(b"gAMA") == b"\0\0\0\0":
        del kept[b"gAMA"]
    profile = _unpacked(found[b"iCCP"]) if b"iCCP" in found else None
    clean = colour_only(profile, grey=grey) if profile is not None else None
    if profile is not None and clean is not None:
        kept[b"iCCP"] = profile_chunk(clean)[1]
    return tuple((name, kept[name]) for name in _ORDER if name in kept), _said(kept, profile)


def _said(kept: dict[bytes, bytes], profile: bytes | None) -> str:
    if b"cICP" in kept:
        code = "/".join(str(value) for value in kept[b"cICP"])
        return SRGB if code == "1/13/0/1" else f"cICP {code}"
    if b"iCCP" in kept and profile is not None:
        return described(profile)
    if b"sRGB" in kept:
        return SRGB
    if b"gAMA" in kept:
        gamma = struct.unpack(">I", kept[b"gAMA"])[0] / 100_000
        return f"gAMA {gamma:g}" + (" with cHRM" if b"cHRM" in kept else "")
    return "cHRM" if b"cHRM" in kept else "untagged"


def _unpacked(body: bytes) -> bytes | None:
    """The ICC profile in an iCCP chunk, or None where it is malformed."""
    _, separator, rest = body[:81].partition(b"\0")
    if not separator or not rest or rest[0] != 0:
        return None
    unpacker = zlib.decompressobj()
    try:
        profile = unpacker.decompress(body[body.index(b"\0") + 2 :], _MOST_PROFILE)
    except zlib.error:
        return None
    return profile if unpacker.eof else None


def _damaged(where: str, reason: str) -> BadImage:
    return BadImage(f"{where}: damaged PNG, {reason}; save the picture again", where=where)
