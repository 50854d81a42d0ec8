"""Results that lie ready in a folder: read by a named layout, a pattern or a manifest, against the ids that are known.

A file with no reading, or with several, is listed and never guessed; so are two files for one cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

import msgspec
import numpy as np

from ...errors import BadConfig, BadImage, BadInput, NotFound, UnknownName
from ...images import ENDINGS, Picture, read_image
from ...provenance import digest
from ..cells import Job, Outcome
from ..grid import listed
from .layouts import LAYOUTS, Layout
from .manifest import read_manifest
from .method import Method
from .names import Known, known_names, plain
from .reader import Reader
from .reading import FolderReading, case_notes, gathered, pictures_in, read_names

__all__ = ["FolderMethod", "LayoutRate", "detect_layout", "folder_outcomes", "read_folder", "read_outcomes"]


class FolderMethod(Method, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="folder"):
    """Ready results: `kind = "folder"`. Exactly one of `layout`, `pattern` and `manifest` says how they are named."""

    root: str
    """Folder of the results, relative to the file that names it. No default: nothing can be read without it."""
    layout: str = ""
    """A name of `LAYOUTS`."""
    pattern: str = ""
    """Path below root with placeholders, for example "{style}/{content}_{n}.{ext}"; `*` is anything but '/'."""
    manifest: str = ""
    """Table below root that names each file's cell: .csv, .parquet, .jsonl, .json."""
    fixed: dict[str, str] = msgspec.field(default_factory=dict)
    """Factor -> level that holds for the whole folder, for example {style = "great_wave"}."""
    names: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    """Factor (or "method") -> level -> how the files call it, beside its own id."""
    fold_case: bool = False
    """Upper and lower case count as the same."""
    part: Literal["", "whole", "right_third"] = ""
    """Which part of a file is the result; empty: as the layout says, else the whole."""

    rereads: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class LayoutRate:
    """How well one layout reads a folder."""

    layout: str
    found: int
    """Cells with exactly one file."""
    cells: int
    doubtful: int
    """Cells with several files, and files with several readings."""
    unmatched: int
    """Files that are no cell."""


def read_folder(settings: FolderMethod, jobs: Sequence[Job], *, folder: Path) -> FolderReading:
    """Read which file of a folder is which cell.

    Args:
        settings: where the folder is, and how files are named.
        jobs: every cell of the method, those that are finished among them.
        folder: where `settings.root` starts.

    Raises:
        BadConfig: not exactly one of layout, pattern and manifest; the layout does not fit the benchmark's factors; a
            level that is fixed or named twice.
        UnknownName: no such layout, factor, level or placeholder.
        NotFound: no such folder or manifest.
        BadTable: the manifest is damaged or names files outside root.
    """
    root = folder / settings.root
    known = _known(settings, jobs)
    layout = _layout_of(settings)
    if not root.is_dir():
        raise NotFound.path(root, "folder")
    pictures, skipped = pictures_in(root)
    notes = case_notes(pictures, known)
    if layout is None:
        read = read_manifest(root / settings.manifest, known, fixed=settings.fixed)
        there = {plain(path): path for path in pictures}
        gone = [file for file in read.cells if file not in there]
        if gone:
            notes = (*notes, f"the manifest names {len(gone)} files that are not there: {listed(gone)}")
        cells = {there[file]: (cell,) for file, cell in read.cells.items() if file in there}
        unlisted = {path: "not in the manifest" for path in pictures if path not in cells}
        unmatched = unlisted | {there[file]: why for file, why in read.unmatched.items() if file in there}
        facts = {there[file]: held for file, held in read.facts.items() if file in there}
        return gathered(settings.manifest, root, known, cells, unmatched, skipped, notes=notes, facts=facts)
    reader = Reader(layout, known, root, settings.fixed)
    if not reader.fits:
        raise BadConfig(
            f"layout '{layout.name}' does not tell {' and '.join(known.factors)}; choose another, or write a pattern",
            where="layout",
        )
    return read_names(reader, pictures, skipped, notes)


def detect_layout(
    root: str | Path, jobs: Sequence[Job], *, names: Mapping[str, Mapping[str, str]] | None = None
) -> list[LayoutRate]:
    """Rank the named layouts by how many cells each of them finds in a folder.

    Args:
        root: the folder.
        jobs: every cell of the method.
        names: as `FolderMethod.names`.

    Returns:
        Layouts that find at least one cell, best first: most cells, then fewest doubtful, then fewest unmatched files.

    Raises:
        NotFound: no such folder.
        UnknownName, BadConfig: as `read_folder` for `names`.
    """
    root = Path(root)
    if not root.is_dir():
        raise NotFound.path(root, "folder")
    known = known_names(jobs, aliases=names)
    pictures, skipped = pictures_in(root)
    rates = []
    for layout in LAYOUTS.values():
        reader = Reader(layout, known, root, {})
        if not reader.fits:
            continue
        read = read_names(reader, pictures, skipped, ())
        if read.found or read.duplicates:
            rates.append(
                LayoutRate(
                    layout=layout.name,
                    found=len(read.found),
                    cells=len(read.cells),
                    doubtful=len(read.duplicates) + len(read.ambiguous),
                    unmatched=len(read.unmatched),
                )
            )
    return sorted(rates, key=lambda rate: (-rate.found, rate.doubtful, rate.unmatched))


def folder_outcomes(
    settings: FolderMethod, jobs: Sequence[Job], *, folder: Path, known: Sequence[Job] = (), quiet: bool = True
) -> Iterator[tuple[Job, Outcome]]:
    """Give each cell its file, or say why it has none.

    Args:
        settings: where and how.
        jobs: the cells that are wanted.
        folder: where `settings.root` starts.
        known: every cell of the method; empty: `jobs` are all.
        quiet: has no effect; reading shows no bar.

    Raises:
        BadConfig: root lies among the pictures that the cells become.
        BadInput: no file of the folder is any of the cells; says what was expected, what is there, and which layout
            would read it. Also as `read_folder`.
    """
    del quiet
    _apart(settings, known or jobs, folder)
    if not jobs and not known:
        _layout_of(settings)
        if not (folder / settings.root).is_dir():
            raise NotFound.path(folder / settings.root, "folder")
        return iter(())
    read = read_folder(settings, known or jobs, folder=folder)
    if not read.found and not read.duplicates and not read.ambiguous:
        raise _nothing(read, known or jobs, settings)
    return read_outcomes(read, settings, jobs)


def _apart(settings: FolderMethod, jobs: Sequence[Job], folder: Path) -> None:
    """Refuse a root among the results, or above them: pictures are replaced there."""
    root = (folder / settings.root).resolve()
    for place in {job.target.parent.parent for job in jobs}:
        where = f"method '{jobs[0].method}': root '{settings.root}'"
        if root.is_relative_to(place.resolve()):
            raise BadConfig(
                f"{where} lies in results/, where the checked pictures go; keep the originals in a folder of their own",
                where="root",
            )
        if place.resolve().is_relative_to(root):
            raise BadConfig(
                f"{where} holds results/, where the checked pictures go; name the folder of this method's originals alone",
                where="root",
            )


def read_outcomes(read: FolderReading, settings: FolderMethod, jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
    """Give each cell its file, or say why it has none.

    Args:
        read: what `read_folder` found.
        settings: of the method.
        jobs: the cells that are wanted.
    """
    doubts: dict[tuple[str, ...], list[str]] = {}
    for file, cells in read.ambiguous.items():
        for cell in cells:
            doubts.setdefault(cell, []).append(file)
    part = settings.part or getattr(LAYOUTS.get(settings.layout), "part", "whole")
    for job in jobs:
        cell = tuple(job.levels.values())
        if cell in read.found:
            yield job, _ready(read, read.found[cell], part)
        elif cell in read.duplicates:
            files = " and ".join(f"'{file}'" for file in read.duplicates[cell])
            yield job, Outcome(status="ambiguous", reason=f"several files for this cell: {files}; keep one")
        elif cell in doubts:
            file = doubts[cell][0]
            ways = " or ".join("/".join(way) for way in read.ambiguous[file])
            yield job, Outcome(status="ambiguous", reason=f"'{file}' can be read as {ways}; give a manifest")
        else:
            yield job, Outcome(status="missing", reason=f"no file in '{settings.root}' by {read.layout}")


def _ready(read: FolderReading, file: str, part: str) -> Outcome:
    path = read.root / file
    facts = {"file": file, "layout": read.layout, **read.facts.get(file, {})}
    try:
        facts["file_sha256"] = digest(path)
        picture = _right_third(read_image(path), file) if part == "right_third" else path
    except BadInput as error:
        return Outcome(status="invalid", reason=error.message, facts=facts)
    except OSError as error:
        return Outcome(status="invalid", reason=f"'{file}' cannot be read ({error.strerror})", facts=facts)
    return Outcome(picture=picture, facts=facts | ({"part": part} if part != "whole" else {}))


def _right_third(picture: Picture, file: str) -> Picture:
    width = picture.shape[1]
    if width % 3:
        raise BadImage(f"'{file}' is {width} pixels wide, which is not three pictures side by side", where=file)
    return np.ascontiguousarray(picture[:, 2 * width // 3 :])


def _known(settings: FolderMethod, jobs: Sequence[Job]) -> Known:
    known = known_names(jobs, aliases=settings.names, fold_case=settings.fold_case)
    for factor, level in settings.fixed.items():
        if factor not in known.factors:
            raise UnknownName.among(factor, known.factors, "factor")
        levels = {own for _, own in known.names[factor]}
        if level not in levels:
            raise UnknownName.among(level, levels, factor)
    return known


def _layout_of(settings: FolderMethod) -> Layout | None:
    """The layout that the settings name or spell out; None for a manifest."""
    given = [key for key in ("layout", "pattern", "manifest") if getattr(settings, key)]
    if len(given) != 1:
        raise BadConfig(
            f'kind = "folder" needs exactly one of layout, pattern and manifest; {" and ".join(given) or "none"} given',
            where="layout",
        )
    if settings.layout:
        if settings.layout not in LAYOUTS:
            raise UnknownName.among(settings.layout, LAYOUTS, "layout")
        return LAYOUTS[settings.layout]
    if settings.manifest:
        if PurePosixPath(plain(settings.manifest)).is_absolute() or ".." in plain(settings.manifest).split("/"):
            raise BadConfig(f"manifest '{settings.manifest}' is not below root", where="manifest")
        return None
    pattern = settings.pattern
    ending = next((e for e in (".{ext}", *ENDINGS) if pattern.lower().endswith(e)), "")
    return Layout(
        name=pattern, patterns=(pattern[: len(pattern) - len(ending)],), summary="", source="", anchored=True, own=True
    )


def _nothing(read: FolderReading, jobs: Sequence[Job], settings: FolderMethod) -> BadInput:
    there = [*read.unmatched, *read.skipped]
    if read.unmatched:
        there[0] += f" ({read.unmatched[there[0]]})"
    held = f"it holds {listed(there, 3)}" if there else "it holds no picture"
    cell = "/".join(read.cells[0]) if read.cells else "any cell"
    best = next(iter(detect_layout(read.root, jobs, names=settings.names)), None)
    advice = f"; layout '{best.layout}' would find {best.found} of {best.cells}" if best and best.found else ""
    return BadInput(
        f"no file in '{settings.root}' is a cell such as {cell} by {read.layout}; {held}{advice}", where=settings.root
    )
