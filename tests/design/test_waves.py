"""Waves: what is most informative is asked next, and nothing that a plan promises is lost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from paragone.benchmark import Benchmark
from paragone.design import PairStage, RatingStage, Study, islands, plan
from paragone.design.waves import next_wave
from paragone.errors import BadConfig, BadInput, UnknownName
from paragone.estimate import Question, estimate
from paragone.observers import Observers, simulate
from paragone.plan import Plan
from paragone.scores import Scores
from paragone.study import collect

Maker = Callable[..., Benchmark]
GROUP = ["content", "style"]


def drawn_scores(benchmark: Benchmark, sd: dict[str, float], *, unit: str = "logit", seed: int = 0) -> Scores:
    """Scores of every item to be judged, all about 0, with draws as wide as `sd` says (0.05 for others)."""
    rng = np.random.default_rng(seed)
    items = [item for item in benchmark.items["item"] if not item.startswith("broken/")]
    draws = {item: sd.get(item, 0.05) * rng.standard_normal(200) for item in items}
    criterion = pl.Series("criterion", ["overall"] * 200)
    frame = pl.DataFrame({"item": items, "criterion": ["overall"] * len(items), "score": [0.0] * len(items)})
    table = pl.DataFrame({"criterion": criterion, "replicate": np.arange(200), **draws})
    return Scores(frame, made={"unit": unit}, draws=table)


def pairs_stage(**options: object) -> PairStage:
    chosen = {"participants": 30, "trials": 24, "repeats": 2, "compare": "method", "group": GROUP, "wave": 10}
    return PairStage(**{**chosen, "adaptive": True, **options})  # type: ignore[arg-type]


def joined(*plans: Plan) -> Plan:
    return Plan(pl.concat([one.frame for one in plans], how="diagonal"))


def canonical(frame: pl.DataFrame) -> pl.DataFrame:
    low = pl.min_horizontal("left", "right")
    sign = pl.when(pl.col("left") == low).then(1).otherwise(-1)
    return frame.with_columns(low=low, high=pl.max_horizontal("left", "right"), sign=sign)


def test_only_the_first_wave_is_dealt_before_the_study(grid_benchmark: Maker) -> None:
    study = Study(stage=[pairs_stage()])
    assert plan(grid_benchmark(), study).frame["sheet"].n_unique() == 10
    assert plan(grid_benchmark(), Study(stage=[pairs_stage(wave=99)])).frame["sheet"].n_unique() == 30


@given(
    st.sampled_from(["within", "across", "any"]),
    st.integers(1, 6),
    st.integers(0, 2),
    st.booleans(),
    st.integers(0, 9999),
)
@settings(max_examples=12, deadline=None)
def test_a_wave_keeps_the_rules_of_a_plan(
    grid_benchmark: Maker, pairs: str, sheets: int, broken: int, known: bool, seed: int
) -> None:
    benchmark = grid_benchmark(5, 2, 3, broken=broken)
    stage = pairs_stage(pairs=pairs, checks=2, repeat_distance=5)
    study = Study(stage=[stage], seed=seed)
    first = plan(benchmark, study)
    scores = drawn_scores(benchmark, {"m00/c0/s00": 2.0}) if known else None
    wave = next_wave(first, study, benchmark, scores, "1", sheets, seed)
    frame = wave.frame
    assert frame["sheet"].unique().sort().to_list() == [f"1-{k:03d}" for k in range(11, 11 + sheets)]
    for _, sheet in frame.group_by("sheet"):
        kinds = sheet["kind"].to_list()
        assert (kinds.count("main"), kinds.count("repeat"), kinds.count("check")) == (22, 2, 2)
        main = canonical(sheet.filter(pl.col("kind") == "main"))
        assert not main.select("low", "high").is_duplicated().any()
    home = dict(benchmark.items.select("item", pl.concat_str(GROUP, separator="/")).iter_rows())
    for row in frame.filter(pl.col("kind") != "check").iter_rows(named=True):
        assert pairs == "any" or (home[row["left"]] == home[row["right"]]) == (pairs == "within")
    both = canonical(joined(first, wave).frame.filter(pl.col("kind") == "main"))
    assert both.group_by("low", "high").agg(pl.col("sign").sum().abs())["sign"].max() <= 1
    again = frame.filter(pl.col("kind") == "repeat").join(frame, left_on="repeat_of", right_on="trial", suffix="_first")
    assert (again["position"] - again["position_first"]).min() >= 5
    assert again.height == 2 * sheets


@pytest.mark.parametrize(("pairs", "parts"), [("within", 6), ("across", 1), ("any", 1)])
def test_each_wave_connects_by_itself_what_its_rule_allows(grid_benchmark: Maker, pairs: str, parts: int) -> None:
    benchmark = grid_benchmark(5, 2, 3)
    study = Study(stage=[pairs_stage(pairs=pairs)])
    first = plan(benchmark, study)
    for seed in range(8):
        scores = drawn_scores(benchmark, {f"m0{k}/c0/s00": 3.0 for k in range(3)}, seed=seed)
        wave = next_wave(first, study, benchmark, scores, "1", 2, seed)
        assert islands(wave, benchmark) == parts


def test_a_wave_too_small_for_that_connects_what_it_shows(grid_benchmark: Maker) -> None:
    benchmark = grid_benchmark(6, 3, 4)
    study = Study(stage=[pairs_stage(pairs="across", trials=20, repeats=0, wave=20, participants=40)])
    first = plan(benchmark, study)
    wave = next_wave(first, study, benchmark, drawn_scores(benchmark, {"m00/c0/s00": 2.0}), "1", 1, 0).frame
    shown = pl.concat([wave["left"], wave["right"]]).unique()
    assert shown.len() == 21  # twenty pairs of one tree
    assert "m00/c0/s00" in shown.to_list()


def test_what_is_unsure_is_asked_more(grid_benchmark: Maker) -> None:
    benchmark = grid_benchmark(5, 2, 3)
    study = Study(stage=[pairs_stage(pairs="any", shared=0)])
    unsure = {f"m0{k}/c1/s01": 2.0 for k in range(4)}
    first = plan(benchmark, study)
    wave = next_wave(first, study, benchmark, drawn_scores(benchmark, unsure), "1", 4, 0)
    main = wave.frame.filter(pl.col("kind") == "main")
    shown = pl.concat([main["left"], main["right"]]).value_counts()
    some = shown.filter(pl.col("left").is_in(list(unsure)))["count"]
    rest = shown.filter(~pl.col("left").is_in(list(unsure)))["count"]
    assert some.min() > 2 * rest.mean()


@given(st.integers(0, 999), st.sampled_from([0.1, 0.25, 0.5]))
@settings(max_examples=5, deadline=None)
def test_no_item_stays_behind_the_mean_by_more_than_the_stated_share(
    grid_benchmark: Maker, seed: int, below: float
) -> None:
    benchmark = grid_benchmark(5, 2, 3)
    study = Study(stage=[pairs_stage(pairs="any", shared=0, repeats=0)], seed=seed)
    made, unsure = plan(benchmark, study), {f"m0{k}/c1/s01": 3.0 for k in range(4)}
    for number in range(3):
        scores = drawn_scores(benchmark, unsure, seed=seed + number)
        made = joined(made, next_wave(made, study, benchmark, scores, "1", 4, seed, below=below))
    shown = pl.concat([made.frame["left"], made.frame["right"]]).value_counts()["count"]
    assert shown.len() == 30
    assert shown.min() >= (1 - below) * shown.mean() - 1e-9
    assert shown.max() > shown.mean() + (0.5 if below > 0.1 else 0)


def test_nothing_known_is_dealt_evenly(grid_benchmark: Maker) -> None:
    benchmark = grid_benchmark(5, 2, 3)
    study = Study(stage=[pairs_stage(pairs="any", shared=0, repeats=0)])
    made = plan(benchmark, study)
    made = joined(made, next_wave(made, study, benchmark, None, "1", 20, 0))
    shown = pl.concat([made.frame["left"], made.frame["right"]]).value_counts()["count"]
    assert shown.max() - shown.min() <= 6  # of 48


def test_a_wave_is_made_from_its_seed_and_never_the_same_twice(grid_benchmark: Maker) -> None:
    benchmark, study = grid_benchmark(), Study(stage=[pairs_stage()])
    first = plan(benchmark, study)
    one, same, other = (next_wave(first, study, benchmark, None, "1", 3, seed) for seed in (1, 1, 2))
    assert one.frame.equals(same.frame)
    assert not one.frame.equals(other.frame)
    later = next_wave(joined(first, one), study, benchmark, None, "1", 3, 1)
    assert set(later.frame["sheet"]) == {"1-014", "1-015", "1-016"}
    columns = ["left", "right", "position"]
    assert not later.frame.select(columns).equals(one.frame.select(columns))


def test_the_last_wave_is_as_long_as_there_are_participants(grid_benchmark: Maker) -> None:
    benchmark, study = grid_benchmark(), Study(stage=[pairs_stage(participants=12)])
    made = plan(benchmark, study)
    made = joined(made, next_wave(made, study, benchmark, None, "1", 5, 0))
    assert made.frame["sheet"].n_unique() == 12
    with pytest.raises(BadConfig, match="stage '1' has all its 12 sheets; raise participants for more"):
        next_wave(made, study, benchmark, None, "1", 5, 0)


def test_shared_pairs_and_references_come_with_each_wave(grid_benchmark: Maker) -> None:
    bare = grid_benchmark(5, 2, 3)
    rows = [{"factor": "content", "level": level, "image": f"{level}.png"} for level in ("c0", "c1")]
    benchmark = Benchmark(bare.items, pl.DataFrame(rows), criteria=("content",))
    study = Study(stage=[pairs_stage(pairs="any", shared=6, shared_by=2, repeats=0)])
    wave = next_wave(plan(benchmark, study), study, benchmark, None, "1", 4, 0).frame
    judged = canonical(wave).group_by("low", "high").agg(pl.col("sheet").n_unique())["sheet"]
    assert (judged == 2).sum() == 12
    assert (wave["left.content"] == wave["left"].str.split("/").list.get(1)).all()


@pytest.mark.parametrize("unit", ["logit", "JOD", "Elo points"])
def test_scores_with_intervals_and_no_draws_will_do(grid_benchmark: Maker, unit: str) -> None:
    benchmark, study = grid_benchmark(5, 2, 3), Study(stage=[pairs_stage(pairs="any", shared=0)])
    items = benchmark.items["item"].to_list()
    half = [4.0 if item == "m00/c0/s00" else 0.1 for item in items]
    factor = 400.0 if unit == "Elo points" else 1.0
    ends = {"low": [-factor * h for h in half], "high": [factor * h for h in half]}
    frame = pl.DataFrame({"item": items, "score": [0.0] * 30, **ends})
    wave = next_wave(plan(benchmark, study), study, benchmark, Scores(frame, made={"unit": unit}), "1", 3, 0).frame
    shown = pl.concat([wave["left"], wave["right"]]).value_counts().sort("count")
    assert shown["left"][-1] == "m00/c0/s00"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"stage": "2"}, UnknownName, "no stage '2'"),
        ({"stage": "rated"}, BadConfig, "stage 'rated' shows no pairs"),
        ({"sheets": 0}, BadConfig, "sheets is 0; a wave has at least one"),
        ({"below": 0.0}, BadConfig, "below is 0; give a share above 0"),
        ({"below": 1.5}, BadConfig, "below is 1.5"),
    ],
)
def test_what_cannot_be_dealt_is_refused(
    grid_benchmark: Maker, options: dict[str, object], error: type[Exception], message: str
) -> None:
    benchmark = grid_benchmark()
    study = Study(stage=[pairs_stage(name="one"), RatingStage(name="rated", participants=2)])
    chosen = {"stage": "one", "sheets": 2, "below": 0.25, **options}
    with pytest.raises(error, match=message):
        next_wave(plan(benchmark, study), study, benchmark, None, seed=0, **chosen)  # type: ignore[arg-type]


def test_scores_that_say_nothing_about_choices_are_refused(grid_benchmark: Maker) -> None:
    benchmark, study = grid_benchmark(), Study(stage=[pairs_stage()])
    first = plan(benchmark, study)
    with pytest.raises(BadInput, match="scores in 'share of wins' do not say how often one item wins"):
        next_wave(first, study, benchmark, drawn_scores(benchmark, {}, unit="share of wins"), "1", 2, 0)
    bare = Scores(pl.DataFrame({"item": benchmark.items["item"], "score": [0.0] * 24}))
    with pytest.raises(BadInput, match="no draws and no intervals, so what is unsure is not known"):
        next_wave(first, study, benchmark, bare, "1", 2, 0)
    other = Plan(first.frame.with_columns(left=pl.lit("elsewhere")))
    with pytest.raises(BadInput, match="item 'elsewhere' is not an item to be judged"):
        next_wave(other, study, benchmark, None, "1", 2, 0)


def recovered(benchmark: Benchmark, study: Study, truth: Scores, seed: int, *, adaptive: bool) -> float:
    """Kendall's tau between the truth and scores of a simulated study, dealt in waves or at once."""
    everybody = Observers(taste_sd=0.0, left_bias_sd=0.0, lapse=0.0)
    made = plan(benchmark, study)
    answers = simulate(made, truth, seed=seed, observers=everybody)
    while adaptive and made.frame["sheet"].n_unique() < study.stage[0].participants:
        votes = collect(made, answers).votes
        assert votes is not None
        scores = estimate(votes, estimator="bradley-terry-ridge", question=Question(intervals="analytic", seed=seed))
        wave = next_wave(made, study, benchmark, scores, "1", 3, seed)
        said = simulate(wave, truth, seed=seed + 1000 + made.frame.height, observers=everybody)
        who = pl.concat_str(pl.col("participant"), pl.lit(f"/{made.frame.height}"))
        answers, made = pl.concat([answers, said.with_columns(participant=who)]), joined(made, wave)
    votes = collect(made, answers).votes
    assert votes is not None
    found = estimate(votes, estimator="bradley-terry-ridge", question=Question(intervals="none")).frame
    both = found.join(truth.frame.select("item", true="score"), on="item")
    return float(kendalltau(both["score"], both["true"]).statistic)


@pytest.mark.slow
def test_waves_rank_wide_scores_no_worse_than_balanced_dealing(grid_benchmark: Maker) -> None:
    benchmark = grid_benchmark(5, 4, 3)
    benchmark = Benchmark(benchmark.items, benchmark.references, criteria=("overall",))
    options = {"participants": 18, "trials": 30, "repeats": 0, "shared": 0, "pairs": "any", "compare": ""}
    gains = []
    for seed in range(8):
        truth = pl.DataFrame({"item": benchmark.items["item"], "criterion": ["overall"] * 60}).with_columns(
            score=pl.Series(2.5 * np.random.default_rng(seed).standard_normal(60))
        )
        pairs = [pairs_stage(**options, adaptive=adaptive, wave=6) for adaptive in (True, False)]
        waves, once = (
            recovered(benchmark, Study(stage=[stage], seed=seed), Scores(truth), seed, adaptive=stage.adaptive)
            for stage in pairs
        )
        gains.append(waves - once)
    assert np.mean(gains) > 0
