"""What enters a validation: a learner with its settings, and how it is trained and asked without held-out items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, TooFew
from ..features.described import Features
from .task import Fitted, Learner, Predicted, Task

__all__ = ["LEAST_TRAINED", "Entrant", "Exam", "asked", "trained"]

LEAST_TRAINED = 3
"""Fewest training items of a task: fewer have no spread to learn."""


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """A learner as it enters a table: under a name, with options, perhaps blind to some references."""

    name: str
    """How the table calls it; unique among entrants, metrics and floors."""
    learner: Learner
    without: Mapping[str | None, tuple[str, ...]] = field(default_factory=dict)
    """Criterion -> pictures whose blocks its head may not read, for example {'content': ('style',)}; None: the unnamed
    criterion. A criterion that is not named reads all."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the learner, for example {'epochs': 40}."""


class Exam(NamedTuple):
    """One criterion of one fold: what is learned from, and what is asked."""

    name: str
    criterion: str | None
    fold: int
    train: tuple[str, ...]
    """Training items."""
    y: NDArray[np.float64]
    """(len(train),) their targets."""
    groups: NDArray[np.int64]
    """(len(train),) level of the held-out factor of each."""
    test: tuple[str, ...]
    """Held-out items; the learner sees no more of them than their features, when it is asked."""


def trained(
    entrant: Entrant, exams: Sequence[Exam], features: Features, *, seed: int, quiet: bool = True
) -> list[Fitted]:
    """One model for each exam, all trained in one call of the learner.

    A task holds the rows of the training items and nothing else; criteria that read the same columns of the same items
    share one array.

    Args:
        entrant: learner and settings.
        exams: what to learn from.
        features: of all items; only the rows of training items are handed on, as copies.
        seed: of the learner.
        quiet: show no progress.

    Raises:
        TooFew: an exam has fewer than three training items.
        BadInput: an item has no features, or the learner gave another number of models than it was given tasks.
    """
    shared: dict[tuple[tuple[str, ...], bytes], NDArray[np.float32]] = {}
    tasks = []
    for exam in exams:
        if len(exam.train) < LEAST_TRAINED:
            raise TooFew(
                f"{exam.name}: {len(exam.train)} training items have features and a score; "
                f"{LEAST_TRAINED} or more are needed",
                where=exam.name,
            )
        columns = _columns(entrant, exam.criterion, features)
        key = (exam.train, columns.tobytes())
        if key not in shared:
            shared[key] = _rows(features, exam.train, columns)
        tasks.append(Task(shared[key], exam.y.copy(), exam.groups.copy(), exam.name))
    models = entrant.learner(tasks, seed=seed, quiet=quiet, **entrant.options)
    if len(models) != len(tasks):
        raise BadInput(f"learner '{entrant.learner.name}' gave {len(models)} models for {len(tasks)} tasks")
    return models


def asked(
    entrant: Entrant, model: Fitted, exam: Exam, features: Features, *, items: Sequence[str] | None = None
) -> Predicted:
    """What a model predicts for the held-out items of its exam, or for some of them.

    Args:
        entrant: whose model it is.
        model: trained on the exam.
        exam: the exam.
        features: of all items.
        items: which items, instead of all held-out ones.

    Raises:
        BadInput: an item has no features, or the model answers with something else than one number an item.
    """
    wanted = exam.test if items is None else tuple(items)
    said = model.predict(_rows(features, wanted, _columns(entrant, exam.criterion, features)))
    parts = [np.asarray(part, dtype=np.float64) for part in said]
    if any(part.shape != (len(wanted),) for part in parts):
        raise BadInput(f"'{entrant.name}' gave predictions of shape {parts[0].shape} for {len(wanted)} items")
    return Predicted(*parts)


def _columns(entrant: Entrant, criterion: str | None, features: Features) -> NDArray[np.int64]:
    return features.columns(kind=entrant.learner.columns, without=entrant.without.get(criterion, ()))


def _rows(features: Features, items: Sequence[str], columns: NDArray[np.int64]) -> NDArray[np.float32]:
    rows = features.of(items)
    return rows if len(columns) == rows.shape[1] else np.ascontiguousarray(rows[:, columns])
