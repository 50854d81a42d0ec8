"""`compare` on real and on made scores: known figures, joining and turning, groups, intervals, reasons."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paragone.agreement import DEFAULT_STATISTICS, STATISTICS, compare, figures
from paragone.agreement.settled import resampled
from paragone.errors import BadInput, BadTable, UnknownName
from paragone.estimate import Question, estimate
from paragone.judgements import Ratings
from paragone.scores import Agreement, Better, Scores
from paragone.stats.statistic import Statistic

CORRELATIONS = ("srcc", "krcc", "plcc_raw")


def row(
    found: Agreement,
    statistic: str,
    *,
    predictor: str | None = None,
    criterion: str | None = None,
    group: str | None = None,
) -> dict[str, object]:
    frame = found.frame.filter(
        (pl.col("statistic") == statistic)
        & pl.col("criterion").eq_missing(criterion)
        & pl.col("group").eq_missing(group)
        & (pl.lit(predictor is None) | pl.col("predictor").eq_missing(predictor))
    )
    assert frame.height == 1
    return frame.row(0, named=True)


def scores(
    name: str,
    values: Sequence[float | None],
    *,
    half: float | None = None,
    better: Better = "higher",
    criterion: str | None = None,
    items: Sequence[str] | None = None,
) -> Scores:
    frame = pl.DataFrame(
        {
            "item": list(items) if items is not None else [f"i{k:03d}" for k in range(len(values))],
            "criterion": pl.Series([criterion] * len(values), dtype=pl.String),
            "score": pl.Series(values, dtype=pl.Float64),
        }
    )
    if half is not None:
        frame = frame.with_columns(low=pl.col("score") - half, high=pl.col("score") + half)
    return Scores(frame, name=name, better=better)


def noisy(seed: int, n: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    return y, y + noise * rng.normal(size=n)


def test_real_metrics_give_the_known_correlations(shared: Callable[[str], Path]) -> None:
    # AVT-AI-Image: SRCC, tau-b and raw PLCC by scipy; signs turned for metrics where lower is better
    known = json.loads(shared("votes/avt_ai_images/expected.json").read_text())["metric_correlations"]
    metrics = pl.read_csv(shared("votes/avt_ai_images/metric_values.csv"))
    means = pl.read_csv(shared("votes/avt_ai_images/published_means.csv"))
    human = Scores(
        pl.concat(
            means.select(item="image_key", criterion=pl.lit(c), score=pl.col(f"{c}_mean"))
            for c in ("appeal", "realism")
        ),
        name="human",
    )
    lower = {"BRISQUE", "NIQE", "ILNIQE"}
    machines = [
        Scores(metrics.select("item", score=name), name=name, better="lower" if name in lower else "higher")
        for name in metrics.columns
        if name != "item"
    ]
    found = compare(human, *machines, statistics=CORRELATIONS, replicates=0)
    keys = {"srcc": "SRCC", "krcc": "KRCC_tau_b", "plcc_raw": "PLCC_raw"}
    for criterion, by_metric in known.items():
        for metric, numbers in by_metric.items():
            sign = -1 if metric in lower else 1
            for statistic, key in keys.items():
                one = row(found, statistic, predictor=metric, criterion=criterion)
                assert one["value"] == pytest.approx(sign * numbers[key], abs=1e-9)
                assert one["n"] == numbers["n"]
                assert one["low"] < one["value"] < one["high"]  # type: ignore[operator]
    assert found.frame.height == 2 * 6 * 3


def test_every_default_statistic_is_there_with_an_interval_or_a_reason() -> None:
    y, x = noisy(1, 60, 0.8)
    found = compare(scores("human", y, half=0.5), scores("m", x), replicates=200)
    assert found.frame["statistic"].to_list() == list(DEFAULT_STATISTICS)
    bare = found.frame.filter(pl.col("low").is_null())["statistic"].to_list()
    assert bare == ["plcc_oof"]  # folds leave one number
    assert found.frame["value"].null_count() == 0
    assert set(DEFAULT_STATISTICS) < set(STATISTICS)


def test_without_intervals_of_people_what_needs_them_is_undefined_and_says_so() -> None:
    y, x = noisy(2, 30, 0.8)
    found = compare(scores("human", y), scores("m", x), replicates=50)
    missing = {note["statistic"]: note["why"] for note in found.notes["undefined"]}
    assert set(missing) == {"outlier_ratio", "pairwise_accuracy", "auc_different", "auc_better"}
    assert "neither intervals nor replicates" in missing["auc_better"]
    assert row(found, "auc_better")["value"] is None


def test_a_metric_where_lower_is_better_is_turned_and_its_curve_is_in_its_own_unit() -> None:
    y, x = noisy(3, 80, 0.5)
    up = compare(scores("human", y, half=0.3), scores("m", x), replicates=20)
    down = compare(scores("human", y, half=0.3), scores("m", -x, better="lower"), replicates=20)
    assert up.frame.equals(down.frame)
    assert down.notes["items"][0]["turned"]
    one, other = up.notes["curves"][0]["parameters"], down.notes["curves"][0]["parameters"]
    assert other[1:4] == pytest.approx([-one[1], -one[2], -one[3]])
    unknown = compare(scores("human", y), scores("m", -x, better="unknown"), statistics=["srcc"], replicates=0)
    assert row(unknown, "srcc")["value"] == -row(up, "srcc")["value"]  # type: ignore[operator]
    assert "unknown which end" in unknown.notes["items"][0]["direction"]


def test_items_are_joined_by_id_and_what_is_left_out_is_counted() -> None:
    y, x = noisy(4, 20, 0.2)
    human = scores("human", [*y[:18], None, y[19]], items=[f"i{k}" for k in range(20)])
    machine = scores("m", [*x[2:][::-1], 9.0], items=[*[f"i{k}" for k in range(2, 20)][::-1], "stranger"])
    found = compare(human, machine, statistics=["srcc"], replicates=0)
    (note,) = found.notes["items"]
    assert (note["compared"], note["only_people"], note["only_machine"], note["without_score"]) == (17, 2, 1, 1)
    kept = [k for k in range(2, 20) if k != 18]
    direct = compare(scores("h", y[kept]), scores("m", x[kept]), statistics=["srcc"], replicates=0)
    assert row(found, "srcc")["value"] == row(direct, "srcc")["value"]


def test_a_failed_score_is_not_compared_even_if_it_has_a_number() -> None:
    y, x = noisy(5, 10, 0.1)
    frame = scores("m", x).frame.with_columns(
        status=pl.when(pl.col("item") == "i004").then(pl.lit("unreadable")).otherwise(pl.lit("ok"))
    )
    found = compare(scores("human", y), Scores(frame, name="m"), statistics=["srcc"], replicates=0)
    assert row(found, "srcc")["n"] == 9
    assert found.notes["items"][0]["without_score"] == 1


def test_a_metric_without_a_criterion_speaks_to_all_and_one_with_to_its_own() -> None:
    y, x = noisy(6, 15, 0.3)
    human = Scores(
        pl.concat([scores("h", y, criterion="content").frame, scores("h", -y, criterion="style").frame]), name="human"
    )
    found = compare(human, scores("any", x), scores("s", x, criterion="style"), statistics=["srcc"], replicates=0)
    assert found.frame.select("predictor", "criterion").rows() == [
        ("any", "content"),
        ("any", "style"),
        ("s", "style"),
    ]
    unnamed = compare(scores("human", y), scores("s", x, criterion="style"), statistics=["srcc"], replicates=0)
    assert row(unnamed, "srcc")["n"] == 15
    two = Scores(
        pl.concat([scores("e", x, criterion="content").frame, scores("e", y, criterion="style").frame]), name="e"
    )
    both = compare(scores("human", y), two, statistics=["srcc"], replicates=0)
    assert both.frame["predictor"].to_list() == ["e (content)", "e (style)"]


def test_levels_of_a_factor_are_compared_with_levels() -> None:
    def levels(name: str, values: Sequence[float]) -> Scores:
        n = len(values)
        return Scores(
            pl.DataFrame({"of": ["method"] * n, "level": [f"m{k}" for k in range(n)], "score": values}), name=name
        )

    y, x = noisy(7, 12, 0.3)
    found = compare(levels("human", list(y)), levels("fid", list(x)), statistics=["srcc"], replicates=0)
    assert row(found, "srcc")["n"] == 12
    with pytest.raises(BadInput, match="m scores items; score both by item or both by the same factor"):
        compare(levels("human", list(y)), scores("m", x))


def test_groups_show_what_a_pooled_correlation_hides() -> None:
    rng = np.random.default_rng(8)
    method = np.repeat(["a", "b", "c"], 40)
    level = np.repeat([0.0, 5.0, 10.0], 40)
    x, y = level + rng.normal(size=120), level + rng.normal(size=120)
    factor = pl.DataFrame({"item": [f"i{k:03d}" for k in range(120)], "method": method})
    found = compare(scores("human", y, half=0.5), scores("m", x), group=factor, replicates=50)
    assert row(found, "srcc")["value"] > 0.85  # type: ignore[operator]
    inside = row(found, "srcc", group="method=*")
    assert abs(float(inside["value"])) < 0.25  # type: ignore[arg-type]
    assert inside["n"] == 120
    each = [row(found, "srcc", group=f"method={name}") for name in "abc"]
    assert [one["n"] for one in each] == [40, 40, 40]
    assert inside["value"] == pytest.approx(np.mean([one["value"] for one in each]))
    assert not found.frame.filter(pl.col("group").is_not_null() & (pl.col("statistic") == "plcc_oof")).height
    # group curves are those of all items, so the group errors add up to the pooled one
    pooled, parts = row(found, "rmse"), [row(found, "rmse", group=f"method={name}") for name in "abc"]
    total = sum(float(one["value"]) ** 2 * 40 for one in parts)  # type: ignore[arg-type]
    assert total == pytest.approx(float(pooled["value"]) ** 2 * 115)  # type: ignore[arg-type]


def test_scores_of_groups_that_were_never_compared_are_not_pooled() -> None:
    y, x = noisy(18, 60, 0.3)
    group = np.repeat([1, 2, 3], 20)
    shifted = y + np.array([0.0, 50.0, -50.0])[group - 1]  # each group has an origin of its own
    frame = scores("human", shifted, half=0.3).frame.with_columns(connected_group=group)
    found = compare(Scores(frame, name="human"), scores("m", x), replicates=50)
    assert row(found, "srcc")["value"] is None
    assert row(found, "rmse")["value"] is None
    assert {note["why"] for note in found.notes["undefined"]} == {
        "people never compared all these items with each other, so their scores have no common scale",
        "no level has a number",
    }
    assert row(found, "srcc", group="connected_group=2")["n"] == 20
    assert row(found, "srcc", group="connected_group=*")["value"] > 0.85  # type: ignore[operator]
    accuracy = row(found, "pairwise_accuracy")
    assert accuracy["n"] <= 3 * 190  # type: ignore[operator]
    assert accuracy["value"] > 0.9  # type: ignore[operator]
    assert found.notes["items"][0]["groups_apart"] == 3
    assert found.notes["curves"] == []


def test_clusters_widen_intervals_where_items_of_one_content_go_together() -> None:
    rng = np.random.default_rng(9)
    content = np.repeat(np.arange(10), 12)
    shared_error = np.repeat(rng.normal(size=10), 12)
    y = np.repeat(rng.normal(size=10), 12) + 0.3 * rng.normal(size=120)
    x = y + shared_error + 0.3 * rng.normal(size=120)
    ids = [f"i{k:03d}" for k in range(120)]
    cluster = pl.DataFrame({"item": ids, "content": content})
    plain = row(compare(scores("human", y), scores("m", x), statistics=["srcc"]), "srcc")
    grouped = row(compare(scores("human", y), scores("m", x), statistics=["srcc"], cluster=cluster), "srcc")
    assert plain["value"] == grouped["value"]
    assert grouped["high"] - grouped["low"] > 1.5 * (plain["high"] - plain["low"])  # type: ignore[operator]


def test_joint_intervals_carry_peoples_shared_errors() -> None:
    rng = np.random.default_rng(10)
    n, r = 40, 300
    y = rng.normal(size=n)
    x = y + 0.5 * rng.normal(size=n)
    ids = [f"i{k:03d}" for k in range(n)]
    tilt = (
        rng.normal(size=(r, 1)) * rng.normal(size=(1, n)) * 0.8
    )  # errors that all items share through the same people
    draws = pl.DataFrame(y + tilt, schema=ids).with_columns(
        criterion=pl.lit(None, pl.String), replicate=pl.int_range(r)
    )
    human = Scores(scores("human", y, half=0.4).frame, name="human", draws=draws)
    items = row(compare(human, scores("m", x), statistics=["srcc"], replicates=300), "srcc")
    joint = row(compare(human, scores("m", x), statistics=["srcc"], replicates=300, uncertainty="joint"), "srcc")
    assert joint["value"] == items["value"]
    assert joint["low"] < joint["value"] < joint["high"]  # type: ignore[operator]
    assert joint["high"] - joint["low"] > 1.1 * (items["high"] - items["low"])  # type: ignore[operator]
    with pytest.raises(BadInput, match="joint uncertainty needs replicates of human"):
        compare(scores("human", y), scores("m", x), uncertainty="joint")
    with pytest.raises(BadInput, match="needs bootstrap replicates"):
        compare(human, scores("m", x), uncertainty="joint", replicates=0)


def test_pairs_are_told_apart_by_draws_where_there_are_any() -> None:
    rng = np.random.default_rng(11)
    n, r = 12, 200
    y = np.arange(n) / 4
    ids = [f"i{k:03d}" for k in range(n)]
    draws = pl.DataFrame(y + rng.normal(size=(r, 1)) + 0.01 * rng.normal(size=(r, n)), schema=ids)
    human = Scores(scores("human", list(y), half=2.0).frame, name="human", draws=draws)
    found = compare(human, scores("m", list(y)), statistics=["pairwise_accuracy"], replicates=20)
    assert row(found, "pairwise_accuracy")["n"] == n * (n - 1) // 2  # all: the shared shift cancels in a difference
    alone = compare(
        scores("h", list(y), half=2.0), scores("m", list(y)), statistics=["pairwise_accuracy"], replicates=20
    )
    assert row(alone, "pairwise_accuracy")["n"] < 66  # type: ignore[operator]


@pytest.mark.parametrize("people", [2, 4, 10])
def test_few_people_do_not_tell_equal_items_apart(people: int) -> None:
    """Of equal items one pair in twenty may be told apart; by the replicates' bare spread, two people told four in ten."""
    items, told = 8, 0
    for seed in range(15):
        noise = np.random.default_rng(seed).normal(size=(people, items))
        rows = [(f"p{p}", f"i{i:03d}", noise[p, i]) for p in range(people) for i in range(items)]
        ratings = Ratings(pl.DataFrame(rows, schema=["participant", "item", "value"], orient="row"))
        human = estimate(ratings, "mos", question=Question(replicates=200))
        found = compare(human, scores("m", np.arange(8.0)), statistics=["pairwise_accuracy"], replicates=0)
        told += int(row(found, "pairwise_accuracy")["n"])  # type: ignore[call-overload]
    assert told <= 0.09 * 15 * items * (items - 1) / 2


def test_intervals_of_another_confidence_say_the_same_of_people() -> None:
    """Rounding apart: the same answers, their intervals at 80 % and at 95 %, tell the same pairs apart."""
    rng = np.random.default_rng(19)
    rows = [(f"p{p}", f"i{i:03d}", 0.9 * i + rng.normal()) for p in range(3) for i in range(12)]
    ratings = Ratings(pl.DataFrame(rows, schema=["participant", "item", "value"], orient="row"))
    y, told = scores("m", np.arange(12.0)), {}
    for confidence in (0.80, 0.95):
        human = estimate(ratings, "mos", question=Question(intervals="analytic", confidence=confidence))
        told[confidence] = row(compare(human, y, statistics=["pairwise_accuracy"], replicates=0), "pairwise_accuracy")[
            "n"
        ]
    assert abs(told[0.80] - told[0.95]) <= 1  # type: ignore[operator]


def test_people_too_few_for_any_interval_tell_nothing_apart() -> None:
    """Two raters who agree: their replicates do not move, which is no certainty."""
    rows = [(f"p{p}", f"i{i:03d}", float(i)) for p in range(2) for i in range(6)]
    human = estimate(
        Ratings(pl.DataFrame(rows, schema=["participant", "item", "value"], orient="row")),
        "mos",
        question=Question(replicates=100),
    )
    assert human.draws is not None
    found = compare(human, scores("m", np.arange(6.0)), statistics=["pairwise_accuracy"], replicates=0)
    assert row(found, "pairwise_accuracy")["value"] is None


def test_an_item_that_too_few_people_judged_is_told_from_none() -> None:
    rng = np.random.default_rng(18)
    y = np.arange(6.0)
    draws = pl.DataFrame(y + 0.01 * rng.normal(size=(100, 6)), schema=[f"i{k:03d}" for k in range(6)])
    frame = scores("human", list(y), half=0.1).frame
    lone = pl.col("item") == "i005"
    frame = frame.with_columns(pl.when(~lone).then(pl.col("low")), pl.when(~lone).then(pl.col("high")))
    human = Scores(frame, name="human", draws=draws)
    found = compare(human, scores("m", list(y)), statistics=["pairwise_accuracy"], replicates=0)
    assert row(found, "pairwise_accuracy")["n"] == 10  # the pairs of the other five


def test_of_very_many_items_some_pairs_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MOST_PAIRED", 30)
    y, x = noisy(16, 100, 0.1)
    found = compare(scores("human", y, half=0.001), scores("m", x), statistics=["pairwise_accuracy"], replicates=50)
    one = row(found, "pairwise_accuracy")
    assert one["n"] == 30 * 29 // 2
    assert one["low"] <= one["value"] <= one["high"]  # type: ignore[operator]


def test_the_cubic_of_p1401_is_there_on_demand() -> None:
    y, x = noisy(17, 40, 0.3)
    found = compare(scores("human", y), scores("m", np.exp(x)), statistics=["plcc_raw", "plcc_cubic"], replicates=0)
    assert row(found, "plcc_cubic")["value"] > row(found, "plcc_raw")["value"]  # type: ignore[operator]
    few = compare(scores("human", y[:4]), scores("m", x[:4]), statistics=["plcc_cubic"], replicates=0)
    assert "a cubic needs five" in few.notes["undefined"][0]["why"]


def test_the_same_seed_gives_the_same_table_and_names_do_not_matter() -> None:
    y, x = noisy(12, 40, 1.0)
    human, machine = scores("human", y, half=0.5), scores("m", x)
    a, b = compare(human, machine, seed=3, replicates=100), compare(human, machine, seed=3, replicates=100)
    assert a.frame.equals(b.frame)
    renamed = compare(human, scores("other", x), seed=3, replicates=100)
    assert a.frame.drop("predictor").equals(renamed.frame.drop("predictor"))


def test_two_items_are_too_few_and_a_constant_metric_has_no_correlation() -> None:
    found = compare(scores("human", [1.0, 2.0]), scores("m", [1.0, 2.0]), replicates=20)
    assert found.frame["value"].null_count() == found.frame.height
    assert "three or more" in found.notes["undefined"][0]["why"]
    y, _ = noisy(13, 20, 1.0)
    flat = compare(scores("human", y, half=0.1), scores("m", [1.0] * 20), replicates=20)
    assert row(flat, "srcc")["value"] is None
    assert row(flat, "plcc")["value"] is None
    assert row(flat, "auc_better")["value"] == 0.5
    whys = {note["statistic"]: note["why"] for note in flat.notes["undefined"]}
    constant = ("srcc", "krcc", "plcc_raw", "plcc", "plcc_4", "plcc_oof")
    assert {whys[name] for name in constant} == {"the predictor is constant over these items, so nothing can correlate"}
    even = reasons(compare(scores("human", [1.0] * 20, half=0.1), scores("m", y), replicates=20))
    assert {even[name] for name in constant} == {
        "people's scores are constant over these items, so nothing can correlate"
    }


def test_it_is_the_curve_that_is_said_to_be_constant_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a group whose items lie where the curve of all has no slope, the predictor varies and the curve does not."""
    y, x = noisy(13, 40, 0.3)
    far = np.concatenate([np.full(20, 1e9) + np.arange(20), x[20:]])
    items = [f"i{k:03d}" for k in range(40)]
    method = pl.DataFrame({"item": items, "method": ["far"] * 20 + ["near"] * 20})
    found = compare(scores("human", y, half=0.1), scores("m", far), group=method, replicates=20)
    whys = {note["statistic"]: note["why"] for note in found.notes["undefined"] if note["group"] == "method=far"}
    assert whys["plcc"] == whys["plcc_4"] == "the fitted curve is constant over these items, so nothing can correlate"
    assert row(found, "srcc", group="method=far")["value"] is not None
    monkeypatch.setattr(figures, "out_of_fold", lambda *_, **__: math.nan)
    y, x = noisy(14, 20, 1.0)
    whole = reasons(compare(scores("human", y, half=0.1), scores("m", x), replicates=20))
    assert whole["plcc_oof"] == "the fitted curves are constant over these items, so nothing can correlate"


def test_what_cannot_be_compared_is_refused_with_a_reason() -> None:
    y, x = noisy(14, 10, 1.0)
    human = scores("human", y)
    with pytest.raises(BadInput, match="nothing to compare"):
        compare(human)
    with pytest.raises(BadInput, match="two predictors are called 'm'"):
        compare(human, scores("m", x), scores("m", y))
    with pytest.raises(UnknownName, match="no statistic 'sroc'; did you mean 'srcc'"):
        compare(human, scores("m", x), statistics=["sroc"])
    with pytest.raises(BadInput, match="shares no scored item and criterion with m"):
        compare(human, scores("m", x, items=[f"other{k}" for k in range(10)]))
    with pytest.raises(BadInput, match="shares no scored item"):
        compare(scores("human", y, criterion="style"), scores("m", x, criterion="content"))
    with pytest.raises(BadInput, match="uncertainty 'all'"):
        compare(human, scores("m", x), uncertainty="all")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="-1 bootstrap replicates"):
        compare(human, scores("m", x), replicates=-1)
    table = pl.DataFrame({"item": ["i000", "i000"], "method": ["a", "b"]})
    with pytest.raises(BadTable, match="item 'i000' stands twice"):
        compare(human, scores("m", x), group=table)
    with pytest.raises(BadTable, match="column 'item' and one or more factors"):
        compare(human, scores("m", x), group=table.select("method"))
    with pytest.raises(BadTable, match="item 'i001' has none"):
        compare(human, scores("m", x), cluster=table.head(1))


def test_an_exported_table_is_complete_and_reads_back(tmp_path: Path) -> None:
    y, x = noisy(15, 30, 1.0)
    found = compare(scores("human", y, half=0.5), scores("a", x), scores("b", -x), replicates=50)
    again = Agreement.read(found.write(tmp_path / "agreement.csv"))
    assert again.frame.equals(found.frame)
    assert again.tests["statistic"].to_list() == found.tests["statistic"].to_list()
    assert json.loads(json.dumps(found.notes))["items"][0]["compared"] == 30
    assert all(math.isfinite(p) for curve in found.notes["curves"] for p in curve["parameters"])


def reasons(found: Agreement) -> dict[str, str]:
    return {note["statistic"]: note["why"] for note in found.notes["undefined"] if note["group"] is None}


def test_three_items_give_a_number_without_an_interval_and_no_fitted_figure() -> None:
    found = compare(scores("human", [1.0, 2.0, 3.0], half=0.1), scores("m", [1.0, 2.0, 4.0]), replicates=200)
    assert found.frame["low"].null_count() == found.frame["high"].null_count() == found.frame.height
    for statistic in CORRELATIONS:
        assert row(found, statistic)["value"] is not None
        assert reasons(found)[statistic] == "the interval only; 3 common items, 5 are needed"
    for statistic in ("plcc", "rmse", "outlier_ratio"):
        assert row(found, statistic)["value"] is None
        assert "passes through as many, so 6 or more are needed" in reasons(found)[statistic]
    assert "so 5 or more are needed" in reasons(found)["plcc_4"]


@pytest.mark.parametrize("n", [3, 4, 5, 6, 8])
def test_figures_at_the_end_of_their_range_have_no_interval_of_no_width(n: int) -> None:
    line = [float(k) for k in range(n)]
    found = compare(scores("human", line, half=0.1), scores("m", line), statistics=tuple(STATISTICS), replicates=100)
    known = found.frame.drop_nulls("low")
    assert (known["high"] > known["low"]).all()
    assert row(found, "srcc")["value"] == 1.0
    assert row(found, "srcc")["low"] is None
    assert reasons(found)["srcc"].startswith("the interval only; ")
    if n >= 5:
        assert "no spread around 1" in reasons(found)["auc_better"]


@pytest.mark.parametrize("joint", [False, True])
def test_fewer_than_five_clusters_give_no_interval_and_five_do(joint: bool) -> None:
    y, x = noisy(30, 20, 0.5)
    ids = [f"i{k:03d}" for k in range(20)]
    draws = pl.DataFrame(y + 0.1 * np.random.default_rng(31).normal(size=(50, 20)), schema=ids)
    human = Scores(scores("human", y, half=0.3).frame, name="human", draws=draws)
    for n_clusters in (2, 4, 5):
        cluster = pl.DataFrame({"item": ids, "content": [k % n_clusters for k in range(20)]})
        kind = "joint" if joint else "items"
        found = compare(
            human, scores("m", x), cluster=cluster, uncertainty=kind, statistics=("srcc", "plcc_cubic"), replicates=100
        )
        if n_clusters < 5:
            assert found.frame["low"].null_count() == 2
            assert reasons(found)["srcc"] == f"the interval only; {n_clusters} clusters, 5 are needed"
        else:
            one = row(found, "srcc")
            assert one["low"] < one["high"]  # type: ignore[operator]
            assert row(found, "plcc_cubic")["low"] is None
            assert "not resampled" in reasons(found)["plcc_cubic"]


def test_clusters_of_a_predictor_that_scores_few_items_are_those_of_its_items() -> None:
    y, x = noisy(32, 20, 0.5)
    ids = [f"i{k:03d}" for k in range(20)]
    cluster = pl.DataFrame({"item": ids, "content": [k // 2 for k in range(20)]})
    found = compare(scores("human", y), scores("m", x[:6]), cluster=cluster, statistics=("srcc",), replicates=100)
    assert reasons(found)["srcc"] == "the interval only; 3 clusters, 5 are needed"


def test_levels_are_not_given_intervals_that_ignore_the_clusters() -> None:
    y, x = noisy(33, 40, 0.5)
    ids = [f"i{k:03d}" for k in range(40)]
    cluster = pl.DataFrame({"item": ids, "content": [k % 10 for k in range(40)]})
    group = pl.DataFrame({"item": ids, "method": ["ab"[k % 2] for k in range(40)]})
    human, machine = scores("human", y), scores("m", x)
    plain = compare(human, machine, group=group, statistics=("srcc",), replicates=50)
    assert row(plain, "srcc", group="method=a")["low"] is not None
    found = compare(human, machine, group=group, cluster=cluster, statistics=("srcc",), replicates=50)
    assert row(found, "srcc", group="method=a")["low"] is None
    assert row(found, "srcc", group="method=a")["value"] == row(plain, "srcc", group="method=a")["value"]


def test_levels_that_all_agree_have_a_mean_without_an_interval() -> None:
    line = [float(k % 6) for k in range(18)]
    group = pl.DataFrame({"item": [f"i{k:03d}" for k in range(18)], "method": ["abc"[k // 6] for k in range(18)]})
    found = compare(scores("human", line), scores("m", line), group=group, statistics=("srcc",), replicates=0)
    assert (row(found, "srcc", group="method=*")["value"], row(found, "srcc", group="method=*")["low"]) == (1.0, None)


def test_resamples_that_mostly_give_no_number_make_no_interval() -> None:
    found = resampled(Statistic(0.5, math.nan, math.nan, 9), np.array([0.4, 0.6, *[np.nan] * 8]), 0.95)
    assert math.isnan(found.low)
    assert "2 of 10 resamples gave a number" in found.note


def test_what_is_no_scores_is_refused_with_what_to_do() -> None:
    human = scores("human", [1.0, 2.0, 3.0])
    with pytest.raises(BadInput, match="compare takes Scores, not DataFrame; read them with read_scores"):
        compare(human.frame, human)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="compare takes Scores, not NoneType"):
        compare(human, None)  # type: ignore[arg-type]
