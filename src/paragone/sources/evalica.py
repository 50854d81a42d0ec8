"""evalica's own test data: three sets of pairwise answers with ties."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ..judgements import Votes
from .bare import read_votes
from .layout import benchmark_of, file_in, peek, sided
from .records import Imported, Source

__all__ = ["SOURCE"]

_LLMFAO = ["id", "prompt", "model_x", "model_y", "worker", "winner", "left", "right"]


def _read(path: str | Path) -> Imported:
    """Votes; of llmfao with the column `prompt`, the number of the question that two models answered.

    Args:
        path: simple.csv, food.csv or llmfao.csv, or a folder with llmfao.csv.
    """
    file = file_in(path, "llmfao.csv")
    reading = read_votes(file, {"choice": "winner"})
    frame = reading.noun.frame
    frame = frame.drop([name for name in ("id", "model_x", "model_y") if name in frame.columns])
    items = sided(frame, {"method": ("left", "right")}).select(pl.col("item"), pl.col("method"))
    return Imported(
        benchmark=benchmark_of(items, name=file.stem, description=SOURCE.summary, licence=SOURCE.licence),
        votes=Votes(frame),
        notes=reading.notes,
    )


def _fits(path: Path) -> bool:
    return peek(path, "llmfao.csv").columns == _LLMFAO


SOURCE = Source(
    name="evalica",
    summary="evalica's test data: simple (16 votes), food (30), llmfao (8,931 of 124 people on 59 language models)",
    gives=("benchmark", "votes"),
    licence="Apache-2.0, (c) Dmitry Ustalov (dustalov/evalica)",
    citation="Ustalov, COLING 2025 demonstrations; dustalov/evalica",
    read=_read,
    fits=_fits,
)
