"""The effect of a rating's place in its session."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from paragone.benchmark import Benchmark
from paragone.consistency import consistency
from paragone.consistency.position import position_effect
from paragone.design import RatingStage, Study, plan
from paragone.errors import BadInput, TooFew
from paragone.judgements import Ratings
from paragone.observers import latent_scores, simulate
from paragone.study import collect

NONE = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})


def rated(
    people: int, items: int, drift: float, *, seed: int = 0, sd: float = 0.5, same_order: bool = False
) -> Ratings:
    """Everybody rates all items once in an order of their own; each place adds `drift`."""
    rng = np.random.default_rng(seed)
    quality, rows = rng.standard_normal(items), []
    for person in range(people):
        order = np.arange(items) if same_order else rng.permutation(items)
        slope = drift + 0.3 * abs(drift) * rng.standard_normal()
        for place, item in enumerate(order.tolist(), start=1):
            value = 3 + quality[item] + slope * place + 0.4 * (person % 3) + sd * rng.standard_normal()
            rows.append({"participant": f"p{person}", "item": f"i{item}", "value": value, "position": place})
    return Ratings(pl.DataFrame(rows))


def test_a_drift_is_found() -> None:
    row = position_effect(rated(30, 60, -0.01)).row(0, named=True)
    assert row["low"] < -0.01 < row["high"] < 0
    assert row["slope"] == pytest.approx(-0.01, abs=0.002)
    assert row["drift"] == pytest.approx(59 * row["slope"])
    assert (row["n"], row["participants"], row["note"]) == (1800, 30, None)


def test_without_a_drift_intervals_hold_zero_as_often_as_they_say() -> None:
    inside = 0
    for seed in range(120):
        row = position_effect(rated(20, 25, 0.0, seed=seed), replicates=300).row(0, named=True)
        inside += row["low"] <= 0 <= row["high"]
    # 95 % of 120 are 114; percentile intervals of 20 people are a little narrow, and three standard errors are 7
    assert inside >= 104


def test_it_is_the_slope_of_a_regression_with_items_and_people() -> None:
    ratings = rated(6, 9, 0.05)
    frame = ratings.frame
    item = np.unique(frame["item"].to_numpy(), return_inverse=True)[1]
    who = np.unique(frame["participant"].to_numpy(), return_inverse=True)[1]
    design = np.concatenate([frame["position"].to_numpy()[:, None], np.eye(9)[item], np.eye(6)[who]], axis=1)
    expected = np.linalg.lstsq(design, frame["value"].to_numpy())[0][0]
    assert position_effect(ratings)["slope"].item() == pytest.approx(expected)


def test_late_items_that_are_good_are_no_drift() -> None:
    # sessions of unlike items: only the order inside a session counts
    frame = rated(12, 40, 0.0, sd=0.0).frame
    late = frame.with_columns(value=pl.col("value") + 2.0 * (pl.col("item").str.slice(1).cast(pl.Int64) > 20))
    assert position_effect(Ratings(late))["slope"].item() == pytest.approx(0.0, abs=1e-9)


def test_the_same_order_for_all_says_nothing() -> None:
    row = position_effect(rated(8, 12, 0.1, same_order=True)).row(0, named=True)
    assert row["slope"] is None
    assert row["note"] == "place and item are one: everybody saw the items in the same order"


def test_few_people_have_a_slope_and_no_interval() -> None:
    row = position_effect(rated(3, 12, 0.1)).row(0, named=True)
    assert row["slope"] == pytest.approx(0.1, abs=0.1)
    assert row["low"] is None
    assert row["note"] == "no interval: 3 participants, 5 are needed"


def test_a_simulated_study_has_a_row_for_each_criterion_and_its_sessions_are_told_apart() -> None:
    items = pl.DataFrame({"item": [f"i{k}" for k in range(40)], "kind": [f"k{k % 4}" for k in range(40)]})
    benchmark = Benchmark(items, NONE, criteria=("look", "match"))
    stage = RatingStage(name="rate", participants=10, sessions=2, repeats=2, checks=1)
    made = plan(benchmark, Study(stage=[stage]))
    ratings = collect(made, simulate(made, latent_scores(benchmark, seed=1), seed=2)).ratings
    assert ratings is not None
    table = position_effect(ratings)
    assert table.select("criterion", "stage").rows() == [("look", "rate"), ("match", "rate")]
    assert table["n"].to_list() == [400, 400]
    assert (table["low"] < table["slope"]).all()
    assert (table["slope"] < table["high"]).all()
    sessions = made.frame.filter(pl.col("kind") == "main")
    assert table["drift"][0] == pytest.approx(
        table["slope"][0]
        * sessions.group_by("sheet").agg(pl.col("position").max() - pl.col("position").min())["position"].max()
    )


def test_orders_of_a_plan_are_drawn_anew_for_each_participant_and_session() -> None:
    items = pl.DataFrame({"item": [f"i{k}" for k in range(30)]})
    made = plan(Benchmark(items, NONE), Study(stage=[RatingStage(participants=40, stabilising=0)]))
    places = made.frame.group_by("item").agg(pl.col("position"))["position"].list.mean()
    # the mean place of an item over 40 people: 15.5 with a standard error of 8.66 / sqrt(40) = 1.37
    assert np.abs(places.to_numpy() - 15.5).max() < 4.2 * 1.37
    assert made.frame.group_by("sheet").agg(pl.col("item"))["item"].n_unique() == 40


def test_what_cannot_be_followed_is_refused() -> None:
    frame = rated(3, 4, 0.0).frame
    with pytest.raises(BadInput, match="no column 'position'; collect keeps it"):
        position_effect(Ratings(frame.drop("position")))
    with pytest.raises(BadInput, match="position '0' is no whole number from 1"):
        position_effect(Ratings(frame.with_columns(position=pl.lit(0))))
    with pytest.raises(BadInput, match="position 'first' is no whole number"):
        position_effect(Ratings(frame.with_columns(position=pl.lit("first"))))
    with pytest.raises(BadInput, match="0 bootstrap replicates"):
        position_effect(Ratings(frame), replicates=0)
    with pytest.raises(TooFew, match="no main rating has a place"):
        position_effect(Ratings(frame.with_columns(kind=pl.lit("check"))))


def test_consistency_reports_the_drift_where_places_are_known() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for person in range(8):
        for place, item in enumerate(rng.permutation(20), start=1):
            value = float(item) / 5 + 0.05 * place + rng.normal(0, 0.1)
            rows.append({"participant": f"p{person}", "item": f"i{item}", "value": value, "position": place})
    ratings = Ratings(pl.DataFrame(rows))
    found = consistency(ratings, replicates=200).frame.filter(pl.col("statistic") == "position_slope")
    assert found.height == 1
    assert found["value"][0] == pytest.approx(0.05, abs=0.01)
    assert found["low"][0] < 0.05 < found["high"][0] + 0.005
    without = consistency(Ratings(ratings.frame.drop("position")), replicates=20).frame
    assert "position_slope" not in set(without["statistic"])
