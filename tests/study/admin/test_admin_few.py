"""Rank Centrality of a few levels, solved for all reweightings at once, is the estimator's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import NotConnected
from paragone.estimate.arrays import Comparisons
from paragone.estimate.rank_centrality import rank_centrality, replicate_rank_centrality
from paragone.study.admin.few import few_levels


def _votes(seed: int, n: int, m: int, people: int, *, ties: bool = False) -> Comparisons:
    rng = np.random.default_rng(seed)
    left = rng.integers(n, size=m)
    right = (left + rng.integers(1, n, size=m)) % n
    truth = rng.normal(size=n) * 2
    outcome = (rng.random(m) < 1 / (1 + np.exp(truth[right] - truth[left]))).astype(np.float64)
    if ties:
        outcome[rng.random(m) < 0.2] = 0.5
    who = rng.integers(people, size=m)
    who[:people] = np.arange(people)
    return Comparisons(n, left, right, outcome, who, np.zeros(m, dtype=np.int64), np.ones(m), np.ones(m))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(10, 120), st.booleans())
def test_it_gives_the_scores_of_the_estimator_wherever_those_exist(seed: int, n: int, m: int, ties: bool) -> None:
    votes = _votes(seed, n, m, 6, ties=ties)
    weights = np.random.default_rng(seed).multinomial(6, np.full(6, 1 / 6), size=30).astype(np.float64)
    try:
        expected = replicate_rank_centrality(votes, weights)
    except NotConnected:  # all of them together cannot be ranked
        return
    np.testing.assert_allclose(few_levels(votes)(weights), expected, atol=1e-9)


def test_weights_of_one_are_the_estimate_itself() -> None:
    votes = _votes(3, 12, 3000, 20)
    np.testing.assert_allclose(few_levels(votes)(np.ones((1, 20)))[0], rank_centrality(votes).score, atol=1e-9)


def test_levels_in_several_groups_have_no_scores_and_unseen_ones_none_of_their_own() -> None:
    left, right = np.array([0, 2, 4]), np.array([1, 3, 5])
    who = np.array([0, 1, 2])
    votes = Comparisons(6, left, right, np.array([1.0, 0.0, 0.5]), who, who * 0, np.ones(3), np.ones(3))
    found = few_levels(votes)(np.array([[1.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert np.isnan(found[0]).all()
    assert np.isnan(found[1][2:]).all()
    assert found[1][0] == pytest.approx(np.log(5) / 2)  # 2.5 wins to 0.5, centred
    assert np.isnan(found[2]).all()
