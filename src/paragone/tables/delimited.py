"""Delimited text: what separates the cells, which rows are ragged, which bytes are no text.

Every cell comes back as text, so that '001' stays '001'. The shape of the file is checked on its bytes, a few megabytes
at a time, because the reader behind it fills short rows silently.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from ..errors import BadInput, BadTable, UnknownName
from .shape import Bytes, has_quoted_cells, shape_faults

__all__ = ["MOST_COLUMNS", "Table", "named_columns", "read_delimited", "read_header", "shown"]

MOST_COLUMNS = 10_000
"""Most columns of a text table or workbook; our choice: a table of answers or scores has a dozen, and one with more
columns than this is a table turned on its side. Parquet, which holds replicates with a column an item, has no limit."""
_SAMPLE = 1 << 18  # bytes from which the separator is found
_HEADER = 1 << 20  # a longer first row is not a header
_SEPARATORS = (",", ";", "\t", "|")
_WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_PACKED = {
    b"\x1f\x8b": "gzip-compressed; unpack it first",
    b"PK\x03\x04": "a zip archive or a workbook; name it .xlsx if it is one",
    b"PAR1": "Parquet; name it .parquet",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table as it stood in its file, and what a reader should know about it."""

    frame: pl.DataFrame
    """The cells; text only, unless the file itself has types."""
    notes: tuple[str, ...] = ()
    """What was done to read it, one line each."""
    first: int = 2
    """Number that a spreadsheet shows beside the first row below the header."""
    separator: str = ""
    """What separates the cells; empty where the file is no text."""
    doubts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By column: faults that matter only where the column is used, such as an id that became a date."""


def shown(value: object, limit: int = 40) -> str:
    """A cell or name on one line, shortened, for a message."""
    text = re.sub(r"\s+", " ", str(value))
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def read_delimited(path: Path, *, separator: str | None = None, encoding: str | None = None) -> Table:
    """Read a CSV or TSV file; every cell comes back as text, an empty one as null.

    Args:
        path: an existing file.
        separator: one character, or 'tab'; None: found from the first rows.
        encoding: a name that Python knows; None: UTF-8, or UTF-16 where the file says so by its first bytes.

    Returns:
        The table. Blank lines at the end are left out, others are rows of nulls.

    Raises:
        BadTable: empty, not text, more than `MOST_COLUMNS` columns, ragged, an unclosed or stray quote, a header with
            doubled or only blank names; every ragged row is named.
        BadInput: the file cannot be opened, or `separator` is no single character.
        UnknownName: no such encoding.
    """
    separator = _one_character(separator)
    notes: list[str] = []
    content = _bytes(path, encoding, notes)
    separator = separator or _separator(path, content, notes)
    names = _header(path, content, separator)
    quoted = has_quoted_cells(content, separator)
    faults = shape_faults(content, separator, len(names), quoted)
    if faults:
        raise BadTable.of_faults(path.name, faults)
    if not quoted and b'"' in content[:_SAMPLE].tobytes():
        notes.append("no cell begins with a quote, so quotes are read as plain characters")
    plain = isinstance(content, np.memmap)
    try:
        frame = pl.read_csv(
            path if plain else io.BytesIO(content.tobytes()),
            separator=separator,
            infer_schema=False,
            quote_char='"' if quoted else None,
            glob=False,
        )
    except pl.exceptions.PolarsError as error:
        raise _not_text(path, content, separator, names) or BadTable(
            f"{path.name}: {shown(error, 160)}", where=str(path)
        ) from error
    frame.columns = [f"\0{k}" for k in range(frame.width)]
    frame = named_columns(_without_blank_end(frame), names, notes, str(path))
    return Table(frame=frame, notes=tuple(notes), separator=separator)


def read_header(path: Path, *, separator: str | None = None, encoding: str | None = None) -> list[str]:
    """The names in the first row of a CSV or TSV file, blank ones left out; only the first rows are read.

    Args and Raises: as for `read_delimited`, as far as the first rows show it.
    """
    notes: list[str] = []
    content = _bytes(path, encoding, notes)
    separator = _one_character(separator) or _separator(path, content, notes)
    return [name.strip() for name in _header(path, content, separator) if name.strip()]


def _one_character(separator: str | None) -> str | None:
    if separator in ("\\t", "tab"):
        return "\t"
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n'):
        raise BadInput(f"separator '{shown(separator)}' is not one plain character", where="separator")
    return separator


def _bytes(path: Path, encoding: str | None, notes: list[str]) -> Bytes:
    """The file as UTF-8 bytes with newlines; mapped, not loaded, where nothing has to be changed."""
    try:
        if path.stat().st_size == 0:
            raise BadTable(f"{path.name}: the file is empty; a table needs a header row", where=str(path))
        content: Bytes = np.memmap(path, dtype=np.uint8, mode="r")
    except OSError as error:
        raise BadInput(f"cannot open '{path}': {error.strerror}", where=str(path)) from error
    head = content[:_SAMPLE].tobytes()
    for magic, kind in _PACKED.items():
        if head.startswith(magic):
            raise BadTable(f"{path.name}: not a text table but {kind}", where=str(path))
    if encoding is None and head.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
        notes.append("read as UTF-16")
    if encoding is not None:
        content = _recoded(path, content, encoding)
    if not head.strip(b"\xef\xbb\xbf \t\r\n") and not content.tobytes().strip(b"\xef\xbb\xbf \t\r\n"):
        raise BadTable(f"{path.name}: the file is blank; a table needs a header row", where=str(path))
    if b"\r" in head and not (content == 10).any():
        notes.append("lines end in carriage returns alone")
        content = np.where(content == 13, np.uint8(10), content)
    return content


def _recoded(path: Path, content: Bytes, encoding: str) -> Bytes:
    try:
        text = content.tobytes().decode(encoding)
    except LookupError as error:
        raise UnknownName.among(encoding, ["utf-8", "utf-16", "cp1252", "latin-1", "mac-roman"], "encoding") from error
    except UnicodeError as error:
        raise BadTable(f"{path.name}: not valid {encoding} text", where=str(path)) from error
    return np.frombuffer(text.removeprefix("\ufeff").encode(), dtype=np.uint8)


def _sample(path: Path, content: Bytes) -> str:
    """The first rows as text, whole rows only where there are more; for looking, not for keeping."""
    raw = content[:_SAMPLE].tobytes()
    if b"\0" in raw:
        raise BadTable(
            f"{path.name}: holds zero bytes, so it is not a text table (UTF-16 needs its byte order mark)",
            where=str(path),
        )
    if len(content) > _SAMPLE and b"\n" in raw:
        raw = raw[: raw.rindex(b"\n") + 1]
    return raw.decode("utf-8-sig", errors="replace")


def _records(text: str, separator: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    except csv.Error:
        return


def _separator(path: Path, content: Bytes, notes: list[str]) -> str:
    """The character that splits the header and then every row of the sample into equally many cells."""
    text = _sample(path, content)
    widths: dict[str, int] = {}
    share: dict[str, float] = {}
    for mark in _SEPARATORS:
        rows = [len(row) for row in _records(text, mark) if row]
        if rows and rows[0] > 1:
            widths[mark] = rows[0]
            share[mark] = sum(width == rows[0] for width in rows) / len(rows)
    if not widths:
        return ","
    best = max(widths, key=lambda mark: (share[mark], widths[mark]))
    rivals = [mark for mark in widths if mark != best and share[mark] == share[best] == 1.0]
    if any(widths[mark] == widths[best] for mark in rivals):
        both = " or ".join(_WORDS[mark] for mark in (best, *rivals) if widths[mark] == widths[best])
        raise BadTable(
            f"{path.name}: {both} could separate the cells; name the separator or use a Parquet file", where=str(path)
        )
    if best not in (",", "\t"):
        notes.append(f"cells are separated by {_WORDS[best]}")
    return best


def _header(path: Path, content: Bytes, separator: str) -> list[str]:
    raw = content[: _HEADER + 1].tobytes()
    if len(raw) > _HEADER and b"\n" not in raw:
        raise BadTable(
            f"{path.name}, row 1: the header is longer than {_HEADER:,} bytes, so this is not a table", where=str(path)
        )
    names = _first_record(path, _sample(path, content), separator)
    if b"\n" not in raw[:_SAMPLE] and len(content) > _SAMPLE:  # the sample ends inside the header
        names = _first_record(path, raw.decode("utf-8-sig", errors="replace"), separator)
    if len(names) > MOST_COLUMNS:
        raise BadTable(
            f"{path.name}, row 1: {len(names)} columns; a table of text has at most {MOST_COLUMNS:,}, with one row a "
            "vote, rating, item or score",
            where=str(path),
        )
    first = raw.split(b"\n", 1)[0]
    try:
        first.decode()
    except UnicodeDecodeError as error:
        raise _no_utf8(path, "row 1: the header") from error
    if not names:
        raise BadTable(f"{path.name}, row 1: blank; the header must be the first row", where=str(path))
    return names


def _first_record(path: Path, text: str, separator: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
    except csv.Error as error:
        raise BadTable(
            f"{path.name}, row 1: the header cannot be read ({shown(error, 80)}); is there a quote that never closes?",
            where=str(path),
        ) from error


def _not_text(path: Path, content: Bytes, separator: str, names: list[str]) -> BadTable | None:
    """The error that names row and column of the first byte that is not UTF-8, if there is one."""
    raw = content.tobytes()
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        begin = raw.rfind(b"\n", 0, error.start) + 1
        cells = next(_records(raw[begin : error.start].decode(errors="replace"), separator), [""])
        column = names[min(len(cells), len(names)) - 1]
        row = raw.count(b"\n", 0, error.start) + 1
        return _no_utf8(path, f"row {row}: column '{shown(column)}'")
    return None


def _no_utf8(path: Path, place: str) -> BadTable:
    # No fallback to cp1252: every byte is valid in some Latin code page, so a wrong guess would give other ids that
    # match no picture, and nobody would be told.
    return BadTable(
        f"{path.name}, {place} is not valid UTF-8; save the table as UTF-8 or name its encoding (often cp1252)",
        where=str(path),
    )


def _without_blank_end(frame: pl.DataFrame) -> pl.DataFrame:
    if not frame.height or any(value is not None for value in frame.row(-1)):
        return frame
    held = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
    return frame.head(0 if held.is_empty() else int(held[-1]) + 1)


def named_columns(frame: pl.DataFrame, names: list[str], notes: list[str], where: str) -> pl.DataFrame:
    """Give the frame its header: blank names are filled or their columns left out, doubled names are refused.

    Args:
        frame: columns in file order, under any names.
        names: what the header says.
        notes: what was done is added here.
        where: the file, for messages.

    Raises:
        BadTable: a name stands twice, or all are blank.
    """
    names = [name.strip() for name in names]
    file = Path(where).name
    if not any(names):
        raise BadTable(f"{file}, row 1: the header has only blank names", where=where)
    counts = Counter(names)
    twice = sorted({shown(name) for name, count in counts.items() if name and count > 1})
    if twice:
        raise BadTable.of_faults(f"{file}, row 1", [f"column '{name}' stands twice in the header" for name in twice])
    kept: list[pl.Series] = []
    for place, (name, series) in enumerate(zip(names, frame.iter_columns(), strict=True)):
        if name:
            kept.append(series.alias(name))
        elif series.null_count() == len(series):
            notes.append(f"column {place + 1} has neither name nor cells and is left out")
        elif place == 0 and _counts_up(series):
            notes.append("the first column has no name and counts the rows; it is left out")
        else:
            kept.append(series.alias(f"column_{place + 1}"))
            notes.append(f"column {place + 1} has no name; it is called column_{place + 1}")
    return pl.DataFrame(kept)


def _counts_up(series: pl.Series) -> bool:
    numbers = series.cast(pl.Int64, strict=False)
    if not len(numbers) or numbers.null_count():
        return False
    return numbers[0] in (0, 1) and bool((numbers.diff().drop_nulls() == 1).all())
