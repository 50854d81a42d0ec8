"""DynaVect user study: 58 people choose between two edits in each of 58 questions."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ..errors import BadTable
from ..judgements import Votes
from ..tables import shown
from .bare import read_votes
from .layout import benchmark_of, file_in, peek, require, sided, without_second_answers
from .records import Imported, Source

__all__ = ["SOURCE"]

_COLUMNS = ["worker", "work_seconds", "question", "prompt", "edit", "seed", "method_A", "method_B", "answer", "winner"]


def _read(path: str | Path, *, join: bool = False) -> Imported:
    """Votes on items 'question-method'; factors method, edit, seed, prompt.

    `work_seconds`, the time of a worker's whole survey, is kept as a column; times of single answers are unknown.

    Args:
        path: votes.csv or its folder.
        join: name items 'edit/seed/method', which takes one method's picture of one edit and seed for the same picture
            in the two questions that show it. The source does not say so; without it every question stands alone.
    """
    file = file_in(path, "votes.csv")
    columns = {
        "participant": "worker",
        "left": "method_A",
        "right": "method_B",
        "choice": "answer",
        "trial": "question",
    }
    reading = read_votes(file, columns)
    frame = reading.noun.frame
    require(frame, ["prompt", "edit", "seed", "winner"], file.name)
    won = pl.when(pl.col("choice") == "left").then("left").otherwise("right")
    wrong = frame.with_row_index("row").filter(won != pl.col("winner"))
    if wrong.height:
        faults = [
            f"row {row + 2}: winner '{shown(winner)}' is not the answer's"
            for row, winner in wrong.select("row", "winner").iter_rows()
        ]
        raise BadTable.of_faults(file.name, faults)
    frame = frame.drop("winner").with_columns(pl.col("left").alias("method_l"), pl.col("right").alias("method_r"))
    group = pl.concat_str("edit", "seed", separator="/") if join else pl.col("trial")
    mark = "/" if join else "-"
    frame = frame.with_columns(pl.concat_str(group, side, separator=mark).alias(side) for side in ("left", "right"))
    both = {name: (name, name) for name in ("edit", "seed", "prompt")}
    items = sided(frame, {"method": ("method_l", "method_r"), **both})
    return Imported(
        benchmark=benchmark_of(items, name=SOURCE.name, description=SOURCE.summary, licence=SOURCE.licence),
        votes=Votes(frame.drop("method_l", "method_r")),
        notes=(
            *without_second_answers(reading.notes),
            "the two rivals were never compared with each other: methods form a star",
        ),
    )


def _fits(path: Path) -> bool:
    return peek(path, "votes.csv").columns == _COLUMNS


SOURCE = Source(
    name="dynavect",
    summary="DynaVect user study: 3,147 forced choices of 58 people between edits by three methods",
    gives=("benchmark", "votes"),
    licence="CC BY 4.0, (c) 2025 Oh Aaron (duriantaco/dynavect), metadata and votes; pictures CC BY-NC 4.0",
    citation="duriantaco/dynavect, supplementary survey, 2025",
    read=_read,
    fits=_fits,
)
