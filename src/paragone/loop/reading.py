"""Files of ours that somebody changed: whatever the table engine says of them becomes a refusal that names the file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from ..errors import BadTable

__all__ = ["named"]


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Refuse, by the name of `path`, what the table engine cannot read in the block.

    Raises:
        BadTable: a column is missing or of another type, or a file beside the table (draws, tests) is not what it was.
    """
    try:
        yield
    except pl.exceptions.PolarsError as error:
        said = " ".join(str(error).split())[:120]
        raise BadTable(
            f"{path.name}: it, or a file beside it, is not as paragone writes it ({said}); make it again",
            where=str(path),
        ) from error
