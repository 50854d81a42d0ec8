"""Check a frame against its contract; read and write CSV and Parquet without leaving half a file behind.

A noun owns a `Schema`; `checked` is called once, when the noun is made, and nowhere else. Files are read as text first,
so that '001' stays '001' and every fault can be named with its row. Rows are numbered as a spreadsheet shows them: the
header is row 1.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from .delimited import Table, read_delimited, shown
from .errors import BadInput, BadTable, NotFound, UnknownName
from .workbooks import read_workbook

__all__ = [
    "FORMAT",
    "Column",
    "Schema",
    "Table",
    "checked",
    "encode",
    "open_table",
    "read_table",
    "whole_file",
    "write_table",
]

FORMAT = 1
"""Version of the file layouts; written into Parquet metadata and every TOML file beside a table."""

_MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None")


@dataclass(frozen=True, kw_only=True)
class Column:
    """The contract of one column."""

    name: str
    kind: Literal["id", "text", "number", "whole", "flag"]
    """id: a string that is never read as a number; whole: an integer; flag: true or false."""
    doc: str
    """What the column holds, its unit and what null means."""
    required: bool = False
    """The column must be there; without it a missing column is filled with null."""
    nullable: bool = True
    """Whether single cells may be empty."""
    choices: tuple[str, ...] = ()
    """If not empty, the only words allowed."""
    low: float | None = None
    """Smallest number allowed."""
    high: float | None = None
    """Largest number allowed."""


@dataclass(frozen=True)
class Schema:
    """The contract of one table: its columns in order; further columns are kept behind them."""

    name: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the contract's columns, in order."""
        return tuple(column.name for column in self.columns)


_DTYPES: dict[str, pl.DataType] = {
    "id": pl.String(),
    "text": pl.String(),
    "number": pl.Float64(),
    "whole": pl.Int64(),
    "flag": pl.Boolean(),
}


def checked(
    frame: pl.DataFrame,
    schema: Schema,
    *,
    where: str = "table",
    called: Mapping[str, str] | None = None,
    rows: pl.Series | None = None,
) -> pl.DataFrame:
    """Return the frame with the contract's columns first and in their types, or raise with every fault.

    Args:
        frame: any frame; text columns are converted, missing optional columns are added as null. Blank ids are null;
            the words NA, N/A, NaN, nan, null and None are null in columns of numbers and of fixed words, and
            nowhere else: 'NA' is a good id.
        schema: the contract.
        where: file or table name for the messages.
        called: what the file calls a column, where messages should use that name.
        rows: number of each row in the file; None: counted from 2, as a spreadsheet does below its header.

    Returns:
        A frame whose first columns are `schema.names` in order; other columns follow unchanged.

    Raises:
        BadTable: required columns are missing or cells break the contract; holds all faults.
    """
    faults = [
        f"column '{column.name}' is missing (there is {', '.join(shown(name) for name in frame.columns[:12])})"
        for column in schema.columns
        if column.required and column.name not in frame.columns
    ]
    if faults:
        raise BadTable.of_faults(where, faults)
    made: list[pl.Series] = []
    for column in schema.columns:
        if column.name in frame.columns:
            name = shown((called or {}).get(column.name, column.name))
            series, wrong = _converted(frame[column.name], column, name, rows)
            made.append(series)
            faults.extend(wrong)
        else:
            made.append(pl.Series(column.name, [None], dtype=_DTYPES[column.kind]).new_from_index(0, frame.height))
    if faults:
        raise BadTable.of_faults(where, faults)
    rest = [frame[name] for name in frame.columns if name not in schema.names]
    return pl.DataFrame([*made, *rest]) if made or rest else frame


def _converted(series: pl.Series, column: Column, name: str, rows: pl.Series | None) -> tuple[pl.Series, list[str]]:
    """The column in its type, and what is wrong with its cells."""
    unfit = _unfit(series, column)
    if unfit:
        return pl.Series(column.name, [None], dtype=_DTYPES[column.kind]), [f"column '{name}' {unfit}"]
    if column.kind in ("id", "text"):
        series = _as_text(series)
        if column.choices:
            series = _without_missing(series)
        series = _without_blank(series)
        made = series
        bad = pl.Series([False], dtype=pl.Boolean).new_from_index(0, len(series))
    else:
        if series.dtype == pl.String:
            series = _without_missing(series)
        made = _parsed(series, column.kind)
        bad = made.is_null() & series.is_not_null()
        if series.dtype.is_float():
            bad &= ~series.is_nan().fill_null(False)
        if column.kind == "number":
            infinite = made.is_infinite().fill_null(False)
            bad |= infinite
            made = made.fill_nan(None)
    faults = _cell_faults(series, bad, name, f"is not a {_WORDS.get(column.kind, column.kind)}", rows)
    if not column.nullable:
        faults += _cell_faults(series, made.is_null() & ~bad, name, "is empty", rows)
    if column.choices:
        wrong = made.is_not_null() & ~made.is_in(list(column.choices))
        faults += _cell_faults(series, wrong, name, f"is not one of {', '.join(column.choices)}", rows)
    if column.low is not None:
        low = (made < column.low).fill_null(False)
        faults += _cell_faults(series, low, name, f"is below {column.low:g}", rows)
    if column.high is not None:
        high = (made > column.high).fill_null(False) & ~bad
        faults += _cell_faults(series, high, name, f"is above {column.high:g}", rows)
    return made.alias(column.name), faults


_WORDS = {"number": "finite number", "whole": "whole number", "flag": "true or false"}
_EXACT = 2.0**53


def _unfit(series: pl.Series, column: Column) -> str:
    """Why a typed column cannot be what the contract wants; empty where it can."""
    dtype = series.dtype
    if dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null, pl.Boolean) or dtype.is_integer():
        return ""
    if dtype.is_float() or dtype.is_decimal():
        if column.kind == "id" and bool((series.cast(pl.Float64).abs() >= _EXACT).fill_null(False).any()):
            return "holds ids as floats beyond 2^53, which have lost digits; store them as text"
        return ""
    if dtype.is_temporal():
        return "holds dates or times; store it as text or as a plain number"
    return f"is of type {str(dtype).split('(')[0]}; plain text or numbers are needed"


def _as_text(series: pl.Series) -> pl.Series:
    if series.dtype == pl.String:
        return series
    if series.dtype.is_float():
        series = series.fill_nan(None)
        whole = series.cast(pl.Int64, strict=False)
        if bool((whole.cast(pl.Float64) == series).fill_null(True).all()):
            return whole.cast(pl.String)
    return series.cast(pl.String)


def _without_blank(series: pl.Series) -> pl.Series:
    blank = series.str.contains(r"^\s*$").fill_null(False)
    return series.set(blank, None) if blank.any() else series


def _without_missing(series: pl.Series) -> pl.Series:
    missing = series.str.strip_chars().is_in(list(_MISSING)).fill_null(False)
    return series.set(missing, None) if missing.any() else series


def _parsed(series: pl.Series, kind: str) -> pl.Series:
    """The cells as numbers or flags; null where a cell is none."""
    if series.dtype == pl.String:
        series = series.str.strip_chars()
    if kind == "number":
        return series.cast(pl.Float64, strict=False)
    if kind == "whole":
        if series.dtype.is_integer():
            return series.cast(pl.Int64, strict=False)
        number = series.cast(pl.Float64, strict=False)
        made = number.cast(pl.Int64, strict=False)
        made = made.set((made.cast(pl.Float64) != number).fill_null(False), None)
        if series.dtype == pl.String:  # beyond 2^53 a float is not exact
            made = series.cast(pl.Int64, strict=False).fill_null(made)
        return made
    if series.dtype == pl.Boolean:
        return series
    lower = series.cast(pl.String).str.to_lowercase()
    flags = {"true": True, "1": True, "1.0": True, "yes": True, "false": False, "0": False, "0.0": False, "no": False}
    return lower.replace_strict(flags, default=None, return_dtype=pl.Boolean)


def _cell_faults(
    series: pl.Series, wrong: pl.Series, name: str, problem: str, rows: pl.Series | None, few: int = 3
) -> list[str]:
    """Faults of one kind in one column: the first few rows named, the others counted."""
    if not wrong.any():
        return []
    places = wrong.arg_true()
    faults = []
    for place in places.head(few):
        value = series[place]
        cell = f"{name} '{shown(value)}'" if value is not None else name
        faults.append(f"row {rows[place] if rows is not None else place + 2}: {cell} {problem}")
    if len(places) > few:
        faults.append(f"{len(places) - few} more rows where {name} {problem}")
    return faults


def encode(series: Sequence[pl.Series] | pl.Series) -> tuple[list[str], list[pl.Series]]:
    """Turn names into indices over one sorted list of levels shared by all given columns.

    Args:
        series: one or more String columns without nulls.

    Returns:
        The sorted levels, and for each column an Int64 series of indices into them.
    """
    columns = [series] if isinstance(series, pl.Series) else list(series)
    levels = pl.concat([column.unique().alias("level") for column in columns]).unique().sort()
    if not len(levels):
        return [], [pl.Series(column.name, [], dtype=pl.Int64) for column in columns]
    words = pl.Enum(levels)
    return levels.to_list(), [column.cast(words).to_physical().cast(pl.Int64) for column in columns]


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
    path = Path(path)
    if path.is_dir():
        raise NotFound(f"'{path}' is a folder, not a table; name the file in it", where=str(path))
    if not path.exists():
        raise NotFound.path(path)
    if not path.is_file():
        raise BadInput(f"'{path}' is not a regular file", where=str(path))
    ending = path.suffix.lower()
    if ending in (".csv", ".tsv", ".txt"):
        return read_delimited(path, separator=separator or ("\t" if ending == ".tsv" else None), encoding=encoding)
    if ending in (".parquet", ".pq"):
        return _parquet(path)
    if ending == ".xlsx":
        return read_workbook(path, sheet=sheet)
    raise UnknownName(
        f"{path.name}: no table format '{ending or path.name}'; there is .csv, .tsv, .txt, .parquet, .xlsx",
        where=str(path),
    )


def _parquet(path: Path) -> Table:
    try:
        frame = pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadTable(f"{path.name}: not a Parquet file ({shown(error, 120)})", where=str(path)) from error
    if not frame.width:
        raise BadTable(f"{path.name}: a table without columns", where=str(path))
    return Table(frame=frame)


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
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in (".csv", ".tsv", ".parquet"):
        raise UnknownName.among(ending or path.name, [".csv", ".tsv", ".parquet"], "table format")
    with whole_file(path) as aside:
        if ending == ".parquet":
            frame.write_parquet(aside, metadata={"format": str(FORMAT)})
        else:
            frame.write_csv(aside, separator="\t" if ending == ".tsv" else ",")
    return path
