"""Letters in place of the names of what is compared, until an admin unblinds the study."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping

__all__ = ["Blind", "letters"]


class Blind:
    """Names as the desk may show them.

    Args:
        key: secret of the study; the letters follow from it and say nothing about the names.
        names: factor -> its levels; 'item' for items.
        off: show the names.
    """

    def __init__(self, key: bytes, names: Mapping[str, Iterable[str]], *, off: bool) -> None:
        self.off = off
        self._shown: dict[tuple[str, str], str] = {}
        for factor, levels in names.items():
            turn = sorted(set(levels), key=lambda level: _turn(key, factor, level))
            for place, level in enumerate(turn):
                label = f"item {place + 1}" if factor == "item" else letters(place)
                self._shown[factor, level] = level if off else label

    def __call__(self, factor: str, level: str) -> str:
        """The name to be shown for a level; a factor that is not compared is no secret and keeps its own."""
        return self._shown.get((factor, level), level)


def letters(place: int) -> str:
    """A, B, ..., Z, AA, AB, ... for 0, 1, ..."""
    said = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        said = chr(ord("A") + rest) + said
    return said


def _turn(key: bytes, factor: str, level: str) -> bytes:
    return hmac.new(key, f"paragone blind\n{factor}\n{level}".encode(), hashlib.sha256).digest()
