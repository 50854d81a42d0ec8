"""Known answers that need several rooms at once: scores of screened answers, golden files, facts of published label sets.

Those of one model or one statistic stand with its own tests; `test_traps.py` lists where each is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from paragone.estimate import Question, estimate
from paragone.judgements import Ratings
from paragone.screen import ScreenRules, screen
from paragone.screen.settings import Bt500
from paragone.sources import import_source

Shared = Callable[[str], Path]
NETFLIX = ["nflx_public", "nflx_public_last4random"]
SUREALS = ScreenRules(reject=("bt500",), bt500=Bt500(convention="sureal"))
NONE = Question(intervals="none")


def _netflix(shared: Shared, name: str) -> tuple[Ratings, dict[str, Any]]:
    made = import_source("nflx_public", shared(f"votes/nflx_public/{name}.csv"))
    assert made.ratings is not None
    return made.ratings, json.loads(shared(f"votes/nflx_public/{name}.expected.json").read_text())


def _by_item(frame: pl.DataFrame, column: str = "score") -> dict[str, float]:
    return dict(frame.select("item", column).iter_rows())


def _close(got: dict[str, float], known: dict[str, float], within: float) -> None:
    assert set(got) == set(known)
    assert max(abs(got[item] - known[item]) for item in known) <= within


@pytest.mark.parametrize("name", NETFLIX)
def test_analytic_intervals_of_mos_are_students(shared: Shared, name: str) -> None:
    ratings, expected = _netflix(shared, name)
    frame = estimate(ratings, "mos", question=Question(intervals="analytic")).frame
    half = frame.with_columns(half=(pl.col("high") - pl.col("low")) / 2)
    _close(_by_item(half, "half"), expected["mos"]["ci95_t_halfwidth"], 1e-8)
    _close(_by_item(frame, "n"), expected["mos"]["n"], 0)


@pytest.mark.parametrize("name", NETFLIX)
def test_screening_and_mos_together_are_sureals_bt500_model(shared: Shared, name: str) -> None:
    """SUREAL's SR_MOS: its own reading of BT.500, then the mean and its error (sd over root n, n - 1)."""
    ratings, expected = _netflix(shared, name)
    screened = screen(ratings, SUREALS)
    rejected = sorted(set(ratings.frame["participant"]) - set(screened.apply(ratings).frame["participant"]))
    assert rejected == expected["sureal_SR_MOS"]["rejected"]
    kept = estimate(screened.apply(ratings), "mos", question=NONE).frame
    _close(_by_item(kept), expected["sureal_SR_MOS"]["quality"], 1e-8)
    error = kept.with_columns(error=pl.col("sd") / pl.col("n").sqrt())
    _close(_by_item(error, "error"), expected["sureal_SR_MOS"]["quality_se"], 1e-8)


@pytest.mark.parametrize("name", NETFLIX)
def test_bias_removal_then_screening_then_mos_is_sureals_chain(shared: Shared, name: str) -> None:
    """SUREAL's LS is the least-squares fit; its BR_SR_MOS screens what that leaves of each rating, then averages."""
    ratings, expected = _netflix(shared, name)
    fitted = estimate(ratings, "bias-removed", question=NONE)
    _close(_by_item(fitted.frame), expected["sureal_LS"]["quality"], 1e-8)
    bias = fitted.made["notes"][""]["participant_bias"]
    _close(dict(bias), expected["sureal_LS"]["observer_bias"], 1e-8)
    _close(dict(bias), expected["sureal_BR_SR_MOS"]["observer_bias"], 1e-8)
    shift = pl.col("participant").replace_strict(dict(bias), return_dtype=pl.Float64)
    unbiased = Ratings(ratings.frame.with_columns(value=pl.col("value") - shift))
    screened = screen(unbiased, SUREALS).apply(unbiased)
    rejected = sorted(set(ratings.frame["participant"]) - set(screened.frame["participant"]))
    assert rejected == expected["sureal_BR_SR_MOS"]["rejected"]
    _close(_by_item(estimate(screened, "mos", question=NONE).frame), expected["sureal_BR_SR_MOS"]["quality"], 1e-8)


@pytest.mark.parametrize("study", ["simple", "food", "llmfao"])
@pytest.mark.parametrize(("algorithm", "estimator"), [("bradley_terry", "bradley-terry"), ("newman", "davidson")])
def test_shares_of_strength_are_evalicas_golden_ones(
    shared: Shared, study: str, algorithm: str, estimator: str
) -> None:
    """Golden files of dustalov/evalica at 2ebe79e pin strengths, so only their shares can be compared with ours."""
    made = import_source("evalica", shared(f"votes/evalica/{study}.csv"))
    assert made.votes is not None
    ours = estimate(made.votes, estimator, question=NONE).frame
    golden = pl.read_csv(shared(f"votes/evalica/{study}-golden.csv"), infer_schema=False)
    theirs = golden.filter(pl.col("algorithm") == algorithm).select("item", strength=pl.col("score").cast(pl.Float64))
    both = ours.join(theirs, on="item")
    assert both.height == ours.height
    share = np.exp(both["score"].to_numpy())
    np.testing.assert_allclose(share / share.sum(), both["strength"] / both["strength"].sum(), rtol=1e-7)


def test_avt_people_took_13_and_a_half_seconds_in_the_middle(shared: Shared) -> None:
    made = import_source("avt_ai_images", shared("votes/avt_ai_images"))
    expected = json.loads(shared("votes/avt_ai_images/expected.json").read_text())
    assert made.ratings is not None
    assert made.ratings.frame["seconds"].median() == expected["rt_median_s"] == 13.5
    assert made.ratings.frame.height == expected["n_ratings"]
    assert made.ratings.frame["participant"].n_unique() == expected["n_raters"]


def test_appeal_and_realism_of_avt_pictures_go_together(shared: Shared) -> None:
    """Spearman .66 over the pictures, all raters."""
    made = import_source("avt_ai_images", shared("images/avt_ai_images"))
    assert made.ratings is not None
    wide = estimate(made.ratings, "mos", question=NONE).frame.pivot("criterion", index="item", values="score")
    assert wide.select(pl.corr("image_appeal", "realism", method="spearman")).item() == pytest.approx(0.66, abs=0.02)


def test_kitov_styles_explain_half_of_what_people_say(shared: Shared) -> None:
    """Shares of the variance of mean z-scores: style 49 %, content 8 %, size 4.5 %, content x style 76 % on all 10,000
    stylisations; this part holds two thirds of the styles, hence the wide tolerance."""
    made = import_source("kitov", shared("images/kitov_style_transfer"))
    assert made.ratings is not None
    assert made.benchmark is not None
    scores = estimate(made.ratings, "zscore-mos", question=NONE, scale="none").frame
    scored = scores.join(made.benchmark.items, on="item")
    total = scored["score"].var(ddof=0)
    for factors, share in (
        (["style"], 0.49),
        (["content"], 0.08),
        (["style_size"], 0.045),
        (["content", "style"], 0.76),
    ):
        between = scored.select(pl.col("score").mean().over(factors)).to_series().var(ddof=0)
        assert between / total == pytest.approx(share, abs=0.05), factors


@pytest.fixture(scope="module")
def agiqa1k(shared: Shared) -> pl.DataFrame:
    """AGIQA-1K's labels as published, one row of the sheet each: image, prompt, mos and the generator."""
    frame = pl.read_csv(shared("images/agiqa_labels/agiqa1k_mos_zscore.csv"))
    return frame.with_columns(model=pl.col("image").str.split("_").list.get(0))


def test_agiqa_1k_has_the_counts_of_its_paper(agiqa1k: pl.DataFrame) -> None:
    assert agiqa1k.height == 1080
    assert dict(agiqa1k.group_by("model").len().iter_rows()) == {"deepai": 720, "dreamStudio": 360}
    styles = agiqa1k.group_by(pl.col("prompt").str.split(", ").list.last()).len()
    # 540 and 540 by design: the sheet names dreamStudio_8_9_1_1 (realistic) twice and dreamStudio_8_5_0_0 (anime) never
    assert dict(styles.iter_rows()) == {"anime style": 539, "realistic style": 541}
    assert agiqa1k["prompt"].n_unique() == 720
    both = agiqa1k.group_by("prompt").agg(pl.col("model").n_unique()).filter(pl.col("model") == 2)
    assert both.height == 360 - 1


def test_agiqa_1k_scores_have_the_published_shape(agiqa1k: pl.DataFrame) -> None:
    mos = agiqa1k["mos"]
    assert (mos.mean(), mos.std()) == pytest.approx((2.5009, 0.8555), abs=5e-5)
    assert (mos.skew(), mos.kurtosis()) == pytest.approx((-0.47, 0.56), abs=5e-3)
    made = agiqa1k.group_by("model").agg(mean=pl.col("mos").mean(), sd=pl.col("mos").std()).sort("model")
    assert made["mean"].to_list() == pytest.approx([2.93, 1.64], abs=5e-3)
    assert made["sd"].to_list() == pytest.approx([0.55, 0.69], abs=5e-3)


def test_agiqa_1ks_second_file_is_another_rating(agiqa1k: pl.DataFrame, shared: Shared) -> None:
    """Whole 22nds, and correlations too low for z-scores of the same ratings: .842, rank .805; within generators .736 and
    .829 (the last with the truncated name read as both rows of the double one)."""
    plain = pl.read_csv(shared("images/agiqa_labels/agiqa1k_AIGC_all.csv"))
    steps = plain["Score"] * 22
    assert (steps - steps.round()).abs().max() < 1e-6
    joined = agiqa1k.join(plain, left_on="image", right_on="Image")
    assert joined.height == 1078
    assert joined.select(pl.corr("mos", "Score")).item() == pytest.approx(0.842, abs=5e-4)
    assert joined.select(pl.corr("mos", "Score", method="spearman")).item() == pytest.approx(0.805, abs=5e-4)
    mended = plain.with_columns(pl.col("Image").replace("dreamStudio_8_9_1_.jpg", "dreamStudio_8_9_1_1.jpg"))
    every = agiqa1k.join(mended, left_on="image", right_on="Image")
    within = every.group_by("model").agg(r=pl.corr("mos", "Score")).sort("model")["r"].to_list()
    assert within == pytest.approx([0.736, 0.829], abs=5e-4)


def test_agiqa_3k_has_the_published_shape(shared: Shared) -> None:
    made = import_source("agiqa3k", shared("images/agiqa_labels"))
    assert made.benchmark is not None
    (scores,) = made.scores
    quality = scores.of_criterion("quality")["score"]
    assert quality.len() == 2982
    assert (quality.mean(), quality.std()) == pytest.approx((2.500, 0.998), abs=5e-4)
    counts = dict(made.benchmark.items.group_by("method").len().iter_rows())
    assert counts == {"sd1.5": 1200, "midjourney": 592, "AttnGAN": 300, "glide": 300, "xl2.2": 300, "DALLE2": 290}
    styles = dict(made.benchmark.items.group_by("style").len().iter_rows())
    assert styles.pop(None) == 1587
    assert len(styles) == 5
    assert all(abs(count - 280) <= 3 for count in styles.values())
