"""Rank Centrality: the anchors' figures, the laws of a random walk, and the rivals' traps."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import BadConfig, NotConnected
from paragone.estimate.rank_centrality import (
    RANK_CENTRALITY,
    RANK_CENTRALITY_PLAIN,
    rank_centrality,
    rank_centrality_plain,
)

KRASULA = ["Caps", "barba", "isabe", "parrots", "redhat"]
HDR_VDC = [
    "Bistro", "Bonfire", "CourtYard", "FishingCloseshot", "GearsOfWar4", "NightStreet", "PUBG_p2", "PorscheCloseUp",
    "RocketLeague", "RushPixar", "ShadowOfTheTombRaider", "Showgirl01", "SmithHammering", "SolLevante_p1",
    "SolLevante_p2", "TrafficLight",
]  # fmt: skip
REAL = [
    *[("evalica", f"evalica/{name}.csv", None, (name,)) for name in ("simple", "food", "llmfao")],
    *[("krasula_sharpening", "krasula_sharpening/votes.csv", name, ("groups", name)) for name in KRASULA],
    *[("hdr_vdc_bright", "hdr_vdc_bright/votes.csv", name, ("groups", name)) for name in HDR_VDC],
    ("pwcmp_tmo", "pwcmp_tmo/votes.csv", None, ("all_votes",)),
]


def share(score):
    """The stationary distribution behind the scores."""
    pi = np.exp(score)
    return pi / pi.sum()


def from_wins(comparisons, wins):
    """Votes with the given (weighted) wins of the row over the column."""
    wins = np.asarray(wins, dtype=float)
    winner, loser = np.nonzero(wins)
    return comparisons(winner, loser, n=len(wins), weight=wins[winner, loser])


def strongly_connected(comparisons, seed, *, n=6, m=30, temperatures=(1.0,), ring=1.0):
    """Random votes in which a ring of wins makes every item beat every other in the end."""
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, n, m), rng.integers(0, n, m)
    return comparisons(
        np.concatenate([left, np.arange(n)]),
        np.concatenate([right, (np.arange(n) + 1) % n]),
        np.concatenate([rng.choice([0.0, 0.5, 1.0], m), np.ones(n)]),
        n=n,
        participant=np.concatenate([rng.integers(0, 5, m), np.arange(n) % 5]),
        weight=np.concatenate([rng.choice([1.0, 2.0], m), np.full(n, ring)]),
        temperature=rng.choice(temperatures, m + n),
    )


def brute_pi(votes, prior):
    """Stationary distribution of the published chain, built cell by cell, by the dense eigenproblem."""
    wins = np.zeros((votes.n, votes.n))
    for left, right, outcome, weight in zip(votes.left, votes.right, votes.outcome, votes.weight, strict=True):
        if left != right:
            wins[left, right] += outcome * weight
            wins[right, left] += (1 - outcome) * weight
    both = wins + wins.T
    p = np.divide(wins.T + prior, both + 2 * prior, out=np.zeros_like(wins), where=both > 0) / (both > 0).sum(1).max()
    p += np.diag(1 - p.sum(axis=1))
    values, vectors = np.linalg.eig(p.T)
    pi = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    return pi / pi.sum()


@pytest.mark.parametrize(("folder", "file", "group", "path"), REAL, ids=lambda value: str(value))
def test_real_votes_give_the_anchors_distribution(real_votes, shared, folder, file, group, path):
    # Origin: shared/data/votes/*/README.md; choix.rank_centrality agrees with these to 6e-17. Stated tolerance 1e-8.
    expected = json.loads(shared(f"votes/{folder}/expected.json").read_text(encoding="utf-8"))
    for key in path:
        expected = expected[key]
    items, votes = real_votes(file, group)
    for model, key in ((rank_centrality_plain, "rank_centrality"), (rank_centrality, "rank_centrality_eps0.5")):
        estimate = model(votes)
        pi = [expected[key]["pi"][item] for item in items]
        np.testing.assert_allclose(share(estimate.score), pi, rtol=1e-8)
        assert estimate.notes["spectral_gap"] == pytest.approx(expected[key]["spectral_gap"], abs=1e-9)
        assert estimate.notes["d_max"] == expected["degree"]["max"]
        assert estimate.notes["residual"] < 1e-12


@pytest.mark.parametrize("name", ["wikipedia_bradley_terry", "rank_centrality_exact_bt", "rank_centrality_path3"])
def test_textbook_cases_come_out(comparisons, shared, name):
    case = json.loads(shared("votes/textbook/cases.json").read_text(encoding="utf-8"))[name]
    estimate = rank_centrality_plain(from_wins(comparisons, case["wins_row_over_column"]))
    pi = case.get("pi_analytic") or case.get("pi_must_equal") or case["rank_centrality_pi"]
    np.testing.assert_allclose(share(estimate.score), pi, rtol=1e-10)
    gap = case.get("spectral_gap", case.get("rank_centrality_spectral_gap"))
    assert estimate.notes["spectral_gap"] == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize("number", [1, 2])
def test_choix_cases_come_out(comparisons, shared, number):
    text = shared(f"votes/textbook/choix-testcase-pairwise-{number}.json").read_text(encoding="utf-8")
    case = json.loads(text)
    winner, loser = np.array(case["data"]).T
    score = rank_centrality_plain(comparisons(winner, loser)).score
    np.testing.assert_allclose(score, case["rc_est"], atol=1e-8)


@pytest.mark.parametrize("n", [4, 60, 210])
@pytest.mark.parametrize("prior", [0.0, 0.5, 2.0])
def test_the_walk_built_cell_by_cell_gives_the_same(comparisons, n, prior):
    votes = strongly_connected(comparisons, n, n=n, m=8 * n)
    score = (rank_centrality(votes, prior=prior) if prior else rank_centrality_plain(votes)).score
    np.testing.assert_allclose(share(score), brute_pi(votes, prior), rtol=1e-7)


@pytest.mark.parametrize("n", [15, 150, 700, 2100])
def test_a_chain_of_single_votes_keeps_its_tiny_probabilities(comparisons, n):
    # One vote with half a pseudo-win on both sides is odds of 3; along a path detailed balance is exact.
    score = rank_centrality(comparisons(np.arange(n - 1), np.arange(1, n))).score
    np.testing.assert_allclose(score[0] - score, np.arange(n) * np.log(3), rtol=1e-9, atol=1e-9)


@given(seed=st.integers(0, 10_000), prior=st.sampled_from([0.0, 0.5]))
@settings(max_examples=40, deadline=None)
def test_relabelling_permutes_the_scores(comparisons, seed, prior):
    votes = strongly_connected(comparisons, seed, temperatures=(1.0, 1.5))
    new = np.random.default_rng(seed + 1).permutation(votes.n)
    moved = votes._replace(left=new[votes.left], right=new[votes.right])
    np.testing.assert_allclose(scored(moved, prior)[new], scored(votes, prior), atol=1e-9)


@given(seed=st.integers(0, 10_000), prior=st.sampled_from([0.0, 0.5]))
@settings(max_examples=40, deadline=None)
def test_swapping_sides_changes_nothing(comparisons, seed, prior):
    votes = strongly_connected(comparisons, seed, temperatures=(1.0, 1.5))
    turned = np.random.default_rng(seed + 1).random(votes.left.size) < 0.5
    swapped = votes._replace(
        left=np.where(turned, votes.right, votes.left),
        right=np.where(turned, votes.left, votes.right),
        outcome=np.where(turned, 1 - votes.outcome, votes.outcome),
    )
    np.testing.assert_array_equal(scored(swapped, prior), scored(votes, prior))


@given(seed=st.integers(0, 10_000), times=st.sampled_from([2.0, 7.0]))
@settings(max_examples=40, deadline=None)
def test_doubling_the_votes_keeps_the_plain_scores(comparisons, seed, times):
    votes = strongly_connected(comparisons, seed)
    again = votes._replace(weight=times * votes.weight)
    np.testing.assert_allclose(scored(again, 0.0), scored(votes, 0.0), atol=1e-10)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_reversing_every_answer_of_a_reversible_walk_reverses_the_scores(comparisons, seed):
    # On a tree every walk is reversible, so detailed balance holds edge by edge.
    rng = np.random.default_rng(seed)
    left, right = np.arange(1, 8), rng.integers(0, np.arange(1, 8))
    votes = comparisons(np.r_[left, right], np.r_[right, left], weight=rng.integers(1, 5, 14))
    np.testing.assert_allclose(scored(votes._replace(outcome=1 - votes.outcome), 0.5), -scored(votes, 0.5), atol=1e-10)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_what_enters_an_item_leaves_it(comparisons, seed):
    votes = strongly_connected(comparisons, seed, n=8)
    pi = share(scored(votes, 0.5))
    np.testing.assert_allclose(pi, brute_pi(votes, 0.5), rtol=1e-9)


def scored(votes, prior):
    return (rank_centrality(votes, prior=prior) if prior else rank_centrality_plain(votes)).score


def test_exact_shares_at_two_temperatures_give_back_the_truth(comparisons):
    # Shares without noise; stage 1 answers at twice the temperature, so its shares understate the differences.
    truth = np.array([1.5, 0.3, 0.0, -0.6, -1.2])
    i, j = np.triu_indices(5, 1)
    temperature = np.where((i + j) % 2, 2.0, 1.0)
    p = 1 / (1 + np.exp(-(truth[i] - truth[j]) / temperature))
    votes = comparisons(
        np.r_[i, j], np.r_[j, i], n=5, weight=np.r_[p, 1 - p], temperature=np.r_[temperature, temperature]
    )
    np.testing.assert_allclose(rank_centrality_plain(votes).score, truth - truth.mean(), atol=1e-9)


def test_one_temperature_for_all_only_stretches_the_scale(comparisons):
    votes = strongly_connected(comparisons, 5)
    hot = votes._replace(temperature=np.full(votes.left.size, 3.0))
    np.testing.assert_allclose(rank_centrality(hot).score, 3 * rank_centrality(votes).score, atol=1e-9)


@pytest.mark.parametrize("seed", [25, 44])
def test_extreme_temperatures_on_thin_graphs_still_balance(comparisons, seed):
    # Seeds on which Newton's method alone stalls and the bend has to be followed.
    rng = np.random.default_rng(seed)
    n = 330
    left, right = rng.integers(0, n, n // 5 * 6), rng.integers(0, n, n // 5 * 6)
    left, right = np.r_[left, np.arange(n - 1)], np.r_[right, np.arange(1, n)]
    votes = comparisons(left, right, rng.integers(0, 2, left.size), temperature=rng.choice([1.0, 5.0], left.size))
    assert rank_centrality(votes).notes["residual"] < 1e-9


def test_the_prior_lets_undefeated_items_be_scored(comparisons):
    votes = comparisons([0, 0, 1, 2], [1, 2, 2, 1])
    with pytest.raises(NotConnected, match="never lost: item 0"):
        rank_centrality_plain(votes)
    score = rank_centrality(votes).score
    assert np.isfinite(score).all()
    assert score.argmax() == 0


def test_separate_groups_are_never_joined(comparisons):
    votes = comparisons([0, 1, 2, 3], [1, 0, 3, 2])
    for model in (rank_centrality, rank_centrality_plain):
        with pytest.raises(NotConnected, match="items fall into 2 groups that were never compared"):
            model(votes)


def test_an_unseen_item_is_nan_and_moves_nobody(comparisons):
    votes = strongly_connected(comparisons, 7, n=5)
    wider = rank_centrality(votes._replace(n=7))
    np.testing.assert_allclose(wider.score[:5], rank_centrality(votes).score, atol=1e-12)
    assert np.isnan(wider.score[5:]).all()
    assert wider.notes["unseen"].tolist() == [5, 6]


@pytest.mark.parametrize("prior", [0.0, -1.0, np.nan, np.inf, 1e308, 1e-320])
def test_a_prior_must_be_in_its_range(comparisons, prior):
    with pytest.raises(BadConfig, match="is not between 1e-09 and 1e\\+06; for no prior take rank-centrality-plain"):
        rank_centrality(comparisons([0, 1], [1, 0]), prior=prior)


def test_trap_3_winners_rank_first(real_votes):
    # evalica 0.4.2's eigen ranks losers first: GPT 4 last of 59, Tacos (win rate .70) last of 5.
    for file, best in (("evalica/llmfao.csv", "GPT 4"), ("evalica/food.csv", "Tacos")):
        items, votes = real_votes(file)
        assert items[int(np.argmax(rank_centrality(votes).score))] == best


def test_trap_8_the_prior_stays_off_uncompared_pairs(comparisons):
    # choix.rank_centrality(alpha) fills all n^2 cells: with alpha 1e-12 an uncompared pair already counts as 1/2 : 1/2.
    votes = strongly_connected(comparisons, 11, n=40, m=60, ring=3.0)
    plain = rank_centrality_plain(votes).score
    np.testing.assert_allclose(rank_centrality(votes, prior=1e-9).score, plain, atol=1e-6)
    assert np.std(rank_centrality(votes, prior=0.5).score) > 0.5 * np.std(plain)


def test_complaint_5_a_chain_of_fifteen_is_refused_plain_and_local_with_a_prior(comparisons):
    votes = comparisons(np.arange(14), np.arange(1, 15))
    with pytest.raises(NotConnected, match="never lost: item 0; never won: item 14"):
        rank_centrality_plain(votes)
    score = rank_centrality(votes, prior=1.0).score
    np.testing.assert_allclose(np.diff(score), -np.log(2), rtol=1e-9)


def test_replicates_equal_scoring_each_reweighting_alone(comparisons):
    votes = strongly_connected(comparisons, 2, n=9, m=120, temperatures=(1.0, 1.5))
    weights = np.random.default_rng(0).multinomial(5, np.full(5, 0.2), size=20)
    rows = RANK_CENTRALITY.replicate(votes, weights, prior=0.7)
    for row, weight in zip(rows, weights, strict=True):
        alone = votes._replace(weight=votes.weight * weight[votes.participant])
        np.testing.assert_allclose(row, rank_centrality(alone, prior=0.7).score, atol=1e-9)


def test_complaint_8_replicates_without_a_scale_are_rows_of_nan(comparisons):
    votes = comparisons([0, 1, 1, 2], [1, 0, 2, 1], participant=[0, 0, 1, 1])
    rows = RANK_CENTRALITY_PLAIN.replicate(votes, np.array([[1, 1], [0, 0], [1, 0]]))
    assert np.isfinite(rows[0]).all()
    assert np.isnan(rows[1]).all()
    assert np.isnan(rows[2]).tolist() == [False, False, True]
    pairs = comparisons([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], participant=[0, 0, 1, 1, 0, 0])
    assert np.isnan(RANK_CENTRALITY.replicate(pairs, np.array([[1.0, 0.0]]))).all()


def test_a_tree_replicate_puts_the_prior_on_its_own_pairs_only(comparisons):
    # Participant 1 alone compared 0 with 2; without them the path 0-1-2 is all there is, and exact.
    votes = comparisons([0, 1, 2], [1, 2, 0], participant=[0, 0, 1])
    row = RANK_CENTRALITY.replicate(votes, np.array([[1.0, 0.0]]))[0]
    np.testing.assert_allclose(row, [np.log(3), 0.0, -np.log(3)], atol=1e-10)
