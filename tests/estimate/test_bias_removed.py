from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.stats import t

from paragone.errors import BadConfig, NotConnected
from paragone.estimate.bias_removed import BIAS_REMOVED, bias_removed
from paragone.estimate.freedom import freedom
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


def test_biases_take_up_a_single_item_so_its_error_is_unknown(opinions):
    got = bias_removed(opinions([0, 0, 0], [0, 1, 2], [2, 3, 4]))
    assert got.score.tolist() == [3.0]
    assert np.isnan(got.stderr).all()
    assert got.notes["df"].tolist() == [0]
    assert got.notes["items_without_freedom"] == [0]


@pytest.mark.parametrize("solve", ["least-squares", "one-pass"])
def test_people_of_one_constant_value_each_leave_no_error_to_estimate(opinions, solve):
    item, who = np.tile(np.arange(4), 5), np.repeat(np.arange(5), 4)
    got = bias_removed(opinions(item, who, who + 0.1), solve=solve)
    assert np.isnan(got.stderr).all()
    assert got.notes["df"].tolist() == [0] * 4
    assert got.notes["exact_fit"] is True


def test_an_item_that_only_newcomers_rated_has_no_error(opinions):
    """Two of the three raters of the last item rated nothing else, so the biases take up what they said."""
    data, _, _ = sparse(opinions, 6, 8, 5, 3)
    wider = opinions(
        np.r_[data.item, 8, 8, 8], np.r_[data.participant, 0, 5, 6], np.r_[data.value, 3.0, 1.0, 5.0], n=9, p=7
    )
    got = bias_removed(wider)
    assert np.isnan(got.stderr).tolist() == [False] * 8 + [True]
    assert got.notes["items_without_freedom"] == [8]


@pytest.mark.parametrize(("n", "p"), [(7, 12), (12, 7)], ids=["by items", "by people"])
def test_the_freedom_of_an_item_is_that_of_the_residuals_projection(opinions, n, p):
    data, _, _ = sparse(opinions, 7, n, p, 3)
    more = np.r_[np.arange(data.item.size), 0, 0, 5]  # some rated an item twice or thrice
    data = opinions(data.item[more], data.participant[more], data.value[more], n=n, p=p)
    k = data.value.size
    design = np.zeros((k, n + p))
    design[np.arange(k), data.item], design[np.arange(k), n + data.participant] = 1, 1
    pseudo = np.linalg.pinv(design)
    residual = np.eye(k) - design @ pseudo
    got = freedom(data)
    blocks = [residual[np.ix_(data.item == j, data.item == j)] for j in range(n)]
    np.testing.assert_allclose(got.expected, [np.trace(block) for block in blocks], atol=1e-9)
    np.testing.assert_allclose(got.df, [np.trace(b) ** 2 / np.trace(b @ b) for b in blocks], atol=1e-9)
    assert got.expected.sum() == pytest.approx(k - n - p + 1)
    centred = np.linalg.pinv(np.vstack([design, 1e6 * np.r_[np.zeros(n), np.ones(p)]]))[:n, :k]  # mean bias 0
    np.testing.assert_allclose(got.variance, (centred**2).sum(axis=1), rtol=1e-6)


def test_a_full_table_has_the_freedom_of_two_way_analysis_of_variance(opinions, monkeypatch):
    item, who = np.tile(np.arange(6), 9), np.repeat(np.arange(9), 6)
    data = opinions(item, who, np.random.default_rng(0).normal(size=54))
    closed = freedom(data)
    np.testing.assert_allclose(closed.expected, 8 * 5 / 6)
    np.testing.assert_allclose(closed.df, 8)
    monkeypatch.setattr(sys.modules[freedom.__module__], "_full", lambda *_: None)
    for one, other in zip(closed, freedom(data), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_weights_count_as_repeats_and_groups_apart_are_counted_apart(opinions):
    data, _, _ = sparse(opinions, 8, 6, 5, 3)
    twice = np.tile(np.arange(data.value.size), 2)
    copied = opinions(data.item[twice], data.participant[twice], data.value[twice], n=6, p=5)
    weighed = data._replace(weight=2 * data.weight)
    for one, other in zip(freedom(copied), freedom(weighed), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    apart = opinions(
        np.r_[data.item, data.item + 6], np.r_[data.participant, data.participant + 5], np.tile(data.value, 2)
    )
    np.testing.assert_allclose(freedom(apart).expected, np.tile(freedom(data).expected, 2), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p", "votes"), [(2, 6, 4), (30, 12, 3), (10, 40, 4)])
def test_intervals_cover_in_full_and_in_sparse_tables(opinions, n, p, votes):
    rng = np.random.default_rng(0)
    shape, inside = sparse(opinions, 9, n, p, votes)[0], []
    for _ in range(400):
        truth, bias = rng.normal(3, 1, n), rng.normal(0, 0.5, p)
        value = truth[shape.item] + (bias - bias.mean())[shape.participant] + rng.normal(0, 0.3, shape.item.size)
        got = bias_removed(shape._replace(value=value))
        reach = t.ppf(0.975, np.maximum(got.notes["df"], 1e-9)) * got.stderr
        inside.extend((np.abs(got.score - truth) <= reach)[~np.isnan(got.stderr)])
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)


def test_another_word_is_refused(opinions):
    with pytest.raises(BadConfig, match="solve = 'twice'"):
        bias_removed(opinions([0, 1], [0, 0], [1, 2]), solve="twice")
