"""Sheets of a stage of pairs: a deck is dealt, sides are balanced, each sheet is ordered and gets its checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..errors import BadConfig
from .checks import SAME_ITEM, Pool, laid_checks, shared_with, uses_broken
from .deal import balanced_sides, dealt, ordered
from .even import even_repeats, evened
from .pairs import Cells, Deck
from .settings import PairStage

__all__ = ["TYPES", "Dealing", "Shown", "codes", "pair_rows"]

Ints = NDArray[np.int64]
Rows = dict[str, list[object]]

_OFFERED = 40  # our choice: pairs of the deck among which an instructed check is chosen

TYPES = {
    "trial": pl.String,
    "sheet": pl.String,
    "owner": pl.String,
    "session": pl.String,
    "stage": pl.String,
    "position": pl.Int64,
    "kind": pl.String,
    "left": pl.String,
    "right": pl.String,
    "item": pl.String,
    "expected": pl.String,
    "repeat_of": pl.String,
    "check": pl.String,
}
"""Columns of a plan's rows, references aside."""


class Shown(NamedTuple):
    """Pairs that earlier sheets of the stage show, one row for each main trial."""

    left: Ints
    """(m,) row of the item on the left."""
    right: Ints
    """(m,) row of the item on the right."""


class Dealing(NamedTuple):
    """What sheets of a stage of pairs are made from."""

    stock: Pool
    """Items, and broken versions for checks."""
    stage: PairStage
    """Its settings."""
    name: str
    """Its name."""
    level: Ints
    """(n,) code of each item's level of `compare`."""
    cells: Cells
    """Cells whose exposure is to be even."""
    n_sheets: int
    """Sheets to make."""
    made: int = 0
    """Sheets that there are already; numbers go on from there."""


def codes(column: pl.Series) -> Ints:
    """Return the code of each cell, from 0 in the order of the levels; null is a level of its own."""
    made: Ints = column.fill_null("").rank("dense").to_numpy().astype(np.int64) - 1
    return made


def pair_rows(dealing: Dealing, deck: Deck, before: Shown, rng: np.random.Generator) -> tuple[Rows, Shown]:
    """Return the columns of the sheets that a deck is dealt to, and the pairs as they stand on them.

    Args:
        dealing: stage, items and number of sheets.
        deck: as many pairs as the sheets have main trials.
        before: pairs of earlier sheets of the stage; sides balance over both.
        rng: source of every random choice.

    Raises:
        BadConfig: the deck cannot be dealt without asking somebody the same pair twice.
    """
    n, stage = dealing.level.size, dealing.stage
    low, high = np.minimum(deck.a, deck.b), np.maximum(deck.a, deck.b)
    pair = low * n + high
    sheet = dealt(pair, dealing.n_sheets, rng)
    if sheet is None:
        raise BadConfig(
            f"stage '{dealing.name}': trials = {stage.trials} cannot be dealt from {deck.n_pairs} pairs "
            "without asking somebody the same pair twice; lower trials",
            where="stage.trials",
        )
    cells = dealing.cells
    shown = np.concatenate([cells.ids[low], cells.ids[high]], axis=1)
    people = np.arange(dealing.n_sheets)
    sheet = evened(sheet, np.unique(pair, return_inverse=True)[1], people, shown, cells.weight, rng)
    swap = balanced_sides(pair, *_counters(low, high, dealing.level, sheet, before), rng)
    stands = Shown(np.where(swap, high, low), np.where(swap, low, high))
    return _sheets(dealing, stands, sheet, rng), stands


def _counters(low: Ints, high: Ints, level: Ints, sheet: Ints, before: Shown) -> tuple[Ints, Ints, Ints]:
    """(m, 3, 2): the item and the level of `compare` over the whole plan, and that level on the sheet; how far each of
    these stood left more often than right before; and (m,) how much oftener the pair's first item did."""
    items = np.stack([low, high], axis=1)
    levels = level[items]
    n, k = level.size, int(level.max()) + 1
    counters = np.stack([items, n + levels, n + k + sheet[:, None] * k + levels], axis=1)
    start = np.zeros(int(counters.max()) + 1, dtype=np.int64)
    for side, sign in ((before.left, 1), (before.right, -1)):
        np.add.at(start, side, sign)
        np.add.at(start, n + level[side], sign)
    pair = np.minimum(before.left, before.right) * n + np.maximum(before.left, before.right)
    known, place = np.unique(np.concatenate([low * n + high, pair]), return_inverse=True)
    lean = np.zeros(known.size, dtype=np.int64)
    np.add.at(lean, place[low.size :], np.where(before.left < before.right, 1, -1))
    return counters, start, lean[place[: low.size]]


def _sheets(dealing: Dealing, stands: Shown, sheet: Ints, rng: np.random.Generator) -> Rows:
    stage, cells = dealing.stage, dealing.cells
    references = _reference_ids(dealing.stock.items, [*stage.group, *(stage.references or [])])
    rows: Rows = {key: [] for key in TYPES}
    shown = np.concatenate([cells.ids[stands.left], cells.ids[stands.right]], axis=1)
    again = even_repeats(sheet, shown, cells.weight, stage.n_repeats, rng)
    digits = max(3, len(str(stage.participants)))
    for number in range(dealing.n_sheets):
        mine = np.flatnonzero(sheet == number)
        pairs = np.stack([stands.left[mine], stands.right[mine]], axis=1)
        repeated = np.searchsorted(mine, again[number])
        places, is_repeat = ordered(_ids(pairs, references), repeated, stage.repeat_distance, rng)
        swapped = np.zeros(len(pairs), dtype=bool)
        swapped[rng.permutation(repeated)[: (repeated.size + number % 2) // 2]] = True
        trials = pairs[places]
        trials = np.where((is_repeat & swapped[places])[:, None], trials[:, ::-1], trials)
        label = f"{dealing.name}-{dealing.made + number + 1:0{digits}d}"
        _emit(rows, dealing, label, _Laid(trials, places, is_repeat, references), stands, dealing.made + number, rng)
    return rows


class _Laid(NamedTuple):
    """The trials of a sheet in order, checks aside."""

    pairs: Ints
    """(m, 2) items on the left and on the right."""
    places: Ints
    """(m,) which trial of the sheet it is; a repeat is the same as what it repeats."""
    is_repeat: NDArray[np.bool_]
    """(m,) whether it repeats an earlier one."""
    references: Ints
    """(n, f) ids of each item's references."""


def _reference_ids(items: pl.DataFrame, factors: Sequence[str]) -> Ints:
    """(n, f) an id for the reference shown with each item, different for every factor and level."""
    columns, start = [np.empty((items.height, 0), dtype=np.int64)], 0
    for factor in dict.fromkeys(factors):
        levels = codes(items[factor])
        columns.append((levels + start)[:, None])
        start += int(levels.max()) + 1
    return np.concatenate(columns, axis=1)


def _emit(
    rows: Rows, dealing: Dealing, label: str, laid: _Laid, stands: Shown, number: int, rng: np.random.Generator
) -> None:
    """Append one sheet's rows, checks among them."""
    stock, stage, (trials, places, is_repeat, references) = dealing.stock, dealing.stage, laid
    items = stock.items["item"].to_numpy()
    use_broken = uses_broken(stage.check, dealing.name, len(stock.broken), stage.checks)
    sides = rng.permutation(np.arange(stage.checks) + number) % 2
    offered = np.stack([stock.sound] * 2, axis=1) if use_broken else np.stack([stands.left, stands.right], axis=1)

    def choose(check: int, near: set[int]) -> tuple[int, Ints, int]:
        k = len(offered)
        some = (number * stage.checks + check + np.arange(k)) % k if use_broken else rng.integers(0, k, _OFFERED)
        price = shared_with(near, _ids(offered[some], references), 2)
        if not use_broken and price.min() >= SAME_ITEM:
            some = rng.permutation(k)
            price = shared_with(near, _ids(offered[some], references), 2)
        best = int(price.argmin())
        return int(some[best]), _ids(offered[some[best : best + 1]], references)[0], int(price[best])

    checks = laid_checks(_ids(trials, references), stage.checks, choose, rng)
    first: dict[int, str] = {}
    done = checked = 0
    for position in range(1, len(trials) + stage.checks + 1):
        trial = f"{label}-{position:03d}"
        row: dict[str, object] = dict.fromkeys(TYPES)
        row |= {"trial": trial, "sheet": label, "owner": label, "stage": dealing.name, "position": position}
        if position - 1 in checks:
            side = "left" if sides[checked] == 0 else "right"
            chosen = checks[position - 1]
            row |= {"kind": "check", "expected": side, "check": "broken" if use_broken else "instructed"}
            if use_broken:
                sound, broken = items[stock.sound[chosen]], stock.broken[chosen]
                row |= {"left": sound, "right": broken} if side == "left" else {"left": broken, "right": sound}
            else:
                row |= {"left": items[stands.left[chosen]], "right": items[stands.right[chosen]]}
            checked += 1
        else:
            index = int(places[done])
            row |= {"kind": "repeat" if is_repeat[done] else "main"}
            row |= {"left": items[trials[done, 0]], "right": items[trials[done, 1]]}
            if is_repeat[done]:
                row["repeat_of"] = first[index]
            else:
                first[index] = trial
            done += 1
        for key, value in row.items():
            rows[key].append(value)


def _ids(pairs: Ints, references: Ints) -> Ints:
    """(k, 2 + 2 f) ids of the items of some pairs, then of their references; no reference has an item's id."""
    beside = references[pairs].reshape(len(pairs), -1) + len(references)
    return np.concatenate([pairs, beside], axis=1)
