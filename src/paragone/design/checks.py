"""Trials with a known answer.

Two kinds, told apart in the plan's column `check`. *broken*: an item against its deliberately broken version, which the
benchmark lists as an item whose column `broken_of` names the sound one; whoever looks chooses the sound one on every
criterion. *instructed*: an ordinary trial on whose page the participant is told which side to choose or which value to
set. Broken versions are never shown in any other trial.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..benchmark import BROKEN, Benchmark
from ..errors import BadConfig, BadInput
from .settings import RatingStage

__all__ = [
    "BROKEN",
    "SAME_ITEM",
    "Pool",
    "check_places",
    "check_tolerance",
    "laid_checks",
    "pool",
    "shared_with",
    "uses_broken",
]

Ints = NDArray[np.int64]

SAME_ITEM = 1000
"""One item shown twice in a row outweighs any number of shared references. Our choice."""
_BROKEN_WITHIN = 0.3  # of the scale, from its low end; our choice: Bad or Poor
_INSTRUCTED_WITHIN = 0.02  # of the scale, and at least one step; our choice: a slip
_TRIES = 20  # our choice: places of a stretch that are tried for a check


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


def check_tolerance(stage: RatingStage, check: str | None) -> float:
    """Return how far the answer to a check may be from the right one, in units of the stage's scale.

    Args:
        stage: its scale.
        check: 'broken' or 'instructed'; null counts as broken.
    """
    whole = stage.high - stage.low
    return max(stage.step, _INSTRUCTED_WITHIN * whole) if check == "instructed" else _BROKEN_WITHIN * whole


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
    return np.array([rng.permutation(stretch)[0] for stretch in _stretches(n, checks)], dtype=np.int64)


def laid_checks(
    shown: Ints, checks: int, choose: Callable[[int, set[int]], tuple[int, Ints, int]], rng: np.random.Generator
) -> dict[int, int]:
    """Return where checks go, as `check_places` does, and what each shows, so that neighbours share as little as can be.

    Args:
        shown: (n, w) ids of what the other trials show.
        checks: number of checks.
        choose: from a check's number and the ids on the trials before and after it, a choice, its ids and how much it
            shares with them, as in `shared_with`.
        rng: source of the places.

    Returns:
        From each check's place among all n + checks, from 0, to its choice: of some places of a stretch the one where
        the choice shares least.
    """
    laid: dict[int, int] = {}
    before: tuple[int, set[int]] = (-1, set())
    for number, stretch in enumerate(_stretches(len(shown), checks)):
        found: list[tuple[int, int, int, Ints]] = []
        for place in rng.permutation(stretch)[:_TRIES].tolist():
            at = place - number
            near = set(shown[max(0, at - 1) : at + 1].ravel().tolist())
            if before[0] == place - 1:
                near |= before[1]
            choice, ids, price = choose(number, near)
            found.append((price, place, choice, ids))
            if price == 0:
                break
        _, place, choice, ids = min(found, key=lambda one: one[0])
        laid[place] = choice
        before = (place, set(ids.tolist()))
    return laid


def shared_with(near: set[int], ids: Ints, items: int) -> Ints:
    """Return how much each of some trials shares with its neighbours.

    Args:
        near: ids of what the neighbours show.
        ids: (n, w) ids of what the trials show; the first `items` columns are items, the others references.
        items: columns that hold items.

    Returns:
        (n,) references that are near, and `SAME_ITEM` for each item that is.
    """
    met = np.isin(ids, list(near))
    return np.asarray(met[:, :items].sum(axis=1) * SAME_ITEM + met[:, items:].sum(axis=1), dtype=np.int64)


def _stretches(n: int, checks: int) -> list[Ints]:
    """Places of each equal stretch of a sheet of n other trials, its first and last place aside."""
    total = n + checks
    bounds = np.linspace(1, max(total - 1, checks + 1), checks + 1)
    low, high = np.ceil(bounds[:-1]).astype(np.int64), np.ceil(bounds[1:]).astype(np.int64)
    return [np.arange(one, max(one + 1, other)) for one, other in zip(low.tolist(), high.tolist(), strict=True)]
