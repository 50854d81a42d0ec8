"""Figures of a validation: how far each predictor agrees on unseen levels, and which level is hard."""

from __future__ import annotations

import polars as pl

from ..evaluators.protocol.validation import CrossValidation
from .blocks import Plate
from .digits import count, decimals_for, fixed, joined, with_interval
from .dots import Look, dots, level_dots
from .index import Index
from .leaders import Leaders
from .svg import Spot
from .words import criterion_words, with_badges

__all__ = [
    "KINDS",
    "column_decimals",
    "levels_plate",
    "means_plate",
    "of_criterion",
    "spread_words",
    "validation_badges",
]

KINDS = {
    "learner": Look("learned from people", "o", 0, strong=True),
    "metric": Look("metric", "s", 1),
    "floor": Look("floor: looks at no picture", "^", 2, hollow=True),
    "set": Look("metric of sets", "D", 3),
}
"""Kind of predictor -> how it is drawn and called."""
_MOST_DOTS = 40  # predictors in one figure
_MOST_LEVELS = 40  # levels in one strip, the hardest first


def means_plate(validation: CrossValidation, criterion: str | None, index: Index) -> Plate:
    words, badges = criterion_words(criterion), validation_badges(validation, index)
    table = of_criterion(validation.table, criterion).filter(pl.col("kind") != "set").drop_nulls("mean")
    table = table.sort("mean", descending=True, maintain_order=True).head(_MOST_DOTS)
    frame = table.select("kind", "low", "high", "folds", "sd", "n", label="predictor", score="mean")
    decimals = column_decimals(frame, "score", "low", "high")
    spots = [
        Spot(
            f"{row['label']} ({KINDS[row['kind']].words}): mean SRCC "
            f"{with_interval(row['score'], row['low'], row['high'], decimals)}, {count(row['folds'], 'fold')}"
        )
        for row in frame.iter_rows(named=True)
    ]
    name = index.name("validated", validation.factor, criterion)
    first = f", best first: {frame['label'][0]}" if frame.height else ""
    alt = f"Mean SRCC with {words} of {count(frame.height, 'predictor')}{first}"
    axis = f"mean SRCC with {words}"
    drawing = dots(frame, name=name, alt=with_badges(alt, badges), axis=axis, looks=KINDS, spots=spots, origin=0.0)
    caption = f"Mean over {spread_words(frame['folds'])} folds with 95 % interval. Right of 0 agrees with people."
    lost = of_criterion(validation.table, criterion).filter(pl.col("kind") != "set").filter(pl.col("mean").is_null())
    if lost.height:
        caption += f" Without a figure: {joined(lost['predictor'].to_list())}."
    return Plate(name, f"Agreement with {words} on unseen {validation.factor}s", caption, frame, drawing, badges)


def levels_plate(validation: CrossValidation, leaders: Leaders, index: Index) -> Plate | None:
    """How hard each held-out level was for the first of each kind."""
    rows = {kind: row for kind in ("learner", "metric", "floor") if (row := getattr(leaders, kind)) is not None}
    if not rows:
        return None
    factor, words = validation.factor, criterion_words(leaders.criterion)
    badges = validation_badges(validation, index)
    kinds = {row["predictor"]: kind for kind, row in rows.items()}
    lead = next(iter(kinds))
    folds = of_criterion(validation.per_fold, leaders.criterion).filter(pl.col("predictor").is_in(list(kinds)))
    order = (
        folds.filter(pl.col("predictor") == lead).sort("value", nulls_last=True, maintain_order=True)["fold"].to_list()
    )
    shown = order[:_MOST_LEVELS]
    at = {fold: place for place, fold in enumerate(shown)}
    frame = folds.filter(pl.col("fold").is_in(shown)).select(
        "predictor", "kind", "fold", "value", "n", label=pl.col("fold").str.strip_prefix(f"{factor}=")
    )
    frame = frame.sort(pl.col("fold").replace_strict(at, return_dtype=pl.Int64), maintain_order=True).drop("fold")
    looks = {kind: KINDS[kind]._replace(words=row["predictor"], strong=False) for kind, row in rows.items()}
    spots = [
        Spot(f"{row['label']}: {row['predictor']} SRCC {fixed(row['value'], 2)}, n = {fixed(row['n'], 0)}")
        for row in frame.iter_rows(named=True)
    ]
    name = index.name("validated-levels", factor, leaders.criterion)
    known = folds.filter(pl.col("predictor") == lead).drop_nulls("value").sort("value", maintain_order=True)
    told = ""
    if known.height > 1:
        ends = [(str(known["fold"][i]).removeprefix(f"{factor}="), known["value"][i]) for i in (0, -1)]
        told = f" Hardest for {lead}: {ends[0][0]} ({fixed(ends[0][1], 2)}); easiest: {ends[1][0]} ({fixed(ends[1][1], 2)})."
    alt = with_badges(f"SRCC with {words} on each held-out {factor} of {joined(list(kinds))}", badges)
    axis = f"SRCC with {words}"
    drawing = level_dots(frame, name=name, alt=alt, axis=axis, looks=looks, spots=spots)
    cut = f" The {_MOST_LEVELS} hardest of {len(order)}." if len(order) > _MOST_LEVELS else ""
    sizes = folds["n"].drop_nulls()
    caption = f"Each row is a {factor} that was held out, n = {spread_words(sizes)} pictures, hardest first.{told}{cut}"
    return Plate(name, f"Which {factor} is hard on {words}", caption, frame, drawing, badges)


def validation_badges(validation: CrossValidation, index: Index) -> list[str]:
    """Badges of every number of a validation that rests on people."""
    return list(dict.fromkeys([*index.material.human_badges, *(["simulated"] if validation.simulated else [])]))


def of_criterion(frame: pl.DataFrame, criterion: str | None, statistic: str = "srcc") -> pl.DataFrame:
    own = pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String))
    return frame.filter(own & (pl.col("statistic") == statistic))


def column_decimals(frame: pl.DataFrame, value: str, low: str, high: str) -> int:
    return decimals_for(((frame[high] - frame[low]) / 2).to_list(), frame[value].to_list())


def spread_words(values: pl.Series) -> str:
    """'12', or '68 to 72'."""
    known = values.drop_nulls()
    if not known.len():
        return "no"
    low, high = fixed(float(known.min()), 0), fixed(float(known.max()), 0)  # type: ignore[arg-type]
    return low if low == high else f"{low} to {high}"
