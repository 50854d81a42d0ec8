"""A benchmark out of a folder of pictures whose names follow a pattern.

`{method}/{content}_stylized_{style}.png` reads three factors out of every path; `*` stands for anything that is no
factor. A name that can be read in two ways is never guessed: levels known from reference pictures decide, or the file is
listed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import polars as pl

from ..benchmark import Benchmark
from ..design.checks import BROKEN
from ..errors import BadConfig, BadInput, NotFound, UnknownName
from .grid import listed
from .spelled import Part, every_reading

__all__ = ["Survey", "new_benchmark", "survey"]

_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_BROKEN_FILE = re.compile(r"(^|/)checks/broken_\d+\.png$")  # what `with_broken` writes is no result
_TAKEN = ("item", "image", "of", "level", "criterion", "score", BROKEN)


@dataclass(frozen=True)
class Survey:
    """What a pattern finds in a folder."""

    factors: tuple[str, ...]
    """Placeholders of the pattern, in order."""
    found: dict[str, dict[str, str]]
    """Path (relative, with '/') -> factor -> level; only files that are read in exactly one way."""
    ambiguous: dict[str, list[dict[str, str]]]
    """Path -> its readings, where there are several."""
    unmatched: list[str]
    """Other picture files of the folder, references left out, sorted."""
    references: pl.DataFrame
    """Columns factor, level, image."""
    missing_references: dict[str, list[str]]
    """Factor with a reference pattern -> levels without a picture."""

    @property
    def text(self) -> str:
        """A few plain lines for the terminal."""
        lines = [f"{len(self.found)} pictures match; factors: {', '.join(self.factors)}"]
        if self.references.height:
            lines.append(f"{self.references.height} reference pictures")
        for factor, levels in self.missing_references.items():
            if levels:
                lines.append(f"no {factor} picture for {listed(levels)}")
        if self.ambiguous:
            lines.append(f"{len(self.ambiguous)} can be read in several ways: {listed(list(self.ambiguous))}")
        if self.unmatched:
            lines.append(f"{len(self.unmatched)} other pictures: {listed(self.unmatched)}")
        return "\n".join(lines)


def new_benchmark(
    pattern: str,
    *,
    folder: str | Path = ".",
    criteria: tuple[str, ...] | list[str] = (),
    references: Mapping[str, str] | None = None,
    name: str = "",
    found: Survey | None = None,
) -> Benchmark:
    """Return a benchmark whose items are the pictures that match a pattern.

    Args:
        pattern: path below the folder with a placeholder per factor, for example
            '{method}/{content}_stylized_{style}.png'; `*` stands for any part of a file or folder name.
        folder: where the pictures lie; picture paths are kept relative to it.
        criteria: what is judged.
        references: factor -> pattern of its reference pictures with that one placeholder, for example
            {'content': 'contents/{content}.jpg'}.
        name: name of the benchmark; empty: the folder's name.
        found: the result of `survey` with the same arguments, to save looking twice.

    Returns:
        Items sorted by id (levels joined by '/'), factors in the pattern's order.

    Raises:
        BadConfig: the pattern has no placeholder, an unnamed, unbalanced or adjacent one, or a name that is taken; or a
            criterion stands twice.
        NotFound: the folder does not exist.
        BadInput: nothing matches, two files have the same levels, or a file can be read in several ways.
        UnknownName: references are given for a factor that the pattern does not have.
    """
    folder = Path(folder)
    if len(set(criteria)) < len(criteria):
        raise BadConfig(f"criteria {', '.join(criteria)}: one stands twice", where="criteria")
    seen = found or survey(pattern, folder=folder, references=references)
    if seen.ambiguous:
        path, readings = next(iter(seen.ambiguous.items()))
        ways = " or ".join("/".join(reading.values()) for reading in readings[:3])
        raise BadInput(
            f"'{path}' can be read as {ways} ({len(seen.ambiguous)} such files); give reference pictures, whose names "
            "decide, or a pattern with clearer separators",
            where=path,
        )
    if not seen.found:
        others = f"; it holds {listed(seen.unmatched)}" if seen.unmatched else "; it holds no picture"
        raise BadInput(f"no picture in '{folder}' matches '{pattern}'{others}", where=pattern)
    rows: dict[str, dict[str, str]] = {}
    for path, levels in seen.found.items():
        item = "/".join(levels.values())
        if item in rows:
            raise BadInput(
                f"'{rows[item]['image']}' and '{path}' both are item '{item}'; let the pattern say what differs",
                where=path,
            )
        rows[item] = {"item": item, "image": path, **levels}
    items = pl.DataFrame([rows[item] for item in sorted(rows)])
    return Benchmark(
        items, seen.references, name=name or folder.resolve().name, criteria=tuple(criteria), folder=folder
    )


def survey(pattern: str, *, folder: str | Path = ".", references: Mapping[str, str] | None = None) -> Survey:
    """Return what a pattern finds in a folder, and what it does not.

    Args:
        pattern, folder, references: as in `new_benchmark`.

    Raises:
        BadConfig, NotFound, UnknownName: as in `new_benchmark`.
    """
    folder = Path(folder)
    parts = _parts(pattern)
    factors = tuple(dict.fromkeys(name for kind, name in parts if kind == "factor"))
    if not factors:
        raise BadConfig(
            f"pattern '{pattern}' has no placeholder; write factors in braces, as {{method}}", where=pattern
        )
    if not folder.is_dir():
        raise NotFound.path(folder, "folder")
    pictures = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in _ENDINGS
        and path.is_file()
        and not path.name.startswith(".")
        and not _BROKEN_FILE.search(path.as_posix())
    )
    shown: dict[str, dict[str, str]] = {}
    for factor, reference in (references or {}).items():
        if factor not in factors:
            raise UnknownName.among(factor, factors, "factor in the pattern")
        shown[factor] = _levels_shown(factor, reference, pictures)
    taken = {path for levels in shown.values() for path in levels.values()}
    found: dict[str, dict[str, str]] = {}
    ambiguous: dict[str, list[dict[str, str]]] = {}
    unmatched = []
    for path in pictures:
        readings = [] if path in taken else _readings(path, parts)
        known = [r for r in readings if all(r[factor] in levels for factor, levels in shown.items())]
        readings = known or readings
        if len(readings) == 1:
            found[path] = readings[0]
        elif readings:
            ambiguous[path] = readings
        elif path not in taken:
            unmatched.append(path)
    used = {factor: sorted({levels[factor] for levels in found.values()}) for factor in factors}
    table = [
        {"factor": factor, "level": level, "image": levels[level]}
        for factor, levels in shown.items()
        for level in used[factor]
        if level in levels
    ]
    return Survey(
        factors,
        found,
        ambiguous,
        unmatched,
        pl.DataFrame(table, schema={"factor": pl.String, "level": pl.String, "image": pl.String}),
        {factor: [level for level in used[factor] if level not in levels] for factor, levels in shown.items()},
    )


def _parts(pattern: str) -> list[Part]:
    """The pattern as ('text', ...), ('factor', name) and ('any', '*'), in order."""
    parts: list[Part] = []
    pattern = unicodedata.normalize("NFC", pattern).removeprefix("./")
    for text in re.split(r"(\{[^{}]*\}|\*+)", pattern):
        if text.startswith("{") and text.endswith("}"):
            name = text[1:-1]
            if not name:
                raise BadConfig(
                    f"pattern '{pattern}' has a placeholder without a name; write {{method}}", where=pattern
                )
            if not _NAME.fullmatch(name):
                raise BadConfig(
                    f"pattern '{pattern}': '{name}' cannot name a factor; use lower-case letters, digits and _",
                    where=name,
                )
            if name in _TAKEN:
                raise BadConfig(f"pattern '{pattern}': the name '{name}' is taken; choose another", where=name)
            parts.append(("factor", name))
        elif text.startswith("*"):
            parts.append(("any", text))
        elif "{" in text or "}" in text:
            raise BadConfig(f"pattern '{pattern}' has a brace without its partner", where=pattern)
        elif text:
            parts.append(("text", text))
        if len(parts) > 1 and text and parts[-1][0] != "text" and parts[-2][0] != "text":
            raise BadConfig(
                f"pattern '{pattern}' has two placeholders side by side; put text between them",
                where=pattern,
            )
    if PurePosixPath(pattern).is_absolute() or ".." in PurePosixPath(pattern).parts:
        raise BadConfig(f"pattern '{pattern}' leaves the folder; write it relative to the folder", where=pattern)
    return parts


def _readings(path: str, parts: list[Part]) -> list[dict[str, str]]:
    """Every way of reading a path by the pattern; a placeholder holds at least one character and no '/'."""
    text = unicodedata.normalize("NFC", path)

    def ends(part: Part, at: int) -> Iterator[tuple[int, str | None]]:
        stop = text.find("/", at)
        named = part[0] == "factor"
        for end in range(at + named, (len(text) if stop < 0 else stop) + 1):
            yield end, text[at:end] if named else None

    return every_reading(text, parts, ends)


def _levels_shown(factor: str, pattern: str, pictures: list[str]) -> dict[str, str]:
    """Level -> reference picture."""
    parts = _parts(pattern)
    named = {name for kind, name in parts if kind == "factor"}
    if named != {factor}:
        raise BadConfig(
            f"reference pattern '{pattern}' must hold the placeholder {{{factor}}} and no other", where=pattern
        )
    levels: dict[str, str] = {}
    for path in pictures:
        for reading in _readings(path, parts):
            level = reading[factor]
            if levels.setdefault(level, path) != path:
                raise BadInput(
                    f"'{levels[level]}' and '{path}' both show {factor} '{level}'; keep one or narrow the pattern",
                    where=path,
                )
    return levels
