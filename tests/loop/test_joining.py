"""Ids of people and machines: what is bridged, what is left out, what is refused."""

from __future__ import annotations

import polars as pl
import pytest

from paragone.errors import BadInput
from paragone.loop.joining import joined
from paragone.scores import Scores


def scores(name: str, items: list[str], criterion: str | None = None) -> Scores:
    """Scores of these items."""
    frame = pl.DataFrame({"item": items, "score": [float(k) for k in range(len(items))]})
    return Scores(frame.with_columns(criterion=pl.lit(criterion, dtype=pl.String)), name=name)


HUMAN = scores("human", ["img0", "img1", "b/img2"])


def test_equal_ids_are_left_as_they_are() -> None:
    machine = scores("ssim", ["img0", "img1.png"])
    met = joined(HUMAN, [machine])
    assert met.machines == [machine]
    assert met.remarks == []


@pytest.mark.parametrize("ending", [".png", ".JPG", ".webp"])
def test_ids_that_differ_by_a_picture_ending_are_joined_with_a_remark(ending: str) -> None:
    met = joined(HUMAN, [scores("ssim", [f"{name}{ending}" for name in ("img0", "img1", "b/img2")])])
    assert set(met.machines[0].frame["item"]) == {"img0", "img1", "b/img2"}
    assert met.remarks == [f"ssim: 3 items joined without picture endings, 'b/img2{ending}' with 'b/img2' for one"]


def test_endings_on_the_side_of_people_are_bridged_to_people_s_ids() -> None:
    human = scores("human", ["img0.png", "img1.jpg"])
    met = joined(human, [scores("ssim", ["img0", "img1"])])
    assert set(met.machines[0].frame["item"]) == {"img0.png", "img1.jpg"}


def test_ids_that_would_fall_together_without_their_endings_are_not_joined() -> None:
    with pytest.raises(BadInput, match="shares no item"):
        joined(HUMAN, [scores("ssim", ["img0.png", "img0.jpg"])])


def test_a_refusal_shows_two_ids_of_each_side() -> None:
    with pytest.raises(BadInput) as caught:
        joined(HUMAN, [scores("ssim", ["x", "y", "z"])])
    assert caught.value.message == (
        "human shares no item with ssim: human has 'b/img2' and 'img0' (3 in all); ssim has 'x' and 'y' (3 in all); "
        "write the same ids in the column item of both tables"
    )


def test_a_predictor_that_joins_nothing_is_left_out_and_named_where_others_join() -> None:
    met = joined(HUMAN, [scores("ssim", ["img0"]), scores("lost", ["x"])])
    assert [made.name for made in met.machines] == ["ssim"]
    assert met.remarks[0].startswith("lost shares no item with human and is left out: human has 'b/img2' and 'img0'")


def test_predictors_of_other_criteria_are_refused_by_both_names() -> None:
    with pytest.raises(BadInput, match=r"asked about 'style', and ssim scores 'content'; name the criteria alike"):
        joined(scores("human", ["img0"], "style"), [scores("ssim", ["img0"], "content")])
