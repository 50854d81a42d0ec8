"""Intervals over held-out levels hold the truth as often as they say, and groups count as their levels do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from paragone.evaluators.protocol.contests import contests, relative_gain
from paragone.evaluators.protocol.judged import Court, Foretold, expanded_level, fold_mean
from paragone.stats.correlation import kendall_replicates
from paragone.stats.statistic import Statistic


def _court(rng: np.random.Generator, levels: int, each: int, **changed: Any) -> tuple[Court, Foretold, Foretold]:
    """Two equally good predictors; levels shift people's scores and predictions."""
    level = np.repeat(np.arange(levels), each)
    n = len(level)
    y = rng.standard_normal(levels)[level] + rng.standard_normal(n)
    given: dict[str, Any] = {
        "criterion": None,
        "items": tuple(f"i{at}" for at in range(n)),
        "fold": level,
        "folds": tuple(f"f{at}" for at in range(levels)),
        "y": y,
        "level": level,
        "group": np.full(n, -1),
        "within": frozenset(),
        "replicates": 300,
        "seed": 1,
    } | changed
    nothing = np.full(n, np.nan)
    said = [0.5 * y + 0.7 * rng.standard_normal(levels)[level] + rng.standard_normal(n) for _ in range(2)]
    return (
        Court(**given),
        Foretold("a", "learner", said[0], nothing, nothing),
        Foretold("b", "metric", said[1], nothing, nothing),
    )


def test_tau_by_pairs_of_levels_equals_tau_by_pairs_of_items() -> None:
    court, a, _ = _court(np.random.default_rng(0), 6, 7)
    rounded = Foretold("a", "learner", np.round(a.score, 1), a.low, a.high)  # with ties
    np.testing.assert_allclose(
        court.draws(rounded, "krcc"), kendall_replicates(rounded.x, court.y, court.weights[:, court.level]), atol=1e-12
    )


def test_groups_that_span_levels_and_groups_inside_a_level_give_the_plain_mean() -> None:
    for group in (np.tile(np.arange(8), 6), np.repeat(np.arange(12), 4)):
        court, a, _ = _court(np.random.default_rng(2), 6, 8, group=group, within=frozenset({"g"}))
        for statistic, rival in (("srcc", spearmanr), ("krcc", kendalltau)):
            found, groups = court.inside(a, statistic)
            inside = [rival(a.x[group == at], court.y[group == at]).statistic for at in np.unique(group)]
            assert found.value == pytest.approx(np.mean(inside))
            assert groups == len(inside)
            assert found.low < found.value < found.high


def test_fewer_than_five_levels_have_no_interval() -> None:
    court, a, _ = _court(np.random.default_rng(3), 4, 9)
    found = court.pooled(a, "srcc")
    assert found.defined
    assert np.isnan(found.low)
    assert found.note == "4 held-out levels, 5 are needed for an interval"


def test_an_interval_over_few_units_is_expanded_to_students_t() -> None:
    # Hesterberg 2015: alpha / 2 becomes the normal tail at sqrt(n / (n - 1)) t; by hand for n = 5: 3.104, 0.00096
    assert expanded_level(5) == pytest.approx(1 - 2 * 0.000955, abs=2e-5)
    assert expanded_level(10_000) == pytest.approx(0.95, abs=1e-4)


def test_a_mean_over_folds_counts_what_is_undefined() -> None:
    folds = [
        Statistic(0.2, 0, 0, 9),
        Statistic(0.4, 0, 0, 9),
        Statistic.undefined(2, "2 items"),
        Statistic(0.6, 0, 0, 9),
    ]
    over = fold_mean(folds, repeated=False)
    assert over.folds == 3
    assert [over.mean, over.sd] == pytest.approx([0.4, 0.2])
    assert over.note == "1 of 4 folds undefined (2 items), left out of the mean"
    assert np.isnan(fold_mean(folds, repeated=True).low)


def test_a_gain_over_what_may_be_nothing_is_not_given() -> None:
    rng = np.random.default_rng(4)
    unsure = relative_gain(np.full(9, 0.4) + 0.05 * rng.standard_normal(9), 0.05 + 0.3 * rng.standard_normal(9))
    assert unsure["baseline_mean"] > 0
    assert np.isnan(unsure["gain"])
    assert "resamples, so that a share of it says nothing" in unsure["note"]
    sure = relative_gain(np.full(9, 0.6), np.full(9, 0.4) + 0.02 * rng.standard_normal(9))
    assert sure["low"] < sure["gain"] < sure["high"]
    assert sure["gain"] == pytest.approx(0.5, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "each"), [(5, 18), (12, 12)])
def test_intervals_and_tests_over_levels_keep_their_word(levels: int, each: int) -> None:
    rng = np.random.default_rng(5)
    court, a, _ = _court(rng, 4000, each, replicates=1)
    truth = spearmanr(a.x, court.y).statistic
    rounds = 200
    held = false = 0
    for _ in range(rounds):
        court, a, b = _court(rng, levels, each)
        found = court.pooled(a, "srcc")
        held += found.low <= truth <= found.high
        rows = [row for row in contests(court, [a, b]) if row["method"] == "levels" and row["statistic"] == "srcc"]
        false += rows[0]["p"] < 0.05
    assert held / rounds > 0.92  # plain percentiles: 0.90 with five levels; two standard errors of 200 rounds are 0.03
    assert false / rounds < 0.08
