"""A new level among the known ones: means, intervals, ranks that they leave open, and errors on unseen levels."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student

from paragone.errors import BadInput, TooFew
from paragone.evaluators.entrant import Entrant
from paragone.evaluators.evaluator import Evaluator, Read
from paragone.evaluators.leaderboard import leaderboard
from paragone.evaluators.learners.ridge import RIDGE
from paragone.evaluators.making import errors_of, fit_evaluator
from paragone.features.described import Block, Features
from paragone.scores import Scores

READ = Read(
    features="triplet-v1",
    definition="made",
    framing="crop",
    side=8,
    backbone="made",
    label="made",
    sha256="ab",
    source="a test",
)
METHODS, CELLS = ("poor", "fair", "good", "fine"), tuple(f"cell{i}" for i in range(6))


def features(items: list[str], values: list[float]) -> Features:
    """One scalar that says the score, and one that says nothing."""
    rng = np.random.default_rng(0)
    x = np.stack([np.array(values), rng.standard_normal(len(values))], axis=1).astype(np.float32)
    order = np.argsort(items)
    block = Block(name="made", start=0, stop=2, reads=("image",), kind="scalar")
    return Features(
        items=tuple(sorted(items)),
        values=x[order],
        blocks=(block,),
        definition="made",
        backbone="made",
        sha256="ab",
        source="a test",
    )


def trained(*, foretold: pl.DataFrame | None = None, better: str = "higher") -> Evaluator:
    items = [f"{m}/{c}" for m in METHODS for c in CELLS]
    score = [float(k) for k in range(4) for _ in CELLS]
    frame = pl.DataFrame({"item": items, "criterion": "style", "score": score})
    frame = frame.with_columns(low=pl.col("score") - 0.6, high=pl.col("score") + 0.6)
    people = Scores(frame, name="human", better=better)  # type: ignore[arg-type]
    factors = pl.DataFrame({"item": items, "method": [m for m in METHODS for _ in CELLS], "content": list(CELLS) * 4})
    return fit_evaluator(
        features(items, score),
        people,
        Entrant(name="judge", learner=RIDGE),
        READ,
        factors=factors,
        factor="method",
        foretold=foretold,
        protocol="leave one method out",
    )


def rated(judge: Evaluator, value: float, cells: tuple[str, ...] = CELLS) -> tuple[Scores, pl.DataFrame]:
    items = [f"new/{c}" for c in cells]
    said = judge.predict(features(items, [value] * len(items)))
    return said, pl.DataFrame({"item": items, "content": list(cells)})


def foretold(error: float = 0.0) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    items = [f"{m}/{c}" for m in METHODS for c in CELLS]
    truth = np.repeat(np.arange(4.0), 6)
    shift = np.repeat(np.array([error, -error, error, -error]), 6)
    frame = pl.DataFrame({"item": items, "score": truth + shift + 0.01 * rng.standard_normal(24)})
    return frame.with_columns(criterion=pl.lit("style"), fold=pl.col("item").str.split("/").list.first())


def test_errors_are_those_of_unseen_levels() -> None:
    judge = trained(foretold=foretold(0.5))
    errors = judge.heads["style"].errors
    assert (errors.n_items, errors.n_levels, errors.protocol) == (24, 4, "leave one method out")
    assert errors.item == pytest.approx(0.5, abs=0.03)  # rank ceil(.95 * 25) = 24: the largest of 24
    assert errors.level == pytest.approx(student.ppf(0.975, 4) * 0.5 * math.sqrt(1.25), rel=0.02)


def test_the_mean_of_fewer_items_is_less_sure() -> None:
    judge = trained(foretold=foretold(0.05))
    errors = judge.heads["style"].errors
    assert errors.spread == pytest.approx(0.01, rel=0.5)  # what `foretold` adds to each item
    assert errors.of_mean(6) == errors.of_mean(60) == pytest.approx(errors.level)
    wide = errors._replace(spread=1.0)
    reach = student.ppf(0.975, 4)
    assert wide.of_mean(1) == pytest.approx(math.hypot(errors.level, reach * math.sqrt(1 - 1 / 6)))
    assert errors._replace(spread=math.nan).of_mean(1) == errors.level
    few = board_of(judge, 1.5, CELLS[:1]).filter(pl.col("by") == "evaluator").row(0, named=True)
    assert few["high"] - few["score"] == pytest.approx(errors.of_mean(1))


def test_a_guess_is_the_mean_of_the_other_levels() -> None:
    errors = trained(foretold=foretold(0.5)).heads["style"].errors
    truth = np.arange(4.0)
    missed = (truth.sum() - truth) / 3 - truth
    assert errors.guess == pytest.approx(
        student.ppf(0.975, 4) * math.sqrt((missed**2).mean()) * math.sqrt(1.25), rel=0.01
    )
    assert errors.level < errors.guess


def test_the_conformal_rank_needs_enough_items() -> None:
    few = foretold(0.5).head(18)  # ceil(.95 * 19) = 19 > 18
    people = trained().people
    assert math.isnan(errors_of(few, people, "style", "p").item)
    assert errors_of(foretold(0.5).head(19), people, "style", "p").item > 0


def test_two_levels_say_nothing_about_a_third() -> None:
    two = foretold(0.5).filter(pl.col("fold").is_in(["poor", "fair"]))
    assert math.isnan(errors_of(two, trained().people, "style", "p").level)


def test_a_new_level_stands_where_its_mean_puts_it() -> None:
    judge = trained(foretold=foretold(0.05))
    board = board_of(judge, 1.5)
    assert board["level"].to_list() == ["fine", "good", "new", "fair", "poor"]
    new = board.filter(pl.col("by") == "evaluator").row(0, named=True)
    assert new["score"] == pytest.approx(1.5, abs=0.05)
    assert new["high"] - new["score"] == pytest.approx(judge.heads["style"].errors.level)
    assert (new["rank_low"], new["rank_high"]) == (3, 3)


def board_of(judge: Evaluator, value: float, cells: tuple[str, ...] = CELLS) -> pl.DataFrame:
    said, items = rated(judge, value, cells)
    return leaderboard(judge, said, level="new", items=items)


def test_wide_errors_leave_more_ranks_open() -> None:
    board = board_of(trained(foretold=foretold(0.5)), 1.5)
    new = board.filter(pl.col("by") == "evaluator").row(0, named=True)
    assert new["rank_low"] < 3 < new["rank_high"]


def test_known_levels_are_compared_on_the_new_ones_references() -> None:
    board = board_of(trained(foretold=foretold()), 1.5, CELLS[:2])
    assert set(board["n"]) == {2}
    known = board.filter(pl.col("level") == "good").row(0, named=True)
    assert known["high"] - known["score"] == pytest.approx(0.6 / math.sqrt(2))  # two items with independent errors


def test_intervals_of_another_confidence_are_brought_to_95_percent() -> None:
    items = [f"{m}/{c}" for m in METHODS for c in CELLS]
    score = [float(k) for k in range(4) for _ in CELLS]
    half = student.ppf(0.9, 4)  # of 80 %, five answers an item
    frame = pl.DataFrame({"item": items, "score": score, "df": [4.0] * 24})
    frame = frame.with_columns(low=pl.col("score") - half, high=pl.col("score") + 2 * half)
    people = Scores(frame, name="human", made={"settings": {"confidence": 0.8}})
    table = pl.DataFrame({"item": items, "method": [item.split("/")[0] for item in items]})
    judge = fit_evaluator(features(items, score), people, Entrant(name="judge", learner=RIDGE), READ, factors=table)
    known = judge.people.row(0, named=True)
    assert known["score"] - known["low"] == pytest.approx(student.ppf(0.975, 4))
    assert known["high"] - known["score"] == pytest.approx(2 * student.ppf(0.975, 4))


def test_where_lower_is_better_the_lowest_comes_first() -> None:
    board = board_of(trained(foretold=foretold(0.1), better="lower"), 1.5)
    assert board["level"].to_list() == ["poor", "fair", "new", "good", "fine"]


def test_without_validation_the_ranks_rest_on_nothing_and_are_not_given() -> None:
    board = board_of(trained(), 1.5)
    assert board["rank_low"].null_count() == board.height


def test_nothing_to_rank_is_refused() -> None:
    judge = trained()
    said, items = rated(judge, 1.5)
    with pytest.raises(TooFew, match="no picture of 'new' has a score"):
        leaderboard(judge, Scores(said.frame.head(0), name="judge"), level="new", items=items)


def test_scores_of_levels_and_unknown_factors_are_refused() -> None:
    levels = Scores(pl.DataFrame({"of": ["method"], "level": ["poor"], "score": [1.0]}), name="human")
    some = features(["a", "b", "c"], [1.0, 2.0, 3.0])
    table = pl.DataFrame({"item": ["a", "b", "c"]})
    entrant = Entrant(name="judge", learner=RIDGE)
    with pytest.raises(BadInput, match="an evaluator learns scores of items"):
        fit_evaluator(some, levels, entrant, READ, factors=table)
    people = Scores(pl.DataFrame({"item": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]}), name="human")
    with pytest.raises(BadInput, match="there is no factor 'method' beside the items"):
        fit_evaluator(some, people, entrant, READ, factors=table, factor="method")
    with pytest.raises(TooFew, match="2 items have a score of people and features"):
        fit_evaluator(some, Scores(people.frame.head(2), name="human"), entrant, READ, factors=table)
