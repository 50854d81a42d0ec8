"""A manifest: a table that says of each result file which cell it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ...errors import BadTable, NotFound
from ...tables import open_table, shown
from .names import Known, plain

__all__ = ["Manifest", "read_manifest"]

_FILES = ("file", "file_name", "image", "path")


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Rows of a manifest, read by known ids."""

    cells: Mapping[str, tuple[str, ...]]
    """File, relative to root -> levels of its cell."""
    unmatched: Mapping[str, str]
    """File -> why its row is no cell."""
    facts: Mapping[str, Mapping[str, Any]]
    """File -> the other columns of its row, such as prompt and seed."""


def read_manifest(path: Path, known: Known, *, fixed: Mapping[str, str]) -> Manifest:
    """Read a manifest.

    Args:
        path: .csv, .tsv, .parquet or .xlsx with a column `file` and one per factor; or .jsonl, or .json with a list of
            records. A column `method` keeps the rows of this method. Records with `image_paths` and `save_dir` are read
            as USO writes them: one record for each picture `{save_dir}_0.png`.
        known: the ids.
        fixed: factor -> level, for factors without a column.

    Returns:
        Files as the manifest names them, backslashes turned into '/'.

    Raises:
        NotFound: no such file.
        BadTable: it has no column `file`, lacks a factor, or names files outside root; every fault is told.
        UnknownName: the ending is not known.
    """
    cells: dict[str, tuple[str, ...]] = {}
    unmatched: dict[str, str] = {}
    facts: dict[str, Mapping[str, Any]] = {}
    faults = []
    for number, row in _rows(path):
        try:
            read = _cell(row, known, fixed)
            if read is None:
                continue
            file, cell, why = read
            if cell and cells.setdefault(file, cell) != cell:
                raise BadTable(f"'{shown(file)}' was already given to {'/'.join(cells[file])}")
        except BadTable as error:
            faults.append(f"row {number}: {error.message}")
            continue
        if not cell:
            unmatched[file] = why
            continue
        told = {*_FILES, "method", *known.factors}
        facts[file] = {k: v for k, v in row.items() if k not in told and isinstance(v, (str, int, float))}
    if faults:
        raise BadTable.of_faults(path.name, faults)
    return Manifest(cells=cells, unmatched=unmatched, facts=facts)


def _cell(
    row: Mapping[str, Any], known: Known, fixed: Mapping[str, str]
) -> tuple[str, tuple[str, ...] | None, str] | None:
    """File, cell, and why there is none; None for a row of another method."""
    column = next((name for name in _FILES if row.get(name) not in (None, "")), None)
    if column is None:
        raise BadTable("no file; name the column 'file'")
    file = plain(str(row[column])).removeprefix("./")
    if file.startswith("/") or re.match(r"[A-Za-z]:", file) or ".." in file.split("/"):
        raise BadTable(f"'{shown(file)}' is not below root; write paths relative to it")
    if row.get("method") not in (None, "") and not known.levels("method", str(row["method"])):
        return None
    cell = []
    for factor in known.factors:
        said = row.get(factor)
        if said in (None, ""):
            if factor not in fixed:
                raise BadTable(f"no {factor}; add a column '{factor}' or `fixed.{factor}`")
            cell.append(fixed[factor])
            continue
        found = known.levels(factor, str(said)) or known.levels(factor, PurePosixPath(plain(str(said))).stem)
        if len(found) != 1:
            return file, None, f"no {factor} '{shown(said)}'"
        cell += found
    return file, tuple(cell), ""


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and cells of each row; a table's rows are numbered as a spreadsheet shows them."""
    if path.suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        table = open_table(path)
        for number, row in enumerate(table.frame.iter_rows(named=True), start=table.first):
            yield number, row
        return
    if not path.is_file():
        raise NotFound.path(path, "manifest")
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".json":
            held = json.loads(text)
            records = list(enumerate(held, start=1)) if isinstance(held, list) else [(1, None)]
        else:
            lines = enumerate(text.splitlines(), start=1)
            records = [(number, json.loads(line)) for number, line in lines if line.strip()]
    except (ValueError, RecursionError) as error:
        raise BadTable(f"{path.name}: not valid JSON ({shown(error, 80)})", where=str(path)) from error
    for number, record in records:
        if not isinstance(record, dict):
            raise BadTable(f"{path.name}, record {number}: not a record but {shown(record)}", where=str(path))
        yield number, _as_row(record, number)


def _as_row(record: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A USO record as file, content and style; any other as it is."""
    paths = record.get("image_paths")
    if "file" in record or not isinstance(paths, list) or len(paths) != 2:
        return dict(record)
    stem = record.get("save_dir", f"{number - 1}")
    row = {"file": f"{stem}_0.png", "content": paths[0], "style": paths[1]}
    return row | {name: record[name] for name in ("prompt", "seed") if name in record}
