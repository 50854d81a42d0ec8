"""From votes to the next wave, and to the plan with it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from adaptive_study import ADAPTIVE, adaptive_folder
from study_folder import HEAD, PAIRS

from paragone.benchmark import Benchmark
from paragone.design import Study, islands, read_study
from paragone.errors import BadConfig, UnknownName
from paragone.judgements import Votes
from paragone.observers import latent_scores, simulate
from paragone.plan import Plan
from paragone.study import collect
from paragone.study.frozen import Frozen, freeze
from paragone.study.frozen import grown as grown_version
from paragone.study.waves import adaptive_stage, adaptive_stages, grown, sheets_left, targets, wave


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return adaptive_folder(tmp_path_factory.mktemp("waves") / "study")


def parts_of(folder: Path) -> tuple[Plan, Study, Benchmark]:
    return Plan.read(folder / "plan.csv"), read_study(folder / "study.toml"), Benchmark.read(folder)


def votes_on(plan: Plan, benchmark: Benchmark, seed: int = 1) -> Votes:
    votes = collect(plan, simulate(plan, latent_scores(benchmark, seed=seed), seed=seed)).votes
    assert votes is not None
    return votes


def test_waves_follow_the_votes_until_the_stage_has_all_its_sheets(folder: Path) -> None:
    plan, study, benchmark = parts_of(folder)
    assert adaptive_stages(study) == ["within"]
    assert targets(study) == {"within": 7}
    dealt = [plan]
    for sheets, left in ((3, 1), (1, 0)):
        votes = votes_on(plan, benchmark)
        made = wave(plan, study, benchmark, votes, adaptive_stage(study, plan))
        assert (made.stage, made.sheets, made.left) == ("within", sheets, left)
        assert made.answers == votes.main.frame.height > 0
        if sheets == 3:
            assert islands(made.plan, benchmark) == 2, "each content by itself, as in the plan"
        plan = grown(plan, made.plan)
        dealt.append(made.plan)
    names = [sheet for part in dealt for sheet in part.sheets]
    assert names == [f"within-{number:03d}" for number in range(1, 8)]
    assert sheets_left(study, plan.frame, "within") == 0
    with pytest.raises(BadConfig, match="stage 'within' has all its 7 sheets; raise participants for more"):
        adaptive_stage(study, plan)


def test_votes_change_what_is_dealt_and_without_any_it_is_dealt_evenly(folder: Path) -> None:
    plan, study, benchmark = parts_of(folder)
    blind = wave(plan, study, benchmark, None, "within")
    assert blind.answers == 0
    votes = votes_on(plan, benchmark)
    checks = Votes(votes.frame.filter(pl.col("kind") == "check"))
    same = wave(plan, study, benchmark, checks, "within")
    assert same.answers == 0
    assert same.plan.frame.equals(blind.plan.frame), "checks say nothing about scores"
    seen = wave(plan, study, benchmark, votes, "within")
    assert not seen.plan.frame.equals(blind.plan.frame)


def test_one_vote_is_enough_for_scores(folder: Path) -> None:
    plan, study, benchmark = parts_of(folder)
    votes = votes_on(plan, benchmark)
    one = Votes(votes.main.frame.head(1))
    assert wave(plan, study, benchmark, one, "within").answers == 1


@pytest.mark.parametrize(
    ("settings", "stage", "error", "message"),
    [
        (ADAPTIVE, "elsewhere", UnknownName, "no stage 'elsewhere'"),
        (PAIRS, "", BadConfig, "no stage is dealt in waves; study.toml says so by adaptive = true"),
        (PAIRS, "within", BadConfig, "stage 'within' is not dealt in waves"),
    ],
)
def test_what_cannot_be_dealt_in_waves_is_said(
    folder: Path, tmp_path: Path, settings: str, stage: str, error: type[Exception], message: str
) -> None:
    plan = Plan.read(folder / "plan.csv")
    (tmp_path / "study.toml").write_text(HEAD + settings)
    with pytest.raises(error, match=message):
        adaptive_stage(read_study(tmp_path / "study.toml"), plan, stage)


def test_a_plan_that_names_no_references_gets_none(folder: Path) -> None:
    plan, study, benchmark = parts_of(folder)
    made = wave(plan, study, benchmark, None, "within").plan
    beside = [name for name in plan.frame.columns if "." in name]
    assert beside == ["left.content", "right.content"]
    bare = Plan(plan.frame.drop(beside))
    assert "left.content" not in grown(bare, made).frame.columns
    assert grown(plan, made).frame["left.content"].null_count() == 0


def version_of(folder: Path, plan: Plan) -> Frozen:
    return grown_version(freeze(folder), plan)


def test_a_grown_version_is_what_a_restart_makes_of_the_folder(folder: Path, tmp_path: Path) -> None:
    plan, study, benchmark = parts_of(folder)
    before = freeze(folder)
    whole = grown(plan, wave(plan, study, benchmark, votes_on(plan, benchmark), "within").plan)
    after = version_of(folder, whole)
    assert after.continues(before)
    assert not before.continues(after)
    assert before.continues(before)
    kept = Frozen.of_parts(*before.parts[:3], folder=folder)
    assert after.continues(kept), "as the store gives it back"
    other = adaptive_folder(tmp_path / "again")
    whole.write(other / "plan.csv")
    assert freeze(other).parts == after.parts


def test_a_version_that_asks_anything_else_does_not_go_on(folder: Path) -> None:
    plan, study, benchmark = parts_of(folder)
    before = freeze(folder)
    whole = grown(plan, wave(plan, study, benchmark, None, "within").plan)
    turned = whole.frame.with_columns(
        left=pl.when(pl.col("trial") == plan.frame["trial"][0]).then(pl.col("right")).otherwise(pl.col("left")),
        right=pl.when(pl.col("trial") == plan.frame["trial"][0]).then(pl.col("left")).otherwise(pl.col("right")),
    )
    assert not version_of(folder, Plan(turned)).continues(before)
    fewer = Plan(whole.frame.filter(pl.col("sheet") != "within-001"))
    assert not version_of(folder, fewer).continues(before)
