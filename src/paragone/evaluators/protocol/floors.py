"""Floors: what can be foretold of a held-out item without looking at its picture, from the scores of others alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...stats.statistic import Floats

__all__ = ["Floor", "additive", "cell_mean", "floors_of"]

Levels = Mapping[str, Mapping[str, str]]
"""Factor -> item -> level; an item that is not there has none."""
_DIGITS = 10  # of the targets' spread, to which floors are given: far above rounding, far below what people tell apart


class Floor(NamedTuple):
    """A floor: its name in the table, and the factors that it reads."""

    name: str
    reads: tuple[str, ...]
    """Empty: the mean of all training items."""
    adds: bool = False
    """True: a sum of effects, one a factor; False: the mean of the items that agree in all of them."""


def floors_of(factors: Sequence[str], held_out: str) -> list[Floor]:
    """The floors of a protocol, from the weakest to the strongest.

    The constant; for each factor but the held-out one the mean of the training items of the same level; where there are
    several, the mean of those that agree in all of them (with contents held out: the same method and style on the other
    contents), and the sum of their effects. An evaluator that does not beat these has learned nothing from pictures.

    Args:
        factors: all factors of the items.
        held_out: the factor whose levels are held out: nothing is known of them.
    """
    others = tuple(factor for factor in factors if factor != held_out)
    found = [Floor("constant", ()), *(Floor(f"mean of {factor}", (factor,)) for factor in others)]
    if len(others) > 1:
        found += [Floor(f"mean of {' x '.join(others)}", others), Floor(f"sum of {' + '.join(others)}", others, True)]
    return found


def cell_mean(
    train: Sequence[str], y: Floats, test: Sequence[str], levels: Levels, reads: Sequence[str]
) -> tuple[Floats, int]:
    """The mean of the training items that have the same level of every factor read.

    Args:
        train: n training items.
        y: (n,) their scores.
        test: m held-out items.
        levels: of the items.
        reads: factors; none: all training items.

    Returns:
        (m,) means in the unit of y, and for how many items there was no such training item, so that the mean of all
        training items stands in.
    """
    sums: dict[tuple[str | None, ...], tuple[float, int]] = {}
    for item, value in zip(train, y, strict=True):
        cell = _cell(item, levels, reads)
        total, count = sums.get(cell, (0.0, 0))
        sums[cell] = total + float(value), count + 1
    everyone = float(np.mean(y))
    said = np.full(len(test), everyone)
    unseen = 0
    for at, item in enumerate(test):
        cell = _cell(item, levels, reads)
        if None in cell or cell not in sums:
            unseen += 1
        elif reads:
            said[at] = sums[cell][0] / sums[cell][1]
    return _tied(said, y), unseen


def additive(
    train: Sequence[str], y: Floats, test: Sequence[str], levels: Levels, reads: Sequence[str], held_out: str
) -> tuple[Floats, int]:
    """The training mean plus an effect for the level of each factor read, by least squares.

    Levels of the held-out factor have effects too while the others are fitted, so that items which not every level has
    bias nothing; a held-out item gets their mean. So does an unseen level of another factor. Where the training items do
    not determine the effects, the shortest solution is taken.

    Args:
        train: n training items.
        y: (n,) their scores.
        test: m held-out items.
        levels: of the items.
        reads: factors.
        held_out: the held-out factor.

    Returns:
        (m,) sums in the unit of y, and how many items have a level that no training item has.
    """
    columns, asked = [], []
    unseen = np.zeros(len(test), dtype=bool)
    for factor in (*reads, held_out):
        own = levels.get(factor, {})
        names = sorted({own[item] for item in train if item in own})
        design = _one_hot([own.get(item) for item in train], names)
        wanted = _one_hot([own.get(item) for item in test], names)
        missing = wanted.sum(axis=1) == 0
        centre = design.mean(axis=0)
        columns.append(np.where(design.sum(axis=1, keepdims=True) > 0, design - centre, 0.0))
        asked.append(np.where(missing[:, None] | (factor == held_out), 0.0, wanted - centre))
        if factor != held_out:
            unseen |= missing
    x, new = np.hstack(columns), np.hstack(asked)
    mean = float(np.mean(y))
    centred = np.asarray(y, dtype=np.float64) - mean
    effects = np.linalg.pinv(x.T @ x, rcond=1e-9, hermitian=True) @ (x.T @ centred)  # columns are few, items many
    return _tied(mean + new @ effects, y), int(unseen.sum())


def _tied(said: Floats, y: Floats) -> Floats:
    """The values with equal numbers equal: means of few ratings often tie, and the last bits would rank them."""
    spread = float(np.ptp(y))
    if spread == 0.0:
        return said
    unit = 10.0 ** (math.floor(math.log10(spread)) - _DIGITS)
    rounded: Floats = np.round(said / unit) * unit
    return rounded


def _cell(item: str, levels: Levels, reads: Sequence[str]) -> tuple[str | None, ...]:
    return tuple(levels.get(factor, {}).get(item) for factor in reads)


def _one_hot(values: Sequence[str | None], names: Sequence[str]) -> NDArray[np.float64]:
    place = {name: at for at, name in enumerate(names)}
    table = np.zeros((len(values), len(names)))
    for row, value in enumerate(values):
        if value in place:
            table[row, place[value]] = 1.0
    return table
