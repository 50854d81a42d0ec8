"""`svr`: support vector regression with a Gaussian kernel on scalars, trained by LIBSVM, predicting without it."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BadInput, MissingExtra
from ..task import Fitted, Learner, Predicted, Task
from .checking import check_grid, check_option, check_tasks, settings_of
from .nested import inner_folds
from .scaling import Scaler, Unit, range_scaler, target_unit
from .threads import on_threads

__all__ = ["SVR", "Kernel", "SupportVectors", "SvrSettings", "fit_svr", "restore_svr"]

_STORED = ("vectors", "dual", "intercept", "gamma", "centre", "factor", "unit")
_AT_ONCE = 2048  # items whose kernels with all support vectors are held at once: 13 MB with 800 of them


@dataclass(frozen=True, kw_only=True)
class SvrSettings:
    """Options of support vector regression. Those that hold several values are chosen by inner folds of whole groups:
    all combinations are tried, and that with the smallest squared error pooled over the folds wins; of equals the first."""

    c: tuple[float, ...] = (0.3, 3.0, 30.0)
    """Price of an error beyond epsilon, in standard deviations of the targets."""
    gamma: tuple[float, ...] = (0.1, 0.5, 2.5)
    """Sharpness of the kernel, times the number of columns: exp(-gamma / d |x - x'|^2), features in [-1, 1]."""
    epsilon: tuple[float, ...] = (0.1,)
    """Half width of the band in which errors cost nothing, in standard deviations of the targets."""
    iterations: int = 1_000_000
    """Most steps of the solver; what is reached by then is kept, and the notes say so."""

    def __post_init__(self) -> None:
        check_grid("svr", "c", self.c)
        check_grid("svr", "gamma", self.gamma)
        if not self.epsilon:
            check_grid("svr", "epsilon", self.epsilon)
        for value in self.epsilon:
            check_option("svr", "epsilon", value, least=0)
        check_option("svr", "iterations", self.iterations, least=1, whole=True)


class Kernel(NamedTuple):
    """One combination."""

    c: float
    gamma: float
    epsilon: float


@dataclass(frozen=True, kw_only=True)
class SupportVectors:
    """A sum of Gaussians around some of the training items."""

    notes: Mapping[str, Any]
    vectors: NDArray[np.float64]
    """(v, d) scaled features of the support vectors."""
    dual: NDArray[np.float64]
    """(v,) weights, each within [-C, C]."""
    intercept: float
    gamma: float
    """Of the kernel exp(-gamma |x - x'|^2)."""
    scaler: Scaler
    unit: Unit

    def predict(self, x: NDArray[np.float32]) -> Predicted:
        """Predict from raw features, (m, d); a single model has no interval.

        Raises:
            BadInput: another number of columns, or values that are not finite.
        """
        score = np.empty(len(x))
        for start in range(0, len(x), _AT_ONCE):
            z = self.scaler(x[start : start + _AT_ONCE])
            kernel = _distances(z, self.vectors)
            kernel *= -self.gamma
            np.exp(kernel, out=kernel)
            score[start : start + _AT_ONCE] = kernel @ self.dual + self.intercept
        score = self.unit.mean + self.unit.sd * score
        return Predicted(score, np.full(len(x), np.nan), np.full(len(x), np.nan))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Support vectors, their weights, kernel, scaler and unit."""
        numbers = (np.array([self.intercept]), np.array([self.gamma]))
        values = (self.vectors, self.dual, *numbers, self.scaler.centre, self.scaler.factor, np.array(self.unit))
        return dict(zip(_STORED, values, strict=True))


def fit_svr(tasks: Sequence[Task], *, seed: int, quiet: bool = True, jobs: int = -1, **options: Any) -> list[Fitted]:
    """Fit a support vector regression to each task; its hyper-parameters are chosen inside it.

    Features go to [-1, 1] by the training rows' smallest and largest values, targets to standard scores.

    Args:
        tasks: what to learn from.
        seed: >= 0; deals the groups to inner folds.
        quiet: show no progress bar.
        jobs: threads, or -1 for one per core.
        options: fields of `SvrSettings`.

    Raises:
        BadInput: a task's features or targets are not finite, or its targets are all equal.
        TooFew: a task has too few rows, or a single group while something is to be chosen.
        BadConfig: an option is unknown or out of its range.
        MissingExtra: scikit-learn is not installed.

    Source:
        Chang and Lin, "LIBSVM: a library for support vector machines", ACM TIST 2(3), 2011, section 2.4.
    """
    settings = settings_of(SvrSettings, "svr", options)
    check_option("svr", "seed", seed, least=0, whole=True)
    check_tasks(tasks)
    try:
        from sklearn.exceptions import ConvergenceWarning
    except ModuleNotFoundError as error:
        raise MissingExtra.library("training 'svr'", "scikit-learn", "learn") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the notes say it
        one = partial(_fit_one, settings=settings, seed=seed)
        fitted: list[Fitted] = list(on_threads(one, tasks, jobs=jobs, label="support vectors", quiet=quiet))
    return fitted


def restore_svr(arrays: Mapping[str, NDArray[Any]], notes: Mapping[str, Any]) -> SupportVectors:
    """Give the model whose `arrays` and `notes` these are; needs no scikit-learn.

    Raises:
        BadInput: an array is missing, or shapes do not fit.
    """
    lost = [name for name in _STORED if name not in arrays]
    if lost:
        raise BadInput(f"these are not the arrays of 'svr': no '{lost[0]}'", where=lost[0])
    vectors, dual, intercept, gamma, centre, factor, unit = (np.array(arrays[name], np.float64) for name in _STORED)
    shapes = [part.shape for part in (vectors, dual, intercept, gamma, centre, factor, unit)]
    v, d = len(dual), len(centre)
    if shapes != [(v, d), (v,), (1,), (1,), (d,), (d,), (2,)]:
        raise BadInput(f"the arrays of 'svr' do not fit together: {shapes}", where="vectors")
    return SupportVectors(
        notes=dict(notes),
        vectors=vectors,
        dual=dual,
        intercept=float(intercept[0]),
        gamma=float(gamma[0]),
        scaler=Scaler(centre=centre, factor=factor),
        unit=Unit(*unit.tolist()),
    )


def _fit_one(task: Task, *, settings: SvrSettings, seed: int) -> SupportVectors:
    combinations = [Kernel(*values) for values in itertools.product(settings.c, settings.gamma, settings.epsilon)]
    notes: dict[str, Any] = {"task": task.name, "n": len(task.y), "columns": task.x.shape[1]}
    chosen = combinations[0]
    if len(combinations) > 1:
        errors, n_folds, short = _inner_errors(task, combinations, settings.iterations, seed)
        best = int(errors.argmin())
        chosen = combinations[best]
        notes |= {
            "inner_folds": n_folds,
            "inner_mse": float(errors[best]),
            "inner_fits_at_iteration_cap": short,
        }
    solved, reached = _solve(task.x, task.y, chosen, settings.iterations, notes)
    at_cap = {"note": f"the solver stopped at its cap of {settings.iterations} steps"} if reached else {}
    said = solved.predict(task.x).score
    notes |= {
        **chosen._asdict(),
        "iterations": settings.iterations,
        "at_iteration_cap": reached,
        **at_cap,
        "support_vectors": len(solved.dual),
        "training_mse": float(((said - task.y) ** 2).mean()),
    }
    return solved


def _inner_errors(
    task: Task, combinations: Sequence[Kernel], iterations: int, seed: int
) -> tuple[NDArray[np.float64], int, int]:
    """Squared error of each combination, pooled over inner folds; number of folds; how many fits hit the cap."""
    folds = inner_folds(task.groups, seed=seed, name=task.name)
    errors, short = np.zeros(len(combinations)), 0
    for fold in folds:
        y = task.y[fold.fit]
        for at, kernel in enumerate(combinations):
            if y.min() == y.max():  # a fold that teaches nothing predicts its one value
                said = np.full(len(fold.judge), y[0])
            else:
                model, reached = _solve(task.x[fold.fit], y, kernel, iterations, {})
                short += reached
                said = model.predict(task.x[fold.judge]).score
            errors[at] += ((said - task.y[fold.judge]) ** 2).sum()
    return errors / len(task.y), len(folds), short


def _solve(
    x: NDArray[np.float32], y: NDArray[np.float64], kernel: Kernel, iterations: int, notes: dict[str, Any]
) -> tuple[SupportVectors, bool]:
    """The model, and whether the solver stopped at its cap."""
    from sklearn.svm import SVR as Solver

    scaler, unit, gamma = range_scaler(x), target_unit(y), kernel.gamma / x.shape[1]
    solver = Solver(C=kernel.c, gamma=gamma, epsilon=kernel.epsilon, max_iter=iterations)
    solver.fit(scaler(x), (y - unit.mean) / unit.sd)
    model = SupportVectors(
        notes=notes,
        vectors=np.array(solver.support_vectors_, dtype=np.float64),
        dual=np.array(solver.dual_coef_[0], dtype=np.float64),
        intercept=float(solver.intercept_[0]),
        gamma=gamma,
        scaler=scaler,
        unit=unit,
    )
    return model, bool(solver.fit_status_)


def _distances(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m, v) squared distances between rows."""
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * (a @ b.T)
    return np.asarray(np.maximum(squares, 0, out=squares))


SVR = Learner(
    name="svr",
    label="SVR on scalars",
    summary="support vector regression on the scalars that compare pictures; its Gaussian kernel is chosen by inner folds",
    source="Chang and Lin, 'LIBSVM: a library for support vector machines', ACM TIST 2(3), 2011",
    columns="scalar",
    fit=fit_svr,
    restore=restore_svr,
    extra="learn",
)
