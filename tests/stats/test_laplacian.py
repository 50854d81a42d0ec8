"""Graph Laplacians: solved by conjugate gradients, dense and sparse factors alike."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.errors import NotConverged
from paragone.stats import laplacian
from paragone.stats.laplacian import Laplacian, shape_of


def random_laplacian(n=40, ridge=0.0, seed=0):
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(np.triu(rng.random((n, n)) < 0.1, 1) | np.eye(n, k=1, dtype=bool))
    return Laplacian(shape_of(n, i, j), rng.random(i.size) + 0.01, ridge)


def dense(system):
    matrix = np.zeros((system.shape.n, system.shape.n))
    for i, j, weight in zip(system.shape.i, system.shape.j, system.weight, strict=True):
        matrix[[i, j], [i, j]] += weight
        matrix[[i, j], [j, i]] -= weight
    return matrix + system.ridge * np.eye(system.shape.n)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("limits", [{}, {"DENSE_ITEMS": 0}, {"DENSE_ITEMS": 0, "CG_STEPS": 1, "DENSE_RESCUE_ITEMS": 0}])
def test_every_solver_solves(monkeypatch, ridge, limits):
    for name, value in limits.items():
        monkeypatch.setattr(laplacian, name, value)
    system = random_laplacian(ridge=ridge)
    rhs = np.random.default_rng(1).standard_normal(40)
    rhs -= rhs.mean()
    solution = system.solve(rhs, drop=1e-13)
    np.testing.assert_allclose(dense(system) @ solution, rhs, atol=1e-9)
    assert solution.mean() == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_matrix_and_its_pseudo_inverse_are_right(ridge):
    system = random_laplacian(ridge=ridge)
    np.testing.assert_allclose(system.dense(), dense(system), atol=1e-12)
    centre = np.eye(40) - 1 / 40
    inverse = centre @ np.linalg.pinv(dense(system)) @ centre
    np.testing.assert_allclose(system.pseudo_inverse(), inverse, atol=1e-9)


def test_repeated_pairs_add_up():
    twice = Laplacian(shape_of(2, np.array([0, 0]), np.array([1, 1])), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(twice.dense(), [[3.0, -3.0], [-3.0, 3.0]])


def test_a_flat_likelihood_raises():
    flat = Laplacian(shape_of(3, np.array([0, 1]), np.array([1, 2])), np.zeros(2))
    with pytest.raises(NotConverged, match="likelihood of 3 items is flat in some direction"):
        flat.solve(np.array([1.0, 0.0, -1.0]))
