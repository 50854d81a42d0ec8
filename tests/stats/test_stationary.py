"""Scores in balance: elimination, Newton's method and its rescue give one answer, and say so when there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import NotConverged
from paragone.stats import stationary
from paragone.stats.laplacian import shape_of
from paragone.stats.stationary import Flows, balance


def walk(seed, *, n=30, bend=None):
    """A random walk along a path and some more edges, with shares over three orders of magnitude."""
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(np.triu(rng.random((n, n)) < 0.1, 1) | np.eye(n, k=1, dtype=bool))
    share = 1 / (1 + 10 ** rng.uniform(-3, 3, i.size))
    bends = None if bend is None else rng.choice([0.0, bend], i.size)
    return Flows(shape_of(n, i, j), to_j=share, to_i=1 - share, bend=bends)


def imbalance(flows, score):
    """max |inflow / outflow - 1|, edge by edge in logs."""
    i, j = flows.shape.i, flows.shape.j
    bend = 0 if flows.bend is None else flows.bend
    d = score[i] - score[j]
    up = flows.to_j * np.exp(score[i] - bend * d)
    down = flows.to_i * np.exp(score[j] + bend * d)
    leave = np.bincount(i, up, minlength=score.size) + np.bincount(j, down, minlength=score.size)
    enter = np.bincount(i, down, minlength=score.size) + np.bincount(j, up, minlength=score.size)
    return np.abs(enter / leave - 1).max()


@given(seed=st.integers(0, 10_000), bend=st.sampled_from([None, 1 / 6, 0.4]))
@settings(max_examples=40, deadline=None)
def test_what_enters_an_item_leaves_it(seed, bend):
    flows = walk(seed, bend=bend)
    found = balance(flows)
    assert imbalance(flows, found.score) < 1e-8
    assert found.score.mean() == pytest.approx(0, abs=1e-12)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_newton_from_a_poor_start_finds_what_elimination_finds(seed):
    flows = walk(seed)
    eliminated = balance(flows)
    iterated = balance(flows, start=np.random.default_rng(seed).standard_normal(flows.shape.n))
    assert eliminated.iterations == 0
    assert iterated.iterations > 0
    np.testing.assert_allclose(iterated.score, eliminated.score, atol=1e-7)


@pytest.mark.parametrize("dense_items", [0, 2000])
def test_the_rescue_finds_it_too(monkeypatch, dense_items):
    flows = walk(5, bend=0.3)
    plain = balance(flows)
    monkeypatch.setattr(stationary, "ELIMINATED_ITEMS", 0)
    monkeypatch.setattr(stationary, "KRYLOV_STEPS", 1)
    monkeypatch.setattr(stationary, "DENSE_ITEMS", dense_items)
    np.testing.assert_allclose(balance(flows).score, plain.score, atol=1e-9)


def test_tiny_probabilities_keep_their_precision():
    # A path with odds 9 : 1 to the left: pi falls by 9 from item to item, over 286 orders of magnitude.
    n = 300
    flows = Flows(shape_of(n, np.arange(n - 1), np.arange(1, n)), to_j=np.full(n - 1, 0.1), to_i=np.full(n - 1, 0.9))
    np.testing.assert_allclose(np.diff(balance(flows).score), -np.log(9), rtol=1e-10)


def test_a_stalled_iteration_raises(monkeypatch):
    monkeypatch.setattr(stationary, "NEWTON_STEPS", 1)
    monkeypatch.setattr(stationary, "ELIMINATED_ITEMS", 0)
    with pytest.raises(NotConverged, match="walk over 30 items: no balance within 1 steps"):
        balance(walk(1, bend=0.4))
