"""NFLX_public: 79 video clips rated on five steps, each content with its hidden reference among them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ..judgements import Ratings
from .bare import read_ratings
from .layout import benchmark_of, file_in, peek, require
from .records import Imported, Source

__all__ = ["SOURCE"]

_COLUMNS = ["rater", "item", "content", "is_reference", "repetition", "score"]


def _read(path: str | Path) -> Imported:
    """Ratings with columns `content` and `reference`: the item that is the undistorted clip of the same content."""
    file = file_in(path, "nflx_public.csv")
    reading = read_ratings(file, {"participant": "rater", "value": "score"})
    frame = reading.noun.frame
    require(frame, ["content", "is_reference", "repetition"], file.name)
    hidden = pl.col("item").filter(pl.col("is_reference") == "1").first().over("content").alias("reference")
    frame = frame.with_columns(hidden).drop("is_reference", "repetition")
    items = frame.select("item", "content", "reference")
    return Imported(
        benchmark=benchmark_of(items, name=SOURCE.name, description=SOURCE.summary, licence=SOURCE.licence),
        ratings=Ratings(frame),
        notes=reading.notes,
    )


def _fits(path: Path) -> bool:
    return peek(path, "nflx_public.csv").columns == _COLUMNS


SOURCE = Source(
    name="nflx_public",
    summary="NFLX_public, 2,054 ratings of 26 people on 79 clips with hidden references; or with 4 random raters more",
    gives=("benchmark", "ratings"),
    licence="Apache-2.0, (c) Netflix (Netflix/sureal)",
    citation="Li and Bampis, Data Compression Conference, 2017; table from Netflix/sureal",
    read=_read,
    fits=_fits,
)
