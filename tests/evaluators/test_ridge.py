"""Ridge regression: the closed form against plain linear algebra, and a penalty chosen by what inner folds leave out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from installed import needed
from paragone.errors import BadConfig, BadInput, TooFew
from paragone.evaluators import Task
from paragone.evaluators.learners.nested import inner_folds
from paragone.evaluators.learners.ridge import Ridge, fit_ridge, restore_ridge


def task(n: int = 60, d: int = 5, *, seed: int = 0, noise: float = 1.0) -> Task:
    rng = np.random.default_rng(seed)
    x = rng.normal(2, 3, size=(n, d)).astype(np.float32)
    weights = rng.normal(size=d)
    return Task(x, 10 + x @ weights + noise * rng.normal(size=n), np.arange(n) % 6, "style, fold 2")


def one(given: Task, **options: Any) -> Ridge:
    model = fit_ridge([given], seed=1, **options)[0]
    assert isinstance(model, Ridge)
    return model


def solved(x: NDArray[np.float32], y: NDArray[np.float64], penalty: float, x_out: NDArray[np.float32]) -> Any:
    """Predictions by the normal equations."""
    wide = x.astype(np.float64)
    mean, sd = wide.mean(axis=0), wide.std(axis=0)
    z = (wide - mean) / sd
    weights = np.linalg.solve(z.T @ z + penalty * np.eye(z.shape[1]), z.T @ (y - y.mean()))
    return (x_out - mean) / sd @ weights + y.mean()


@pytest.mark.parametrize(("n", "d"), [(60, 5), (20, 45), (30, 30)])
@pytest.mark.parametrize("penalty", [0.1, 30.0, 1e4])
def test_predictions_are_those_of_the_normal_equations(n: int, d: int, penalty: float) -> None:
    given = task(n, d)
    x_out = task(15, d, seed=3).x
    np.testing.assert_allclose(
        one(given, penalty=penalty).predict(x_out).score, solved(given.x, given.y, penalty, x_out), rtol=1e-8
    )


def test_predictions_are_those_of_scikit_learn() -> None:
    linear = needed("sklearn.linear_model")
    given = task(50, 8)
    z = (given.x - given.x.astype(float).mean(axis=0)) / given.x.astype(float).std(axis=0)
    theirs = linear.Ridge(alpha=7.0).fit(z, given.y)
    ours = one(given, penalty=7.0)
    np.testing.assert_allclose(ours.coefficients, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(given.x).score, theirs.predict(z), rtol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(60, 5), (30, 80)])
def test_the_penalty_has_the_smallest_error_over_inner_folds(n: int, d: int) -> None:
    given = task(n, d, noise=6.0)
    penalties = (0.01, 1.0, 10.0, 100.0, 1e4, 1e6)
    errors = []
    for penalty in penalties:
        wrong = [
            solved(given.x[fold.fit], given.y[fold.fit], penalty, given.x[fold.judge]) - given.y[fold.judge]
            for fold in inner_folds(given.groups, seed=1, name="")
        ]
        errors.append((np.concatenate(wrong) ** 2).mean())
    notes = one(given, penalties=penalties).notes
    assert notes["penalty"] == penalties[int(np.argmin(errors))]
    assert notes["inner_mse"] == pytest.approx(min(errors))
    assert notes["inner_folds"] == 5


def test_noise_takes_a_heavier_penalty_than_a_clear_line() -> None:
    clear, noisy = one(task(noise=0.01)).notes, one(task(noise=1e3)).notes
    assert clear["penalty"] < 1
    assert noisy["penalty"] > 100


def test_a_penalty_at_the_end_of_the_grid_is_told() -> None:
    assert one(task(noise=0.01), penalties=(10.0, 100.0, 1000.0)).notes["penalty_at_edge"] is True
    assert one(task(noise=6.0)).notes["penalty_at_edge"] is False


def test_of_equally_good_penalties_the_largest_is_taken() -> None:
    assert one(task(), penalties=(5.0, 5.0)).notes["penalty"] == 5.0
    given = task(12, 1)._replace(x=np.tile(np.float32([[1], [-1]]), (6, 1)), y=np.tile([1.0, 1.0, -1.0, -1.0], 3))
    assert one(given, penalties=(1.0, 1e3)).notes["penalty"] == 1e3  # no penalty helps where x says nothing


def test_criteria_on_the_same_features_are_fitted_as_if_alone() -> None:
    given = task(50, 70)
    other = given._replace(y=np.random.default_rng(4).normal(size=50), name="content, fold 2")
    apart = given._replace(groups=np.arange(50) % 3)
    models = fit_ridge([given, task(40), other, apart], seed=1, jobs=2)
    for model, alone in zip(models, (given, task(40), other, apart), strict=True):
        expected = one(alone)
        assert isinstance(model, Ridge)
        assert np.array_equal(model.coefficients, expected.coefficients)
        assert model.notes == expected.notes


def test_groups_stay_together_when_the_penalty_is_chosen() -> None:
    """Twins in one group: a model that saw one twin would know the other and take no penalty."""
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(size=(20, 60)), 2, axis=0).astype(np.float32)
    y = np.repeat(rng.normal(size=20), 2)
    together = one(Task(x, y, np.repeat(np.arange(20), 2), "t")).notes["penalty"]
    apart = one(Task(x, y, np.arange(40) % 2, "t")).notes["penalty"]
    assert apart < 1 < together


def test_a_constant_column_says_nothing() -> None:
    given = task()
    given.x[:, 1] = np.float32(0.3)
    model = one(given)
    assert abs(model.coefficients[1]) < 1e-12
    changed = given.x.copy()
    changed[:, 1] = 9
    assert np.array_equal(model.predict(changed).score, model.predict(given.x).score)


def test_columns_that_say_the_same_share_the_weight() -> None:
    given = task(40, 3)
    double = given._replace(x=np.concatenate([given.x, given.x], axis=1))
    weights = one(double, penalty=1e-6).coefficients
    np.testing.assert_allclose(weights[:3], weights[3:], rtol=1e-6)
    np.testing.assert_allclose(weights[:3] * 2, one(given, penalty=1e-9).coefficients, rtol=1e-5)


def test_a_stored_model_predicts_the_same_bits(tmp_path: Any) -> None:
    stored = needed("safetensors.numpy")
    model = one(task())
    stored.save_file(model.arrays(), tmp_path / "weights.safetensors")
    again = restore_ridge(stored.load_file(tmp_path / "weights.safetensors"), model.notes)
    x = task(33, seed=8).x
    assert np.array_equal(model.predict(x).score, again.predict(x).score)
    assert np.isnan(again.predict(x).low).all()


def test_arrays_that_do_not_belong_are_refused() -> None:
    arrays = one(task()).arrays()
    with pytest.raises(BadInput, match="not the arrays of ridge regression: no 'factor'"):
        restore_ridge({name: value for name, value in arrays.items() if name != "factor"}, {})
    with pytest.raises(BadInput, match="do not fit together"):
        restore_ridge({**arrays, "centre": arrays["centre"][1:]}, {})


def test_one_group_needs_a_fixed_penalty() -> None:
    given = task()._replace(groups=np.zeros(60, dtype=np.int64))
    with pytest.raises(TooFew, match="task 'style, fold 2': options are chosen by leaving groups out"):
        one(given)
    assert one(given, penalty=3.0).notes["penalty"] == 3.0


def test_constant_features_are_refused() -> None:
    with pytest.raises(BadInput, match="all features are constant"):
        one(task()._replace(x=np.ones((60, 5), np.float32)), penalty=1.0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"penalty": 0.0}, "penalty is 0.0; it must be a number above 0"),
        ({"penalties": ()}, "penalties holds no value"),
        ({"penalties": (1.0, -1.0)}, "penalties is -1.0"),
        ({"alpha": 1.0}, "no option of 'ridge' 'alpha'"),
    ],
)
def test_an_option_out_of_range_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        one(task(), **options)
