"""Whole levels are held out; where there are few ways to do so, all of them are looked at."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from paragone.errors import BadConfig, BadTable, TooFew
from paragone.splits import Fold, grouped_folds, grouped_partitions, leave_one_out


def _levels(sizes: dict[str, int]) -> pl.DataFrame:
    rows = [(f"{level}-{at:03}", level) for level, size in sizes.items() for at in range(size)]
    return pl.DataFrame(rows, schema=["item", "level"], orient="row")


def _agiqa() -> pl.DataFrame:
    """The labels of AGIQA-1K: nine with 100 pictures, three with 60."""
    return _levels({f"label {at:02}": 100 if at < 9 else 60 for at in range(12)})


def _sound(fold: Fold, frame: pl.DataFrame) -> None:
    inside = frame.filter(pl.col("level").is_in(list(fold.levels)))["item"].to_list()
    assert list(fold.test) == sorted(inside)
    assert not set(fold.test) & set(fold.train)
    assert set(fold.test) | set(fold.train) == set(frame.drop_nulls()["item"])
    assert fold.train == tuple(sorted(fold.train))


def test_each_level_is_held_out_once() -> None:
    frame = _levels({"b": 3, "a": 2, "c": 4})
    folds = leave_one_out(frame, "method")
    assert [fold.name for fold in folds] == ["method=a", "method=b", "method=c"]
    for fold in folds:
        _sound(fold, frame)
    assert sorted(item for fold in folds for item in fold.test) == sorted(frame["item"])


def test_items_without_a_level_are_named_and_left_out() -> None:
    frame = pl.concat([_levels({"a": 2, "b": 2, "c": 2}), pl.DataFrame({"item": ["photo"], "level": [None]})])
    folds = leave_one_out(frame, "method")
    assert all(fold.left_out == ("photo",) and "photo" not in fold.train + fold.test for fold in folds)


def test_the_order_of_the_rows_changes_nothing() -> None:
    frame = _levels({"a": 3, "b": 3, "c": 3, "d": 3})
    mixed = frame.sample(fraction=1.0, shuffle=True, seed=1)
    assert leave_one_out(frame, "x") == leave_one_out(mixed, "x")
    assert grouped_folds(frame, "x", 2, seed=3) == grouped_folds(mixed, "x", 2, seed=3)


def test_grouped_folds_hold_out_every_item_once_in_even_parts() -> None:
    frame = _levels({f"l{at}": 5 + at % 3 for at in range(10)})
    folds = grouped_folds(frame, "prompt", 4, seed=1)
    for fold in folds:
        _sound(fold, frame)
    assert sorted(item for fold in folds for item in fold.test) == sorted(frame["item"])
    sizes = [len(fold.test) for fold in folds]
    assert max(sizes) - min(sizes) <= 7
    assert folds == grouped_folds(frame, "prompt", 4, seed=1)
    assert any(folds != grouped_folds(frame, "prompt", 4, seed=seed) for seed in range(2, 6))


def test_two_of_twelve_labels_are_held_out_in_66_ways() -> None:
    found = grouped_partitions(_agiqa(), "label")
    assert (found.enumerated, found.possible, len(found.folds)) == (True, 66, 66)
    assert [fold.levels for fold in found.folds] == list(itertools.combinations(sorted({*_agiqa()["level"]}), 2))
    for fold in found.folds:
        _sound(fold, _agiqa())


def test_counted_by_pictures_agiqa_has_63_test_sets() -> None:
    # 216 +- 20 of 1,080 pictures: two of the nine labels with 100 (36), or one of them and two of the three with 60 (27)
    found = grouped_partitions(_agiqa(), "label", by="items", tolerance=20)
    assert (found.enumerated, found.possible, len(found.folds)) == (True, 63, 63)
    assert sorted({len(fold.test) for fold in found.folds}) == [200, 220]
    assert sum(len(fold.levels) == 2 for fold in found.folds) == 36


def test_the_real_labels_of_agiqa_give_the_same_numbers(shared: Callable[[str], Path]) -> None:
    table = pl.read_csv(shared("images/agiqa_labels/agiqa1k_mos_zscore.csv"))
    rows = table.unique("image").select(
        item="image", level=pl.col("prompt").str.split(",").list.first().str.strip_chars()
    )
    assert rows["level"].n_unique() == 12
    assert grouped_partitions(rows, "label").possible == 66
    assert grouped_partitions(rows, "label", by="items", tolerance=20).possible == 63


def test_many_sets_are_drawn_without_repetition_and_by_seed() -> None:
    frame = _levels({f"l{at:02}": 1 + at % 4 for at in range(30)})
    found = grouped_partitions(frame, "prompt", most=200, seed=5)
    assert (found.enumerated, found.possible) == (False, math.comb(30, 6))
    assert len({fold.levels for fold in found.folds}) == 200
    assert found == grouped_partitions(frame, "prompt", most=200, seed=5)
    assert found != grouped_partitions(frame, "prompt", most=200, seed=6)
    by_items = grouped_partitions(frame, "prompt", by="items", most=50, seed=5)
    assert all(abs(len(fold.test) - 0.2 * frame.height) <= 0.02 * frame.height for fold in by_items.folds)


def test_every_set_has_the_same_chance_to_be_drawn() -> None:
    frame = _levels({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6})
    possible = grouped_partitions(frame, "x", share=0.4, by="items", tolerance=2)
    assert possible.enumerated
    counts = dict.fromkeys((fold.levels for fold in possible.folds), 0)
    for seed in range(1500):
        counts[
            grouped_partitions(frame, "x", share=0.4, by="items", tolerance=2, most=1, seed=seed).folds[0].levels
        ] += 1
    expected = 1500 / len(counts)
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_square < len(counts) - 1 + 4.0 * math.sqrt(2.0 * (len(counts) - 1))  # four standard deviations


def test_what_cannot_be_held_out_is_refused() -> None:
    three = _levels({"a": 2, "b": 2, "c": 2})
    with pytest.raises(TooFew, match="method has 2 levels; 3 or more are needed to hold out whole ones"):
        leave_one_out(_levels({"a": 2, "b": 2}), "method")
    with pytest.raises(BadConfig, match="4 folds of 3 levels of method; give from 2 to 3"):
        grouped_folds(three, "method", 4)
    with pytest.raises(BadConfig, match=r"a share of 1\.0 to hold out is not between 0 and 1"):
        grouped_partitions(three, "method", share=1.0)
    with pytest.raises(BadConfig, match="most = 0 and tolerance = None"):
        grouped_partitions(three, "method", most=0)
    with pytest.raises(TooFew, match="no set of levels of method holds between 3 and 3 of 6 items"):
        grouped_partitions(three, "method", share=0.5, by="items", tolerance=0)
    with pytest.raises(BadTable, match="levels of method: item 'a-000' stands twice"):
        leave_one_out(pl.concat([three, three]), "method")
    with pytest.raises(BadTable, match="levels of method: no column 'level'"):
        leave_one_out(three.drop("level"), "method")


def test_a_share_near_one_still_leaves_something_to_learn_from() -> None:
    found = grouped_partitions(_levels({"a": 2, "b": 2, "c": 2}), "x", share=0.95)
    assert all(fold.train for fold in found.folds)
