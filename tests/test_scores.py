"""Scores and Agreement: what they refuse, keep and write."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from paragone.errors import BadInput, BadTable
from paragone.scores import Agreement, Scores


def _frame(**more: object) -> pl.DataFrame:
    return pl.DataFrame({"item": ["b", "a"], "score": [1.0, None], **more})


def test_rows_come_sorted_and_have_a_status() -> None:
    made = Scores(_frame(status=[None, "never_shown"]))
    assert made.frame["item"].to_list() == ["a", "b"]
    assert made.frame["status"].to_list() == ["never_shown", "ok"]
    assert (made.criteria, made.key) == ([None], "item")


def test_two_rows_for_one_item_and_criterion_are_refused() -> None:
    with pytest.raises(BadTable, match="'a' has 2 rows with a shared criterion"):
        Scores(pl.DataFrame({"item": ["a", "a"], "score": [1.0, 2.0]}))


def test_an_interval_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(BadTable, match="the interval of 'b' begins at 3 and ends at 2; low must not be above high"):
        Scores(_frame(low=[3.0, None], high=[2.0, 4.0]))


def test_what_is_no_number_is_no_score() -> None:
    made = Scores(pl.DataFrame({"item": ["a", "b"], "score": [float("nan"), 1.0]}))
    assert made.frame["score"].to_list() == [None, 1.0]
    assert made.frame["status"].to_list() == ["missing", "ok"]


def test_a_row_that_names_nothing_is_refused() -> None:
    with pytest.raises(BadTable, match="1 rows name neither an item nor a level"):
        Scores(pl.DataFrame({"item": ["a", None], "score": [1.0, 2.0]}))


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_write_then_read_gives_the_same(tmp_path: Path, ending: str) -> None:
    draws = pl.DataFrame({"criterion": ["x", "x"], "replicate": [1, 2], "a": [0.1, 0.2], "b": [0.3, None]})
    made = Scores(
        _frame(criterion=["x", "x"], low=[0.5, None], n=[3.0, 0.0], sd=[0.25, None]),
        name="m",
        better="lower",
        made={"verb": "measure", "notes": {"x": {"k": [1, 2]}}},
        draws=draws,
    )
    again = Scores.read(made.write(tmp_path / f"m{ending}"))
    assert again.frame.drop("sd").equals(made.frame.drop("sd"))
    assert again.draws is not None
    assert again.draws.equals(draws)
    assert (again.name, again.better, again.made["notes"]) == ("m", "lower", {"x": {"k": [1, 2]}})


def test_old_draws_do_not_outlive_their_scores(tmp_path: Path) -> None:
    draws = pl.DataFrame({"criterion": ["x"], "replicate": [1], "a": [0.1]})
    Scores(_frame(), draws=draws).write(tmp_path / "m.csv")
    Scores(_frame()).write(tmp_path / "m.csv")
    assert Scores.read(tmp_path / "m.csv").draws is None


def test_levels_of_a_factor_have_no_item_column(tmp_path: Path) -> None:
    made = Scores(pl.DataFrame({"of": ["method"] * 2, "level": ["p", "q"], "score": [1.0, 2.0]}))
    path = made.write(tmp_path / "m.csv")
    assert "item" not in pl.read_csv(path).columns
    assert Scores.read(path).key == "level"


def test_a_strange_direction_is_refused(tmp_path: Path) -> None:
    path = Scores(_frame()).write(tmp_path / "m.csv")
    beside = path.with_suffix(".toml")
    beside.write_text(beside.read_text().replace('better = "higher"', 'better = "up"'))
    with pytest.raises(BadInput, match="better 'up' is not one of higher, lower, unknown"):
        Scores.read(path)


def test_agreement_keeps_its_tests(tmp_path: Path) -> None:
    frame = pl.DataFrame({"predictor": ["m"], "statistic": ["srcc"], "value": [0.5], "n": [12]})
    tests = pl.DataFrame({"predictor_a": ["m"], "predictor_b": ["k"], "difference": [0.1], "low": [0.0], "high": [0.2]})
    tests = tests.with_columns(p=pl.lit(0.03), p_holm=pl.lit(0.06), n=pl.lit(12))
    made = Agreement(frame, tests=tests)
    again = Agreement.read(made.write(tmp_path / "agreement.csv"))
    assert again.frame.equals(made.frame)
    assert again.tests["p_holm"].to_list() == [0.06]
    Agreement(frame).write(tmp_path / "agreement.csv")
    assert Agreement.read(tmp_path / "agreement.csv").tests.height == 0
