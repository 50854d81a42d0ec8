"""Laws that hold for every estimator in the catalogue: a new one is covered the moment it is listed."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import BadConfig, NotConnected, TooFew, UnknownName
from paragone.estimate import ESTIMATORS, Estimator, Question, estimate
from paragone.judgements import Ratings, Votes

NONE = Question(intervals="none")
ALL = [ESTIMATORS.get(name) for name in ESTIMATORS.builtin]
FROM_VOTES = [pytest.param(e, id=e.name) for e in ALL if e.reads == "votes"]
FROM_RATINGS = [pytest.param(e, id=e.name) for e in ALL if e.reads == "ratings"]
EVERY = [pytest.param(e, id=e.name) for e in ALL]


def _votes(seed: int, n_items: int = 6, people: int = 12, each: int = 30, *, ties: bool = True) -> pl.DataFrame:
    """Seeded Bradley-Terry votes in which every item wins and loses, so that every model has an answer."""
    rng = np.random.default_rng(seed)
    truth = np.linspace(-1, 1, n_items)
    left = rng.integers(n_items, size=people * each)
    right = (left + rng.integers(1, n_items, size=left.size)) % n_items
    won = rng.random(left.size) < 1 / (1 + np.exp(-(truth[left] - truth[right])))
    choice = np.where(won, "left", "right")
    if ties:
        choice = np.where(rng.random(left.size) < 0.1, "tie", choice)
    ring = np.arange(n_items)
    left, right = np.r_[left, ring, (ring + 1) % n_items], np.r_[right, (ring + 1) % n_items, ring]
    choice = np.r_[choice, np.repeat("left", 2 * n_items)]
    person = np.r_[np.repeat(np.arange(people), each), np.zeros(2 * n_items, dtype=int)]
    return pl.DataFrame(
        {
            "participant": [f"p{number:02d}" for number in person],
            "left": [f"i{index}" for index in left],
            "right": [f"i{index}" for index in right],
            "choice": choice,
        }
    )


def _ratings(seed: int, n_items: int = 8, people: int = 15) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.linspace(1.5, 4.5, n_items)
    item, person = (grid.ravel() for grid in np.meshgrid(np.arange(n_items), np.arange(people)))
    value = truth[item] + rng.normal(0, 0.4, people)[person] + rng.normal(0, 0.6, item.size)
    return pl.DataFrame(
        {
            "participant": [f"p{number:02d}" for number in person],
            "item": [f"i{index}" for index in item],
            "value": np.clip(value, 0, 5),
            "reference": ["i7" if index != 7 else None for index in item],
            "content": [f"c{index % 2}" for index in item],
        }
    )


def _score(estimator: Estimator, frame: pl.DataFrame, question: Question = NONE, **options: Any) -> dict[str, float]:
    answers = Votes(frame) if "left" in frame.columns else Ratings(frame)
    made = estimate(answers, estimator, question=question, **options).frame
    return dict(zip(made["item"], made["score"], strict=True))


def _close(one: dict[str, float], other: dict[str, float], tolerance: float = 1e-6) -> None:
    assert one.keys() == other.keys()
    for item, value in one.items():
        assert (value is None) == (other[item] is None), item
        if value is not None:
            assert value == pytest.approx(other[item], abs=tolerance), item


@pytest.mark.parametrize("estimator", EVERY)
def test_the_record_says_what_it_must(estimator: Estimator) -> None:
    keywords = {
        p.name
        for p in inspect.signature(estimator.model).parameters.values()
        if p.kind is inspect.Parameter.KEYWORD_ONLY
    }
    assert keywords == set(estimator.options), "options and keyword arguments differ"
    assert estimator.unit
    assert len(estimator.source) > 20


@pytest.mark.parametrize("estimator", FROM_VOTES)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_renaming_items_permutes_scores(estimator: Estimator, seed: int) -> None:
    frame = _votes(seed)
    renamed = {f"i{index}": f"name {(index * 5 + 3) % 7}" for index in range(6)}
    other = frame.with_columns(pl.col("left", "right").replace_strict(renamed))
    before = _score(estimator, frame)
    _close({renamed[item]: value for item, value in before.items()}, _score(estimator, other))


@pytest.mark.parametrize("estimator", FROM_VOTES)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_swapping_sides_changes_nothing(estimator: Estimator, seed: int) -> None:
    frame = _votes(seed)
    swap = {"left": "right", "right": "left", "tie": "tie"}
    swapped = frame.select(
        "participant", left=pl.col("right"), right=pl.col("left"), choice=pl.col("choice").replace_strict(swap)
    )
    _close(_score(estimator, frame), _score(estimator, swapped))


@pytest.mark.parametrize("estimator", [p for p in FROM_VOTES if not p.values[0].ordered])
def test_the_order_of_votes_changes_nothing(estimator: Estimator) -> None:
    frame = _votes(3)
    _close(_score(estimator, frame), _score(estimator, frame.sample(fraction=1, shuffle=True, seed=1)))


@pytest.mark.parametrize("estimator", [p for p in FROM_VOTES if not p.values[0].ordered and not p.values[0].shrinks])
def test_doubling_the_votes_changes_nothing_without_a_prior(estimator: Estimator) -> None:
    frame = _votes(4)
    copied = frame.with_columns(pl.col("participant") + "'")  # the same people twice would be perfect repeats
    _close(_score(estimator, frame), _score(estimator, pl.concat([frame, copied])), 1e-5)


@pytest.mark.parametrize("estimator", FROM_VOTES)
def test_scores_follow_the_truth(estimator: Estimator) -> None:
    scores = _score(estimator, _votes(5, people=40))
    assert sorted(scores, key=lambda item: scores[item]) == [f"i{index}" for index in range(6)]


@pytest.mark.parametrize("estimator", FROM_RATINGS)
def test_scores_from_ratings_follow_the_truth_and_renaming(estimator: Estimator) -> None:
    frame = _ratings(6, people=60)
    scores = _score(estimator, frame)
    known = [item for item in scores if scores[item] is not None]
    assert sorted(known, key=lambda item: scores[item]) == known
    renamed = {f"i{index}": f"n{7 - index}" for index in range(8)}
    other = frame.with_columns(pl.col("item", "reference").replace_strict(renamed, default=None))
    _close({renamed[item]: value for item, value in scores.items()}, _score(estimator, other))


@pytest.mark.parametrize("estimator", EVERY)
def test_the_same_seed_gives_the_same_numbers(estimator: Estimator) -> None:
    question = Question(replicates=100, seed=3)
    votes, ratings = Votes(_votes(7)), Ratings(_ratings(7))
    answers: Any = {"votes": votes, "ratings": ratings, "both": (votes, ratings)}[estimator.reads]
    one, two = (estimate(answers, estimator, question=question) for _ in range(2))
    assert one.frame.equals(two.frame)
    known = one.frame.filter(pl.col("score").is_not_null())
    assert known.height > 0
    assert (
        known.filter((pl.col("low") > pl.col("score")) | (pl.col("high") < pl.col("score"))).height <= known.height / 4
    )
    assert (known["rank_low"] <= known["rank_high"]).all()


@pytest.mark.parametrize("estimator", [p for p in FROM_VOTES if p.values[0].connected == "strongly"])
def test_an_undefeated_item_is_refused_by_name(estimator: Estimator) -> None:
    frame = pl.DataFrame({"left": ["a", "a", "b"], "right": ["b", "c", "c"], "choice": ["left", "left", "left"]})
    with pytest.raises(NotConnected, match="'a'"):
        _score(estimator, frame)


@pytest.mark.parametrize("estimator", FROM_VOTES)
def test_separate_groups_are_never_ranked_together(estimator: Estimator) -> None:
    one = _votes(8)
    other = one.with_columns(pl.col("left", "right").str.replace("i", "k"))
    both = pl.concat([one, other])
    with pytest.raises(NotConnected, match="items fall into 2 groups that were never compared"):
        _score(estimator, both)
    alone = _score(estimator, one)
    apart = _score(estimator, both, Question(intervals="none", apart=True))
    _close(alone, {item: value for item, value in apart.items() if item.startswith("i")})


@pytest.mark.parametrize("estimator", EVERY)
def test_a_misspelt_option_is_refused(estimator: Estimator) -> None:
    votes, ratings = Votes(_votes(9)), Ratings(_ratings(9))
    answers: Any = {"votes": votes, "ratings": ratings, "both": (votes, ratings)}[estimator.reads]
    with pytest.raises(BadConfig, match=f"no option of {estimator.name} 'priro'"):
        estimate(answers, estimator, question=NONE, priro=1)


def test_checks_and_training_never_enter_a_score() -> None:
    frame = _votes(10).with_columns(kind=pl.lit("main"))
    planted = frame.with_columns(kind=pl.lit("check"), choice=pl.lit("left"))
    trained = frame.with_columns(kind=pl.lit("training"), choice=pl.lit("right"))
    clean = _score(ESTIMATORS.get("bradley-terry"), frame)
    _close(clean, _score(ESTIMATORS.get("bradley-terry"), pl.concat([frame, planted, trained])))


def test_only_checks_leave_nothing_to_score() -> None:
    with pytest.raises(TooFew, match="all rows are checks or training"):
        estimate(Votes(_votes(10).with_columns(kind=pl.lit("check"))))


def test_an_item_never_shown_has_a_row_and_no_score() -> None:
    made = estimate(
        Votes(_votes(11)), "bradley-terry", question=Question(intervals="none", items=("never", "i0"))
    ).frame
    row = made.filter(pl.col("item") == "never").row(0, named=True)
    assert (row["score"], row["status"], row["n"]) == (None, "never_shown", 0)
    _close(
        _score(ESTIMATORS.get("bradley-terry"), _votes(11)),
        {r["item"]: r["score"] for r in made.iter_rows(named=True) if r["item"] != "never"},
    )


def test_a_level_of_a_factor_is_scored_over_its_items() -> None:
    levels = pl.DataFrame({"item": [f"i{index}" for index in range(6)], "level": ["low"] * 3 + ["high"] * 3})
    question = Question(replicates=100, levels=levels, factor="half")
    made = estimate(Votes(_votes(12)), "bradley-terry", question=question)
    frame = made.frame
    assert frame["level"].to_list() == ["high", "low"]
    assert frame["of"].to_list() == ["half", "half"]
    assert frame["score"][0] > 0 > frame["score"][1]
    notes = made.made["notes"][""]
    assert notes["same_level"] > 0
    assert notes["answers"] + notes["same_level"] == _votes(12).height


def test_a_noisier_stage_and_an_unreliable_person_count_less() -> None:
    good, bad = _votes(13), _votes(13).with_columns(pl.lit("left").alias("choice"), pl.lit("z").alias("participant"))
    frame = pl.concat([good.with_columns(stage=pl.lit("1")), bad.with_columns(stage=pl.lit("2"))])
    estimator = ESTIMATORS.get("bradley-terry")
    clean = _score(estimator, good)
    _close(clean, _score(estimator, frame, Question(intervals="none", reliability={"z": 0.0})))
    cold, hot = (_score(estimator, frame, Question(intervals="none", temperature={"2": heat})) for heat in (1.0, 1e6))
    error = [sum(abs(scores[item] - clean[item]) for item in clean) for scores in (cold, hot)]
    assert error[1] < 1e-3 < error[0]
    with pytest.raises(UnknownName, match="no stage '3'"):
        _score(estimator, frame, Question(intervals="none", temperature={"3": 2.0}))
    with pytest.raises(BadConfig, match="reliability of 'z' is -1"):
        Question(reliability={"z": -1.0})


def test_the_wrong_kind_of_answers_is_refused() -> None:
    with pytest.raises(BadConfig, match="estimator 'mos' reads ratings, and these are votes"):
        estimate(Votes(_votes(14)), "mos")


def test_votes_without_names_are_resampled_one_by_one_and_say_so() -> None:
    made = estimate(Votes(_votes(15).drop("participant")), "counting", question=Question(replicates=100))
    assert made.made["notes"][""]["intervals"].startswith("bootstrap by answer")
    assert made.frame["low"].null_count() == 0


def test_one_participant_gives_scores_without_intervals() -> None:
    frame = _votes(16).with_columns(participant=pl.lit("only"))
    made = estimate(Votes(frame), "bradley-terry")
    assert made.frame["score"].null_count() == 0
    assert made.frame["low"].null_count() == made.frame.height
    assert "two or more" in made.made["notes"][""]["intervals"]


def test_an_item_that_met_only_itself_has_no_score_and_does_not_part_the_others() -> None:
    frame = _votes(17)
    alone = pl.DataFrame({"participant": ["p00"], "left": ["self"], "right": ["self"], "choice": ["left"]})
    made = estimate(Votes(pl.concat([frame, alone])), "bradley-terry", question=NONE).frame
    row = made.filter(pl.col("item") == "self").row(0, named=True)
    assert (row["score"], row["status"]) == (None, "undetermined")
    others = {r["item"]: r["score"] for r in made.iter_rows(named=True) if r["item"] != "self"}
    _close(_score(ESTIMATORS.get("bradley-terry"), frame), others)
    with pytest.raises(TooFew, match="no item met another one"):
        _score(ESTIMATORS.get("bradley-terry"), alone)


def test_votes_and_ratings_meet_on_levels_and_on_people_without_names() -> None:
    votes, ratings = Votes(_votes(18)), Ratings(_ratings(18))
    levels = pl.DataFrame({"item": [f"i{index}" for index in range(8)], "level": [*"aabbccdd"]})
    question = Question(replicates=100, levels=levels, factor="pair")
    made = estimate((votes, ratings), "unified", question=question).frame  # level d is rated and never voted on
    assert made["level"].to_list() == ["a", "b", "c", "d"]
    assert made["score"].is_sorted()
    nameless = Votes(_votes(18).drop("participant"))
    said = estimate((nameless, ratings), "unified", question=Question(replicates=100))
    assert said.made["notes"][""]["intervals"].startswith("bootstrap by answer")
    _close(
        dict(zip(said.frame["item"], said.frame["score"], strict=True)),
        dict(
            zip(
                *(estimate((votes, ratings), "unified", question=NONE).frame[name] for name in ("item", "score")),
                strict=True,
            )
        ),
        1e-5,
    )
