from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from read_votes import as_comparisons, doubled, drawn, relabelled, rows_of, swapped

from paragone.errors import TooFew
from paragone.estimate.counting import counting, counting_replicate, win_rate, win_rate_replicate
from paragone.stats.wilson import wilson_interval

BOTH = pytest.mark.parametrize("model", [counting, win_rate])
SEEDS = st.integers(0, 10**6)
FEW = settings(max_examples=15, deadline=None)


@pytest.mark.parametrize("study", ["simple", "food", "llmfao"])
def test_evalica_s_pinned_scores_are_reproduced(shared, study):
    # *-golden.csv of dustalov/evalica at 2ebe79e
    items, _, data = as_comparisons(rows_of(shared(f"votes/evalica/{study}.csv")))
    golden = rows_of(shared(f"votes/evalica/{study}-golden.csv"))
    for algorithm, score in (
        ("counting", counting(data, share=False).score),
        ("average_win_rate", win_rate(data).score),
    ):
        wanted = {row["item"]: float(row["score"]) for row in golden if row["algorithm"] == algorithm}
        np.testing.assert_allclose(score, [wanted[item] for item in items], rtol=0, atol=1e-12)


def test_a_share_is_wins_over_comparisons_with_ties_half(comparisons):
    made = counting(comparisons([0, 0, 0, 1], [1, 1, 1, 2], [1, 1, 0.5, 0]))
    np.testing.assert_allclose(made.score, [2.5 / 3, 0.5 / 4, 1.0])


def test_a_win_rate_counts_each_opponent_once(comparisons):
    # item 0 beat 1 nine times and lost to 2 once: share .9, average over opponents .5
    data = comparisons([0] * 9 + [0], [1] * 9 + [2], [1] * 9 + [0])
    assert counting(data).score[0] == pytest.approx(0.9)
    assert win_rate(data).score[0] == pytest.approx(0.5)


def test_the_standard_error_is_a_quarter_of_wilson_s_95_percent_interval(comparisons):
    # 81 of 263: Newcombe, Statistics in Medicine 17, 1998, table I: .2553 to .3662
    data = comparisons([0, 0], [1, 1], [1, 0], weight=[81, 182])
    assert 2 * 1.959964 * counting(data).stderr[0] == pytest.approx(0.3662 - 0.2553, abs=1e-4)


def test_unanimous_answers_leave_an_error(comparisons):
    # 0 of 20: Newcombe's table I: 0 to .1611, so half the width is .08055
    made = counting(comparisons([0], [1], [0], weight=20))
    np.testing.assert_allclose(1.959964 * made.stderr, 0.1611 / 2, atol=1e-4)
    assert win_rate(comparisons([0], [1], [0], weight=20)).stderr[0] == pytest.approx(made.stderr[0])


def test_notes_say_what_wilson_s_interval_needs(comparisons):
    data = comparisons([0, 0, 0, 2], [1, 1, 1, 0], [1, 1, 1, 0], n=4)
    share, wins = counting(data), counting(data, share=False)
    np.testing.assert_array_equal(share.notes["wilson_trials"], [4, 3, 1, np.nan])
    assert "wilson_scale" not in share.notes
    np.testing.assert_allclose(wins.notes["wilson_scale"], wins.notes["wilson_trials"])
    low, high = wilson_interval(share.score[:3], share.notes["wilson_trials"][:3])
    assert low[0] > 0.5
    assert high[0] == 1.0  # the hostile case: score +- 1.96 stderr reaches beyond 1
    assert share.score[0] + 1.96 * share.stderr[0] > 1.0
    # item 0 met one opponent three times and another once: worth 2^2 / (1 / 3 + 1) answers
    np.testing.assert_allclose(win_rate(data).notes["wilson_trials"], [3, 3, 1, np.nan])


@pytest.mark.slow
def test_wilson_s_interval_of_a_win_rate_covers(comparisons):
    """Unequal numbers of answers against opponents of very different strength."""
    rng = np.random.default_rng(0)
    chance, votes = np.array([0.95, 0.8, 0.5, 0.3]), np.array([2, 3, 12, 30])
    opponent = np.repeat(np.arange(1, 5), votes)
    inside, runs = 0, 1500
    for _ in range(runs):
        won = rng.random(opponent.size) < np.repeat(chance, votes)
        made = win_rate(comparisons(np.zeros(opponent.size), opponent, won))
        low, high = wilson_interval(made.score[0], made.notes["wilson_trials"][0])
        inside += bool(low <= chance.mean() <= high)
    assert 0.94 < inside / runs < 0.995


def test_stages_do_not_matter_to_a_share():
    data = drawn(1, warm=True)
    cool = data._replace(temperature=np.ones_like(data.temperature))
    for model in (counting, win_rate):
        np.testing.assert_allclose(model(data).score, model(cool).score, rtol=0, atol=1e-15)


@BOTH
@FEW
@given(seed=SEEDS)
def test_relabelling_permutes_and_swapping_or_doubling_changes_nothing(model, seed: int):
    data = drawn(seed)
    order = np.random.default_rng(seed).permutation(data.n)
    score = model(data).score
    np.testing.assert_allclose(model(relabelled(data, order)).score[order], score, rtol=0, atol=1e-14)
    np.testing.assert_allclose(model(swapped(data)).score, score, rtol=0, atol=1e-14)
    np.testing.assert_allclose(model(doubled(data)).score, score, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("model", "replicate"),
    [(counting, counting_replicate), (win_rate, win_rate_replicate)],
)
def test_replicates_are_the_model_under_those_weights(model, replicate):
    data = drawn(2, people=4, m=25, warm=True)
    weights = np.array([[1, 1, 1, 1], [0, 2, 1, 1], [4, 0, 0, 0], [0.5, 0.1, 0, 3]], dtype=float)
    wanted = [model(data._replace(weight=data.weight * row[data.participant])).score for row in weights]
    np.testing.assert_allclose(replicate(data, weights), wanted, rtol=0, atol=1e-13)


def test_replicates_of_wins_in_place_of_shares(comparisons):
    data = comparisons([0, 1, 2], [1, 0, 0], 1, participant=[0, 1, 2], n=3)
    weights = np.array([[2.0, 1.0, 0.0]])
    np.testing.assert_array_equal(counting_replicate(data, weights, share=False), [[2.0, 1.0, np.nan]])


@BOTH
def test_an_item_never_compared_has_no_score_and_the_notes_warn(model, comparisons):
    made = model(comparisons([0, 2], [1, 2], n=4))
    assert np.isnan(made.score).tolist() == [False, False, True, True]
    assert made.notes["unseen"].tolist() == [2, 3]
    assert made.notes["self_pairs"] == 1
    assert "same opponents" in made.notes["comparable"]


def test_groups_that_never_met_are_counted(comparisons):
    assert counting(comparisons([0, 2], [1, 3])).notes["components"] == 2


@BOTH
def test_no_answer_is_an_error(model, comparisons):
    with pytest.raises(TooFew, match="nothing to score"):
        model(comparisons([], [], []))
