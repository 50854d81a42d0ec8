"""Choosing references from a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from paragone.errors import BadConfig, BadInput, UnknownName
from paragone.images import write_image
from paragone.make.demo import demo_pictures
from paragone.make.references.cards import Cards
from paragone.make.references.select import RULES, select

Shared = Callable[[str], Path]
KINDS = ("people", "nature", "artificial")


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve pictures between black and white, calm and noisy; every third is of one kind; the darkest is called a."""
    folder, rng = tmp_path_factory.mktemp("pool"), np.random.default_rng(0)
    for place, name in enumerate("abcdefghijkl"):
        picture = place / 11 * 0.8 + 0.2 * (place % 4) / 3 * rng.random((64, 64, 3))
        write_image(picture.astype(np.float32), folder / f"{name}.png")
    rows = [{"factor": "content", "level": name, "category": KINDS[k % 3]} for k, name in enumerate("abcdefghijkl")]
    Cards(pl.DataFrame(rows)).write(folder)
    return folder


@pytest.mark.parametrize("how", sorted(RULES))
def test_two_of_each_kind(pool: Path, how: str) -> None:
    made = select(pool, number=6, how=how, quotas={"category": dict.fromkeys(KINDS, 2)})
    assert made.pool.drop_nulls("order").group_by("category").len()["len"].to_list() == [2, 2, 2]
    assert made.counts.filter(pl.col("wanted") != pl.col("picked")).height == 0
    assert len(set(made.names)) == 6
    assert made.picked["covers"].sum() == 12


def test_what_is_fixed_comes_first_and_says_so(pool: Path) -> None:
    made = select(pool, number=3, fixed=["c", "h"])
    assert made.names[:2] == ["c", "h"]
    assert made.picked["fixed"].to_list() == [True, True, False]
    assert made.picked["why"].to_list() == ["kept by hand", "kept by hand", "farthest from the picks before it"]


def test_k_centre_covers_the_extremes_of_one_property(pool: Path) -> None:
    made = select(pool, number=3, using=["light"])
    row = made.ranges.row(0, named=True)
    assert row["share"] > 0.8
    assert row["low"] - row["pool_low"] + row["pool_high"] - row["high"] == pytest.approx(
        (1 - row["share"]) * (row["pool_high"] - row["pool_low"])
    )
    measure = made.measures.filter(pl.col("measure") == "largest distance").row(0, named=True)
    assert measure["value"] < measure["random_median"]
    assert measure["beaten"] > 0.5


def test_distances_and_nearest_picks_are_those_of_the_standardised_properties(pool: Path) -> None:
    made = select(pool, number=2, using=["light", "contrast"])
    values = made.pool.select("light", "contrast").to_numpy()
    points = (values - values.mean(axis=0)) / values.std(axis=0)
    names = made.pool["picture"].to_list()
    for name, nearest, distance in made.pool.select("picture", "nearest", "distance").iter_rows():
        away = {pick: np.linalg.norm(points[names.index(name)] - points[names.index(pick)]) for pick in made.names}
        assert distance == pytest.approx(min(away.values()))
        assert away[nearest] == pytest.approx(distance)


def test_levels_that_no_quota_names_share_what_is_left(pool: Path) -> None:
    made = select(pool, number=4, quotas={"category": {"people": 1}})
    chosen = made.pool.drop_nulls("order")["category"].to_list()
    assert chosen.count("people") == 1


def test_colour_and_detail_that_no_card_says_serve_as_factors(pool: Path) -> None:
    made = select(pool, number=4, balance=["detail"], quotas={"colour": {"low": 4}})
    assert set(made.pool["computed"]) == {"colour detail"}
    counts = made.counts.filter(pl.col("factor") == "detail")
    there = counts.filter(pl.col("there") > 0)
    assert all(number >= 1 for number in there["picked"])  # no level is passed over while another has several


def test_a_selection_repeats_and_does_not_depend_on_jobs(pool: Path) -> None:
    one, two = (select(pool, number=4, jobs=jobs) for jobs in (1, 2))
    assert one.picked.equals(two.picked)
    assert one.measures.equals(two.measures)


def test_the_whole_pool_can_be_picked(pool: Path) -> None:
    made = select(pool, number=12)
    assert made.ranges["share"].drop_nulls().to_list() == pytest.approx([1.0] * 7)  # all are equally busy
    assert made.radius == 0.0


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"number": 13}, BadInput, "13 pictures asked for, .* holds 12"),
        ({"how": "k-center"}, UnknownName, "no rule of selection 'k-center'; did you mean 'k-centre'"),
        ({"using": ["ligth"]}, UnknownName, "no property 'ligth'; did you mean 'light'"),
        ({"fixed": ["zz"]}, UnknownName, "no picture in the pool 'zz'"),
        ({"fixed": list("abcde")}, BadConfig, "5 pictures are fixed, 4 asked for"),
        ({"using": []}, BadConfig, "at least one property and 20 random picks"),
        ({"balance": ["categry"]}, UnknownName, "no card column 'categry'; did you mean 'category'"),
        (
            {"number": 8, "quotas": {"category": {"people": 5, "animals": 1}}},
            BadConfig,
            r"category: 5 of 'people' asked for, the pool has 4 .*; category: 1 of 'animals' asked for, the pool has 0",
        ),
        ({"quotas": {"category": {"people": 5}}}, BadConfig, "the quotas sum to 5, more than the 4 pictures asked for"),
        ({"quotas": {"category": {"people": -1}}}, BadConfig, "category: a quota below 0"),
        (
            {"fixed": ["a", "d"], "quotas": {"category": {"people": 1}}},
            BadConfig,
            "with 'd' fixed, the quotas of category cannot be met",
        ),
        (
            {"number": 2, "quotas": {"category": {"people": 2}, "level": {"b": 1}}},
            BadConfig,
            "quotas of category and level cannot be met together",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    pool: Path, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said) as caught:
        select(pool, **{"number": 4, **options})
    assert "\n" not in str(caught.value)


def test_shipped_contents_are_chosen_two_of_each_kind_by_their_cards() -> None:
    made = select(demo_pictures() / "contents", number=3, quotas={"category": dict.fromkeys(KINDS, 1)})
    assert sorted(made.pool.drop_nulls("order")["category"]) == sorted(KINDS)
    assert made.picked["card"].str.contains("computed").all()


def test_six_styles_of_twelve_beat_random_ones(shared: Shared) -> None:
    for how in RULES:
        made = select(shared("art/styles"), number=6, how=how, factor="style")
        beaten = made.measures.filter(pl.col("measure") == "mean distance")["beaten"][0]
        assert beaten > 0.8, how
