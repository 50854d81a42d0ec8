"""Ratings in two layers, the second a copy of the first: the plumbing of repetitions, not reliability."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ..judgements import Ratings
from .bare import read_ratings
from .layout import benchmark_of, file_in, peek, require, without_second_answers
from .records import Imported, Source

__all__ = ["SOURCE"]

_COLUMNS = ["rater", "item", "repetition", "score"]


def _read(path: str | Path) -> Imported:
    """Ratings whose second layer is of kind repeat and names the trial that it repeats."""
    file = file_in(path, "ratings.csv")
    reading = read_ratings(file, {"participant": "rater", "value": "score"})
    frame = reading.noun.frame
    require(frame, ["repetition"], file.name)
    trial = pl.concat_str("item", "repetition", separator="#")
    first = pl.concat_str("item", pl.lit("1"), separator="#")
    again = pl.col("repetition") != "1"
    frame = frame.with_columns(
        trial.alias("trial"),
        pl.when(again).then(pl.lit("repeat")).otherwise(pl.lit("main")).alias("kind"),
        pl.when(again).then(first).alias("repeat_of"),
    ).drop("repetition")
    items = frame.select("item")
    return Imported(
        benchmark=benchmark_of(items, name=SOURCE.name, description=SOURCE.summary, licence=SOURCE.licence),
        ratings=Ratings(frame),
        notes=(
            *without_second_answers(reading.notes),
            "the repeats are copies of the first answers: their agreement says nothing about people",
        ),
    )


def _fits(path: Path) -> bool:
    return peek(path, "ratings.csv").columns == _COLUMNS


SOURCE = Source(
    name="bt500_repetitions",
    summary="BT.500 demonstration, 1,196 ratings of 20 people on 30 items, each given twice, with missing answers",
    gives=("benchmark", "ratings"),
    licence="Apache-2.0, (c) Netflix (Netflix/sureal)",
    citation="Netflix/sureal, itur_bt500_demo, 2022",
    read=_read,
    fits=_fits,
)
