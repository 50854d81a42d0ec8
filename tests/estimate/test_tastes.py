from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from read_votes import doubled, drawn, relabelled, swapped
from scipy.integrate import quad
from scipy.special import expit, log_expit
from scipy.stats import norm, spearmanr

from paragone.errors import BadConfig, NotConnected, NotConverged, TooFew
from paragone.estimate import newton, taste_mixture
from paragone.estimate.arrays import Comparisons
from paragone.estimate.bradley_terry import bradley_terry
from paragone.estimate.taste_mixture import Mixture
from paragone.estimate.tastes import tastes, tastes_covariance, tastes_likelihood, tastes_replicate

SEEDS = st.integers(0, 10**6)
FEW = settings(max_examples=10, deadline=None)


def study(
    seed: int, *, n: int, people: int, each: int, repeats: int, shared: float = 0.5, taste: float = 2.0
) -> tuple[np.ndarray, Comparisons]:
    """Answers as the model has them; the last `repeats` of a person are earlier pairs with their sides swapped."""
    rng = np.random.default_rng(seed)
    s = rng.normal(0, shared, n)
    s -= s.mean()
    columns = []
    for person in range(people):
        own = s + rng.normal(0, taste, n)
        left = rng.integers(n, size=each)
        right = (left + rng.integers(1, n, size=each)) % n
        again = rng.choice(each, repeats, replace=False)
        left, right = np.r_[left, right[again]], np.r_[right, left[again]]
        won = rng.random(left.size) < expit(own[left] - own[right])
        columns.append((left, right, won.astype(float), np.full(left.size, person)))
    left, right, outcome, who = (np.concatenate(column) for column in zip(*columns, strict=True))
    zeros, ones = np.zeros(left.size, dtype=np.int64), np.ones(left.size)
    return s, Comparisons(n, left, right, outcome, who, zeros, ones, ones)


def small(seed: int) -> Comparisons:
    return study(seed, n=5, people=12, each=25, repeats=12, shared=1.0, taste=1.0)[1]


def test_a_unit_s_likelihood_is_the_integral_over_tastes(comparisons):
    # one person answered a pair three times, in two stages; scipy's adaptive quadrature is the oracle
    data = comparisons([0, 0, 1, 2], [1, 1, 0, 1], [1, 1, 1, 1], participant=[0, 0, 0, 1], temperature=[1, 2, 1, 1])
    surface = Mixture(data, 0.0)
    for omega in (0.0, 0.3, 3.0, 12.0):
        d = 0.7

        def answers(z: float, d: float = d, omega: float = omega) -> float:
            y = d + omega * z
            return float(np.exp(log_expit(y) + log_expit(y / 2) + log_expit(-y)) * norm.pdf(z))

        x = np.array([d, 0.0, 0.0, omega])
        wanted = quad(answers, -9, 9, epsabs=1e-14, epsrel=1e-12, points=[-d / omega] if omega else None, limit=500)[0]
        assert surface._units(x).value[0] == pytest.approx(np.log(wanted), abs=1e-9)


def test_a_climb_that_lands_on_no_tastes_goes_on_where_that_is_a_saddle():
    data = small(1627)  # its sixth Newton step lands on omega = 0, a valley of the likelihood
    made = tastes(data)
    surface = Mixture(data, 0.0)
    from_afar = surface.top(np.append(np.zeros(5), 3.0), 1e-9, 100).x
    np.testing.assert_allclose(made.score, from_afar[:-1] - from_afar[:-1].mean(), atol=1e-6)
    assert made.notes["taste_sd"] == pytest.approx(abs(from_afar[-1]) / np.sqrt(2))
    assert made.notes["taste_sd"] > 0.5


@pytest.mark.parametrize(("won", "lost"), [(25, 5), (120, 80), (1, 0)])
@pytest.mark.parametrize("omega", [0.4, 1.2336, 1.2337, 5.0])
def test_many_answers_of_one_person_about_one_pair_are_integrated_as_exactly_as_few(comparisons, won, lost, omega):
    m = won + lost
    data = comparisons(np.zeros(m), np.ones(m), np.arange(m) < won)
    wanted = quad(
        lambda z: np.exp(won * log_expit(0.3 + omega * z) + lost * log_expit(-0.3 - omega * z) - z * z / 2 + 0.6 * m),
        -9, 9, epsabs=0, epsrel=1e-12, limit=500, points=[(np.log(max(won, 0.1) / max(lost, 0.1)) - 0.3) / omega],
    )[0]  # fmt: skip
    got = Mixture(data, 0.0)._units(np.array([0.15, -0.15, omega])).value[0]
    assert got == pytest.approx(np.log(wanted) - 0.6 * m - np.log(2 * np.pi) / 2, abs=1e-10)


def test_a_warm_start_without_tastes_finds_them():
    surface = Mixture(small(1627), 0.0)
    assert abs(surface.top(np.zeros(6), 1e-9, 100).x[-1]) > 0.5


def test_without_tastes_the_likelihood_is_bradley_terry_s():
    data = small(0)
    s = np.random.default_rng(0).normal(size=5)
    won = s[data.left] - s[data.right]
    plain = float((data.outcome * log_expit(won) + (1 - data.outcome) * log_expit(-won)).sum())
    assert Mixture(data, 0.0).at(np.append(s, 0.0)).value == pytest.approx(plain, rel=1e-12)


@FEW
@given(seed=SEEDS, ridge=st.sampled_from([0.0, 0.4]))
def test_derivatives_match_finite_differences(seed: int, ridge: float):
    rng = np.random.default_rng(seed)
    data = small(seed)
    m = data.left.size
    data = data._replace(
        temperature=rng.choice([1.0, 1.5], m), outcome=rng.choice([0, 0.5, 1], m), weight=rng.choice([0.5, 1.0, 2.0], m)
    )
    surface = Mixture(data, ridge)
    x = rng.normal(size=6)
    step, units = 1e-5, np.eye(6)
    point = surface.at(x)
    gradient = [(surface.at(x + step * u).value - surface.at(x - step * u).value) / (2 * step) for u in units]
    np.testing.assert_allclose(point.gradient, gradient, rtol=0, atol=1e-6)
    bent = np.array([surface.at(x - step * u).gradient - surface.at(x + step * u).gradient for u in units]) / (2 * step)
    bent[:5, :5] += surface.gauge
    np.testing.assert_allclose(point.matrix(), bent, rtol=0, atol=1e-6)
    np.testing.assert_allclose(point.curvature(x), point.matrix() @ x, rtol=0, atol=1e-9)


def test_shared_half_and_taste_two_repeat_themselves_but_hardly_agree():
    # shared sd .5, personal sd 2: one person repeats with kappa .53, two people agree with .03
    made = [tastes(study(seed, n=20, people=60, each=40, repeats=20)[1]).notes for seed in range(8)]
    mean = {key: np.mean([notes[key] for notes in made]) for key in ("taste_sd", "kappa_within", "kappa_between")}
    assert mean["taste_sd"] == pytest.approx(2.0, abs=0.2)
    assert mean["kappa_within"] == pytest.approx(0.53, abs=0.03)
    assert mean["kappa_between"] == pytest.approx(0.03, abs=0.015)
    assert np.mean([2 * notes["repeats_agree"] - 1 for notes in made]) == pytest.approx(0.53, abs=0.03)


def test_the_shared_scores_are_recovered_at_least_as_well_as_by_plain_bradley_terry():
    found = []
    for seed in range(12):
        s, data = study(seed, n=25, people=40, each=50, repeats=25, shared=0.7, taste=1.5)
        made = tastes(data)
        plain = bradley_terry(data).score
        found.append(
            (
                np.corrcoef(made.score, s)[0, 1],
                np.corrcoef(plain, s)[0, 1],
                made.score @ s / (s @ s),
                plain @ s / (s @ s),
            )
        )
    ours, plain, slope, attenuated = np.mean(found, axis=0)
    assert ours >= plain - 0.002  # they order items nearly alike; repeats of one person weigh less here
    assert slope == pytest.approx(1.0, abs=0.12)
    assert attenuated < 0.75


def test_people_of_one_taste_give_no_spread():
    tau = [
        tastes(study(seed, n=8, people=30, each=30, repeats=15, shared=1.0, taste=0.0)[1]).notes["taste_sd"]
        for seed in range(8)
    ]
    assert min(tau) < 1e-3  # the maximum lies at 0 in about every second study
    assert max(tau) < 0.8


def test_where_the_maximum_has_no_taste_the_scores_are_bradley_terry_s():
    for seed in range(20):
        data = study(seed, n=6, people=30, each=30, repeats=15, shared=1.0, taste=0.0)[1]
        made = tastes(data)
        if made.notes["taste_sd"] < 1e-3:
            np.testing.assert_allclose(made.score, bradley_terry(data).score, rtol=0, atol=1e-5)
            assert np.isnan(made.notes["taste_sd_stderr"])
            return
    pytest.fail("no study without taste among 20")


def test_standard_errors_match_the_scatter_of_repeated_studies():
    rng = np.random.default_rng(0)
    s = np.array([-0.8, -0.1, 0.3, 0.6])
    scores, errors, tau, tau_error = [], [], [], []
    for _ in range(100):
        own = s + rng.normal(0, 1.5, (40, 4))
        left, right = np.triu_indices(4, 1)
        left, right = np.tile(np.r_[left, left], 40), np.tile(np.r_[right, right], 40)
        who = np.repeat(np.arange(40), 12)
        won = rng.random(who.size) < expit(own[who, left] - own[who, right])
        zeros, ones = np.zeros(who.size, dtype=np.int64), np.ones(who.size)
        made = tastes(Comparisons(4, left, right, won.astype(float), who, zeros, ones, ones))
        scores.append(made.score)
        errors.append(made.stderr)
        tau.append(made.notes["taste_sd"])
        tau_error.append(made.notes["taste_sd_stderr"])
    # every person met every pair, so that the independence of pairs is wrong and only the sandwich is right
    np.testing.assert_allclose(np.std(scores, axis=0), np.mean(errors, axis=0), rtol=0.25)
    assert np.std(tau) == pytest.approx(np.mean(tau_error), rel=0.25)
    assert np.mean(tau) == pytest.approx(1.5, abs=0.1)


@FEW
@given(seed=SEEDS)
def test_the_gradient_is_zero_at_the_answer_and_no_neighbour_is_better(seed: int):
    data = small(seed)
    made = tastes(data)
    assert made.notes["gradient"] < 1e-6
    best = tastes_likelihood(data, made.score)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        assert tastes_likelihood(data, made.score + rng.normal(0, 0.1, 5)) < best + 1e-9


@FEW
@given(seed=SEEDS)
def test_relabelling_permutes_and_swapping_sides_changes_nothing(seed: int):
    data = small(seed)
    order = np.random.default_rng(seed).permutation(data.n)
    score = tastes(data).score
    np.testing.assert_allclose(tastes(relabelled(data, order)).score[order], score, rtol=0, atol=1e-6)
    np.testing.assert_allclose(tastes(swapped(data)).score, score, rtol=0, atol=1e-6)


@FEW
@given(seed=SEEDS)
def test_twice_the_people_move_nothing_and_a_weight_of_two_is_twice_the_person(seed: int):
    data = small(seed)
    one, two = tastes(data), tastes(doubled(data))
    np.testing.assert_allclose(two.score, one.score, rtol=0, atol=1e-5)
    heavy = tastes(data._replace(weight=np.full(data.left.size, 2.0)))
    np.testing.assert_allclose(heavy.score, one.score, rtol=0, atol=1e-5)
    assert heavy.notes["taste_sd"] == pytest.approx(two.notes["taste_sd"], abs=1e-5)


def test_the_covariance_is_that_of_the_standard_errors():
    data = small(4)
    made = tastes(data)
    covariance = tastes_covariance(data, made.score)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), made.stderr, rtol=1e-4)
    np.testing.assert_allclose(covariance.sum(axis=0), 0.0, rtol=0, atol=1e-10)


def test_conjugate_gradients_and_blocks_give_the_same_answer(monkeypatch):
    data = study(3, n=9, people=30, each=30, repeats=15, shared=1.0, taste=1.0)[1]
    dense = tastes(data).score
    monkeypatch.setattr(newton, "DENSE", 0)
    monkeypatch.setattr(taste_mixture, "_BLOCK", 37)
    np.testing.assert_allclose(tastes(data).score, dense, rtol=0, atol=1e-6)


def test_without_repeats_tastes_cannot_be_told_from_noise(comparisons):
    data = comparisons([0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2], participant=range(6))
    with pytest.raises(TooFew, match="nobody answered the same pair twice"):
        tastes(data)


def test_repeats_that_always_agree_leave_tastes_without_a_limit(comparisons):
    data = comparisons([0, 0, 1, 1, 1, 2], [1, 1, 0, 0, 2, 1], participant=[0, 0, 1, 1, 2, 3])
    with pytest.raises(TooFew, match="nobody ever changed an answer on the 2 repeated pairs"):
        tastes(data)


def test_an_undefeated_item_needs_the_ridge(comparisons):
    data = comparisons([0, 0, 1, 1, 0], [1, 2, 2, 2, 2], [1, 1, 1, 0, 1], participant=[0, 0, 1, 1, 2])
    with pytest.raises(NotConnected, match="never lost: item 0"):
        tastes(data)
    assert np.argmax(tastes(data, ridge=1.0).score) == 0
    with pytest.raises(BadConfig, match=r"ridge = '-1\.0' is not 0 or between"):
        tastes(data, ridge=-1.0)


def test_an_item_never_compared_has_no_score(comparisons):
    data = comparisons([0, 0, 0, 1, 3], [1, 1, 1, 0, 3], [1, 0, 1, 1, 1], participant=[0, 0, 1, 1, 0], n=4)
    made = tastes(data)
    assert np.isnan(made.score).tolist() == [False, False, True, True]
    assert made.notes["unseen"].tolist() == [2, 3]


def test_a_limit_that_is_too_low_is_an_error():
    with pytest.raises(NotConverged, match="after 1 steps"):
        tastes(small(0), max_iterations=1)


def test_ties_enter_as_half_a_win_for_each():
    data = drawn(6, n=5, m=200, people=5)
    made = tastes(data)
    assert np.isfinite(made.score).all()
    assert 0 < made.notes["repeats_agree"] < 1


def test_replicates_are_the_model_under_those_weights():
    data = study(1, n=6, people=12, each=40, repeats=20, shared=0.7, taste=1.0)[1]
    weights = np.random.default_rng(0).multinomial(12, np.full(12, 1 / 12), size=4).astype(float)
    wanted = [tastes(data._replace(weight=row[data.participant])).score for row in weights]
    np.testing.assert_allclose(tastes_replicate(data, weights), wanted, rtol=0, atol=1e-5)


def test_replicates_that_determine_nothing_are_nan(comparisons):
    left, right = [0, 1, 2, 0, 1, 1, 2, 0], [1, 2, 0, 1, 0, 2, 1, 1]
    data = comparisons(left, right, 1, participant=[0, 0, 0, 1, 1, 1, 1, 2])
    weights = np.array([[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=float)
    made = tastes_replicate(data, weights)
    # alone, the first repeats no pair, the third never lost, and nobody is nobody
    assert np.isnan(made).all(axis=1).tolist() == [False, True, False, True, True]


@pytest.mark.slow
def test_a_study_of_864_items_and_34584_answers_is_fitted():
    s, data = study(3, n=864, people=264, each=119, repeats=12)
    made = tastes(data)
    assert made.notes["taste_sd"] == pytest.approx(2.0, abs=0.25)  # standard error .08
    assert made.notes["kappa_between"] == pytest.approx(0.03, abs=0.01)
    assert spearmanr(made.score, s)[0] >= spearmanr(bradley_terry(data).score, s)[0]
