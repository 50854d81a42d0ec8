"""ICC profiles reduced to what colour is computed from, and named for the researcher.

A profile carries a description, a copyright line, makers' names, a date and any private tag; a browser computes colour
from none of these.
"""

from __future__ import annotations

import hashlib
import struct

__all__ = ["SRGB", "colour_only", "described"]

SRGB = "sRGB"
"""The word for pictures that say they are sRGB."""

_TAGS = frozenset(
    (
        *(b"rXYZ", b"gXYZ", b"bXYZ", b"rTRC", b"gTRC", b"bTRC", b"kTRC"),
        *(b"wtpt", b"bkpt", b"chad", b"lumi", b"cicp"),
        *(b"A2B0", b"A2B1", b"A2B2", b"B2A0", b"B2A1", b"B2A2"),
    )
)
_WORDS = ((4, 8), (24, 36), (40, 44), (48, 64), (80, 128))  # of the header: CMM, date, platform, maker, creator, id
_MOST_TAGS = 100


def colour_only(icc: bytes, *, grey: bool) -> bytes | None:
    """Return a profile with its colour tags only, or None where it is malformed or for other channels.

    Args:
        icc: a profile of version 2 or 4.
        grey: the picture has one colour channel; else three. Browsers ignore a profile for other channels.

    Source:
        ICC.1:2022, "Image technology colour management", sections 7.2, 7.3 and 9.
    """
    tags = _tags(icc)
    if tags is None or icc[16:20] != (b"GRAY" if grey else b"RGB "):
        return None
    kept = {name: body for name, body in tags.items() if name in _TAGS}
    if not kept:
        return None
    head = bytearray(icc[:128])
    for start, end in _WORDS:
        head[start:end] = bytes(end - start)
    places: dict[bytes, int] = {}
    blocks, at = b"", 132 + 12 * len(kept)
    for body in kept.values():
        if body not in places:
            padded = body + bytes(-len(body) % 4)
            places[body] = at
            blocks, at = blocks + padded, at + len(padded)
    table = b"".join(name + struct.pack(">II", places[body], len(body)) for name, body in kept.items())
    head[:4] = struct.pack(">I", at)
    return bytes(head) + struct.pack(">I", len(kept)) + table + blocks


def described(icc: bytes) -> str:
    """Return what a profile calls itself, with the start of its digest; `SRGB` where it says it is sRGB."""
    name = _description((_tags(icc) or {}).get(b"desc", b""))
    if name.lower().startswith("srgb"):
        return SRGB
    return f"ICC '{name or 'unnamed'}' {hashlib.sha256(icc).hexdigest()[:8]}"


def _tags(icc: bytes) -> dict[bytes, bytes] | None:
    if len(icc) < 132 or icc[36:40] != b"acsp":
        return None
    (count,) = struct.unpack_from(">I", icc, 128)
    if not 0 < count <= _MOST_TAGS or len(icc) < 132 + 12 * count:
        return None
    tags = {}
    for place in range(count):
        name, start, size = struct.unpack_from(">4sII", icc, 132 + 12 * place)
        if start + size > len(icc) or size < 8:
            return None
        tags[name] = icc[start : start + size]
    return tags


def _description(tag: bytes) -> str:
    if tag[:4] == b"desc" and len(tag) >= 12:
        text = tag[12 : 12 + struct.unpack_from(">I", tag, 8)[0]].decode("latin-1")
    elif tag[:4] == b"mluc" and len(tag) >= 28:
        size, start = struct.unpack_from(">II", tag, 20)
        text = tag[start : start + size].decode("utf-16-be", errors="replace")
    else:
        text = ""
    return "".join(letter for letter in text if letter.isprintable() and letter != "'")[:60].strip()
