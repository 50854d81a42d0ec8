"""Read a file name by ids that are known: every reading there is, and never a guess.

A pattern is text with placeholders in braces. A placeholder that names a factor stands for one of that factor's known
names and for nothing else, so 'great_wave' is never cut at its underscore. A name with no reading, or with several, is
told as such; the caller lists it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import BadConfig, UnknownName
from ..cells import Job
from ..spelled import Part, every_reading

__all__ = ["Known", "cut_at_dots", "known_names", "parts_of", "plain", "readings", "with_endings"]

_FREE = {
    "n": r"\d+",
    "word": r"[A-Za-z]+",
    "sep": r"[-_@+. ]+(?:(?:stylized|stylised|styled|style|in|by|to|and|with|x)[-_@+. ]+)?",
    "tail": r"(?:[-_. ](?:out|output|result|stylized|stylised|final))?",
}
_PLACEHOLDER = re.compile(r"(\{[^{}]*\}|\*)")
_ENDINGS = (".jpeg", ".jpg", ".png", ".webp")


@dataclass(frozen=True, kw_only=True)
class Known:
    """The ids by which names are read."""

    factors: tuple[str, ...]
    """In the order of the cells' levels."""
    cells: frozenset[tuple[str, ...]]
    """Levels of every cell of the method."""
    names: Mapping[str, tuple[tuple[str, str], ...]]
    """Factor, or 'method' -> (name in the files, level), longest name first."""
    references: Mapping[str, Mapping[str, Path]]
    """Factor -> level -> reference picture."""
    fold_case: bool = False
    """Upper and lower case count as the same."""

    def levels(self, factor: str, text: str) -> list[str]:
        """The levels that a text names; usually one or none."""
        text = plain(text, fold_case=self.fold_case)
        return sorted({level for name, level in self.names.get(factor, ()) if name == text})


def plain(text: str, *, fold_case: bool = False) -> str:
    """A name in the form in which names are compared: NFC, '/' between folders, lower case where that is asked for."""
    text = unicodedata.normalize("NFC", text.replace("\\", "/"))
    return unicodedata.normalize("NFC", text.casefold()) if fold_case else text


def known_names(
    jobs: Sequence[Job], *, aliases: Mapping[str, Mapping[str, str]] | None = None, fold_case: bool = False
) -> Known:
    """Collect the ids of a method's cells.

    Args:
        jobs: every cell of the method, those that are finished among them: with fewer ids a name that has two readings
            would seem to have one.
        aliases: factor or 'method' -> level -> how the files call it, beside its own id.
        fold_case: count upper and lower case as the same.

    Raises:
        UnknownName: an alias is given for a factor or level that is not there.
        BadConfig: two levels of a factor have one name, for example after folding case.
    """
    levels: dict[str, dict[str, None]] = {}
    references: dict[str, dict[str, Path]] = {}
    called: dict[str, dict[str, set[str]]] = {}
    for job in jobs:
        levels.setdefault("method", {})[job.method] = None
        for factor, level in job.levels.items():
            levels.setdefault(factor, {})[level] = None
            if factor in job.inputs:
                references.setdefault(factor, {})[level] = job.inputs[factor]
            if factor in job.hints:
                called.setdefault(factor, {}).setdefault(level, set()).add(job.hints[factor])
    for factor, given in (aliases or {}).items():
        if factor not in levels:
            raise UnknownName.among(factor, levels, "factor")
        for level, name in given.items():
            if level not in levels[factor]:
                raise UnknownName.among(level, levels[factor], f"{factor}")
            called.setdefault(factor, {}).setdefault(level, set()).add(name)
    names = {}
    for factor, own in levels.items():
        taken: dict[str, str] = {}
        for level in own:
            for name in {level, *called.get(factor, {}).get(level, ())}:
                text = plain(name, fold_case=fold_case)
                if taken.setdefault(text, level) != level:
                    raise BadConfig(
                        f"names: {factor} '{taken[text]}' and '{level}' would both be read from '{text}'; "
                        "give them different names",
                        where=factor,
                    )
        names[factor] = _longest_first(taken.items())
    return Known(
        factors=tuple(jobs[0].levels) if jobs else (),
        cells=frozenset(tuple(job.levels.values()) for job in jobs),
        names=names,
        references=references,
        fold_case=fold_case,
    )


def cut_at_dots(known: Known) -> Known:
    """The ids with, beside each name, the part before its first dot, as programs leave it that split names there."""
    return _with(known, lambda name: [name.split(".")[0]])


def with_endings(known: Known) -> Known:
    """The ids with, beside each name, the name with the ending of a picture file, as programs leave it that keep it."""
    return _with(known, lambda name: [name + ending for ending in _ENDINGS])


def _with(known: Known, more: Callable[[str], list[str]]) -> Known:
    names = {
        factor: _longest_first({*pairs, *((other, level) for name, level in pairs for other in more(name) if other)})
        for factor, pairs in known.names.items()
    }
    return Known(
        factors=known.factors,
        cells=known.cells,
        names=names,
        references=known.references,
        fold_case=known.fold_case,
    )


def _longest_first(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair)))


def parts_of(pattern: str, known: Known) -> list[Part]:
    """Take a pattern apart.

    Args:
        pattern: text with `{factor}`, `{method}`, `{n}` (digits), `{word}` (letters) and `*` (anything but '/').
        known: the ids; its factors come before the free placeholders of the same name.

    Returns:
        ('text', literal), ('factor', name) and ('free', regular expression), in order.

    Raises:
        BadConfig: a brace without its partner, or a path that leaves the folder.
        UnknownName: a placeholder that is none of these.
    """
    text = plain(pattern)
    if text.startswith("/") or ".." in text.split("/") or re.match(r"[A-Za-z]:", text):
        raise BadConfig(f"pattern '{pattern}' leaves the folder; write it relative to root", where=pattern)
    parts: list[Part] = []
    for piece in _PLACEHOLDER.split(text):
        if piece == "*":
            parts.append(("free", r"[^/]*"))
        elif piece.startswith("{") and piece.endswith("}"):
            name = piece[1:-1]
            if name in known.names:
                parts.append(("factor", name))
            elif name in _FREE:
                parts.append(("free", _FREE[name]))
            else:
                raise UnknownName.among(name, [*known.names, *_FREE], f"placeholder in pattern '{pattern}'")
        elif "{" in piece or "}" in piece:
            raise BadConfig(f"pattern '{pattern}' has a brace without its partner", where=pattern)
        elif piece:
            parts.append(("text", plain(piece, fold_case=known.fold_case)))
    return parts


def readings(text: str, parts: Sequence[Part], known: Known, *, padded: bool = False) -> list[dict[str, str]]:
    """Every way of reading a text by a pattern and the known ids.

    Args:
        text: a path or name without its ending.
        parts: from `parts_of`.
        known: the ids.
        padded: numbers count as the same with and without zeros before them: '00012' is level '12'.

    Returns:
        One mapping of factor (and 'method') to level for each different reading.
    """
    text = plain(text, fold_case=known.fold_case)

    def ends(part: Part, at: int) -> Iterable[tuple[int, str | None]]:
        kind, value = part
        if kind == "factor":
            return named(value, at)
        whole = re.compile(value, re.IGNORECASE)
        return [(end, None) for end in range(at, len(text) + 1) if whole.fullmatch(text, at, end)]

    def named(factor: str, at: int) -> dict[tuple[int, str | None], None]:
        found: dict[tuple[int, str | None], None] = {
            (at + len(name), level): None for name, level in known.names[factor] if text.startswith(name, at)
        }
        digits = re.compile(r"\d+").match(text, at) if padded else None
        if digits:
            number = int(digits.group())
            for name, level in known.names[factor]:
                if name.isdecimal() and int(name) == number:
                    found[digits.end(), level] = None
        return found

    return every_reading(text, parts, ends)
