"""Bare pictures, without a benchmark folder: list them, name them, find their references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ..benchmark import Benchmark
from ..errors import NotFound, TooFew
from ..images import ENDINGS

__all__ = ["Listed", "from_files"]


class Listed(NamedTuple):
    """A benchmark in memory, and what was left out on the way."""

    benchmark: Benchmark
    """Items with a factor for each kind of reference; an item whose reference was not found has no level (null)."""
    skipped: tuple[str, ...]
    """Files in the folders that do not end as pictures do, one path each."""


def from_files(
    paths: str | Path | Sequence[str | Path],
    *,
    content: str | Path | None = None,
    style: str | Path | None = None,
    references: Mapping[str, str | Path] | None = None,
    name: str = "files",
) -> Listed:
    """Make a benchmark of picture files.

    An item is named by its file without folder and ending; below a folder that was given, by its path in it without
    ending ('wave/cat'). Where two would share a name, both keep the ending, and failing that the whole path. A file
    given twice is one item.

    The reference of an item is the one picture in the reference folder
    1. with the item's path or file name (endings aside): `out/cat.png` has `content/cat.jpg`; or else
    2. whose file name stands in the item's path as a whole word: `cat_stylized_wave.png` and `wave/cat.png` have
       `content/cat.jpg` and `style/wave.png`. Words end at anything but letters and digits, and a name that holds
       another one counts alone (`cat_2` before `cat`). If several remain, the item has none: nothing is guessed.

    Args:
        paths: a picture, a folder (searched with all its subfolders), or several of both.
        content: folder of content references, or one picture that is the reference of all.
        style: the same for style references.
        references: further factors, factor -> folder or picture.
        name: name of the benchmark.

    Returns:
        The benchmark (paths as they were given, relative to the current folder) and the files that were skipped.

    Raises:
        NotFound: a path does not exist.
        TooFew: there is no picture among the paths.
    """
    found, skipped = _listed([paths] if isinstance(paths, (str, Path)) else list(paths))
    if not found:
        raise TooFew(f"no picture in {_some(paths)}; pictures end in {', '.join(ENDINGS)}", where=_some(paths))
    names = _named(found)
    columns: dict[str, list[str] | list[str | None]] = {"item": names, "image": [path.as_posix() for path, _ in found]}
    rows: list[tuple[str, str, str]] = []
    wanted = {"content": content, "style": style, **(references or {})}
    for factor, source in wanted.items():
        if source is None:
            continue
        levels = _levels(Path(source), factor)
        columns[factor] = [_reference(item, levels, all_of=Path(source).is_file()) for item in names]
        rows += [(factor, level, path.as_posix()) for level, path in levels.items() if level in columns[factor]]
    made = Benchmark(
        pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)),
        pl.DataFrame(rows, schema=dict.fromkeys(("factor", "level", "image"), pl.String), orient="row"),
        name=name,
    )
    return Listed(made, tuple(skipped))


def _some(paths: str | Path | Sequence[str | Path]) -> str:
    names = [str(paths)] if isinstance(paths, (str, Path)) else [str(path) for path in paths]
    return ", ".join(f"'{one}'" for one in names[:3]) + (", ..." if len(names) > 3 else "")


def _listed(paths: Sequence[str | Path]) -> tuple[list[tuple[Path, Path]], list[str]]:
    """(file, its path below what was given) of each picture once, in the order of naming; and what was skipped."""
    found: dict[Path, tuple[Path, Path]] = {}
    skipped = []
    for path in map(Path, paths):
        if path.is_dir():
            for file in sorted(path.rglob("*")):
                below = file.relative_to(path)
                if any(part.startswith(".") for part in below.parts) or not file.is_file():
                    continue
                if file.suffix.lower() in ENDINGS:
                    found.setdefault(file.resolve(), (file, below))
                else:
                    skipped.append(file.as_posix())
        elif path.exists():
            found.setdefault(path.resolve(), (path, Path(path.name)))
        else:
            raise NotFound.path(path, "picture or folder")
    return list(found.values()), skipped


def _named(found: Sequence[tuple[Path, Path]]) -> list[str]:
    """A unique name for each file: as short as the others allow."""
    choices = [
        (below.with_suffix("").as_posix(), below.as_posix(), path.with_suffix("").as_posix(), path.as_posix())
        for path, below in found
    ]
    length = [0] * len(found)
    while True:
        names = [choice[step] for choice, step in zip(choices, length, strict=True)]
        counts = Counter(names)
        clash = [place for place, name in enumerate(names) if counts[name] > 1 and length[place] < 3]
        if not clash:
            return names
        for place in clash:
            length[place] += 1


def _levels(source: Path, factor: str) -> dict[str, Path]:
    """Level -> picture of a folder of references, or of one picture."""
    if not source.exists():
        raise NotFound.path(source, f"{factor} picture or folder")
    found, _ = _listed([source])
    if not found:
        raise TooFew(f"no {factor} picture in '{source}'; pictures end in {', '.join(ENDINGS)}", where=str(source))
    return {level: path for level, (path, _) in zip(_named(found), found, strict=True)}


def _reference(item: str, levels: Mapping[str, Path], *, all_of: bool) -> str | None:
    """The level of the one reference that belongs to the item, or None."""
    if all_of:
        return next(iter(levels))
    last = item.rpartition("/")[2]
    for exact in (item, last):
        if exact in levels:
            return exact
    same = [level for level, path in levels.items() if path.stem in (last, Path(last).stem)]
    if len(same) == 1:
        return same[0]
    inside = [(level, path.stem) for level, path in levels.items() if _is_word(path.stem, item)]
    longest = [
        level for level, stem in inside if not any(stem != other and _is_word(stem, other) for _, other in inside)
    ]
    return longest[0] if len(longest) == 1 else None


def _is_word(word: str, text: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", text) is not None
