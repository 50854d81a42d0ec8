"""What a learner is given and what it gives: a task, a fitted model, its predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..features.described import Columns

__all__ = ["Fitted", "Learner", "Predicted", "Task"]


class Task(NamedTuple):
    """One criterion of one fold: everything that a model may learn from. Held-out items are not in here."""

    x: NDArray[np.float32]
    """(n, d) features of the training items, raw; the learner scales them by these rows alone."""
    y: NDArray[np.float64]
    """(n,) scores of people, in their unit; the learner standardises them by these rows alone."""
    groups: NDArray[np.int64]
    """(n,) level of the factor that the protocol holds out, for inner folds: rows of one level stay together."""
    name: str
    """What it is, in messages: criterion and fold."""


class Predicted(NamedTuple):
    """Predictions for m items, in the unit of the targets."""

    score: NDArray[np.float64]
    """(m,)."""
    low: NDArray[np.float64]
    """(m,) lower end of the 95 % interval of the mean of an ensemble's members (Student's t): how much the seed matters,
    not how far people are. NaN where there is no ensemble."""
    high: NDArray[np.float64]
    """(m,) upper end of it."""


class Fitted(Protocol):
    """A model that was trained on one task."""

    @property
    def notes(self) -> Mapping[str, Any]:
        """n, chosen hyper-parameters, losses: plain values for a TOML file. `note`, where it is there, is what whoever reads
        its scores must know, in words."""
        ...

    def predict(self, x: NDArray[np.float32]) -> Predicted:
        """Predict from raw features, (m, d)."""
        ...

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that `restore` needs, under names fit for a safetensors file."""
        ...


@dataclass(frozen=True, kw_only=True)
class Learner:
    """A way to learn scores from features; a plug-in of 'paragone.learners'."""

    name: str
    label: str
    """How tables name it."""
    summary: str
    source: str
    """Paper and section."""
    columns: Columns
    """Which columns of the features it is given."""
    fit: Callable[..., list[Fitted]]
    """`fit(tasks: Sequence[Task], *, seed: int, quiet: bool = True, **options)`: one model a task, in order; all tasks are
    trained together. The same tasks and seed give the same models."""
    restore: Callable[[Mapping[str, NDArray[Any]], Mapping[str, Any]], Fitted]
    """The model out of what `arrays` and `notes` gave."""
    extra: str = ""
    """The extra that it needs beyond the core."""

    def __call__(self, tasks: Sequence[Task], *, seed: int, **options: Any) -> list[Fitted]:
        """Train one model for each task."""
        return self.fit(tasks, seed=seed, **options)
