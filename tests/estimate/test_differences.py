from __future__ import annotations

import numpy as np
import pytest

from paragone.errors import BadInput
from paragone.estimate.differences import difference_p_values


def test_p_values_are_two_tailed():
    # pwcmp promises two tails and returns one: z = 1.959964 must give .05 and not .025
    p = difference_p_values(np.array([1.959964, 0.0]), np.diag([0.5, 0.5]))
    assert p[0, 1] == pytest.approx(0.05, abs=1e-7)
    np.testing.assert_array_equal(p, p.T)
    assert np.diag(p).tolist() == [1.0, 1.0]


def test_equal_items_have_p_1_and_the_sign_does_not_matter():
    cov = np.diag([0.5, 0.5])
    assert difference_p_values(np.zeros(2), cov)[0, 1] == 1.0
    forward, backward = (difference_p_values(np.array(s), cov)[0, 1] for s in ([0.0, 2.0], [2.0, 0.0]))
    assert forward == backward


def test_scores_that_err_together_differ_more_surely():
    together = np.array([[0.5, 0.4], [0.4, 0.5]])
    alone = np.diag([0.5, 0.5])
    score = np.array([1.0, 0.0])
    assert difference_p_values(score, together)[0, 1] < difference_p_values(score, alone)[0, 1]


def test_far_items_have_a_small_p_and_not_0():
    # scipy.stats.norm.sf(20) * 2
    assert difference_p_values(np.array([20.0, 0.0]), np.diag([0.5, 0.5]))[0, 1] == pytest.approx(5.507e-89, rel=1e-3)


def test_an_item_without_a_score_has_no_p_value():
    cov = np.diag([0.5, np.nan, 0.5])
    cov[1, :] = cov[:, 1] = np.nan
    p = difference_p_values(np.array([1.0, np.nan, 0.0]), cov)
    assert np.isnan(p[1]).all()
    assert np.isnan(p[:, 1]).all()
    assert 0 < p[0, 2] < 1


def test_what_is_no_covariance_is_refused():
    with pytest.raises(BadInput, match=r"covariance is \(2, 2\) for 3 scores"):
        difference_p_values(np.zeros(3), np.eye(2))
    with pytest.raises(BadInput, match="negative variance"):
        difference_p_values(np.zeros(2), np.array([[1.0, 5.0], [5.0, 1.0]]))


def test_half_of_equal_studies_fall_below_one_half():
    rng = np.random.default_rng(0)
    cov = np.diag([0.5, 0.5])
    p = [difference_p_values(rng.normal(0, np.sqrt(0.5), 2), cov)[0, 1] for _ in range(2000)]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.015)  # 3 standard errors
    assert np.mean(np.array(p) < 0.5) == pytest.approx(0.5, abs=0.035)
