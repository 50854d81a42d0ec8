"""Workbooks (.xlsx): one sheet as text cells, with what a spreadsheet may have done to ids held against it.

A spreadsheet turns the id '3-4' into a date and keeps 15 digits of a number. Both are faults of the column they stand
in, but only where that column is used, so they are handed on as doubts.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ..errors import BadTable, MissingExtra, UnknownName
from .delimited import MOST_COLUMNS, Table, named_columns, shown

__all__ = ["read_workbook"]

_DATE = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$"
_DIGITS = r"^-?\d{16,}$"


def read_workbook(path: Path, *, sheet: str | None = None) -> Table:
    """Read one sheet of a workbook; every cell comes back as text, whole numbers without a decimal point.

    Args:
        path: an existing .xlsx file.
        sheet: name of the sheet; None: the first.

    Returns:
        The table; columns with dates among their cells, or with numbers of more digits than a spreadsheet keeps, are
        listed in its doubts.

    Raises:
        MissingExtra: the library that reads workbooks is not installed.
        BadTable: not a workbook, an empty sheet, a bad header.
        UnknownName: no such sheet.
    """
    try:
        import fastexcel
    except ModuleNotFoundError as error:
        raise MissingExtra.library(f"reading {path.name}", "fastexcel", "xlsx") from error
    try:
        book = fastexcel.read_excel(str(path))
    except fastexcel.FastExcelError as error:
        raise BadTable(f"{path.name}: not a workbook ({shown(error, 80)})", where=str(path)) from error
    if sheet is not None and sheet not in book.sheet_names:
        raise UnknownName.among(sheet, book.sheet_names, f"sheet in {path.name}")
    chosen = sheet or book.sheet_names[0]
    notes = [f"sheet '{shown(chosen)}' of {len(book.sheet_names)} is read"] if len(book.sheet_names) > 1 else []
    try:
        cells = book.load_sheet(chosen, header_row=None, skip_rows=0, dtypes="string").to_polars()
    except fastexcel.FastExcelError as error:
        raise BadTable(f"{path.name}: sheet '{shown(chosen)}': {shown(error, 80)}", where=str(path)) from error
    held = (
        cells.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true().to_list() if cells.width else []
    )
    if not held:
        raise BadTable(f"{path.name}: sheet '{shown(chosen)}' is empty; a table needs a header row", where=str(path))
    top = int(held[0])
    used = [name for name in cells.columns if cells[name].null_count() < cells.height]
    names = [str(name or "") for name in cells.select(used).row(top)]
    if len(names) > MOST_COLUMNS:
        raise BadTable(
            f"{path.name}: sheet '{shown(chosen)}' has {len(names)} columns; at most {MOST_COLUMNS:,} are read",
            where=str(path),
        )
    body = cells.select(used).slice(top + 1, int(held[-1]) - top)
    frame = named_columns(body, names, notes, str(path))
    typed = book.load_sheet(chosen, header_row=top, schema_sample_rows=None).available_columns
    numeric = {str(name).strip() for name in frame.columns if _long_numbers(frame[name])}
    if numeric:
        numeric &= {column.name.strip() for column in typed() if column.dtype in ("int", "float")}
    return Table(frame=frame, notes=tuple(notes), first=top + 2, doubts=_doubts(frame, top + 2, numeric))


def _long_numbers(series: pl.Series) -> bool:
    return bool(series.str.contains(_DIGITS).fill_null(False).any())


def _doubts(frame: pl.DataFrame, first: int, numeric: set[str]) -> dict[str, tuple[str, ...]]:
    """Faults by column; `numeric` are the columns whose cells are numbers for the spreadsheet too."""
    found: dict[str, tuple[str, ...]] = {}
    for series in frame.iter_columns():
        dates = series.str.contains(_DATE).fill_null(False).arg_true().to_list()
        long = series.str.contains(_DIGITS).fill_null(False) if series.name in numeric else pl.Series([False])
        digits = long.arg_true().to_list()
        faults = [
            f"row {row + first}: {series.name} '{series[row][:10]}' is a date; make the column text and type it anew"
            for row in dates[:3]
        ]
        faults += [
            f"row {row + first}: {series.name} '{series[row]}' has more digits than a spreadsheet keeps; make it text"
            for row in digits[:3]
        ]
        hidden = len(dates) - len(dates[:3])
        if hidden:
            faults.append(f"{hidden} more rows where {series.name} is a date")
        if faults:
            found[series.name] = tuple(faults)
    return found
