"""Simulated participants: what they are told is what comes out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from paragone.benchmark import Benchmark
from paragone.design import PairStage, RatingStage, Study, plan
from paragone.errors import BadConfig, BadInput, UnknownName
from paragone.observers import Observers, latent_scores, mixed_scores, simulate
from paragone.plan import Plan
from paragone.scores import Scores
from paragone.study import collect

GROUP = ["content", "style"]
SURE = Observers(taste_sd=0, lapse=0, left_bias_sd=0, temperature=0.001, inconsistency=0, offset_sd=0)


def benchmark(broken: int = 0) -> Benchmark:
    rows = [
        {"item": f"m{m}/c{c}/s{s}", "method": f"m{m}", "content": f"c{c}", "style": f"s{s}", "broken_of": None}
        for m in range(6)
        for c in range(2)
        for s in range(3)
    ]
    rows += [{**row, "item": f"broken/{row['item']}", "broken_of": row["item"]} for row in rows[:broken]]
    none = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
    return Benchmark(pl.DataFrame(rows, schema_overrides={"broken_of": pl.String}), none, criteria=("content", "style"))


def paired(people: int = 30, *, broken: int = 0, **options: int) -> Plan:
    stage = PairStage(group=GROUP, compare="method", participants=people, trials=36, repeats=6, **options)
    return plan(benchmark(broken), Study(stage=[stage], seed=3))


def rated(people: int = 30, **options: int) -> Plan:
    return plan(benchmark(), Study(stage=[RatingStage(participants=people, **options)], seed=3))


def truth() -> Scores:
    return latent_scores(benchmark(), seed=5)


def with_truth(frame: pl.DataFrame, *sides: str) -> pl.DataFrame:
    for side in sides:
        known = truth().frame.select("criterion", pl.col("item").alias(side), pl.col("score").alias(f"true_{side}"))
        frame = frame.join(known, on=["criterion", side], how="left")
    return frame


def test_the_share_of_wins_recovers_the_latent_order() -> None:
    stage = PairStage(pairs="any", participants=150, trials=60, repeats=0)
    shown = plan(benchmark(), Study(stage=[stage]))
    votes = collect(shown, simulate(shown, truth(), seed=1, observers=Observers(taste_sd=0.2))).votes
    assert votes is not None
    won = pl.concat(
        [votes.frame.select("criterion", item=side, won=pl.col("choice") == side) for side in ("left", "right")]
    )
    shares = won.group_by("criterion", "item").agg(pl.col("won").mean())
    for _, part in with_truth(shares, "item").group_by("criterion"):
        assert spearmanr(part["won"], part["true_item"]).statistic > 0.95


def test_mean_ratings_recover_the_latent_order() -> None:
    shown = rated()
    ratings = collect(shown, simulate(shown, truth(), seed=1)).ratings
    assert ratings is not None
    means = ratings.main.frame.group_by("criterion", "item").agg(pl.col("value").mean())
    for _, part in with_truth(means, "item").group_by("criterion"):
        assert spearmanr(part["value"], part["true_item"]).statistic > 0.9


def test_sure_participants_choose_the_better_item_and_hit_every_check() -> None:
    shown = paired(checks=4, broken=2)
    votes = collect(shown, simulate(shown, truth(), seed=1, observers=SURE)).votes
    assert votes is not None
    checks = votes.frame.filter(pl.col("kind") == "check")
    assert checks.height == 30 * 4 * 2
    assert (checks["choice"] == checks["expected"]).all()
    main = with_truth(votes.main.frame, "left", "right")
    assert ((main["true_left"] > main["true_right"]) == (main["choice"] == "left")).all()


def test_preferences_follow_the_logistic_law() -> None:
    shown = Plan(
        pl.DataFrame({"trial": [f"t{k}" for k in range(4000)], "sheet": [f"p{k}" for k in range(4000)]}).with_columns(
            stage=pl.lit("1"), position=1, kind=pl.lit("main"), left=pl.lit("a"), right=pl.lit("b")
        )
    )
    latent = Scores(pl.DataFrame({"item": ["a", "b"], "score": [1.2, 0.0]}))
    look = Observers(taste_sd=0, lapse=0, left_bias=0.3, left_bias_sd=0, stage_temperature={"1": 2.0})
    left = (simulate(shown, latent, seed=2, observers=look)["answer"] == "left").mean()
    # four standard errors of a share over 4,000 answers
    assert left == pytest.approx(1 / (1 + np.exp(-(1.2 / 2 + 0.3))), abs=4 * np.sqrt(0.25 / 4000))


def test_ties_follow_davidson() -> None:
    shown = paired(60)
    level = Scores(truth().frame.with_columns(score=pl.lit(0.0)))
    look = Observers(taste_sd=0, lapse=0, left_bias_sd=0, ties=0.5)
    answers = simulate(shown, level, seed=2, observers=look)
    assert (answers["answer"] == "tie").mean() == pytest.approx(0.5 / 2.5, abs=4 * np.sqrt(0.16 / answers.height))


def test_a_taste_stays_the_same_when_a_pair_comes_again() -> None:
    shown = paired()
    votes = collect(shown, simulate(shown, truth(), seed=1, observers=Observers(taste_sd=3, lapse=0, temperature=1e-3)))
    assert votes.votes is not None
    frame = votes.votes.frame.with_columns(winner=pl.when(pl.col("choice") == "left").then("left").otherwise("right"))
    first = frame.select("criterion", repeat_of="trial", before="winner")
    again = frame.filter(pl.col("kind") == "repeat").join(first, on=["criterion", "repeat_of"])
    assert again.height == 30 * 6 * 2
    assert (again["winner"] == again["before"]).all()
    main = with_truth(votes.votes.main.frame, "left", "right")
    agree = ((main["true_left"] > main["true_right"]) == (main["choice"] == "left")).mean()
    assert 0.5 < float(agree) < 0.8  # people differ although each is sure


def test_careless_people_are_counted_fast_and_random() -> None:
    shown = paired(40, checks=6)
    look = Observers(careless=0.25, lapse=0, pace_sd=0)
    votes = collect(shown, simulate(shown, truth(), seed=1, observers=look)).votes
    assert votes is not None
    people = votes.frame.group_by("participant").agg(
        passed=(pl.col("choice") == pl.col("expected")).mean(), seconds=pl.col("seconds").median()
    )
    failing = people.filter(pl.col("passed") < 1)
    assert failing.height == 10
    assert failing["seconds"].max() < people.filter(pl.col("passed") == 1)["seconds"].min()


def test_ratings_lie_on_the_scale_and_its_steps() -> None:
    look = Observers(low=1, high=5, step=0.5)
    values = simulate(rated(), truth(), seed=1, observers=look)["answer"].cast(pl.Float64).to_numpy()
    assert values.min() >= 1
    assert values.max() <= 5
    assert np.allclose((values - 1) / 0.5, np.round((values - 1) / 0.5))


def test_checks_of_ratings_are_answered_as_expected() -> None:
    shown = rated(checks=3)
    ratings = collect(shown, simulate(shown, truth(), seed=1, observers=SURE)).ratings
    assert ratings is not None
    checks = ratings.frame.filter(pl.col("kind") == "check")
    assert np.allclose(checks["value"], checks["expected"])


def test_one_owner_is_one_participant_over_all_sessions() -> None:
    answers = simulate(rated(3, sessions=4), truth(), seed=1)
    assert answers["participant"].unique().sort().to_list() == ["sim-0001", "sim-0002", "sim-0003"]
    assert answers.group_by("participant").agg(pl.col("sheet").n_unique())["sheet"].to_list() == [4, 4, 4]


def test_answers_follow_from_the_seed_alone() -> None:
    shown = paired(4)
    one, same, other = (simulate(shown, truth(), seed=seed) for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)
    assert latent_scores(benchmark(), seed=1).frame.equals(latent_scores(benchmark(), seed=1).frame)


def test_latent_scores_have_the_spread_that_was_asked_for() -> None:
    items = pl.DataFrame(
        {"item": [f"i{k:04d}" for k in range(4000)], "method": [f"m{k % 2000:04d}" for k in range(4000)]}
    )
    none = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
    many = Benchmark(items, none, criteria=("a", "b"))
    scores = latent_scores(many, seed=0, effects={"method": 1.5}, interaction_sd=2.0, correlation=0.6)
    wide = scores.frame.pivot(on="criterion", index="item", values="score")
    assert wide["a"].std() == pytest.approx(2.5, rel=0.05)  # sqrt(1.5^2 + 2^2)
    assert np.corrcoef(wide["a"], wide["b"])[0, 1] == pytest.approx(0.6, abs=0.05)
    assert scores.made["simulated"] is True


def test_mixed_scores_follow_the_metrics_and_turn_round_what_is_better_low() -> None:
    up = Scores(pl.DataFrame({"item": list("abcd"), "score": [1.0, 2.0, 3.0, None]}), name="up", better="higher")
    down = Scores(pl.DataFrame({"item": list("abcd"), "score": [10.0, 5.0, 6.0, 1.0]}), name="down", better="lower")
    mixed = mixed_scores({"style": [(up, 1.0), (down, 1.0)], "content": [(down, 1.0)]}, sd=2.0)
    style, content = (mixed.of_criterion(name)["score"].to_list() for name in ("style", "content"))
    assert mixed.of_criterion("style")["item"].to_list() == ["a", "b", "c"]
    assert style[0] < style[1] < style[2]
    assert content[0] < content[2] < content[1]
    assert np.std(style) == pytest.approx(2.0)
    assert mixed.made["settings"] == {"style": {"up": 1.0, "down": 1.0}, "content": {"down": 1.0}}


def test_what_cannot_be_simulated_is_refused() -> None:
    shown = paired(3)
    some = Scores(truth().frame.filter(pl.col("item") != "m0/c0/s0"), name="some")
    with pytest.raises(BadInput, match=r"some has no score for an item of trial '1-\d+-\d+'"):
        simulate(shown, some, seed=0)
    with pytest.raises(UnknownName, match="no stage 'one'; there is 1"):
        simulate(shown, truth(), seed=0, observers=Observers(stage_temperature={"one": 1.0}))
    flat = Scores(pl.DataFrame({"item": ["a", "b"], "score": [1.0, 1.0]}), name="flat")
    with pytest.raises(BadInput, match="flat gives every item the same score"):
        mixed_scores({"style": [(flat, 1.0)]})
    with pytest.raises(BadInput, match="share fewer than two items"):
        mixed_scores({})
    with pytest.raises(BadInput, match="simulated holds 2 criteria"):
        mixed_scores({"style": [(truth(), 1.0)]})
    with pytest.raises(UnknownName, match="no factor 'methd'; did you mean 'method'"):
        latent_scores(benchmark(), seed=0, effects={"methd": 1.0})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0}, "temperature is 0; it must be above 0"),
        ({"taste_sd": -1}, "taste_sd is -1; it must be a number not below 0"),
        ({"lapse": 1.5}, r"lapse is 1.5; it must be in \[0, 1\]"),
        ({"careless": float("nan")}, "careless is nan"),
        ({"stage_temperature": {"across": 0}}, "stage_temperature.across is 0"),
        ({"low": 5}, "high is 5; it must be above low = 5"),
        (
            {"stage_scale": {"rated": (5, 1, 1)}},
            "stage_scale.rated is 1; it must be a step above 0 on a scale that rises",
        ),
        ({"gain": 0}, "gain is 0; it must be above 0"),
    ],
)
def test_bad_settings_of_observers_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        Observers(**options)  # type: ignore[arg-type]
    with pytest.raises(BadConfig, match="correlation is 2"):
        latent_scores(benchmark(), seed=0, correlation=2)
    with pytest.raises(BadConfig, match="interaction_sd is -1"):
        latent_scores(benchmark(), seed=0, interaction_sd=-1)
    with pytest.raises(BadConfig, match="sd is 0"):
        mixed_scores({}, sd=0)
