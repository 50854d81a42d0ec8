"""HDR-VDC: quality of video by contrast, resolution and distance; 16 scenes with published scores in JOD."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ..judgements import Votes
from ..scores import Scores
from .bare import read_votes
from .bare_scores import read_scores
from .layout import benchmark_of, file_in, peek, sided
from .records import Imported, Source

__all__ = ["SOURCE"]

_COLUMNS = ["rater", "group", "item_a", "item_b", "choice"]
_CONDITION = r"^([HML])_(\d+x\d+)_(?:bright|dark)_(near|far)$"
_SMALL = ("Bistro", "FishingCloseshot", "Showgirl01", "SmithHammering")  # scenes whose source is 1920x1080
_REFERENCE = "ref"
_FACTORS = ("condition", "contrast", "resolution", "distance")


def _read(path: str | Path, *, merge_references: bool = False, pool: bool = False) -> Imported:
    """Votes on items 'scene/condition' with a column `content`, the scene; published JODs where they lie beside.

    Args:
        path: votes.csv or its folder.
        merge_references: call the undistorted conditions of a scene 'scene/ref', as the published scores do. The votes
            of a reference against itself stay: they enter the prior of the published scale.
        pool: name items by the condition alone.
    """
    file = file_in(path, "votes.csv")
    scene = "" if pool else "group+"
    columns = {"participant": "rater", "left": f"{scene}item_a", "right": f"{scene}item_b", "content": "group"}
    reading = read_votes(file, columns)
    notes = list(reading.notes)
    frame = reading.noun.frame
    if pool:
        frame = frame.with_columns(pl.col("left").alias("item_a"), pl.col("right").alias("item_b"))
    if merge_references:
        frame = frame.with_columns(_merged(pl.col(name)).alias(name) for name in ("item_a", "item_b"))
        scenes = [] if pool else [pl.col("content")]
        joined = {"left": "item_a", "right": "item_b"}.items()
        frame = frame.with_columns(pl.concat_str(*scenes, name, separator="/").alias(side) for side, name in joined)
        own = int((frame["left"] == frame["right"]).sum())
        notes.append(f"{own} votes set a reference against itself; they are kept")
    frame = frame.with_columns(*_levels("item_a", "_l"), *_levels("item_b", "_r"))
    factors = {name: (f"{name}_l", f"{name}_r") for name in _FACTORS}
    factors |= {} if pool else {"content": ("content", "content")}
    items = sided(frame, factors)
    frame = frame.drop("item_a", "item_b", *(name for pair in factors.values() for name in pair if name != "content"))
    beside = file.parent / "published_jod.csv"
    scores: tuple[Scores, ...] = ()
    if beside.is_file() and not pool:
        scores = (_published(beside, merge_references),)
    elif beside.is_file():
        notes.append("published scores are per scene and are left out of pooled votes")
    return Imported(
        benchmark=benchmark_of(items, name=SOURCE.name, description=SOURCE.summary, licence=SOURCE.licence),
        votes=Votes(frame),
        scores=scores,
        notes=tuple(notes),
    )


def _merged(condition: pl.Expr) -> pl.Expr:
    small = pl.col("content").is_in(list(_SMALL))
    size = pl.when(small).then(pl.lit("1920x1080")).otherwise(pl.lit("3840x2160"))
    undistorted = condition.str.starts_with(pl.concat_str(pl.lit("H_"), size, pl.lit("_")))
    return pl.when(undistorted).then(pl.lit(_REFERENCE)).otherwise(condition)


def _levels(column: str, end: str) -> list[pl.Expr]:
    """The parts of a condition; a merged reference has none but its name."""
    parts = [pl.col(column).str.extract(_CONDITION, k).alias(_FACTORS[k] + end) for k in (1, 2, 3)]
    return [pl.col(column).alias(_FACTORS[0] + end), *parts]


def _published(file: Path, merge: bool) -> Scores:
    columns = {"item": "content+condition", "score": "jod", "low": "jod_low", "high": "jod_high"}
    scores = read_scores(file, columns, better="higher").noun[0]
    frame = scores.frame
    if merge:
        parts = pl.col("item").str.split("/")
        frame = frame.with_columns(parts.list.get(0).alias("content"), parts.list.get(1).alias("condition"))
        item = pl.concat_str("content", _merged(pl.col("condition")), separator="/")
        frame = frame.with_columns(item.alias("item")).drop("content", "condition").unique("item", maintain_order=True)
    return Scores(frame, name="published-jod", better="higher", made=scores.made)


def _fits(path: Path) -> bool:
    frame = peek(path, "votes.csv")
    return frame.columns == _COLUMNS and bool(frame["item_a"].str.contains(_CONDITION).all())


SOURCE = Source(
    name="hdr_vdc",
    summary="HDR-VDC, bright display: 12,898 votes of 30 people on video conditions in 16 scenes, with published JODs",
    gives=("benchmark", "votes", "scores"),
    licence="MIT, (c) 2024 Graphics and Displays group, University of Cambridge (gfxdisp/HDR-VDC)",
    citation="Hammou, Krasula, Bampis, Li and Mantiuk, QoMEX 2024",
    read=_read,
    fits=_fits,
)
