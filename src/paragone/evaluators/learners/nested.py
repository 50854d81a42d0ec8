"""Hyper-parameters chosen inside a task, by folds of whole groups: what the outer protocol holds out has no say."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import TooFew

__all__ = ["MOST_FOLDS", "InnerFold", "inner_folds"]

MOST_FOLDS = 5  # our choice: with 11 groups each inner model still learns from 8 or 9 of them


class InnerFold(NamedTuple):
    """Rows of a task, by number."""

    fit: NDArray[np.int64]
    judge: NDArray[np.int64]


def inner_folds(groups: NDArray[np.int64], *, seed: int, name: str) -> list[InnerFold]:
    """Split a task's rows into at most `MOST_FOLDS` folds, each judged by models that never saw its groups.

    The groups, drawn in an order that follows from the seed and taken by size, each go to the fold that has fewest rows.

    Args:
        groups: (n,) level of each row.
        seed: >= 0.
        name: of the task, for messages.

    Raises:
        TooFew: all rows are of one group.
    """
    levels, sizes = np.unique(groups, return_counts=True)
    if len(levels) < 2:
        raise TooFew(
            f"task '{name}': options are chosen by leaving groups out, and all {len(groups)} rows are of one group; "
            f"fix them instead",
            where=name,
        )
    order = np.random.default_rng(seed).permutation(len(levels))
    order = order[np.argsort(-sizes[order], kind="stable")]
    rows = np.zeros(min(MOST_FOLDS, len(levels)), dtype=np.int64)
    fold_of = np.empty(len(levels), dtype=np.int64)
    for level in order:
        fold_of[level] = rows.argmin()
        rows[fold_of[level]] += sizes[level]
    fold = fold_of[np.searchsorted(levels, groups)]
    return [InnerFold(np.flatnonzero(fold != at), np.flatnonzero(fold == at)) for at in range(len(rows))]
