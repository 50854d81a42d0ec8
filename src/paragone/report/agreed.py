"""Agreement of metrics with people: figures, the table with best and second best marked, groups, tests, scatter plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from ..scores import Scores
from ..stats.logistic import fit_logistic
from . import charts
from .blocks import Block, Cell, Folded, Head, Missing, Plate, Plates, Prose, Row, Section, Table
from .index import Index, criterion_words
from .numbers import count, decimals_for, fixed, with_interval
from .scored import score_axis
from .svg import Spot

__all__ = ["STATISTICS", "Statistic", "agreement_section", "statistic_of"]

MOST_SCATTERS = 6
"""Scatter plots per criterion in the page: those of the predictors that agree best."""
MOST_POINTS = 1500
"""A scatter of more points is drawn as cells."""
_CELLS = 40
_CURVE = 121
_OPEN_TESTS = 12


class Statistic(NamedTuple):
    """How a statistic of agreement is shown."""

    label: str
    good: Literal["far", "high", "low", ""]
    """What is better: far from 0 (its sign is the direction of the metric), high, low; empty: nothing is marked."""
    hint: str = ""


STATISTICS = {
    "srcc": Statistic("SRCC", "far", "Spearman, far from 0 is better"),
    "plcc": Statistic("PLCC", "far", "Pearson, raw, far from 0 is better"),
    "plcc_logistic5": Statistic("PLCC fitted", "high", "after the 5-parameter logistic, higher is better"),
    "plcc_logistic4": Statistic("PLCC fitted 4", "high", "after the 4-parameter logistic, higher is better"),
    "krcc": Statistic("KRCC", "far", "Kendall's tau-b, far from 0 is better"),
    "rmse": Statistic("RMSE", "low", "lower is better"),
    "outlier_ratio": Statistic("Outlier ratio", "low", "lower is better"),
    "pairwise_accuracy": Statistic("Pair accuracy", "high", "on pairs that people tell apart, higher is better"),
    "auc_better_worse": Statistic("AUC better/worse", "high", "higher is better"),
    "auc_different_similar": Statistic("AUC different/similar", "high", "higher is better"),
}
"""Statistics in the order of the table."""


def statistic_of(name: str) -> Statistic:
    """How that statistic is shown; one that is not known is printed under its own name and nothing is marked."""
    return STATISTICS.get(name, Statistic(name.replace("_", " "), ""))


def agreement_section(index: Index) -> Section:
    """How far metrics and evaluators agree with people."""
    material = index.material
    agreement = material.agreement
    title = "Agreement of metrics with people"
    if agreement is None or not agreement.frame.height:
        why = (
            "No metric was compared with people."
            if not material.machine
            else "The metrics were not compared with people."
        )
        command = "paragone compare scores/human.csv scores/NAME.csv" if material.machine else "paragone measure NAME"
        return Section("agreement", title, [Missing(why, command)])
    pooled = agreement.frame.filter(pl.col("group").is_null())
    blocks: list[Block] = [Plates(_dot_plates(pooled, index))]
    for criterion in pooled["criterion"].unique(maintain_order=True):
        blocks.append(
            _table(pooled.filter(pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String))), criterion, index)
        )
    blocks.append(
        Prose(
            "A filled 1 marks the best and an outlined 2 the second best value of a column. The marks say nothing about significance; intervals and tests do.",
            "small",
        )
    )
    scatters = _scatter_plates(pooled, index)
    if scatters:
        blocks.append(Plates(scatters))
        if sum(len(_comparable(material.machine, criterion)) for criterion in _criteria(material.human)) > len(
            scatters
        ):
            blocks.append(
                Prose(
                    f"Scatter plots show the {MOST_SCATTERS} predictors per criterion with the largest SRCC.", "small"
                )
            )
    else:
        blocks.append(
            Missing(
                "Scatter plots are missing, because the scores of people or of metrics were not given.",
                "paragone report DIR",
            )
        )
    blocks += _group_tables(agreement.frame.filter(pl.col("group").is_not_null()), index)
    blocks += _tests(agreement.tests, index)
    return Section("agreement", title, blocks, material.human_badges)


def _criteria(scores: Scores | None) -> list[str | None]:
    return [] if scores is None else scores.criteria


def _badges(index: Index, predictor: str) -> list[str]:
    found = [index.material.badges_of(scores) for scores in index.material.machine if scores.name == predictor]
    return found[0] if found else list(index.material.badges.get(predictor, ()))


def _better(index: Index, predictor: str) -> str:
    found = [scores.better for scores in index.material.machine if scores.name == predictor]
    return found[0] if found else "unknown"


def _strength(frame: pl.DataFrame) -> dict[str, float]:
    """|SRCC| of each predictor, which orders tables and figures; -1 where it has none."""
    part = frame.filter(pl.col("statistic") == "srcc")
    known = {row["predictor"]: abs(row["value"]) for row in part.drop_nulls("value").iter_rows(named=True)}
    return {name: known.get(name, -1.0) for name in frame["predictor"].unique(maintain_order=True)}


def _ordered(frame: pl.DataFrame) -> list[str]:
    strength = _strength(frame)
    return sorted(strength, key=lambda name: (-strength[name], name))


def _dot_plates(pooled: pl.DataFrame, index: Index) -> list[Plate]:
    plates = []
    human = index.material.human_badges
    for criterion in pooled["criterion"].unique(maintain_order=True):
        part = pooled.filter(
            pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String)), pl.col("statistic") == "srcc"
        )
        if not part.height:
            continue
        order = _ordered(part)[: 2 * 20]
        rows = {row["predictor"]: row for row in part.iter_rows(named=True)}
        frame = pl.DataFrame(
            [
                {
                    "label": name,
                    "score": rows[name]["value"],
                    "low": rows[name]["low"],
                    "high": rows[name]["high"],
                    "rank_low": None,
                    "rank_high": None,
                    "n": rows[name]["n"],
                }
                for name in order
            ],
            schema={
                "label": pl.String,
                **dict.fromkeys(("score", "low", "high"), pl.Float64),
                **dict.fromkeys(("rank_low", "rank_high", "n"), pl.Int64),
            },
        )
        words = criterion_words(criterion)
        name = index.name("agreement-srcc", criterion)
        spots = [
            Spot(f"{row['label']}: SRCC {with_interval(row['score'], row['low'], row['high'])}, n = {row['n']}")
            for row in frame.iter_rows(named=True)
        ]
        alt = f"SRCC with {words} of {count(frame.height, 'predictor')}, strongest first: {order[0]}" + (
            f" ({', '.join(human)})" if human else ""
        )
        drawing = charts.intervals(frame, name=name, alt=alt, axis=f"SRCC with {words}", spots=spots, origin=0.0)
        plates.append(
            Plate(
                name,
                f"Agreement with {words}",
                f"Spearman correlation with 95 % interval; {_n_words(frame['n'], index)}.",
                frame,
                drawing,
                human,
            )
        )
    return plates


def _n_words(n: pl.Series, index: Index) -> str:
    known = n.drop_nulls()
    if not len(known):
        return "n unknown"
    low, high = int(known.min()), int(known.max())  # type: ignore[arg-type]
    return f"n = {index.things(low)}" if low == high else f"n = {low} to {index.things(high)}"


def _table(part: pl.DataFrame, criterion: str | None, index: Index) -> Table:
    """Predictors by statistics for one criterion."""
    present = part["statistic"].unique(maintain_order=True).to_list()
    names = [name for name in STATISTICS if name in present] + [name for name in present if name not in STATISTICS]
    cells: Mapping[tuple[str, str], dict[str, Any]] = {
        (row["predictor"], row["statistic"]): row for row in part.iter_rows(named=True)
    }
    order = _ordered(part)
    human = index.material.human_badges
    heads = [
        Head("predictor", kind="text"),
        *(Head(statistic_of(name).label, statistic_of(name).hint, badges=human) for name in names),
        Head("n", f"{index.thing}s"),
    ]
    marks = {
        name: _marks({p: cells[p, name]["value"] for p in order if (p, name) in cells}, statistic_of(name).good)
        for name in names
    }
    decimals = {}
    for name in names:
        rows = [cells[p, name] for p in order if (p, name) in cells]
        halves = [None if row["low"] is None or row["high"] is None else (row["high"] - row["low"]) / 2 for row in rows]
        decimals[name] = decimals_for(halves, [row["value"] for row in rows])
    rows_made = []
    for predictor in order:
        better = _better(index, predictor)
        told = f"{predictor}, {better} is better" if better != "unknown" else predictor
        made = [Cell(told, badges=_badges(index, predictor))]
        for name in names:
            made.append(_value_cell(cells.get((predictor, name)), decimals[name], marks[name].get(predictor, "")))
        counts = {cells[predictor, name]["n"] for name in names if (predictor, name) in cells} - {None}
        made.append(
            Cell(
                "\N{EN DASH}".join(fixed(n, 0) for n in sorted({min(counts), max(counts)}))
                if counts
                else "\N{EN DASH}",
                sort=max(counts, default=None),
            )
        )
        rows_made.append(Row(made))
    name = index.name("agreement", criterion)
    return Table(
        f"Agreement with {criterion_words(criterion)}: value and 95 % interval.",
        heads,
        rows_made,
        human,
        f"figures/{name}.csv",
        part,
    )


def _value_cell(row: dict[str, Any] | None, decimals: int, mark: Literal["", "first", "second"] = "") -> Cell:
    if row is None:
        return Cell("\N{EN DASH}")
    if row["value"] is None:
        return Cell("undefined")
    value, _, interval = with_interval(row["value"], row["low"], row["high"], decimals).partition(" [")
    return Cell(value, f"[{interval}" if interval else "", row["value"], mark)


def _marks(values: Mapping[str, float | None], good: str) -> dict[str, Literal["", "first", "second"]]:
    """Best and second best by value; equal values share a mark; nothing is marked among fewer than three."""
    size = {"far": abs, "high": float, "low": lambda value: -value}.get(good)
    known = {} if size is None else {name: size(value) for name, value in values.items() if value is not None}
    if len(known) < 3:
        return {}
    best, *rest = sorted(set(known.values()), reverse=True)
    second = rest[0] if rest else None
    words: dict[str, Literal["", "first", "second"]] = {}
    for name, value in known.items():
        words[name] = "first" if value == best else "second" if value == second else ""
    return words


def _comparable(machine: Sequence[Scores], criterion: str | None) -> list[tuple[Scores, pl.DataFrame]]:
    """Machine scores that speak of a criterion, or claim none, with their rows."""
    found = []
    for scores in machine:
        if scores.key != "item":
            continue
        frame = scores.of_criterion(criterion)
        if not frame.height and criterion is not None:
            frame = scores.of_criterion(None)
        if frame.height:
            found.append((scores, frame))
    return found


def _scatter_plates(pooled: pl.DataFrame, index: Index) -> list[Plate]:
    human = index.material.human
    if human is None or human.key != "item":
        return []
    plates = []
    for criterion in human.criteria:
        part = pooled.filter(pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String)))
        strength = _strength(part)
        candidates = sorted(
            _comparable(index.material.machine, criterion),
            key=lambda pair: (-strength.get(pair[0].name, -1.0), pair[0].name),
        )
        for scores, frame in candidates[:MOST_SCATTERS]:
            plate = _scatter_plate(human, scores, frame, criterion, part, index)
            if plate is not None:
                plates.append(plate)
    return plates


def _scatter_plate(
    human: Scores, scores: Scores, machine: pl.DataFrame, criterion: str | None, part: pl.DataFrame, index: Index
) -> Plate | None:
    people = human.of_criterion(criterion).select("item", "low", "high", y="score")
    both = machine.select("item", x="score").join(people, on="item", how="inner").drop_nulls(["x", "y"]).sort("item")
    if both.height < 2:
        return None
    both, factor = _with_series(both, index)
    fit = fit_logistic(both["x"].to_numpy(), both["y"].to_numpy())
    frame = _scatter_frame(both, fit.curve)
    words = criterion_words(criterion)
    better = f", {scores.better} is better" if scores.better != "unknown" else ""
    unit = f" ({scores.made['unit']})" if scores.made.get("unit") else ""
    name = index.name("scatter", scores.name, criterion)
    badges = list(dict.fromkeys([*index.material.human_badges, *index.material.badges_of(scores)]))
    decimals = decimals_for(((both["high"] - both["low"]) / 2).to_list(), both["y"].to_list())
    spots = {
        row["item"]: index.spot(
            row["item"],
            f"{scores.name} {row['x']:.4g}, {words} {with_interval(row['y'], row['low'], row['high'], decimals)}",
        )
        for row in both.iter_rows(named=True)
    }
    srcc = part.filter(pl.col("predictor") == scores.name, pl.col("statistic") == "srcc")
    said = with_interval(*srcc.select("value", "low", "high").row(0)) if srcc.height else "unknown"
    curve = (
        "a straight line stands in for the logistic"
        if fit.curve.form == "line"
        else "the curve is the fitted 5-parameter logistic, kept monotone"
    )
    alt = f"Scatter of {scores.name} against {words}, SRCC {said}" + (f" ({', '.join(badges)})" if badges else "")
    axis = f"{scores.name}{unit}{better}"
    drawing = charts.scatter(
        frame, name=name, alt=alt, x=axis, y=score_axis(human, criterion).partition(" (")[0], spots=spots
    )
    by = f" Shapes: {factor}." if factor else ""
    return Plate(
        name,
        f"{scores.name} and {words}",
        f"SRCC {said}; n = {index.things(both.height)}; {curve}.{by}",
        frame,
        drawing,
        badges,
    )


def _with_series(both: pl.DataFrame, index: Index) -> tuple[pl.DataFrame, str]:
    """Points with the level of the factor that parts them: the method where it has few levels, else no series."""
    none = both.with_columns(series=pl.lit(None, dtype=pl.String))
    benchmark = index.material.benchmark
    if benchmark is None or both.height > MOST_POINTS:
        return none, ""
    for factor in ("method", "generator", "model"):
        if factor in benchmark.factors:
            levels = benchmark.levels(factor).rename({"level": "series"})
            joined = both.join(levels, on="item", how="left", maintain_order="left")
            if joined["series"].null_count() == 0 and 2 <= joined["series"].n_unique() <= len(charts.MARKERS):
                return joined, factor
    return none, ""


def _scatter_frame(both: pl.DataFrame, curve: Any) -> pl.DataFrame:
    low, high = float(both["x"].min()), float(both["x"].max())  # type: ignore[arg-type]
    x = np.linspace(low, high, _CURVE) if high > low else np.array([low])
    drawn = pl.DataFrame({"part": ["curve"] * len(x), "x": x, "y": curve(x)})
    if both.height <= MOST_POINTS:
        points = both.with_columns(part=pl.lit("point"))
        if both.height > 150:
            points = points.with_columns(low=pl.lit(None, dtype=pl.Float64), high=pl.lit(None, dtype=pl.Float64))
    else:
        points = _cells(both)
    schema = {
        "part": pl.String,
        "item": pl.String,
        "series": pl.String,
        **dict.fromkeys(("x", "y", "low", "high"), pl.Float64),
        "count": pl.Int64,
    }
    empty = pl.DataFrame(schema=schema)
    return pl.concat([empty, points, drawn], how="diagonal").select(list(schema))


def _cells(both: pl.DataFrame) -> pl.DataFrame:
    counts, x, y = np.histogram2d(both["x"].to_numpy(), both["y"].to_numpy(), bins=_CELLS)
    column, row = np.nonzero(counts)
    middle_x, middle_y = (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2
    return pl.DataFrame(
        {
            "part": ["cell"] * len(row),
            "x": middle_x[column],
            "y": middle_y[row],
            "count": counts[column, row].astype(np.int64),
        }
    )


def _group_tables(grouped: pl.DataFrame, index: Index) -> list[Block]:
    """Per factor and criterion: predictors by levels, SRCC."""
    if not grouped.height:
        return [
            Missing(
                "Agreement within groups is missing; pooled correlations may mislead.",
                "paragone compare HUMAN MACHINE --group method",
            )
        ]
    part = grouped.filter(pl.col("statistic") == "srcc").with_columns(
        factor=pl.col("group").str.split("=").list.first(), level=pl.col("group").str.replace(r"^[^=]*=", "")
    )
    blocks: list[Block] = []
    for (factor, criterion), rows in part.group_by("factor", "criterion", maintain_order=True):
        levels = rows["level"].unique(maintain_order=True).to_list()
        cells = {(row["predictor"], row["level"]): row for row in rows.iter_rows(named=True)}
        human = index.material.human_badges
        heads = [Head("predictor", kind="text")]
        for level in levels:
            heads.append(Head(level, _n_words(rows.filter(pl.col("level") == level)["n"], index), badges=human))
        halves = [
            None if row["low"] is None or row["high"] is None else (row["high"] - row["low"]) / 2
            for row in cells.values()
        ]
        decimals = decimals_for(halves, [row["value"] for row in cells.values()])
        marks = {
            level: _marks(
                {p: cells[p, level]["value"] for p in rows["predictor"].unique() if (p, level) in cells}, "far"
            )
            for level in levels
        }
        order = sorted(
            rows["predictor"].unique(),
            key=lambda name: (
                -np.nanmean([abs(cells[name, level]["value"] or 0.0) for level in levels if (name, level) in cells])
            ),
        )
        made = [
            Row(
                [
                    Cell(name, badges=_badges(index, name)),
                    *(_value_cell(cells.get((name, level)), decimals, marks[level].get(name, "")) for level in levels),
                ]
            )
            for name in order
        ]
        name = index.name("agreement-by", str(factor), None if criterion is None else str(criterion))
        caption = f"SRCC with {criterion_words(None if criterion is None else str(criterion))} within each {factor}."
        table = Table(caption, heads, made, human, f"figures/{name}.csv", rows.drop("factor", "level"))
        blocks.append(table)
    return (
        [Folded("Agreement within groups, since pooled correlations may mislead", blocks)]
        if len(blocks) > 2
        else blocks
    )


def _tests(tests: pl.DataFrame, index: Index) -> list[Block]:
    if not tests.height:
        return [
            Missing(
                "Predictors were not tested against each other: that takes two or more of them.",
                "paragone compare HUMAN MACHINE MACHINE",
            )
        ]
    heads = [
        Head("predictors", kind="text"),
        Head("criterion", kind="text"),
        Head("statistic", kind="text"),
        Head("difference", "first minus second", badges=index.material.human_badges),
        Head("p"),
        Head("p, Holm"),
        Head("n"),
        Head("method", kind="text"),
    ]
    rows = []
    for row in tests.iter_rows(named=True):
        value, _, interval = with_interval(row["difference"], row["low"], row["high"]).partition(" [")
        badges = list(dict.fromkeys([*_badges(index, row["predictor_a"]), *_badges(index, row["predictor_b"])]))
        rows.append(
            Row(
                [
                    Cell(f"{row['predictor_a']} against {row['predictor_b']}", badges=badges),
                    Cell(criterion_words(row["criterion"])),
                    Cell(statistic_of(row["statistic"]).label),
                    Cell(value, f"[{interval}" if interval else "", row["difference"]),
                    _p_cell(row["p"]),
                    _p_cell(row["p_holm"]),
                    Cell(fixed(row["n"], 0), sort=row["n"]),
                    Cell(str(row["method"] or "")),
                ]
            )
        )
    name = index.name("agreement-tests")
    table = Table(
        "Differences between predictors; p adjusted by Holm over the pairs.",
        heads,
        rows,
        index.material.human_badges,
        f"figures/{name}.csv",
        tests,
    )
    told = tests.filter(pl.col("p_holm") < 0.05).height
    said = Prose(
        f"{told} of {tests.height} differences between predictors remain below p = 0.05 after Holm's adjustment."
    )
    return [
        said,
        table if tests.height <= _OPEN_TESTS else Folded(f"All {tests.height} tests between predictors", [table]),
    ]


def _p_cell(p: float | None) -> Cell:
    if p is None or not np.isfinite(p):
        return Cell("\N{EN DASH}")
    return Cell("< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}", sort=p)
