"""Results in plain words."""

from __future__ import annotations

import polars as pl
import pytest

from paragone.estimate import Question, estimate
from paragone.judgements import Votes
from paragone.loop import told
from paragone.loop.answers import consistency_of, item_without_level
from paragone.loop.documents import score_warnings
from paragone.scores import Agreement, Scores
from paragone.screen import ScreenRules, screen


def votes(people: int = 6, pairs: str = "x-y y-z z-x", **more: str) -> Votes:
    """Votes of some people on some pairs, the left side two times in three."""
    rows = [
        {"participant": f"p{k:02d}", "left": a, "right": b, "choice": "left" if (k + i) % 3 else "right", **more}
        for k in range(people)
        for i, (a, b) in enumerate(pair.split("-") for pair in pairs.split())
    ]
    return Votes(pl.DataFrame(rows))


def test_a_score_is_told_with_estimator_unit_people_answers_and_graph() -> None:
    (line,) = told.score_lines(estimate(votes(), question=Question(replicates=100)))
    assert line.startswith(
        "rank-centrality (logit), from 18 answers of 6 participants, 3 items, 1 criterion, 1 connected group (spectral gap "
    )


def test_simulated_answers_are_called_so() -> None:
    made = estimate(votes(), question=Question(intervals="none"))
    labelled = Scores(made.frame, name="human", made={**made.made, "simulated": True})
    assert told.score_lines(labelled)[0].startswith("simulated answers: rank-centrality")
    assert "simulated" not in told.score_lines(made)[0]
    found = consistency_of(votes(), replicates=100)
    assert all(line.startswith("simulated answers: ") for line in told.consistency_lines(found, simulated=True))


def test_levels_are_told_with_the_best_and_the_worst() -> None:
    levels = pl.DataFrame({"item": ["x", "y", "z"], "level": ["u", "v", "w"]})
    question = Question(levels=levels, factor="method", intervals="none")
    made = estimate(votes(pairs="x-y y-z x-z", criterion="style"), question=question)
    ranked = made.frame.sort("score")["level"].to_list()
    first, second = told.score_lines(made)
    assert "3 levels of method" in first
    assert second.startswith(f"style: best {ranked[-1]} ")
    assert f", worst {ranked[0]} " in second


def test_levels_that_are_alike_have_no_best_and_no_worst() -> None:
    frame = pl.DataFrame({"level": ["a", "b"], "criterion": ["overall"] * 2, "score": [1e-17, -1e-17], "n": [4, 4]})
    made = Scores(frame, name="human")
    assert told.score_lines(made)[1:] == ["overall: all 2 have the same score"]


def test_what_has_no_level_is_told_with_an_example() -> None:
    levels = pl.DataFrame({"item": ["x", "y"], "level": ["u", "v"]})
    answers = votes()
    assert item_without_level(answers, levels) == "z"
    made = estimate(answers, question=Question(levels=levels, factor="method", intervals="none"))
    lines = score_warnings(made, examples={"without_level": "z"})
    assert "12 answers whose item has no level of the factor were left out, for example 'z'" in lines


def test_a_short_table_has_numbers_with_their_intervals_and_nothing_empty() -> None:
    frame = pl.DataFrame(
        {
            "item": ["a", "b"], "criterion": [None, None], "score": [1.23456, 20481.0], "low": [1.0, None],
            "high": [1.5, None], "rank_low": [1, 2], "rank_high": [2, 2], "n": [7.0, 8.0], "status": ["ok", "ok"],
        }, schema_overrides={"criterion": pl.String},
    )  # fmt: skip
    short = told.short(frame)
    assert short.columns == ["item", "score [low, high]", "rank range", "n"]
    assert short.row(0) == ("a", "1.23 [1, 1.5]", "1 to 2", 7.0)
    assert short.row(1) == ("b", "20481", "2", 8.0)


def test_the_predictor_closest_to_people_is_named_for_each_criterion() -> None:
    rows = [("ssim", "style", 0.5, 0.1, 0.8, None), ("psnr", "style", 0.7, 0.4, 0.9, None)]
    rows += [("psnr", "style", 0.99, None, None, "method=a"), ("ssim", "content", None, None, None, None)]
    frame = pl.DataFrame(rows, schema=["predictor", "criterion", "value", "low", "high", "group"], orient="row")
    agreement = Agreement(frame.with_columns(statistic=pl.lit("srcc"), n=pl.lit(9)))
    assert told.agreement_lines(agreement) == ["style: closest of 2 is psnr: SRCC 0.7 [0.4, 0.9] with people, 9 items"]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (
            [("blur", -0.0924, -0.428, 0.266), ("contrast", -0.5, -0.8, -0.1)],
            "none of 2 is shown to agree with people; blur has the highest value: SRCC -0.0924 [-0.428, 0.266], 9 items",
        ),
        (
            [("blur", 0.3, 0.0, 0.6), ("contrast", 0.2, -0.1, 0.5)],
            "none of 2 is shown to agree with people; blur has the highest value: SRCC 0.3 [0, 0.6], 9 items",
        ),
        ([("blur", 0.2, -0.1, 0.5)], "blur is not shown to agree with people: SRCC 0.2 [-0.1, 0.5], 9 items"),
        ([("blur", 0.3, 0.1, 0.5)], "blur: SRCC 0.3 [0.1, 0.5] with people, 9 items"),
        (
            [("blur", 0.3, -0.1, 0.6), ("contrast", 0.2, 0.1, 0.3)],
            "of 2 contrast is shown to agree with people: SRCC 0.2 [0.1, 0.3], 9 items; "
            "blur has the highest value, SRCC 0.3 [-0.1, 0.6], 9 items, and is not",
        ),
        (
            [("blur", 1.0, None, None), ("contrast", 0.2, None, None)],
            "highest of 2 is blur: SRCC 1, 9 items; without an interval, so not shown to agree with people",
        ),
    ],
)
def test_a_predictor_whose_interval_reaches_zero_is_not_called_closest(
    rows: list[tuple[str, float, float | None, float | None]], line: str
) -> None:
    frame = pl.DataFrame(rows, schema=["predictor", "value", "low", "high"], orient="row")
    agreement = Agreement(frame.with_columns(criterion=pl.lit("style"), statistic=pl.lit("srcc"), n=pl.lit(9)))
    assert told.agreement_lines(agreement) == [f"style: {line}"]


def test_many_metrics_are_counted_and_few_told_with_their_range() -> None:
    made = Scores(pl.DataFrame({"item": ["a", "b"], "score": [1.0, 2.5]}), name="psnr")
    assert told.measured_lines([made]) == ["psnr: 2 pictures, 1 to 2.5, higher is better"]
    assert told.measured_lines([made] * 7) == ["7 metrics on 2 pictures"]


def test_answers_without_checks_are_not_said_to_have_passed_them() -> None:
    lines = told.screening_lines(screen(votes()))
    assert "rule checks: there are none in these answers, so nobody could be rejected; see --reject" in lines
    assert not any("0 rejected" in line for line in lines[1:])


def test_who_is_rejected_is_named_ten_times_at_most() -> None:
    rules = ScreenRules(reject=("straight",))
    frame = votes(people=12, pairs="x-y y-z z-x " * 4).frame.with_columns(choice=pl.lit("left"))
    screening = screen(Votes(frame), rules)
    lines = told.screening_lines(screening)
    named = [line for line in lines if line.startswith("rejected p")]
    assert len(named) == 10
    assert named[0].startswith("rejected p00: straight: 100% of 12 answers are left")
    assert "and 2 more; the table names each" in lines
    table = told.short_screening(screening.frame)
    assert table.columns == ["participant", "kept", "why"]
    assert table.row(0)[1] == "no"
    assert table.row(0)[2].startswith("straight: ")
