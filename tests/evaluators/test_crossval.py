"""Everybody is judged on the same held-out items, and no learner sees them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau, spearmanr, ttest_rel
from scipy.stats import t as student

from crossval_world import Linear, World, learner
from paragone.errors import BadInput, BadTable, TooFew
from paragone.evaluators.entrant import Entrant
from paragone.evaluators.protocol.crossval import crossval
from paragone.evaluators.protocol.validation import CrossValidation
from paragone.evaluators.task import Fitted, Task
from paragone.scores import Scores
from paragone.splits import grouped_folds, grouped_partitions, leave_one_out

WORLD = World()
FOLDS = leave_one_out(WORLD.levels("method"), "method")


def _run(**changed: Any) -> CrossValidation:
    given: dict[str, Any] = {
        "features": WORLD.features,
        "people": WORLD.people,
        "folds": FOLDS,
        "entrants": [Entrant(name="ridge", learner=learner())],
        "factors": WORLD.factors,
        "replicates": 200,
    } | changed
    return crossval(given.pop("features"), given.pop("people"), given.pop("folds"), given.pop("entrants"), **given)


def _of(frame: pl.DataFrame, **keys: str) -> pl.DataFrame:
    return frame.filter(*(pl.col(name) == value for name, value in keys.items()))


def test_figures_are_those_of_scipy() -> None:
    done = _run()
    own = _of(done.predictions, predictor="ridge", criterion="style")
    row = _of(done.table, predictor="ridge", criterion="style", statistic="srcc").row(0, named=True)
    values = []
    for name in done.notes["protocol"]["folds"]:
        part = own.filter(pl.col("fold") == name)
        rho, tau = (
            spearmanr(part["score"], part["people"]).statistic,
            kendalltau(part["score"], part["people"]).statistic,
        )
        mine = _of(done.per_fold, predictor="ridge", criterion="style", fold=name)
        assert _of(mine, statistic="srcc")["value"][0] == pytest.approx(rho, abs=1e-12)
        assert _of(mine, statistic="krcc")["value"][0] == pytest.approx(tau, abs=1e-12)
        assert mine["n"].to_list() == [20, 20]
        values.append(rho)
    assert row["mean"] == pytest.approx(np.mean(values))
    assert row["sd"] == pytest.approx(np.std(values, ddof=1))
    half = student.ppf(0.975, 5) * np.std(values, ddof=1) / math.sqrt(6)
    assert (row["low"], row["high"]) == pytest.approx((np.mean(values) - half, np.mean(values) + half))
    assert row["pooled"] == pytest.approx(spearmanr(own["score"], own["people"]).statistic)
    assert row["pooled_low"] < row["pooled"] < row["pooled_high"]
    assert (row["folds"], row["n"], row["groups"]) == (6, 120, 20)


def test_the_within_group_figure_is_the_mean_over_groups() -> None:
    done = _run()
    own = _of(done.predictions, predictor="ridge", criterion="content").join(WORLD.factors, on="item")
    inside = [spearmanr(part["score"], part["people"]).statistic for _, part in own.group_by("content", "style")]
    row = _of(done.table, predictor="ridge", criterion="content", statistic="srcc").row(0, named=True)
    assert row["within"] == pytest.approx(np.mean(inside))
    assert row["within_low"] < row["within"] < row["within_high"]


def test_predictions_are_what_a_hand_made_split_gives() -> None:
    done = _run()
    fold = FOLDS[2]
    y = np.array([dict(zip(WORLD.items, WORLD.truth["content"], strict=True))[item] for item in fold.train])
    model = Linear(Task(WORLD.features.of(fold.train), y, np.zeros(len(y), dtype=np.int64), ""), 1.0)
    own = _of(done.predictions, predictor="ridge", criterion="content", fold=fold.name)
    assert own["item"].to_list() == list(fold.test)
    np.testing.assert_allclose(own["score"], model.predict(WORLD.features.of(fold.test)).score, rtol=1e-12)


def test_a_learner_is_called_once_with_tasks_of_training_rows_only() -> None:
    calls: list[Sequence[Task]] = []

    def spy(tasks: Sequence[Task], *, seed: int, quiet: bool = True) -> list[Fitted]:
        calls.append(tasks)
        return [Linear(task, 1.0) for task in tasks]

    _run(entrants=[Entrant(name="spy", learner=learner(spy))])
    assert len(calls) == 1
    tasks = calls[0]
    assert [task.name for task in tasks[:2]] == ["content, method=m0", "style, method=m0"]
    assert len(tasks) == 12
    for at, fold in enumerate(FOLDS):
        first, second = tasks[2 * at], tasks[2 * at + 1]
        assert first.x is second.x
        assert first.x.base is None
        np.testing.assert_array_equal(first.x, WORLD.features.of(fold.train))
        level_of = WORLD.level_of("method")
        assert [int(level_of[item][1:]) for item in fold.train] == first.groups.tolist()


def test_a_head_may_be_blind_to_a_reference_and_scalars_may_be_all_it_gets() -> None:
    seen: dict[str, int] = {}

    def spy(tasks: Sequence[Task], *, seed: int, quiet: bool = True) -> list[Fitted]:
        seen.update({task.name: task.x.shape[1] for task in tasks})
        return [Linear(task, 1.0) for task in tasks]

    _run(entrants=[Entrant(name="spy", learner=learner(spy), without={"content": ("style",)})])
    assert (seen["content, method=m0"], seen["style, method=m0"]) == (6, 8)
    _run(entrants=[Entrant(name="spy", learner=learner(spy, columns="scalar"), without={"style": ("content",)})])
    assert (seen["content, method=m0"], seen["style, method=m0"]) == (4, 2)


def test_what_must_be_known_of_models_stands_beside_their_figures() -> None:
    def fit(tasks: Sequence[Task], *, seed: int, quiet: bool = True) -> list[Fitted]:
        models = [Linear(task, 1.0) for task in tasks]
        for model in models[:3]:  # of two criteria by turns
            model.notes = {**model.notes, "note": "it stopped early"}
        return list(models)

    found = _run(entrants=[Entrant(name="e", learner=learner(fit))], replicates=0)
    notes = dict(_of(found.table, statistic="srcc", kind="learner")["criterion", "note"].iter_rows())
    assert notes["content"].startswith("2 of 6 models: it stopped early")
    assert notes["style"].startswith("1 of 6 models: it stopped early")


def test_an_entrant_that_repeats_another_enters_once() -> None:
    def fit(tasks: Sequence[Task], *, seed: int, quiet: bool = True) -> list[Fitted]:
        return [Linear(task, 5.0) for task in tasks]

    ridge = learner()
    entrants = [
        Entrant(name="sighted", learner=ridge),
        Entrant(name="blind", learner=ridge, without={"content": ("style",)}),
        Entrant(name="other", learner=learner(fit)),  # of the same name, and another learner
    ]
    found = _of(_run(entrants=entrants, replicates=0).table, statistic="srcc", kind="learner")
    assert _of(found, criterion="content")["predictor"].to_list() == ["sighted", "blind", "other"]
    assert _of(found, criterion="style")["predictor"].to_list() == ["sighted", "other"]


def test_options_reach_the_learner_and_a_misspelt_one_fails() -> None:
    done = _run(entrants=[Entrant(name="ridge", learner=learner(), options={"strength": 7.0})])
    assert set(done.models.filter(pl.col("name") == "strength")["value"]) == {"7.0"}
    with pytest.raises(TypeError, match="strenght"):
        _run(entrants=[Entrant(name="ridge", learner=learner(), options={"strenght": 7.0})])


def test_targets_are_refitted_without_held_out_items_and_the_truth_stays() -> None:
    asked: list[frozenset[str]] = []
    trained: dict[str, np.ndarray[Any, Any]] = {}

    def refit(held: frozenset[str]) -> Scores:
        asked.append(held)
        again = WORLD.scores({name: -2.0 * values for name, values in WORLD.truth.items()})
        return Scores(again.frame.filter(~pl.col("item").is_in(list(held))), name="again")

    def spy(tasks: Sequence[Task], *, seed: int, quiet: bool = True) -> list[Fitted]:
        trained.update({task.name: task.y for task in tasks})
        return [Linear(task, 1.0) for task in tasks]

    done = _run(entrants=[Entrant(name="spy", learner=learner(spy))], refit=refit)
    assert asked == [frozenset(fold.test) for fold in FOLDS]
    value = dict(zip(WORLD.items, WORLD.truth["style"], strict=True))
    np.testing.assert_allclose(trained["style, method=m1"], [-2.0 * value[item] for item in FOLDS[1].train])
    own = _of(done.predictions, predictor="spy", criterion="style")
    assert own["people"].to_list() == [value[item] for item in own["item"]]
    assert _of(done.table, predictor="spy", criterion="style", statistic="srcc")["mean"][0] < -0.5
    assert done.notes["targets"] == "refit"


def test_items_without_score_or_features_are_left_out_and_counted() -> None:
    people = Scores(
        WORLD.people.frame.with_columns(
            pl.when((pl.col("item") == "m0-c0-s0") & (pl.col("criterion") == "style"))
            .then(None)
            .otherwise(pl.col("score"))
            .alias("score")
        ),
        name="human",
    )
    kept = tuple(item for item in WORLD.items if item != "m1-c1-s1")
    features = type(WORLD.features)(
        items=kept,
        values=WORLD.features.of(kept),
        blocks=WORLD.features.blocks,
        definition="made-1",
        backbone="made by code",
        sha256="",
        source="the test",
    )
    done = _run(people=people, features=features)
    left = done.notes["left_out"]
    assert left["without_features"] == {"n": 1, "items": ["m1-c1-s1"]}
    assert left["without_score"]["style"] == {"n": 1, "items": ["m0-c0-s0"]}
    n = {c: _of(done.table, predictor="ridge", criterion=c, statistic="srcc")["n"][0] for c in ("content", "style")}
    assert n == {"content": 119, "style": 118}
    assert _of(done.predictions, predictor="mean of style", criterion="style").height == 118


def test_metrics_are_judged_on_the_same_items_in_their_own_direction() -> None:
    distance = WORLD.scores({None: -WORLD.truth["content"]}, name="distance", better="lower")
    likeness = WORLD.scores({None: WORLD.truth["content"]}, name="likeness")
    style_only = WORLD.scores({"style": WORLD.truth["style"]}, name="style only", better="unknown")
    done = _run(metrics=[distance, likeness, style_only])
    for name in ("distance", "likeness"):
        rows = _of(done.table, predictor=name, criterion="content")
        assert rows["mean"].to_list() == pytest.approx([1.0, 1.0])
        assert _of(done.predictions, predictor=name, criterion="content").height == 120
    assert _of(done.table, predictor="style only")["criterion"].unique().to_list() == ["style"]
    assert "larger score was taken as better" in _of(done.table, predictor="style only")["note"][0]


def test_what_a_metric_cannot_score_is_counted_and_contests_use_the_common_items() -> None:
    metric = WORLD.scores({None: WORLD.truth["content"]}, name="part")
    metric = Scores(metric.frame.filter(~pl.col("item").str.ends_with("s3")), name="part", better="higher")
    done = _run(metrics=[metric])
    row = _of(done.table, predictor="part", criterion="content", statistic="srcc").row(0, named=True)
    assert row["n"] == 90
    assert "30 of 120 held-out items have no score" in row["note"]
    test = _of(done.tests, other="part", criterion="content", statistic="srcc", method="levels").row(0, named=True)
    own = _of(done.predictions, predictor="ridge", criterion="content").filter(~pl.col("item").str.ends_with("s3"))
    assert test["difference"] == pytest.approx(spearmanr(own["score"], own["people"]).statistic - 1.0)


def test_a_set_metric_is_one_value_a_level_and_never_repeated() -> None:
    values = pl.DataFrame({"of": ["method"] * 6, "level": [f"m{k}" for k in range(6)], "score": [5.0, 3, 4, 1, 2, 0]})
    fid = Scores(values, name="fid", better="lower")
    done = _run(metrics=[fid])
    rows = _of(done.table, predictor="fid", criterion="style", statistic="srcc")
    row = rows.row(0, named=True)
    assert (rows.height, row["kind"], row["n"], row["mean"], row["folds"]) == (1, "set", 6, None, None)
    means = pl.DataFrame({"item": WORLD.items, "y": WORLD.truth["style"]}).join(WORLD.factors, on="item")
    means = means.group_by("method").agg(pl.col("y").mean()).sort("method")
    assert row["pooled"] == pytest.approx(spearmanr(-values["score"], means["y"]).statistic)
    assert not _of(done.predictions, predictor="fid").height
    assert not _of(done.per_fold, predictor="fid").height


def test_a_set_metric_of_another_factor_has_no_figure_and_says_why() -> None:
    other = Scores(pl.DataFrame({"of": ["brush"], "level": ["b"], "score": [1.0]}), name="fid", better="lower")
    row = _of(_run(metrics=[other]).table, predictor="fid", criterion="style", statistic="srcc").row(0, named=True)
    assert row["pooled"] is None
    assert "has no values of this criterion" in row["note"]


def test_a_constant_has_no_correlation_and_its_row_says_so() -> None:
    done = _run()
    row = _of(done.table, predictor="constant", criterion="style", statistic="srcc").row(0, named=True)
    assert (row["mean"], row["pooled"], row["within"], row["folds"]) == (None, None, None, 0)
    assert "a constant has no correlation" in row["note"]
    folds = _of(done.per_fold, predictor="constant", criterion="style", statistic="srcc")
    assert folds["value"].null_count() == 6
    assert set(folds["note"]) == {"the prediction is constant, and a constant has no correlation"}


def test_undefined_folds_are_counted_and_left_out_of_the_mean() -> None:
    values = WORLD.truth["content"].copy()
    values[[item.startswith("m2") for item in WORLD.items]] = 1.0
    done = _run(metrics=[WORLD.scores({None: values}, name="half dead")])
    row = _of(done.table, predictor="half dead", criterion="content", statistic="srcc").row(0, named=True)
    assert (row["folds"], row["mean"]) == (5, pytest.approx(1.0))
    assert "1 of 6 folds undefined (the prediction is constant" in row["note"]


def test_folds_that_share_items_get_no_interval_over_folds_and_pool_each_item_once() -> None:
    folds = grouped_partitions(WORLD.levels("method"), "method", share=0.34).folds
    assert len(folds) == 15
    done = _run(folds=folds, metrics=[WORLD.scores({None: WORLD.truth["style"]}, name="m")])
    row = _of(done.table, predictor="ridge", criterion="content", statistic="srcc").row(0, named=True)
    assert (row["folds"], row["low"], row["high"], row["n"]) == (15, None, None, 120)
    assert row["pooled_low"] is not None
    assert _of(done.tests, method="folds")["p"].null_count() == _of(done.tests, method="folds").height
    own = (
        _of(done.predictions, predictor="ridge", criterion="content")
        .group_by("item")
        .agg(pl.col("score", "people").mean())
    )
    assert row["pooled"] == pytest.approx(spearmanr(own["score"], own["people"]).statistic)


def test_several_levels_in_a_fold_need_the_levels_among_the_factors() -> None:
    folds = grouped_folds(WORLD.levels("method"), "method", 3)
    assert _run(folds=folds).table.height
    with pytest.raises(BadInput, match="give its levels among the factors"):
        _run(folds=folds, factors=None)


def test_contests_are_paired_over_folds_and_adjusted_by_holm() -> None:
    metrics = [WORLD.scores({None: WORLD.truth["style"]}, name="m")]
    done = _run(metrics=metrics)
    a = _of(done.per_fold, predictor="ridge", criterion="content", statistic="srcc")["value"].to_numpy()
    b = _of(done.per_fold, predictor="m", criterion="content", statistic="srcc")["value"].to_numpy()
    row = _of(done.tests, other="m", criterion="content", statistic="srcc", method="folds").row(0, named=True)
    assert row["difference"] == pytest.approx((a - b).mean())
    assert row["p"] == pytest.approx(ttest_rel(a, b).pvalue)
    bounds = ttest_rel(a, b).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((bounds.low, bounds.high))
    family = _of(done.tests, criterion="content", statistic="srcc", method="folds").drop_nulls("p").sort("p")
    assert family["p_holm"][0] == pytest.approx(min(1.0, family["p"][0] * family.height))
    assert (family["p_holm"] >= family["p"]).all()


def test_a_learner_that_knows_only_the_left_out_mean_is_not_said_to_lose() -> None:
    folds = leave_one_out(WORLD.levels("content"), "content")
    weak = Entrant(name="weak", learner=learner(), options={"strength": 1e6})
    good = Entrant(name="good", learner=learner())
    metric = WORLD.scores({None: WORLD.truth["style"]}, name="m")
    done = _run(folds=folds, entrants=[weak, good], metrics=[metric])
    row = _of(done.table, predictor="weak", criterion="content", statistic="srcc").row(0, named=True)
    assert row["mean"] > 0.5
    assert row["pooled"] < 0.3  # turned round by the means of the training folds
    assert "pooled: predictions follow the mean of what was learned from (r = 1.00 over folds)" in row["note"]
    tests = _of(done.tests, predictor="weak", other="m", criterion="content", method="levels")
    assert tests["p"].null_count() == 2
    assert tests["note"].str.starts_with("predictions follow").all()
    assert not _of(done.tests, predictor="good", other="m", criterion="content", method="levels")["p"].null_count()


def test_gain_is_over_the_strongest_metric_and_undefined_where_that_is_not_above_zero() -> None:
    weak = WORLD.scores({None: WORLD.truth["style"]}, name="weak")
    bad = WORLD.scores({None: -WORLD.truth["style"]}, name="bad")
    done = _run(metrics=[weak, bad])
    row = _of(done.gains, criterion="content", statistic="srcc", baseline_kind="metric").row(0, named=True)
    means = {
        name: _of(done.table, predictor=name, criterion="content", statistic="srcc")["mean"][0]
        for name in ("ridge", "weak", "bad")
    }
    assert row["baseline"] == "weak"
    assert row["gain"] == pytest.approx(means["ridge"] / means["weak"] - 1.0)
    assert row["low"] < row["gain"] < row["high"]
    only_bad = _run(metrics=[bad]).gains
    row = _of(only_bad, criterion="content", statistic="srcc", baseline_kind="metric").row(0, named=True)
    assert (row["gain"], row["note"]) == (None, "the strongest baseline is not above 0")


def test_the_same_seed_gives_the_same_numbers_and_files_bring_them_back(tmp_path: Any) -> None:
    metrics = [WORLD.scores({None: WORLD.truth["style"]}, name="m", better="unknown")]
    first, second = _run(metrics=metrics), _run(metrics=metrics)
    path = first.write(tmp_path)
    assert path.name == "crossval-method.csv"
    for again in (second, CrossValidation.read(tmp_path)):
        for name in ("table", "per_fold", "predictions", "tests", "gains", "models"):
            assert getattr(again, name).equals(getattr(first, name)), name
        assert again.factor == "method"
    assert CrossValidation.read(tmp_path).notes == first.notes
    first.write(tmp_path, name="again")
    with pytest.raises(BadInput, match="holds again, crossval-method; name one"):
        CrossValidation.read(tmp_path)


def test_one_unnamed_criterion_is_enough(tmp_path: Any) -> None:
    done = _run(people=WORLD.scores({None: WORLD.truth["style"]}))
    assert done.criteria == [None]
    assert _of(done.table, predictor="ridge", statistic="srcc")["mean"][0] > 0.5
    done.write(tmp_path)
    assert CrossValidation.read(tmp_path).table.equals(done.table)


def test_simulated_answers_and_the_weights_are_named_in_the_notes() -> None:
    people = Scores(WORLD.people.frame, name="human", made={"simulated": True})
    done = _run(people=people)
    assert done.simulated
    assert done.notes["features"]["sha256"] == "ab" * 32
    assert done.notes["learners"]["ridge"]["learner"] == "linear"
    assert not _run().simulated


def test_without_learners_metrics_and_floors_are_still_judged() -> None:
    done = _run(entrants=[], metrics=[WORLD.scores({None: WORLD.truth["style"]}, name="m")])
    assert set(done.table["kind"]) == {"metric", "floor"}
    assert not done.tests.height


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(BadInput, match=r"crossval needs folds; see paragone\.splits"):
        _run(folds=[])
    with pytest.raises(BadInput, match="folds hold out content, method; give folds of one factor"):
        _run(folds=[*FOLDS, *leave_one_out(WORLD.levels("content"), "content")])
    with pytest.raises(BadInput, match="two predictors are called 'constant'"):
        _run(entrants=[Entrant(name="constant", learner=learner())])
    with pytest.raises(BadInput, match="within: no factor 'prompt' among method, content, style"):
        _run(within=["prompt"])
    with pytest.raises(BadInput, match="human scores no held-out item that has features"):
        _run(people=Scores(pl.DataFrame({"item": ["else"], "score": [1.0]}), name="human"))
    with pytest.raises(BadInput, match="crossval needs people's scores of items"):
        _run(people=Scores(pl.DataFrame({"of": ["method"], "level": ["m0"], "score": [1.0]}), name="human"))
    with pytest.raises(BadTable, match="factors: no column 'item'"):
        _run(factors=WORLD.factors.drop("item"))
    few = pl.DataFrame({"item": ["m0-c0-s0", "m1-c0-s0", "m2-c0-s0"], "score": [1.0, 2, 3], "criterion": "style"})
    with pytest.raises(TooFew, match="style, method=m0: 2 training items have features and a score"):
        _run(people=Scores(few, name="human"))
