"""Factories for the arrays that models receive, so that a test says only what it is about."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from paragone.estimate.arrays import Comparisons, Opinions


def _ints(values: ArrayLike | None, size: int, default: int = 0) -> NDArray[np.int64]:
    filled = np.full(size, default) if values is None else values
    return np.broadcast_to(np.asarray(filled, dtype=np.int64), (size,)).copy()


def _floats(values: ArrayLike | None, size: int, default: float = 1.0) -> NDArray[np.float64]:
    filled = np.full(size, default) if values is None else values
    return np.broadcast_to(np.asarray(filled, dtype=np.float64), (size,)).copy()


@pytest.fixture(scope="session")
def comparisons() -> Callable[..., Comparisons]:
    """Build Comparisons from lists; a scalar stands for the same value in every row."""

    def build(
        left: ArrayLike,
        right: ArrayLike,
        outcome: ArrayLike = 1,
        *,
        n: int | None = None,
        participant: ArrayLike | None = None,
        stage: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        temperature: ArrayLike | None = None,
    ) -> Comparisons:
        m = np.size(left)
        lefts, rights = _ints(left, m), _ints(right, m)
        items = n if n is not None else int(max(lefts.max(initial=-1), rights.max(initial=-1))) + 1
        return Comparisons(
            n=items,
            left=lefts,
            right=rights,
            outcome=_floats(outcome, m),
            participant=_ints(participant, m),
            stage=_ints(stage, m),
            weight=_floats(weight, m),
            temperature=_floats(temperature, m),
        )

    return build


@pytest.fixture(scope="session")
def opinions() -> Callable[..., Opinions]:
    """Build Opinions from lists; sessions default to one a participant, references to none, contents to unknown."""

    def build(
        item: ArrayLike,
        participant: ArrayLike,
        value: ArrayLike,
        *,
        n: int | None = None,
        p: int | None = None,
        session: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        reference: ArrayLike | None = None,
        content: ArrayLike | None = None,
    ) -> Opinions:
        k = np.size(value)
        items, people = _ints(item, k), _ints(participant, k)
        n_items = n if n is not None else int(items.max(initial=-1)) + 1
        return Opinions(
            n=n_items,
            p=p if p is not None else int(people.max(initial=-1)) + 1,
            item=items,
            participant=people,
            session=_ints(session, k),
            value=_floats(value, k),
            weight=_floats(weight, k),
            reference=_ints(reference, n_items, default=-1),
            content=_ints(content, n_items),
        )

    return build
