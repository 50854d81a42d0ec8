"""Named float32 arrays kept in a folder under a key, whole or not at all; what is damaged counts as not kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..tables import whole_file

__all__ = ["Kept"]

_MAGIC = b"paragone arrays 1\n"
_DIGEST = 32  # bytes of a SHA-256


@dataclass(frozen=True)
class Kept:
    """A folder of kept arrays. One file a key: a mark, the SHA-256 of the rest, a line of JSON, the numbers."""

    folder: Path

    def __contains__(self, key: str) -> bool:
        """Whether a file stands under the key; whether it is sound shows when it is read."""
        return self.path(key).is_file()

    def path(self, key: str) -> Path:
        """Where the arrays of that key are, or would be."""
        name = hashlib.sha256(key.encode()).hexdigest()
        return self.folder / name[:2] / f"{name}.arrays"

    def read(self, key: str) -> dict[str, NDArray[np.float32]] | None:
        """Give the arrays of that key, read-only; None where there are none, or a file was damaged or is another's."""
        try:
            content = self.path(key).read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST
        rest = memoryview(content)[start:]
        if content[:start] != _MAGIC + hashlib.sha256(rest).digest():
            return None
        at = content.index(b"\n", start) + 1
        header = json.loads(content[start:at])
        if header["key"] != key:
            return None
        arrays = {}
        for name, shape in header["arrays"]:
            count = int(np.prod(shape))
            arrays[name] = np.frombuffer(content, dtype="<f4", count=count, offset=at).reshape(shape)
            at += 4 * count
        return arrays

    def write(self, key: str, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep arrays under a key, in place of what was there.

        Raises:
            OSError: the disk is full, or the folder cannot be written to.
        """
        plain = {name: np.ascontiguousarray(one, dtype="<f4") for name, one in arrays.items()}
        header = {"key": key, "arrays": [[name, list(one.shape)] for name, one in plain.items()]}
        rest = b"".join([json.dumps(header).encode(), b"\n", *(one.tobytes() for one in plain.values())])
        with whole_file(self.path(key)) as aside:
            aside.write_bytes(_MAGIC + hashlib.sha256(rest).digest() + rest)
