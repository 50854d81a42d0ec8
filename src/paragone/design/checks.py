"""Trials with a known answer.

Two kinds, told apart in the plan's column `check`. *broken*: an item against its deliberately broken version, which the
benchmark lists as an item whose column `broken_of` names the sound one; whoever looks chooses the sound one on every
criterion. *instructed*: an ordinary trial on whose page the participant is told which side to choose or which value to
set. Broken versions are never shown in any other trial.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..benchmark import Benchmark
from ..errors import BadConfig, BadInput

__all__ = ["BROKEN", "Pool", "check_places", "pool", "uses_broken"]

Ints = NDArray[np.int64]

BROKEN = "broken_of"
"""Factor column of the items: the sound item that this one is a broken version of; null: the item is no broken
version."""


class Pool(NamedTuple):
    """The items of a benchmark, those to be judged apart from those that serve checks."""

    items: pl.DataFrame
    """Rows of the items to be judged, in the benchmark's order."""
    sound: Ints
    """(k,) row in `items` of each broken version's sound item."""
    broken: list[str]
    """(k,) ids of the broken versions."""


def pool(benchmark: Benchmark) -> Pool:
    """Return the items to be judged and the broken versions beside them.

    Raises:
        BadInput: a broken version names no item, or another broken version; or fewer than two items are left.
    """
    items = benchmark.items
    if BROKEN not in items.columns:
        kept, broken = items, items.clear()
    else:
        kept, broken = items.filter(pl.col(BROKEN).is_null()), items.filter(pl.col(BROKEN).is_not_null()).sort("item")
    row = {item: index for index, item in enumerate(kept["item"].to_list())}
    sound = broken[BROKEN].to_list() if broken.height else []
    lost = [name for name in sound if name not in row]
    if lost:
        raise BadInput(f"items: {BROKEN} '{lost[0]}' is not an item to be judged", where="items")
    if kept.height < 2:
        raise BadInput(f"items: {kept.height} to be judged; a study needs at least two", where="items")
    return Pool(kept, np.array([row[name] for name in sound], dtype=np.int64), broken["item"].to_list())


def uses_broken(kind: str, stage: str, n_broken: int, checks: int) -> bool:
    """Return whether a stage's checks are broken versions (else instructed).

    Raises:
        BadConfig: broken versions are asked for and the benchmark lists none.
    """
    if kind == "broken" and checks and not n_broken:
        raise BadConfig(
            f"stage '{stage}': check = \"broken\", but no item has a '{BROKEN}'; add broken versions to the items, "
            'or set check = "instructed"',
            where="stage.check",
        )
    return kind != "instructed" and n_broken > 0


def check_places(n: int, checks: int, rng: np.random.Generator) -> Ints:
    """Return where checks go among n other trials: one in each equal stretch of the sheet, never first, last if it
    can be.

    Args:
        n: other trials on the sheet, >= 1.
        checks: number of checks.
        rng: source of the places inside the stretches.

    Returns:
        (checks,) sorted places from 0 among all n + checks.
    """
    total = n + checks
    bounds = np.linspace(1, max(total - 1, checks + 1), checks + 1)
    low, high = np.ceil(bounds[:-1]).astype(np.int64), np.ceil(bounds[1:]).astype(np.int64)
    places: Ints = low + np.floor(rng.random(checks) * np.maximum(1, high - low)).astype(np.int64)
    return places
