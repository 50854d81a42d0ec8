"""The bill of a plan."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paragone.benchmark import Benchmark
from paragone.design import PairStage, RatingStage, Study, cost, exposures, islands, plan
from paragone.errors import UnknownName

Maker = Callable[..., Benchmark]


def test_the_bill_counts_trials_minutes_and_people(grid_benchmark: Maker) -> None:
    benchmark = grid_benchmark(broken=2)
    stages = [
        PairStage(group=["content", "style"], compare="method", participants=13, trials=24, checks=2),
        RatingStage(participants=3, sessions=2),
    ]
    study = Study(stage=stages, seconds_per_trial=10, kept=0.65)
    bill = cost(plan(benchmark, study), benchmark, study)
    assert bill.frame["sheets"].to_list() == [13, 6]
    assert bill.frame["comparisons"].to_list() == [312, 72]
    assert bill.frame["checks"].to_list() == [26, 0]
    assert bill.frame["trials"].to_list() == [26, 17]
    assert bill.frame["minutes"].to_list() == pytest.approx([26 / 6, 17 / 6])
    assert bill.frame["recruit"].to_list() == [20, 5]
    assert bill.frame["islands"].to_list() == [6, None]
    method_style = bill.exposures.filter(what="method x style").row(0, named=True)
    assert method_style["mean"] == 2 * 312 / 12
    assert "stage 1: 13 sheets, 312 judgements, 26 checks; 26 trials and 4.3 minutes a sheet; invite 20" in bill.text
    assert "all stages together: 6 connected parts" in bill.text
    assert bill.frame["survives"].to_list() == ["proved", None]
    assert (
        "no part falls apart, whichever 1 of 13 sheets are missing (proved: each of the 13 choices was looked at)"
        in (bill.text)
    )


def test_the_bill_says_what_missing_sheets_do_before_anybody_is_paid(grid_benchmark: Maker) -> None:
    benchmark = grid_benchmark(6, 3, 4)
    stage = PairStage(group=["content", "style"], compare="method", participants=40, trials=30, repeats=0)
    study = Study(stage=[stage])
    bill = cost(plan(benchmark, study), benchmark, study)
    cells = bill.exposures.filter(what="method x style").row(0, named=True)
    assert cells["missing"] == 2
    assert cells["spread"] <= cells["worst"] < 0.1
    assert cells["possible"] <= cells["worst"]
    assert f"{100 * cells['worst']:.1f} % with any 2 sheets missing)" in bill.text
    items = bill.exposures.filter(what="item").row(0, named=True)
    # an item shown once too often, on none of the sheets that are missing, is 1 / 31.7 further from the mean
    assert items["possible"] <= items["worst"] <= items["possible"] + 1 / 31


def test_a_factor_may_be_compared_within_its_own_group(grid_benchmark: Maker) -> None:
    benchmark = grid_benchmark(6, 3, 4)
    stage = PairStage(group=["content", "style"], compare="content", participants=40, trials=30, repeats=0)
    study = Study(stage=[stage])
    told = cost(plan(benchmark, study), benchmark, study).exposures["what"].unique().sort().to_list()
    assert told == ["content x style", "item"]


def test_sheets_that_hold_a_plan_together_are_told(grid_benchmark: Maker) -> None:
    benchmark = grid_benchmark()
    study = Study(stage=[PairStage(pairs="any", participants=2, trials=12, repeats=0, shared=0)])
    bill = cost(plan(benchmark, study), benchmark, study)
    assert bill.survival is not None
    assert bill.survival.verdict == "broken"
    assert "a part falls apart without some 1 of 2 sheets (found by looking at every choice)" in bill.text
    alone = Study(stage=[PairStage(pairs="any", participants=1, trials=30, repeats=0, shared=0)])
    told = cost(plan(benchmark, alone), benchmark, alone)
    assert "missing" not in told.text.splitlines()[1]
    assert told.exposures["worst"].to_list() == [None]


def test_an_unknown_factor_has_no_exposure(grid_benchmark: Maker) -> None:
    study = Study(stage=[RatingStage(participants=1)])
    benchmark = grid_benchmark()
    made = plan(benchmark, study)
    with pytest.raises(UnknownName, match="no factor 'sytle'; did you mean 'style'"):
        exposures(made, benchmark, ["sytle"])
    assert islands(made, benchmark) is None
    assert exposures(made, benchmark, ["method"])["shown"].to_list() == [6] * 4
