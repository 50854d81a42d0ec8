"""The spectral gap against closed forms: rings and paths have eigenvalues that can be written down."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.stats.spectrum import spectral_gap


def ring(n, share):
    """Each item against the next; the share of wins that goes to the next."""
    i, j = np.arange(n), (np.arange(n) + 1) % n
    return n, i, j, np.full(n, 1 - share), np.full(n, share)


def path(n, share):
    return n, np.arange(n - 1), np.arange(1, n), np.full(n - 1, 1 - share), np.full(n - 1, share)


@pytest.mark.parametrize("n", [5, 40, 301, 900])
@pytest.mark.parametrize("share", [0.5, 0.75, 1.0])
def test_a_ring_has_the_gap_of_its_roots_of_unity(n, share):
    w = np.exp(2j * np.pi / n)
    eigenvalue = 0.5 + share / 2 * w + (1 - share) / 2 / w
    gap = spectral_gap(*ring(n, share))
    assert gap.gap == pytest.approx(1 - abs(eigenvalue), rel=1e-5, abs=1e-12)
    assert gap.d_max == 2


@pytest.mark.parametrize("n", [4, 100, 320, 900])
def test_a_path_has_the_gap_of_its_symmetric_form(n):
    # Birth and death with rates 1/8 and 3/8: 1/2 + 2 sqrt(3/64) cos(pi / n), of a matrix far from normal as it stands.
    gap = spectral_gap(*path(n, 0.25))
    assert gap.gap == pytest.approx(0.5 - 2 * np.sqrt(3 / 64) * np.cos(np.pi / n), rel=1e-6)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_random_walks_have_the_gap_of_their_dense_matrix(seed):
    rng = np.random.default_rng(seed)
    n = 7
    i, j = np.nonzero(np.triu(rng.random((n, n)) < 0.7, 1))
    share = rng.random(i.size)
    d_max = (np.bincount(i, minlength=n) + np.bincount(j, minlength=n)).max()
    p = np.zeros((n, n))
    p[i, j], p[j, i] = share / d_max, (1 - share) / d_max
    seen = p.any(axis=1)
    p += np.diag(1 - p.sum(axis=1))
    moduli = np.sort(np.abs(np.linalg.eigvals(p[np.ix_(seen, seen)])))
    assert spectral_gap(n, i, j, 1 - share, share).gap == pytest.approx(1 - moduli[-2], abs=1e-9)


def test_a_large_walk_has_the_gap_of_its_dense_matrix():
    n = 400
    rng = np.random.default_rng(1)
    i, j = np.nonzero(np.triu(rng.random((n, n)) < 0.1, 1))
    share = rng.random(i.size)
    d_max = (np.bincount(i, minlength=n) + np.bincount(j, minlength=n)).max()
    p = np.zeros((n, n))
    p[i, j], p[j, i] = share / d_max, (1 - share) / d_max
    p += np.diag(1 - p.sum(axis=1))
    moduli = np.sort(np.abs(np.linalg.eigvals(p)))
    assert spectral_gap(n, i, j, 1 - share, share).gap == pytest.approx(1 - moduli[-2], abs=1e-8)


@pytest.mark.parametrize("n", [60, 400])
def test_the_order_of_the_pairs_and_their_ends_changes_nothing(n):
    rng = np.random.default_rng(n)
    i, j = np.nonzero(np.triu(rng.random((n, n)) < 20 / n, 1))
    share = rng.random(i.size)
    order, turned = rng.permutation(i.size), rng.random(i.size) < 0.5
    a, b = np.where(turned, j, i)[order], np.where(turned, i, j)[order]
    share_a = np.where(turned, share, 1 - share)[order]
    one, other = spectral_gap(n, i, j, 1 - share, share), spectral_gap(n, a, b, share_a, 1 - share_a)
    assert other.gap == pytest.approx(one.gap, abs=1e-8)
    assert one.residual < 1e-6


def test_a_known_stationary_distribution_gives_the_same_gap():
    pair = path(400, 0.25)
    known = spectral_gap(*pair, score=-np.arange(400) * np.log(3.0))
    assert known.gap == pytest.approx(spectral_gap(*pair).gap, rel=1e-6)


def test_a_walk_with_two_ends_has_no_gap_and_one_with_a_single_end_has():
    # Winners 1 and 2 of item 0 never meet and keep the walk; with winner 1 alone the rest is transient.
    two = spectral_gap(3, np.array([0, 0]), np.array([1, 2]), np.zeros(2), np.ones(2))
    one = spectral_gap(2, np.array([0]), np.array([1]), np.zeros(1), np.ones(1))
    assert two.gap == 0
    assert one.gap == pytest.approx(1.0)


def test_two_groups_have_no_gap():
    assert spectral_gap(4, np.array([0, 2]), np.array([1, 3]), np.full(2, 0.5), np.full(2, 0.5)).gap == 0


def test_no_pair_has_no_gap():
    nothing = np.empty(0)
    gap = spectral_gap(3, nothing.astype(np.int64), nothing.astype(np.int64), nothing, nothing)
    assert np.isnan(gap.gap)
    assert gap.d_max == 0
