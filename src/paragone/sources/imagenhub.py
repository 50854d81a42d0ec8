"""ImagenHub: three people rate every output of every method on two criteria, task by task."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ..judgements import Ratings
from .bare import read_ratings
from .layout import benchmark_of, file_in, peek
from .records import Imported, Source

__all__ = ["SOURCE"]

_COLUMNS = ["task", "sample", "method", "rater", "semantic_consistency", "perceptual_quality"]


def _read(path: str | Path, *, overall: bool = False) -> Imported:
    """Ratings in {0, 0.5, 1} on 'task/sample/method'; factors task, sample, method.

    Raters are numbered anew in every task, so a participant is 'task/rater'.

    Args:
        path: ratings.csv or its folder.
        overall: add the paper's criterion `overall`, sqrt(semantic consistency x perceptual quality).
    """
    file = file_in(path, "ratings.csv")
    columns = {
        "item": "task+sample+method",
        "participant": "task+rater",
        "criterion": "semantic_consistency|perceptual_quality",
    }
    reading = read_ratings(file, columns)
    frame = reading.noun.frame.drop("rater")
    if overall:
        keys = ["participant", "item", "task", "sample", "method"]
        both = frame.group_by(keys, maintain_order=True).agg(pl.col("value").product().sqrt(), pl.len().alias("n"))
        both = both.filter(pl.col("n") == 2).drop("n").with_columns(pl.lit("overall").alias("criterion"))
        frame = pl.concat([frame, both], how="diagonal")
    items = frame.select("item", "task", "sample", "method")
    return Imported(
        benchmark=benchmark_of(
            items,
            name=SOURCE.name,
            criteria=frame["criterion"].unique(maintain_order=True).to_list(),
            description=SOURCE.summary,
            licence=SOURCE.licence,
        ),
        ratings=Ratings(frame),
        notes=(*reading.notes, "raters are numbered per task; a participant is 'task/rater'"),
    )


def _fits(path: Path) -> bool:
    return peek(path, "ratings.csv").columns == _COLUMNS


SOURCE = Source(
    name="imagenhub",
    summary="ImagenHub: semantic consistency and perceptual quality of every method's output, three raters a task",
    gives=("benchmark", "ratings"),
    licence="MIT (TIGER-AI-Lab/ImagenHub)",
    citation="Ku et al., ImagenHub: Standardizing the evaluation of conditional image generation models, ICLR 2024",
    read=_read,
    fits=_fits,
)
