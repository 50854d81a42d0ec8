"""Everything that a study holds, as tables: at any time, in bounded memory, and the same store gives the same bytes.

`answers` holds the last revision of every answer, also those of people who left or were excluded; `answers_clean` only
those of leases that are complete or accepted; `revisions` what was answered before. The other tables say who they are, what
was planned for them and what happened. `dictionary.csv` explains every column, `manifest.json` holds counts and SHA-256
sums.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import sqlalchemy as sa

from ....errors import UnknownName, WouldOverwrite
from ....tables import whole_file
from ..schema import at_head
from ..store import snapshot
from .contract import FORMATS, TABLES
from .files import Told, chunks, documents, manifest, written
from .plans import Planned, plans_of
from .rows import pieces

__all__ = ["FORMATS", "TABLES", "answers_frame", "stream", "tables", "zipped"]

_MANIFEST = "manifest.json"
_THEN = (1980, 1, 1, 0, 0, 0)
_LEFT = re.compile(r"\..+\.part")  # of an export that was killed, or goes on beside this one


def answers_frame(c: sa.Connection, *, version: int | None = None, clean: bool = False) -> pl.DataFrame:
    """The answers as one frame, which `paragone.study.collect` takes.

    Args:
        c: a connection on one snapshot.
        version: answers to one version only, as one plan belongs to it; None: all.
        clean: only of leases that are complete or accepted.

    Returns:
        Columns of `study.ANSWERS`, then stage, owner, lease, version, state, revision, at (UTC epoch seconds), onset_ms and
        what else is known; one row for each trial and criterion of a lease, its last revision.
    """
    with plans_of(c) as plans:
        return pl.concat(pieces(c, "answers_clean" if clean else "answers", plans, only_version=version))


def tables(c: sa.Connection, folder: str | Path, form: str = "csv", *, anonymise: bool = False) -> dict[str, Any]:
    """Write every table into a folder, each file whole or not at all, the manifest last.

    Args:
        c: a connection on one snapshot.
        folder: made where it is missing; an earlier export in it is replaced.
        form: csv, parquet, json, or jspsych (one file of trials instead of the tables).
        anonymise: leave out panel ids, remarks, what browsers tell of themselves, and who did what at the desk.

    Returns:
        The manifest: `files` maps each file's name to its rows and SHA-256.

    Raises:
        UnknownName: no such format.
        WouldOverwrite: the folder holds something else.
        BadInput: the store's schema is not the newest; open it for writing once.
    """
    names = _names(form)
    at_head(c, "the store")
    folder = Path(folder)
    earlier = _earlier(folder)
    told: dict[str, Told] = {}
    with plans_of(c) as plans:
        for name, parts in _files(c, plans, names, form, anonymise):
            with whole_file(folder / name) as aside:
                told[name] = written(aside, parts)
    whole = manifest(c, told, form=form, anonymise=anonymise)
    with whole_file(folder / _MANIFEST) as aside:
        aside.write_bytes(whole)
    for name in earlier - set(told) - {_MANIFEST}:
        (folder / name).unlink(missing_ok=True)
    made: dict[str, Any] = json.loads(whole)
    return made


def stream(url: str, table: str, form: str = "csv", *, anonymise: bool = False) -> Iterator[bytes]:
    """One table's file in pieces, for a response that is sent while it is made.

    It reads on a snapshot of its own, which is held until the last piece was taken or the iterator is closed.

    Args:
        url: the store.
        table: a name of `TABLES`, or jspsych.
        form: csv, parquet or json.
        anonymise: as for `tables`.

    Raises:
        UnknownName: no such table or format.
    """
    if table != "jspsych" and table not in TABLES:
        raise UnknownName.among(table, TABLES, "table of the export")
    if form not in FORMATS:
        raise UnknownName.among(form, FORMATS, "format of the export")
    return _streamed(url, table, form, anonymise)


def zipped(url: str, form: str = "csv", *, anonymise: bool = False) -> Iterator[bytes]:
    """What `tables` writes, as one zip in pieces, made while it is sent; arguments as for `stream`."""
    names = _names(form)
    return _zipped(url, names, form, anonymise)


def _streamed(url: str, table: str, form: str, anonymise: bool) -> Iterator[bytes]:
    with snapshot(url) as c, plans_of(c) as plans:
        at_head(c, "the store")
        for part, _ in chunks(c, plans, table, form, anonymise=anonymise):
            if part:
                yield part


def _zipped(url: str, names: dict[str, str], form: str, anonymise: bool) -> Iterator[bytes]:
    sink = _Sink()
    told: dict[str, Told] = {}
    with snapshot(url) as c, plans_of(c) as plans, _zip(sink) as archive:
        at_head(c, "the store")
        for name, parts in _files(c, plans, names, form, anonymise):
            digest, rows = hashlib.sha256(), 0
            with archive.open(_member(name), "w", force_zip64=True) as member:
                for part, count in parts:
                    digest.update(part)
                    rows += count
                    member.write(part)
                    yield sink.taken()
            told[name] = Told(rows, digest.hexdigest())
        archive.writestr(_member(_MANIFEST), manifest(c, told, form=form, anonymise=anonymise))
    yield sink.taken()


def _files(
    c: sa.Connection, plans: Mapping[int, Planned], names: Mapping[str, str], form: str, anonymise: bool
) -> Iterator[tuple[str, Iterator[tuple[bytes, int]]]]:
    """Every file but the manifest: its name, and its content in pieces."""
    for name, table in names.items():
        yield name, chunks(c, plans, table, form, anonymise=anonymise)
    yield from documents(c, plans)


def _zip(sink: _Sink) -> zipfile.ZipFile:
    return zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=6)


class _Sink(io.RawIOBase):
    """A file that cannot go back, whose bytes are taken out as they come."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        return len(part)

    def taken(self) -> bytes:
        """What came since the last time."""
        whole = b"".join(self._parts)
        self._parts.clear()
        return whole


def _names(form: str) -> dict[str, str]:
    """File name -> table."""
    if form == "jspsych":
        return {"jspsych.json": "jspsych"}
    if form not in FORMATS:
        raise UnknownName.among(form, (*FORMATS, "jspsych"), "format of the export")
    return {f"{table}.{form}": table for table in TABLES}


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _THEN)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def _earlier(folder: Path) -> set[str]:
    """Files of an earlier export in the folder.

    Raises:
        WouldOverwrite: there are files, and they are no export.
    """
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    there = {name for name in there if not _LEFT.fullmatch(name)}
    if not there:
        return set()
    try:
        told = json.loads((folder / _MANIFEST).read_bytes())
        if str(told["made_by"]).startswith("paragone") and str(told["made_by"]).endswith("export"):
            return {str(name) for name in told["files"]} & there
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise WouldOverwrite(
        f"'{folder}' holds files that are no export ({', '.join(sorted(there)[:3])}); name an empty folder",
        where=str(folder),
    )
