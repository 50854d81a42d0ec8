"""Files of a study's folder that still name a participant whose answers left the store."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import polars.selectors as cs

__all__ = ["Remaining", "remaining"]

_TEXTS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".html")
_TABLES = (*_TEXTS, ".parquet", ".db")
_SQLITE = b"SQLite format 3\0"


class Remaining(NamedTuple):
    """What lies below a folder, as paths relative to it; a folder ends in '/' and stands for what it holds."""

    names: list[str]
    """Tables and pages that name the participant."""
    may_hold: list[str]
    """Backups, archives, copies of a store and damaged tables, which were not looked through."""


def remaining(folder: Path, participant: str, *, store: Path | None = None) -> Remaining:
    """Return the files below a study's folder that still name a participant, and those that may.

    Args:
        folder: the study.
        participant: name in the tables, such as 'p-0007'.
        store: the SQLite file that they are deleted from, which is no copy; None: the store lies elsewhere.
    """
    own = None if store is None else store.resolve()
    word = re.compile(rb"(?<![\w-])" + re.escape(participant.encode()) + rb"(?![\w-])")
    named, may = [], []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        ending = path.suffix.lower()
        if ending in _TEXTS:
            found: bool | None = _text_names(path, word)
        elif ending == ".parquet":
            found = _parquet_names(path, participant)
        else:
            is_copy = (ending == ".zip" and _holds_tables(path)) or (ending == ".db" and _is_store(path, own))
            found = None if is_copy else False
        if found is None:
            may.append(path)
        elif found:
            named.append(path)
    return Remaining(_listed(folder, named), _listed(folder, may))


def _text_names(path: Path, word: re.Pattern[bytes]) -> bool:
    with path.open("rb") as lines:
        return any(word.search(line) for line in lines)


def _parquet_names(path: Path, participant: str) -> bool | None:
    """Whether a text of the table is the name; None: the table cannot be read."""
    try:
        told = pl.scan_parquet(path).select((cs.string() == participant).any()).collect()
    except pl.exceptions.PolarsError:
        return None
    return any(told.row(0)) if told.height else False


def _holds_tables(path: Path) -> bool:
    """Whether an archive holds more than pictures; one that cannot be read may."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.lower().endswith(_TABLES) for name in archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return True


def _is_store(path: Path, own: Path | None) -> bool:
    if own is not None and path.resolve() == own:
        return False
    with path.open("rb") as handle:
        return handle.read(len(_SQLITE)) == _SQLITE


def _listed(folder: Path, paths: Iterable[Path]) -> list[str]:
    """Paths by name; several in one folder below are that folder."""
    by_room: dict[Path, list[Path]] = {}
    for path in paths:
        by_room.setdefault(path.parent, []).append(path)
    listed = []
    for room, files in by_room.items():
        if room != folder and len(files) > 1:
            listed.append(f"{room.relative_to(folder).as_posix()}/")
        else:
            listed += [path.relative_to(folder).as_posix() for path in files]
    return sorted(listed)
