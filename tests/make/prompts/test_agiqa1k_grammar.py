"""AGIQA-1K's prompts and names against its published table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from paragone.make.prompts.agiqa1k import AGIQA1K, agiqa1k_prompts
from paragone.make.prompts.generation import DiffusionModel, Generation, jobs_of
from paragone.make.prompts.grammar import prompts_of
from paragone.tables import read_table


def test_the_published_prompts_and_names_are_made_exactly(shared: Callable[[str], Path]) -> None:
    published = read_table(shared("images/agiqa_labels/agiqa1k_mos_zscore.csv"))
    there = Counter(zip(published["image"], published["prompt"], strict=True))
    made = agiqa1k_prompts()
    ours = Counter(zip(made["image"], made["prompt"], strict=True))
    # The two faults of the published table; nothing else may differ.
    assert ours - there == {("dreamStudio_8_5_0_0.jpg", "alien, using laptop, city, anime style"): 1}
    assert there - ours == {("dreamStudio_8_9_1_1.jpg", "alien, wearing shirt, wild, realistic style"): 1}


def test_there_are_720_and_360_pictures_with_names_of_their_own() -> None:
    made = agiqa1k_prompts()
    assert made["model"].value_counts(sort=True).rows() == [("deepai", 720), ("dreamStudio", 360)]
    assert made["image"].is_unique().all()


@pytest.mark.parametrize(
    ("image", "prompt"),
    [
        ("deepai_5_3_1_1.jpg", "teddy bear, having hamburger, wild, realistic style"),
        ("dreamStudio_6_0_0_0.jpg", "man, having pizza, city, anime style"),  # by the published key: kid
        ("dreamStudio_8_9_0_1.jpg", "alien, wearing shirt, city, realistic style"),
    ],
)
def test_each_model_numbers_its_own_words(image: str, prompt: str) -> None:
    made = agiqa1k_prompts()
    assert dict(zip(made["image"], made["prompt"], strict=True))[image] == prompt


def test_the_second_grammar_is_part_of_the_first() -> None:
    first, second = AGIQA1K["deepai"], AGIQA1K["dreamStudio"]
    for axis in first.axis:
        assert set(second.levels(axis)) <= set(first.levels(axis))


def test_one_grammar_and_two_models_plan_the_whole_set() -> None:
    first, second = AGIQA1K["deepai"], AGIQA1K["dreamStudio"]
    models = {
        "sd2": DiffusionModel(path="weights/sd2"),
        "inpainting": DiffusionModel(
            path="weights/inpainting",
            pipeline="inpainting",
            only={axis: list(second.levels(axis)) for axis in ("main", "second")},
        ),
    }
    jobs = jobs_of(prompts_of(first).frame, Generation(plan="agiqa-1k", model=models))
    assert jobs["prompt"].to_list() == agiqa1k_prompts()["prompt"].to_list()
    assert jobs["seed"].n_unique() == 1080
