"""The pictures of a study: digests and sizes when it is frozen, sanitised bytes in memory while it is served."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar

from ...errors import BadImage, BadInput, BadTable
from ...images import read_bytes
from .icc import SRGB
from .sanitise import look, sanitised_bytes

__all__ = ["Digest", "PictureCache", "digest_table", "profile_warnings", "profiles"]

_Path = TypeVar("_Path", str, Path)
_DOORS = 16  # so many different pictures may be prepared at once


class Digest(NamedTuple):
    """What the frozen study keeps of a picture file."""

    sha256: str
    """Of the file, in hexadecimal."""
    width: int
    """As shown, in pixels."""
    height: int


class PictureCache:
    """Sanitised bytes of the pictures that were asked for last; safe to use from several threads.

    A picture that several threads want at once is prepared once.

    Args:
        max_bytes: most bytes that are kept; the pictures unused for longest go first.
    """

    def __init__(self, max_bytes: int = 256 << 20) -> None:
        self.max_bytes = max_bytes
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = Lock()
        self._doors = [Lock() for _ in range(_DOORS)]

    @property
    def size(self) -> int:
        """Bytes that are kept now."""
        return self._size

    def picture(self, path: str | Path, sha256: str) -> bytes:
        """Return the sanitised PNG of a picture file.

        Args:
            path: the file.
            sha256: its digest when the study was frozen.

        Raises:
            NotFound: the file is gone.
            BadImage: it has changed, or cannot be shown.
        """

        def made() -> bytes:
            raw = read_bytes(path)
            if hashlib.sha256(raw).hexdigest() != sha256:
                raise BadImage(
                    f"{path}: changed since the study was frozen; put the old file back, or start a new version",
                    where=str(path),
                )
            return sanitised_bytes(raw, where=str(path)).bytes

        return self.made(sha256, made)

    def made(self, key: str, make: Callable[[], bytes]) -> bytes:
        """Return the bytes kept under a key, made now if they are not there.

        Args:
            key: names the bytes fully, for example the digest of a file and what is drawn on it.
            make: called without arguments; must not ask this cache. What it raises is passed on and nothing is kept.
        """
        found = self._found(key)
        if found is not None:
            return found
        with self._doors[hash(key) % _DOORS]:
            found = self._found(key)
            if found is None:
                found = make()
                self._keep(key, found)
            return found

    def _found(self, key: str) -> bytes | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def _keep(self, key: str, made: bytes) -> None:
        if len(made) > self.max_bytes:
            return
        with self._lock:
            self._kept[key] = made
            self._size += len(made)
            while self._size > self.max_bytes:
                self._size -= len(self._kept.popitem(last=False)[1])


def digest_table(paths: Iterable[_Path], *, folder: Path = Path(), decode: bool = False) -> dict[_Path, Digest]:
    """Return digest and size of every picture of a study, or every fault at once.

    Args:
        paths: picture files.
        folder: what relative paths are relative to.
        decode: decode each picture too, which finds damage inside the pixels; about 20 ms a megapixel.

    Returns:
        path as it was given -> digest and size, in the order given.

    Raises:
        BadTable: files are missing or cannot be shown; `faults` has one line for each.
    """
    table: dict[_Path, Digest] = {}
    faults: list[str] = []
    for path in dict.fromkeys(paths):
        try:
            raw = read_bytes(folder / path)
            seen = sanitised_bytes(raw, where=str(path)) if decode else look(raw, where=str(path))
        except BadInput as error:
            faults.append(error.message)
            continue
        table[path] = Digest(hashlib.sha256(raw).hexdigest(), seen.width, seen.height)
    if faults:
        raise BadTable.of_faults("pictures", faults)
    return table


def profiles(paths: Iterable[str | Path], *, folder: Path = Path()) -> list[str]:
    """Return the warnings of `profile_warnings` for picture files.

    Args:
        paths: picture files that can be shown.
        folder: what relative paths are relative to.

    Raises:
        NotFound: no such file.
        BadImage: it cannot be shown.
    """
    return profile_warnings({str(path): look(read_bytes(folder / path), where=str(path)).profile for path in paths})


def profile_warnings(said: Mapping[str, str]) -> list[str]:
    """Return warnings about colour: pictures that browsers will show otherwise than the rest.

    Pictures without colour information are shown as sRGB and count as such.

    Args:
        said: name of each picture to what its file says about colour, as in `Picture.profile`.

    Returns:
        Lines for the researcher; none where all pictures are sRGB.
    """
    counts = Counter(SRGB if profile == "untagged" else profile for profile in said.values())
    lines = []
    if len(counts) > 1:
        parts = ", ".join(f"{count} {profile}" for profile, count in counts.most_common(6))
        more = f", and {len(counts) - 6} more kinds" if len(counts) > 6 else ""
        lines.append(
            f"pictures have {len(counts)} different colour profiles ({parts}{more}); browsers show each in its own way, "
            "so convert all to sRGB unless that is what you study"
        )
    by_gamma = [path for path, profile in said.items() if profile.startswith(("gAMA", "cHRM"))]
    if by_gamma:
        lines.append(
            f"{_some(by_gamma, said)} a gAMA or cHRM chunk and no sRGB one; browsers change their colours by it, other "
            "programs do not: save them as sRGB"
        )
    wide = [path for path, profile in said.items() if profile.startswith("cICP")]
    if wide:
        lines.append(
            f"{_some(wide, said)} a cICP chunk; older browsers ignore it, and what it shows depends on the screen"
        )
    return lines


def _some(some: list[str], every: Mapping[str, str]) -> str:
    return f"{len(some)} of {len(every)} pictures, for example '{some[0]}', have"
