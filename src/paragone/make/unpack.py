"""Is a pack whole? Digests, files, tables and metadata are held against each other."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import polars as pl

from ..benchmark import Benchmark
from ..errors import ParagoneError
from ..provenance import digest
from ..sources.packed import pack_layout, packed_pictures
from ..tables import read_table
from .pack import MANIFEST

__all__ = ["faults"]

_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def faults(folder: str | Path) -> list[str]:
    """Return everything that is wrong with a pack, one line each; nothing: it is whole.

    Args:
        folder: the pack, as `pack` wrote it or as it was downloaded.

    Returns:
        Files that are missing, changed or not in the manifest; pictures that the tables name and that are not there; rows
        of the layout that items.csv does not have, or the other way round; a croissant.json that does not fit the files.

    Raises:
        NotFound: the folder is not there or is no pack.
        BadConfig: pack.toml is damaged.
    """
    folder = Path(folder)
    layout = pack_layout(folder)
    found = list(_manifest_faults(folder))
    try:
        held = Benchmark.read(folder)
        found += _picture_faults(folder, held)
        found += _row_faults(folder, held, layout)
    except ParagoneError as error:
        found.append(error.message)
    return [*found, *_croissant_faults(folder)]


def _manifest_faults(folder: Path) -> Iterator[str]:
    path = folder / MANIFEST
    if not path.is_file():
        yield f"{MANIFEST} is missing, so no file can be checked"
        return
    listed: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            yield f"{MANIFEST}, line {number}: not a digest and a name"
        else:
            listed[match[2]] = match[1]
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {MANIFEST}
    yield from (f"{name} is missing" for name in sorted(set(listed) - there))
    yield from (f"{name} is not in {MANIFEST}" for name in sorted(there - set(listed)) if not _hidden(name))
    yield from (f"{name} has changed" for name in sorted(there & set(listed)) if digest(folder / name) != listed[name])


def _hidden(name: str) -> bool:
    """What systems and download tools leave behind, for example .DS_Store and .cache/."""
    return any(part.startswith(".") for part in name.split("/")) or name.endswith("Thumbs.db")


def _picture_faults(folder: Path, held: Benchmark) -> Iterator[str]:
    """Pictures that the tables name: each is there once, and licences.csv has a row for it."""
    wanted = {image: f"item '{item}'" for item, image in held.items.select("item", "image").iter_rows() if image}
    wanted |= {
        image: f"{factor} '{level}'"
        for factor, level, image in held.references.select("factor", "level", "image").iter_rows()
    }
    seen: dict[str, str] = {}
    for name, raw in packed_pictures(folder):
        mark = hashlib.sha256(raw).hexdigest()
        if seen.setdefault(name, mark) != mark:
            yield f"{name} is in it twice, with different content"
    yield from (f"the picture of {what} is missing ({name})" for name, what in wanted.items() if name not in seen)
    table = folder / "licences.csv"
    if table.is_file():
        told = set(read_table(table)["file"])
        yield from (f"licences.csv has no row for {name}" for name in wanted if name not in told)


def _row_faults(folder: Path, held: Benchmark, layout: str) -> Iterator[str]:
    """Rows of the layout's own tables against items.csv, and items.parquet against it."""
    twin = folder / "items.parquet"
    if twin.is_file() and not pl.read_parquet(twin, glob=False).equals(held.items):
        yield "items.parquet and items.csv differ"
    if layout == "webdataset":
        return
    expected = held.items.filter(pl.col("image").is_not_null()).drop("image")
    pattern = "*/metadata.parquet" if layout == "imagefolder" else "*.parquet"
    parts = [path for path in sorted((folder / "data").glob(pattern)) if not path.name.startswith("references-")]
    try:
        rows = pl.concat([pl.read_parquet(path, columns=expected.columns, glob=False) for path in parts])
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        yield f"the tables in data/ cannot be read ({str(error).splitlines()[0][:120]})"
        return
    if not rows.sort("item").equals(expected.sort("item")):
        known, has = set(expected["item"]), set(rows["item"])
        odd = [*(f"'{item}' is not in data/" for item in sorted(known - has)), *(f"'{i}'" for i in sorted(has - known))]
        yield f"the tables in data/ and items.csv differ{f': {odd[0]}' if odd else ' in levels'}"


def _croissant_faults(folder: Path) -> Iterator[str]:
    path = folder / "croissant.json"
    if not path.is_file():
        return  # the manifest tells
    try:
        made: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        parts = list(made["distribution"])
        known = {part["@id"] for part in parts}
    except (ValueError, KeyError, TypeError):
        yield "croissant.json is not what it must be: no list 'distribution' of named parts"
        return
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    for part in parts:
        if "contentUrl" in part:
            file = folder / part["contentUrl"]
            if not file.is_file():
                yield f"croissant.json names {part['contentUrl']}, which is missing"
            elif digest(file) != part.get("sha256"):
                yield f"croissant.json has another digest for {part['contentUrl']}"
        elif not any(fnmatch(name, part.get("includes", "")) for name in names):
            yield f"croissant.json: no file fits '{part.get('includes')}'"
    for records in made.get("recordSet", []):
        for field in records.get("field", []):
            source = field.get("source", {})
            of = (source.get("fileObject") or source.get("fileSet") or {}).get("@id")
            if of not in known:
                yield f"croissant.json: field '{field.get('@id')}' reads from '{of}', which is not listed"
