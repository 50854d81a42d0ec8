"""Score and agreement tables as text for papers: Markdown and LaTeX (for CSV, `Scores.write` and `Agreement.write`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

from ..errors import BadConfig
from ..scores import Agreement, Scores
from .digits import MINUS, fixed, ranks, with_interval
from .ranked import factor_of, ranked, score_decimals
from .svg import clean
from .words import STATISTICS, criterion_words, statistic_words

__all__ = ["Form", "table_text"]

Form = Literal["markdown", "latex"]

_NONE = "\N{EN DASH}"


def table_text(table: Scores | Agreement, form: Form = "markdown") -> str:
    """Write a table of scores or of agreement with intervals, ranks and n.

    Args:
        table: scores (one row per item or level, best first by the first criterion) or agreement (one row per predictor
            and criterion, pooled values only).
        form: 'markdown', or 'latex' for a tabular that needs the booktabs package.

    Returns:
        The text, ending in a newline; what users named is escaped.

    Raises:
        BadConfig: another form.
    """
    if form not in ("markdown", "latex"):
        raise BadConfig(f"form '{form}' is not one of markdown, latex", where="form")
    heads, rows = _of_scores(table) if isinstance(table, Scores) else _of_agreement(table)
    return _markdown(heads, rows) if form == "markdown" else _latex(heads, rows)


def _of_scores(scores: Scores) -> tuple[list[str], list[list[str]]]:
    heads = [factor_of(scores) or "item"]
    columns: list[dict[str, list[str]]] = []
    for criterion in scores.criteria:
        frame = ranked(scores, criterion)
        decimals = score_decimals(frame)
        heads += [criterion_words(criterion), "rank", "n"]
        columns.append({row["label"]: _score_cells(row, decimals) for row in frame.iter_rows(named=True)})
    labels = dict.fromkeys(label for column in columns for label in column)
    none = [_NONE] * 3
    return heads, [[label, *(cell for column in columns for cell in column.get(label, none))] for label in labels]


def _score_cells(row: dict[str, Any], decimals: int) -> list[str]:
    score = with_interval(row["score"], row["low"], row["high"], decimals)
    shown = str(row["status"]).replace("_", " ") if row["score"] is None else score
    return [shown, ranks(row["rank_low"], row["rank_high"]), fixed(row["n"], 0)]


def _of_agreement(agreement: Agreement) -> tuple[list[str], list[list[str]]]:
    pooled = agreement.frame.filter(pl.col("group").is_null())
    present = pooled["statistic"].unique(maintain_order=True).to_list()
    names = [name for name in STATISTICS if name in present] + [name for name in present if name not in STATISTICS]
    cells: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in pooled.iter_rows(named=True):
        cells[row["predictor"], row["criterion"], row["statistic"]] = row
    rows = []
    for predictor, criterion in pooled.select("predictor", "criterion").unique(maintain_order=True).iter_rows():
        made = [cells.get((predictor, criterion, name)) for name in names]
        values = [with_interval(row["value"], row["low"], row["high"]) if row else _NONE for row in made]
        n = max((row["n"] for row in made if row and row["n"] is not None), default=None)
        rows.append([predictor, criterion_words(criterion), *values, fixed(n, 0)])
    return ["predictor", "criterion", *(statistic_words(name).label for name in names), "n"], rows


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(_for_markdown(cell) for cell in cells) + " |"

    rule = "|" + "|".join([":---", *["---:"] * (len(heads) - 1)]) + "|"
    return "\n".join([line(heads), rule, *(line(row) for row in rows)]) + "\n"


def _latex(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join(_for_latex(cell) for cell in cells) + r" \\"

    columns = "l" + "r" * (len(heads) - 1)
    body = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", line(heads), r"\midrule", *(line(row) for row in rows)]
    return "\n".join([*body, r"\bottomrule", r"\end{tabular}"]) + "\n"


_MARKDOWN = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|~$"})
_LATEX = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "[": "{[}",
        "]": "{]}",
        MINUS: "$-$",
        "\N{EN DASH}": "--",
        "\N{NARROW NO-BREAK SPACE}": r"\,",
    }
)


def _for_markdown(cell: str) -> str:
    return clean(cell).translate(_MARKDOWN)


def _for_latex(cell: str) -> str:
    return clean(cell).translate(_LATEX)
