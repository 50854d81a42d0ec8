"""Targets from answers that touch no held-out item."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paragone.errors import BadConfig
from paragone.estimate import Question, estimate
from paragone.judgements import Ratings, Votes
from paragone.loop.answers import score
from paragone.loop.refitted import refitting
from paragone.scores import Scores

ITEMS = [f"{m}/{c}" for m in "abc" for c in ("cat", "dog", "owl")]


@pytest.fixture
def voted(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    strength = dict(zip(ITEMS, rng.standard_normal(len(ITEMS)), strict=True))
    rows = []
    for trial in range(600):
        left, right = rng.choice(ITEMS, 2, replace=False)
        wins = rng.random() < 1 / (1 + np.exp(strength[right] - strength[left]))
        rows.append(
            {"participant": f"p{trial % 20}", "left": left, "right": right, "choice": "left" if wins else "right"}
        )
    frame = pl.DataFrame(rows).with_columns(criterion=pl.lit("overall"))
    Votes(frame).write(tmp_path / "votes.csv")
    return tmp_path


def test_votes_that_touch_a_held_out_item_are_left_out(voted: Path) -> None:
    votes = Votes.read(voted / "votes.csv")
    people = score(votes, "bradley-terry", question=Question(intervals="none"))
    held_out = frozenset(item for item in ITEMS if item.startswith("b/"))
    found = refitting(voted, people)(held_out)
    kept = votes.frame.filter(~pl.col("left").str.starts_with("b/") & ~pl.col("right").str.starts_with("b/"))
    own = estimate(Votes(kept), "bradley-terry", question=Question(intervals="none"))
    assert set(found.frame["item"]) == set(ITEMS) - held_out
    np.testing.assert_array_equal(found.frame["score"].to_numpy(), own.frame["score"].to_numpy())
    before = people.frame.filter(~pl.col("item").is_in(list(held_out)))
    assert not np.allclose(found.frame["score"].to_numpy(), before["score"].to_numpy(), atol=1e-3)


def test_changing_held_out_votes_changes_no_target(voted: Path) -> None:
    votes = Votes.read(voted / "votes.csv")
    people = score(votes, "rank-centrality", question=Question(intervals="none"))
    held_out = frozenset(item for item in ITEMS if item.startswith("c/"))
    before = refitting(voted, people)(held_out)
    touching = pl.col("left").is_in(list(held_out)) | pl.col("right").is_in(list(held_out))
    swapped = pl.when(touching).then(pl.lit("left")).otherwise(pl.col("choice")).alias("choice")
    Votes(votes.frame.with_columns(swapped)).write(voted / "votes.csv")
    assert refitting(voted, people)(held_out).frame.equals(before.frame)


def test_the_settings_of_the_scores_are_kept(voted: Path) -> None:
    votes = Votes.read(voted / "votes.csv")
    people = score(votes, "rank-centrality", question=Question(intervals="none"), options={"prior": 2.0})
    found = refitting(voted, people)(frozenset())
    np.testing.assert_allclose(found.frame["score"].to_numpy(), people.frame["score"].to_numpy(), atol=1e-9)


def test_ratings_of_held_out_items_are_left_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [
        {"participant": f"p{k}", "item": item, "value": float(rng.integers(1, 6)), "criterion": "overall"}
        for k in range(8)
        for item in ITEMS
    ]
    ratings = Ratings(pl.DataFrame(rows))
    ratings.write(tmp_path / "ratings.csv")
    people = score(ratings, "mos", question=Question(intervals="none"))
    found = refitting(tmp_path, people)(frozenset(ITEMS[:3]))
    assert found.frame["item"].to_list() == sorted(ITEMS[3:])


def test_scores_of_unknown_origin_cannot_be_estimated_anew(tmp_path: Path) -> None:
    bare = Scores(pl.DataFrame({"item": ["x"], "score": [1.0]}), name="human")
    with pytest.raises(BadConfig, match="human does not say how it was estimated"):
        refitting(tmp_path, bare)
