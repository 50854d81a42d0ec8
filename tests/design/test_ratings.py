"""Stages of ratings: every item equally often, sessions, openers, repeats."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.benchmark import Benchmark
from paragone.design import RatingStage, Study, cost, plan
from paragone.errors import BadConfig

Maker = Callable[..., Benchmark]


@given(
    st.integers(1, 9), st.integers(1, 3), st.integers(1, 8), st.integers(0, 3), st.integers(0, 3), st.integers(0, 99)
)
@settings(max_examples=40, deadline=None)
def test_sessions_hold_what_was_asked_for(
    grid_benchmark: Maker, people: int, sessions: int, items: int, stabilising: int, checks: int, seed: int
) -> None:
    repeats = items // 3
    stage = RatingStage(
        participants=people,
        sessions=sessions,
        items=items,
        stabilising=stabilising,
        checks=checks,
        repeats=repeats,
        repeat_distance=max(1, items // 2),
    )
    frame = plan(grid_benchmark(4, 2, 3, broken=1), Study(stage=[stage], seed=seed)).frame
    assert frame["sheet"].n_unique() == people * sessions
    assert frame["owner"].n_unique() == people
    for _, sheet in frame.group_by("sheet"):
        kinds = sheet["kind"].to_list()
        assert kinds[:stabilising] == ["stabilising"] * stabilising
        assert (kinds.count("main"), kinds.count("repeat"), kinds.count("check")) == (items, repeats, checks)
    main = frame.filter(pl.col("kind") == "main")
    assert not main.select("owner", "item").is_duplicated().any()
    assert not main["item"].str.starts_with("broken/").any()
    counts = main["item"].value_counts()["count"]
    assert counts.max() - (counts.min() if counts.len() == 24 else 0) <= 1
    first = frame.select("trial", at="position", what="item")
    again = frame.filter(pl.col("kind") == "repeat").join(first, left_on="repeat_of", right_on="trial")
    assert (again["item"] == again["what"]).all()
    assert (again["position"] - again["at"] >= stage.repeat_distance).all()


def test_sessions_take_their_share_of_every_method(grid_benchmark: Maker) -> None:
    # 96 items in 4 sessions: 3 of a method's 12 items in each, where chance gives up to 8
    stage = RatingStage(participants=6, sessions=4, compare="method", group=["content", "style"])
    benchmark = grid_benchmark(8, 3, 4)
    main = plan(benchmark, Study(stage=[stage])).frame.filter(pl.col("kind") == "main").join(benchmark.items, on="item")
    methods = main.group_by("sheet", "method").len()["len"]
    assert (methods.min(), methods.max()) in ((2, 4), (3, 3))
    cells = main.group_by("sheet", "method", "style").len()["len"]
    assert cells.max() <= 2


def test_items_are_shared_out_over_the_sessions(grid_benchmark: Maker) -> None:
    # AGIQA-1K: 1,080 items, 5 sessions of 216, each under half an hour at 8.3 s an item
    study = Study(stage=[RatingStage(participants=3, sessions=5, stabilising=0)], seconds_per_trial=8.3)
    benchmark = grid_benchmark(12, 9, 10)
    made = plan(benchmark, study)
    assert made.frame.group_by("sheet").len()["len"].unique().to_list() == [216]
    assert made.frame.group_by("owner").agg(pl.col("item").n_unique())["item"].to_list() == [1080] * 3
    assert cost(made, benchmark, study).frame["minutes"].item() == pytest.approx(216 * 8.3 / 60)


def test_the_order_is_drawn_anew_for_everybody(grid_benchmark: Maker) -> None:
    frame = plan(grid_benchmark(), Study(stage=[RatingStage(participants=4)])).frame
    orders = {tuple(sheet["item"]) for _, sheet in frame.filter(pl.col("kind") == "main").group_by("sheet")}
    assert len(orders) == 4


def test_checks_expect_a_value_of_the_scale(grid_benchmark: Maker) -> None:
    stage = RatingStage(participants=20, low=1, high=5, step=1, checks=2)
    checks = plan(grid_benchmark(), Study(stage=[stage])).frame.filter(pl.col("kind") == "check")
    assert set(checks["expected"]) == {"1", "2", "3", "4", "5"}
    assert checks["check"].unique().to_list() == ["instructed"]
    broken = plan(grid_benchmark(broken=2), Study(stage=[stage])).frame.filter(pl.col("kind") == "check")
    assert broken["expected"].unique().to_list() == ["1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"items": 13, "sessions": 2}, "items = 13 in 2 sessions are more than the 24 there are"),
        ({"sessions": 25}, "sessions = 25 for 24 items"),
        ({"sessions": 12, "repeats": 3}, "repeats = 3 is more than the 2 items of a session"),
        ({"sessions": 3, "repeats": 1}, "repeat_distance = 10 does not fit a session of 8 items"),
    ],
)
def test_what_does_not_fit_is_refused(grid_benchmark: Maker, options: dict[str, int], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        plan(grid_benchmark(), Study(stage=[RatingStage(participants=2, **options)]))


def test_a_session_longer_than_minutes_is_refused(grid_benchmark: Maker) -> None:
    # 24 items, 2 repeats, 5 stabilising and 1 check at 60 s each: 32 minutes
    stage = RatingStage(participants=2, repeats=2, checks=1, minutes=31.9)
    with pytest.raises(
        BadConfig, match=r"a session of 32 trials takes 32\.0 minutes at seconds_per_trial = 60, and minu"
    ):
        plan(grid_benchmark(), Study(stage=[stage], seconds_per_trial=60))
    just = RatingStage(participants=2, repeats=2, checks=1, minutes=32)
    assert plan(grid_benchmark(), Study(stage=[just], seconds_per_trial=60)).frame.height == 64


@pytest.mark.parametrize("minutes", [0, -1, float("inf"), float("nan")])
def test_minutes_are_a_number_above_0(minutes: float) -> None:
    with pytest.raises(BadConfig, match=r"minutes = .* is not above 0"):
        RatingStage(participants=2, minutes=minutes)


@given(
    st.integers(3, 9),
    st.integers(1, 3),
    st.integers(0, 4),
    st.integers(0, 3),
    st.sampled_from([0, 2, 3]),  # one broken version alone cannot keep away from its item on so short a sheet
    st.integers(0, 999),
)
@settings(max_examples=80, deadline=None)
def test_no_item_is_rated_twice_in_a_row(
    grid_benchmark: Maker, items: int, sessions: int, stabilising: int, checks: int, broken: int, seed: int
) -> None:
    stage = RatingStage(
        participants=2,
        sessions=sessions,
        items=items,
        stabilising=stabilising,
        checks=min(checks, items // 2),
        repeats=items // 2,
        repeat_distance=1,
    )
    frame = plan(grid_benchmark(4, 3, 3, broken=broken), Study(stage=[stage], seed=seed)).frame
    sound = frame.with_columns(pl.col("item").str.strip_prefix("broken/"))
    again = sound.filter((pl.col("item") == pl.col("item").shift(1)).over("sheet"))
    assert again.height == 0
