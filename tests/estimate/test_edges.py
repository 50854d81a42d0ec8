"""Votes become compared pairs: counted right, sides and order forgotten, and refused where they leave groups apart."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import BadInput, NotConnected, TooFew
from paragone.estimate.edges import aggregate, check_connected, compacted, is_connected, reweighted, tally
from paragone.stats.graph import diagnose


def random_votes(comparisons, seed, *, n=6, m=40, temperatures=(1.0,)):
    rng = np.random.default_rng(seed)
    return comparisons(
        rng.integers(0, n, m),
        rng.integers(0, n, m),
        rng.choice([0.0, 0.5, 1.0], m),
        n=n,
        participant=rng.integers(0, 4, m),
        weight=rng.choice([0.0, 0.5, 1.0, 3.0], m),
        temperature=rng.choice(temperatures, m),
    )


def brute_wins(votes):
    """{(winner, loser, temperature): weighted wins}, counted vote by vote."""
    wins = {}
    for left, right, outcome, weight, temperature in zip(
        votes.left, votes.right, votes.outcome, votes.weight, votes.temperature, strict=True
    ):
        if left == right or weight == 0:
            continue
        for winner, loser, won in ((left, right, outcome), (right, left, 1 - outcome)):
            key = (int(winner), int(loser), float(temperature))
            wins[key] = wins.get(key, 0.0) + won * weight
    return wins


@given(seed=st.integers(0, 10_000), temperatures=st.sampled_from([(1.0,), (2.0,), (1.0, 1.5), (0.5, 1.0, 3.0)]))
@settings(deadline=None)
def test_edges_hold_the_wins_counted_vote_by_vote(comparisons, seed, temperatures):
    votes = random_votes(comparisons, seed, temperatures=temperatures)
    edges = aggregate(votes)
    found = {}
    for i, j, t, wins_i, wins_j in zip(edges.i, edges.j, edges.temperature, edges.wins_i, edges.wins_j, strict=True):
        found[int(i), int(j), float(t)] = wins_i
        found[int(j), int(i), float(t)] = wins_j
    assert found == brute_wins(votes)
    assert np.all(edges.i < edges.j)


@given(seed=st.integers(0, 10_000), swap=st.integers(0, 10_000))
@settings(deadline=None)
def test_the_order_of_votes_and_sides_leaves_no_trace(comparisons, seed, swap):
    votes = random_votes(comparisons, seed, temperatures=(1.0, 1.5))
    rng = np.random.default_rng(swap)
    order, turned = rng.permutation(votes.left.size), rng.random(votes.left.size) < 0.5
    moved = votes._replace(
        left=np.where(turned, votes.right, votes.left)[order],
        right=np.where(turned, votes.left, votes.right)[order],
        outcome=np.where(turned, 1 - votes.outcome, votes.outcome)[order],
        participant=votes.participant[order],
        weight=votes.weight[order],
        temperature=votes.temperature[order],
    )
    one, other = aggregate(votes), aggregate(moved)
    for name in ("i", "j", "wins_i", "wins_j", "temperature"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_many_items_take_the_slow_sort_to_the_same_edges(comparisons):
    few = random_votes(comparisons, 3)
    many = few._replace(n=70_000, left=few.left * 11_000, right=few.right * 11_000)
    one, other = aggregate(few), aggregate(many)
    np.testing.assert_array_equal(one.i * 11_000, other.i)
    np.testing.assert_array_equal(one.wins_j, other.wins_j)


def test_self_pairs_are_dropped_and_counted(comparisons):
    edges = aggregate(comparisons([0, 1, 1], [1, 1, 0], [1, 1, 0.5]))
    assert edges.self_pairs == 1
    assert edges.votes.tolist() == [2.0]


def test_the_tally_of_participants_sums_to_the_edges(comparisons):
    votes = random_votes(comparisons, 1, temperatures=(1.0, 2.0))
    edges = aggregate(votes)
    wins_i, wins_j = tally(votes, edges)
    np.testing.assert_allclose(np.ones(wins_i.shape[0]) @ wins_i, edges.wins_i, rtol=1e-15)
    np.testing.assert_allclose(np.ones(wins_j.shape[0]) @ wins_j, edges.wins_j, rtol=1e-15)


def test_reweighting_by_the_tally_equals_repeating_the_votes(comparisons):
    votes = random_votes(comparisons, 2)
    edges = aggregate(votes)
    wins_i, wins_j = tally(votes, edges)
    times = np.array([0.0, 2.0, 1.0, 3.0])
    drawn = reweighted(edges, times @ wins_i, times @ wins_j)
    repeated = aggregate(votes._replace(weight=votes.weight * times[votes.participant]))
    np.testing.assert_array_equal(drawn.j, repeated.j)
    np.testing.assert_allclose(drawn.wins_i, repeated.wins_i)


def test_compacting_leaves_unseen_items_out(comparisons):
    small, seen = compacted(aggregate(comparisons([1, 4], [4, 3], n=6)))
    assert seen.tolist() == [False, True, False, True, True, False]
    assert list(zip(small.i, small.j, strict=True)) == [(0, 2), (1, 2)]


def test_separate_groups_are_refused_with_their_members(comparisons):
    votes = comparisons([0, 1, 2, 3, 5], [1, 0, 3, 2, 3], n=6)
    with pytest.raises(
        NotConnected, match="items fall into 2 groups that were never compared; ask for answers across groups"
    ) as error:
        check_connected(aggregate(votes), strongly=False)
    assert [group.tolist() for group in error.value.groups] == [[2, 3, 5], [0, 1]]


def test_one_sided_items_are_named(comparisons):
    votes = comparisons([0, 0, 1, 2, 1, 2], [1, 2, 2, 1, 3, 3])
    with pytest.raises(NotConnected, match="never lost: item 0; never won: item 3"):
        check_connected(aggregate(votes), strongly=True)


def test_groups_where_one_side_always_won_are_told_although_each_item_won_and_lost(comparisons):
    votes = comparisons([0, 1, 2, 3, 0], [1, 0, 3, 2, 2])
    with pytest.raises(NotConnected, match="between some of the 2 groups one side won every time") as error:
        check_connected(aggregate(votes), strongly=True)
    assert [group.tolist() for group in error.value.groups] == [[0, 1], [2, 3]]


def test_unseen_items_are_noted_not_refused(comparisons):
    notes = check_connected(aggregate(comparisons([0, 3], [3, 0], n=5)), strongly=True)
    assert notes["unseen"].tolist() == [1, 2, 4]
    assert (notes["components"], notes["strong_components"]) == (1, 1)


@given(seed=st.integers(0, 10_000), strongly=st.booleans())
@settings(deadline=None)
def test_the_quick_check_agrees_with_the_one_that_explains(comparisons, seed, strongly):
    edges = aggregate(random_votes(comparisons, seed, n=7, m=14))
    try:
        check_connected(edges, strongly=strongly)
    except NotConnected:
        assert not is_connected(edges, strongly=strongly)
    else:
        assert is_connected(edges, strongly=strongly)


def test_no_vote_between_two_items_is_too_few(comparisons):
    with pytest.raises(TooFew, match="no comparison between two different items among 2 votes"):
        aggregate(comparisons([0, 1], [0, 1]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"left": np.array([0, 7])}, "an item index lies outside 0 to 1"),
        ({"outcome": np.array([1.0, 2.0])}, "an outcome lies outside 0 to 1"),
        ({"outcome": np.array([1.0, np.nan])}, "an outcome lies outside 0 to 1"),
        ({"weight": np.array([1.0, -1.0])}, "a weight is negative or not finite"),
        ({"temperature": np.array([1.0, 0.0])}, "a temperature is not above 0"),
        ({"stage": np.array([0])}, "columns differ in length"),
    ],
)
def test_impossible_columns_are_refused(comparisons, change, message):
    with pytest.raises(BadInput, match=message):
        aggregate(comparisons([0, 1], [1, 0])._replace(**change))


# Origin of the figures: shared/data/votes/*/README.md (counts and dense eigenvalues of the anchors' data).
@pytest.mark.parametrize("name", ["simple", "food", "llmfao"])
def test_real_graphs_are_diagnosed_as_the_anchors_say(real_votes, shared, name):
    _, votes = real_votes(f"evalica/{name}.csv")
    expected = json.loads(shared("votes/evalica/expected.json").read_text(encoding="utf-8"))[name]
    _assert_diagnosed(votes, expected)


def test_five_unconnected_contents_are_five_groups(real_votes, shared):
    _, votes = real_votes("krasula_sharpening/votes.csv")
    expected = json.loads(shared("votes/krasula_sharpening/expected.json").read_text(encoding="utf-8"))["all"]
    _assert_diagnosed(votes, expected)
    with pytest.raises(NotConnected, match="items fall into 5 groups"):
        check_connected(aggregate(votes), strongly=False)


def test_tone_mapping_votes_are_diagnosed_as_the_anchors_say(real_votes, shared):
    _, votes = real_votes("pwcmp_tmo/votes.csv")
    expected = json.loads(shared("votes/pwcmp_tmo/expected.json").read_text(encoding="utf-8"))["all_votes"]
    _assert_diagnosed(votes, expected)


def _assert_diagnosed(votes, expected):
    edges = aggregate(votes)
    facts = diagnose(edges.n, edges.i, edges.j, edges.wins_i, edges.wins_j)
    assert facts.n_items == expected["n_items"]
    assert facts.n_votes == expected["n_votes"]
    assert facts.n_pairs == expected["n_pairs_compared"]
    assert facts.n_components == expected["components"]
    assert facts.n_strong_components == expected["strong_components"]
    assert facts.degree.min() == expected["degree"]["min"]
    assert facts.degree.max() == expected["degree"]["max"]
    assert facts.degree.mean() == pytest.approx(expected["degree"]["mean"], rel=1e-9)
    for key, prior in (("rank_centrality", 0.0), ("rank_centrality_eps0.5", 0.5)):
        if key in expected:
            with_prior = diagnose(edges.n, edges.i, edges.j, edges.wins_i, edges.wins_j, prior=prior)
            assert with_prior.spectral_gap == pytest.approx(expected[key]["spectral_gap"], abs=1e-9)
