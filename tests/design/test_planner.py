"""Plans keep what they promise, for any study that can be met."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from paragone.benchmark import Benchmark
from paragone.design import PairStage, RatingStage, Study, cost, islands, plan
from paragone.errors import BadConfig, BadInput, UnknownName
from paragone.plan import Plan

Maker = Callable[..., Benchmark]
Drawn = tuple[dict[str, Any], Study]
GROUP = ["content", "style"]


@st.composite
def studies(draw: st.DrawFn) -> Drawn:
    """A small grid, now and then with missing cells and broken versions, and one or two stages of pairs."""
    methods, contents, styles = draw(st.integers(3, 6)), draw(st.integers(1, 3)), draw(st.integers(2, 4))
    holes = draw(st.frozensets(st.integers(0, methods * contents * styles - 1), max_size=2))
    cells = {
        "methods": methods,
        "contents": contents,
        "styles": styles,
        "left_out": holes,
        "broken": draw(st.integers(0, 2)),
    }
    stages = []
    for pairs in draw(st.sampled_from([["within"], ["within", "across"], ["across"], ["any"]])):
        trials = draw(st.integers(6, 14))
        repeats = draw(st.integers(0, trials // 3))
        stages.append(
            PairStage(
                name=pairs,
                pairs=pairs,
                group=GROUP,
                compare="method",
                participants=draw(st.integers(2, 9)),
                trials=trials,
                repeats=repeats,
                repeat_distance=draw(st.integers(1, trials - repeats)),
                checks=draw(st.integers(0, 4)),
                shared=draw(st.integers(0, 2)),
                shared_by=2,
            )
        )
    return cells, Study(stage=stages, seed=draw(st.integers(0, 10_000)))


def made(benchmark: Benchmark, study: Study) -> Plan:
    """The plan, or a rejected example where so few trials cannot connect or be dealt."""
    try:
        return plan(benchmark, study)
    except BadConfig:
        assume(False)
        raise


def canonical(frame: pl.DataFrame) -> pl.DataFrame:
    low, high = pl.min_horizontal("left", "right"), pl.max_horizontal("left", "right")
    return frame.with_columns(low=low, high=high, sign=pl.when(pl.col("left") == low).then(1).otherwise(-1))


@given(studies())
@settings(max_examples=20, deadline=None)
def test_every_sheet_has_its_trials_checks_and_repeats(grid_benchmark: Maker, drawn: Drawn) -> None:
    benchmark, study = grid_benchmark(**drawn[0]), drawn[1]
    frame = made(benchmark, study).frame
    for stage, name in zip(study.stage, study.stage_names, strict=True):
        part = frame.filter(pl.col("stage") == name)
        assert part["sheet"].n_unique() == stage.participants
        for _, sheet in part.group_by("sheet"):
            kinds = sheet["kind"].to_list()
            assert sheet["position"].to_list() == list(range(1, len(kinds) + 1))
            assert kinds.count("main") == stage.n_main
            assert kinds.count("repeat") == stage.n_repeats
            assert kinds.count("check") == stage.checks
            assert kinds[0] != "check"
            assert kinds[-1] != "check" or stage.checks >= stage.trials


@given(studies())
@settings(max_examples=20, deadline=None)
def test_nobody_meets_an_item_twice_in_a_pair_or_a_pair_twice(grid_benchmark: Maker, drawn: Drawn) -> None:
    benchmark, study = grid_benchmark(**drawn[0]), drawn[1]
    main = canonical(made(benchmark, study).frame.filter(pl.col("kind") == "main"))
    assert (main["left"] != main["right"]).all()
    assert not main.select("sheet", "low", "high").is_duplicated().any()


@given(studies())
@settings(max_examples=20, deadline=None)
def test_pairs_obey_the_rule_of_their_stage(grid_benchmark: Maker, drawn: Drawn) -> None:
    benchmark, study = grid_benchmark(**drawn[0]), drawn[1]
    whole = made(benchmark, study).frame.filter(pl.col("check").is_null() | (pl.col("check") == "instructed"))
    home = dict(benchmark.items.select("item", pl.concat_str(GROUP, separator="/")).iter_rows())
    for row in whole.iter_rows(named=True):
        same = home[row["left"]] == home[row["right"]]
        assert row["stage"] == "any" or same == (row["stage"] == "within")


@given(studies())
@settings(max_examples=20, deadline=None)
def test_sides_balance_within_one_for_every_pair(grid_benchmark: Maker, drawn: Drawn) -> None:
    benchmark, study = grid_benchmark(**drawn[0]), drawn[1]
    main = canonical(made(benchmark, study).frame.filter(pl.col("kind") == "main"))
    assert main.group_by("stage", "low", "high").agg(pl.col("sign").sum().abs())["sign"].max() <= 1


@given(studies())
@settings(max_examples=20, deadline=None)
def test_repeats_ask_the_same_pair_again_at_their_distance(grid_benchmark: Maker, drawn: Drawn) -> None:
    benchmark, study = grid_benchmark(**drawn[0]), drawn[1]
    frame = canonical(made(benchmark, study).frame)
    distance = {name: stage.repeat_distance for stage, name in zip(study.stage, study.stage_names, strict=True)}
    again = frame.filter(pl.col("kind") == "repeat").join(frame, left_on="repeat_of", right_on="trial", suffix="_first")
    assert again.height == frame.filter(pl.col("kind") == "repeat").height
    for row in again.iter_rows(named=True):
        assert (row["low"], row["high"], row["sheet"]) == (row["low_first"], row["high_first"], row["sheet_first"])
        assert row["position"] - row["position_first"] >= distance[row["stage"]]
        assert row["kind_first"] == "main"


@given(studies())
@settings(max_examples=20, deadline=None)
def test_stages_connect_what_they_can(grid_benchmark: Maker, drawn: Drawn) -> None:
    benchmark, study = grid_benchmark(**drawn[0]), drawn[1]
    made_plan = made(benchmark, study)
    judged = benchmark.items.filter(pl.col("broken_of").is_null()) if "broken_of" in benchmark.factors else None
    groups = (benchmark.items if judged is None else judged).select(GROUP).unique().height
    joined = any(stage.pairs != "within" for stage in study.stage)
    assert islands(made_plan, benchmark) == (1 if joined else groups)


@given(studies())
@settings(max_examples=20, deadline=None)
def test_checks_know_their_answer_and_broken_versions_serve_nothing_else(grid_benchmark: Maker, drawn: Drawn) -> None:
    benchmark, study = grid_benchmark(**drawn[0]), drawn[1]
    frame = made(benchmark, study).frame
    checks = frame.filter(pl.col("kind") == "check")
    assert checks["expected"].is_in(["left", "right"]).all()
    assert frame.filter(pl.col("kind") != "check")["expected"].null_count() == frame.height - checks.height
    broken = pl.col("left").str.starts_with("broken/") | pl.col("right").str.starts_with("broken/")
    assert frame.filter(broken & (pl.col("kind") != "check")).height == 0
    for row in checks.filter(pl.col("check") == "broken").iter_rows(named=True):
        sound, worse = (row["left"], row["right"]) if row["expected"] == "left" else (row["right"], row["left"])
        assert worse == f"broken/{sound}"


@given(st.integers(0, 10_000))
@settings(max_examples=10, deadline=None)
def test_items_of_a_group_are_shown_equally_often(grid_benchmark: Maker, seed: int) -> None:
    stage = PairStage(participants=5, trials=20, repeats=0, shared=0, group=GROUP, compare="method")
    frame = plan(grid_benchmark(6, 2, 3), Study(stage=[stage], seed=seed)).frame
    shown = pl.concat([frame["left"], frame["right"]]).value_counts()["count"]
    assert shown.max() - shown.min() <= 1 + 1  # within a group +-1; groups themselves differ by one pair


def test_a_seed_gives_one_plan_and_another_seed_another(grid_benchmark: Maker) -> None:
    stage = PairStage(participants=4, trials=12, group=GROUP)
    one, same, other = (plan(grid_benchmark(), Study(stage=[stage], seed=seed)).frame for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)


def test_shared_pairs_go_to_several_people(grid_benchmark: Maker) -> None:
    stage = PairStage(
        pairs="across", group=GROUP, participants=12, trials=20, repeats=0, shared=6, shared_by=3, compare="method"
    )
    frame = canonical(plan(grid_benchmark(6, 3, 4), Study(stage=[stage])).frame)
    judged = frame.group_by("low", "high").agg(pl.col("sheet").n_unique())["sheet"]
    assert (judged == 3).sum() == 12 * 6 // 3
    assert (judged == 1).sum() == judged.len() - 24


def test_repeats_swap_sides_half_of_the_time(grid_benchmark: Maker) -> None:
    stage = PairStage(group=GROUP, participants=6, trials=24, repeats=4, repeat_distance=5)
    frame = plan(grid_benchmark(), Study(stage=[stage])).frame
    again = frame.filter(pl.col("kind") == "repeat").join(frame, left_on="repeat_of", right_on="trial", suffix="_first")
    assert (again["left"] == again["right_first"]).sum() == 12


def neighbours(benchmark: Benchmark, frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """Trials that show a level of a column (an item, or a reference) which the trial before shows too."""
    sound = benchmark.items.with_columns(
        what=pl.col("item").str.strip_prefix("broken/") if column == "item" else column
    )
    level = dict(sound.select("item", "what").iter_rows())
    shown = pl.concat_list(pl.col(side).replace_strict(level) for side in ("left", "right"))
    both = frame.with_columns(both=shown).with_columns(before=pl.col("both").shift(1).over("sheet"))
    return both.drop_nulls("before").filter(pl.col("both").list.set_intersection("before").list.len() > 0)


@given(
    st.sampled_from(["within", "across", "any"]), st.integers(0, 4), st.integers(0, 3), st.integers(1, 12),
    st.integers(0, 99_999),
)  # fmt: skip
@settings(max_examples=20, deadline=None)
def test_no_item_is_shown_twice_in_a_row(
    grid_benchmark: Maker, pairs: str, repeats: int, broken: int, distance: int, seed: int
) -> None:
    stage = PairStage(
        pairs=pairs,
        group=GROUP,
        participants=5,
        trials=30,
        compare="method",
        checks=4,
        repeats=repeats,
        repeat_distance=distance,
    )
    benchmark = grid_benchmark(6, 3, 4, broken=broken)
    frame = plan(benchmark, Study(stage=[stage], seed=seed)).frame
    assert neighbours(benchmark, frame, "item").height == 0


@pytest.mark.slow
@pytest.mark.parametrize("pairs", ["within", "across", "any"])
def test_no_item_is_shown_twice_in_a_row_for_any_of_many_seeds(grid_benchmark: Maker, pairs: str) -> None:
    benchmark = grid_benchmark(6, 3, 4, broken=2)
    stage = PairStage(
        pairs=pairs, group=GROUP, participants=8, trials=30, compare="method", checks=4, repeats=3, repeat_distance=2
    )
    for seed in range(100):
        frame = plan(benchmark, Study(stage=[stage], seed=seed)).frame
        assert neighbours(benchmark, frame, "item").height == 0, seed


@pytest.mark.parametrize(("pairs", "chance"), [("within", 1 / 6 + 1 / 8), ("across", 4 / 6 + 4 / 8)])
def test_neighbouring_trials_seldom_share_a_reference(grid_benchmark: Maker, pairs: str, chance: float) -> None:
    stage = PairStage(pairs=pairs, group=GROUP, participants=40, trials=40, repeats=3, compare="method", checks=4)
    benchmark = grid_benchmark(6, 6, 8, broken=5)
    frame = plan(benchmark, Study(stage=[stage])).frame
    met = sum(neighbours(benchmark, frame, factor).height for factor in GROUP)
    assert met / frame.height < chance / 6


@given(st.sampled_from(["within", "across"]), st.integers(0, 99_999))
@settings(max_examples=8, deadline=None)
def test_sides_balance_for_every_participant_and_method(grid_benchmark: Maker, pairs: str, seed: int) -> None:
    stage = PairStage(pairs=pairs, group=GROUP, participants=12, trials=36, repeats=0, compare="method")
    main = plan(grid_benchmark(6, 3, 4), Study(stage=[stage], seed=seed)).frame
    sides = pl.concat([main.select("sheet", item=side, sign=pl.lit(s)) for side, s in (("left", 1), ("right", -1))])
    by = sides.group_by("sheet", pl.col("item").str.head(3)).agg(pl.col("sign").sum().abs())["sign"]
    assert by.max() <= 4  # of about 12 showings; chance alone gives up to 10
    assert by.mean() < 1.1  # half of the counts are odd, so 0.5 is the least; chance gives 2.7


@pytest.mark.parametrize("pairs", ["within", "across"])
def test_each_participant_sees_each_method_about_equally_on_both_sides(grid_benchmark: Maker, pairs: str) -> None:
    stage = PairStage(pairs=pairs, group=GROUP, participants=20, trials=36, repeats=0, compare="method")
    main = plan(grid_benchmark(6, 3, 4), Study(stage=[stage])).frame
    sides = pl.concat([main.select("sheet", item=side, sign=pl.lit(s)) for side, s in (("left", 1), ("right", -1))])
    by = sides.with_columns(method=pl.col("item").str.head(3)).group_by("sheet", "method")
    counts = by.agg(pl.col("sign").sum().abs(), pl.len())
    assert counts["sign"].max() <= 3  # chance alone gives up to 10
    assert counts["sign"].mean() < 1.2
    assert counts["len"].max() - counts["len"].min() <= 12


def test_one_large_group_still_meets_all_others() -> None:
    items = pl.DataFrame({"item": [f"i{k}" for k in range(9)], "content": ["a"] * 6 + ["b"] * 2 + ["c"]})
    none = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
    stage = PairStage(pairs="across", group=["content"], participants=2, trials=8, repeats=0, shared=0)
    benchmark = Benchmark(items, none)
    assert islands(plan(benchmark, Study(stage=[stage])), benchmark) == 1


def test_a_study_too_small_to_connect_is_refused(grid_benchmark: Maker) -> None:
    stage = PairStage(name="one", group=GROUP, participants=1, trials=12, repeats=0)
    with pytest.raises(
        BadConfig, match=r"stage 'one': 12 comparisons leave the items in \d+ parts where 6 are possible"
    ):
        plan(grid_benchmark(), Study(stage=[stage]))


def test_more_trials_than_pairs_are_refused(grid_benchmark: Maker) -> None:
    stage = PairStage(group=GROUP, participants=3, trials=40, repeats=0)
    with pytest.raises(BadConfig, match="trials = 40 leaves 40 without repeats, more than the 36 pairs"):
        plan(grid_benchmark(), Study(stage=[stage]))


def test_everybody_can_judge_every_pair(grid_benchmark: Maker) -> None:
    stage = PairStage(group=GROUP, participants=3, trials=36, repeats=0)
    main = canonical(plan(grid_benchmark(), Study(stage=[stage])).frame)
    assert main.group_by("low", "high").agg(pl.col("sheet").n_unique())["sheet"].to_list() == [3] * 36


def test_an_unknown_factor_is_refused_with_a_suggestion(grid_benchmark: Maker) -> None:
    with pytest.raises(UnknownName, match="no factor 'contnt'; did you mean 'content'"):
        plan(grid_benchmark(), Study(stage=[PairStage(group=["contnt"], participants=2, trials=4)]))
    with pytest.raises(UnknownName, match="no factor 'metod'; did you mean 'method'"):
        plan(grid_benchmark(), Study(stage=[PairStage(compare="metod", participants=2, trials=4)]))


def test_an_item_without_a_group_is_refused() -> None:
    items = pl.DataFrame({"item": ["a", "b", "c"], "content": ["x", "x", None]})
    none = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
    with pytest.raises(BadConfig, match="item 'c' has no level of content"):
        plan(Benchmark(items, none), Study(stage=[PairStage(group=["content"], participants=1, trials=1)]))


def test_groups_of_one_leave_nothing_to_compare(grid_benchmark: Maker) -> None:
    stage = PairStage(group=["method", "content", "style"], participants=2, trials=4)
    with pytest.raises(BadConfig, match="no group holds two items, so nothing can be compared"):
        plan(grid_benchmark(), Study(stage=[stage]))


def test_broken_checks_need_broken_versions(grid_benchmark: Maker) -> None:
    stage = PairStage(group=GROUP, participants=3, trials=12, checks=2, check="broken")
    with pytest.raises(BadConfig, match=r"check = \"broken\", but no item has a 'broken_of'"):
        plan(grid_benchmark(), Study(stage=[stage]))


def test_a_broken_version_of_nothing_is_refused() -> None:
    items = pl.DataFrame({"item": ["a", "b", "c"], "broken_of": [None, None, "z"]})
    none = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
    with pytest.raises(BadInput, match="broken_of 'z' is not an item to be judged"):
        plan(Benchmark(items, none), Study(stage=[PairStage(participants=1, trials=1)]))


def test_plans_survive_writing_and_reading(grid_benchmark: Maker, tmp_path: Path) -> None:
    stages = [PairStage(group=GROUP, participants=3, trials=12, checks=1), RatingStage(participants=2, sessions=2)]
    made_plan = plan(grid_benchmark(broken=1), Study(stage=stages))
    made_plan.write(tmp_path / "plan.csv")
    assert Plan.read(tmp_path / "plan.csv").frame.equals(made_plan.frame)


@pytest.mark.slow
def test_the_published_study_is_planned_in_seconds_with_its_counts(grid_benchmark: Maker) -> None:
    # 12 methods x 6 contents x 12 styles; 122 x 144 = 17,568 and 142 x 120 = 17,040 comparisons; stage 1 alone has 72
    # components, both stages together one.
    benchmark = grid_benchmark(12, 6, 12)
    stages = [
        PairStage(
            name="within", group=GROUP, compare="method", participants=122, trials=144, checks=6, checks_needed=5
        ),
        PairStage(name="across", pairs="across", group=GROUP, compare="method", participants=142, trials=120, checks=4),
    ]
    study = Study(stage=stages)
    bill = cost(plan(benchmark, study), benchmark, study)
    assert bill.frame["comparisons"].to_list() == [17_568, 17_040]
    assert bill.frame["checks"].to_list() == [732, 568]
    assert bill.frame["islands"].to_list() == [72, 1]
    assert bill.islands == 1
    cells = bill.exposures.filter(pl.col("what") != "item")
    assert cells["spread"].max() < 0.03  # the published study had 200 to 270 around 236.7: 15 %
    # the worst 7 of 122 and 8 of 142 sheets for each cell, exactly; as dealt before they were evened out: 13 %
    assert bill.exposures["missing"].to_list() == [7] * 3 + [8] * 3
    assert cells["worst"].max() < 0.075
    items = bill.exposures.filter(pl.col("what") == "item")
    assert items["worst"].max() < 0.26  # an item is on some 38 sheets; 7 of them, 2 with its repeat, are a fifth
    assert bill.frame["survives"].to_list() == ["proved", "proved"]
    assert bill.survival is not None
    assert (bill.survival.verdict, bill.survival.missing, bill.survival.sheets) == ("proved", 14, 264)
    assert np.allclose(bill.exposures.filter(what="method x style")["mean"].to_list(), [244.0, 236.67], atol=0.01)


def test_what_is_no_benchmark_or_study_is_refused_with_what_to_do(grid_benchmark: Maker) -> None:
    with pytest.raises(BadInput, match="plan takes a Benchmark, not DataFrame"):
        plan(pl.DataFrame({"item": ["a"]}), Study(stage=[PairStage(participants=1, trials=1)]))  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="plan takes a Study, not dict"):
        plan(grid_benchmark(), {"stage": []})  # type: ignore[arg-type]
