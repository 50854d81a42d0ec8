"""Tables of a validation: as papers print it, gains, pooled and within-group figures, and tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import polars as pl

from ..evaluators.protocol.papers import paper_table
from ..evaluators.protocol.validation import CrossValidation
from .blocks import Block, Cell, Folded, Head, Prose, Row, Table
from .digits import MINUS, count, fixed, p_words, with_interval
from .index import Index
from .leaders import SURE, Leaders, gain_figures
from .validated_figures import column_decimals, of_criterion, validation_badges
from .words import criterion_words, statistic_words

__all__ = ["further_tables", "learner_badges", "papers_blocks"]

_NONE = "\N{EN DASH}"
_KIND_WORDS = {"learner": "learner", "metric": "metric", "floor": "floor", "set": "metric of sets"}
_MARKS: dict[str, Literal["", "first", "second"]] = {"best": "first", "second": "second"}


def papers_blocks(validation: CrossValidation, index: Index) -> list[Block]:
    """The table as papers print it, with its gain rows split off, since they speak of pairs."""
    paper = paper_table(validation)
    badges = validation_badges(validation, index)
    columns = [
        (f"{criterion or 'score'} {statistic.upper()}", criterion, statistic)
        for criterion in index.criteria(validation.criteria)
        for statistic in ("srcc", "krcc")
    ]
    heads = [Head("predictor", kind="text"), Head("kind", kind="text")]
    heads += [
        Head(f"{criterion_words(criterion)} {statistic_words(statistic).over}", "higher is better")
        for _, criterion, statistic in columns
    ]
    figures = {
        (row["predictor"], row["criterion"], row["statistic"]): row for row in validation.table.iter_rows(named=True)
    }
    rows = []
    for at, who in enumerate(paper.frame.iter_rows(named=True)):
        if who["kind"] == "gain":
            continue
        name, kind = who["predictor"], who["kind"]
        cells = [Cell(name, badges=_badges(validation, index, name, kind)), Cell(_KIND_WORDS[kind])]
        for column, criterion, statistic in columns:
            mark = _MARKS.get(str(paper.marks[column][at]), "")
            text, _, spread = (who[column] or _NONE).replace("-", MINUS).partition(" ")
            found = figures.get((name, criterion, statistic), {})
            cells.append(Cell(text, spread, found.get("pooled" if kind == "set" else "mean"), mark))
        rows.append(Row(cells))
    folds = validation.per_fold["fold"].n_unique()
    unseen = index.factor_words(validation.factor)
    caption = f"Agreement on an unseen {unseen}: mean \N{PLUS-MINUS SIGN} standard deviation over {folds} folds."
    csv = f"figures/{index.name('validated-table', validation.factor)}.csv"
    said = "A filled 1 marks the best mean of a column and an outlined 2 the second best; the marks say nothing about "
    said += "significance."
    if validation.table.filter(pl.col("kind") == "set").height:
        said += " A metric of sets has one value per level, and so one correlation over n levels and no spread."
    return [Table(caption, heads, rows, badges, csv, paper.frame), Prose(said, "small")]


def further_tables(validation: CrossValidation, leaders: Sequence[Leaders], index: Index) -> list[Block]:
    """Gains, pooled and within-group figures, and tests: one folded table each."""
    gains = _gains(validation, index)
    figures = [_figures(validation, own.criterion, index) for own in leaders]
    made: list[Block] = (
        [Folded("Relative gain of each learner over the strongest metric and floor", gains)] if gains else []
    )
    made.append(Folded("Means, pooled and within-group figures with intervals", figures))
    return made + _tests(validation, index)


def _gains(validation: CrossValidation, index: Index) -> list[Block]:
    rows = []
    for row in index.in_order(validation.gains).iter_rows(named=True):
        if row["statistic"] != "srcc":
            continue
        gain, interval = gain_figures(row)
        rows.append(
            Row(
                [
                    Cell(row["learner"], badges=learner_badges(validation)),
                    Cell(criterion_words(row["criterion"])),
                    Cell(f"{row['baseline']} ({row['baseline_kind']})"),
                    Cell(fixed(row["learner_mean"], 3), sort=row["learner_mean"]),
                    Cell(fixed(row["baseline_mean"], 3), sort=row["baseline_mean"]),
                    Cell(gain, interval, row["gain"]),
                    Cell(fixed(row["folds"], 0), sort=row["folds"]),
                    Cell(row["note"] or ""),
                ]
            )
        )
    if not rows:
        return []
    heads = [Head(word, kind="text") for word in ("learner", "criterion", "over the strongest")]
    heads += [Head("learner", "mean SRCC"), Head("other", "mean SRCC"), Head("gain", "95 % interval, %"), Head("folds")]
    heads.append(Head("note", kind="text"))
    csv = f"figures/{index.name('validated-gains', validation.factor)}.csv"
    caption = "(learner - other) / other, of mean SRCC over folds."
    badges = validation_badges(validation, index)
    return [Table(caption, heads, rows, badges, csv, validation.gains)]


def _figures(validation: CrossValidation, criterion: str | None, index: Index) -> Table:
    """Per predictor: mean over folds, pooled, within groups; SRCC."""
    table = of_criterion(validation.table, criterion).sort(
        "mean", "pooled", descending=True, nulls_last=True, maintain_order=True
    )
    parts = {name: (name, f"{name}_low", f"{name}_high") for name in ("pooled", "within")}
    parts = {"mean": ("mean", "low", "high"), **parts}
    decimals = {name: column_decimals(table, *columns) for name, columns in parts.items()}
    rows = []
    for row in table.iter_rows(named=True):
        cells = [Cell(row["predictor"], badges=_badges(validation, index, row["predictor"], row["kind"]))]
        cells.append(Cell(_KIND_WORDS[row["kind"]]))
        for name, columns in parts.items():
            value, low, high = (row[column] for column in columns)
            text, _, interval = with_interval(value, low, high, decimals[name]).partition(" [")
            cells.append(Cell(text, f"[{interval}" if interval else "", value))
        rows.append(Row([*cells, *(Cell(fixed(row[name], 0), sort=row[name]) for name in ("folds", "n", "groups"))]))
    within = validation.notes.get("protocol", {}).get("within", ())
    heads = [Head("predictor", kind="text"), Head("kind", kind="text"), Head("mean", "over folds")]
    heads += [
        Head("pooled", "all held-out items"),
        Head("within", f"same {' and '.join(within)}" if within else "groups"),
    ]
    heads += [Head("folds", "defined"), Head("n", "pooled"), Head("groups", "within")]
    caption = f"SRCC with {criterion_words(criterion)} on held-out levels; 95 % interval."
    csv = f"figures/{index.name('validated-figures', validation.factor, criterion)}.csv"
    own = pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String))
    return Table(caption, heads, rows, validation_badges(validation, index), csv, validation.table.filter(own))


def _tests(validation: CrossValidation, index: Index) -> list[Block]:
    tests = validation.tests
    shown = tests.filter((pl.col("statistic") == "srcc") & (pl.col("method") == "folds")).drop_nulls("difference")
    shown = index.in_order(shown)
    if not shown.height:
        return []
    rows = []
    for row in shown.iter_rows(named=True):
        text, _, interval = with_interval(row["difference"], row["low"], row["high"]).partition(" [")
        rows.append(
            Row(
                [
                    Cell(f"{row['predictor']} against {row['other']}", badges=learner_badges(validation)),
                    Cell(criterion_words(row["criterion"])),
                    Cell(text, f"[{interval}" if interval else "", row["difference"]),
                    Cell(p_words(row["p"]), sort=row["p"]),
                    Cell(p_words(row["p_holm"]), sort=row["p_holm"]),
                    Cell(fixed(row["n"], 0), sort=row["n"]),
                    Cell(row["note"] or ""),
                ]
            )
        )
    heads = [Head("predictors", kind="text"), Head("criterion", kind="text"), Head("difference", "first minus second")]
    heads += [Head("p"), Head("p, Holm"), Head("n", "folds"), Head("note", kind="text")]
    csv = f"figures/{index.name('validated-tests', validation.factor)}.csv"
    more = (
        f" The CSV holds all {tests.height}, of KRCC and of pooled correlations too."
        if tests.height > len(rows)
        else ""
    )
    caption = f"Differences of SRCC, paired over folds; p adjusted by Holm.{more}"
    table = Table(caption, heads, rows, validation_badges(validation, index), csv, tests)
    clear = shown.filter(pl.col("p_holm") < SURE).height
    return [Folded(f"{clear} of {count(len(rows), 'difference')} stay below p = 0.05 (Holm)", [table], printed=False)]


def learner_badges(validation: CrossValidation) -> list[str]:
    """Badges of whatever rests on the features."""
    label = str(validation.notes.get("features", {}).get("backbone", ""))
    flags = {"random weights": "random weights" in label, "fallback backbone": "fallback" in label}
    return [words for words, holds in flags.items() if holds]


def _badges(validation: CrossValidation, index: Index, predictor: str, kind: str) -> list[str]:
    if kind == "learner":
        return learner_badges(validation)
    found = [index.material.badges_of(scores) for scores in index.material.machine if scores.name == predictor]
    return found[0] if found else list(index.material.badges.get(predictor, ()))
