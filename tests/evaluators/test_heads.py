"""ASTRA-Score: the heads really learn, from their task alone, and the same numbers come out however they are trained."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from installed import needed
from paragone.errors import BadConfig, BadInput, MissingExtra, NotConverged, TooFew
from paragone.evaluators import LEARNERS, Predicted, Task
from paragone.evaluators.learners.heads import ASTRA_SCORE, Heads, fit_heads, restore_heads

QUICK = {"hidden": 16, "epochs": 4, "seeds": 2, "rate": 1e-2}


def task(n: int = 60, d: int = 7, *, seed: int = 0, name: str = "overall, fold 1") -> Task:
    rng = np.random.default_rng(seed)
    x = rng.normal(3, 2, size=(n, d)).astype(np.float32)
    return Task(x, 40 + 5 * np.tanh(x[:, 0] - 3) + rng.normal(size=n), np.arange(n) % 6, name)


def nonlinear(n: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """|a| + b * c: no linear function of a, b and c follows it at all."""
    x = np.random.default_rng(seed).normal(size=(n, 6)).astype(np.float32)
    return x, (np.abs(x[:, 0]) + x[:, 1] * x[:, 2]).astype(np.float64)


def one(given: Task, seed: int = 3, **options: Any) -> Heads:
    model = fit_heads([given], seed=seed, **{**QUICK, **options})[0]
    assert isinstance(model, Heads)
    return model


def equal(a: Heads, b: Heads) -> bool:
    theirs = b.arrays()
    return all(np.array_equal(value, theirs[name]) for name, value in a.arrays().items())


@pytest.fixture(autouse=True)
def _torch() -> None:
    needed("torch")


def test_held_out_rows_of_a_nonlinear_function_are_predicted() -> None:
    x, y = nonlinear(600, 1)
    x_out, y_out = nonlinear(400, 2)
    model = fit_heads([Task(x, y, np.arange(600) // 100, "made")], seed=0, epochs=60, rate=2e-3, seeds=3)[0]
    error = ((model.predict(x_out).score - y_out) ** 2).mean()
    assert 1 - error / y_out.var() > 0.75


def test_shuffled_targets_teach_nothing() -> None:
    x, y = nonlinear(600, 1)
    x_out, y_out = nonlinear(400, 2)
    shuffled = np.random.default_rng(5).permutation(y)
    model = fit_heads([Task(x, shuffled, np.arange(600) // 100, "made")], seed=0, epochs=60, rate=2e-3, seeds=3)[0]
    assert 1 - ((model.predict(x_out).score - y_out) ** 2).mean() / y_out.var() < 0.05


@pytest.mark.parametrize("components", [None, 3])
def test_a_task_alone_gives_the_model_that_it_gives_among_others(components: int | None) -> None:
    shared = task(61)
    tasks = [
        task(45, 5, seed=1),
        shared,
        shared._replace(y=-shared.y * 3 + shared.x[:, 1], name="content, fold 1"),
        task(60, 7, seed=2),
    ]
    models = fit_heads(tasks, seed=3, jobs=2, components=components, **QUICK)
    alone = [one(given, components=components, jobs=1) for given in tasks]
    assert [equal(a, b) for a, b in zip(models, alone, strict=True)] == [True] * 4  # type: ignore[arg-type]


def test_the_same_call_gives_the_same_bits_and_another_seed_does_not() -> None:
    assert equal(one(task()), one(task()))
    assert not equal(one(task()), one(task(), seed=4))


def test_a_name_does_not_matter_to_the_numbers() -> None:
    assert equal(one(task(name="a")), one(task(name="b")))


def test_a_copy_of_the_features_gives_the_same_model() -> None:
    given = task()
    assert equal(one(given), one(given._replace(x=np.asfortranarray(given.x.copy()))))


def test_members_start_apart() -> None:
    first = one(task(), seeds=3).layers.first
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(first[1], first[2])


def test_the_first_members_do_not_depend_on_how_many_there_are() -> None:
    few, more = one(task(), seeds=1), one(task(), seeds=2)
    assert np.array_equal(few.layers.first[0], more.layers.first[0])


def test_nothing_that_is_given_is_written_into() -> None:
    given = task()
    before = (given.x.copy(), given.y.copy(), given.groups.copy())
    one(given, components=3, patience=1).predict(given.x)
    assert all(np.array_equal(a, b) for a, b in zip(before, given[:3], strict=True))


def test_what_is_predicted_never_changes_the_model() -> None:
    """The scaler and the components are those of the training rows: strangers do not move them."""
    given = task()
    strange = task(40, seed=9).x * 100
    model = one(given, components=4)
    before = {name: value.copy() for name, value in model.arrays().items()}
    together = model.predict(np.concatenate([given.x, strange])).score[: len(given.x)]
    np.testing.assert_allclose(together, model.predict(given.x).score, rtol=1e-6)
    assert all(np.array_equal(value, before[name]) for name, value in model.arrays().items())
    np.testing.assert_allclose(model.scaler.centre, given.x.astype(float).mean(axis=0), rtol=1e-12)
    z = (given.x - given.x.astype(float).mean(axis=0)) / given.x.astype(float).std(axis=0)
    spread = (z @ model.basis).var(axis=0)  # type: ignore[operator]
    np.testing.assert_allclose(spread / spread.sum(), np.linalg.eigvalsh(np.cov(z.T))[::-1][:4] / spread_sum(z, 4))


def spread_sum(z: NDArray[np.float64], k: int) -> float:
    return float(np.linalg.eigvalsh(np.cov(z.T))[::-1][:k].sum())


def test_planting_the_held_out_rows_is_noticed() -> None:
    """The test above would pass for a learner that ignores its rows: one more row gives another model."""
    given, more = task(60), task(61)
    leaked = given._replace(
        x=np.concatenate([given.x, more.x[-1:]]), y=np.append(given.y, 0.0), groups=np.append(given.groups, 0)
    )
    assert not equal(one(given, components=4), one(leaked, components=4))


def test_a_constant_column_says_nothing() -> None:
    given = task()
    given.x[:, 2] = np.float32(0.1)
    model = one(given)
    other = given.x.copy()
    other[:, 2] = 50
    assert np.array_equal(model.predict(other).score, model.predict(given.x).score)


def test_predictions_are_in_the_unit_of_the_targets() -> None:
    given = task()
    score = one(given, epochs=40).predict(given.x).score
    assert 38 < score.mean() < 42
    assert np.corrcoef(score, given.y)[0, 1] > 0.9


def test_a_shift_of_the_targets_shifts_the_predictions() -> None:
    given = task()
    unit = one(given).unit
    shifted = one(given._replace(y=given.y + 1000)).unit
    assert shifted.mean - unit.mean == pytest.approx(1000)
    assert shifted.sd == pytest.approx(unit.sd)


def test_the_interval_is_students_over_the_members() -> None:
    model = one(task(), seeds=3)
    x = task(seed=4).x
    said = model.members(x)
    predicted = model.predict(x)
    half = 4.302652729911275 * said.std(axis=0, ddof=1) / np.sqrt(3)  # t of 2 degrees of freedom at 0.975, tables
    np.testing.assert_allclose(predicted.score, said.mean(axis=0))
    np.testing.assert_allclose(predicted.high - predicted.score, half, rtol=1e-9)
    np.testing.assert_allclose(predicted.score - predicted.low, half, rtol=1e-9)


def test_one_member_has_no_interval() -> None:
    predicted = one(task(), seeds=1).predict(task().x)
    assert np.isnan(predicted.low).all()
    assert np.isnan(predicted.high).all()
    assert np.isfinite(predicted.score).all()


def test_nothing_to_predict_gives_nothing() -> None:
    assert [part.shape for part in one(task()).predict(np.empty((0, 7), np.float32))] == [(0,)] * 3


def test_no_tasks_give_no_models() -> None:
    assert fit_heads([], seed=0) == []


@pytest.mark.parametrize("components", [None, 3])
def test_a_stored_model_predicts_the_same_bits(components: int | None, tmp_path: Any) -> None:
    stored = needed("safetensors.numpy")
    model = one(task(), components=components)
    stored.save_file(model.arrays(), tmp_path / "weights.safetensors")
    again = restore_heads(stored.load_file(tmp_path / "weights.safetensors"), model.notes)
    x = task(33, seed=8).x
    assert all(np.array_equal(a, b) for a, b in zip(model.predict(x), again.predict(x), strict=True))
    assert again.notes == model.notes


def test_arrays_that_do_not_belong_are_refused() -> None:
    arrays = one(task()).arrays()
    with pytest.raises(BadInput, match="no 'unit'"):
        restore_heads({name: value for name, value in arrays.items() if name != "unit"}, {})
    with pytest.raises(BadInput, match="do not fit together"):
        restore_heads({**arrays, "second": arrays["second"][:, 1:]}, {})


def test_notes_say_how_it_was_made() -> None:
    notes = one(task(), components=3).notes
    assert (notes["task"], notes["n"], notes["columns"], notes["inputs"]) == ("overall, fold 1", 60, 7, 3)
    assert (notes["hidden"], notes["epochs"], notes["seeds"], notes["seed"]) == (16, 4, 2, 3)
    assert len(notes["training_loss"]) == 2
    assert all(0 < loss < 2 for loss in notes["training_loss"])
    assert "patience" not in notes


def test_fewer_components_are_made_where_rows_span_fewer() -> None:
    assert one(task(10, 30), components=256).notes["inputs"] == 9


def test_early_stopping_keeps_the_best_epoch() -> None:
    x, _ = nonlinear(90, 1)
    noise = Task(x, np.random.default_rng(0).normal(size=90), np.arange(90) // 10, "noise")
    model = one(noise, patience=2, epochs=60, hidden=64)
    assert max(model.notes["epochs_run"]) < 40  # noise is not worth 60 passes


def test_early_stopping_needs_two_groups() -> None:
    given = task()
    with pytest.raises(TooFew, match="sets whole groups aside"):
        one(given._replace(groups=np.zeros(60, dtype=np.int64)), patience=2)


def test_early_stopping_reads_the_task_alone() -> None:
    given = task()
    others = [task(seed=5), task(30, seed=6)]
    among = fit_heads([others[0], given, others[1]], seed=3, patience=2, **QUICK)[1]
    assert equal(one(given, patience=2), among)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (
            {"x": np.ones((2, 7), np.float32), "y": np.arange(2.0), "groups": np.arange(2)},
            TooFew,
            "has 2 training rows",
        ),
        ({"y": np.full(60, 2.5)}, BadInput, r"all 60 targets are 2.5; equal scores teach nothing"),
        ({"y": np.append(np.arange(59.0), np.nan)}, BadInput, "the target of row 59 is nan"),
        ({"x": np.full((60, 7), np.inf, np.float32)}, BadInput, "the features of row 0 hold what is no finite number"),
        ({"y": np.arange(59.0)}, BadInput, r"features are \(60, 7\), targets \(59,\)"),
        ({"x": np.empty((60, 0), np.float32)}, BadInput, "the features have no columns"),
    ],
)
@pytest.mark.parametrize("name", ["astra-score", "ridge", "ridge-all", "svr"])
def test_a_task_that_teaches_nothing_is_refused_by_its_name(
    change: dict[str, Any], error: type[Exception], said: str, name: str
) -> None:
    with pytest.raises(error, match=f"task 'overall, fold 1'.*{said}"):
        LEARNERS.get(name)([task()._replace(**change)], seed=0)


def test_features_without_any_spread_are_refused() -> None:
    given = task()._replace(x=np.ones((60, 7), np.float32))
    with pytest.raises(BadInput, match="all features are constant over the training items"):
        one(given, components=2)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("dropout", 1.0, "dropout is 1.0; it must be a number of at least 0 and below 1"),
        ("epochs", 0, "epochs is 0; it must be a whole number of at least 1"),
        ("hidden", 2.5, "hidden is 2.5; it must be a whole number"),
        ("rate", 0.0, "rate is 0.0; it must be a number above 0"),
        ("rate", float("nan"), "rate is nan"),
        ("seeds", True, "seeds is True"),
        ("components", 0, "components is 0"),
        ("seed", -1, "seed is -1"),
        ("jobs", 0, "jobs is 0; give the number of threads"),
        ("patience", 0, "patience is 0"),
        ("weight_decay", -0.1, "weight_decay is -0.1"),
        ("epoch", 3, "no option of 'astra-score' 'epoch'; did you mean 'epochs'"),
    ],
)
def test_an_option_out_of_range_is_refused(option: str, value: Any, said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        ASTRA_SCORE([task()], **{"seed": 0, option: value})


def test_features_of_another_width_are_refused() -> None:
    with pytest.raises(BadInput, match=r"the model reads 7 columns; these features are \(60, 8\)"):
        one(task()).predict(task(60, 8).x)
    with pytest.raises(BadInput, match="row 3 hold what is no finite number"):
        one(task()).predict(np.where(np.arange(60)[:, None] == 3, np.nan, task().x).astype(np.float32))


def test_weights_that_run_away_are_no_model() -> None:
    with np.errstate(all="ignore"), pytest.raises(NotConverged, match="give a smaller rate than 1e"):
        one(task(), rate=1e38, jobs=1)


def test_without_torch_nothing_is_trained_but_a_model_predicts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = one(task())
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"needs torch: pip install 'paragone\[torch\]'"):
        one(task())
    assert isinstance(restore_heads(model.arrays(), model.notes).predict(task().x), Predicted)


@pytest.mark.parametrize("name", LEARNERS.builtin)
def test_every_learner_gives_one_model_a_task_and_restores_it(name: str) -> None:
    learner = LEARNERS.get(name)
    if learner.extra == "learn":
        needed("sklearn")
    assert (learner.name, learner.columns in ("all", "compared", "scalar")) == (name, True)
    tasks = [task(30), task(36, seed=1, name="second")]
    models = learner(tasks, seed=0)
    again = learner(tasks, seed=0)
    x = task(9, seed=3).x
    for model, twin, given in zip(models, again, tasks, strict=True):
        said = model.predict(x)
        restored = learner.restore(model.arrays(), model.notes).predict(x)
        assert [part.dtype for part in said] == [np.float64] * 3
        assert np.array_equal(said.score, restored.score)
        assert np.array_equal(said.score, twin.predict(x).score)
        assert (model.notes["task"], model.notes["n"]) == (given.name, len(given.y))
        assert all(value.flags["C_CONTIGUOUS"] for value in model.arrays().values())
