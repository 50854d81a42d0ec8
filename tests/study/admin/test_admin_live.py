"""Judged answers, what was shown, scores and stability, from the answers of a small study."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from desk_world import World
from paragone.errors import ParagoneError
from paragone.estimate import Question, estimate
from paragone.study.admin import live as desk
from paragone.study.admin.figures.answered import check_rates, checks, joined, left_share, time_histogram
from paragone.study.admin.figures.persons import driven, persons, watched
from paragone.study.admin.live import Live, Material, tolerances


def compute(material: Material) -> Live:
    """With few resamples, which is quicker."""
    return desk.compute(material, replicates=100)


@pytest.fixture(scope="module")
def live(pairs_world: World) -> Live:
    return compute(pairs_world.material())


def test_the_last_revision_counts_and_only_once(ratings_world: World) -> None:
    changed = ratings_world.answers.head(1).with_columns(revision=pl.lit(1, pl.Int64), value=pl.lit("0.0"))
    asked = joined(pl.concat([ratings_world.answers, changed]), ratings_world.plan.frame)
    assert asked.height == ratings_world.answers.height
    same = asked.filter(pl.all_horizontal(pl.col(k) == changed[k][0] for k in ("lease", "trial", "criterion")))
    assert same["value"].to_list() == ["0.0"]


def test_an_attentive_world_passes_every_check(attentive_world: World) -> None:
    asked = joined(attentive_world.answers, attentive_world.plan.frame)
    rows = check_rates(checks(asked, tolerances(attentive_world.study)))
    assert [(row.stage, row.check, row.passed.value, row.failed) for row in rows] == [
        ("1", "instructed", 1.0, 0),
        ("2", "instructed", 1.0, 0),
    ]
    assert [row.passed.n for row in rows] == [24, 16]  # two checks on each of 12 and 8 sheets


def _one_check(world: World) -> tuple[str, str]:
    row = world.plan.frame.filter(pl.col("kind") == "check").row(0, named=True)
    return row["trial"], row["expected"]


def test_one_wrong_criterion_fails_the_check(attentive_world: World) -> None:
    trial, expected = _one_check(attentive_world)
    other = "left" if expected == "right" else "right"
    hit = (pl.col("trial") == trial) & (pl.col("criterion") == "style")
    answers = attentive_world.answers.with_columns(value=pl.when(hit).then(pl.lit(other)).otherwise(pl.col("value")))
    judged = checks(joined(answers, attentive_world.plan.frame), {})
    assert judged.filter(pl.col("trial") == trial)["right"].to_list() == [False]
    assert (~judged["right"]).sum() == 1


def test_a_check_that_cannot_be_judged_is_unknown_and_not_failed(attentive_world: World) -> None:
    trial, _ = _one_check(attentive_world)
    blank = pl.when(pl.col("trial") == trial).then(None).otherwise(pl.col("expected")).alias("expected")
    judged = checks(joined(attentive_world.answers, attentive_world.plan.frame.with_columns(blank)), {})
    assert judged.filter(pl.col("trial") == trial)["right"].to_list() == [None]
    row = check_rates(judged)[0]
    assert (row.unknown, row.failed, row.passed.value, row.passed.n) == (1, 0, 1.0, 23)
    assert persons(joined(attentive_world.answers, attentive_world.plan.frame), judged)["checks_unknown"].sum() == 1


def test_a_rated_check_may_miss_by_a_step_of_the_scale(ratings_world: World) -> None:
    trial = ratings_world.plan.frame.filter(pl.col("kind") == "check").row(0, named=True)
    wanted = float(trial["expected"])
    for said, right in ((wanted + 0.1, True), (wanted - 0.1, True), (wanted + 0.2, False)):
        value = pl.when(pl.col("trial") == trial["trial"]).then(pl.lit(f"{said:g}")).otherwise(pl.col("value"))
        answers = ratings_world.answers.with_columns(value=value)
        judged = checks(joined(answers, ratings_world.plan.frame), tolerances(ratings_world.study))
        assert judged.filter(pl.col("trial") == trial["trial"])["right"].to_list() == [right]


def test_times_are_counted_once_in_the_bin_they_belong_to(pairs_world: World) -> None:
    asked = joined(pairs_world.answers, pairs_world.plan.frame)
    bins = time_histogram(asked)
    assert bins["kept"].sum() == asked.height
    assert bins["excluded"].sum() == 0
    inside = asked.filter((pl.col("seconds") >= 6) & (pl.col("seconds") < 8)).height
    assert bins.filter(pl.col("low") == 6)["kept"].item() == inside


def test_the_left_share_counts_decided_answers_of_kept_pairs(pairs_world: World) -> None:
    asked = joined(pairs_world.answers, pairs_world.plan.frame)
    shares = dict(left_share(asked))
    main = asked.filter((pl.col("stage") == "1") & pl.col("kind").is_in(["main", "repeat"]))
    assert shares["1"].value == pytest.approx((main["value"] == "left").mean())
    assert shares["1"].n == main.height
    assert left_share(asked.with_columns(excluded=pl.lit(True))) == []


def test_scores_are_those_of_estimate_with_intervals_and_counts(live: Live, pairs_world: World) -> None:
    assert [(table.criterion, table.of, len(table.rows)) for table in live.tables] == [
        ("content", "method", 4),
        ("style", "method", 4),
    ]
    from paragone.study.collect import collect

    given = pairs_world.answers.select("participant", "trial", "criterion", pl.col("value").alias("answer"), "seconds")
    votes = collect(pairs_world.plan, given).votes
    assert votes is not None
    levels = pairs_world.benchmark.items.select("item", pl.col("method").alias("level"))
    scores = estimate(votes, question=Question(intervals="none", levels=levels, factor="method", apart=True))
    expected = dict(scores.of_criterion("style").select("level", "score").iter_rows())
    assert {row.name: row.score.value for row in live.tables[1].rows} == pytest.approx(expected)
    values = [row.score.value for row in live.tables[1].rows]
    assert values == sorted(values, reverse=True)
    for row in live.tables[1].rows:
        assert row.score.low is not None
        assert row.score.low < row.score.value < row.score.high
        assert row.score.n > 50


def test_excluded_answers_score_nothing_and_are_counted_apart(pairs_world: World) -> None:
    out = pairs_world.answers.with_columns(excluded=pl.col("participant") == "sim-0001")
    without = compute(pairs_world.material(out))
    alone = compute(pairs_world.material(pairs_world.answers.filter(pl.col("participant") != "sim-0001")))
    assert without.tables == alone.tables
    assert without.curves == alone.curves
    assert {row.excluded for row in without.asked if row.stage == "1"} == {12}
    assert sum(row["excluded"] for row in without.times) == 28  # 12 trials and 2 checks, two criteria


def test_the_curve_rests_on_finished_sheets_only(pairs_world: World) -> None:
    half = pairs_world.answers.with_columns(finished=pl.col("lease") <= 6)
    curves = {(c.stage, c.criterion): c for c in compute(pairs_world.material(half)).curves}
    assert curves["1", "content"].people == 6
    assert curves["1", "content"].sizes[-1] == 6
    assert curves["2", "content"].note == "nobody has finished a sheet yet"
    assert curves["2", "content"].bound is None
    assert not curves["2", "content"].reached


def test_targets_come_from_the_settings_and_default_to_ninety_five(live: Live) -> None:
    assert {(curve.stage, curve.target) for curve in live.curves} == {("1", 0.8), ("2", 0.95)}


def test_people_who_agree_make_a_stable_ranking(pairs_world: World) -> None:
    shown = pairs_world.plan.frame.select("trial", better=pl.col("left") < pl.col("right"))
    same = pairs_world.answers.join(shown, on="trial", maintain_order="left").with_columns(
        value=pl.when("better").then(pl.lit("left")).otherwise(pl.lit("right"))
    )
    curves = compute(pairs_world.material(same.drop("better"))).curves
    assert all(curve.bound is not None and curve.bound >= 0.8 for curve in curves)
    assert [curve.reached for curve in curves[:2]] == [True, True]  # target 0.8


def test_a_complete_plan_is_shown_as_planned_and_connected(live: Live) -> None:
    assert all(row.kept == row.target for row in live.asked)
    grids = [cells for cells in live.cells if cells.rows != cells.columns]
    assert all(cells.counts == cells.planned for cells in grids)
    assert {cells.columns for cells in grids} == {"content", "style"}
    webs = {(web.stage, web.criterion): web for web in live.webs}
    assert webs["1", "content"].components == 4  # content x style groups that stage 1 never joins
    assert webs["2", "content"].components == webs["", "content"].components == 1


def test_pairings_are_symmetric_and_count_every_main_trial(live: Live, pairs_world: World) -> None:
    (met,) = [cells for cells in live.cells if cells.rows == cells.columns and cells.stage == "1"]
    table = np.asarray(met.counts)
    assert (table == table.T).all()
    main = pairs_world.plan.frame.filter((pl.col("stage") == "1") & pl.col("kind").is_in(["main", "repeat"]))
    assert np.triu(table).sum() == main.height
    assert met.spread is not None


def test_an_empty_study_is_computed_and_knows_nothing(pairs_world: World) -> None:
    found = compute(pairs_world.material(pairs_world.answers.clear()))
    assert found.tables == []
    assert found.webs == []
    assert found.checks == []
    assert [curve.bound for curve in found.curves] == [None] * 4
    assert {row.kept for row in found.asked} == {0}


def test_one_answer_is_enough_to_be_shown_and_too_few_to_be_sure(pairs_world: World) -> None:
    first = pairs_world.answers.filter(pl.col("trial").is_in(
        pairs_world.plan.frame.filter(pl.col("kind") == "main")["trial"].to_list()
    )).head(1)  # fmt: skip
    found = compute(pairs_world.material(first))
    (table,) = found.tables
    assert table.people == 1
    assert all(row.score.low is None for row in table.rows)
    assert found.curves[0].note == "1 people; a stability curve resamples two or more"


def test_ratings_are_scored_on_their_own_scale(ratings_world: World) -> None:
    found = compute(ratings_world.material())
    assert {(table.estimator, table.unit, table.of) for table in found.tables} == {("mos", "rating scale", "method")}
    assert all(0 <= (row.score.value or 0) <= 5 for table in found.tables for row in table.rows)
    assert [third.part for third in found.thirds] == ["first third", "middle third", "last third"]
    assert all(third.offset.value is not None and third.left.value is None for third in found.thirds)


def test_a_drift_along_the_sheet_shows_in_the_thirds(ratings_world: World) -> None:
    shown = ratings_world.plan.frame.select("trial", "position", "sheet")
    length = shown.group_by("sheet").agg(pl.col("position").max().alias("n"))
    place = shown.join(length, on="sheet").select("trial", share=pl.col("position") / pl.col("n"))
    drift = ratings_world.answers.join(place, on="trial", maintain_order="left").with_columns(
        value=(2.0 + pl.col("share")).cast(pl.String)
    )
    first, _, last = compute(ratings_world.material(drift.drop("share"))).thirds
    assert first.offset.high is not None
    assert last.offset.low is not None
    assert first.offset.high < -0.1
    assert last.offset.low > 0.1


def test_a_row_says_why_somebody_deserves_a_look(pairs_world: World) -> None:
    study = pairs_world.study
    bad = {
        "answers": 40, "seconds": 0.6, "same": 0.97, "checks_instructed": 2, "checks_instructed_failed": 2,
        "checks_broken": 3, "checks_broken_failed": 1, "hidden": 75.0,
    }  # fmt: skip
    assert watched(bad, study) == [
        "2 of 2 instructed checks failed; pay may be refused",
        "1 of 3 broken pictures not seen; data only, never pay",
        "0.6 s a question",
        "the same answer 97 % of the time",
        "page out of sight for 75 s",
    ]
    assert watched({**bad, "checks_instructed_failed": 1}, study)[0] == "1 of 2 instructed checks failed"
    assert watched({"answers": 3, "seconds": 0.2, "same": 1.0}, study) == []
    assert watched({"automated": True}, study) == ["the browser says that a program drives it"]


def test_a_browser_that_a_program_drives_is_told_and_simulated_ones_are_no_news() -> None:
    told = [
        ("p-0001", "device", '{"automated": true, "width": 900}'), ("p-0002", "device", '{"automated": false}'),
        ("p-0003", "telemetry", '{"automated": true}'), ("sim-0004", "device", '{"automated": true}'),
        (None, "device", '{"automated": true}'),
    ]  # fmt: skip
    events = pl.DataFrame(told, schema=["participant", "kind", "body"], orient="row")
    assert driven(events) == {"p-0001"}


def test_repeats_are_alike_when_the_same_picture_wins_whatever_its_side(attentive_world: World) -> None:
    asked = joined(attentive_world.answers, attentive_world.plan.frame)
    table = persons(asked, checks(asked, {})).filter(pl.col("repeats").is_not_null())
    assert table["repeats"].sum() == 12 * 2 * 2
    assert table["repeats_alike"].to_list() == table["repeats"].to_list()


def test_errors_of_ours_do_not_escape(pairs_world: World) -> None:
    only = pairs_world.answers.filter(pl.col("trial").str.starts_with("1-001"))
    try:
        found = compute(pairs_world.material(only))
    except ParagoneError as error:  # pragma: no cover - the failure itself
        pytest.fail(f"{type(error).__name__}: {error}")
    assert found.answers == only.height
