from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from read_votes import doubled, drawn, relabelled, swapped
from scipy.special import ndtr

from paragone.errors import BadInput, CannotScore, NotConnected, NotConverged, TooFew
from paragone.estimate import newton
from paragone.estimate.arrays import Comparisons, Opinions
from paragone.estimate.thurstone import SIGMA, thurstone
from paragone.estimate.unified import _Joint, unified, unified_covariance, unified_likelihood, unified_replicate

SEEDS = st.integers(0, 10**6)
FEW = settings(max_examples=15, deadline=None)


def ratings(q: np.ndarray, each: int, seed: int, *, a: float = 0.8, b: float = 3.0, c: float = 1.5) -> Opinions:
    """`each` ratings of every item as the model has them."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(q.size), each)
    value = a * q[item] + b + a * c * SIGMA / np.sqrt(2) * rng.normal(size=item.size)
    zeros = np.zeros(item.size, dtype=np.int64)
    return Opinions(
        n=q.size,
        p=1,
        item=item,
        participant=zeros,
        session=zeros,
        value=value,
        weight=np.ones(item.size),
        reference=np.full(q.size, -1),
        content=np.zeros(q.size, dtype=np.int64),
    )


def pairs(q: np.ndarray, m: int, seed: int) -> Comparisons:
    rng = np.random.default_rng(seed)
    left = rng.integers(q.size, size=m)
    right = (left + rng.integers(1, q.size, size=m)) % q.size
    outcome = (rng.random(m) < ndtr((q[left] - q[right]) / SIGMA)).astype(np.float64)
    zeros, ones = np.zeros(m, dtype=np.int64), np.ones(m)
    return Comparisons(q.size, left, right, outcome, zeros, zeros, ones, ones)


def truth(n: int, seed: int) -> np.ndarray:
    q = np.random.default_rng(seed).normal(size=n)
    return q - q.mean()


def both(seed: int, n: int = 7) -> tuple[Comparisons, Opinions]:
    q = np.random.default_rng(seed).permutation(np.linspace(-1.5, 1.5, n))  # far enough apart for both to agree on
    return pairs(q, 200, seed + 1), ratings(q, 4, seed + 2, c=1.0)


@FEW
@given(seed=SEEDS, prior=st.booleans())
def test_derivatives_match_finite_differences(seed: int, prior: bool):
    surface = _Joint(drawn(seed, n=5, m=40, warm=True), ratings(truth(5, seed), 3, seed), prior=prior)
    x = np.random.default_rng(seed).normal(size=8) / 2
    step, units = 1e-5, np.eye(8)
    point = surface.at(x)
    gradient = [(surface.at(x + step * u).value - surface.at(x - step * u).value) / (2 * step) for u in units]
    np.testing.assert_allclose(point.gradient, gradient, rtol=1e-6, atol=1e-6)
    bent = np.array([surface.at(x - step * u).gradient - surface.at(x + step * u).gradient for u in units]) / (2 * step)
    bent[:5, :5] += surface.gauge
    np.testing.assert_allclose(point.matrix(), bent, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(point.curvature(x), point.matrix() @ x, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(np.diag(point.matrix()), point.diagonal, rtol=1e-1)


def test_both_together_recover_the_truth_better_than_either_alone():
    errors = []
    for seed in range(30):
        q = truth(15, seed)
        votes, rated = pairs(q, 400, seed), ratings(q, 6, seed)
        alone = np.bincount(rated.item, rated.value) / 6
        scores = (
            unified(votes, rated).score,
            thurstone(votes).score,
            alone,
        )
        errors.append([1 - np.corrcoef(score, q)[0, 1] ** 2 for score in scores])
    together, by_pairs, by_ratings = np.mean(errors, axis=0)
    assert together < 0.85 * by_pairs
    assert together < 0.5 * by_ratings


def test_the_link_between_the_scales_is_recovered():
    q = truth(20, 3)
    notes = unified(pairs(q, 20_000, 1), ratings(q, 200, 2), prior=False).notes
    assert notes["a"] == pytest.approx(0.8, abs=0.03)
    assert notes["b"] == pytest.approx(3.0, abs=0.03)
    assert notes["c"] == pytest.approx(1.5, abs=0.05)


def test_ratings_alone_may_join_groups_that_were_never_compared():
    q = np.array([-1.5, -0.5, 0.5, -0.2, 0.6, 1.1])
    one = pairs(q[:3], 600, 1)
    other = pairs(q[3:], 600, 2)
    votes = Comparisons(6, *(np.concatenate([a, b + 3 * (name in ("left", "right"))])
                             for name, a, b in zip(one._fields[1:], one[1:], other[1:], strict=True)))  # fmt: skip
    rated = ratings(q, 60, 3)
    made = unified(votes, rated)
    assert made.notes["groups_by_pairs"] == 2
    np.testing.assert_allclose(made.score, q - q.mean(), rtol=0, atol=0.35)
    with pytest.raises(NotConnected):
        thurstone(votes)
    half = rated._replace(weight=np.where(rated.item < 3, 1.0, 0.0))
    with pytest.raises(NotConnected, match="items fall into 2 groups that neither pairs nor ratings join"):
        unified(votes, half)


@FEW
@given(seed=SEEDS, prior=st.booleans())
def test_the_gradient_is_zero_at_the_answer_and_no_neighbour_is_better(seed: int, prior: bool):
    votes, rated = both(seed)
    made = unified(votes, rated, prior=prior)
    assert made.notes["gradient"] < 1e-8
    best = unified_likelihood(votes, rated, made.score, prior=prior)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        assert unified_likelihood(votes, rated, made.score + rng.normal(0, 0.05, 7), prior=prior) < best


@FEW
@given(seed=SEEDS)
def test_relabelling_permutes_and_swapping_sides_changes_nothing(seed: int):
    votes, rated = both(seed)
    order = np.random.default_rng(seed).permutation(7)
    score = unified(votes, rated).score
    renamed = unified(relabelled(votes, order), rated._replace(item=order[rated.item])).score
    np.testing.assert_allclose(renamed[order], score, rtol=0, atol=1e-8)
    np.testing.assert_allclose(unified(swapped(votes), rated).score, score, rtol=0, atol=1e-8)


@FEW
@given(seed=SEEDS)
def test_another_rating_unit_changes_a_and_b_and_no_score(seed: int):
    votes, rated = both(seed)
    one, other = unified(votes, rated), unified(votes, rated._replace(value=20 * rated.value - 7))
    np.testing.assert_allclose(other.score, one.score, rtol=0, atol=1e-8)
    assert other.notes["a"] == pytest.approx(20 * one.notes["a"], rel=1e-7)
    assert other.notes["b"] == pytest.approx(20 * one.notes["b"] - 7, rel=1e-7)
    assert other.notes["c"] == pytest.approx(one.notes["c"], rel=1e-7)


@FEW
@given(seed=SEEDS)
def test_doubling_moves_nothing_without_the_prior_and_halves_the_variance(seed: int):
    votes, rated = both(seed)
    one = unified(votes, rated, prior=False)
    two = unified(doubled(votes), rated._replace(weight=2 * rated.weight), prior=False)
    np.testing.assert_allclose(two.score, one.score, rtol=0, atol=1e-8)
    np.testing.assert_allclose(two.stderr, one.stderr / np.sqrt(2), rtol=1e-6)


def test_the_covariance_is_that_of_the_standard_errors():
    votes, rated = both(4)
    made = unified(votes, rated)
    covariance = unified_covariance(votes, rated, made.score)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), made.stderr, rtol=1e-6)
    np.testing.assert_allclose(covariance.sum(axis=0), 0.0, rtol=0, atol=1e-12)


def test_replicates_are_the_model_under_those_weights():
    votes, rated = both(6)
    votes = votes._replace(participant=np.arange(votes.left.size) % 4)
    rated = rated._replace(participant=np.arange(rated.item.size) % 4)
    weights = np.array([[1, 1, 1, 1], [0, 2, 1, 1], [0, 0, 0, 0]], dtype=float)
    made = unified_replicate(votes, rated, weights)
    for row, counts in zip(made[:2], weights, strict=False):
        again = unified(
            votes._replace(weight=counts[votes.participant]), rated._replace(weight=counts[rated.participant])
        )
        np.testing.assert_allclose(row, again.score, rtol=0, atol=1e-12)
    assert np.isnan(made[2]).all()


def test_conjugate_gradients_give_the_same_answer(monkeypatch):
    votes, rated = both(5)
    dense = unified(votes, rated).score
    monkeypatch.setattr(newton, "DENSE", 3)
    np.testing.assert_allclose(unified(votes, rated).score, dense, rtol=0, atol=1e-8)


def test_ratings_that_scores_can_match_exactly_are_refused(opinions):
    votes = drawn(0, n=3)
    with pytest.raises(TooFew, match="no item has two different ratings"):
        unified(votes, opinions([0, 1, 2], 0, [1, 2, 3], n=3))
    with pytest.raises(TooFew, match="no item has two different ratings"):
        unified(votes, opinions([0, 1, 2, 2], 0, [1, 2, 3, 3], n=3))


def test_unanimous_answers_need_the_prior(comparisons, opinions):
    votes = comparisons([2, 2, 1], [1, 0, 0], 1)
    rated = opinions([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [1, 2, 2, 3, 3, 4.5])
    with pytest.raises(NotConnected, match="too unanimous for a finite unit"):
        unified(votes, rated, prior=False)
    score = unified(votes, rated).score
    assert score[0] < score[1] < score[2]


def test_each_kind_of_answer_is_needed(comparisons, opinions):
    rated = opinions([0, 0, 1], [0, 1, 0], [1, 2, 3], n=2)
    with pytest.raises(TooFew, match="no rating; unified needs pairwise answers and ratings"):
        unified(comparisons([0, 1], [1, 0]), rated._replace(weight=np.zeros(3)))
    with pytest.raises(TooFew, match="no pairwise answer; unified needs pairwise answers and ratings of the same crit"):
        unified(comparisons([], [], n=2), rated)


def test_what_does_not_fit_together_is_refused(comparisons, opinions):
    rated = opinions([0, 0, 1], [0, 1, 0], [1, 2, 3], n=2)
    with pytest.raises(BadInput, match="votes speak of 3 items, ratings of 2"):
        unified(comparisons([0, 1], [1, 0], n=3), rated)
    with pytest.raises(BadInput, match="rating 1 is nan"):
        unified(comparisons([0, 1], [1, 0]), rated._replace(value=np.array([1, np.nan, 3])))


def test_an_item_without_any_answer_has_no_score(comparisons, opinions):
    votes = comparisons([0, 1, 0], [1, 0, 1], n=4)
    made = unified(votes, opinions([0, 0, 1, 3, 3], [0, 1, 0, 0, 1], [3, 4, 2, 4, 4.5], n=4))
    assert np.isnan(made.score).tolist() == [False, False, True, False]
    assert made.notes["unseen"].tolist() == [2]
    assert np.isnan(made.stderr).tolist() == [False, False, True, False]


def test_ratings_that_run_the_other_way_are_refused():
    q = truth(7, 2)
    votes, rated = pairs(q, 400, 3), ratings(q, 10, 4)
    for prior in (True, False):
        with pytest.raises(CannotScore, match="check which end of the rating scale is good"):
            unified(votes, rated._replace(value=-rated.value), prior=prior)


def test_a_limit_that_is_too_low_is_an_error():
    with pytest.raises(NotConverged, match="after 1 steps"):
        unified(*both(0), max_iterations=1)


def test_analytic_errors_match_the_scatter_of_repeated_studies():
    q = np.array([-1.0, -0.3, 0.2, 1.1])
    made = [unified(pairs(q, 300, seed), ratings(q, 20, seed), prior=False) for seed in range(200)]
    scatter = np.std([one.score for one in made], axis=0)
    np.testing.assert_allclose(scatter, np.mean([one.stderr for one in made], axis=0), rtol=0.2)
