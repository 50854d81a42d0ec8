"""Fréchet distance and KID: written-out cases, closed forms, and what their estimators promise."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import linalg

from paragone.errors import BadInput, TooFew
from paragone.features import Moments, frechet_distance, kid, moments_distance, paired_kid


def test_the_written_out_cases(shared: Callable[[str], Path]) -> None:
    """frechet_gram.json: sample covariance (ddof 1), float64; one set has fewer vectors than numbers."""
    case = json.loads(shared("metrics/frechet_gram.json").read_text(encoding="utf-8"))["frechet"]
    a, b, c = (np.array(case[name]) for name in ("A_64x16", "B_48x16", "C_6x16_rank_deficient"))
    assert frechet_distance(a, b) == pytest.approx(case["fd(A,B)"], abs=1e-6)
    assert frechet_distance(a, c) == pytest.approx(case["fd(A,C)"], abs=1e-6)
    assert frechet_distance(a, a) == pytest.approx(0.0, abs=1e-9)


def test_laws_that_share_their_axes_have_a_closed_form() -> None:
    first, second = Moments(np.array([1.0, 2, 3]), np.diag([1.0, 4, 9])), Moments(np.zeros(3), np.diag([4.0, 4, 1]))
    assert moments_distance(first, second) == pytest.approx(14.0 + (1 - 2) ** 2 + 0 + (3 - 1) ** 2)


def test_it_equals_the_square_root_of_the_product_of_full_rank() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((60, 5)), rng.standard_normal((50, 5)) @ rng.standard_normal((5, 5)) + 1.0
    s, t = np.cov(a.T), np.cov(b.T)
    plain = ((a.mean(axis=0) - b.mean(axis=0)) ** 2).sum() + np.trace(s + t - 2 * linalg.sqrtm(s @ t).real)
    assert frechet_distance(a, b) == pytest.approx(plain, rel=1e-10)
    assert frechet_distance(b, a) == pytest.approx(plain, rel=1e-10)


def test_kid_is_the_sum_over_pairs_that_it_says() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((4, 3)), rng.standard_normal((5, 3)) + 0.5

    def k(x: np.ndarray, y: np.ndarray) -> float:
        return float((x @ y / 3 + 1) ** 3)

    within = [np.mean([k(x, y) for i, x in enumerate(s) for j, y in enumerate(s) if i != j]) for s in (a, b)]
    between = np.mean([k(x, y) for x in a for y in b])
    assert kid(a, b) == pytest.approx(within[0] + within[1] - 2 * between, rel=1e-12)


def test_kid_of_one_law_is_zero_on_average_and_below_it_at_times() -> None:
    rng = np.random.default_rng(2)
    values = np.array([kid(rng.standard_normal((12, 4)), rng.standard_normal((12, 4))) for _ in range(400)])
    assert abs(values.mean()) < 3 * values.std() / 20
    assert values.min() < 0 < values.max()


def test_few_vectors_of_many_numbers_keep_their_digits() -> None:
    """Two sets on two lines through one point, at a right angle: no covariance has an inverse, the law is closed."""
    rng = np.random.default_rng(4)
    s, t = rng.standard_normal(5), rng.standard_normal(6)
    a, b = np.zeros((5, 300)), np.zeros((6, 300))
    a[:, 0], b[:, 1] = s - s.mean(), t - t.mean()
    assert frechet_distance(a, b) == pytest.approx(s.var(ddof=1) + t.var(ddof=1), rel=1e-12)
    b[:, 1], b[:, 0] = 0.0, t - t.mean()
    assert frechet_distance(a, b) == pytest.approx((s.std(ddof=1) - t.std(ddof=1)) ** 2, rel=1e-9)


def test_paired_kid_is_the_sum_over_different_pairs_that_it_says() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((5, 3)), rng.standard_normal((5, 3)) + 0.5

    def k(x: np.ndarray, y: np.ndarray) -> float:
        return float((x @ y / 3 + 1) ** 3)

    def h(i: int, j: int) -> float:
        return k(a[i], a[j]) + k(b[i], b[j]) - k(a[i], b[j]) - k(a[j], b[i])

    pairs = [(i, j) for i in range(5) for j in range(5) if i != j]
    assert paired_kid(a, b)[0] == pytest.approx(np.mean([h(i, j) for i, j in pairs]), rel=1e-12)
    w = np.array([2.0, 0, 1, 1, 1])
    wanted = sum(w[i] * w[j] * h(i, j) for i, j in pairs) / sum(w[i] * w[j] for i, j in pairs)
    got = paired_kid(a, b, weights=np.array([w, np.ones(5), [5.0, 0, 0, 0, 0]]))
    assert got[:2] == pytest.approx([wanted, paired_kid(a, b)[0]], rel=1e-12)
    assert np.isnan(got[2])
    assert paired_kid(a, a)[0] == pytest.approx(0.0, abs=1e-12)


def test_partners_that_are_alike_pull_kid_below_zero_but_not_paired_kid() -> None:
    rng = np.random.default_rng(5)
    plain, paired = [], []
    for _ in range(400):
        scene = rng.standard_normal((8, 4))
        sets = [scene + 0.3 * rng.standard_normal((8, 4)) for _ in range(2)]
        plain.append(kid(*sets))
        paired.append(paired_kid(*sets)[0])
    assert abs(np.mean(paired)) < 3 * np.std(paired) / 20
    assert np.mean(plain) < -5 * np.std(plain) / 20


def test_sets_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(TooFew, match="a set of 1 pictures has no spread"):
        frechet_distance(np.ones((1, 3)), np.ones((4, 3)))
    with pytest.raises(BadInput, match="vectors of 3 and of 4 numbers are not comparable"):
        kid(np.ones((3, 3)), np.ones((3, 4)))
    with pytest.raises(BadInput, match="finite numbers"):
        frechet_distance(np.full((3, 3), np.nan), np.ones((3, 3)))
    with pytest.raises(BadInput, match="4 vectors have no partners among 3"):
        paired_kid(np.ones((4, 3)), np.ones((3, 3)))
