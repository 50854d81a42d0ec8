"""Agreement of metrics with people: figures, the table with best and second best marked, groups and tests."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

import polars as pl

from . import charts
from .blocks import Block, Cell, Folded, Head, Missing, Plate, Plates, Prose, Row, Section, Table, Terms
from .digits import count, decimals_for, fixed, p_words, with_interval
from .index import Index
from .ranked import spread_of_n
from .scattered import MOST_SCATTERS, comparable, scatter_plates
from .svg import Spot
from .words import STATISTICS, TESTS, TESTS_MEANING, criterion_words, statistic_words, with_badges

__all__ = ["agreement_section"]

_MOST_DOTS = 40  # predictors in one figure
_OPEN_TESTS = 12  # more tests are folded
_MOST_TESTS = 200  # rows of tests in the page; the CSV holds all
_MOST_WHYS = 6
_NONE = "\N{EN DASH}"
_ARROWS = {"higher": "\N{UPWARDS ARROW}", "lower": "\N{DOWNWARDS ARROW}", "unknown": ""}
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
    criteria = index.criteria(pooled["criterion"].unique(maintain_order=True).to_list())
    parts = {
        criterion: pooled.filter(pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String)))
        for criterion in criteria
    }
    dots = [_dots(part, criterion, index) for criterion, part in parts.items()]
    main = [name for name, words in STATISTICS.items() if words.main]
    known = pooled["statistic"].unique(maintain_order=True)
    more = [name for name in STATISTICS if name in known and name not in main]
    more += [name for name in known if name not in STATISTICS]
    tables = [
        _table(part, criterion, [name for name in main if name in known], index) for criterion, part in parts.items()
    ]
    blocks: list[Block] = [Plates([plate for plate in dots if plate is not None])]
    blocks += [
        Prose(said, "warn", material.human_badges)
        for criterion, part in parts.items()
        if (said := _none_agrees(part, criterion, index))
    ]
    blocks += tables
    folded = (
        [_table(part, criterion, more, index, "agreement-more") for criterion, part in parts.items()] if more else []
    )
    groups = _groups(agreement.frame.filter(pl.col("group").is_not_null()), index)
    blocks += _legend([name for name in main if name in known], [*tables, *folded, *groups], index)
    if more:
        blocks.append(Folded("Further statistics", [*folded, _meanings(more)]))
    blocks += _predictors(pooled["predictor"].unique().sort().to_list(), index)
    blocks += _undefined(agreement.notes)
    blocks += _scatters(pooled, index)
    blocks += groups
    blocks += _tests(agreement.tests, index)
    return Section("agreement", title, blocks, material.human_badges)


def _legend(names: Sequence[str], shown: Sequence[Block], index: Index) -> list[Block]:
    """What heads, arrows and marks of the tables mean; of the marks only where there are any."""
    said = ["Predictors stand best first by SRCC."]
    arrows = f"{_ARROWS['higher']} a higher value of the predictor is better, {_ARROWS['lower']} a lower one"
    free = [scores.name for scores in index.material.machine if scores.better == "unknown"]
    said.append(f"{arrows}{'; without an arrow it has no direction and stands last, by size' if free else ''}.")
    if any(table.marked for table in _tables_in(shown)):
        said.append(
            "A filled 1 marks the best value of a column and an outlined 2 the second best, among three or more predictors "
            "with a direction that run with people (SRCC above 0). The marks say nothing about significance; intervals and "
            "tests do."
        )
    return [_meanings(names), Prose(" ".join(said), "small")]


def _tables_in(blocks: Sequence[Block]) -> Iterator[Table]:
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Folded):
            yield from _tables_in(block.blocks)


def _meanings(names: Sequence[str]) -> Terms:
    """Each statistic in one line."""
    words = [statistic_words(name) for name in names]
    return Terms([(word.over, word.meaning) for word in words if word.meaning])


def _predictors(names: Sequence[str], index: Index) -> list[Block]:
    """What each predictor measures, as far as its scores say."""
    told = {scores.name: str(scores.made.get("summary") or "") for scores in index.material.machine}
    entries = [(name, told[name]) for name in names if told.get(name)]
    return [Folded("What each predictor measures", [Terms(entries)])] if entries else []


def _undefined(notes: Mapping[str, Any]) -> list[Block]:
    """Why numbers are missing."""
    whys = [
        f"{statistic_words(entry['statistic']).label} of {entry['predictor']}, {entry['why']}"
        for entry in notes.get("undefined", ())
        if entry.get("why") and entry.get("group") is None
    ]
    found = list(dict.fromkeys(whys))[:_MOST_WHYS]
    return [Prose(f"Undefined values: {'; '.join(found)}.", "small")] if found else []


def _badges(index: Index, predictor: str) -> list[str]:
    found = [index.material.badges_of(scores) for scores in index.material.machine if scores.name == predictor]
    return found[0] if found else list(index.material.badges.get(predictor, ()))


def _better(index: Index, predictor: str) -> str:
    found = [scores.better for scores in index.material.machine if scores.name == predictor]
    return found[0] if found else "unknown"


def _directed(index: Index, predictor: str) -> str:
    """'niqe \N{DOWNWARDS ARROW}' where lower is better; the name alone for an attribute that is no judgement."""
    return f"{predictor} {_ARROWS[_better(index, predictor)]}".rstrip()


def _against(part: pl.DataFrame) -> set[str]:
    """Predictors that run against people: those whose SRCC is not above 0, or KRCC where there is no SRCC."""
    known: dict[str, float] = {}
    for statistic in ("krcc", "srcc"):  # the later one decides
        known |= dict(
            part.filter(pl.col("statistic") == statistic).drop_nulls("value")["predictor", "value"].iter_rows()
        )
    return {name for name, value in known.items() if not value > 0}


def _none_agrees(part: pl.DataFrame, criterion: str | None, index: Index) -> str:
    """Says that no predictor is shown to agree with people, where no SRCC has an interval above 0; else nothing.

    One without a direction agrees as well where its interval lies below 0.
    """
    rows = part.filter(pl.col("statistic") == "srcc").drop_nulls("value").sort("value", descending=True)
    free = [name for name in rows["predictor"] if _better(index, name) == "unknown"]
    agrees = (pl.col("low") > 0) | (pl.col("predictor").is_in(free) & (pl.col("high") < 0))
    if not rows.height or rows.filter(agrees).height:
        return ""
    top = rows.row(0, named=True)
    figure = f"SRCC {with_interval(top['value'], top['low'], top['high'])}"
    if rows.height == 1:
        return f"{top['predictor']} is not shown to agree with people on {criterion_words(criterion)}: {figure}."
    none = f"None of {count(rows.height, 'predictor')} is shown to agree with people on {criterion_words(criterion)}"
    why = "no interval lies above 0" if rows["low"].null_count() < rows.height else "no SRCC has an interval"
    return f"{none}: {why}. {top['predictor']} has the highest value, {figure}."


def _ordered(rows: pl.DataFrame, index: Index) -> list[str]:
    """Predictors by SRCC, best first; then those without a direction, by size; then those without an SRCC."""
    srcc = rows.filter(pl.col("statistic") == "srcc").drop_nulls("value")
    known: dict[str, float] = dict(srcc["predictor", "value"].iter_rows())

    def place(name: str) -> tuple[int, float, str]:
        if name not in known:
            return (2, 0.0, name)
        free = _better(index, name) == "unknown"
        return (1, -abs(known[name]), name) if free else (0, -known[name], name)

    return sorted(rows["predictor"].unique(), key=place)


def _column_decimals(rows: list[_Row]) -> int:
    halves = [None if row["low"] is None or row["high"] is None else (row["high"] - row["low"]) / 2 for row in rows]
    return decimals_for(halves, [row["value"] for row in rows])


def _dots(part: pl.DataFrame, criterion: str | None, index: Index) -> Plate | None:
    rows = {row["predictor"]: row for row in part.filter(pl.col("statistic") == "srcc").iter_rows(named=True)}
    if not rows:
        return None
    order = [name for name in _ordered(part, index) if name in rows][:_MOST_DOTS]
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
    alt = f"SRCC of {count(frame.height, 'predictor')} with {words}, best first: {order[0]}"
    axis = f"SRCC with {words}"
    drawing = charts.intervals(frame, name=name, alt=with_badges(alt, badges), axis=axis, spots=spots, origin=0.0)
    caption = f"Spearman correlation with 95 % interval; {_n_words(frame['n'], index)}. Right of 0 agrees with people."
    if any(_better(index, label) == "unknown" for label in order):
        caption += " Those without a direction stand last, by size."
    return Plate(name, f"Agreement with {words}", caption, frame, drawing, badges)


def _n_words(n: pl.Series, index: Index) -> str:
    known = [int(value) for value in n.drop_nulls()]
    if not known:
        return "n unknown"
    low, high = min(known), max(known)
    return f"n = {index.things(low)}" if low == high else f"n = {low} to {index.things(high)}"


def _table(part: pl.DataFrame, criterion: str | None, names: list[str], index: Index, file: str = "agreement") -> Table:
    """Predictors by statistics for one criterion."""
    cells: dict[tuple[str, str], _Row] = {
        (row["predictor"], row["statistic"]): row for row in part.iter_rows(named=True)
    }
    order, badges, against = _ordered(part, index), index.material.human_badges, _against(part)
    columns = {name: {p: cells[p, name] for p in order if (p, name) in cells} for name in names}
    marks = {name: _marks(columns[name], index, against) for name in names}
    decimals = {name: _column_decimals(list(columns[name].values())) for name in names}
    items = part.filter(pl.col("statistic") == ("srcc" if "srcc" in part["statistic"] else names[0]))
    sizes = dict(zip(items["predictor"], items["n"], strict=True))
    heads = [Head("predictor", kind="text")]
    for name in names:
        hint = statistic_words(name).direction
        rows = columns[name]
        if any(row["n"] != sizes.get(predictor) for predictor, row in rows.items()):
            spread = spread_of_n(pl.Series([row["n"] for row in rows.values()], dtype=pl.Float64))
            hint = f"{hint}, {spread}".replace("n = ", "n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
        heads.append(Head(statistic_words(name).over, hint.removeprefix(", ")))
    heads.append(Head("n", f"{index.thing}s"))
    made = []
    for predictor in order:
        line = [Cell(_directed(index, predictor), badges=_badges(index, predictor))]
        for name in names:
            line.append(_cell(cells.get((predictor, name)), decimals[name], marks[name].get(predictor, "")))
        n = sizes.get(predictor)
        made.append(Row([*line, Cell(fixed(n, 0), sort=n)]))
    caption = f"Agreement with {criterion_words(criterion)}: value and 95 % interval."
    csv = f"figures/{index.name(file, criterion)}.csv"
    return Table(caption, heads, made, badges, csv, part.filter(pl.col("statistic").is_in(names)))


def _cell(row: _Row | None, decimals: int, mark: _Mark = "") -> Cell:
    if row is None:
        return Cell(_NONE)
    if row["value"] is None:
        return Cell("undefined")
    value, _, interval = with_interval(row["value"], row["low"], row["high"], decimals).partition(" [")
    return Cell(value, f"[{interval}" if interval else "", row["value"], mark)


def _marks(rows: Mapping[str, _Row], index: Index, against: Collection[str] = ()) -> dict[str, _Mark]:
    """Best and second best among predictors that have a direction and run with people; equal values share a mark.

    Nothing is marked where fewer than three predictors with a direction have a value. A curve bends either way, so that a
    predictor that runs against people fits as well as one that runs with them: `against` keeps it without a mark.
    """
    known = {
        name: -row["value"] if statistic_words(row["statistic"]).good == "low" else row["value"]
        for name, row in rows.items()
        if row["value"] is not None and statistic_words(row["statistic"]).good and _better(index, name) != "unknown"
    }
    if len(known) < 3:
        return {}
    fair = {
        name: value
        for name, value in known.items()
        if name not in against and (value > 0 or not statistic_words(rows[name]["statistic"]).signed)
    }
    best = sorted(set(fair.values()), reverse=True)[:2]
    places: dict[float, _Mark] = dict(zip(best, ("first", "second"), strict=False))
    return {name: places.get(value, "") for name, value in fair.items()}


def _scatters(pooled: pl.DataFrame, index: Index) -> list[Block]:
    plates, skipped = scatter_plates(pooled, index)
    human = index.material.human
    if not plates:
        if skipped:
            return [Missing("Scatter plots are missing, because no predictor has an SRCC with people.")]
        why = "Scatter plots are missing, because the scores of the pictures by people and by metrics were not given."
        return [Missing(why, "paragone report DIR")]
    criteria = [] if human is None else human.criteria
    said = ["Each point is a picture" if index.material.benchmark is not None else "Each point is an item"]
    said[0] += ", the curve the monotone 5-parameter logistic behind PLCC and RMSE."
    found = sum(len(comparable(index.material.machine, criterion)) for criterion in criteria)
    if found - len(skipped) > len(plates):
        said.append(f"Drawn are the {MOST_SCATTERS} predictors per criterion that agree best by SRCC")
        free = any(scores.better == "unknown" for scores in index.material.machine)
        said[-1] += "; of those without a direction its size counts." if free else "."
    if skipped:
        names = list(dict.fromkeys(skipped))
        more = "" if len(names) <= _MOST_WHYS else f" and {len(names) - _MOST_WHYS} more"
        said.append(f"Not drawn, since no SRCC was computed: {', '.join(names[:_MOST_WHYS])}{more}.")
    return [Plates(plates), Prose(" ".join(said), "small")]


def _groups(grouped: pl.DataFrame, index: Index) -> list[Block]:
    """Per factor and criterion: predictors by levels, SRCC."""
    rows = grouped.filter(pl.col("statistic") == "srcc").with_columns(
        factor=pl.col("group").str.extract(r"^([^=]*)="), level=pl.col("group").str.replace(r"^[^=]*=", "")
    )
    if not rows.height:
        why = "Agreement within groups is missing; pooled correlations may mislead."
        return [Missing(why, "paragone compare HUMAN MACHINE --group method")]
    tables: list[Block] = []
    for (factor, criterion), part in index.in_order(rows).group_by("factor", "criterion", maintain_order=True):
        tables.append(_group_table(part, str(factor), None if criterion is None else str(criterion), index))
    return [Folded("Agreement within groups, since pooled correlations may mislead", tables)]


def _group_table(part: pl.DataFrame, factor: str, criterion: str | None, index: Index) -> Table:
    badges = index.material.human_badges
    levels = part["level"].unique(maintain_order=True).to_list()
    columns = {
        level: {row["predictor"]: row for row in part.filter(pl.col("level") == level).iter_rows(named=True)}
        for level in levels
    }
    sizes = {level: spread_of_n(part.filter(pl.col("level") == level)["n"]) for level in levels}
    single = {n for level, n in sizes.items() if level != "*"}
    equal = len(single) == 1
    heads = [Head("predictor", kind="text")]
    heads += [Head("mean" if level == "*" else level, "" if equal else sizes[level]) for level in levels]
    decimals = _column_decimals(list(part.iter_rows(named=True)))
    marks = {level: _marks(columns[level], index) for level in levels}
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
    each = f"; {single.pop()} {index.thing}s a {factor}" if equal else ""
    caption = f"SRCC with {criterion_words(criterion)} within each {index.factor_words(factor)}, 95 % interval{each}."
    return Table(caption, heads, rows, badges, csv, part.drop("factor", "level"))


def _tests(tests: pl.DataFrame, index: Index) -> list[Block]:
    if not tests.height:
        why = "Predictors were not tested against each other: that takes two or more of them."
        return [Missing(why, "paragone compare HUMAN MACHINE MACHINE")]
    badges = index.material.human_badges
    heads = [
        *(Head(word, kind="text") for word in ("predictors", "criterion", "statistic")),
        Head("difference", "first minus second"),
        *(Head(word) for word in ("p", "p, Holm", "n")),
        Head("method", kind="text"),
    ]
    shown = tests.filter(pl.col("statistic").is_in(["srcc", "plcc"]), pl.col("method") == "williams")
    shown = index.in_order(shown if shown.height else tests)
    rows = [_test_row(row, index) for row in shown.head(_MOST_TESTS).iter_rows(named=True)]
    csv = f"figures/{index.name('agreement-tests')}.csv"
    cut = f" The first {_MOST_TESTS} of {tests.height}; the CSV holds all." if shown.height > _MOST_TESTS else ""
    if not cut and shown.height < tests.height:
        cut = f" The CSV holds all {tests.height}, by other statistics and methods too."
    table = Table(f"Differences between predictors; p adjusted by Holm.{cut}", heads, rows, badges, csv, tests)
    clear = shown.filter(pl.col("p_holm") < 0.05).height
    told = count(shown.height, "difference")
    said = f"{clear} of {told} between predictors {'stays' if clear == 1 else 'stay'} below p = 0.05, adjusted by Holm."
    folded = Folded(f"Table of {count(shown.height, 'test')} between predictors", [table], printed=False)
    methods = tests["method"].drop_nulls().unique(maintain_order=True)
    terms = Terms([(TESTS[name], TESTS_MEANING[name]) for name in methods if name in TESTS_MEANING])
    return [Prose(said, "plain", badges), table if shown.height <= _OPEN_TESTS else folded, terms]


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
            Cell(TESTS.get(row["method"], str(row["method"] or ""))),
        ]
    )


def _p_cell(p: float | None) -> Cell:
    if p is None or not math.isfinite(p):
        return Cell(_NONE)
    return Cell(p_words(p), sort=p)
