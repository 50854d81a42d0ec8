"""Scatter plots of a predictor against people, with the fitted logistic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ..scores import Scores
from ..stats.logistic import Curve, fit_logistic
from . import charts
from .blocks import Plate
from .digits import decimals_for, fixed, with_interval
from .index import Index
from .ranked import MAKERS, score_decimals, unit_words
from .svg import Spot
from .words import capital, criterion_words, with_badges

__all__ = ["MOST_SCATTERS", "comparable", "scatter_plates"]

MOST_SCATTERS = 6
"""Scatter plots per criterion in the page: those of the predictors that agree best."""
MOST_POINTS = 1500
"""A scatter of more points is drawn as cells of counts."""
_MOST_BARS = 60  # points whose intervals are drawn; more hide the points
_CELLS = 40
_CURVE = 121  # points of the curve
_COLUMNS = {
    "part": pl.String,
    "item": pl.String,
    "series": pl.String,
    "x": pl.Float64,
    "y": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "count": pl.Int64,
}


def comparable(machine: Sequence[Scores], criterion: str | None) -> list[tuple[Scores, pl.DataFrame]]:
    """Machine scores of items that speak of a criterion, or claim none, each with its rows."""
    found = []
    for scores in machine:
        rows = scores.of_criterion(criterion)
        rows = rows if rows.height else scores.of_criterion(None)
        if scores.key == "item" and rows.height:
            found.append((scores, rows))
    return found


def scatter_plates(pooled: pl.DataFrame, index: Index) -> tuple[list[Plate], list[str]]:
    """The plots of the predictors that agree best, criterion by criterion.

    Args:
        pooled: rows of an agreement table over all items.
        index: of the report.

    Returns:
        The plots, best first by SRCC (of a predictor without a direction, by its size), and the names of predictors that
        are not drawn because they have no SRCC, once per criterion.
    """
    human = index.material.human
    if human is None or human.key != "item":
        return [], []
    plates, skipped = [], []
    for criterion in index.criteria(human.criteria):
        rows = pooled.filter(pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String)))
        known = {
            statistic: {row["predictor"]: row for row in part.iter_rows(named=True)}
            for statistic in ("srcc", "plcc", "plcc_oof")
            for part in [rows.filter(pl.col("statistic") == statistic).drop_nulls("value")]
        }
        drawable = []
        for scores, machine in comparable(index.material.machine, criterion):
            if scores.name not in known["srcc"]:
                skipped.append(scores.name)
                continue
            value = known["srcc"][scores.name]["value"]
            drawable.append((-abs(value) if scores.better == "unknown" else -value, scores.name, scores, machine))
        for _, name, scores, machine in sorted(drawable, key=lambda entry: entry[:2])[:MOST_SCATTERS]:
            people = human.of_criterion(criterion).select("item", "low", "high", y="score")
            both = machine.select("item", x="score").join(people, on="item").drop_nulls(["x", "y"]).sort("item")
            if both.height >= 2:
                told = {statistic: found.get(name) for statistic, found in known.items()}
                plates.append(_plate(both, scores, criterion, told, index))
    return plates, skipped


def _plate(
    both: pl.DataFrame,
    scores: Scores,
    criterion: str | None,
    known: Mapping[str, Mapping[str, Any] | None],
    index: Index,
) -> Plate:
    both, factor = _with_series(both, index)
    curve, steep, note = _curve(both, scores.name, criterion, index)
    srcc = _said(known["srcc"])
    frame = _drawn(both, curve)
    words = criterion_words(criterion)
    badges = list(dict.fromkeys([*index.material.human_badges, *index.material.badges_of(scores)]))
    told = unit_words(scores)
    name = index.name("scatter", scores.name, criterion)
    drawing = charts.scatter(
        frame,
        name=name,
        alt=with_badges(f"Scatter of {scores.name} against {words}, SRCC {srcc}", badges),
        x=scores.name + (f" ({told})" if told else ""),
        y=words,
        spots=_spots(both, scores.name, words, index),
    )
    turned = " (direction turned)" if scores.better == "lower" else ""
    notes = [f"SRCC{turned} {srcc}; n = {index.things(both.height)}."]
    if curve.form == "line":
        notes.append("A straight line stands in for the logistic.")
    if steep:
        notes.append(
            f"The curve jumps at one place, as if there were two groups of {index.thing}s, which flatters a weak predictor: "
            f"PLCC {_said(known['plcc'])}, out of fold {_said(known['plcc_oof'], known['plcc'])}."
        )
    elif note:
        notes.append(f"{capital(note)}.")
    if factor:
        notes.append(f"Shapes: {factor}.")
    if both.height > MOST_POINTS:
        notes.append(f"A larger square holds more, the largest {index.things(max(frame['count'].drop_nulls()))}.")
    return Plate(name, f"{scores.name} and {words}", " ".join(notes), frame, drawing, badges)


def _said(row: Mapping[str, Any] | None, digits: Mapping[str, Any] | None = None) -> str:
    """Value and interval, in as many digits as the interval of `digits` allows where it has none of its own."""
    if row is None:
        return "not computed"
    other = digits if digits is not None and digits["low"] is not None and row["low"] is None else row
    half = None if other["low"] is None or other["high"] is None else (other["high"] - other["low"]) / 2
    return with_interval(row["value"], row["low"], row["high"], decimals_for([half], [row["value"]]))


def _curve(both: pl.DataFrame, predictor: str, criterion: str | None, index: Index) -> tuple[Curve, bool, str]:
    """The curve behind the agreement table if it was kept, else the same fit made again; whether it is close to a step;
    and what else to know of it."""
    kept = index.material.agreement.notes.get("curves", ()) if index.material.agreement is not None else ()
    for entry in kept:
        if (entry["predictor"], entry["criterion"]) == (predictor, criterion) and entry["form"] != "logistic4":
            curve = Curve(entry["form"], tuple(entry["parameters"]))
            return curve, bool(entry.get("steep")), str(entry.get("note") or "")
    fit = fit_logistic(both["x"].to_numpy(), both["y"].to_numpy())
    return fit.curve, fit.steep, fit.note


def _spots(both: pl.DataFrame, name: str, words: str, index: Index) -> dict[str, Spot]:
    """What each point tells; nothing where cells are drawn in place of points."""
    if both.height > MOST_POINTS:
        return {}
    of_x, of_y = decimals_for([], both["x"].to_list()), score_decimals(both.rename({"y": "score"}))
    return {
        row["item"]: index.spot(
            row["item"],
            f"{name} {fixed(row['x'], of_x)}, {words} {with_interval(row['y'], row['low'], row['high'], of_y)}",
        )
        for row in both.iter_rows(named=True)
    }


def _with_series(both: pl.DataFrame, index: Index) -> tuple[pl.DataFrame, str]:
    """Points with the level of what made the picture, where that has a few levels; else no series."""
    none = both.with_columns(series=pl.lit(None, dtype=pl.String))
    benchmark = index.material.benchmark
    if benchmark is None or both.height > MOST_POINTS:
        return none, ""
    for factor in MAKERS:
        if factor in benchmark.factors:
            levels = benchmark.levels(factor).rename({"level": "series"})
            joined = both.join(levels, on="item", how="left", maintain_order="left")
            if joined["series"].null_count() == 0 and 2 <= joined["series"].n_unique() <= len(charts.MARKERS):
                return joined, factor
    return none, ""


def _drawn(both: pl.DataFrame, curve: Curve) -> pl.DataFrame:
    x = both["x"].to_numpy()
    along = np.linspace(x.min(), x.max(), _CURVE if x.max() > x.min() else 1)
    line = pl.DataFrame({"part": ["curve"] * len(along), "x": along, "y": curve(along)})
    if both.height > MOST_POINTS:
        points = _cells(both)
    elif both.height > _MOST_BARS:
        points = both.select("item", "series", "x", "y", part=pl.lit("point"))
    else:
        points = both.with_columns(part=pl.lit("point"))
    return pl.concat([pl.DataFrame(schema=_COLUMNS), points, line], how="diagonal").select(list(_COLUMNS))


def _cells(both: pl.DataFrame) -> pl.DataFrame:
    counts, x, y = np.histogram2d(both["x"].to_numpy(), both["y"].to_numpy(), bins=_CELLS)
    column, row = np.nonzero(counts)
    return pl.DataFrame(
        {
            "part": ["cell"] * len(row),
            "x": ((x[1:] + x[:-1]) / 2)[column],
            "y": ((y[1:] + y[:-1]) / 2)[row],
            "count": counts[column, row].astype(np.int64),
        }
    )
