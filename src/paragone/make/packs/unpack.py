"""Is a pack whole? Digests, files, tables and metadata are held against each other."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import polars as pl

from ...benchmark import Benchmark
from ...errors import ParagoneError
from ...provenance import digest
from ...sources.packed import leads_out, pack_layout, packed_benchmark, packed_pictures
from ...tables import read_table
from .pack import MANIFEST, MANIFEST_LINE

__all__ = ["faults"]

_DAMAGED = (
    *(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError, re.error),
    *(pl.exceptions.PolarsError, pl.exceptions.PanicException),
)
"""What readers of damaged files raise; each becomes one fault, and the other checks go on."""


def faults(folder: str | Path) -> list[str]:
    """Return everything that is wrong with a pack, one line each; nothing: it is whole.

    Args:
        folder: the pack, as `pack` wrote it or as it was downloaded.

    Returns:
        Files that are missing, changed or not in the manifest; pictures that the tables name and that are not there; rows
        of the layout that items.csv does not have, or the other way round; a croissant.json that does not fit the files;
        symbolic links that lead out of the pack.

    Raises:
        NotFound: the folder is not there or is no pack.
        BadConfig: pack.toml is damaged.
    """
    folder = Path(folder)
    layout = pack_layout(folder)
    found = [
        *_gathered("the folder", _link_faults(folder)),
        *_gathered(MANIFEST, _manifest_faults(folder)),
    ]
    held: list[Benchmark] = []
    found += _gathered("the benchmark's tables", _benchmark_faults(folder, held))
    for benchmark in held:
        found += _gathered("the pictures", _picture_faults(folder, benchmark))
        found += _gathered("licences.csv", _licence_faults(folder, benchmark))
        found += _gathered("items.parquet", _twin_faults(folder, benchmark))
        found += _gathered("the tables in data/", _row_faults(folder, benchmark, layout))
    found += _gathered("croissant.json", _croissant_faults(folder))
    return [" ".join(line.encode(errors="replace").decode().split()) for line in found]


def _gathered(what: str, lines: Iterator[str]) -> list[str]:
    """All faults of one check; where it cannot go on, that is its last one."""
    found: list[str] = []
    try:
        for line in lines:
            found.append(line)
    except ParagoneError as error:
        found += getattr(error, "faults", ()) or (error.message,)
    except _DAMAGED as error:
        found.append(f"{what} cannot be read ({_said(error)})")
    return found


def _said(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:120]


def _link_faults(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and leads_out(path, folder):
            yield f"{path.relative_to(folder).as_posix()} is a symbolic link that leads out of the pack"


def _benchmark_faults(folder: Path, held: list[Benchmark]) -> Iterator[str]:
    """None, or the error; the benchmark is put into `held`."""
    held.append(packed_benchmark(folder))
    yield from ()


def _manifest_faults(folder: Path) -> Iterator[str]:
    path = folder / MANIFEST
    if not path.is_file() or leads_out(path, folder):
        yield f"{MANIFEST} is missing, so no file can be checked"
        return
    listed: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        match = MANIFEST_LINE.fullmatch(line)
        if match is None:
            yield f"{MANIFEST}, line {number}: not a digest and a name"
        else:
            listed[match[2]] = match[1]
    there = {name for name, path in _files(folder) if not leads_out(path, folder)} - {MANIFEST}
    yield from (f"{name} is missing" for name in sorted(set(listed) - there))
    yield from (f"{name} is not in {MANIFEST}" for name in sorted(there - set(listed)) if not _hidden(name))
    for name in sorted(there & set(listed)):
        try:
            if digest(folder / name) != listed[name]:
                yield f"{name} has changed"
        except OSError as error:
            yield f"{name} cannot be read ({error.strerror})"


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Name and path of every file in the pack."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path


def _hidden(name: str) -> bool:
    """What systems and download tools leave behind, for example .DS_Store and .cache/."""
    return any(part.startswith(".") for part in name.split("/")) or name.endswith("Thumbs.db")


def _wanted(held: Benchmark) -> dict[str, str]:
    """Path of every picture that the tables name -> what it shows."""
    wanted = {image: f"item '{item}'" for item, image in held.items.select("item", "image").iter_rows() if image}
    keys = ("factor", "level", "image")
    return wanted | {image: f"{factor} '{level}'" for factor, level, image in held.references.select(keys).iter_rows()}


def _picture_faults(folder: Path, held: Benchmark) -> Iterator[str]:
    """Pictures that the tables name: each is there once."""
    seen: dict[str, str] = {}
    for name, raw in packed_pictures(folder):
        mark = hashlib.sha256(raw).hexdigest()
        if seen.setdefault(name, mark) != mark:
            yield f"{name} is in it twice, with different content"
    for name, what in _wanted(held).items():
        if name not in seen:
            yield f"the picture of {what} is missing ({name})"


def _licence_faults(folder: Path, held: Benchmark) -> Iterator[str]:
    table = folder / "licences.csv"
    if not table.is_file() or leads_out(table, folder):
        return  # the manifest tells
    frame = read_table(table)
    if "file" not in frame.columns:
        yield "licences.csv has no column 'file'"
        return
    told = set(frame["file"])
    yield from (f"licences.csv has no row for {name}" for name in _wanted(held) if name not in told)


def _twin_faults(folder: Path, held: Benchmark) -> Iterator[str]:
    twin = folder / "items.parquet"
    if twin.is_file() and not leads_out(twin, folder) and not pl.read_parquet(twin, glob=False).equals(held.items):
        yield "items.parquet and items.csv differ"


def _row_faults(folder: Path, held: Benchmark, layout: str) -> Iterator[str]:
    """Rows of the layout's own tables against items.csv."""
    if layout == "webdataset":
        return
    expected = held.items.filter(pl.col("image").is_not_null()).drop("image")
    pattern = "*/metadata.parquet" if layout == "imagefolder" else "*.parquet"
    parts = [path for path in sorted((folder / "data").glob(pattern)) if not path.name.startswith("references-")]
    parts = [path for path in parts if path.is_file() and not leads_out(path, folder)]
    rows = pl.concat([pl.read_parquet(path, columns=expected.columns, glob=False) for path in parts])
    if not rows.sort("item").equals(expected.sort("item")):
        known, has = set(expected["item"]), set(rows["item"])
        odd = [*(f"'{item}' is not in data/" for item in sorted(known - has)), *(f"'{i}'" for i in sorted(has - known))]
        yield f"the tables in data/ and items.csv differ{f': {odd[0]}' if odd else ' in levels'}"


def _croissant_faults(folder: Path) -> Iterator[str]:
    path = folder / "croissant.json"
    if not path.is_file() or leads_out(path, folder):
        return  # the manifest tells
    made: Any = json.loads(path.read_text(encoding="utf-8"))
    parts = made.get("distribution") if isinstance(made, dict) else None
    if not isinstance(parts, list) or not all(
        isinstance(part, dict) and isinstance(part.get("@id"), str) for part in parts
    ):
        yield "croissant.json is not what it must be: no list 'distribution' of named parts"
        return
    names = [name for name, _ in _files(folder)]
    for part in parts:
        if "contentUrl" in part:
            yield from _file_faults(folder, part)
        else:
            yield from _set_faults(part, names)
    yield from _record_faults(made.get("recordSet", []), {part["@id"] for part in parts})


def _file_faults(folder: Path, part: dict[str, Any]) -> Iterator[str]:
    url = part["contentUrl"]
    if not isinstance(url, str):
        yield f"croissant.json: contentUrl of '{_brief(part['@id'])}' is no text"
    elif leads_out(folder / url.replace("\0", ""), folder):
        yield f"croissant.json names {_brief(url)}, which is not in the pack"
    elif not os.path.isfile(folder / url):
        yield f"croissant.json names {_brief(url)}, which is missing"
    elif digest(folder / url) != part.get("sha256"):
        yield f"croissant.json has another digest for {_brief(url)}"


def _set_faults(part: dict[str, Any], names: list[str]) -> Iterator[str]:
    pattern = part.get("includes")
    if not isinstance(pattern, str):
        yield f"croissant.json: includes of '{_brief(part['@id'])}' is no text"
    elif not any(fnmatch(name, pattern) for name in names):
        yield f"croissant.json: no file fits '{_brief(pattern)}'"


def _record_faults(records: Any, known: set[str]) -> Iterator[str]:
    """Every field reads from a part that is listed."""
    if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
        yield "croissant.json: 'recordSet' is no list of sets of records"
        return
    for one in records:
        fields = one.get("field", [])
        if not isinstance(fields, list) or not all(isinstance(field, dict) for field in fields):
            yield f"croissant.json: 'field' of '{_brief(one.get('@id'))}' is no list of fields"
            continue
        for field in fields:
            source = field.get("source")
            part = (source.get("fileObject") or source.get("fileSet")) if isinstance(source, dict) else None
            of = part.get("@id") if isinstance(part, dict) else None
            if not isinstance(of, str) or of not in known:
                told = _brief(field.get("@id"))
                yield f"croissant.json: field '{told}' reads from '{_brief(of)}', which is not listed"


def _brief(value: object) -> str:
    """A value of somebody's file, short enough for one line."""
    text = value if isinstance(value, str) else type(value).__name__
    return text if len(text) <= 120 else f"{text[:117]}..."
