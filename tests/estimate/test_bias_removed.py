from __future__ import annotations

import sys

import numpy as np
import pytest

from paragone.errors import BadConfig, NotConnected
from paragone.estimate.bias_removed import BIAS_REMOVED, bias_removed
from paragone.estimate.incidence import incidence
from paragone.estimate.two_way import two_way


def sparse(opinions, seed: int, n: int, p: int, votes: int):
    """Each item rated by a few participants, chained so that all hang together."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(n), votes)
    who = np.concatenate([rng.choice(p, votes, replace=False) for _ in range(n)])
    item, who = np.r_[item, np.arange(p) % n, np.arange(p) % n], np.r_[who, np.arange(p), (np.arange(p) + 1) % p]
    truth, bias = rng.normal(3, 1, n), rng.normal(0, 0.5, p)
    value = truth[item] + bias[who] + rng.normal(0, 0.3, item.size)
    return opinions(item, who, value, n=n, p=p), truth, bias


@pytest.mark.parametrize(("n", "p"), [(30, 8), (8, 30)], ids=["more items", "more participants"])
def test_least_squares_are_those_of_a_general_solver(opinions, n, p):
    data, _, _ = sparse(opinions, 1, n, p, 3)
    design = np.zeros((data.value.size + 1, n + p))
    rows = np.arange(data.value.size)
    design[rows, data.item], design[rows, n + data.participant] = 1, 1
    design[-1, n:] = 1  # mean bias 0
    expected = np.linalg.lstsq(design, np.append(data.value, 0), rcond=None)[0]
    got = bias_removed(data)
    np.testing.assert_allclose(got.score, expected[:n], atol=1e-9)
    np.testing.assert_allclose(got.notes["participant_bias"], expected[n:], atol=1e-9)


def test_weights_of_cells_are_those_of_a_general_solver(opinions):
    data, _, _ = sparse(opinions, 2, 12, 6, 3)
    table = incidence(data)
    precision = np.random.default_rng(0).uniform(0.5, 4, (6, 12))
    s, b = two_way(table, precision)
    root = np.sqrt(precision[data.participant, data.item])
    design = np.zeros((data.value.size + 1, 18))
    rows = np.arange(data.value.size)
    design[rows, data.item], design[rows, 12 + data.participant] = root, root
    design[-1, 12:] = 1
    expected = np.linalg.lstsq(design, np.append(root * data.value, 0), rcond=None)[0]
    np.testing.assert_allclose(s + table.centre, expected[:12], atol=1e-9)
    np.testing.assert_allclose(b, expected[12:], atol=1e-9)


def test_large_sparse_tables_give_the_same_as_small_dense_ones(opinions, monkeypatch):
    data, _, _ = sparse(opinions, 3, 40, 15, 3)
    dense = bias_removed(data).score
    weights = np.random.default_rng(1).integers(0, 3, (4, 15)).astype(float)
    replicates = BIAS_REMOVED.replicate(data, weights)
    monkeypatch.setattr(sys.modules[incidence.__module__], "_DENSE", 0)
    np.testing.assert_allclose(bias_removed(data).score, dense, atol=1e-10)
    np.testing.assert_allclose(BIAS_REMOVED.replicate(data, weights), replicates, atol=1e-10)


def test_one_pass_is_wrong_in_a_sparse_table_and_least_squares_are_not(opinions):
    """Harsh participants saw one half of the items, kind ones the other; two saw both."""
    item = np.r_[np.tile([0, 1], 4), np.tile([2, 3], 4), [0, 1, 2, 3] * 2]
    who = np.r_[np.repeat([0, 1, 2, 3], 2), np.repeat([4, 5, 6, 7], 2), np.repeat([8, 9], 4)]
    bias = np.r_[-1.0 * np.ones(4), np.ones(4), 0, 0]
    truth = np.array([2.0, 3.0, 2.0, 3.0])
    data = opinions(item, who, truth[item] + bias[who])
    np.testing.assert_allclose(bias_removed(data).score, truth, atol=1e-10)
    assert np.abs(bias_removed(data, solve="one-pass").score - truth).max() > 0.1


def test_it_beats_the_plain_mean_where_biases_are_large(opinions):
    data, truth, _ = sparse(opinions, 4, 60, 20, 4)
    plain = np.bincount(data.item, data.value) / np.bincount(data.item)
    got = bias_removed(data).score
    assert np.corrcoef(got, truth)[0, 1] > np.corrcoef(plain, truth)[0, 1]


def test_groups_that_share_no_rating_are_refused_by_number(opinions):
    data = opinions([0, 0, 1, 1, 2], [0, 1, 2, 3, 2], [1, 2, 3, 4, 5])
    with pytest.raises(NotConnected, match=r"2 groups that share no rating \(smallest: participants 0, 1, items 0\)"):
        bias_removed(data)
    assert np.isfinite(bias_removed(data, solve="one-pass").score).all()


def test_a_replicate_that_falls_apart_is_nan_and_the_others_are_not(opinions):
    data = opinions([0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 2, 3], [1, 2, 3, 4, 5, 6])
    got = BIAS_REMOVED.replicate(data, np.array([[1, 1, 0, 1], [1, 1, 1, 0]], dtype=float))
    assert np.isnan(got[0]).all()
    assert np.isfinite(got[1]).all()


def test_participants_without_ratings_have_no_bias(opinions):
    got = bias_removed(opinions([0, 1, 0, 1], [0, 0, 2, 2], [1, 2, 2, 3], p=4))
    np.testing.assert_allclose(got.notes["participant_bias"], [-0.5, np.nan, 0.5, np.nan])
    assert got.notes["balanced"] is True


def test_no_small_move_of_the_scores_is_more_likely(opinions):
    data, _, _ = sparse(opinions, 5, 10, 6, 3)
    score = bias_removed(data).score
    best = BIAS_REMOVED.likelihood(data, score)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert BIAS_REMOVED.likelihood(data, score + rng.normal(0, 0.01, 10)) < best


def test_another_word_is_refused(opinions):
    with pytest.raises(BadConfig, match="solve = 'twice'"):
        bias_removed(opinions([0, 1], [0, 0], [1, 2]), solve="twice")
