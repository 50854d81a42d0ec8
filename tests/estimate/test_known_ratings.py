"""Published and independently computed scores of real rating studies, reproduced by every model that claims them.

Expected values lie beside the data; their README says which program at which version gave them. They are stored with
ten digits, hence the tolerances of 1e-8 where nothing else is said.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

from paragone.estimate.arrays import Opinions
from paragone.estimate.bias_removed import bias_removed
from paragone.estimate.mean_opinion import dmos, mos
from paragone.estimate.subject_model import p910
from paragone.estimate.sureal_full import sureal
from paragone.estimate.zscore import zscore_mos

SETS = ["nflx_public", "nflx_public_last4random"]


class Study(NamedTuple):
    data: Opinions
    expected: dict[str, Any]


def numbered(frame: pl.DataFrame) -> Opinions:
    """Opinions with items and raters numbered in the order of their names, the order of the expected values."""
    items, raters = sorted(frame["item"].unique()), sorted(frame["rater"].unique())
    reference, content = np.full(len(items), -1), np.zeros(len(items), dtype=np.int64)
    if "content" in frame.columns:
        names = sorted(frame["content"].unique())
        facts = frame.select("item", "content", "is_reference").unique().rows()
        content[[items.index(item) for item, _, _ in facts]] = [names.index(name) for _, name, _ in facts]
        for item, name, is_reference in facts:
            if is_reference:
                reference[content == names.index(name)] = items.index(item)
    return Opinions(
        n=len(items),
        p=len(raters),
        item=np.array([items.index(x) for x in frame["item"]]),
        participant=np.array([raters.index(x) for x in frame["rater"]]),
        session=np.zeros(frame.height, dtype=np.int64),
        value=frame["score"].cast(pl.Float64).to_numpy(),
        weight=np.ones(frame.height),
        reference=reference,
        content=content,
    )


@pytest.fixture(scope="module")
def nflx(shared: Callable[[str], Path]) -> Callable[[str], Study]:
    def read(name: str) -> Study:
        frame = pl.read_csv(shared(f"votes/nflx_public/{name}.csv"))
        return Study(numbered(frame), json.loads(shared(f"votes/nflx_public/{name}.expected.json").read_text()))

    return read


@pytest.fixture(scope="module")
def avt(shared: Callable[[str], Path]) -> Callable[[str], Study]:
    expected = json.loads(shared("votes/avt_ai_images/expected.json").read_text())
    frame = pl.read_csv(shared("votes/avt_ai_images/ratings.csv")).filter(pl.col("rater_complete") == 1)

    def read(criterion: str) -> Study:
        rows = frame.filter(pl.col("criterion") == criterion)
        rows = rows.unique(["rater", "item"], keep="first", maintain_order=True)
        return Study(numbered(rows), expected["criteria"][criterion])

    return read


def values(named: dict[str, float] | list[float]) -> np.ndarray:
    return np.array(list(named.values()) if isinstance(named, dict) else named)


def same(got: np.ndarray, named: dict[str, float] | list[float], within: float = 1e-8) -> None:
    np.testing.assert_allclose(got, values(named), rtol=0, atol=within)


@pytest.mark.parametrize("name", SETS)
def test_mean_and_spread_are_those_of_the_netflix_set(nflx, name):
    study = nflx(name)
    got = mos(study.data)
    same(got.score, study.expected["mos"]["mean"])
    same(got.notes["sd"], study.expected["mos"]["sd_ddof1"])
    same(1.959963985 * got.stderr, study.expected["mos"]["ci95_normal_halfwidth"])


@pytest.mark.parametrize("name", SETS)
def test_z_scores_are_those_of_the_netflix_set(nflx, name):
    study = nflx(name)
    expected = study.expected["z_score"]
    same(zscore_mos(study.data).score, expected["mos_5(z+3)/6"])
    same(zscore_mos(study.data, scale="none").score, expected["item_mean_z"])
    got = zscore_mos(study.data, scale="0-100")
    same(got.score, expected["mos_100(z+3)/6"], 1e-7)
    assert got.notes["ratings_outside"] == expected["z_outside_pm3"]


@pytest.mark.parametrize("name", SETS)
def test_difference_scores_equal_sureal(nflx, name):
    study = nflx(name)
    against_mean = dmos(study.data, against="mean")
    same(against_mean.score, study.expected["sureal_DMOS"]["quality"])
    same(against_mean.stderr, study.expected["sureal_DMOS"]["quality_se"])
    same(dmos(study.data).score, study.expected["sureal_DMOS"]["quality"])  # equal in a full design only
    live = dmos(study.data, against="mean", standardised="participant")
    same(live.score, study.expected["sureal_LIVE_DMOS"]["quality"], 1e-7)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("solve", ["one-pass", "least-squares"])
def test_bias_removal_is_p913_on_the_netflix_set(nflx, name, solve):
    study = nflx(name)
    got = bias_removed(study.data, solve=solve)
    same(got.score, study.expected["p913_12.4_bias_removed"]["mos"])
    same(got.notes["participant_bias"], study.expected["p913_12.4_bias_removed"]["bias"])


@pytest.mark.parametrize("name", SETS)
def test_p910_without_prior_is_the_published_alternating_projection(nflx, name):
    study = nflx(name)
    expected = study.expected["p910_annexE_alternating_projection"]
    got = p910(study.data, prior=0)
    same(got.score, expected["quality"])
    same(got.stderr, expected["se"])
    same(got.notes["participant_bias"], expected["bias"])
    same(got.notes["participant_inconsistency"], expected["inconsistency"])
    assert got.notes["iterations"] == expected["iterations"]


@pytest.mark.parametrize("name", SETS)
def test_p910_without_prior_is_the_answer_of_sureals_newton_solver(nflx, name):
    study = nflx(name)
    expected = study.expected["sureal_MLE_CO"]
    got = p910(study.data, prior=0, stderr="model")
    same(got.score, expected["quality"], 1e-6)
    same(got.stderr, expected["quality_se"], 1e-6)
    same(got.notes["participant_inconsistency"], expected["observer_inconsistency"], 1e-6)
    assert got.notes["log_likelihood"] / study.data.value.size == pytest.approx(expected["loglikelihood"], abs=1e-9)


def test_p910_gives_the_sums_that_sureals_own_tests_pin(nflx):
    got = p910(nflx("nflx_public").data, prior=0)
    assert got.score.sum() == pytest.approx(280.0384615, abs=1e-6)
    assert got.score.var() == pytest.approx(1.4355485, abs=1e-6)
    assert got.notes["participant_inconsistency"].sum() == pytest.approx(15.681766, abs=1e-5)


def test_the_full_model_gives_the_sums_that_sureals_own_tests_pin(nflx):
    got = sureal(nflx("nflx_public").data, prior=0)
    assert got.score.sum() == pytest.approx(280.0384615, abs=1e-4)
    assert got.score.var() == pytest.approx(1.4351342, abs=1e-4)
    assert got.notes["participant_inconsistency"].sum() == pytest.approx(10.164666, abs=1e-4)


def test_the_full_model_is_sureals_item_by_item(nflx):
    study = nflx("nflx_public")
    expected = study.expected["sureal_MLE"]
    got = sureal(study.data, prior=0)
    same(got.score, expected["quality"], 1e-4)
    same(got.stderr, expected["quality_se"], 1e-4)
    same(got.notes["participant_bias"], expected["observer_bias"], 1e-4)
    same(got.notes["participant_inconsistency"], expected["observer_inconsistency"], 1e-4)
    same(got.notes["content_ambiguity"], expected["content_ambiguity"], 1e-4)
    assert got.notes["log_likelihood"] / study.data.value.size == pytest.approx(expected["loglikelihood"], abs=1e-9)


def test_the_full_model_climbs_higher_where_sureals_solver_is_stuck(nflx):
    """With four random raters SUREAL leaves three raters at v = 0, from which its steps cannot return."""
    study = nflx("nflx_public_last4random")
    expected = study.expected["sureal_MLE"]
    assert sorted(expected["observer_inconsistency"].values())[2] < 1e-30
    got = sureal(study.data, prior=0)
    assert got.notes["log_likelihood"] / study.data.value.size > expected["loglikelihood"] + 3e-5
    same(got.score, expected["quality"], 0.01)


@pytest.mark.parametrize("criterion", ["appeal", "realism", "prompt_matching"])
def test_every_score_of_the_avt_pictures_is_reproduced(avt, criterion):
    study = avt(criterion)
    same(mos(study.data).score, study.expected["mos"]["mean"])
    same(mos(study.data).notes["sd"], study.expected["mos"]["sd_ddof1"])
    same(zscore_mos(study.data).score, study.expected["z_score"]["mos_5(z+3)/6"])
    assert zscore_mos(study.data).notes["ratings_outside"] == study.expected["z_score"]["z_outside_pm3"]
    one_pass = bias_removed(study.data, solve="one-pass")
    same(one_pass.score, study.expected["p913_12.4_bias_removed"]["mos"])
    same(one_pass.notes["participant_bias"], study.expected["p913_12.4_bias_removed"]["bias"])
    expected = study.expected["p910_annexE_alternating_projection"]
    got = p910(study.data, prior=0)
    same(got.score, expected["quality"], 1e-7)
    same(got.stderr, expected["se"], 1e-7)
    same(got.notes["participant_inconsistency"], expected["inconsistency"], 1e-7)


def test_repeated_ratings_with_gaps_are_scored_as_in_the_demonstration_of_bt500(shared):
    frame = pl.read_csv(shared("votes/bt500_repetitions/ratings.csv"))
    expected = json.loads(shared("votes/bt500_repetitions/expected.json").read_text())["p910_annexE"]
    got = p910(numbered(frame), prior=0)
    same(got.score, expected["mos_j"])
    same(got.stderr, expected["sos_j"])
    same(got.notes["participant_bias"], expected["bias_i"])
    same(got.notes["participant_inconsistency"], expected["inconsistency_i"])
