"""Read a table of any format; write CSV and Parquet without leaving half a file behind."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from ..errors import BadInput, BadTable, NotFound, UnknownName
from .delimited import Table, read_delimited, read_header, shown
from .workbooks import read_workbook

__all__ = ["FORMAT", "column_names", "open_table", "read_table", "whole_file", "write_table"]

FORMAT = 1
"""Version of the file layouts; written into Parquet metadata and every TOML file beside a table."""


def read_table(path: str | Path) -> pl.DataFrame:
    """Read a CSV, TSV, Parquet or XLSX file; all but Parquet come back as text columns only.

    Args:
        path: ends in .csv, .tsv, .txt, .parquet, .pq or .xlsx.

    Returns:
        The frame; empty cells are null.

    Raises:
        NotFound: no such file.
        BadTable: the file is empty, ragged, not text, or holds ids that a spreadsheet has changed.
        BadInput: the file cannot be opened.
        UnknownName: its ending is not known.
    """
    table = open_table(path)
    doubts = [fault for faults in table.doubts.values() for fault in faults]
    if doubts:
        raise BadTable.of_faults(Path(path).name, doubts)
    return table.frame


def open_table(
    path: str | Path, *, separator: str | None = None, encoding: str | None = None, sheet: str | None = None
) -> Table:
    """Read a table as `read_table` does, with notes on how it was read; for files of other people's making.

    Args:
        path: ends in .csv, .tsv, .txt, .parquet, .pq or .xlsx.
        separator: of a text file; None: found from its first rows.
        encoding: of a text file; None: UTF-8, or UTF-16 with its mark.
        sheet: of a workbook; None: the first.

    Raises:
        NotFound: no such file.
        BadTable: the file is empty, ragged or not what its ending says.
        BadInput: the file cannot be opened.
        UnknownName: the ending, encoding or sheet is not known.
        MissingExtra: the library that reads workbooks is not installed.
    """
    path, ending = _found(path)
    if ending in _TEXT:
        return read_delimited(path, separator=separator or _TEXT[ending], encoding=encoding)
    if ending == ".xlsx":
        return read_workbook(path, sheet=sheet)
    return _parquet(path)


def column_names(
    path: str | Path, *, separator: str | None = None, encoding: str | None = None, sheet: str | None = None
) -> list[str]:
    """The names of a table's columns, without reading the rows of a text or Parquet file.

    Args and Raises: as for `open_table`, as far as the header shows it.
    """
    path, ending = _found(path)
    if ending in _TEXT:
        return read_header(path, separator=separator or _TEXT[ending], encoding=encoding)
    if ending == ".xlsx":
        return read_workbook(path, sheet=sheet).frame.columns
    try:
        return list(pl.read_parquet_schema(path))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _no_parquet(path, error) from error


_TEXT = {".csv": None, ".txt": None, ".tsv": "\t"}
_ENDINGS = (*_TEXT, ".parquet", ".pq", ".xlsx")


def _found(path: str | Path) -> tuple[Path, str]:
    """The path of a file that is there, and its ending."""
    path = Path(path)
    if path.is_dir():
        raise NotFound(f"'{path}' is a folder, not a table; name the file in it", where=str(path))
    if not path.exists():
        raise NotFound.path(path)
    if not path.is_file():
        raise BadInput(f"'{path}' is not a regular file", where=str(path))
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise UnknownName(
            f"{path.name}: no table format '{ending or path.name}'; there is .csv, .tsv, .txt, .parquet, .xlsx",
            where=str(path),
        )
    return path, ending


def _parquet(path: Path) -> Table:
    try:
        frame = pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _no_parquet(path, error) from error
    if not frame.width:
        raise BadTable(f"{path.name}: a table without columns", where=str(path))
    return Table(frame=frame)


def _no_parquet(path: Path, error: Exception) -> BadTable:
    return BadTable(f"{path.name}: not a Parquet file ({shown(error, 120)})", where=str(path))


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give a temporary path beside `path` and move it there only when the block ends well.

    Whatever stood at `path` stays untouched until then, so a killed run leaves whole files only.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    aside = Path(name)
    try:
        yield aside
        mask = os.umask(0)
        os.umask(mask)
        aside.chmod(0o666 & ~mask)
        aside.replace(path)
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), str(path)) from error  # engines name none
    finally:
        aside.unlink(missing_ok=True)


def write_table(frame: pl.DataFrame, path: str | Path) -> Path:
    """Write a frame as CSV or Parquet, by the file's ending, whole or not at all.

    Args:
        frame: the table.
        path: ends in .csv, .tsv or .parquet.

    Returns:
        The path.

    Raises:
        UnknownName: the ending is none of these.
        OSError: the disk is full, or the folder cannot be written to.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in (".csv", ".tsv", ".parquet"):
        raise UnknownName.among(ending or path.name, [".csv", ".tsv", ".parquet"], "table format")
    with whole_file(path) as aside:
        if ending == ".parquet":
            try:
                frame.write_parquet(aside, metadata={"format": str(FORMAT)})
            except pl.exceptions.ComputeError as error:  # the engine hides the system's own error in this one
                raise OSError(None, f"cannot be written: {shown(error, 120)}", str(path)) from error
        else:
            frame.write_csv(aside, separator="\t" if ending == ".tsv" else ",")
    return path
