from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from read_votes import as_comparisons, doubled, drawn, from_wins, relabelled, rows_of, swapped

from paragone.errors import BadInput, NotConnected, NotConverged
from paragone.estimate import newton
from paragone.estimate.counts import count
from paragone.estimate.davidson import _Davidson, davidson, davidson_covariance, davidson_likelihood, davidson_replicate

SEEDS = st.integers(0, 10**6)
FEW = settings(max_examples=15, deadline=None)


@pytest.mark.parametrize("study", ["simple", "food", "llmfao"])
def test_newman_s_tie_model_of_evalica_s_studies_is_the_same_maximum(shared, study):
    # expected.json: Newman's fixed point at tolerance 1e-12, printed to 10 digits; his v is half of Davidson's nu
    items, _, data = as_comparisons(rows_of(shared(f"votes/evalica/{study}.csv")))
    expected = json.loads(shared("votes/evalica/expected.json").read_text())[study]["newman_ties"]
    made = davidson(data)
    wanted = [expected["log_strength_sum0"][item] for item in items]
    np.testing.assert_allclose(made.score, wanted, rtol=0, atol=1e-8)
    assert made.notes["nu"] / 2 == pytest.approx(expected["tie_parameter_v"], rel=1e-8)
    assert made.notes["gradient"] < 1e-10


def test_two_items_have_a_closed_answer(comparisons):
    # fitted shares equal observed ones: d = log(wins / losses), nu = ties / sqrt(wins losses)
    data = comparisons([0, 0, 0], [1, 1, 1], [1, 0, 0.5], weight=[40, 10, 20])
    made = davidson(data)
    assert made.score[0] - made.score[1] == pytest.approx(np.log(4), abs=1e-12)
    assert made.notes["nu"] == pytest.approx(1.0, abs=1e-12)


def test_without_ties_the_scores_are_plain_bradley_terry_s_and_a_note_says_so(shared):
    case = json.loads(shared("votes/textbook/cases.json").read_text())["wikipedia_bradley_terry"]
    made = davidson(from_wins(case["wins_row_over_column"]))
    np.testing.assert_allclose(np.exp(made.score), case["p_geometric_mean_1"], rtol=1e-10)
    np.testing.assert_allclose(made.stderr, case["se_log_strength_sum0"], rtol=1e-9)
    assert davidson_likelihood(from_wins(case["wins_row_over_column"]), made.score) == pytest.approx(
        case["log_likelihood"], abs=1e-9
    )
    assert made.notes["nu"] == 0
    assert "no answer is a tie" in made.notes["no_ties"]


@FEW
@given(seed=SEEDS, ties=st.booleans())
def test_derivatives_match_finite_differences(seed: int, ties: bool):
    surface = _Davidson(count(drawn(seed, n=5, m=60, ties=ties, warm=True)), ties=ties)
    size = 5 + ties
    x = np.random.default_rng(seed).normal(size=size)
    step, units = 1e-5, np.eye(size)
    point = surface.at(x)
    gradient = [(surface.at(x + step * u).value - surface.at(x - step * u).value) / (2 * step) for u in units]
    np.testing.assert_allclose(point.gradient, gradient, rtol=0, atol=1e-7)
    bent = np.array([surface.at(x - step * u).gradient - surface.at(x + step * u).gradient for u in units]) / (2 * step)
    bent[:5, :5] += surface.gauge
    np.testing.assert_allclose(point.matrix(), bent, rtol=0, atol=1e-7)
    np.testing.assert_allclose(point.curvature(x), point.matrix() @ x, rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.diag(point.matrix()), point.diagonal, rtol=1e-12)


@FEW
@given(seed=SEEDS)
def test_the_gradient_is_zero_at_the_answer_and_no_neighbour_is_better(seed: int):
    data = drawn(seed)
    made = davidson(data)
    assert made.notes["gradient"] < 1e-9
    best = davidson_likelihood(data, made.score)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        assert davidson_likelihood(data, made.score + rng.normal(0, 0.05, 7)) < best


@FEW
@given(seed=SEEDS)
def test_relabelling_permutes_and_swapping_sides_changes_nothing(seed: int):
    data = drawn(seed)
    order = np.random.default_rng(seed).permutation(data.n)
    score = davidson(data).score
    np.testing.assert_allclose(davidson(relabelled(data, order)).score[order], score, rtol=0, atol=1e-9)
    np.testing.assert_allclose(davidson(swapped(data)).score, score, rtol=0, atol=1e-9)


@FEW
@given(seed=SEEDS)
def test_doubling_moves_nothing_and_halves_the_variance(seed: int):
    data = drawn(seed)
    one, two = davidson(data), davidson(doubled(data))
    np.testing.assert_allclose(two.score, one.score, rtol=0, atol=1e-9)
    np.testing.assert_allclose(two.stderr, one.stderr / np.sqrt(2), rtol=1e-8)


def test_a_tie_costs_nothing_to_either_side(comparisons):
    # lucasmaystre/choix#17, hturner/BradleyTerry2#18: ties between equals must not move them against a third item
    wins = ([0, 1, 2, 2, 0, 1], [2, 2, 0, 1, 1, 0], [1, 1, 1, 1, 1, 1])
    without = davidson(comparisons(*wins)).score
    tied = davidson(comparisons(wins[0] + [0] * 9, wins[1] + [1] * 9, wins[2] + [0.5] * 9)).score
    assert tied[0] == pytest.approx(tied[1], abs=1e-12)
    assert without[0] - without[2] == pytest.approx(tied[0] - tied[2], abs=1e-9)


def test_weights_count_as_repetitions(comparisons):
    # dustalov/evalica#41
    left, right, outcome = [0, 1, 0, 1, 2, 0], [1, 0, 1, 2, 0, 2], [1, 1, 0.5, 1, 1, 0.5]
    weighted = davidson(comparisons(left, right, outcome, weight=[1, 2, 3, 1, 2, 0]))
    repeated = davidson(comparisons(np.repeat(left, [1, 2, 3, 1, 2, 0]), np.repeat(right, [1, 2, 3, 1, 2, 0]),
                                    np.repeat(outcome, [1, 2, 3, 1, 2, 0])))  # fmt: skip
    np.testing.assert_allclose(weighted.score, repeated.score, rtol=0, atol=1e-12)


def test_answers_of_a_noisier_stage_stand_for_wider_distances(comparisons):
    cool = comparisons([0, 0, 0], [1, 1, 1], [1, 0, 0.5], weight=[40, 10, 20])
    warm = cool._replace(temperature=np.full(3, 2.0))
    np.testing.assert_allclose(davidson(warm).score, 2 * davidson(cool).score, rtol=1e-9)


def test_the_covariance_is_that_of_the_standard_errors_and_has_no_common_shift():
    data = drawn(3)
    made = davidson(data)
    covariance = davidson_covariance(data, made.score)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), made.stderr, rtol=1e-6)
    np.testing.assert_allclose(covariance.sum(axis=0), 0.0, rtol=0, atol=1e-12)


def test_conjugate_gradients_give_the_same_answer(monkeypatch):
    data = drawn(8, n=15, m=400)
    dense = davidson(data).score
    monkeypatch.setattr(newton, "DENSE", 0)
    np.testing.assert_allclose(davidson(data).score, dense, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("left", "right", "outcome"),
    [
        ([0, 0], [1, 2], [1, 1]),  # one undefeated item
        ([0, 1], [1, 2], [1, 1]),  # a chain
        ([0], [1], [1]),  # a single answer
    ],
)
def test_one_sided_results_are_refused_and_not_scored_zero(comparisons, left, right, outcome):
    # evalica 0.4.2 gives all zeros for each of these without a warning
    with pytest.raises(NotConnected, match="no finite scores"):
        davidson(comparisons(left, right, outcome))


def test_groups_that_never_met_are_refused(comparisons):
    with pytest.raises(NotConnected, match="items fall into 2 groups"):
        davidson(comparisons([0, 1, 2, 3], [1, 0, 3, 2]))


@pytest.mark.parametrize(
    ("left", "right", "outcome"),
    [
        ([0, 1], [1, 2], [0.5, 0.5]),  # nothing but ties
        ([0, 0, 1], [1, 2, 2], [1, 0.5, 0.5]),  # nu could grow and the scores stretch with it
        ([0, 1, 2, 3], [1, 2, 3, 0], [1, 1, 0.5, 0.5]),  # the only circle has as many ties as wins
    ],
)
def test_too_many_ties_leave_no_finite_tie_parameter(comparisons, left, right, outcome):
    with pytest.raises(NotConnected, match="no finite tie parameter"):
        davidson(comparisons(left, right, outcome))


def test_a_circle_with_more_wins_than_ties_holds_the_tie_parameter(comparisons):
    # 0 > 1 > 2 = 0: no circle of wins alone, but two wins against one tie
    made = davidson(comparisons([0, 1, 2], [1, 2, 0], [1, 1, 0.5]))
    assert np.isfinite(made.score).all()
    assert made.notes["gradient"] < 1e-9
    assert made.score[0] > made.score[1] > made.score[2]


def test_replicates_are_the_model_under_those_weights():
    data = drawn(2, people=5, m=60, warm=True)
    weights = np.array([[1, 1, 1, 1, 1], [0, 2, 1, 1, 1], [3, 1, 0, 0, 1]], dtype=float)
    wanted = [davidson(data._replace(weight=row[data.participant])).score for row in weights]
    np.testing.assert_allclose(davidson_replicate(data, weights), wanted, rtol=0, atol=1e-8)


def test_a_replicate_without_finite_scores_is_nan(comparisons):
    data = comparisons([0, 1, 0, 0, 1], [1, 0, 1, 1, 0], [1, 1, 0.5, 1, 1], participant=[0, 1, 2, 3, 3])
    weights = np.array([[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 2]], dtype=float)
    made = davidson_replicate(data, weights)
    assert np.isnan(made).all(axis=1).tolist() == [False, True, True, True, False]
    np.testing.assert_allclose(made[4], 0.0, rtol=0, atol=1e-12)


def test_an_item_never_compared_has_no_score(comparisons):
    made = davidson(comparisons([0, 1, 3], [1, 0, 3], n=4))
    assert np.isnan(made.score).tolist() == [False, False, True, True]
    assert np.isnan(made.stderr).tolist() == [False, False, True, True]
    assert made.notes["unseen"].tolist() == [2, 3]
    assert made.notes["self_pairs"] == 1


def test_an_outcome_between_win_and_tie_is_refused(comparisons):
    with pytest.raises(BadInput, match=r"answer 1: outcome 0.3 is not 1, 0 or 0.5"):
        davidson(comparisons([0, 1], [1, 0], [1, 0.3]))


def test_a_limit_that_is_too_low_is_an_error():
    with pytest.raises(NotConverged, match="after 1 steps"):
        davidson(drawn(0), max_iterations=1)


@FEW
@given(seed=SEEDS)
def test_a_round_robin_is_ordered_by_wins(seed: int):
    # wdm0006/elote PR#65 converged to a non-maximum and inverted 6-4 and 4-6
    rng = np.random.default_rng(seed)
    wins = np.triu(rng.integers(1, 10, (6, 6)), 1).astype(float)
    wins = wins + np.triu(10 - wins, 1).T
    made = davidson(from_wins(wins))
    total, best = wins.sum(axis=1), made.score
    clear = total[:, None] != total[None, :]
    assert np.all(np.sign(best[:, None] - best[None, :])[clear] == np.sign(total[:, None] - total[None, :])[clear])


def test_analytic_errors_match_the_scatter_of_repeated_studies():
    truth, nu = np.array([0.8, 0.1, -0.9]), 0.6
    i, j = np.triu_indices(3, 1)
    odds = np.stack([np.exp((truth[i] - truth[j]) / 2), np.exp((truth[j] - truth[i]) / 2), np.full(3, nu)], axis=1)
    rng = np.random.default_rng(2)
    scores, errors, nus = [], [], []
    for _ in range(200):
        counts = rng.multinomial(80, odds / odds.sum(axis=1, keepdims=True))
        data = from_wins(np.eye(3))._replace(
            left=np.repeat(i, 3),
            right=np.repeat(j, 3),
            outcome=np.tile([1.0, 0.0, 0.5], 3),
            participant=np.zeros(9, dtype=np.int64),
            stage=np.zeros(9, dtype=np.int64),
            weight=counts.ravel().astype(float),
            temperature=np.ones(9),
        )
        made = davidson(data)
        scores.append(made.score)
        errors.append(made.stderr)
        nus.append(made.notes["nu"])
    np.testing.assert_allclose(np.std(scores, axis=0), np.mean(errors, axis=0), rtol=0.15)
    np.testing.assert_allclose(np.mean(scores, axis=0), truth, rtol=0, atol=0.05)
    assert np.mean(nus) == pytest.approx(nu, abs=0.03)
