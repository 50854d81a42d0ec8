from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from read_votes import as_comparisons, drawn, relabelled, rows_of, swapped

from paragone.errors import BadConfig, TooFew
from paragone.estimate.elo import ELO, elo, elo_replicate


@pytest.mark.parametrize("study", ["simple", "food", "llmfao"])
def test_evalica_s_pinned_ratings_are_reproduced(shared, study):
    # *-golden.csv of dustalov/evalica at 2ebe79e; ratings near 1000 are sure to 1e-12 of themselves
    items, _, data = as_comparisons(rows_of(shared(f"votes/evalica/{study}.csv")))
    golden = rows_of(shared(f"votes/evalica/{study}-golden.csv"))
    wanted = {row["item"]: float(row["score"]) for row in golden if row["algorithm"] == "elo"}
    np.testing.assert_allclose(elo(data).score, [wanted[item] for item in items], rtol=1e-12)


def test_one_win_between_equals_moves_half_of_k(comparisons):
    assert elo(comparisons([0], [1]), k=32).score.tolist() == [1016.0, 984.0]
    assert elo(comparisons([0], [1], 0.5), k=32).score.tolist() == [1000.0, 1000.0]


def test_ten_to_one_odds_lie_one_scale_apart(comparisons):
    # the second answer's expectation is 10 / 11 once the gap is 400 points
    data = comparisons([0, 0], [1, 1], [1, 1])
    assert elo(data, k=400).score[0] == pytest.approx(1200 + 400 / 11)


def test_the_order_of_answers_matters_and_the_record_says_so(comparisons):
    data = comparisons([0, 0], [1, 1], [1, 0])
    backwards = comparisons([0, 0], [1, 1], [0, 1])
    assert elo(data).score[0] < 1000 < elo(backwards).score[0]
    assert ELO.ordered
    assert "order" in elo(data).notes["order"]


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_relabelling_permutes_swapping_changes_nothing_and_the_mean_stays(seed: int):
    data = drawn(seed)
    order = np.random.default_rng(seed).permutation(data.n)
    score = elo(data).score
    np.testing.assert_allclose(elo(relabelled(data, order)).score[order], score, rtol=1e-13)
    np.testing.assert_allclose(elo(swapped(data)).score, score, rtol=1e-13)
    assert score.mean() == pytest.approx(1000.0, abs=1e-9)


def test_a_weight_multiplies_k_and_a_temperature_the_scale(comparisons):
    one = comparisons([0, 0], [1, 1], [1, 1])
    heavy = one._replace(weight=np.full(2, 3.0))
    np.testing.assert_allclose(elo(heavy).score, elo(one, k=12).score, rtol=1e-14)
    warm = one._replace(temperature=np.full(2, 2.0))
    np.testing.assert_allclose(elo(warm).score, elo(one, scale=800).score, rtol=1e-14)
    assert elo(one._replace(weight=np.array([1.0, 0.0]))).score[0] == 1002.0


def test_a_gap_beyond_any_exponent_does_not_overflow(comparisons):
    # ComparIA PR#470: degenerate rounds; 10^(gap / scale) overflows beyond 308 scales
    data = comparisons([0] * 5, [1] * 5, [1, 0, 1, 0, 1])
    score = elo(data, k=1e6, scale=1.0).score
    assert np.isfinite(score).all()
    assert score.mean() == pytest.approx(1000.0)


def test_replicates_are_the_model_under_those_weights():
    data = drawn(3, people=4, m=30, warm=True)
    weights = np.array([[1, 1, 1, 1], [0, 2, 1, 1], [4, 0, 0, 0], [0.5, 0.1, 0, 3]], dtype=float)
    wanted = [elo(data._replace(weight=data.weight * row[data.participant]), k=20).score for row in weights]
    np.testing.assert_allclose(elo_replicate(data, weights, k=20), wanted, rtol=1e-13)


def test_an_item_never_compared_has_no_rating(comparisons):
    made = elo(comparisons([0, 2], [1, 2], n=4))
    assert np.isnan(made.score).tolist() == [False, False, True, True]
    assert made.notes["unseen"].tolist() == [2, 3]
    assert made.notes["self_pairs"] == 1


@pytest.mark.parametrize(
    ("option", "value"), [("k", 0.0), ("scale", -1.0), ("base", 1.0), ("k", float("nan")), ("initial", float("inf"))]
)
def test_impossible_options_are_refused(comparisons, option, value):
    with pytest.raises(BadConfig, match=f"elo: {option} = '{value}' is not between"):
        elo(comparisons([0], [1]), **{option: value})


def test_no_answer_is_an_error(comparisons):
    nothing = comparisons([], [], [])
    with pytest.raises(TooFew, match="nothing to score"):
        elo(nothing)
    with pytest.raises(TooFew, match="nothing to score"):
        elo_replicate(nothing, np.ones((1, 1)))
