"""What votes determine: groups, dominance, degrees and mixing, against counts by hand and closed forms."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.stats.graph import components, degrees, diagnose, strong_components, win_arcs


def arrays(*pairs):
    """(i, j, wins_i, wins_j) of pairs given as (i, j, wins of i, wins of j)."""
    i, j, wins_i, wins_j = np.array(pairs, dtype=float).reshape(-1, 4).T
    return i.astype(np.int64), j.astype(np.int64), wins_i, wins_j


def test_components_are_labelled_largest_first():
    labels = components(7, np.array([0, 2, 3]), np.array([1, 3, 5]))
    assert labels.tolist() == [1, 1, 0, 0, 2, 0, 3]


def test_a_ring_of_wins_is_strong_and_a_row_is_not():
    ring = strong_components(3, np.array([0, 1, 2]), np.array([1, 2, 0]))
    row = strong_components(3, np.array([0, 1]), np.array([1, 2]))
    assert ring.tolist() == [0, 0, 0]
    assert sorted(row.tolist()) == [0, 1, 2]


@given(seed=st.integers(0, 10_000), n=st.integers(2, 9))
@settings(deadline=None)
def test_labels_agree_with_reachability(seed, n):
    rng = np.random.default_rng(seed)
    start, end = rng.integers(0, n, n), rng.integers(0, n, n)
    reach = np.eye(n, dtype=bool)
    reach[start, end] = True
    for _ in range(n):
        reach = reach | (reach @ reach)
    strong = strong_components(n, start, end)
    np.testing.assert_array_equal(strong[:, None] == strong, reach & reach.T)
    both_ways = reach | reach.T
    for _ in range(n):
        both_ways = both_ways | (both_ways @ both_ways)
    weak = components(n, start, end)
    np.testing.assert_array_equal(weak[:, None] == weak, both_ways)


def test_degrees_count_opponents_not_votes():
    assert degrees(4, np.array([0, 0]), np.array([1, 2])).tolist() == [2, 1, 1, 0]


def test_win_arcs_point_from_winner_to_loser():
    winner, loser = win_arcs(*arrays((0, 1, 2, 0), (1, 2, 1, 1)))
    assert sorted(zip(winner.tolist(), loser.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 1)]


def test_a_small_graph_is_described_as_by_hand():
    facts = diagnose(6, *arrays((0, 1, 2, 0), (1, 2, 1, 1), (0, 2, 1, 0), (3, 4, 0, 1)))
    assert facts.component.tolist() == [0, 0, 0, 1, 1, -1]
    assert facts.n_components == 2
    assert facts.n_strong_components == 4
    assert facts.strong_component[1] == facts.strong_component[2]
    assert facts.strong_component[5] == -1
    assert facts.degree.tolist() == [2, 2, 2, 1, 1, 0]
    assert facts.votes_per_pair.tolist() == [2, 2, 1, 1]
    assert facts.unseen.tolist() == [5]
    assert facts.never_losing.tolist() == [0, 4]
    assert facts.never_winning.tolist() == [3]
    assert (facts.n_pairs, facts.n_votes, facts.d_max) == (4, 6.0, 2)
    assert facts.spectral_gap == 0
    assert facts.mixing_time == np.inf


def test_mixing_time_is_the_relaxation_time():
    facts = diagnose(3, *arrays((0, 1, 3, 1), (1, 2, 3, 1)))
    assert facts.mixing_time == pytest.approx(1 / facts.spectral_gap)


def test_a_graph_without_pairs_has_no_gap():
    facts = diagnose(3, *arrays())
    assert facts.n_components == 0
    assert facts.unseen.tolist() == [0, 1, 2]
    assert np.isnan(facts.spectral_gap)
    assert np.isnan(facts.mixing_time)


def test_the_prior_enters_the_gap_alone():
    pairs = arrays((0, 1, 2, 0), (1, 2, 1, 1))
    plain, smoothed = diagnose(3, *pairs), diagnose(3, *pairs, prior=0.5)
    assert smoothed.never_losing.tolist() == plain.never_losing.tolist() == [0]
    assert smoothed.spectral_gap != plain.spectral_gap
    assert smoothed.prior == 0.5


@pytest.mark.parametrize("name", ["wikipedia_bradley_terry", "rank_centrality_exact_bt", "rank_centrality_path3"])
def test_textbook_gaps_come_out(shared, name):
    # Origin: shared/data/votes/textbook/README.md; eigenvalues of the dense walk.
    case = json.loads(shared("votes/textbook/cases.json").read_text(encoding="utf-8"))[name]
    wins = np.array(case["wins_row_over_column"])
    i, j = np.nonzero(np.triu(wins + wins.T))
    facts = diagnose(len(wins), i, j, wins[i, j], wins[j, i])
    expected = case.get("spectral_gap", case.get("rank_centrality_spectral_gap"))
    assert facts.spectral_gap == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "weak", "strong"), [("disconnected", 2, 2), ("undefeated", 1, 2)])
def test_textbook_failures_are_recognised(shared, name, weak, strong):
    case = json.loads(shared("votes/textbook/cases.json").read_text(encoding="utf-8"))[name]
    wins = np.array(case["wins_row_over_column"], dtype=float)
    i, j = np.nonzero(np.triu(wins + wins.T))
    facts = diagnose(len(wins), i, j, wins[i, j], wins[j, i])
    assert (facts.n_components, facts.n_strong_components) == (weak, strong)
