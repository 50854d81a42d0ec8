"""Benchmark and Plan: what they refuse, and that writing loses nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from paragone.benchmark import Benchmark
from paragone.errors import BadTable, NotFound, UnknownName
from paragone.plan import Plan


def _benchmark() -> Benchmark:
    items = pl.DataFrame(
        {"item": ["a/x", "b/x"], "image": ["a/x.png", None], "method": ["a", "b"], "content": ["x", "x"]}
    )
    references = pl.DataFrame({"factor": ["content"], "level": ["x"], "image": ["x.png"]})
    return Benchmark(items, references, name="small", criteria=("overall",), licence="CC0", simulated=True)


def test_write_then_read_gives_the_same(tmp_path: Path) -> None:
    made = _benchmark()
    again = Benchmark.read(made.write(tmp_path))
    assert again.items.equals(made.items)
    assert again.references.equals(made.references)
    facts = (again.name, again.criteria, again.licence, again.simulated, again.factors)
    assert facts == ("small", ("overall",), "CC0", True, ("method", "content"))
    assert again.picture("a/x") == tmp_path / "a/x.png"
    assert again.picture("b/x") is None


def test_levels_leave_out_items_without_one() -> None:
    made = Benchmark(pl.DataFrame({"item": ["a", "b"], "m": ["p", None]}), _benchmark().references)
    assert made.levels("m").rows() == [("a", "p")]
    with pytest.raises(UnknownName, match="no factor 'n'; there is m"):
        made.levels("n")
    with pytest.raises(UnknownName, match="no item 'c'"):
        made.picture("c")


def test_items_and_references_stand_once() -> None:
    references = _benchmark().references
    with pytest.raises(BadTable, match="items: item 'a' stands twice"):
        Benchmark(pl.DataFrame({"item": ["a", "a"]}), references)
    with pytest.raises(BadTable, match="references: content 'x' stands twice"):
        Benchmark(pl.DataFrame({"item": ["a"]}), pl.concat([references, references]))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no folder '.*nowhere'"):
        Benchmark.read(tmp_path / "nowhere")
    with pytest.raises(NotFound, match=r"no file '.*benchmark.toml'"):
        Benchmark.read(tmp_path)
    _benchmark().write(tmp_path)
    card = tmp_path / "benchmark.toml"
    card.write_text(card.read_text().replace('["method", "content"]', '["method", "style"]'))
    with pytest.raises(UnknownName, match=r"no factor column in items.csv 'style'"):
        Benchmark.read(tmp_path)


def _trials(**changed: object) -> pl.DataFrame:
    row = {"trial": "t1", "sheet": "s1", "stage": "1", "position": 1, "kind": "main", "left": "a", "right": "b"}
    return pl.DataFrame([{**row, **changed}])


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = Plan(pl.concat([_trials(trial="t2", position=2), _trials()]))
    assert made.frame["trial"].to_list() == ["t1", "t2"]
    assert Plan.read(made.write(tmp_path / "plan.csv")).frame.equals(made.frame)
    assert made.sheets == ["s1"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"right": None}, "trial 't1' needs either left and right, or an item"),
        ({"item": "a"}, "trial 't1' needs either left and right, or an item"),
        ({"kind": "mian"}, "kind 'mian' is not one of main, check"),
        ({"position": 0}, "position '0' is below 1"),
    ],
)
def test_a_trial_that_cannot_be_shown_is_refused(changed: dict[str, object], message: str) -> None:
    with pytest.raises(BadTable, match=message):
        Plan(_trials(**changed))


def test_a_trial_stands_once() -> None:
    with pytest.raises(BadTable, match="trial 't1' stands twice"):
        Plan(pl.concat([_trials(), _trials()]))
