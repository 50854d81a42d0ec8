"""Which items a model may learn from and which it is judged by: whole levels of a factor are held out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .errors import BadConfig, BadTable, TooFew

__all__ = ["LEAST_LEVELS", "Fold", "Partitions", "grouped_folds", "grouped_partitions", "leave_one_out"]

LEAST_LEVELS = 3
"""Fewest levels that can be held out in turn: of two, each would be judged by a model that knows a single other one."""
_TOLERANCE = 0.02  # of all items, by which a test set may miss its share; of AGIQA-1K's 1,080 pictures: 21


class Fold(NamedTuple):
    """One split: some levels are held out, all other items may be learned from."""

    name: str
    """Short and unique among the folds of a protocol, for example 'method=gatys'."""
    factor: str
    """The factor whose levels are held out."""
    levels: tuple[str, ...]
    """Held-out levels, sorted."""
    train: tuple[str, ...]
    """Items of all other levels, sorted; never empty."""
    test: tuple[str, ...]
    """Items of the held-out levels, sorted; never empty."""
    left_out: tuple[str, ...] = ()
    """Items without a level of the factor, sorted: neither learned from nor judged by, in any fold."""


class Partitions(NamedTuple):
    """Test sets of a given share: all that there are, or some of them."""

    folds: list[Fold]
    enumerated: bool
    """True: these are all; False: they were drawn."""
    possible: int
    """How many there are. Repeats beyond this number judge the same splits again."""


def leave_one_out(levels: pl.DataFrame, factor: str) -> list[Fold]:
    """Hold out each level of a factor in turn.

    Args:
        levels: columns `item` and `level`, as `Benchmark.levels` gives them; null: the item has no level.
        factor: what the levels are levels of, for example 'method', 'content', 'style', 'generator' or 'prompt'.

    Returns:
        One fold a level, in the order of the levels' names.

    Raises:
        TooFew: fewer than three levels.
        BadTable: a column is missing, or an item stands twice.
    """
    held, left_out = _by_level(levels, factor)
    return [_fold(held, left_out, factor, (level,), f"{factor}={level}") for level in held]


def grouped_folds(levels: pl.DataFrame, factor: str, k: int, *, seed: int = 0) -> list[Fold]:
    """Deal the levels of a factor into k folds of about as many items each; every item is held out once.

    Levels are shuffled, then dealt from the largest to the smallest, each into the fold that holds the fewest items.

    Args:
        levels: as in `leave_one_out`.
        factor: as there.
        k: folds, from 2 to the number of levels.
        seed: which of the dealings.

    Raises:
        TooFew, BadTable: as there.
        BadConfig: k is out of range.
    """
    held, left_out = _by_level(levels, factor)
    if not 2 <= k <= len(held):
        raise BadConfig(f"{k} folds of {len(held)} levels of {factor}; give from 2 to {len(held)}", where="k")
    order = [list(held)[at] for at in np.random.default_rng(seed).permutation(len(held))]
    order.sort(key=lambda level: -len(held[level]))  # stable: equal sizes stay shuffled
    dealt: list[list[str]] = [[] for _ in range(k)]
    sizes = [0] * k
    for level in order:
        least = min(range(k), key=lambda at: (sizes[at], len(dealt[at])))
        dealt[least].append(level)
        sizes[least] += len(held[level])
    return [_fold(held, left_out, factor, tuple(sorted(own)), f"fold {at + 1}") for at, own in enumerate(dealt)]


def grouped_partitions(
    levels: pl.DataFrame,
    factor: str,
    *,
    share: float = 0.2,
    by: Literal["levels", "items"] = "levels",
    tolerance: int | None = None,
    most: int = 1000,
    seed: int = 0,
) -> Partitions:
    """All test sets of whole levels with a given share, or draws of them where they are too many.

    With few levels there are few such sets, and a thousand random repeats judge the same ones again and again: of 12
    labels two can be held out in 66 ways. Where there are more than `most`, that many different ones are drawn, each
    set with the same chance.

    Args:
        levels: as in `leave_one_out`.
        factor: as there.
        share: of what is held out, in (0, 1).
        by: 'levels' holds out round(share * levels) levels; 'items' as many levels of any size as hold the share of
            the items, give or take `tolerance`.
        tolerance: items by which a test set may be larger or smaller than its share; read where by = 'items'.
            None: 2 % of all items.
        most: sets that are enumerated at most, else drawn, >= 1.
        seed: of the draws.

    Returns:
        The folds (they overlap: an item is held out in several) and how many sets there are. Enumerated sets are in
        the order of the levels' names, drawn ones in the order in which they were drawn.

    Raises:
        TooFew: fewer than three levels, or no set of levels has that share.
        BadConfig: the share, the tolerance or `most` is out of range.
        BadTable: as in `leave_one_out`.
    """
    held, left_out = _by_level(levels, factor)
    if not 0.0 < share < 1.0:
        raise BadConfig(f"a share of {share} to hold out is not between 0 and 1; 0.2 is usual", where="share")
    if most < 1 or (tolerance is not None and tolerance < 0):
        raise BadConfig(f"most = {most} and tolerance = {tolerance}; at least 1 and 0 are needed", where="most")
    sizes = [1 if by == "levels" else len(items) for items in held.values()]
    total = sum(sizes)
    if by == "levels":
        low = high = min(max(1, round(share * total)), total - 1)
    else:
        slack = int(_TOLERANCE * total) if tolerance is None else tolerance
        low, high = math.ceil(share * total - slack), math.floor(share * total + slack)
    low, high = max(low, 1), min(high, total - 1)  # something is held out, and something is left
    ways = _ways(sizes, low, high)
    possible = int(ways[0][0])
    if not possible:
        raise TooFew(
            f"no set of levels of {factor} holds between {low} and {high} of {total} {by}; widen the tolerance or "
            "change the share",
            where=factor,
        )
    if possible <= most:
        chosen: Sequence[tuple[int, ...]] = sorted(_all_sets(sizes, ways))
    else:
        chosen = _drawn_sets(sizes, ways, most, seed)
    names = list(held)
    folds = [
        _fold(held, left_out, factor, tuple(names[i] for i in own), f"split {at + 1}") for at, own in enumerate(chosen)
    ]
    return Partitions(folds, possible <= most, possible)


def _by_level(levels: pl.DataFrame, factor: str) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Items of each level, both in the order of their names; and the items that have none."""
    lost = [name for name in ("item", "level") if name not in levels.columns]
    if lost:
        raise BadTable(f"levels of {factor}: no column '{lost[0]}'", where=factor)
    rows = levels.select(pl.col("item").cast(pl.String), pl.col("level").cast(pl.String)).sort("item")
    twice = rows.filter(pl.col("item").is_duplicated())
    if twice.height:
        raise BadTable(f"levels of {factor}: item '{twice['item'][0]}' stands twice", where=factor)
    held: dict[str, list[str]] = {}
    for item, level in rows.drop_nulls("level").iter_rows():
        held.setdefault(level, []).append(item)
    if len(held) < LEAST_LEVELS:
        raise TooFew(f"{factor} has {len(held)} levels; {LEAST_LEVELS} or more are needed to hold out whole ones")
    return dict(sorted(held.items())), tuple(rows.filter(pl.col("level").is_null())["item"])


def _fold(held: dict[str, list[str]], left_out: tuple[str, ...], factor: str, out: tuple[str, ...], name: str) -> Fold:
    test = tuple(sorted(item for level in out for item in held[level]))
    train = tuple(sorted(item for level, items in held.items() if level not in out for item in items))
    return Fold(name, factor, out, train, test, left_out)


Counts = NDArray[np.object_]


def _ways(sizes: Sequence[int], low: int, high: int) -> list[Counts]:
    """`ways[i][s]`: in how many ways levels i, i+1, ... bring a sum of s into [low, high]; exact, however many."""
    last: Counts = np.array([1 if low <= s else 0 for s in range(high + 1)], dtype=object)
    ways = [last]
    for size in reversed(sizes):
        after = ways[-1]
        here = after.copy()
        if size <= high:
            here[: high + 1 - size] += after[size:]
        ways.append(here)
    return ways[::-1]


def _all_sets(sizes: Sequence[int], ways: list[Counts]) -> Iterator[tuple[int, ...]]:
    """Every set, found without entering a branch that holds none."""
    stack: list[tuple[int, int, tuple[int, ...]]] = [(0, 0, ())]
    while stack:
        at, total, own = stack.pop()
        if at == len(sizes):
            yield own
            continue
        for taken in (False, True):
            then = total + sizes[at] * taken
            if then < len(ways[0]) and ways[at + 1][then]:
                stack.append((at + 1, then, (*own, at) if taken else own))


def _drawn_sets(sizes: Sequence[int], ways: list[Counts], most: int, seed: int) -> list[tuple[int, ...]]:
    """`most` different sets, each with the same chance: a level is taken as often as the sets that hold it."""
    rng = np.random.default_rng(seed)
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < most:
        total, own = 0, []
        for at, size in enumerate(sizes):
            then = total + size
            holding = int(ways[at + 1][then]) if then < len(ways[0]) else 0
            if rng.random() < holding / int(ways[at][total]):
                own.append(at)
                total = then
        drawn[tuple(own)] = None
    return list(drawn)
