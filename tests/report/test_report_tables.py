"""Tables for papers."""

from __future__ import annotations

import polars as pl
import pytest

from paragone.errors import BadConfig
from paragone.report import table_text
from paragone.scores import Agreement, Scores

SCORES = Scores(
    pl.DataFrame(
        {
            "item": ["a_1|x", "b&c", "gone"],
            "criterion": ["image_appeal"] * 3,
            "score": [0.70, 1.20, None],
            "low": [0.60, 1.10, None],
            "high": [0.80, 1.30, None],
            "rank_low": [2, 1, None],
            "rank_high": [2, 1, None],
            "n": [24.0, 25.0, 0.0],
            "status": ["ok", "ok", "never_shown"],
        }
    )
)
AGREEMENT = Agreement(
    pl.DataFrame(
        {
            "predictor": ["niqe", "niqe", "niqe"],
            "criterion": ["appeal"] * 3,
            "statistic": ["srcc", "plcc", "srcc"],
            "value": [-0.5, 0.61, 0.9],
            "low": [-0.6, None, None],
            "high": [-0.4, None, None],
            "n": [96, 96, 12],
            "group": [None, None, "method=x"],
        }
    )
)


def test_scores_become_a_markdown_table_best_first() -> None:
    assert table_text(SCORES).splitlines() == [
        "| item | image appeal | rank | n |",
        "|:---|---:|---:|---:|",
        r"| b&c | 1.20 \[1.10, 1.30\] | 1 | 25 |",
        r"| a\_1\|x | 0.70 \[0.60, 0.80\] | 2 | 24 |",
        "| gone | never shown | – | 0 |",
    ]


def test_scores_become_a_latex_tabular() -> None:
    assert table_text(SCORES, "latex").splitlines() == [
        r"\begin{tabular}{lrrr}",
        r"\toprule",
        r"item & image appeal & rank & n \\",
        r"\midrule",
        r"b\&c & 1.20 {[}1.10, 1.30{]} & 1 & 25 \\",
        r"a\_1\textbar{}x & 0.70 {[}0.60, 0.80{]} & 2 & 24 \\",
        r"gone & never shown & -- & 0 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_agreement_is_pooled_with_a_true_minus_sign() -> None:
    assert table_text(AGREEMENT).splitlines()[2:] == [r"| niqe | appeal | −0.50 \[−0.60, −0.40\] | 0.610 | 96 |"]
    assert "$-$0.50 {[}$-$0.60, $-$0.40{]}" in table_text(AGREEMENT, "latex")


def test_another_form_is_refused() -> None:
    with pytest.raises(BadConfig, match="form 'word' is not one of markdown, latex"):
        table_text(SCORES, "word")  # type: ignore[arg-type]
