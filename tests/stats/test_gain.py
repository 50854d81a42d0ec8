"""Information in one more comparison, and the tree of most informative pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit, ndtr
from scipy.stats import norm

from paragone.errors import BadInput
from paragone.stats import gain as module
from paragone.stats.gain import information_gain, spanning_pairs

ONE, TWO = np.array([0]), np.array([1])


def entropy(p: float) -> float:
    return float(-p * np.log2(p) - (1 - p) * np.log2(1 - p))


def test_scores_that_are_known_leave_nothing_to_learn() -> None:
    for difference in (0.0, 1.0, 9.0):
        draws = np.tile([difference, 0.0], (50, 1))
        assert information_gain(draws, ONE, TWO)[0] == pytest.approx(0.0, abs=1e-12)


def test_an_outcome_that_settles_an_open_question_is_worth_one_bit() -> None:
    draws = np.array([[60.0, 0.0], [-60.0, 0.0]] * 20)
    assert information_gain(draws, ONE, TWO)[0] == pytest.approx(1.0)
    assert information_gain(draws, ONE, TWO, link="normal")[0] == pytest.approx(1.0)


@pytest.mark.parametrize(("link", "chance"), [("logistic", expit), ("normal", ndtr)])
@pytest.mark.parametrize(("mean", "sd"), [(0.0, 1.0), (1.5, 0.5), (0.3, 3.0)])
def test_it_is_the_mutual_information_by_numerical_integration(link, chance, mean: float, sd: float) -> None:  # type: ignore[no-untyped-def]
    marginal = quad(lambda x: chance(x) * norm.pdf(x, mean, sd), mean - 9 * sd, mean + 9 * sd)[0]
    known = quad(
        lambda x: entropy(min(max(chance(x), 1e-15), 1 - 1e-15)) * norm.pdf(x, mean, sd),
        mean - 9 * sd,
        mean + 9 * sd,
        limit=200,
    )[0]
    quantiles = norm.ppf((np.arange(20_000) + 0.5) / 20_000, mean, sd)
    draws = np.stack([quantiles, np.zeros(20_000)], axis=1)
    # 20,000 quantiles stand for the density; their error is far below a thousandth of a bit
    assert information_gain(draws, ONE, TWO, link=link)[0] == pytest.approx(entropy(marginal) - known, abs=1e-4)


@given(st.integers(2, 40), st.integers(2, 8), st.integers(0, 999))
@settings(max_examples=60, deadline=None)
def test_order_and_origin_do_not_matter_and_gains_are_bits(r: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    draws = 3 * rng.standard_normal((r, n))
    i, j = np.triu_indices(n, 1)
    gain = information_gain(draws, i, j)
    assert ((gain >= 0) & (gain <= 1)).all()
    assert information_gain(draws + rng.standard_normal((r, 1)), j, i) == pytest.approx(gain, abs=1e-9)


def test_a_wider_posterior_promises_more() -> None:
    draws = np.random.default_rng(0).standard_normal((500, 2))
    gains = [information_gain(width * draws, ONE, TWO)[0] for width in (0.1, 0.5, 1.0, 3.0)]
    assert gains == sorted(gains)


def test_draws_without_a_score_are_left_out() -> None:
    draws = np.array([[1.0, 0.0, np.nan], [-1.0, 0.0, np.nan], [np.nan, 0.0, 1.0]])
    gain = information_gain(draws, np.array([0, 1]), np.array([1, 2]))
    assert gain[0] == pytest.approx(information_gain(draws[:2, :2], ONE, TWO)[0])
    assert np.isnan(gain[1])


def test_pieces_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(0).standard_normal((30, 6))
    i, j = np.triu_indices(6, 1)
    whole = information_gain(draws, i, j)
    monkeypatch.setattr(module, "_CELLS", 60)
    assert information_gain(draws, i, j).tolist() == whole.tolist()


def test_what_are_no_draws_is_refused() -> None:
    with pytest.raises(BadInput, match=r"at least two draws, not one of shape \(1, 2\)"):
        information_gain(np.zeros((1, 2)), ONE, TWO)
    with pytest.raises(BadInput, match="a draw holds an infinite score"):
        information_gain(np.array([[np.inf, 0.0], [0.0, 0.0]]), ONE, TWO)


@given(st.integers(2, 6), st.integers(0, 999))
@settings(max_examples=60, deadline=None)
def test_the_tree_has_the_largest_sum_of_all_trees(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    order = rng.permutation(i.size)
    i, j = i[order], j[order]
    gain = rng.random(i.size)

    def connected(chosen: tuple[int, ...]) -> bool:
        reach = {0}
        for _ in range(n):
            reach |= {b for k in chosen for a, b in ((i[k], j[k]), (j[k], i[k])) if a in reach}
        return len(reach) == n

    trees = [tree for tree in itertools.combinations(range(i.size), n - 1) if connected(tree)]
    best = max(trees, key=lambda tree: gain[list(tree)].sum())
    assert spanning_pairs(n, i, j, gain).tolist() == sorted(best)


def test_a_forest_connects_what_can_be_connected() -> None:
    i, j = np.array([0, 3, 0, 1]), np.array([1, 4, 2, 2])
    assert spanning_pairs(6, i, j, np.array([0.1, 0.0, 0.9, 0.5])).tolist() == [1, 2, 3]
    none = np.empty(0, dtype=np.int64)
    assert spanning_pairs(3, none, none, np.empty(0)).size == 0
