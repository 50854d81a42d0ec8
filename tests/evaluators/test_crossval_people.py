"""On real ratings of people: what learners see in pictures beside what is known without looking."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from installed import needed
from paragone.estimate import estimate
from paragone.evaluators import LEARNERS
from paragone.evaluators.entrant import Entrant
from paragone.evaluators.protocol.crossval import crossval
from paragone.evaluators.protocol.leaks import audit
from paragone.evaluators.protocol.validation import CrossValidation
from paragone.features.described import Block, Features
from paragone.features.handcrafted import HANDCRAFTED, handcrafted
from paragone.images import read_image
from paragone.metrics import measure
from paragone.sources import import_source
from paragone.splits import grouped_folds, leave_one_out


def _mean(done: CrossValidation, predictor: str, criterion: str | None = None) -> float:
    rows = done.table.filter(
        (pl.col("predictor") == predictor) & (pl.col("statistic") == "srcc") & pl.col("criterion").eq_missing(criterion)
    )
    return float(rows["mean"][0])


def _noise(items: tuple[str, ...]) -> Features:
    """Features that tell nothing, where no picture is to be had."""
    values = np.random.default_rng(0).standard_normal((len(items), 1)).astype(np.float32)
    blocks = (Block(name="noise", start=0, stop=1, reads=("image",), kind="scalar"),)
    return Features(
        items=items, values=values, blocks=blocks, definition="noise", backbone="none", sha256="", source="a generator"
    )


def test_kitov_on_unseen_contents_the_mean_of_style_and_size_is_a_strong_floor(shared: Callable[[str], Path]) -> None:
    got = import_source("kitov", shared("images/kitov_style_transfer"))
    assert got.benchmark is not None
    assert got.ratings is not None
    people = estimate(got.ratings, "mos")
    factors = got.benchmark.items.drop("image")
    folds = grouped_folds(factors.select("item", level="content"), "content", 10)
    done = crossval(_noise(tuple(factors["item"].sort())), people, folds, factors=factors, replicates=0)
    items = people.frame.select("item", "score").join(factors, on="item")
    values = []
    for fold in folds:
        inside = pl.col("item").is_in(list(fold.test))
        known = items.filter(~inside).group_by("style", "style_size").agg(pl.col("score").mean().alias("said"))
        asked = items.filter(inside).join(known, on=["style", "style_size"], how="left")
        values.append(spearmanr(asked["said"].round(8), asked["score"]).statistic)
    assert _mean(done, "mean of style x style_size", people.criteria[0]) == pytest.approx(np.mean(values), abs=1e-9)
    assert np.mean(values) > 0.7
    assert "mean of method" not in done.table["predictor"].to_list()  # one method made them all: no floor


@pytest.mark.slow
def test_avt_on_an_unseen_generator_the_mean_of_the_prompt_beats_what_is_learned_from_hand_made_features(
    shared: Callable[[str], Path],
) -> None:
    needed("sklearn")
    got = import_source("avt_ai_images", shared("images/avt_ai_images"), own=False)
    assert got.benchmark is not None
    assert got.ratings is not None
    items = got.benchmark.items.drop_nulls("image").sort("item")
    vectors = [handcrafted(read_image(got.benchmark.folder / image)) for image in items["image"]]
    features = Features(
        items=tuple(items["item"]),
        values=np.array(vectors, dtype=np.float32),
        blocks=(Block(name="hand-made", start=0, stop=len(HANDCRAFTED), reads=("image",), kind="scalar"),),
        definition="handcrafted-27",
        backbone="no network",
        sha256="",
        source="colour and gradient statistics",
    )
    people = estimate(got.ratings, "mos")
    metrics = measure(["light", "contrast", "colourfulness", "blur", "si"], got.benchmark, quiet=True)
    factors = items.select("item", "method", prompt="prompt_id")
    folds = leave_one_out(factors.select("item", level="method"), "method")
    entrants = [Entrant(name=name, learner=LEARNERS.get(name)) for name in ("ridge", "svr")]
    done = crossval(features, people, folds, entrants, metrics=metrics, factors=factors)
    n = done.table.filter((pl.col("kind") != "floor") & (pl.col("statistic") == "srcc"))
    assert set(n["n"]) == {89}
    assert set(n["folds"]) == {5}
    for criterion in people.criteria:
        floor = _mean(done, "mean of prompt", criterion)
        assert floor > max(_mean(done, name, criterion) for name in ("ridge", "svr")), criterion
    assert _mean(done, "ridge", "image_appeal") > max(_mean(done, own.name, "image_appeal") for own in metrics)
    levels = dict(factors.select("item", "method").iter_rows())
    for entrant in entrants:
        assert audit(features, people, folds[0], entrant, levels=levels) == []
