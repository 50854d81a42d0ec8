"""What a table must be: `Column`, `Schema`, and `checked`, which names every fault with its row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from ..errors import BadTable
from .delimited import shown

__all__ = ["MISSING", "Column", "Schema", "checked", "encode"]

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None")
"""Words for no answer in columns of numbers and of fixed words; in columns of ids they are ids."""


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
        BadTable: what is given is no frame, required columns are missing, cells break the contract, or a text holds a
            zero byte (other control characters are odd, but they are read back as they were); holds all faults.
    """
    if not isinstance(frame, pl.DataFrame):
        raise BadTable(f"{where}: needs a polars DataFrame, not {_kind_of(frame)}", where=where)
    faults = [
        f"column '{column.name}' is missing (there is {', '.join(shown(name) for name in frame.columns[:12])})"
        for column in schema.columns
        if column.required and column.name not in frame.columns
    ]
    if faults:
        raise BadTable.of_faults(where, faults)
    held = dict(zip(frame.columns, frame.null_count().row(0), strict=True)) if frame.width else {}
    made: list[pl.Series] = []
    empty: list[pl.Expr] = []
    for column in schema.columns:
        nothing = held.get(column.name, frame.height) == frame.height
        if column.name in frame.columns and not (nothing and column.nullable):
            name = shown((called or {}).get(column.name, column.name))
            series, wrong = _converted(frame[column.name], column, name, rows)
            made.append(series)
            faults.extend(wrong)
        else:
            empty.append(pl.lit(None, dtype=_DTYPES[column.kind]).alias(column.name))
    if faults:
        raise BadTable.of_faults(where, faults)
    rest = [name for name in frame.columns if name not in schema.names]
    for name in rest:
        if frame[name].dtype == pl.String:
            faults += _zero_faults(frame[name], shown((called or {}).get(name, name)), rows)
    if faults:
        raise BadTable.of_faults(where, faults)
    typed = pl.DataFrame(made) if made else frame.select(pl.int_range(pl.len()).alias("\0row"))
    # A literal null takes no memory until somebody fills it: ten million votes have half a dozen such columns.
    return typed.with_columns(*empty, *(frame[name] for name in rest)).select(*schema.names, *rest)


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
        zeros = _zero_faults(series, name, rows)
        if zeros:
            return pl.Series(column.name, [None], dtype=_DTYPES[column.kind]), zeros
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
        numbers = series.cast(pl.Float64).fill_nan(None)  # NaN is an empty cell, here as everywhere
        if column.kind == "id" and bool(numbers.is_infinite().fill_null(False).any()):
            return "holds infinite numbers, which are no ids; store it as text"
        if column.kind == "id" and bool((numbers.abs() >= _EXACT).fill_null(False).any()):
            return "holds ids as floats beyond 2^53, which have lost digits; store them as text"
        return ""
    if dtype.is_temporal():
        return "holds dates or times; store it as text or as a plain number"
    return f"is of type {str(dtype).split('(')[0]}; plain text or numbers are needed"


def _zero_faults(series: pl.Series, name: str, rows: pl.Series | None) -> list[str]:
    """Cells of text that no CSV file can hold, named by row: with a zero byte it would no longer be read as text."""
    found = series.str.contains("\0", literal=True).fill_null(False)
    return _cell_faults(series, found, name, "holds a zero byte, a control character that no text file can hold", rows)


def _kind_of(thing: object) -> str:
    """What was given in place of a frame, and what to do about it where that is known."""
    kind = type(thing)
    if isinstance(thing, pl.LazyFrame):
        return "LazyFrame; call .collect() first"
    if kind.__module__.partition(".")[0] == "pandas":
        return f"a pandas {kind.__name__}; convert it with polars.from_pandas"
    return f"{kind.__name__}"


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
    missing = series.str.strip_chars().is_in(list(MISSING)).fill_null(False)
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
