"""Even out what each sheet shows, so that sheets that go missing take about the same from every cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["even_repeats", "evened", "exposure_cells"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ITEM = 3.0  # our choice: an item twice on a sheet weighs as much as three uneven cells
_WHOLE = 0.5  # our choice: a repeat weighs the plan's counts half as much as the sheet's
_SWEEPS = 3  # our choice: times that repeats are chosen anew, knowing those of all other sheets
_NEAR = 6  # our choice: sheets apart between which slots are exchanged, so that the deck's order is about kept
_ROUNDS = 600  # our choice: rounds of exchanges, one a sheet and round, at most; of large plans fewer
_WORK = 2_500_000  # our choice: slots x rounds that are looked at; about a second
_STILL = 3 * _NEAR  # rounds without an exchange after which none is to be expected
_LARGEST = 10_000_000  # our choice: counts (sheets x cells) that are kept at most


def exposure_cells(
    items: pl.DataFrame, compare: str, group: Sequence[str], n_sheets: int, *, by_item: bool = True
) -> tuple[Ints, Floats]:
    """Return the cells whose exposure is to be even: levels of `compare` by levels of each factor of a group, and items.

    Args:
        items: the items to be judged, with their factors.
        compare: factor under comparison; empty: levels of the group's factors count by themselves.
        group: factors of a group.
        n_sheets: sheets; items are left out where items x sheets is more than memory should hold.
        by_item: items are cells too, so that none comes twice on a sheet where that can be helped.

    Returns:
        (n, c) ids of the cells that each item is in, and (cells,) their weights.
    """
    crossed = [[compare, factor] if compare else [factor] for factor in dict.fromkeys(group) if factor != compare]
    columns = [items.select(pl.struct(factors).rank("dense") - 1).to_series() for factors in crossed]
    if compare and not columns:
        columns = [items[compare].fill_null("").rank("dense") - 1]
    codes = [column.to_numpy().astype(np.int64) for column in columns]
    weights = [1.0] * len(codes)
    if by_item and items.height * n_sheets <= _LARGEST // 2:
        codes.append(np.arange(items.height, dtype=np.int64))
        weights.append(_ITEM)
    ids, weight, start = np.empty((items.height, len(codes)), dtype=np.int64), [np.empty(0)], 0
    for column, (code, heavy) in enumerate(zip(codes, weights, strict=True)):
        ids[:, column] = start + code
        weight.append(np.full(int(code.max()) + 1, heavy))
        start += weight[-1].size
    return ids, np.concatenate(weight)


def evened(
    sheet: Ints, key: Ints, owner: Ints, cells: Ints, weight: Floats, rng: np.random.Generator, *, near: int = _NEAR
) -> Ints:
    """Return the sheet of each slot after exchanges between sheets that even out how often each sheet shows each cell.

    In each round every sheet meets another one a few sheets away. The slot of each whose leaving helps most goes to the
    other while that lowers the weighted sum of squared counts over all sheets and cells. No owner gets a key twice, and
    every sheet keeps its number of slots.

    Args:
        sheet: (m,) sheet of each slot, from 0.
        key: (m,) what must not come twice to one owner: the slot's pair or item.
        owner: (s,) owner of each sheet.
        cells: (m, c) cells that a slot shows; one may come twice.
        weight: (cells,) weight of each cell.
        rng: source of who meets whom.
        near: largest distance between sheets that meet.

    Returns:
        (m,) sheet of each slot. Unchanged where there is one sheet, or more counts than memory should hold.
    """
    n_sheets, n_cells = owner.size, weight.size
    if n_sheets < 2 or cells.shape[1] == 0 or n_sheets * n_cells > _LARGEST:
        return sheet.copy()
    slots, real = _by_sheet(sheet, n_sheets)
    counts = _counts(sheet, cells, n_sheets, n_cells)
    own = (weight[cells][:, :, None] * (cells[:, :, None] == cells[:, None, :])).sum(axis=(1, 2))
    held = [set[int]() for _ in range(int(owner.max()) + 1)]
    for slot, s in enumerate(sheet.tolist()):
        held[owner[s]].add(int(key[slot]))
    still = 0
    for _ in range(min(_ROUNDS, max(40, _WORK // sheet.size))):
        partner = _partners(n_sheets, int(rng.integers(1, min(near, n_sheets - 1) + 1)), rng)
        gap = (counts - counts[partner]) * weight
        helps = (
            np.take_along_axis(gap, cells[slots].reshape(n_sheets, -1), axis=1).reshape(*slots.shape, -1).sum(axis=2)
        )
        helps = np.where(real, helps - own[slots] + rng.uniform(0, 1e-3, slots.shape), -np.inf)
        best = helps.argmax(axis=1)
        most = np.take_along_axis(helps, best[:, None], axis=1)[:, 0]
        changed = False
        for s in np.flatnonzero((partner > np.arange(n_sheets)) & (most + most[partner] > 1e-3)).tolist():
            t = int(partner[s])
            i, j = int(slots[s, best[s]]), int(slots[t, best[t]])
            if not _may_change(held, owner[s], owner[t], int(key[i]), int(key[j])):
                continue
            slots[s, best[s]], slots[t, best[t]] = j, i
            for cell in cells[i].tolist():  # one by one, since two items of a pair may be in one cell
                counts[s, cell] -= 1
                counts[t, cell] += 1
            for cell in cells[j].tolist():
                counts[s, cell] += 1
                counts[t, cell] -= 1
            changed = True
        still = 0 if changed else still + 1
        if still == _STILL:
            break
    made = np.empty_like(sheet)
    made[slots[real]] = np.nonzero(real)[0]
    return made


def even_repeats(sheet: Ints, cells: Ints, weight: Floats, repeats: int, rng: np.random.Generator) -> list[Ints]:
    """Return which slots each sheet shows again, so that cells that the sheet and the plan show least come up.

    Args:
        sheet: (m,) sheet of each slot, from 0.
        cells: (m, c) cells that each slot shows.
        weight: (cells,) weight of each cell.
        repeats: how many slots of each sheet, at most as many as it has.
        rng: breaks ties.

    Returns:
        For each sheet the (repeats,) slots, sorted.
    """
    shown = np.bincount(cells.ravel(), minlength=weight.size).astype(np.float64)
    mine = np.split(np.argsort(sheet, kind="stable"), np.cumsum(np.bincount(sheet))[:-1])
    chosen: list[Ints] = [slots[:0] for slots in mine]
    if not repeats:
        return chosen
    for _ in range(_SWEEPS):
        for number, slots in enumerate(mine):
            np.subtract.at(shown, cells[chosen[number]], 1.0)
            chosen[number] = slots[_least_shown(cells[slots], weight, repeats, shown, rng)]
    return chosen


def _least_shown(cells: Ints, weight: Floats, repeats: int, shown: Floats, rng: np.random.Generator) -> Ints:
    """Indices of the slots of one sheet that are shown again; `shown` grows by them."""
    counts = np.bincount(cells.ravel(), minlength=weight.size).astype(np.float64)
    price = rng.uniform(0, 1e-3, len(cells))
    for _ in range(repeats):
        chosen = int((price + (weight * (counts + _WHOLE * shown))[cells].sum(axis=1)).argmin())
        price[chosen] = np.inf
        np.add.at(counts, cells[chosen], 1.0)
        np.add.at(shown, cells[chosen], 1.0)
    return np.flatnonzero(np.isinf(price))


def _by_sheet(sheet: Ints, n_sheets: int) -> tuple[Ints, NDArray[np.bool_]]:
    """(sheets, longest) slots of each sheet, and which of these places hold one."""
    sizes = np.bincount(sheet, minlength=n_sheets)
    order = np.argsort(sheet, kind="stable")
    real = np.arange(int(sizes.max())) < sizes[:, None]
    slots = np.zeros(real.shape, dtype=np.int64)
    slots[real] = order
    return slots, real


def _counts(sheet: Ints, cells: Ints, n_sheets: int, n_cells: int) -> Floats:
    """(sheets, cells) how often each sheet shows each cell."""
    flat = (sheet[:, None] * n_cells + cells).ravel()
    return np.bincount(flat, minlength=n_sheets * n_cells).reshape(n_sheets, n_cells).astype(np.float64)


def _partners(n_sheets: int, apart: int, rng: np.random.Generator) -> Ints:
    """(sheets,) whom each sheet meets, `apart` sheets away; itself where nobody is left."""
    start = int(rng.integers(2 * apart))
    first = (np.arange(n_sheets) + start) % (2 * apart) < apart
    partner = np.where(first, np.arange(n_sheets) + apart, np.arange(n_sheets) - apart)
    return np.where((partner < 0) | (partner >= n_sheets), np.arange(n_sheets), partner)


def _may_change(held: list[set[int]], one: int, other: int, gone: int, come: int) -> bool:
    """Whether two owners may exchange two keys; if so they hold them afterwards."""
    if one != other and gone != come:
        if come in held[one] or gone in held[other]:
            return False
        held[one].remove(gone)
        held[other].remove(come)
        held[one].add(come)
        held[other].add(gone)
    return True
