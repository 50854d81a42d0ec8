"""Scales and components come from the rows they are given, and are what linear algebra says."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from paragone.errors import BadInput
from paragone.evaluators.learners.scaling import principal_components, range_scaler, standard_scaler, target_unit


def features(n: int = 40, d: int = 6) -> NDArray[np.float32]:
    rng = np.random.default_rng(0)
    return (rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 7).astype(np.float32)


def test_standard_scores_have_mean_zero_and_deviation_one() -> None:
    z = standard_scaler(features())(features())
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(z.std(axis=0), 1, rtol=1e-12)


def test_ranges_become_minus_one_to_one() -> None:
    z = range_scaler(features())(features())
    np.testing.assert_allclose([z.min(axis=0), z.max(axis=0)], [[-1] * 6, [1] * 6], rtol=1e-12)


def test_a_row_outside_the_range_stays_outside() -> None:
    scaler = range_scaler(np.array([[0.0], [10.0]], np.float32))
    assert scaler(np.array([[20.0]], np.float32)).tolist() == [[3.0]]


@pytest.mark.parametrize("make", [standard_scaler, range_scaler])
@pytest.mark.parametrize("column", [np.full(40, 0.1), 1000 + 1e-5 * np.arange(40)])
def test_a_column_that_only_rounding_moves_is_zero_for_every_item(make, column) -> None:  # type: ignore[no-untyped-def]
    x = features()
    x[:, 3] = column
    strange = x.copy()
    strange[:, 3] = 5000
    assert (make(x)(strange)[:, 3] == 0).all()


@pytest.mark.parametrize(("n", "d"), [(40, 6), (6, 40), (20, 20)])
def test_components_are_the_singular_vectors(n: int, d: int) -> None:
    z = standard_scaler(features(n, d))(features(n, d))
    k = 4
    basis = principal_components(z, k)
    _, s, vt = np.linalg.svd(z, full_matrices=False)
    unit = basis / np.linalg.norm(basis, axis=0)
    np.testing.assert_allclose(np.abs((unit * vt[:k].T).sum(axis=0)), 1, rtol=1e-9)
    np.testing.assert_allclose((z @ unit).std(axis=0), s[:k] / np.sqrt(n), rtol=1e-9)


def test_components_have_a_mean_variance_of_one_and_are_not_whitened() -> None:
    z = standard_scaler(features())(features())
    variance = (z @ principal_components(z, 5)).var(axis=0)
    assert variance.mean() == pytest.approx(1)
    assert variance[0] > 2 * variance[-1]


def test_signs_of_components_are_settled() -> None:
    z = standard_scaler(features())(features())
    basis = principal_components(z, 5)
    assert (basis[np.abs(basis).argmax(axis=0), np.arange(5)] > 0).all()


def test_no_more_components_than_the_rows_span() -> None:
    x = features(8, 30)
    assert principal_components(standard_scaler(x)(x), 256).shape == (30, 7)
    double = np.concatenate([features(), features()], axis=1)
    assert principal_components(standard_scaler(double)(double), 256).shape == (12, 6)


def test_constant_features_have_no_components() -> None:
    with pytest.raises(BadInput, match="all features are constant"):
        principal_components(np.zeros((5, 3)), 2)


def test_features_of_another_width_or_without_numbers_are_refused() -> None:
    scaler = standard_scaler(features())
    with pytest.raises(BadInput, match=r"the model reads 6 columns; these features are \(40, 5\)"):
        scaler(features()[:, :5])
    with pytest.raises(BadInput, match="the features of row 0 hold what is no finite number"):
        scaler(np.full((1, 6), np.nan, np.float32))


def test_the_unit_of_targets_is_their_mean_and_deviation() -> None:
    assert target_unit(np.array([1.0, 3.0])) == (2.0, 1.0)
