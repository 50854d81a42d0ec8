"""Tests between predictors: equal ones are not told apart, better ones are, families are adjusted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from paragone.agreement import compare
from paragone.scores import Agreement, Scores
from paragone.stats.correlation import pearson, spearman
from paragone.stats.dependent import williams_t
from paragone.stats.holm import holm


def scores(name: str, values: np.ndarray, *, half: float | None = None, first: int = 0) -> Scores:
    frame = pl.DataFrame({"item": [f"i{k + first:03d}" for k in range(len(values))], "score": values})
    if half is not None:
        frame = frame.with_columns(low=pl.col("score") - half, high=pl.col("score") + half)
    return Scores(frame, name=name, better="higher")


def made(seed: int = 0, n: int = 80, noise: tuple[float, ...] = (0.3, 1.5, 1.5)) -> tuple[Scores, list[Scores]]:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    return scores("human", y, half=0.4), [
        scores(f"m{k}", y + size * rng.normal(size=n)) for k, size in enumerate(noise)
    ]


def test_of(found: Agreement, statistic: str, method: str, a: str, b: str) -> dict[str, object]:
    frame = found.tests.filter(
        (pl.col("statistic") == statistic)
        & (pl.col("method") == method)
        & (pl.col("predictor_a") == a)
        & (pl.col("predictor_b") == b)
    )
    assert frame.height == 1
    return frame.row(0, named=True)


test_of.__test__ = False  # type: ignore[attr-defined]


def test_a_better_predictor_is_found_by_every_method_and_equal_ones_are_not() -> None:
    human, machines = made(6)
    found = compare(human, *machines, replicates=400)
    for statistic, method in (
        ("srcc", "williams"),
        ("srcc", "bootstrap"),
        ("krcc", "bootstrap"),
        ("plcc_raw", "williams"),
        ("plcc", "williams"),
        ("plcc", "p1401-z"),
        ("rmse", "p1401-f"),
        ("rmse", "bootstrap"),
        ("outlier_ratio", "bootstrap"),
        ("pairwise_accuracy", "bootstrap"),
        ("auc_better", "bootstrap"),
    ):
        better, equal = (
            test_of(found, statistic, method, "m0", "m1"),
            test_of(found, statistic, method, "m1", "m2"),
        )
        assert better["p_holm"] < 0.05, (statistic, method)  # type: ignore[operator]
        assert equal["p"] > 0.05, (statistic, method)  # type: ignore[operator]
        worse_is_larger = statistic in ("rmse", "outlier_ratio")
        assert (better["difference"] < 0) == worse_is_larger  # type: ignore[operator]
        assert better["n"] == 80


def test_williams_rows_are_the_kernels_answer_on_ranks() -> None:
    human, machines = made(1)
    found = compare(human, *machines[:2], statistics=["srcc", "plcc_raw"], replicates=0)
    y, a, b = (s.frame["score"].to_numpy() for s in (human, *machines[:2]))
    for statistic, r in (("srcc", spearman), ("plcc_raw", pearson)):
        direct = williams_t(r(a, y).value, r(b, y).value, r(a, b).value, 80)
        one = test_of(found, statistic, "williams", "m0", "m1")
        assert one["p"] == pytest.approx(direct.p)
        assert (one["low"], one["high"]) == pytest.approx((direct.low, direct.high))
    assert set(found.tests["method"]) == {"williams"}


def test_families_are_the_pairs_of_one_statistic_and_method() -> None:
    human, machines = made(2, noise=(0.5, 0.8, 1.1, 1.4))
    found = compare(human, *machines, statistics=["srcc", "rmse"], replicates=100)
    for (_, _), family in found.tests.group_by("statistic", "method"):
        assert family.height == 6
        assert family["p_holm"].to_numpy() == pytest.approx(holm(family["p"].to_numpy()))


def test_predictors_on_different_items_are_compared_where_they_overlap() -> None:
    rng = np.random.default_rng(3)
    y = rng.normal(size=60)
    human = scores("human", y, half=0.4)
    early = scores("early", y[:40] + rng.normal(size=40))
    late = scores("late", y[20:] + rng.normal(size=40), first=20)
    found = compare(human, early, late, statistics=["srcc"], replicates=100)
    one = test_of(found, "srcc", "williams", "early", "late")
    assert one["n"] == 20
    a, b = early.frame["score"].to_numpy()[20:], late.frame["score"].to_numpy()[:20]
    assert one["difference"] == pytest.approx(spearman(a, y[20:40]).value - spearman(b, y[20:40]).value)
    assert test_of(found, "srcc", "bootstrap", "early", "late")["n"] == 20


def test_a_predictor_against_its_copy_differs_by_nothing() -> None:
    human, machines = made(4)
    twin = Scores(machines[0].frame, name="twin", better="higher")
    found = compare(human, machines[0], twin, replicates=50)
    assert (found.tests["difference"] == 0).all()
    assert (found.tests["p"].fill_null(1.0) == 1.0).all()


def test_one_predictor_has_no_tests() -> None:
    human, machines = made(5)
    found = compare(human, machines[0], statistics=["srcc"], replicates=20)
    assert found.tests.height == 0
    assert "p_holm" in found.tests.columns


@pytest.mark.slow
def test_the_paired_bootstrap_holds_its_level() -> None:
    hits = []
    for seed in range(150):
        human, machines = made(seed, n=60, noise=(1.0, 1.0))
        found = compare(human, *machines, statistics=["srcc"], replicates=200)
        hits.append(test_of(found, "srcc", "bootstrap", "m0", "m1")["p"] < 0.05)  # type: ignore[operator]
    assert np.mean(hits) <= 0.1  # nominal .05, standard error .018


def test_four_common_items_or_four_clusters_are_not_tested_and_say_so() -> None:
    human, machines = made(5, n=30, noise=(0.5, 1.0))
    ids = human.frame["item"].to_list()
    few = [Scores(m.frame.head(4), name=m.name) for m in machines]
    found = compare(human, *few, replicates=50)
    assert found.tests.height == 0
    assert found.notes["untested"][0]["why"] == "4 common items, 5 are needed"
    cluster = pl.DataFrame({"item": ids, "content": [k % 4 for k in range(30)]})
    found = compare(human, *machines, cluster=cluster, replicates=50)
    assert found.tests.height == 0
    assert found.notes["untested"][0]["why"] == "4 clusters, 5 are needed"
    assert compare(human, *machines, replicates=50).notes["untested"] == []


def test_a_perfect_correlation_has_no_p_value_of_williams_and_equal_ones_no_interval_of_no_width() -> None:
    y = [float(k) for k in range(8)]
    items = [f"i{k}" for k in range(8)]
    human = Scores(pl.DataFrame({"item": items, "score": y}), name="human")
    perfect = Scores(pl.DataFrame({"item": items, "score": y}), name="perfect")
    again = Scores(pl.DataFrame({"item": items, "score": [v**3 for v in y]}), name="again")
    near = Scores(pl.DataFrame({"item": items, "score": [1.0, 0.0, *y[2:]]}), name="near")
    tests = compare(human, perfect, again, near, statistics=("srcc",), replicates=200).tests
    assert not (tests["low"] == tests["high"]).any()
    williams = tests.filter((pl.col("method") == "williams") & (pl.col("predictor_b") == "near"))
    assert williams["p"].null_count() == williams.height == 2
    same = tests.filter((pl.col("predictor_a") == "perfect") & (pl.col("predictor_b") == "again"))
    assert same["difference"].to_list() == [0.0, 0.0]
    assert (same["p"] == 1.0).all()
