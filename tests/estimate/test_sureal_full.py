from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from paragone.errors import BadConfig, NotConnected, NotConverged, TooFew
from paragone.estimate.arrays import Opinions
from paragone.estimate.incidence import incidence
from paragone.estimate.subject_model import middle_variance, p910
from paragone.estimate.sureal_full import _climb, sureal


def simulated(seed: int, *, n: int = 40, p: int = 20, contents: int = 4, ambiguous: float = 1.0, seen: float = 1.0):
    """Ratings by the model itself: the last content is `ambiguous`, the others hardly."""
    rng = np.random.default_rng(seed)
    who, item = np.nonzero(rng.random((p, n)) < seen)
    content = np.arange(n) % contents
    a = np.full(contents, 0.2)
    a[-1] = ambiguous
    truth, bias, v = rng.uniform(1, 5, n), rng.normal(0, 0.3, p), rng.uniform(0.3, 0.8, p)
    noise = v[who] * rng.normal(size=item.size) + a[content[item]] * rng.normal(size=item.size)
    value = truth[item] + bias[who] + noise
    data = Opinions(n, p, item, who, 0 * item, value, np.ones(item.size), np.full(n, -1), content)
    return data, truth, bias


def total(data: Opinions, notes) -> np.ndarray:
    """Variance of each rating."""
    return (
        notes["participant_inconsistency"][data.participant] ** 2
        + notes["content_ambiguity"][data.content[data.item]] ** 2
    )


def test_the_log_likelihood_is_that_of_normal_errors_with_both_variances():
    data, _, _ = simulated(1)
    got = sureal(data, prior=0)
    mean = got.score[data.item] + got.notes["participant_bias"][data.participant]
    expected = norm.logpdf(data.value, mean, np.sqrt(total(data, got.notes))).sum()
    assert got.notes["log_likelihood"] == pytest.approx(expected)


@pytest.mark.parametrize("prior", [0.0, 5.0])
def test_no_round_lowers_the_likelihood(prior):
    data, _, _ = simulated(2, seen=0.8)
    table = incidence(data)
    trace = _climb(data, table, prior, middle_variance(table), 1e-8, 200).trace
    assert len(trace) > 3
    assert (np.diff(trace) > -1e-9).all()


def test_a_general_optimiser_finds_nothing_higher():
    data, _, _ = simulated(3, n=36, p=16, contents=3)
    got = sureal(data, prior=0)
    n, p = data.n, data.p

    def cost(x):
        mean = x[:n][data.item] + x[n : n + p][data.participant]
        spread = x[n + p : n + 2 * p][data.participant] ** 2 + x[n + 2 * p :][data.content[data.item]] ** 2
        return -norm.logpdf(data.value, mean, np.sqrt(spread)).sum()

    notes = got.notes
    top = np.r_[got.score, notes["participant_bias"], notes["participant_inconsistency"], notes["content_ambiguity"]]
    rng = np.random.default_rng(0)
    for _ in range(3):
        start = top + rng.normal(0, 0.05, top.size)
        start[n + p :] = np.abs(start[n + p :]) + 0.05
        assert minimize(cost, start, method="L-BFGS-B").fun > -notes["log_likelihood"] - 1e-6


def test_the_ambiguous_content_is_found_and_its_items_are_less_sure():
    data, _, _ = simulated(4, ambiguous=1.5)
    got = sureal(data, prior=0)
    assert got.notes["content_ambiguity"].argmax() == 3
    assert got.stderr[data.content == 3].min() > got.stderr[data.content != 3].max()


def test_where_the_common_variance_goes_changes_no_score():
    data, _, _ = simulated(5)
    to_contents, to_people = sureal(data, prior=0), sureal(data, prior=0, split="participants")
    np.testing.assert_array_equal(to_contents.score, to_people.score)
    np.testing.assert_allclose(to_contents.stderr, to_people.stderr)
    np.testing.assert_allclose(total(data, to_contents.notes), total(data, to_people.notes))
    assert to_contents.notes["participant_inconsistency"].min() == 0
    assert to_people.notes["content_ambiguity"].min() == 0
    moved = to_people.notes["participant_inconsistency"] ** 2 - to_contents.notes["participant_inconsistency"] ** 2
    np.testing.assert_allclose(moved, to_people.notes["movable_variance"])
    assert to_contents.notes["separately_identified"] is False


def test_a_prior_settles_the_split():
    data, _, _ = simulated(6)
    notes = sureal(data, prior=5).notes
    assert notes["separately_identified"] is True
    assert notes["movable_variance"] == 0.0
    assert notes["participant_inconsistency"].min() > 0


def test_a_single_rating_that_joins_two_groups_fits_exactly_and_is_named(opinions):
    """Two halves of the people rated two contents each; only participant 0 rated one item of the other half."""
    rng = np.random.default_rng(0)
    half = [(i, j) for i in range(8) for j in range(20)] + [(i, j) for i in range(8, 16) for j in range(20, 40)]
    who, item = np.array(half).T
    value = rng.normal(3, 1, 40)[item] + rng.normal(0, 0.5, item.size)
    content = np.arange(40) // 10
    joined = opinions(np.append(item, 20), np.append(who, 0), np.append(value, 3.0), content=content)
    with pytest.raises(TooFew, match="participant 0 on content 2"):
        sureal(joined, prior=0)
    assert np.isfinite(sureal(joined, prior=5).score).all()
    with pytest.raises(NotConnected):
        sureal(opinions(item, who, value, content=content))


def test_one_content_is_the_model_of_p910():
    data, _, _ = simulated(7)
    alone = data._replace(content=0 * data.content)
    for prior in (0.0, 5.0):
        got, expected = sureal(alone, prior=prior), p910(alone, prior=prior)
        np.testing.assert_allclose(got.score, expected.score, atol=1e-5)
        np.testing.assert_allclose(
            got.notes["participant_inconsistency"], expected.notes["participant_inconsistency"], atol=1e-4
        )
        assert got.notes["content_ambiguity"].tolist() == [0.0]


def test_few_ratings_are_refused_or_steadied_by_the_prior():
    data, _, _ = simulated(8, n=30, p=12, seen=0.2)
    with pytest.raises(TooFew, match=r"variance of participant \d+ on content \d+ falls to 0 .* set prior above 0"):
        sureal(data, prior=0)
    steadied = sureal(data, prior=5)
    assert np.nanmin(steadied.stderr) > 0.05
    assert steadied.notes["items_not_rated"] == [0, 27]


def test_a_limit_an_exact_fit_and_impossible_options_are_errors(opinions):
    data, _, _ = simulated(9)
    with pytest.raises(NotConverged, match="raise max_iterations"):
        sureal(data, prior=0, max_iterations=2)
    with pytest.raises(TooFew, match="no variance to divide"):
        sureal(opinions([0, 1, 0, 1], [0, 0, 1, 1], [1, 2, 2, 3]))
    with pytest.raises(BadConfig, match="prior = 'nan' is not 0 or between"):
        sureal(data, prior=float("nan"))
    with pytest.raises(BadConfig, match="split = 'half'"):
        sureal(data, split="half")
