"""The shape of a delimited file, judged on its bytes part by part: equal rows, whole quotes, no zero bytes.

The reader behind it fills short rows silently, so this comes first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bytes", "has_quoted_cells", "shape_faults"]

_CHUNK = 1 << 22  # bytes looked at together; small enough for the cache, large enough for numpy

Bytes = NDArray[np.uint8]
Places = NDArray[np.intp]


def has_quoted_cells(content: Bytes, separator: str) -> bool:
    """Whether some cell begins with a quote; if none does, quotes are plain characters."""
    opens = np.array([10, ord(separator)], dtype=np.uint8)
    skip = 3 if content[:3].tobytes() == b"\xef\xbb\xbf" else 0
    for low in range(0, len(content), _CHUNK):
        at = np.flatnonzero(content[low : low + _CHUNK] == 34) + low
        if at.size and ((at == skip) | np.isin(content[np.maximum(at - 1, 0)], opens)).any():
            return True
    return False


def shape_faults(content: Bytes, separator: str, width: int, quoted: bool) -> list[str]:
    """Rows with too many or too few cells, stray and unclosed quotes, zero bytes: one line each, the first 50 rows."""
    faults: list[str] = []
    inside, marks_before, row, start, wrong_rows = 0, 0, 1, 0, 0
    stop = ""
    for low in range(0, len(content), _CHUNK):
        chunk = content[low : low + _CHUNK]
        newline, mark = chunk == 10, chunk == ord(separator)
        end = len(chunk)
        if quoted:
            quote = chunk == 34
            within = (np.add.accumulate(quote, dtype=np.uint8) + np.uint8(inside)) & 1
            newline &= within == 0
            mark &= within == 0
            inside = int(within[-1])
            stray = _stray_quote(content, np.flatnonzero(quote) + low, within[quote], separator)
            if stray is not None:
                stop, end = "a stray quote; double it, or put quotes around the whole cell", stray - low
        if chunk.min() == 0 and int(np.argmin(chunk)) < end:
            stop, end = "holds a zero byte, so this is not a text table", int(np.argmin(chunk))
        ends = np.flatnonzero(newline[:end])
        marks = np.flatnonzero(mark[:end])
        upto = np.searchsorted(marks, ends)
        if ends.size:
            cells = np.diff(upto, prepend=0) + 1
            cells[0] += marks_before
            starts = np.concatenate(([start], ends[:-1] + low + 1))
            wrong = _not_blank(content, starts, ends + low, np.flatnonzero(cells != width))
            faults += [_ragged(row + int(k), int(cells[k]), width) for k in wrong[: max(0, 50 - len(faults))]]
            wrong_rows += wrong.size
            row, start, marks_before = row + ends.size, int(ends[-1]) + low + 1, 0
        if stop:
            return [*faults, f"row {row}: {stop}"]
        marks_before += marks.size - (int(upto[-1]) if ends.size else 0)
    if inside:
        return [*faults, f"row {row}: a quote is opened and never closed"]
    if start < len(content) and marks_before + 1 != width and content[start:].tobytes().strip(b"\r"):
        faults.append(_ragged(row, marks_before + 1, width))
    hidden = wrong_rows - 50
    return [*faults, f"{hidden} more rows of another length"] if hidden > 0 else faults


def _ragged(row: int, cells: int, width: int) -> str:
    return f"row {row}: {cells} cell{'s' if cells != 1 else ''} where the header has {width}"


def _not_blank(content: Bytes, starts: Places, ends: Places, rows: Places) -> Places:
    """Those of the given rows that hold more than a line end."""
    length = ends[rows] - starts[rows]
    blank = (length == 0) | ((length == 1) & (content[np.minimum(starts[rows], len(content) - 1)] == 13))
    kept: Places = rows[~blank]
    return kept


def _stray_quote(content: Bytes, at: Places, within: Bytes, separator: str) -> int | None:
    """Place of the first quote that neither opens nor closes a whole cell nor is doubled."""
    if not at.size:
        return None
    opens = np.array([10, 34, ord(separator)], dtype=np.uint8)
    closes = np.array([10, 13, 34, ord(separator)], dtype=np.uint8)
    before = np.isin(content[np.maximum(at - 1, 0)], opens) | (at == 0)
    if content[:3].tobytes() == b"\xef\xbb\xbf":
        before |= at == 3
    after = np.isin(content[np.minimum(at + 1, len(content) - 1)], closes) | (at == len(content) - 1)
    wrong = np.flatnonzero(~np.where(within == 1, before, after))
    return int(at[wrong[0]]) if wrong.size else None
