"""Pictures for tuning: decoded once, at one shorter side, in 8 bits; crops are cut out of them."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BadImage, BadInput
from ...images import decode_image, read_bytes, resize, to_uint8
from ...parallel import spread, track
from .settings import TunedSettings

__all__ = ["Prepared", "Read", "cut", "prepare", "random_place", "read_prepared", "test_places"]

Bytes = NDArray[np.uint8]

_CHUNK = 32  # pictures that are held at once while a set is prepared


class Read(NamedTuple):
    """One picture at the size it is cropped from, or why there is none."""

    values: Bytes
    """(h, w, 3) sRGB in 0..255; empty where there is a fault."""
    sha256: str
    """SHA-256 of the file, in hex."""
    fault: str
    """One line; '' where all is well."""


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A set of pictures in one temporary file, which goes when the object goes: memory stays small."""

    items: tuple[str, ...]
    shapes: tuple[tuple[int, int], ...]
    """Height and width of each, in pixels."""
    starts: tuple[int, ...]
    """Where each begins in `values`."""
    values: Bytes
    """All of them one behind the other, mapped from the file."""
    sha256: tuple[str, ...]
    """SHA-256 of each picture's own file."""

    def picture(self, index: int) -> Bytes:
        """(h, w, 3) of one picture, not to be written into."""
        height, width = self.shapes[index]
        start = self.starts[index]
        return self.values[start : start + height * width * 3].reshape(height, width, 3)


def read_prepared(path: str | Path, settings: TunedSettings) -> Read:
    """Read a picture and bring its shorter side to `settings.resize`; what cannot be read comes back with its fault."""
    try:
        raw = read_bytes(path)
        picture = decode_image(raw, where=str(path))
    except BadInput as error:  # not there, or not to be read
        return Read(np.empty((0, 0, 3), dtype=np.uint8), "", error.message)
    height, width = picture.shape[:2]
    scale = settings.resize / min(height, width)
    sides = (max(settings.resize, round(height * scale)), max(settings.resize, round(width * scale)))
    made = to_uint8(resize(picture, *sides, resizer=settings.resizer))
    return Read(made, hashlib.sha256(raw).hexdigest(), "")


def prepare(
    images: Mapping[str, str | Path], settings: TunedSettings, *, jobs: int = 1, quiet: bool = True
) -> Prepared:
    """Decode every picture once.

    Args:
        images: item -> its file.
        settings: size and resizer.
        jobs: processes that decode.
        quiet: show no progress.

    Raises:
        BadImage: some picture cannot be read; the line counts them and names the first ones. What is trained on must be
            whole: mend them, or leave them out.
    """
    items = tuple(sorted(images))
    shapes: list[tuple[int, int]] = []
    digests: list[str] = []
    faults: list[str] = []
    read = partial(read_prepared, settings=settings)
    chunks = [items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK)]
    with tempfile.TemporaryFile() as file:  # the mapping keeps it alive after it is closed
        for chunk in track(chunks, "decoding pictures", quiet=quiet):
            for item, one in zip(chunk, spread(read, [images[item] for item in chunk], jobs=jobs), strict=True):
                faults += [f"item '{item}': {one.fault}"] if one.fault else []
                shapes.append((one.values.shape[0], one.values.shape[1]))
                digests.append(one.sha256)
                file.write(one.values.tobytes())
        if faults:
            more = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
            raise BadImage(
                f"{len(faults)} of {len(items)} pictures to train on cannot be read: {'; '.join(faults[:3])}{more}; mend "
                "them or leave these items out",
                where="images",
            )
        file.flush()
        values: Bytes = np.memmap(file, dtype=np.uint8, mode="r") if items else np.empty(0, dtype=np.uint8)
    sizes = np.array([3 * height * width for height, width in shapes], dtype=np.int64)
    starts = tuple(int(start) for start in np.cumsum(sizes) - sizes)
    return Prepared(items=items, shapes=tuple(shapes), starts=starts, values=values, sha256=tuple(digests))


def random_place(shape: Sequence[int], crop: int, *, seed: int, epoch: int, index: int) -> tuple[int, int]:
    """Top and left of a random crop: a function of seed, epoch and picture alone, so it can be drawn anew at any time."""
    rng = np.random.default_rng([seed, 1, epoch, index])
    return int(rng.integers(shape[0] - crop + 1)), int(rng.integers(shape[1] - crop + 1))


def test_places(shape: Sequence[int], settings: TunedSettings) -> list[tuple[int, int]]:
    """Top and left of each test crop: the centre, and before it the four corners where five are wanted."""
    down, right = shape[0] - settings.crop, shape[1] - settings.crop
    corners = [(0, 0), (0, right), (down, 0), (down, right)] if settings.test_crops == "five" else []
    return [*corners, (down // 2, right // 2)]


def cut(picture: Bytes, place: tuple[int, int], crop: int) -> Bytes:
    """(crop, crop, 3) of a picture, from a top left corner on."""
    return picture[place[0] : place[0] + crop, place[1] : place[1] + crop]
