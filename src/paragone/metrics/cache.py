"""Results kept by the content of the pictures, so that a killed run resumes and a second run costs nothing.

One small Parquet file for each picture, named by the SHA-256 of its bytes; one row for each question that was asked of
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from ..errors import BadTable
from ..tables import read_table, write_table
from .outcome import Outcome

__all__ = ["known", "remember"]

_COLUMNS = {"question": pl.String, "score": pl.Float64, "status": pl.String, "reason": pl.String, "note": pl.String}


def known(folder: Path, digest: str) -> dict[str, Outcome]:
    """What is known about the picture of that digest: question -> outcome.

    Raises:
        BadTable: the file that should hold it does not.
    """
    path = _path(folder, digest)
    if not path.exists():
        return {}
    frame = read_table(path)
    if dict(frame.schema) != _COLUMNS:
        raise BadTable(f"{path}: not a cache of measure; delete it or name another folder", where=str(path))
    return {question: Outcome(*rest) for question, *rest in frame.rows()}


def remember(folder: Path, digest: str, outcomes: Mapping[str, Outcome]) -> None:
    """Write what is known about one picture, whole or not at all."""
    rows = [(question, *outcome) for question, outcome in sorted(outcomes.items())]
    write_table(pl.DataFrame(rows, schema=_COLUMNS, orient="row"), _path(folder, digest))


def _path(folder: Path, digest: str) -> Path:
    return folder / digest[:2] / f"{digest}.parquet"
