"""References made ready: upright 8-bit RGB PNGs of a stated size in the benchmark's own folder."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import BadConfig, BadImage, BadInput, ParagoneError, TooFew, UnknownName
from ...images import ENDINGS, Picture, read_image, resize, to_uint8, write_image
from ...parallel import track
from ...provenance import digest
from ...settings import read_toml, write_toml
from ..making import Making, ReferenceSet, reference_folder
from ..stylise.manners.samples import SAMPLES, sample_style

__all__ = ["Prepared", "prepare", "reference_files"]

_FIRST = ("content", "style")  # in this order whatever make.toml's is: stylisers and names of results count on it
_SMALLEST = 16  # pixels; what the stylisers need
_LONGEST_NAME = 80  # bytes of a level's name: two of them and the method's marks make a file name


class Prepared(NamedTuple):
    """A reference that is ready."""

    level: str
    path: Path
    """The prepared picture."""
    sha256: str
    """Of the prepared picture's file."""


def prepare(
    making: Making,
    folder: Path,
    *,
    beside: Path | None = None,
    chosen: Mapping[str, tuple[str, ...]] | None = None,
    quiet: bool = True,
) -> dict[str, list[Prepared]]:
    """Write every reference as an upright 8-bit RGB PNG to `references/<factor>/<level>.png`.

    Whatever `read_image` reads is taken: 16 bits, grey, CMYK, alpha (over white), EXIF rotation, the first frame of an
    animation. Pictures that were prepared before from the same file are kept.

    Args:
        making: the record of make.toml.
        folder: the benchmark's folder.
        beside: where make.toml lies; None: `folder`.
        chosen: factor -> levels to take, where they were selected; else all, or what make.toml lists.
        quiet: show no progress.

    Returns:
        Factor -> references in order.

    Raises:
        NotFound: no such folder.
        TooFew: a folder without pictures.
        UnknownName: a level that is listed but not there.
        BadConfig: the originals lie where prepared pictures go.
        BadInput: pictures that cannot be read, are too small, or share a name; all of them in one line. Or one
            picture has two names.
    """
    ready: dict[str, list[Prepared]] = {}
    mark = folder / "references" / "prepared.toml"
    before = read_toml(mark) if mark.is_file() else {}
    after: dict[str, str] = {}
    faults: list[str] = []
    for factor, wanted in making.reference.items():
        pool = reference_folder(wanted.folder, beside or folder).resolve()
        if pool.is_relative_to((folder / "references").resolve()):
            raise BadConfig(
                f"{factor}: folder '{wanted.folder}' lies in references/, where the prepared pictures go; keep the "
                "originals in a folder of another name",
                where=f"reference.{factor}.folder",
            )
        place = folder / "references" / factor
        if place.resolve() != folder.resolve() / "references" / factor:
            raise BadConfig(
                f"'{place}' is a link that leads elsewhere; remove it, so that no picture there is written over",
                where=str(place),
            )
        found = reference_files(factor, wanted, beside or folder, (chosen or {}).get(factor))
        ready[factor] = []
        for level, source in track(list(found.items()), f"preparing {factor}", quiet=quiet):
            target = folder / "references" / factor / f"{level}.png"
            name = f"{factor}/{level}"
            made_from = f"{digest(source) if source else 'sample'} {wanted.longest}"
            try:
                if before.get(name) != f"{made_from} {_digest(target)}":
                    picture = read_image(source) if source else sample_style(level)
                    _replace(target, _fitted(picture, wanted.longest, name), known=name in before)
            except ParagoneError as error:
                faults.append(error.message)
                continue
            sha = digest(target)
            after[name] = f"{made_from} {sha}"
            ready[factor].append(Prepared(level, target, sha))
    if faults:
        more = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
        raise BadInput(f"{len(faults)} references cannot be used: {'; '.join(faults[:3])}{more}", where="reference")
    for factor, prepared in ready.items():
        _no_twins(factor, prepared)
    write_toml(after, mark)
    return {factor: ready[factor] for factor in (*(f for f in _FIRST if f in ready), *ready)}


def reference_files(
    factor: str, wanted: ReferenceSet, beside: Path, chosen: tuple[str, ...] | None = None
) -> dict[str, Path | None]:
    """Return level -> file of one factor's references, in order; None stands for a drawn sample.

    Args:
        factor: for messages.
        wanted: its part of make.toml.
        beside: where make.toml lies.
        chosen: levels to take; None: those that `wanted` lists, or all.

    Raises:
        NotFound, TooFew, UnknownName, BadInput: as `prepare`.
    """
    source = reference_folder(wanted.folder, beside)
    found: dict[str, Path | None] = {}
    folded: dict[str, Path] = {}
    for path in sorted(source.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(source).parts)
        if hidden or path.suffix.lower() not in ENDINGS or not path.is_file():
            continue
        level = unicodedata.normalize("NFC", path.stem)
        if not level.strip():
            raise BadInput(f"'{path.name}' in '{source}' has a name of blanks only; rename it", where=str(path))
        twin = folded.setdefault(level.casefold(), path)
        if twin != path:
            raise BadInput(
                f"'{twin.name}' and '{path.name}' in '{source}' would both be {factor} '{level}'; rename one",
                where=str(path),
            )
        if len(level.encode()) > _LONGEST_NAME:
            raise BadInput(
                f"'{path.name}' in '{source}' has a name of more than {_LONGEST_NAME} bytes; rename it", where=str(path)
            )
        found[level] = path
    for name in wanted.samples:
        if name not in SAMPLES:
            raise UnknownName.among(name, SAMPLES, f"drawn sample for {factor}")
        if name.casefold() in folded:
            raise BadInput(f"{factor} '{name}' is a picture in '{source}' and a drawn sample; name one", where=name)
        found[name] = None
    if not found:
        raise TooFew(
            f"no picture in '{source}' for factor {factor}; pictures end in {', '.join(ENDINGS)}", where=factor
        )
    listed = chosen if chosen is not None else (*wanted.levels, *wanted.samples) if wanted.levels else tuple(found)
    for level in listed:
        if level not in found:
            raise UnknownName.among(level, found, f"{factor} picture in '{source}'")
    if len(set(listed)) < len(listed):
        twice = next(level for level in listed if listed.count(level) > 1)
        raise BadInput(f"{factor} '{twice}' is listed twice", where=factor)
    return {level: found[level] for level in listed}


def _replace(target: Path, picture: Picture, *, known: bool) -> None:
    """Write a prepared picture, but never over one that somebody put there."""
    if target.exists() and not known and not np.array_equal(to_uint8(read_image(target)), to_uint8(picture)):
        raise BadInput(f"'{target}' is there and was not prepared by paragone; move it elsewhere", where=str(target))
    write_image(picture, target)


def _no_twins(factor: str, prepared: Sequence[Prepared]) -> None:
    """Refuse one picture under two names: it would count twice."""
    first: dict[str, str] = {}
    for one in prepared:
        other = first.setdefault(one.sha256, one.level)
        if other != one.level:
            raise BadInput(f"{factor} '{other}' and '{one.level}' are the same picture; keep one", where=factor)


def _digest(path: Path) -> str:
    return digest(path) if path.is_file() else ""


def _fitted(picture: Picture, longest: int, name: str) -> Picture:
    height, width = picture.shape[:2]
    if longest and max(height, width) > longest:
        scale = longest / max(height, width)
        height, width = max(1, round(height * scale)), max(1, round(width * scale))
        picture = resize(picture, height, width, resizer="area")
    if min(height, width) < _SMALLEST:
        raise BadImage(f"{name}: {width} x {height} pixels; a reference needs at least {_SMALLEST} a side", where=name)
    return picture
