"""Replicates of pairwise models: what weights must be, and what a replicate leaves out."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.errors import BadInput, NotConnected, NotConverged
from paragone.estimate.bootstrap_pairs import under_weights


def shares(edges, start):
    """A stand-in for a model: each item's share of its votes; says where it was told to start."""
    wins = np.bincount(edges.i, edges.wins_i, minlength=edges.n) + np.bincount(edges.j, edges.wins_j, minlength=edges.n)
    votes = np.bincount(edges.i, edges.votes, minlength=edges.n) + np.bincount(edges.j, edges.votes, minlength=edges.n)
    return np.where(votes > 0, wins / np.maximum(votes, 1), np.nan)


def test_each_row_is_the_model_on_the_reweighted_votes(comparisons):
    votes = comparisons([0, 1, 0], [1, 2, 2], [1, 1, 0.5], participant=[0, 1, 2])
    rows = under_weights(votes, np.array([[1, 1, 1], [2, 0, 1]]), shares, strongly=False)
    np.testing.assert_allclose(rows, [[0.75, 0.5, 0.25], [2.5 / 3, 0.0, 0.5]])


def test_every_replicate_starts_from_the_full_sample(comparisons):
    starts = []

    def watch(edges, start):
        starts.append(start)
        return shares(edges, start)

    votes = comparisons([0, 0], [1, 1], participant=[0, 1])
    under_weights(votes, np.array([[1, 1], [2, 0]]), watch, strongly=False)
    assert starts[0] is None
    assert [start.tolist() for start in starts[1:]] == [[1.0, 0.0]] * 2


def test_people_without_a_vote_may_have_a_weight(comparisons):
    votes = comparisons([0, 0], [1, 1], participant=[0, 1])
    rows = under_weights(votes, np.ones((1, 5)), shares, strongly=False)
    np.testing.assert_array_equal(rows, [[1.0, 0.0]])


def test_a_replicate_in_pieces_or_without_convergence_is_a_row_of_nan(comparisons):
    def stubborn(edges, start):
        if start is not None and edges.votes.sum() > 3:
            raise NotConverged("stand-in: no answer; use fewer votes")
        return shares(edges, start)

    votes = comparisons([0, 1, 2], [1, 2, 3], participant=[0, 1, 0])
    rows = under_weights(votes, np.array([[1, 0], [2, 2], [1, 1], [0, 0]]), stubborn, strongly=False)
    assert np.isnan(rows).all(axis=1).tolist() == [True, True, False, True]


def test_a_full_sample_in_pieces_is_refused(comparisons):
    with pytest.raises(NotConnected, match="items fall into 2 groups"):
        under_weights(comparisons([0, 2], [1, 3]), np.ones((1, 1)), shares, strongly=False)


@pytest.mark.parametrize("weights", [np.ones((2, 1)), np.ones(2), np.array([[1.0, -1.0]]), np.array([[1.0, np.nan]])])
def test_weights_that_do_not_fit_the_people_are_refused(comparisons, weights):
    votes = comparisons([0, 0], [1, 1], participant=[0, 1])
    with pytest.raises(BadInput, match=r"give \(replicates, 2\) numbers >= 0, a column a participant"):
        under_weights(votes, weights, shares, strongly=False)
