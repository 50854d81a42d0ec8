"""What a folder holds of a method's cells: its pictures, each read, and what came of it."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import BadInput
from ...images import ENDINGS
from ..grid import CellGrid, listed
from .names import Known, plain
from .reader import Reader

__all__ = ["FolderReading", "case_notes", "gathered", "grid_of", "pictures_in", "read_names"]

_NO_RESULT = re.compile(r"(?:.*/)?(?:grid(?:[-_ ]?\d+)?|.*[-_]grid)", re.IGNORECASE)
_ITERATE = re.compile(r"(.+?)[-_]?(?:iter(?:ation)?[-_]?)?\d+")
_SYSTEM = ("thumbs.db", "desktop.ini", ".ds_store")
_MOST_FILES = 1_000_000  # our choice: more is a mistyped root


@dataclass(frozen=True, kw_only=True)
class FolderReading:
    """What a folder holds of a method's cells; paths are relative to root, with '/'."""

    layout: str
    """Name of the layout, or the pattern or manifest."""
    root: Path
    cells: tuple[tuple[str, ...], ...]
    """Levels of every cell that was looked for, sorted."""
    found: Mapping[tuple[str, ...], str]
    """Cell -> its one file."""
    duplicates: Mapping[tuple[str, ...], tuple[str, ...]]
    """Cell -> its files, where there are several; none of them is taken."""
    ambiguous: Mapping[str, tuple[tuple[str, ...], ...]]
    """File that can be read as several cells -> those."""
    unmatched: Mapping[str, str]
    """File that is no cell -> why."""
    skipped: Mapping[str, str]
    """File that belongs to the layout and is no result -> why."""
    notes: tuple[str, ...] = ()
    """What is odd about the folder, one line each, such as names that differ only in case."""
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """File -> what its manifest says beside the cell."""

    @property
    def missing(self) -> tuple[tuple[str, ...], ...]:
        """Cells without any file."""
        doubtful = {cell for cells in self.ambiguous.values() for cell in cells}
        return tuple(c for c in self.cells if c not in self.found and c not in self.duplicates and c not in doubtful)

    @property
    def rate(self) -> float:
        """Part of the cells with exactly one file, 0 to 1; 0 where there are no cells."""
        return len(self.found) / len(self.cells) if self.cells else 0.0

    @property
    def text(self) -> str:
        """A few plain lines for the terminal."""
        lines = [f"layout {self.layout}: {len(self.found)} of {len(self.cells)} cells have one file"]
        for what, own in (
            ("without a file", ["/".join(cell) for cell in self.missing]),
            ("with several files", [f"{'/'.join(c)} ({' and '.join(f)})" for c, f in self.duplicates.items()]),
            ("files that can be read in several ways", list(self.ambiguous)),
            ("files that are no cell", [f"{file} ({why})" for file, why in self.unmatched.items()]),
        ):
            if own:
                lines.append(f"{len(own)} {what}: {listed(own)}")
        if self.skipped:
            reasons = Counter(self.skipped.values())
            lines.append("skipped: " + ", ".join(f"{n} {why}" for why, n in sorted(reasons.items())))
        return "\n".join([*lines, *self.notes])


def read_names(
    reader: Reader, pictures: Sequence[str], skipped: Mapping[str, str], notes: tuple[str, ...]
) -> FolderReading:
    cells: dict[str, tuple[tuple[str, ...], ...]] = {}
    unmatched: dict[str, str] = {}
    skipped = dict(skipped)
    stems = {path.rpartition(".")[0] for path in pictures}
    skip = re.compile(reader.layout.skip) if reader.layout.skip else None
    for path in pictures:
        found, why = reader.read(path)
        stem = path.rpartition(".")[0]
        iterate = _ITERATE.fullmatch(stem)
        if found:
            cells[path] = tuple(sorted(found))
        elif skip and skip.fullmatch(plain(stem)):
            skipped[path] = "inputs and intermediate pictures"
        elif _NO_RESULT.fullmatch(plain(stem)):
            skipped[path] = "grids"
        elif iterate and iterate.group(1) in stems:
            skipped[path] = "iterates of another file"
        else:
            unmatched[path] = why
    return gathered(reader.layout.name, reader.root, reader.known, cells, unmatched, skipped, notes=notes)


def gathered(
    layout: str,
    root: Path,
    known: Known,
    cells: Mapping[str, tuple[tuple[str, ...], ...]],
    unmatched: Mapping[str, str],
    skipped: Mapping[str, str],
    *,
    notes: tuple[str, ...],
    facts: Mapping[str, Mapping[str, Any]] | None = None,
) -> FolderReading:
    files: dict[tuple[str, ...], list[str]] = {}
    unmatched = dict(unmatched)
    for path, readable in cells.items():
        if len(readable) == 1:
            if readable[0] in known.cells:
                files.setdefault(readable[0], []).append(path)
            else:
                unmatched[path] = f"{'/'.join(readable[0])} is no cell of this benchmark"
    return FolderReading(
        layout=layout,
        root=root,
        cells=tuple(sorted(known.cells)),
        found={cell: own[0] for cell, own in files.items() if len(own) == 1},
        duplicates={cell: tuple(own) for cell, own in files.items() if len(own) > 1},
        ambiguous={path: readable for path, readable in cells.items() if len(readable) > 1},
        unmatched=unmatched,
        skipped=dict(skipped),
        notes=notes,
        facts=facts or {},
    )


def pictures_in(root: Path) -> tuple[list[str], dict[str, str]]:
    """Return the picture files below a folder, sorted, and what was left out; linked folders are not entered.

    Raises:
        BadInput: a folder cannot be read, or there are more than a million pictures.
    """
    pictures, skipped = [], {}
    for folder, folders, files in os.walk(root, onerror=_unreadable, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__MACOSX")
        for name in files:
            path = (Path(folder) / name).relative_to(root).as_posix()
            if not _is_text(path):
                skipped[path.encode("utf-8", "backslashreplace").decode()] = "names that are no UTF-8"
                continue
            if name.startswith(".") or name.lower() in _SYSTEM:
                skipped[path] = "files of the system"
            elif name.lower().endswith(ENDINGS) and _never_ends(Path(folder) / name):
                skipped[path] = "pipes and devices"
            elif name.lower().endswith(ENDINGS):
                pictures.append(path)
        if len(pictures) > _MOST_FILES:
            raise BadInput(
                f"'{root}' holds more than {_MOST_FILES} pictures; name the method's own folder", where="root"
            )
    return sorted(pictures), skipped


def _never_ends(path: Path) -> bool:
    """Whether reading would wait for somebody: it is there, and no ordinary file."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False  # a broken link: reading it says so


def _unreadable(error: OSError) -> None:
    raise BadInput(f"folder '{error.filename}' cannot be read ({error.strerror})", where=str(error.filename))


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def case_notes(pictures: Sequence[str], known: Known) -> tuple[str, ...]:
    """Return a line for files, and one for each factor's levels, that are the same but for case or accents' spelling.

    Args:
        pictures: paths below root.
        known: the ids.
    """
    notes = []
    levels = {f"levels of {factor}": sorted({level for _, level in known.names[factor]}) for factor in known.factors}
    for what, names in {"files": list(pictures), **levels}.items():
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(plain(name, fold_case=True), []).append(name)
        clashes = [" and ".join(own) for own in groups.values() if len(own) > 1]
        if clashes:
            notes.append(f"{what} that are the same but for case or accents' spelling: {listed(clashes)}")
    return tuple(notes)


def grid_of(
    factors: tuple[str, ...],
    cells: Mapping[str, Mapping[tuple[str, ...], str]],
    readings: Mapping[str, FolderReading],
) -> CellGrid:
    """Return the grid of what became of cells, with what folders of ready results add to it.

    Args:
        factors: without the method.
        cells: method -> levels -> status.
        readings: method -> what its folder holds.
    """
    told = {
        method: {
            cell: "duplicate" if method in readings and cell in readings[method].duplicates else status
            for cell, status in own.items()
        }
        for method, own in cells.items()
    }
    return CellGrid(factors, told, {method: list(read.unmatched) for method, read in readings.items()})
