"""Thumbnails of judged items, small enough to live inside the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageOps

from ..benchmark import Benchmark

__all__ = ["MOST_BYTES", "MOST_PICTURES", "SIDE", "Thumbnails", "thumbnail_source", "thumbnails"]

SIDE = 160
"""Longest side of a thumbnail in pixels."""
MOST_PICTURES = 200
MOST_BYTES = 6_000_000
"""Bytes of all thumbnails together, before base64 adds a third; our choice: the page stays well below 15 MB."""
_QUALITY = 80


@dataclass(frozen=True)
class Thumbnails:
    """What could be read, and what could not."""

    sources: Mapping[str, str]
    """Item -> data URI of its JPEG."""
    unreadable: Sequence[str]
    """Items whose picture is missing or no picture."""
    left_out: int
    """Items with a picture beyond the limits."""


def thumbnails(benchmark: Benchmark | None, items: Sequence[str]) -> Thumbnails:
    """Make thumbnails of the first items that have a picture.

    Args:
        benchmark: where pictures are found; None: there are none.
        items: the items in order of importance; unknown ones are passed over.

    Returns:
        At most MOST_PICTURES thumbnails and MOST_BYTES.
    """
    if benchmark is None:
        return Thumbnails({}, (), 0)
    images = dict(zip(benchmark.items["item"], benchmark.items["image"], strict=True))
    sources: dict[str, str] = {}
    unreadable: list[str] = []
    used, left_out = 0, 0
    for item in items:
        image = images.get(item)
        if image is None:
            continue
        if len(sources) >= MOST_PICTURES or used >= MOST_BYTES:
            left_out += 1
            continue
        data = _small(benchmark.folder / image)
        if data is None:
            unreadable.append(item)
            continue
        used += len(data)
        sources[item] = _uri(data)
    return Thumbnails(sources, tuple(unreadable), left_out)


def thumbnail_source(path: Path) -> str:
    """Return a picture file's thumbnail as a data URI; empty where it cannot be read."""
    data = _small(path)
    return "" if data is None else _uri(data)


def _uri(data: bytes) -> str:
    return "data:image/jpeg;base64," + base64.b64encode(data).decode("ascii")


def _small(path: Path) -> bytes | None:
    """A JPEG of the picture on white, upright; None where there is no readable picture."""
    target = io.BytesIO()
    try:
        with Image.open(path) as opened:
            opened.draft("RGB", (2 * SIDE, 2 * SIDE))
            picture = ImageOps.exif_transpose(opened)
            picture.thumbnail((SIDE, SIDE))
            if picture.mode != "RGB":
                picture = picture.convert("RGBA")
                paper = Image.new("RGBA", picture.size, "white")
                picture = Image.alpha_composite(paper, picture).convert("RGB")
            picture.save(target, "JPEG", quality=_QUALITY, optimize=True)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return target.getvalue()
