"""The plan of each frozen version, on disk and found by owner, so that no plan has to fit into memory."""

from __future__ import annotations

import contextlib
import csv
import io
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
import sqlalchemy as sa

from ..tables import version

__all__ = ["Planned", "plans_of"]

_TRIALS = (
    "stage", "owner", "sheet", "session", "position", "trial", "kind", "left", "right", "item", "expected", "repeat_of",
    "check",
)  # fmt: skip
_CHUNK = 1 << 20  # bytes
_Owner = tuple[str, str]


class Planned:
    """A version's trials.

    Args:
        path: the plan as CSV; it must stay there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = 0
        """Trials in all."""
        self._ranges: dict[_Owner, list[tuple[int, int]]] = defaultdict(list)
        self._counts: dict[_Owner, int] = defaultdict(int)
        with path.open("rb") as file:
            self._header = file.readline()
            columns = next(csv.reader([self._header.decode()]), [])
            self.beside = sorted(name for name in columns if name not in _TRIALS and "." in name)
            """Columns of references: left.FACTOR, right.FACTOR, item.FACTOR."""
            self._index(file, columns)

    def _index(self, file: BinaryIO, columns: list[str]) -> None:
        """Note where the rows of each owner stand; neighbouring rows of one owner are one range."""
        if "trial" not in columns:
            return
        place = {name: columns.index(name) for name in ("stage", "owner", "sheet") if name in columns}
        lines = _Counted(file, file.tell())
        before: _Owner | None = None
        start = lines.at
        for row in csv.reader(lines):
            told = {name: row[index] for name, index in place.items()}
            owner = told.get("stage", ""), told.get("owner") or told.get("sheet", "")
            ranges = self._ranges[owner]
            if owner == before:
                ranges[-1] = (ranges[-1][0], lines.at)
            else:
                ranges.append((start, lines.at))
            self._counts[owner] += 1
            self.rows += 1
            before, start = owner, lines.at

    def count(self, stage: str, owner: str) -> int:
        """How many trials an owner has."""
        return self._counts.get((stage, owner), 0)

    def of(self, owners: Iterable[_Owner]) -> pl.DataFrame:
        """The trials of several owners, theirs together and in the plan's order; text columns only."""
        ranges = [one for owner in owners for one in self._ranges.get(owner, ())]
        with self.path.open("rb") as file:
            parts = [self._header]
            for start, end in ranges:
                file.seek(start)
                parts.append(file.read(end - start))
        if not ranges:
            return pl.DataFrame(schema=dict.fromkeys((*_TRIALS, *self.beside), pl.String))
        frame = pl.read_csv(io.BytesIO(b"".join(parts)), infer_schema=False)
        absent = (pl.lit(None, dtype=pl.String).alias(name) for name in _TRIALS if name not in frame.columns)
        frame = frame.with_columns(*absent)
        filled = (pl.col("owner").fill_null(pl.col("sheet")), pl.col("session").fill_null("1"))
        return frame.with_columns(*filled).select(*_TRIALS, *self.beside)


@contextlib.contextmanager
def plans_of(c: sa.Connection) -> Iterator[dict[int, Planned]]:
    """The plan of each version by its id; the files go when the block ends."""
    with tempfile.TemporaryDirectory(prefix="paragone-plans-") as folder:
        yield {
            number: Planned(_unpacked(c, number, Path(folder) / f"{number}.csv"))
            for number in c.execute(sa.select(version.c.id).order_by(version.c.id)).scalars().all()
        }


def _unpacked(c: sa.Connection, number: int, path: Path) -> Path:
    packed: bytes = c.execute(sa.select(version.c.plan).where(version.c.id == number)).scalar_one()
    unpacking = zlib.decompressobj()
    with path.open("wb") as file:
        for start in range(0, len(packed), _CHUNK // 16):
            file.write(unpacking.decompress(packed[start : start + _CHUNK // 16]))
        file.write(unpacking.flush())
    return path


class _Counted:
    """Lines of a file as text, with the place after the last one that was given."""

    def __init__(self, file: BinaryIO, at: int) -> None:
        self._file = file
        self.at = at

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> str:
        line = self._file.readline()
        if not line:
            raise StopIteration
        self.at += len(line)
        return line.decode()
