"""Tables 3 and 4 as the papers print them."""

from __future__ import annotations

import polars as pl
import pytest

from crossval_world import World, learner
from paragone.errors import UnknownName
from paragone.evaluators.entrant import Entrant
from paragone.evaluators.protocol.crossval import crossval
from paragone.evaluators.protocol.papers import paper_table
from paragone.evaluators.protocol.validation import CrossValidation
from paragone.scores import Scores
from paragone.splits import leave_one_out

WORLD = World()


@pytest.fixture(scope="module")
def done() -> CrossValidation:
    metrics = [
        WORLD.scores({None: WORLD.truth["style"]}, name="dino_100%"),
        WORLD.scores({None: WORLD.truth["content"] * 0.5 + WORLD.truth["style"]}, name="mix"),
        Scores(
            pl.DataFrame({"of": ["method"] * 6, "level": [f"m{k}" for k in range(6)], "score": [5.0, 3, 4, 1, 2, 0]}),
            name="fid",
            better="lower",
        ),
    ]
    people = Scores(WORLD.people.frame, name="human", made={"simulated": True})
    folds = leave_one_out(WORLD.levels("method"), "method")
    entrants = [Entrant(name="ridge", learner=learner())]
    return crossval(WORLD.features, people, folds, entrants, metrics=metrics, factors=WORLD.factors, replicates=100)


def test_a_row_a_predictor_and_a_column_a_criterion_and_statistic(done: CrossValidation) -> None:
    table = paper_table(done)
    assert table.frame.columns == ["predictor", "kind", "content SRCC", "content KRCC", "style SRCC", "style KRCC"]
    assert table.frame["kind"].unique(maintain_order=True).to_list() == ["floor", "metric", "set", "learner", "gain"]
    row = done.table.filter(
        (pl.col("predictor") == "ridge") & (pl.col("criterion") == "content") & (pl.col("statistic") == "srcc")
    ).row(0, named=True)
    cell = table.frame.filter(pl.col("predictor") == "ridge")["content SRCC"][0]
    assert cell == f"{row['mean']:.3f} ± {row['sd']:.3f}"
    assert table.frame.filter(pl.col("predictor") == "constant")["content SRCC"][0] is None


def test_best_and_second_best_are_marked_in_each_column(done: CrossValidation) -> None:
    table = paper_table(done)
    for column in table.frame.columns[2:]:
        criterion, statistic = column.split()
        rows = done.table.filter((pl.col("criterion") == criterion) & (pl.col("statistic") == statistic.lower()))
        order = rows.drop_nulls("mean").sort("mean", descending=True)["predictor"].to_list()
        marked = dict(zip(table.frame["predictor"], table.marks[column], strict=True))
        assert (marked[order[0]], marked[order[1]]) == ("best", "second")
        assert sum(mark != "" for mark in marked.values()) == 2


def test_the_gain_row_is_over_the_strongest_metric_with_its_interval(done: CrossValidation) -> None:
    row = done.gains.filter(
        (pl.col("criterion") == "content") & (pl.col("statistic") == "srcc") & (pl.col("baseline_kind") == "metric")
    ).row(0, named=True)
    cell = paper_table(done).frame.filter(pl.col("kind") == "gain")["content SRCC"][0]
    ends = f"[{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]"
    assert cell == f"{100 * row['gain']:+.1f} % {ends} over {row['baseline']}"


def test_a_set_metric_shows_its_number_of_levels(done: CrossValidation) -> None:
    assert paper_table(done).frame.filter(pl.col("predictor") == "fid")["style SRCC"][0].endswith("(n = 6)")


def test_markdown_and_latex_carry_marks_and_say_that_answers_were_simulated(done: CrossValidation) -> None:
    table = paper_table(done, predictors=["mix", "dino_100%", "ridge"])
    markdown, latex = table.markdown(), table.latex()
    assert markdown.count("**") == 2 * 4
    assert latex.count(r"\textbf{") == 4
    assert latex.count(r"\underline{") == 4
    assert r"dino\_100\%" in latex
    assert "SIMULATED participants" in markdown
    assert "SIMULATED participants" in latex
    lines = markdown.splitlines()
    assert len({line.replace(r"\|", "").count("|") for line in lines[:6]}) == 1


def test_an_unknown_predictor_is_named(done: CrossValidation) -> None:
    with pytest.raises(UnknownName, match="no predictor 'rigde'; did you mean 'ridge'"):
        paper_table(done, predictors=["rigde"])
