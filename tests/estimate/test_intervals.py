"""An interval or a rank is given only where the answers hold one."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
import pytest

from paragone.errors import BadConfig, BadInput, TooFew
from paragone.estimate import ESTIMATORS, Question, estimate
from paragone.judgements import Ratings, Votes

VOTING = [name for name in sorted(ESTIMATORS.builtin) if ESTIMATORS.get(name).reads == "votes"]


def _ratings(rows: list[tuple[str, str, float]]) -> Ratings:
    return Ratings(pl.DataFrame(rows, schema=["participant", "item", "value"], orient="row"))


def _votes(rows: list[tuple[str, str, str, str]]) -> Votes:
    return Votes(pl.DataFrame(rows, schema=["participant", "left", "right", "choice"], orient="row"))


def test_one_rating_an_item_gives_no_interval_and_no_rank() -> None:
    made = estimate(_ratings([(f"p{i}", f"i{i}", float(i)) for i in range(1, 6)]), "mos")
    assert made.frame["score"].to_list() == [1, 2, 3, 4, 5]
    assert made.frame.select("low", "high", "rank_low", "rank_high").null_count().row(0) == (5, 5, 5, 5)
    assert "no item has an interval" in made.made["notes"][""]["ranks"]


@pytest.mark.parametrize(
    "name", [name for name in VOTING if name in ("rank-centrality", "bradley-terry-ridge", "counting")]
)
def test_two_people_who_agree_are_no_certainty(name: str) -> None:
    made = estimate(
        _votes([("p", "a", "b", "left"), ("q", "b", "a", "right")]), name, question=Question(replicates=100)
    )
    assert made.frame.select("low", "rank_low").null_count().row(0) == (2, 2)


def test_six_people_who_agree_have_an_interval() -> None:
    rows = [(f"p{i}", item, value) for i in range(6) for item, value in (("a", 4.0), ("b", 2.0), ("c", float(i % 3)))]
    frame = estimate(_ratings(rows), "mos").frame
    assert frame.filter(pl.col("item") == "a").select("low", "high").row(0) == (4.0, 4.0)
    assert frame["rank_low"].to_list() == [1, 2, 3]
    five = estimate(_ratings([row for row in rows if row[0] != "p5"]), "mos").frame
    assert five["low"].to_list()[:2] == [None, None]


def test_an_item_without_an_interval_may_hold_any_rank() -> None:
    rows = [(f"p{i}", "a", 4.0 + i % 2) for i in range(12)] + [(f"p{i}", "b", 1.0 + i % 2) for i in range(12)]
    frame = estimate(_ratings([*rows, ("p0", "lone", 3.0)]), "mos").frame
    ranks = {row["item"]: (row["rank_low"], row["rank_high"]) for row in frame.iter_rows(named=True)}
    assert ranks == {"a": (1, 2), "b": (2, 3), "lone": (1, 3)}


def test_few_people_have_a_wide_interval() -> None:
    rows = [(f"p{i}", "a", value) for i, value in enumerate((1.0, 3.0, 5.0))]
    rows += [(f"p{i}", "b", value) for i, value in enumerate((2.0, 2.0, 5.0))]
    frame = estimate(_ratings(rows), "mos", question=Question(replicates=4000)).frame
    exact = estimate(_ratings(rows), "mos", question=Question(intervals="analytic")).frame
    for column in ("low", "high"):
        assert frame[column].to_list() == pytest.approx(exact[column].to_list(), abs=0.4)


def test_reliabilities_that_are_equal_change_nothing() -> None:
    rows = [(f"p{i}", item, value + i % 3) for i in range(8) for item, value in (("a", 3.0), ("b", 2.0))]
    people = {f"p{i}": 100.0 for i in range(8)}
    for kind in ("analytic", "bootstrap"):
        plain = estimate(_ratings(rows), "mos", question=Question(intervals=kind, replicates=200)).frame
        asked = Question(intervals=kind, replicates=200, reliability=people)
        assert estimate(_ratings(rows), "mos", question=asked).frame.equals(plain)
    with pytest.raises(TooFew, match="every participant has reliability 0"):
        estimate(_ratings(rows), "mos", question=Question(reliability=dict.fromkeys(people, 0.0)))


def test_enormous_reliabilities_are_only_relative() -> None:
    rows = [(f"p{i}", item, value + i % 3) for i in range(8) for item, value in (("a", 3.0), ("b", 2.0))]
    made = estimate(_ratings(rows), "mos", question=Question(reliability={"p0": 1e308}, intervals="none")).frame
    assert made["score"].to_list() == pytest.approx([3.0, 2.0])


@pytest.mark.parametrize("name", ["counting", "win-rate"])
def test_intervals_of_shares_stay_between_zero_and_one(name: str) -> None:
    rows = [(f"p{i}", "a", "b", "left") for i in range(2)]
    made = estimate(_votes(rows), name, question=Question(intervals="analytic")).frame
    assert made["low"].min() >= 0
    assert made["high"].max() <= 1
    assert (made["high"] > made["low"]).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confidence": "x"}, "confidence is 'x'; it must be a number"),
        ({"seed": -1}, "seed is -1; give a whole number from 0"),
        ({"replicates": 5}, "replicates is 5; an interval needs at least 100"),
        ({"confidence": 1.0}, "confidence is 1.0; it lies between 0.5 and 1"),
        ({"intervals": "exact"}, "intervals 'exact' is not one of bootstrap, analytic, none"),
        ({"temperature": {"2": 0.0}}, "temperature of stage '2' is 0.0; it must be above 0"),
        ({"reliability": {"p": "x"}}, "reliability of 'p' is x; it must be 0 or more"),
        ({"factor": "method"}, "levels and factor go together"),
        (
            {"factor": "m", "levels": pl.DataFrame({"item": ["a", "a"], "level": ["x", "y"]})},
            "item 'a' has two rows in levels",
        ),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        Question(**settings)  # type: ignore[arg-type]


def test_bare_frames_are_refused_with_the_way_out() -> None:
    with pytest.raises(
        BadInput, match=r"estimate takes Votes, Ratings or .*, not DataFrame; read a file with read_votes"
    ):
        estimate(pl.DataFrame({"left": ["a"]}))  # type: ignore[arg-type]


@pytest.mark.parametrize("intervals", ["bootstrap", "analytic"])
@pytest.mark.parametrize("people", [2, 3])
def test_ranks_of_few_people_hold_the_true_ones(intervals: Literal["bootstrap", "analytic"], people: int) -> None:
    # items .3 standard deviations of a rating apart; ranks that took two people's spread for known held 77 %
    question, true = Question(replicates=200, intervals=intervals), 0.3 * np.arange(8)
    held = 0
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(size=(people, 8))
        rows = [(f"p{p}", f"i{i}", float(true[i] + noise[p, i])) for p in range(people) for i in range(8)]
        found = estimate(_ratings(rows), "mos", question=question).frame.sort("item")
        held += ((found["rank_low"] <= 8 - np.arange(8)) & (found["rank_high"] >= 8 - np.arange(8))).sum()
    assert held >= 0.95 * 8 * 20
