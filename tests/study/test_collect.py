"""Answers and a plan become votes and ratings, exactly once each."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from paragone.errors import BadTable
from paragone.plan import Plan
from paragone.study import collect, read_answers


def plan() -> Plan:
    pairs = pl.DataFrame(
        {
            "trial": ["w-1", "w-2", "w-3", "w-4"],
            "sheet": "w",
            "stage": "within",
            "position": [1, 2, 3, 4],
            "kind": ["main", "check", "main", "repeat"],
            "left": ["a", "a", "b", "b"],
            "right": ["b", "c", "c", "a"],
            "expected": [None, "left", None, None],
            "repeat_of": [None, None, None, "w-1"],
        }
    )
    single = pl.DataFrame(
        {
            "trial": ["r-1", "r-2"],
            "sheet": "r",
            "session": "2",
            "stage": "rate",
            "position": [1, 2],
            "kind": ["stabilising", "check"],
            "item": ["a", "b"],
            "expected": [None, "4.5"],
        }
    )
    return Plan(pl.concat([pairs, single], how="diagonal"))


def answers(*rows: tuple[str, str, str | None, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["participant", "trial", "criterion", "answer"], orient="row")


def test_answers_take_on_what_the_plan_knows() -> None:
    made = collect(plan(), answers(("p", "w-4", None, "left"), ("p", "w-2", None, "right"), ("p", "r-2", None, "4")))
    assert made.votes is not None
    assert made.ratings is not None
    check, repeat = made.votes.frame.rows(named=True)
    assert (check["stage"], check["kind"], check["left"], check["right"]) == ("within", "check", "a", "c")
    assert (check["choice"], check["expected"]) == ("right", "left")
    assert (repeat["trial"], repeat["kind"], repeat["repeat_of"], repeat["position"]) == ("w-4", "repeat", "w-1", 4)
    rating = made.ratings.frame.row(0, named=True)
    assert (rating["item"], rating["value"], rating["expected"], rating["session"]) == ("b", 4.0, 4.5, "2")


def test_the_first_of_two_answers_counts() -> None:
    twice = answers(("p", "w-1", "style", "left"), ("q", "w-1", "style", "right"), ("p", "w-1", "style", "right"))
    made = collect(plan(), twice)
    assert made.votes is not None
    assert made.votes.frame.select("participant", "choice").rows() == [("p", "left"), ("q", "right")]
    assert made.notes["doubles"] == 1
    assert made.notes["answers"] == 3


def test_answers_on_two_criteria_are_no_doubles() -> None:
    made = collect(plan(), answers(("p", "w-1", "style", "left"), ("p", "w-1", "content", "left")))
    assert made.notes["doubles"] == 0
    assert made.notes["missing"] == 6  # three more trials of the begun sheet, on two criteria


def test_what_is_missing_is_counted_by_participant() -> None:
    whole = [("q", f"w-{k}", None, "left") for k in range(1, 5)]
    made = collect(plan(), answers(("p", "w-1", None, "left"), *whole))
    assert made.notes["missing_by"] == {"p": 3}
    assert made.ratings is None


def test_every_fault_is_named_at_once() -> None:
    bad = answers(
        ("p", "w-9", None, "left"), ("p", "w-1", None, "up"), ("p", "r-1", None, "left"), ("p", "r-2", None, "nan")
    )
    with pytest.raises(BadTable) as caught:
        collect(plan(), bad)
    assert caught.value.faults == (
        "row 2: trial 'w-9' is not in the plan",
        "row 3: answer 'up' to trial 'w-1' is not left, right or tie",
        "row 4: answer 'left' to trial 'r-1' is not a number",
        "row 5: answer 'nan' to trial 'r-2' is not a number",
    )


def test_an_answer_on_the_wrong_sheet_is_refused() -> None:
    astray = answers(("p", "w-1", None, "left")).with_columns(sheet=pl.lit("r"))
    with pytest.raises(BadTable, match="trial 'w-1' is on sheet 'w', not 'r'"):
        collect(plan(), astray)


def test_many_faults_are_counted() -> None:
    with pytest.raises(BadTable, match="7 more rows whose trial is not in the plan"):
        collect(plan(), answers(*[("p", f"x-{k}", None, "left") for k in range(10)]))
    with pytest.raises(BadTable, match="1 more rows whose answer does not fit"):
        collect(plan(), answers(*[("p", f"w-{k}", None, "up") for k in range(1, 5)]))


def test_answers_are_read_from_a_file(tmp_path: Path) -> None:
    answers(("p", "w-1", None, "left")).write_csv(tmp_path / "answers.csv")
    assert collect(plan(), read_answers(tmp_path / "answers.csv")).votes is not None
    (tmp_path / "bad.csv").write_text("participant,trial\np,w-1\n")
    with pytest.raises(BadTable, match=r"bad.csv: column 'answer' is missing"):
        read_answers(tmp_path / "bad.csv")
