"""Kappas and alpha: published tables, another library's values, and where they are undefined."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import BadInput
from paragone.stats.kappa import alpha_replicates, cohen_kappa, fleiss_kappa, krippendorff_alpha

# Fleiss 1971 by way of Wikipedia, "Fleiss' kappa": 10 subjects, 14 raters, 5 categories; kappa = 0.210.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def table_of(path: Path) -> np.ndarray:
    with path.open(newline="") as file:
        return np.array([[float(cell) if cell else math.nan for cell in row] for row in csv.reader(file)])


@pytest.mark.parametrize("case", ["kappa_20_5_10_15", "kappa_45_15_25_15", "kappa_25_35_5_35"])
def test_kappa_its_error_and_its_interval_equal_statsmodels(case: str, shared: Callable[[str], Path]) -> None:
    known = json.loads(shared("votes/textbook/cases.json").read_text())[case]  # values by statsmodels 0.15.0
    found = cohen_kappa(known["table"])
    assert found.value == pytest.approx(known["kappa"], abs=1e-14)
    assert found.stderr == pytest.approx(known["se_fleiss_cohen_everitt"], abs=1e-14)
    assert (found.low, found.high) == pytest.approx(known["ci95"], abs=1e-12)


def test_kappa_is_undefined_but_raw_agreement_stands_when_all_answers_are_the_same(
    shared: Callable[[str], Path],
) -> None:
    table = json.loads(shared("votes/textbook/cases.json").read_text())["kappa_degenerate"]["table"]
    found = cohen_kappa(table)
    assert math.isnan(found.value)
    assert math.isnan(found.stderr)
    assert found.agreement == 1.0
    assert found.n == 10
    assert "all answers are the same" in found.note


def test_weighted_kappa_equals_statsmodels() -> None:
    # statsmodels 0.15.0, cohens_kappa(table, wt=...).kappa and .std_kappa
    table = [[20, 5, 2], [10, 15, 4], [1, 3, 9]]
    linear, quadratic = cohen_kappa(table, weights="linear"), cohen_kappa(table, weights="quadratic")
    assert (linear.value, linear.stderr) == pytest.approx((0.5007751937984496, 0.08788650767383312), abs=1e-13)
    assert (quadratic.value, quadratic.stderr) == pytest.approx((0.5723660226029894, 0.09539805558487396), abs=1e-13)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=9, max_size=9), st.permutations([0, 1, 2]))
def test_renaming_the_categories_does_not_move_kappa(cells: list[int], order: list[int]) -> None:
    table = np.array(cells, dtype=float).reshape(3, 3)
    a, b = cohen_kappa(table), cohen_kappa(table[np.ix_(order, order)])
    assert a.value == pytest.approx(b.value, abs=1e-12, nan_ok=True)
    assert a.stderr == pytest.approx(b.stderr, abs=1e-12, nan_ok=True)


def test_analytic_error_of_kappa_is_what_simulation_shows() -> None:
    p = np.array([[0.4, 0.1], [0.2, 0.3]])
    rng = np.random.default_rng(5)
    kappas = [cohen_kappa(rng.multinomial(400, p.ravel()).reshape(2, 2)).value for _ in range(2000)]
    assert np.std(kappas) == pytest.approx(cohen_kappa(400 * p).stderr, rel=0.05)  # 2,000 draws: sd known to 1.6 %


def test_kappa_refuses_tables_that_are_not_square_or_negative() -> None:
    with pytest.raises(BadInput, match=r"square table.*\(2, 3\)"):
        cohen_kappa([[1, 2, 3], [4, 5, 6]])
    with pytest.raises(BadInput, match="counts >= 0"):
        cohen_kappa([[1, -2], [3, 4]])
    with pytest.raises(BadInput, match="no kappa weights 'cubic'"):
        cohen_kappa([[1, 2], [3, 4]], weights="cubic")  # type: ignore[arg-type]


def test_fleiss_kappa_equals_the_published_example() -> None:
    found = fleiss_kappa(FLEISS)
    assert found.value == pytest.approx(0.20993070442195522, abs=1e-14)  # statsmodels 0.15.0 fleiss_kappa
    assert found.agreement == pytest.approx(0.378, abs=5e-4)
    assert found.expected == pytest.approx(0.213, abs=5e-4)
    assert found.low < found.value < found.high


def test_fleiss_kappa_is_undefined_when_all_agree_on_one_category_and_refuses_ragged_rows() -> None:
    unanimous = fleiss_kappa([[5, 0], [5, 0], [5, 0]])
    assert math.isnan(unanimous.value)
    assert unanimous.agreement == 1.0
    with pytest.raises(BadInput, match=r"same number of answers.*3 to 4"):
        fleiss_kappa([[2, 1], [2, 2]])


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_equals_krippendorffs_published_example(metric: str, shared: Callable[[str], Path]) -> None:
    # .743/.815/.849/.797 as published; ten digits by krippendorff 0.9.0
    known = json.loads(shared("votes/evalica/expected.json").read_text())["codings_krippendorff_alpha"]
    found = krippendorff_alpha(table_of(shared("votes/evalica/codings.csv")), metric=metric)  # type: ignore[arg-type]
    assert found.value == pytest.approx(known[metric], abs=1e-10)
    assert found.n == 11  # the last unit has one answer


@pytest.mark.parametrize("name", ["nflx_public", "nflx_public_last4random"])
@pytest.mark.parametrize("metric", ["ordinal", "interval"])
def test_alpha_of_real_ratings_equals_another_library(name: str, metric: str, shared: Callable[[str], Path]) -> None:
    known = json.loads(shared(f"votes/nflx_public/{name}.expected.json").read_text())["krippendorff_alpha"]
    with shared(f"votes/nflx_public/{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    raters, items = (sorted({row[key] for row in rows}) for key in ("rater", "item"))
    table = np.full((len(raters), len(items)), math.nan)
    for row in rows:
        table[raters.index(row["rater"]), items.index(row["item"])] = float(row["score"])
    assert krippendorff_alpha(table, metric=metric).value == pytest.approx(known[metric], abs=1e-10)  # type: ignore[arg-type]


def test_alpha_is_undefined_when_all_agree_or_nobody_shares_a_unit() -> None:
    same = krippendorff_alpha([[3, 3, 3], [3, 3, math.nan]], metric="ordinal")
    assert math.isnan(same.value)
    assert same.n == 2
    assert "all answers are the same" in same.note
    alone = krippendorff_alpha([[1, math.nan], [math.nan, 2]])
    assert math.isnan(alone.value)
    assert "two answers" in alone.note


def test_alpha_of_two_who_always_differ_is_negative_and_of_twins_is_one() -> None:
    assert krippendorff_alpha([[1, 2, 1, 2], [2, 1, 2, 1]]).value == pytest.approx(-0.75)
    assert krippendorff_alpha([[1, 2, 1, 2], [1, 2, 1, 2]]).value == 1.0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.floats(0.1, 50), st.floats(-20, 20))
def test_alpha_keeps_under_the_changes_its_scale_allows(seed: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    data = rng.integers(1, 6, size=(4, 12)).astype(float)
    data[rng.random(data.shape) < 0.2] = math.nan
    moved, bent = scale * data + shift, np.exp(data)
    pairs = [("nominal", bent), ("ordinal", bent), ("interval", moved), ("ratio", scale * data)]
    for metric, other in pairs:
        a, b = krippendorff_alpha(data, metric=metric), krippendorff_alpha(other, metric=metric)  # type: ignore[arg-type]
        assert a.value == pytest.approx(b.value, abs=1e-9, nan_ok=True)


def test_a_rater_drawn_twice_is_never_compared_with_itself() -> None:
    value, unit, rater = [1, 2, 2, 1, 1, 2], [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]
    one, two, alone = alpha_replicates(
        value, unit, rater, metric="nominal", weights=[[1, 1], [3, 3], [2, 0]]
    ).disagreement
    assert one == two == 1.0  # the two always differ, however often they are drawn
    assert math.isnan(alone)


def test_alpha_says_what_it_cannot_read() -> None:
    with pytest.raises(BadInput, match="no alpha metric 'circular'"):
        krippendorff_alpha([[1, 2], [1, 2]], metric="circular")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="ratio metric needs answers >= 0"):
        krippendorff_alpha([[-1, 2], [1, 2]], metric="ratio")
    with pytest.raises(BadInput, match="matrix"):
        krippendorff_alpha([1, 2, 3])
    with pytest.raises(BadInput, match="one length"):
        alpha_replicates([1, 2], [0], [0], metric="nominal")
    with pytest.raises(BadInput, match="finite"):
        alpha_replicates([1, math.inf], [0, 0], [0, 1], metric="nominal")
