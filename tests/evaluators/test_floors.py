"""Floors know the scores of others and nothing of the picture."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crossval_world import World, learner
from paragone.evaluators.entrant import Entrant
from paragone.evaluators.protocol.crossval import crossval
from paragone.evaluators.protocol.floors import Floor, additive, cell_mean, floors_of
from paragone.splits import leave_one_out

LEVELS = {
    "content": {"a": "c1", "b": "c1", "c": "c2", "x": "c1", "y": "c3"},
    "style": {"a": "s1", "b": "s2", "c": "s1", "x": "s1"},
}
Y = np.array([1.0, 3.0, 8.0])


def test_the_constant_is_the_mean_of_the_training_items() -> None:
    said, unseen = cell_mean(["a", "b", "c"], Y, ["x", "y"], LEVELS, ())
    assert (said.tolist(), unseen) == ([4.0, 4.0], 0)


def test_the_mean_of_a_level_falls_back_to_the_mean_of_all() -> None:
    said, unseen = cell_mean(["a", "b", "c"], Y, ["x", "y"], LEVELS, ("content",))
    assert (said.tolist(), unseen) == ([2.0, 4.0], 1)


def test_items_must_agree_in_all_factors_of_a_cell() -> None:
    said, unseen = cell_mean(["a", "b", "c"], Y, ["x", "y"], LEVELS, ("content", "style"))
    assert (said.tolist(), unseen) == ([1.0, 4.0], 1)


def test_equal_means_stay_equal_whatever_the_order_of_their_sum() -> None:
    levels = {"content": {"a": "1", "b": "1", "c": "1", "d": "2", "e": "2", "f": "2", "x": "1", "y": "2"}}
    thirds = np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1])
    assert sum(thirds[:3]) != sum(thirds[3:])
    said, _ = cell_mean(list("abcdef"), thirds, ["x", "y"], levels, ("content",))
    assert said[0] == said[1]


def test_a_sum_of_effects_that_are_all_nothing_is_constant() -> None:
    levels = {name: {item: item[at] for item in ("ap", "aq", "bp", "bq")} for at, name in enumerate(("A", "B"))}
    said, _ = additive(
        ["ap", "aq", "bp", "bq"], np.array([0.1, 0.3, 0.3, 0.1]), ["ap", "bq", "aq"], levels, ("A", "B"), ""
    )
    assert np.ptp(said) == 0


def test_the_floors_of_a_protocol_go_from_the_constant_to_the_sum() -> None:
    assert floors_of(["method", "content", "style"], "content") == [
        Floor("constant", ()),
        Floor("mean of method", ("method",)),
        Floor("mean of style", ("style",)),
        Floor("mean of method x style", ("method", "style")),
        Floor("sum of method + style", ("method", "style"), True),
    ]
    assert [floor.name for floor in floors_of(["generator", "prompt"], "prompt")] == ["constant", "mean of generator"]


def test_a_sum_of_effects_is_found_again_in_an_unbalanced_table() -> None:
    rng = np.random.default_rng(0)
    a, b, c = (dict(zip(names, rng.standard_normal(len(names)), strict=True)) for names in ("uvwx", "pqr", "kl"))
    items = [f"{i}{j}{k}" for i in a for j in b for k in c]
    kept = [item for item in items if (rng.random() < 0.8 and item[2] == "k") or rng.random() < 0.5]
    y = np.array([5.0 + a[i[0]] + b[i[1]] + c[i[2]] for i in kept])
    levels = {name: {item: item[at] for item in [*items, "up?"]} for at, name in enumerate(("A", "B", "C"))}
    said, unseen = additive(kept, y, items, levels, ("A", "B", "C"), "none")
    assert unseen == 0
    np.testing.assert_allclose(said, [5.0 + a[i[0]] + b[i[1]] + c[i[2]] for i in items], atol=1e-10)


def test_an_unseen_level_gets_the_mean_effect_however_the_effects_are_written() -> None:
    levels = {"A": {"a": "1", "b": "2", "x": "3"}}
    said, unseen = additive(["a", "b"], np.array([5.0, 5.0]), ["x"], levels, ("A",), "none")
    assert (said.tolist(), unseen) == ([5.0], 1)


def test_with_whole_methods_held_out_the_additive_floor_is_a_balanced_sum_of_means() -> None:
    world = World()
    folds = leave_one_out(world.levels("method"), "method")
    done = crossval(world.features, world.people, folds, factors=world.factors, replicates=0)
    own = done.predictions.filter((pl.col("predictor") == "sum of content + style") & (pl.col("criterion") == "style"))
    fold = folds[0]
    train = pl.DataFrame({"item": world.items, "y": world.truth["style"]}).join(world.factors, on="item")
    train = train.filter(pl.col("item").is_in(list(fold.train)))
    of_content = dict(train.group_by("content").agg(pl.col("y").mean()).iter_rows())
    of_style = dict(train.group_by("style").agg(pl.col("y").mean()).iter_rows())
    everyone = float(train["y"].mean())  # type: ignore[arg-type]
    for item, said in own.filter(pl.col("fold") == fold.name).select("item", "score").iter_rows():
        _, content, style = item.split("-")
        assert said == pytest.approx(of_content[content] + of_style[style] - everyone)


def test_a_floor_gets_no_value_inside_groups_where_it_knows_only_who_is_left_out() -> None:
    world = World()
    folds = leave_one_out(world.levels("method"), "method")
    done = crossval(
        world.features,
        world.people,
        folds,
        [Entrant(name="ridge", learner=learner())],
        factors=world.factors,
        within=("content", "style"),
        replicates=0,
    )
    floors = done.table.filter(pl.col("kind") == "floor")
    assert floors["within"].null_count() == floors.height
    assert floors["note"].str.contains("knows nothing but which item is held out").all()
    by_content = crossval(
        world.features,
        world.people,
        leave_one_out(world.levels("content"), "content"),
        factors=world.factors,
        within=("content", "style"),
        replicates=0,
    )
    cell = by_content.table.filter((pl.col("predictor") == "mean of method x style") & (pl.col("statistic") == "srcc"))
    assert (cell["within"] > 0.3).all()
