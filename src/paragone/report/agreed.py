"""Agreement of metrics with people: figures, the table with best and second best marked, groups and tests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import polars as pl

from . import charts
from .blocks import Block, Cell, Folded, Head, Missing, Plate, Plates, Prose, Row, Section, Table
from .index import Index
from .numbers import count, decimals_for, fixed, with_interval
from .scattered import MOST_SCATTERS, comparable, scatter_plates
from .svg import Spot
from .words import STATISTICS, criterion_words, statistic_words, with_badges

__all__ = ["agreement_section"]

_MOST_DOTS = 40  # predictors in one figure
_OPEN_TESTS = 12  # more tests are folded
_NONE = "\N{EN DASH}"
_Mark = Literal["", "first", "second"]
_Row = dict[str, Any]


def agreement_section(index: Index) -> Section:
    """How far metrics and evaluators agree with people."""
    material = index.material
    agreement, title = material.agreement, "Agreement of metrics with people"
    if agreement is None or not agreement.frame.height:
        if material.machine:
            why, command = "The metrics were not compared with people.", "paragone compare HUMAN MACHINE"
        else:
            why, command = "No metric was compared with people.", "paragone measure NAME"
        return Section("agreement", title, [Missing(why, command)])
    pooled = agreement.frame.filter(pl.col("group").is_null())
    criteria = pooled["criterion"].unique(maintain_order=True).to_list()
    parts = {
        criterion: pooled.filter(pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String)))
        for criterion in criteria
    }
    dots = [_dots(part, criterion, index) for criterion, part in parts.items()]
    blocks: list[Block] = [Plates([plate for plate in dots if plate is not None])]
    blocks += [_table(part, criterion, index) for criterion, part in parts.items()]
    marks = "A filled 1 marks the best value of a column and an outlined 2 the second best, among three or more."
    blocks.append(Prose(f"{marks} The marks say nothing about significance; intervals and tests do.", "small"))
    blocks += _scatters(pooled, index)
    blocks += _groups(agreement.frame.filter(pl.col("group").is_not_null()), index)
    blocks += _tests(agreement.tests, index)
    return Section("agreement", title, blocks)


def _badges(index: Index, predictor: str) -> list[str]:
    found = [index.material.badges_of(scores) for scores in index.material.machine if scores.name == predictor]
    return found[0] if found else list(index.material.badges.get(predictor, ()))


def _directed(index: Index, predictor: str) -> str:
    """'niqe, lower is better'."""
    found = [scores.better for scores in index.material.machine if scores.name == predictor]
    return f"{predictor}, {found[0]} is better" if found and found[0] != "unknown" else predictor


def _ordered(rows: pl.DataFrame) -> list[str]:
    """Predictors by |SRCC|, strongest first."""
    known = {
        row["predictor"]: abs(row["value"])
        for row in rows.filter(pl.col("statistic") == "srcc").drop_nulls("value").iter_rows(named=True)
    }
    return sorted(rows["predictor"].unique(), key=lambda name: (-known.get(name, -1.0), name))


def _column_decimals(rows: list[_Row]) -> int:
    halves = [None if row["low"] is None or row["high"] is None else (row["high"] - row["low"]) / 2 for row in rows]
    return decimals_for(halves, [row["value"] for row in rows])


def _dots(part: pl.DataFrame, criterion: str | None, index: Index) -> Plate | None:
    rows = {row["predictor"]: row for row in part.filter(pl.col("statistic") == "srcc").iter_rows(named=True)}
    if not rows:
        return None
    order = [name for name in _ordered(part) if name in rows][:_MOST_DOTS]
    numbers = dict.fromkeys(("score", "low", "high"), pl.Float64)
    whole = dict.fromkeys(("rank_low", "rank_high", "n"), pl.Int64)
    frame = pl.DataFrame(
        [
            {"label": name, "score": rows[name]["value"], **{k: rows[name][k] for k in ("low", "high", "n")}}
            for name in order
        ],
        schema={"label": pl.String, **numbers, **whole},
    )
    words, badges = criterion_words(criterion), index.material.human_badges
    decimals = _column_decimals(list(rows.values()))
    spots = [
        Spot(f"{row['label']}: SRCC {with_interval(row['score'], row['low'], row['high'], decimals)}, n = {row['n']}")
        for row in frame.iter_rows(named=True)
    ]
    name = index.name("agreement-srcc", criterion)
    alt = f"SRCC of {count(frame.height, 'predictor')} with {words}, farthest from 0 first: {order[0]}"
    axis = f"SRCC with {words}"
    drawing = charts.intervals(frame, name=name, alt=with_badges(alt, badges), axis=axis, spots=spots, origin=0.0)
    caption = f"Spearman correlation with 95 % interval; {_n_words(frame['n'], index)}."
    return Plate(name, f"Agreement with {words}", caption, frame, drawing, badges)


def _n_words(n: pl.Series, index: Index) -> str:
    known = [int(value) for value in n.drop_nulls()]
    if not known:
        return "n unknown"
    low, high = min(known), max(known)
    return f"n = {index.things(low)}" if low == high else f"n = {low} to {index.things(high)}"


def _table(part: pl.DataFrame, criterion: str | None, index: Index) -> Table:
    """Predictors by statistics for one criterion."""
    present = part["statistic"].unique(maintain_order=True).to_list()
    names = [name for name in STATISTICS if name in present] + [name for name in present if name not in STATISTICS]
    cells: dict[tuple[str, str], _Row] = {
        (row["predictor"], row["statistic"]): row for row in part.iter_rows(named=True)
    }
    order, badges = _ordered(part), index.material.human_badges
    heads = [Head("predictor", kind="text")]
    heads += [Head(statistic_words(name).label, statistic_words(name).hint, badges=badges) for name in names]
    heads.append(Head("n", f"{index.thing}s"))
    columns = {name: {p: cells[p, name] for p in order if (p, name) in cells} for name in names}
    marks = {name: _marks(columns[name], statistic_words(name).good) for name in names}
    decimals = {name: _column_decimals(list(columns[name].values())) for name in names}
    rows = []
    for predictor in order:
        made = [Cell(_directed(index, predictor), badges=_badges(index, predictor))]
        for name in names:
            made.append(_cell(cells.get((predictor, name)), decimals[name], marks[name].get(predictor, "")))
        counts = sorted({row["n"] for row in (columns[name].get(predictor) for name in names) if row} - {None})
        shown = _NONE.join(dict.fromkeys([fixed(counts[0], 0), fixed(counts[-1], 0)])) if counts else _NONE
        rows.append(Row([*made, Cell(shown, sort=max(counts, default=None))]))
    caption = f"Agreement with {criterion_words(criterion)}: value and 95 % interval."
    csv = f"figures/{index.name('agreement', criterion)}.csv"
    return Table(caption, heads, rows, badges, csv, part)


def _cell(row: _Row | None, decimals: int, mark: _Mark = "") -> Cell:
    if row is None:
        return Cell(_NONE)
    if row["value"] is None:
        return Cell("undefined")
    value, _, interval = with_interval(row["value"], row["low"], row["high"], decimals).partition(" [")
    return Cell(value, f"[{interval}" if interval else "", row["value"], mark)


def _marks(rows: Mapping[str, _Row], good: str) -> dict[str, _Mark]:
    """Best and second best by value; equal values share a mark; nothing is marked among fewer than three."""
    sign = {"far": 1.0, "high": 1.0, "low": -1.0}.get(good)
    if sign is None:
        return {}
    known = {
        name: sign * (abs(row["value"]) if good == "far" else row["value"])
        for name, row in rows.items()
        if row["value"] is not None
    }
    if len(known) < 3:
        return {}
    places: dict[float, _Mark] = dict(zip(sorted(set(known.values()), reverse=True), ("first", "second"), strict=False))
    return {name: places.get(value, "") for name, value in known.items()}


def _scatters(pooled: pl.DataFrame, index: Index) -> list[Block]:
    plates = scatter_plates(pooled, index)
    if not plates:
        why = "Scatter plots are missing, because the scores of the pictures by people and by metrics were not given."
        return [Missing(why, "paragone report DIR")]
    human = index.material.human
    criteria = [] if human is None else human.criteria
    more = sum(len(comparable(index.material.machine, criterion)) for criterion in criteria) - len(plates)
    if more <= 0:
        return [Plates(plates)]
    said = f"Drawn are the {MOST_SCATTERS} predictors per criterion with the SRCC farthest from 0."
    return [Plates(plates), Prose(said, "small")]


def _groups(grouped: pl.DataFrame, index: Index) -> list[Block]:
    """Per factor and criterion: predictors by levels, SRCC."""
    rows = grouped.filter(pl.col("statistic") == "srcc").with_columns(
        factor=pl.col("group").str.extract(r"^([^=]*)="), level=pl.col("group").str.replace(r"^[^=]*=", "")
    )
    if not rows.height:
        why = "Agreement within groups is missing; pooled correlations may mislead."
        return [Missing(why, "paragone compare HUMAN MACHINE --group method")]
    tables: list[Block] = []
    for (factor, criterion), part in rows.group_by("factor", "criterion", maintain_order=True):
        tables.append(_group_table(part, str(factor), None if criterion is None else str(criterion), index))
    return [Folded("Agreement within groups, since pooled correlations may mislead", tables)]


def _group_table(part: pl.DataFrame, factor: str, criterion: str | None, index: Index) -> Table:
    badges = index.material.human_badges
    levels = part["level"].unique(maintain_order=True).to_list()
    columns = {
        level: {row["predictor"]: row for row in part.filter(pl.col("level") == level).iter_rows(named=True)}
        for level in levels
    }
    heads = [Head("predictor", kind="text")]
    for level in levels:
        n = _n_words(part.filter(pl.col("level") == level)["n"], index)
        heads.append(Head(level, n, badges=badges))
    decimals = _column_decimals(list(part.iter_rows(named=True)))
    marks = {level: _marks(columns[level], "far") for level in levels}
    rows = [
        Row(
            [
                Cell(_directed(index, name), badges=_badges(index, name)),
                *(_cell(columns[level].get(name), decimals, marks[level].get(name, "")) for level in levels),
            ]
        )
        for name in part["predictor"].unique().sort()
    ]
    csv = f"figures/{index.name('agreement-by', factor, criterion)}.csv"
    caption = f"SRCC with {criterion_words(criterion)} within each {factor}, 95 % interval."
    return Table(caption, heads, rows, badges, csv, part.drop("factor", "level"))


def _tests(tests: pl.DataFrame, index: Index) -> list[Block]:
    if not tests.height:
        why = "Predictors were not tested against each other: that takes two or more of them."
        return [Missing(why, "paragone compare HUMAN MACHINE MACHINE")]
    badges = index.material.human_badges
    heads = [
        *(Head(word, kind="text") for word in ("predictors", "criterion", "statistic")),
        Head("difference", "first minus second", badges=badges),
        *(Head(word) for word in ("p", "p, Holm", "n")),
        Head("method", kind="text"),
    ]
    rows = [_test_row(row, index) for row in tests.iter_rows(named=True)]
    csv = f"figures/{index.name('agreement-tests')}.csv"
    table = Table("Differences between predictors; p adjusted by Holm.", heads, rows, badges, csv, tests)
    clear = tests.filter(pl.col("p_holm") < 0.05).height
    said = f"{clear} of {count(tests.height, 'difference')} between predictors stay below p = 0.05, adjusted by Holm."
    folded = Folded(f"All {tests.height} tests between predictors", [table])
    return [Prose(said, "plain", badges), table if tests.height <= _OPEN_TESTS else folded]


def _test_row(row: _Row, index: Index) -> Row:
    value, _, interval = with_interval(row["difference"], row["low"], row["high"]).partition(" [")
    badges = list(dict.fromkeys([*_badges(index, row["predictor_a"]), *_badges(index, row["predictor_b"])]))
    return Row(
        [
            Cell(f"{row['predictor_a']} against {row['predictor_b']}", badges=badges),
            Cell(criterion_words(row["criterion"])),
            Cell(statistic_words(row["statistic"]).label),
            Cell(value, f"[{interval}" if interval else "", row["difference"]),
            _p_cell(row["p"]),
            _p_cell(row["p_holm"]),
            Cell(fixed(row["n"], 0), sort=row["n"]),
            Cell(str(row["method"] or "")),
        ]
    )


def _p_cell(p: float | None) -> Cell:
    if p is None or not math.isfinite(p):
        return Cell(_NONE)
    return Cell("< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}", sort=p)
