"""How far a ranking from some of the people agrees with the ranking from all."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from paragone.errors import BadInput, TooFew
from paragone.stats.stability import rank_agreement, stability_curve


def _ratings(seed: int, people: int = 30, items: int = 12, noise: float = 2.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.arange(items) + noise * rng.standard_normal((people, items))


def _means(table: np.ndarray):
    return lambda weights: (weights @ table) / weights.sum(axis=1, keepdims=True)


def test_agreement_is_scipys_spearman_where_every_item_has_a_score() -> None:
    rng = np.random.default_rng(1)
    score = np.round(rng.normal(size=20), 1)  # with ties
    draws = np.round(rng.normal(size=(15, 20)) + score, 1)
    expected = [spearmanr(row, score).statistic for row in draws]
    np.testing.assert_allclose(rank_agreement(draws, score), expected, atol=1e-12)


def test_an_item_without_a_score_shares_the_middle_rank() -> None:
    score = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    missing = np.array([[1.0, 2.0, np.nan, 4.0, 5.0], [np.nan, np.nan, 3.0, 4.0, 5.0]])
    centred = np.array([[-1.5, -0.5, 0.0, 0.5, 1.5], [0.0, 0.0, -1.0, 0.0, 1.0]])
    whole = np.arange(-2.0, 3.0)
    expected = centred @ whole / np.sqrt((centred**2).sum(axis=1) * (whole**2).sum())
    np.testing.assert_allclose(rank_agreement(missing, score), expected, atol=1e-12)


def test_a_row_that_ranks_nothing_has_no_agreement_and_counts_as_none() -> None:
    score = np.arange(4.0)
    assert np.isnan(rank_agreement(np.array([[np.nan] * 4, [1.0] * 4]), score)).all()
    curve = stability_curve(lambda w: np.full((len(w), 4), np.nan), score, 5, [2, 5], replicates=10)
    assert curve.low.tolist() == [0.0, 0.0]
    assert curve.undetermined.tolist() == [10, 10]


def test_more_people_rank_more_alike() -> None:
    table = _ratings(3)
    curve = stability_curve(_means(table), table.mean(axis=0), 30, [2, 5, 10, 30], replicates=300, seed=4)
    assert np.all(np.diff(curve.median) > 0)
    assert np.all(curve.low < curve.median)
    assert curve.low[-1] > 0.8


def test_the_bound_is_the_quantile_of_a_bootstrap_by_participant() -> None:
    table = _ratings(5, people=8)
    curve = stability_curve(_means(table), table.mean(axis=0), 8, [8], replicates=500, seed=11)
    rng = np.random.default_rng(11)
    weights = rng.multinomial(8, np.full(8, 1 / 8), size=500)
    agreed = [spearmanr(w @ table, table.mean(axis=0)).statistic for w in weights]
    assert curve.low[0] == pytest.approx(np.quantile(agreed, 0.025), abs=1e-12)
    assert curve.median[0] == pytest.approx(np.median(agreed), abs=1e-12)


def test_the_same_seed_gives_the_same_curve() -> None:
    table = _ratings(6)
    first, second = (stability_curve(_means(table), table.mean(axis=0), 30, [10], seed=2) for _ in range(2))
    assert first.low.tolist() == second.low.tolist()


def test_what_cannot_be_ranked_is_refused() -> None:
    with pytest.raises(TooFew, match="1 people; a stability curve resamples two or more"):
        stability_curve(_means(_ratings(0)), np.arange(12.0), 1, [1])
    with pytest.raises(TooFew, match="nothing is ranked yet"):
        rank_agreement(np.zeros((2, 3)), np.ones(3))
    with pytest.raises(BadInput, match="do not belong to scores of shape"):
        rank_agreement(np.zeros((2, 3)), np.ones(4))
    with pytest.raises(BadInput, match="sizes >= 1"):
        stability_curve(_means(_ratings(0)), np.arange(12.0), 5, [0])
