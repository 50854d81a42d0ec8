"""References in a plan: beside the results, and hidden among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from paragone.benchmark import Benchmark, hidden_reference, shown_reference
from paragone.design import PairStage, RatingStage, Study, plan
from paragone.errors import BadConfig, UnknownName
from paragone.observers import latent_scores, simulate
from paragone.plan import Plan
from paragone.study import collect

Maker = Callable[..., Benchmark]
GROUP = ["content", "style"]


def pictured(benchmark: Benchmark, **levels: list[str]) -> Benchmark:
    """The benchmark with a reference picture of each named level."""
    rows = [
        {"factor": factor, "level": level, "image": f"{level}.png"} for factor in levels for level in levels[factor]
    ]
    return Benchmark(benchmark.items, pl.DataFrame(rows), name="grid", criteria=benchmark.criteria)


def both(benchmark: Benchmark) -> Benchmark:
    return pictured(benchmark, content=["c0", "c1"], style=["s00", "s01", "s02"])


def test_each_side_has_the_references_of_its_item(grid_benchmark: Maker) -> None:
    benchmark = both(grid_benchmark(broken=3))
    stages = [
        PairStage(name="in", group=GROUP, participants=6, trials=12, repeats=0, checks=2),
        PairStage(name="out", pairs="across", group=GROUP, participants=6, trials=12, repeats=0),
    ]
    frame = plan(benchmark, Study(stage=stages)).frame
    assert [name for name in frame.columns if "." in name] == [
        "left.content", "right.content", "left.style", "right.style",
    ]  # fmt: skip
    for row in frame.iter_rows(named=True):
        for side in ("left", "right"):
            content, style = row[side].split("/")[-2:]
            assert (row[f"{side}.content"], row[f"{side}.style"]) == (content, style)
    four = (pl.col("left.content") == pl.col("right.content")) & (pl.col("left.style") == pl.col("right.style"))
    assert frame.filter(pl.col("stage") == "in").select(four.all()).item()
    assert not frame.filter(pl.col("stage") == "out").select(four.any()).item()


def test_references_can_be_chosen_and_some_levels_alone_cannot(grid_benchmark: Maker) -> None:
    """People would be asked how well a content is kept that they do not see."""
    benchmark = pictured(grid_benchmark(), content=["c0", "c1"], style=["s00"])
    stage = PairStage(group=GROUP, participants=4, trials=12, references=["content"])
    frame = plan(benchmark, Study(stage=[stage])).frame
    assert [name for name in frame.columns if "." in name] == ["left.content", "right.content"]
    assert set(frame["left.content"]) == {"c0", "c1"}
    for chosen in (None, ["style"]):
        with pytest.raises(BadConfig, match="style 's01' has no reference picture, and other levels of style have one"):
            plan(benchmark, Study(stage=[PairStage(group=GROUP, participants=4, trials=12, references=chosen)]))
    bare = plan(benchmark, Study(stage=[PairStage(group=GROUP, participants=4, trials=12, references=[])])).frame
    assert not any("." in name for name in bare.columns)


def test_a_broken_version_without_levels_shows_those_of_the_sound_item() -> None:
    items = pl.DataFrame(
        {"item": ["a", "b", "x"], "content": ["c0", "c0", None], "broken_of": [None, None, "b"]},
        schema_overrides={"broken_of": pl.String},
    )
    benchmark = Benchmark(items, pl.DataFrame({"factor": ["content"], "level": ["c0"], "image": ["c0.png"]}))
    stage = PairStage(group=["content"], participants=1, trials=1, repeats=0, shared=0, checks=1)
    frame = plan(benchmark, Study(stage=[stage])).frame
    assert frame["left.content"].to_list() == frame["right.content"].to_list() == ["c0", "c0"]


def test_stages_with_and_without_references_stand_in_one_plan(grid_benchmark: Maker, tmp_path: Path) -> None:
    benchmark = both(grid_benchmark())
    stages = [
        PairStage(name="pairs", group=GROUP, participants=2, trials=12),
        RatingStage(name="rated", participants=2, reference="content"),
        RatingStage(name="bare", participants=2),
    ]
    made = plan(benchmark, Study(stage=stages))
    by = {stage[0]: part for stage, part in made.frame.group_by("stage")}
    assert by["pairs"]["item.content"].null_count() == by["pairs"].height
    assert by["rated"]["item.content"].to_list() == [item.split("/")[1] for item in by["rated"]["item"]]
    assert by["bare"]["item.content"].null_count() == by["bare"].height
    made.write(tmp_path / "plan.csv")
    assert Plan.read(tmp_path / "plan.csv").frame.equals(made.frame)


def test_a_plan_written_before_is_still_read_and_collected(tmp_path: Path) -> None:
    (tmp_path / "plan.csv").write_text(
        "trial,sheet,stage,position,kind,left,right\nt1,one,1,1,main,a,b\nt2,one,1,2,main,b,c\n"
    )
    read = Plan.read(tmp_path / "plan.csv")
    answers = pl.DataFrame({"participant": ["p", "p"], "trial": ["t1", "t2"], "answer": ["left", "tie"]})
    votes = collect(read, answers).votes
    assert votes is not None
    assert votes.frame["choice"].to_list() == ["left", "tie"]


@pytest.mark.parametrize(
    ("stage", "error", "message"),
    [
        (PairStage(participants=2, trials=6, references=["stlye"]), UnknownName, "no factor 'stlye'; did you mean"),
        (PairStage(participants=2, trials=6, references=["method"]), BadConfig, "stage '1': references names 'method'"),
        (
            RatingStage(participants=2, reference="method"),
            BadConfig,
            "reference names 'method', which has no reference",
        ),
        (RatingStage(participants=2, hidden_references="method"), BadConfig, "hidden_references names 'method', which"),
        (RatingStage(participants=2, hidden_references="sort"), UnknownName, "no factor 'sort'"),
    ],
)
def test_references_that_are_not_there_are_refused(
    grid_benchmark: Maker, stage: PairStage | RatingStage, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        plan(both(grid_benchmark()), Study(stage=[stage]))


@pytest.mark.parametrize(("sessions", "items"), [(1, None), (5, None), (2, 6)])
def test_everybody_rates_each_hidden_reference_once(grid_benchmark: Maker, sessions: int, items: int | None) -> None:
    benchmark = both(grid_benchmark())
    stage = RatingStage(participants=4, sessions=sessions, items=items, hidden_references="style", reference="style")
    frame = plan(benchmark, Study(stage=[stage])).frame
    main = frame.filter(pl.col("kind") == "main")
    hidden = main.filter(pl.col("item").str.starts_with("reference:"))
    wanted = [f"reference:style:s{k:02d}" for k in range(3)]
    for _, mine in hidden.group_by("owner"):
        assert mine["item"].sort().to_list() == wanted
    assert (hidden["item.style"] == hidden["item"].str.split(":").list.last()).all()
    rated = main.filter(~pl.col("item").str.starts_with("reference:")).group_by("owner").len()["len"]
    assert rated.unique().to_list() == [24 if items is None else items * sessions]
    lengths = frame.group_by("sheet").len()["len"]
    assert lengths.max() - lengths.min() <= 1


def test_repeats_and_checks_are_never_hidden_references(grid_benchmark: Maker) -> None:
    stage = RatingStage(participants=9, items=3, repeats=3, repeat_distance=2, checks=3, hidden_references="style")
    frame = plan(both(grid_benchmark()), Study(stage=[stage])).frame
    hidden = frame.filter(pl.col("item").str.starts_with("reference:"))
    assert set(hidden["kind"]) <= {"main", "stabilising"}


def test_a_factor_beside_does_not_stand_beside_another_factors_reference(grid_benchmark: Maker) -> None:
    stage = RatingStage(participants=2, reference="content", hidden_references="style")
    frame = plan(both(grid_benchmark()), Study(stage=[stage])).frame
    hidden = pl.col("item").str.starts_with("reference:")
    assert frame.filter(hidden)["item.content"].null_count() == frame.filter(hidden).height
    assert frame.filter(~hidden)["item.content"].null_count() == 0


def test_ids_of_hidden_references_are_read_back_and_must_be_free(grid_benchmark: Maker) -> None:
    assert shown_reference(hidden_reference("style", "a:b")) == ("style", "a:b")
    assert shown_reference("reference/style") is None
    assert shown_reference("references:style:x") is None
    items = pl.DataFrame({"item": ["a", "reference:style:s"], "style": ["s", "s"]})
    clash = Benchmark(items, pl.DataFrame({"factor": ["style"], "level": ["s"], "image": ["s.png"]}))
    stage = RatingStage(participants=2, hidden_references="style")
    with pytest.raises(BadConfig, match="an item is called 'reference:style:s', which is the id of a hidden reference"):
        plan(clash, Study(stage=[stage]))
    odd = Benchmark(
        pl.DataFrame({"item": ["a", "b"], "my:style": ["s", "s"]}),
        pl.DataFrame({"factor": ["my:style"], "level": ["s"], "image": ["s.png"]}),
    )
    with pytest.raises(BadConfig, match="holds a colon"):
        plan(odd, Study(stage=[RatingStage(participants=2, hidden_references="my:style")]))


def test_simulated_people_rate_hidden_references_like_the_best_items(grid_benchmark: Maker) -> None:
    benchmark = both(grid_benchmark())
    made = plan(benchmark, Study(stage=[RatingStage(participants=12, hidden_references="style")]))
    ratings = collect(made, simulate(made, latent_scores(benchmark, seed=1), seed=2)).ratings
    assert ratings is not None
    hidden = pl.col("item").str.starts_with("reference:")
    means = ratings.frame.group_by(hidden.alias("hidden")).agg(pl.col("value").mean()).sort("hidden")["value"]
    assert means[1] > means[0] + 0.5
