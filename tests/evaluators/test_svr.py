"""Support vector regression: LIBSVM's numbers, predicted by our own kernel, chosen by inner folds of whole groups."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from installed import needed
from paragone.errors import BadConfig, BadInput, MissingExtra, TooFew
from paragone.evaluators import Task
from paragone.evaluators.learners.nested import inner_folds
from paragone.evaluators.learners.svr import SupportVectors, fit_svr, restore_svr

FIXED = {"c": (3.0,), "gamma": (0.8,), "epsilon": (0.2,)}


@pytest.fixture(autouse=True)
def _sklearn() -> None:
    needed("sklearn")


def task(n: int = 60, d: int = 4, *, seed: int = 0) -> Task:
    rng = np.random.default_rng(seed)
    x = rng.normal(2, 3, size=(n, d)).astype(np.float32)
    return Task(x, 50 + 8 * np.sin(x[:, 0] / 2) + rng.normal(size=n), np.arange(n) % 6, "appeal, fold 3")


def one(given: Task, **options: Any) -> SupportVectors:
    model = fit_svr([given], seed=1, **options)[0]
    assert isinstance(model, SupportVectors)
    return model


def by_sklearn(given: Task, x_out: Any, c: float, gamma: float, epsilon: float) -> Any:
    """The same through scikit-learn's own scaler and predict."""
    preprocessing, svm = needed("sklearn.preprocessing"), needed("sklearn.svm")
    scaler = preprocessing.MinMaxScaler((-1, 1)).fit(given.x.astype(np.float64))
    y = (given.y - given.y.mean()) / given.y.std()
    fitted = svm.SVR(C=c, gamma=gamma / given.x.shape[1], epsilon=epsilon).fit(
        scaler.transform(given.x.astype(float)), y
    )
    return fitted.predict(scaler.transform(x_out.astype(np.float64))) * given.y.std() + given.y.mean()


@pytest.mark.parametrize(("n", "d"), [(60, 4), (30, 1), (40, 35)])
def test_predictions_are_those_of_scikit_learn(n: int, d: int) -> None:
    given, x_out = task(n, d), task(25, d, seed=5).x
    expected = by_sklearn(given, x_out, 3.0, 0.8, 0.2)
    np.testing.assert_allclose(one(given, **FIXED).predict(x_out).score, expected, rtol=1e-10)


def test_prediction_is_the_sum_over_support_vectors_as_written() -> None:
    model = one(task(), **FIXED)
    x = task(3, seed=7).x
    z = model.scaler(x)
    plain = [
        model.intercept
        + sum(w * np.exp(-model.gamma * ((row - v) ** 2).sum()) for v, w in zip(model.vectors, model.dual, strict=True))
        for row in z
    ]
    np.testing.assert_allclose(model.predict(x).score, model.unit.mean + model.unit.sd * np.array(plain), rtol=1e-12)


def test_held_out_rows_of_a_curve_are_predicted() -> None:
    given, out = task(300, 2), task(200, 2, seed=1)
    score = one(given).predict(out.x).score
    assert 1 - ((score - out.y) ** 2).mean() / out.y.var() > 0.8


def test_the_kernel_has_the_smallest_error_over_inner_folds() -> None:
    given = task()
    grid = {"c": (0.1, 10.0), "gamma": (0.3, 3.0), "epsilon": (0.1, 0.5)}
    errors = {}
    for c in grid["c"]:
        for gamma in grid["gamma"]:
            for epsilon in grid["epsilon"]:
                wrong = []
                for fold in inner_folds(given.groups, seed=1, name=""):
                    inside = Task(given.x[fold.fit], given.y[fold.fit], given.groups[fold.fit], "")
                    said = by_sklearn(inside, given.x[fold.judge], c, gamma, epsilon)
                    wrong.append(said - given.y[fold.judge])
                errors[c, gamma, epsilon] = float((np.concatenate(wrong) ** 2).mean())
    notes = one(given, **grid).notes
    best = min(errors, key=lambda key: errors[key])
    assert (notes["c"], notes["gamma"], notes["epsilon"]) == best
    assert notes["inner_mse"] == pytest.approx(errors[best])


def test_a_solver_that_stops_at_its_cap_is_told() -> None:
    capped = one(task(), **FIXED, iterations=3).notes
    assert capped["at_iteration_cap"] is True
    assert capped["note"] == "the solver stopped at its cap of 3 steps"
    free = one(task(), **FIXED).notes
    assert free["at_iteration_cap"] is False
    assert "note" not in free


def test_tasks_together_are_fitted_as_if_alone() -> None:
    tasks = [task(), task(40, 3, seed=2), task()._replace(y=task(seed=9).y, name="other")]
    for model, given in zip(fit_svr(tasks, seed=1, jobs=2), tasks, strict=True):
        alone = one(given).arrays()
        assert all(np.array_equal(value, alone[name]) for name, value in model.arrays().items())


def test_an_inner_fold_without_spread_is_no_obstacle() -> None:
    y = np.zeros(12)
    y[:6] = np.arange(6)
    given = Task(task(12).x, y, np.repeat([0, 1], 6), "t")  # without group 0 all targets are 0
    assert np.isfinite(one(given).predict(given.x).score).all()


def test_a_stored_model_predicts_the_same_bits_without_scikit_learn(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = needed("safetensors.numpy")
    model = one(task(), **FIXED)
    stored.save_file(model.arrays(), tmp_path / "weights.safetensors")
    x = task(33, seed=8).x
    expected = model.predict(x).score
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == "sklearn":
            raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    again = restore_svr(stored.load_file(tmp_path / "weights.safetensors"), model.notes)
    assert np.array_equal(again.predict(x).score, expected)
    assert np.isnan(again.predict(x).high).all()
    with pytest.raises(MissingExtra, match=r"training 'svr' needs scikit-learn: pip install 'paragone\[learn\]'"):
        one(task())


def test_arrays_that_do_not_belong_are_refused() -> None:
    arrays = one(task(), **FIXED).arrays()
    with pytest.raises(BadInput, match="not the arrays of 'svr': no 'dual'"):
        restore_svr({name: value for name, value in arrays.items() if name != "dual"}, {})
    with pytest.raises(BadInput, match="do not fit together"):
        restore_svr({**arrays, "vectors": arrays["vectors"][1:]}, {})


def test_one_group_needs_a_fixed_kernel() -> None:
    given = task()._replace(groups=np.zeros(60, dtype=np.int64))
    with pytest.raises(TooFew, match="task 'appeal, fold 3': options are chosen by leaving groups out"):
        one(given)
    assert one(given, **FIXED).notes["c"] == 3.0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"c": (0.0,)}, "c is 0.0; it must be a number above 0"),
        ({"gamma": ()}, "gamma holds no value"),
        ({"epsilon": ()}, "epsilon holds no value"),
        ({"epsilon": (-0.1,)}, "epsilon is -0.1; it must be a number of at least 0"),
        ({"iterations": 0}, "iterations is 0"),
        ({"C": (1.0,)}, "no option of 'svr' 'C'"),
    ],
)
def test_an_option_out_of_range_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        one(task(), **options)
