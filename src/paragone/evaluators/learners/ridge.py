"""`ridge` and `ridge-all`: penalised least squares in closed form, the honest baselines of the learned heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BadInput
from ..task import Fitted, Learner, Predicted, Task
from .checking import check_grid, check_option, check_tasks, settings_of
from .nested import InnerFold, inner_folds
from .scaling import Scaler, standard_scaler, target_unit
from .threads import on_threads

__all__ = ["RIDGE", "RIDGE_ALL", "Ridge", "RidgeSettings", "Spectrum", "fit_ridge", "restore_ridge", "spectrum"]

# Four a decade: from next to none for 30 columns to so much for 3,614 that each counts by its covariance with the targets.
_GRID = tuple(float(10**power) for power in np.arange(-2, 8.01, 0.25))
_STORED = ("coefficients", "intercept", "centre", "factor")
_LOST = 1e-9  # squared singular values below this share of the first: columns that say the same, up to rounding


@dataclass(frozen=True, kw_only=True)
class RidgeSettings:
    """Options of ridge regression."""

    penalty: float | None = None
    """Weight of the squared coefficients beside the sum of squared errors, both in standard scores; None: chosen from
    `penalties` by inner folds of whole groups."""
    penalties: tuple[float, ...] = _GRID
    """What it is chosen from: that with the smallest squared error, in the targets' unit, pooled over the inner folds;
    of equals the largest."""

    def __post_init__(self) -> None:
        if self.penalty is not None:
            check_option("ridge", "penalty", self.penalty, least=0, above=True)
        check_grid("ridge", "penalties", self.penalties)


@dataclass(frozen=True, kw_only=True)
class Ridge:
    """A linear function of standardised features."""

    notes: Mapping[str, Any]
    coefficients: NDArray[np.float64]
    """(d,) in the targets' unit for one standard deviation of a feature."""
    intercept: float
    """Mean of the training targets."""
    scaler: Scaler

    def predict(self, x: NDArray[np.float32]) -> Predicted:
        """Predict from raw features, (m, d); a single model has no interval.

        Raises:
            BadInput: another number of columns, or values that are not finite.
        """
        score = self.scaler(x) @ self.coefficients + self.intercept
        return Predicted(score, np.full(len(x), np.nan), np.full(len(x), np.nan))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Coefficients, intercept and scaler."""
        values = (self.coefficients, np.array([self.intercept]), self.scaler.centre, self.scaler.factor)
        return dict(zip(_STORED, values, strict=True))


class Spectrum(NamedTuple):
    """Standardised rows in the axes in which every penalty is one division."""

    scaler: Scaler
    rotated: NDArray[np.float64]
    """(n, r) left singular vectors."""
    squares: NDArray[np.float64]
    """(r,) squared singular values, > 0."""
    back: NDArray[np.float64]
    """(d, r): right singular vectors times singular values, from a rotated solution to coefficients."""

    def coefficients(self, centred: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
        """(d,) coefficients that minimise |centred - z b|^2 + penalty |b|^2."""
        return self.back @ ((self.rotated.T @ centred) / (self.squares + penalty))


def spectrum(x: NDArray[np.float32]) -> Spectrum:
    """Standardise training rows, (n, d), and take them apart.

    Source:
        Hoerl and Kennard, "Ridge regression: biased estimation for nonorthogonal problems", Technometrics 12(1), 1970.
    """
    scaler = standard_scaler(x)
    z = scaler(x)
    n, d = z.shape
    squares, vectors = np.linalg.eigh(z @ z.T if n < d else z.T @ z)  # a tenth of the time of z's singular vectors
    kept = squares > _LOST * squares.max() if squares.max() > 0 else squares > 0
    squares, vectors = squares[kept], vectors[:, kept]
    if n < d:
        return Spectrum(scaler, vectors, squares, z.T @ vectors)
    lengths = np.sqrt(squares)
    return Spectrum(scaler, z @ (vectors / lengths), squares, vectors * lengths)


def fit_ridge(tasks: Sequence[Task], *, seed: int, quiet: bool = True, jobs: int = -1, **options: Any) -> list[Fitted]:
    """Fit ridge regression to each task; the penalty is chosen inside it.

    Tasks on one and the same array of features and with the same groups share their decompositions.

    Args:
        tasks: what to learn from.
        seed: >= 0; deals the groups to inner folds.
        quiet: show no progress bar.
        jobs: threads, or -1 for one per core.
        options: fields of `RidgeSettings`.

    Raises:
        BadInput: a task's features or targets are not finite, its targets are all equal or its features all constant.
        TooFew: a task has too few rows, or a single group while the penalty is to be chosen.
        BadConfig: an option is unknown or out of its range.
    """
    settings = settings_of(RidgeSettings, "ridge", options)
    check_option("ridge", "seed", seed, least=0, whole=True)
    check_tasks(tasks)
    sets: dict[tuple[int, bytes], list[int]] = {}
    for at, task in enumerate(tasks):
        sets.setdefault((id(task.x), task.groups.tobytes()), []).append(at)
    together = [[tasks[at] for at in places] for places in sets.values()]
    found = on_threads(
        partial(_fit_set, settings=settings, seed=seed), together, jobs=jobs, label="ridge regression", quiet=quiet
    )
    by_task = {
        at: model
        for places, models in zip(sets.values(), found, strict=True)
        for at, model in zip(places, models, strict=True)
    }
    return [by_task[at] for at in range(len(tasks))]


def restore_ridge(arrays: Mapping[str, NDArray[Any]], notes: Mapping[str, Any]) -> Ridge:
    """Give the model whose `arrays` and `notes` these are.

    Raises:
        BadInput: an array is missing, or shapes do not fit.
    """
    lost = [name for name in _STORED if name not in arrays]
    if lost:
        raise BadInput(f"these are not the arrays of ridge regression: no '{lost[0]}'", where=lost[0])
    coefficients, intercept, centre, factor = (np.array(arrays[name], dtype=np.float64) for name in _STORED)
    if coefficients.ndim != 1 or not coefficients.shape == centre.shape == factor.shape or intercept.shape != (1,):
        raise BadInput("the arrays of ridge regression do not fit together", where="coefficients")
    return Ridge(
        notes=dict(notes),
        coefficients=coefficients,
        intercept=float(intercept[0]),
        scaler=Scaler(centre=centre, factor=factor),
    )


def _fit_set(tasks: Sequence[Task], *, settings: RidgeSettings, seed: int) -> list[Ridge]:
    """Fit tasks that share features and groups."""
    x, groups, name = tasks[0].x, tasks[0].groups, tasks[0].name
    penalties = np.array(sorted(settings.penalties))
    errors = np.zeros((len(tasks), len(penalties)))
    folds: list[InnerFold] = []
    if settings.penalty is None:
        folds = inner_folds(groups, seed=seed, name=name)
        for fold in folds:
            inner = spectrum(x[fold.fit])
            judged = inner.scaler(x[fold.judge]) @ inner.back
            for at, task in enumerate(tasks):
                errors[at] += _squared_errors(inner, judged, task.y[fold.fit], task.y[fold.judge], penalties)
    whole = spectrum(x)
    if not len(whole.squares):
        raise BadInput(f"task '{name}': all features are constant over its items; nothing to learn from", where=name)
    return [
        _model(task, whole, settings, penalties, errors[at] / len(task.y), len(folds)) for at, task in enumerate(tasks)
    ]


def _squared_errors(
    inner: Spectrum,
    judged: NDArray[np.float64],
    y_fit: NDArray[np.float64],
    y_judge: NDArray[np.float64],
    penalties: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(penalties,) sums of squared errors over the judged rows."""
    mean = y_fit.mean()
    rotated = inner.rotated.T @ (y_fit - mean)
    said = judged @ (rotated[:, None] / (inner.squares[:, None] + penalties)) + mean
    return np.asarray(((said - y_judge[:, None]) ** 2).sum(axis=0))


def _model(
    task: Task,
    whole: Spectrum,
    settings: RidgeSettings,
    penalties: NDArray[np.float64],
    inner_mse: NDArray[np.float64],
    n_folds: int,
) -> Ridge:
    notes: dict[str, Any] = {"task": task.name, "n": len(task.y), "columns": task.x.shape[1]}
    if settings.penalty is not None:
        penalty = settings.penalty
    else:
        best = len(penalties) - 1 - int(inner_mse[::-1].argmin())
        penalty = float(penalties[best])
        notes |= {
            "inner_folds": n_folds,
            "inner_mse": float(inner_mse[best]),
            "penalty_at_edge": len(penalties) > 1 and best in (0, len(penalties) - 1),
        }
    unit = target_unit(task.y)
    coefficients = whole.coefficients(task.y - unit.mean, penalty)
    said = whole.rotated @ ((whole.rotated.T @ (task.y - unit.mean)) * whole.squares / (whole.squares + penalty))
    notes |= {"penalty": penalty, "training_mse": float(((said + unit.mean - task.y) ** 2).mean())}
    return Ridge(notes=notes, coefficients=coefficients, intercept=unit.mean, scaler=whole.scaler)


_SOURCE = (
    "Hoerl and Kennard, 'Ridge regression: biased estimation for nonorthogonal problems', Technometrics 12(1), 1970"
)

RIDGE = Learner(
    name="ridge",
    label="ridge on scalars",
    summary="ridge regression on the scalars that compare pictures; penalty chosen by inner folds of whole groups",
    source=_SOURCE,
    columns="scalar",
    fit=fit_ridge,
    restore=restore_ridge,
)
RIDGE_ALL = Learner(
    name="ridge-all",
    label="ridge on all features",
    summary="ridge regression on all features; penalty chosen by inner folds of whole groups",
    source=_SOURCE,
    columns="all",
    fit=fit_ridge,
    restore=restore_ridge,
)
