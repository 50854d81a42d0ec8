"""The table of a validation as papers print it: a row a predictor, SRCC and KRCC of each criterion, mean and spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ...errors import UnknownName
from .judged import STATISTICS, Kind, covering
from .validation import CrossValidation

__all__ = ["PaperTable", "paper_table"]

_KINDS: tuple[Kind, ...] = ("floor", "metric", "set", "learner")


@dataclass(frozen=True)
class PaperTable:
    """Text cells, and which of them are best and second best of their column."""

    frame: pl.DataFrame
    """Columns `predictor`, `kind`, then one for each criterion and statistic, for example 'style SRCC'; all text. The
    last rows, of kind 'gain', hold each learner's relative gain over the strongest metric. Null: no figure."""
    marks: pl.DataFrame
    """The same shape: 'best', 'second' or '' for every cell. Equal figures share a mark."""
    caption: str
    """Protocol, targets, number of folds, backbone, and whether answers were simulated."""

    def markdown(self) -> str:
        """The table in Markdown: best figures bold, second best underlined."""
        names = self.frame.columns
        lines = [f"| {' | '.join(names)} |", f"|{'|'.join(['---', '---', *['---:'] * (len(names) - 2)])}|"]
        for row, marks in zip(self.frame.iter_rows(), self.marks.iter_rows(), strict=True):
            cells = [
                _marked(_escaped(cell, "|"), mark, ("**", "**"), ("<u>", "</u>"))
                for cell, mark in zip(row, marks, strict=True)
            ]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join([*lines, "", self.caption, ""])

    def latex(self) -> str:
        """The table in LaTeX, with the rules of booktabs: best figures bold, second best underlined."""
        names = self.frame.columns
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escaped(self.caption, _LATEX)}}}",
            rf"\begin{{tabular}}{{ll{'r' * (len(names) - 2)}}}",
            r"\toprule",
            " & ".join(_escaped(name, _LATEX) for name in names) + r" \\",
            r"\midrule",
        ]
        before = None
        for row, marks in zip(self.frame.iter_rows(), self.marks.iter_rows(), strict=True):
            if before is not None and row[1] != before:
                lines.append(r"\midrule")
            before = row[1]
            cells = [
                _marked(_escaped(cell, _LATEX).replace("±", r"$\pm$"), mark, (r"\textbf{", "}"), (r"\underline{", "}"))
                for cell, mark in zip(row, marks, strict=True)
            ]
            lines.append(" & ".join(cells) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def paper_table(validation: CrossValidation, *, predictors: Sequence[str] | None = None, digits: int = 3) -> PaperTable:
    """Tables 3 and 4 in the form of the papers: every predictor by criterion, SRCC and KRCC, mean ± sd over folds.

    Figures of sets of pictures have no folds; they show the correlation over levels and their number, and take no part
    in best and second best. Floors do take part: where a floor is best, the table says so.

    Args:
        validation: what `crossval` gave.
        predictors: which rows, in this order; None: all, floors first, then metrics, sets and learners.
        digits: behind the decimal point.

    Raises:
        UnknownName: no predictor of that name.
    """
    table = validation.table
    order = predictors
    if order is None:
        order = [
            name
            for kind in _KINDS
            for name in table.filter(pl.col("kind") == kind)["predictor"].unique(maintain_order=True)
        ]
    known = table["predictor"].unique(maintain_order=True).to_list()
    for name in order:
        if name not in known:
            raise UnknownName.among(name, known, "predictor")
    kind_of = dict(table.select("predictor", "kind").iter_rows())
    rows: list[dict[str, str | None]] = [{"predictor": name, "kind": kind_of[name]} for name in order]
    marks: list[dict[str, str]] = [{"predictor": "", "kind": ""} for _ in order]
    learners = [name for name in order if kind_of[name] == "learner"]
    gain_rows: list[dict[str, str | None]] = [{"predictor": f"gain of {name}", "kind": "gain"} for name in learners]
    names = []
    for criterion in validation.criteria:
        for statistic in STATISTICS:
            column = f"{criterion or 'score'} {statistic.upper()}"
            names.append(column)
            own = table.filter(pl.col("criterion").eq_missing(criterion) & (pl.col("statistic") == statistic))
            cells = {row["predictor"]: row for row in own.iter_rows(named=True)}
            judged = [row for row in cells.values() if row["kind"] != "set"]
            covers = covering([row["folds"] or 0 for row in judged], [row["n"] or 0 for row in judged])
            ranked = {row["predictor"] for row, complete in zip(judged, covers, strict=True) if complete}
            means = [_mean(cells.get(name) if name in ranked else None, digits) for name in order]
            for row, mark, name, label in zip(rows, marks, order, _ranked(means), strict=True):
                row[column] = _figure(cells.get(name), digits)
                mark[column] = label
            for gained, name in zip(gain_rows, learners, strict=True):
                gained[column] = _gain(validation.gains, name, criterion, statistic)
    schema = dict.fromkeys(["predictor", "kind", *names], pl.String)
    blank = [dict.fromkeys(schema, "") for _ in gain_rows]
    return PaperTable(
        pl.DataFrame([*rows, *gain_rows], schema=schema),
        pl.DataFrame([*marks, *blank], schema=schema),
        _caption(validation),
    )


_LATEX = "&%$#_{}"


def _mean(row: dict[str, Any] | None, digits: int) -> float:
    """What is ranked: the mean over folds, as it is printed; NaN where there is none."""
    return math.nan if row is None or row["mean"] is None else round(row["mean"], digits)


def _figure(row: dict[str, Any] | None, digits: int) -> str | None:
    if row is None:
        return None
    if row["kind"] == "set":
        return None if row["pooled"] is None else f"{row['pooled']:.{digits}f} (n = {row['n']})"
    if row["mean"] is None:
        return None
    mean = round(row["mean"], digits) + 0.0  # no minus before a zero
    return f"{mean:.{digits}f}" + (f" ± {row['sd']:.{digits}f}" if row["sd"] is not None else "")


def _gain(gains: pl.DataFrame, learner: str, criterion: str | None, statistic: str) -> str | None:
    rows = gains.filter(
        (pl.col("learner") == learner)
        & pl.col("criterion").eq_missing(criterion)
        & (pl.col("statistic") == statistic)
        & (pl.col("baseline_kind") == "metric")
    )
    if not rows.height or rows["gain"][0] is None:
        return None
    row = rows.row(0, named=True)
    ends = "" if row["low"] is None else f" [{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]"
    return f"{100 * row['gain']:+.1f} %{ends} over {row['baseline']}"


def _ranked(means: Sequence[float]) -> list[str]:
    known = sorted({mean for mean in means if not math.isnan(mean)}, reverse=True)
    label = dict(zip(known, ("best", "second"), strict=False))
    return [label.get(mean, "") for mean in means]


def _marked(text: str, mark: str, best: tuple[str, str], second: tuple[str, str]) -> str:
    before, after = {"best": best, "second": second}.get(mark, ("", ""))
    return f"{before}{text}{after}"


def _escaped(text: str | None, letters: str) -> str:
    """The text with a backslash before each of the letters; '-' where there is none."""
    return "-" if text is None else "".join(f"\\{letter}" if letter in letters else letter for letter in text)


def _caption(validation: CrossValidation) -> str:
    notes = validation.notes
    protocol, features = notes.get("protocol", {}), notes.get("features", {})
    said = [
        f"Whole levels of {validation.factor} held out, {len(protocol.get('folds', []))} folds; mean ± sd over folds of "
        "Spearman's (SRCC) and Kendall's (KRCC) correlation with people.",
        "Training targets were estimated without the held-out items."
        if notes.get("targets") == "refit"
        else "Training targets come from all votes.",
    ]
    if features:
        digest = f", weights {features['sha256'][:12]}" if features.get("sha256") else ", without a file of weights"
        said.append(f"Features {features['definition']} of {features['backbone']}{digest}.")
    if validation.simulated:
        said.append("SIMULATED participants: these figures say nothing about people.")
    return " ".join(said)
