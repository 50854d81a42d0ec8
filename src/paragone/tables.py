"""Check a frame against its contract; read and write CSV and Parquet without leaving half a file behind.

A noun owns a `Schema`; `checked` is called once, when the noun is made, and nowhere else. Files are read as text first, so
that '001' stays '001' and every fault can be named with its row. Rows are numbered as a spreadsheet shows them: the header
is row 1.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from .errors import BadTable, NotFound, UnknownName

__all__ = ["FORMAT", "Column", "Schema", "checked", "encode", "read_table", "whole_file", "write_table"]

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


def checked(frame: pl.DataFrame, schema: Schema, *, where: str = "table") -> pl.DataFrame:
    """Return the frame with the contract's columns first and in their types, or raise with every fault.

    Args:
        frame: any frame; text columns are converted, missing optional columns are added as null.
        schema: the contract.
        where: file or table name for the messages.

    Returns:
        A frame whose first columns are `schema.names` in order; other columns follow unchanged.

    Raises:
        BadTable: required columns are missing or cells break the contract; holds all faults.
    """
    faults = [
        f"column '{column.name}' is missing (there is {', '.join(frame.columns[:12])})"
        for column in schema.columns
        if column.required and column.name not in frame.columns
    ]
    if faults:
        raise BadTable.of_faults(where, faults)
    made: list[pl.Series] = []
    for column in schema.columns:
        if column.name in frame.columns:
            series, wrong = _converted(frame[column.name], column)
            made.append(series)
            faults.extend(wrong)
        else:
            made.append(pl.Series(column.name, [None] * frame.height, dtype=_DTYPES[column.kind]))
    if faults:
        raise BadTable.of_faults(where, faults)
    rest = [frame[name] for name in frame.columns if name not in schema.names]
    return pl.DataFrame([*made, *rest]) if made or rest else frame


def _converted(series: pl.Series, column: Column) -> tuple[pl.Series, list[str]]:
    """The column in its type, and what is wrong with its cells."""
    target = _DTYPES[column.kind]
    if column.kind in ("id", "text"):
        series = _as_text(series)
        made = series
    elif series.dtype == pl.String:
        made = _parsed(series, column.kind)
    elif column.kind == "whole" and series.dtype.is_float():
        made = series.cast(pl.Int64, strict=False)
        made = made.set(made.cast(pl.Float64) != series.cast(pl.Float64), None)
    else:
        made = series.cast(target, strict=False)
    if column.kind == "number":
        made = made.fill_nan(None)
        bad = made.is_null() & series.is_not_null() & ~_is_nan(series)
        bad = bad | made.is_infinite().fill_null(False)
    else:
        bad = made.is_null() & series.is_not_null()
    faults = _cell_faults(series, bad, column.name, f"is not a {_WORDS[column.kind]}")
    if not column.nullable:
        faults += _cell_faults(series, made.is_null() & ~bad, column.name, "is empty")
    if column.choices:
        wrong = made.is_not_null() & ~made.is_in(list(column.choices))
        faults += _cell_faults(series, wrong, column.name, f"is not one of {', '.join(column.choices)}")
    if column.low is not None:
        faults += _cell_faults(series, (made < column.low).fill_null(False), column.name, f"is below {column.low:g}")
    if column.high is not None:
        faults += _cell_faults(series, (made > column.high).fill_null(False), column.name, f"is above {column.high:g}")
    return made.alias(column.name), faults


_WORDS = {"number": "finite number", "whole": "whole number", "flag": "true or false", "id": "name", "text": "text"}


def _is_nan(series: pl.Series) -> pl.Series:
    if series.dtype.is_float():
        return series.is_nan().fill_null(False)
    return pl.Series([False], dtype=pl.Boolean).new_from_index(0, len(series))


def _as_text(series: pl.Series) -> pl.Series:
    if series.dtype == pl.String:
        return series
    if series.dtype.is_float():
        whole = series.cast(pl.Int64, strict=False)
        if bool((whole.cast(pl.Float64) == series).fill_null(True).all()):
            return whole.cast(pl.String)
    return series.cast(pl.String)


def _parsed(series: pl.Series, kind: str) -> pl.Series:
    text = series.str.strip_chars()
    if kind == "number":
        return text.cast(pl.Float64, strict=False)
    if kind == "whole":
        number = text.cast(pl.Float64, strict=False)
        made = number.cast(pl.Int64, strict=False)
        return made.set((made.cast(pl.Float64) != number).fill_null(False), None)
    lower = text.str.to_lowercase()
    yes, no = lower.is_in(["true", "1", "yes"]), lower.is_in(["false", "0", "no"])
    return (
        pl.DataFrame({"yes": yes, "no": no})
        .select(pl.when(pl.col("yes")).then(True).when(pl.col("no")).then(False))
        .to_series()
    )


def _cell_faults(series: pl.Series, wrong: pl.Series, name: str, problem: str, shown: int = 3) -> list[str]:
    """Faults of one kind in one column: the first few rows named, the others counted."""
    rows = wrong.arg_true().to_list()
    faults = []
    for row in rows[:shown]:
        value = series[row]
        cell = f"{name} '{value}'" if value is not None else name
        faults.append(f"row {row + 2}: {cell} {problem}")
    if len(rows) > shown:
        faults.append(f"{len(rows) - shown} more rows where {name} {problem}")
    return faults


def encode(series: Sequence[pl.Series] | pl.Series) -> tuple[list[str], list[pl.Series]]:
    """Turn names into indices over one sorted list of levels shared by all given columns.

    Args:
        series: one or more String columns without nulls.

    Returns:
        The sorted levels, and for each column an Int64 series of indices into them.
    """
    columns = [series] if isinstance(series, pl.Series) else list(series)
    together = pl.concat([column.rename("level") for column in columns])
    levels = together.unique().sort()
    lookup = pl.DataFrame({"level": levels, "index": pl.Series(range(len(levels)), dtype=pl.Int64)})
    codes = [
        pl.DataFrame({"level": column}).join(lookup, on="level", how="left", maintain_order="left")["index"]
        for column in columns
    ]
    return levels.to_list(), codes


def read_table(path: str | Path) -> pl.DataFrame:
    """Read a CSV, TSV or Parquet file; text files come back as text columns only.

    Args:
        path: ends in .csv, .tsv, .txt, .parquet or .pq.

    Returns:
        The frame; empty cells and NA, N/A, NaN, null, None are null in text files.

    Raises:
        NotFound: no such file.
        BadTable: the file is empty, ragged, not text, or of an ending that is not known.
    """
    path = Path(path)
    if path.is_dir():
        raise NotFound(f"'{path}' is a folder, not a table; name the file in it", where=str(path))
    if not path.exists():
        raise NotFound.path(path)
    ending = path.suffix.lower()
    if ending in (".parquet", ".pq"):
        try:
            return pl.read_parquet(path)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise BadTable(f"{path.name}: not a Parquet file ({_short(error)})", where=str(path)) from error
    if ending not in (".csv", ".tsv", ".txt"):
        raise UnknownName.among(ending or path.name, [".csv", ".tsv", ".txt", ".parquet", ".xlsx"], "table format")
    return _read_text(path, "\t" if ending == ".tsv" else None)


def _read_text(path: Path, separator: str | None) -> pl.DataFrame:
    content = _decoded(path)
    if not content.strip():
        raise BadTable(f"{path.name}: the file is empty; a table needs a header row", where=str(path))
    first = content.split("\n", 1)[0]
    separator = separator or max(",;\t|", key=first.count)
    try:
        frame = pl.read_csv(
            content.encode(),
            separator=separator,
            infer_schema=False,
            null_values=list(_MISSING),
            raise_if_empty=True,
        )
    except pl.exceptions.PolarsError as error:
        raise BadTable.of_faults(path.name, _ragged(content, separator) or [_short(error)]) from error
    names = [name.strip() for name in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadTable(f"{path.name}: column '{twice[0]}' stands twice in the header", where=str(path))
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def _decoded(path: Path) -> str:
    raw = path.read_bytes()
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    else:
        encoding = "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise BadTable(
            f"{path.name}, row {line}: not valid {encoding.removesuffix('-sig')} text; save the table as UTF-8",
            where=str(path),
        ) from error
    if "\x00" in text:
        raise BadTable(f"{path.name}: holds zero bytes, so it is not a text table", where=str(path))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _ragged(content: str, separator: str) -> list[str]:
    import csv
    import io

    rows = csv.reader(io.StringIO(content), delimiter=separator)
    width = len(next(rows, []))
    return [
        f"row {number}: {len(row)} cells where the header has {width}"
        for number, row in enumerate(rows, start=2)
        if row and len(row) != width
    ][:20]


def _short(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:160]


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
