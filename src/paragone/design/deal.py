"""Share a deck out: which pair goes to which sheet, on which side, in which order."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from .checks import SAME_ITEM

__all__ = ["balanced_sides", "dealt", "ordered", "reserved"]

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_TABLE = 1_500  # our choice: trials of a sheet up to which what they share is kept as a table


def dealt(pair: Ints, n_sheets: int, rng: np.random.Generator) -> Ints | None:
    """Return the sheet of each slot: equal shares of the deck in its order, no pair twice on a sheet.

    Args:
        pair: (m,) id of each slot's pair; m is a multiple of n_sheets.
        n_sheets: number of sheets.
        rng: source of the exchanges that separate equal pairs.

    Returns:
        (m,) sheet of each slot, or None where 400 exchanges for some slot did not separate equal pairs.
    """
    m = pair.size
    sheet = np.repeat(np.arange(n_sheets), m // n_sheets)
    on: list[dict[int, int]] = [{} for _ in range(n_sheets)]
    for s, p in zip(sheet.tolist(), pair.tolist(), strict=True):
        on[s][p] = on[s].get(p, 0) + 1
    for i in range(m):
        p, s = int(pair[i]), int(sheet[i])
        if on[s][p] == 1:
            continue
        for j in rng.integers(0, m, 400).tolist():
            q, t = int(pair[j]), int(sheet[j])
            if t != s and not on[t].get(p) and not on[s].get(q):
                sheet[i], sheet[j] = t, s
                for where, gone, come in ((s, p, q), (t, q, p)):
                    on[where][gone] -= 1
                    on[where][come] = on[where].get(come, 0) + 1
                break
        else:
            return None
    return sheet


def balanced_sides(
    pair: Ints, counters: Ints, start: Ints, lean: Ints, rng: np.random.Generator, *, sweeps: int = 10
) -> Flags:
    """Return which slots swap sides: sides balance per pair (+-1), and as evenly as can be found for each counter.

    Slots of one pair are coupled two by two and take opposite sides, so at most one slot of a pair is left over; it makes
    up for earlier sheets where these leave the pair uneven. Couples and other left-over slots are then turned over while
    that evens out how often each counter's owner stands left and right.

    Args:
        pair: (m,) id of each slot's pair; its two items have a fixed order.
        counters: (m, c, 2) ids of what stands first and second, for c things to balance, for example the item, and the
            method on this sheet; ids are unique over the c things.
        start: (ids,) how much oftener each of these stood left than right on earlier sheets.
        lean: (m,) how much oftener the slot's first item stood left than right of the second on earlier sheets.
        rng: source of couples and of the order of the sweeps.
        sweeps: passes of turns that change nothing, each followed by passes of turns that help.

    Returns:
        (m,) true where the pair's second item goes to the left.
    """
    partner = _coupled(pair, rng)
    alone = partner < 0
    second = ~alone & (partner < np.arange(pair.size))
    owed = alone & (lean != 0)
    colour = (second | (owed & (lean > 0))).astype(np.int64)
    head = np.where(second, partner, np.arange(pair.size))
    chain = np.unique(head, return_inverse=True)[1].astype(np.int64)
    fixed = np.zeros(int(chain.max(initial=-1)) + 1, dtype=bool)
    fixed[chain[owed]] = True
    return _turned(colour, chain, fixed, counters, start, rng, sweeps).astype(bool)


def _coupled(key: Ints, rng: np.random.Generator) -> Ints:
    """(m,) a partner with the same key for each slot, -1 for the odd one out."""
    order = np.lexsort((rng.random(key.size), key))
    ordered_key = key[order]
    start = np.concatenate([[0], np.flatnonzero(np.diff(ordered_key)) + 1])
    place = np.arange(key.size) - np.repeat(start, np.diff(np.append(start, key.size)))
    first = np.flatnonzero((place[:-1] % 2 == 0) & (ordered_key[:-1] == ordered_key[1:]))
    partner = np.full(key.size, -1, dtype=np.int64)
    partner[order[first]] = order[first + 1]
    partner[order[first + 1]] = order[first]
    return partner


def _turned(
    colour: Ints, chain: Ints, fixed: Flags, counters: Ints, start: Ints, rng: np.random.Generator, sweeps: int
) -> NDArray[np.int64]:
    """Colours after turning chains over, those aside that are fixed, while the sum of squared imbalances falls."""
    n_chains = fixed.size
    sign = 1 - 2 * colour
    ids = counters.reshape(-1)
    step = (sign[:, None, None] * np.array([1, -1])).repeat(counters.shape[1], axis=1).reshape(-1)
    owner = np.repeat(chain, 2 * counters.shape[1])
    n_ids = start.size
    key, where = np.unique(owner * n_ids + ids, return_inverse=True)
    amount = np.bincount(where, weights=step)
    bounds = np.searchsorted(key // max(1, n_ids), np.arange(n_chains + 1))
    own, effect = key % max(1, n_ids), amount
    balance = start + np.bincount(own, weights=effect, minlength=n_ids)
    side = np.ones(n_chains)
    part, norm = key // max(1, n_ids), np.bincount(key // max(1, n_ids), weights=amount**2, minlength=n_chains)
    wandering = 0
    while wandering < sweeps:
        pull = side * np.bincount(part, weights=effect * balance[own], minlength=n_chains)
        better = np.flatnonzero((pull > norm) & ~fixed)
        wandering += better.size == 0
        # Where nothing helps any more, turns that change nothing open ways to turns that help.
        for c in rng.permutation(better if better.size else np.flatnonzero((pull == norm) & ~fixed)).tolist():
            span = slice(bounds[c], bounds[c + 1])
            at, by = own[span], side[c] * effect[span]
            gain = float(by @ balance[at]) - norm[c]
            if gain > 0 or (gain == 0 and not better.size):
                balance[at] -= 2 * by
                side[c] = -side[c]
    flipped: Ints = np.where(side[chain] > 0, colour, 1 - colour)
    return flipped


def reserved(n: int, repeats: int, distance: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return places (from 0) of the originals and of their repeats, each repeat at least `distance` later.

    Args:
        n: places on the sheet, with n - repeats >= max(distance, repeats).
        repeats: how many trials are repeated.
        distance: least number of places between the two, >= 1.
        rng: source of the places.

    Returns:
        Two (repeats,) arrays; all 2 repeats places differ.
    """
    for _ in range(20):
        free = np.ones(n, dtype=bool)
        first = np.empty(repeats, dtype=np.int64)
        second = np.empty(repeats, dtype=np.int64)
        for k in range(repeats):
            starts = np.flatnonzero(free[: n - distance])
            if not starts.size:
                break
            first[k] = rng.choice(starts)
            free[first[k]] = False
            ends = np.flatnonzero(free[first[k] + distance :])
            if not ends.size:
                break
            second[k] = first[k] + distance + rng.choice(ends)
            free[second[k]] = False
        else:
            return first, second
    return np.arange(repeats), np.arange(n - repeats, n)


def ordered(
    shown: Ints, repeated: Ints, distance: int, rng: np.random.Generator, *, items: int = 2
) -> tuple[Ints, Flags]:
    """Return the order of one sheet's trials, neighbours sharing as little as possible.

    Args:
        shown: (n, w) what each trial shows; the first `items` columns are item ids, the others reference ids (an id
            stands for one thing in every column).
        repeated: indices of the trials that come a second time.
        distance: least number of places between the two.
        rng: source of every random choice.
        items: columns of `shown` that hold items.

    Returns:
        (n + repeats,) trial index at each place, and whether that place is a repeat.
    """
    n, r = len(shown), len(repeated)
    conflict = _Conflict(shown, items)
    first, second = reserved(n + r, r, max(distance, 2) if n > 1 else distance, rng)
    forced = np.full(n + r, -1, dtype=np.int64)
    original = np.full(n + r, -1, dtype=np.int64)
    original[first] = second
    plain = np.ones(n, dtype=bool)
    plain[repeated] = False
    pools = {True: np.flatnonzero(~plain), False: np.flatnonzero(plain)}
    places = np.full(n + r, -1, dtype=np.int64)
    for at in range(n + r):
        if forced[at] >= 0:
            places[at] = forced[at]
            continue
        pool = pools[bool(original[at] >= 0)]
        price = rng.random(pool.size)
        if at:
            price += conflict.of(int(places[at - 1]))[pool]
        if at + 1 < n + r and forced[at + 1] >= 0:
            price += conflict.of(int(forced[at + 1]))[pool]
        best = int(price.argmin())
        places[at] = pool[best]
        pools[bool(original[at] >= 0)] = np.delete(pool, best)
        if original[at] >= 0:
            forced[original[at]] = places[at]
    is_repeat = forced >= 0
    twice = np.where(is_repeat, np.arange(n + r), -1)
    twice[first] = second
    twice[second] = first
    return _repaired(places, conflict, twice), is_repeat


class _Conflict:
    """What trials share: `SAME_ITEM` where they show one item, and one for each place of a reference that both show."""

    def __init__(self, shown: Ints, items: int) -> None:
        self._items, self._references = shown[:, :items], shown[:, items:]
        self._table = self._with(slice(None)) if len(shown) <= _TABLE else None

    def of(self, trial: int) -> Ints:
        """(n,) what each trial shares with this one."""
        row: Ints = self._with(slice(trial, trial + 1))[0] if self._table is None else self._table[trial]
        return row

    def between(self, one: int, other: int) -> int:
        """What two trials share."""
        return int(self.of(one)[other])

    def _with(self, rows: slice) -> Ints:
        """(rows, n) what some trials share with each; column by column, since all at once would take much memory."""
        n = len(self._items)
        same = np.zeros((len(range(*rows.indices(n))), n), dtype=bool)
        shared = np.zeros(same.shape, dtype=np.int64)
        for one, other in itertools.product(self._items.T, repeat=2):
            same |= one[rows, None] == other
        for one, other in itertools.product(self._references.T, repeat=2):
            shared += one[rows, None] == other
        shared[same] += SAME_ITEM
        return shared


def _repaired(places: Ints, conflict: _Conflict, twice: Ints) -> Ints:
    """Exchange trials while that lets neighbours share less.

    A trial that comes once changes places with another that comes once. Where an item still stands twice in a row, a
    trial that comes twice changes both places with both of another such trial, so that distances stay.

    Args:
        places: trial at each place.
        conflict: what trials share.
        twice: the other place of the same trial; -1 where it has none.
    """
    places, once = places.copy(), twice < 0
    edge = np.array([conflict.between(*two) for two in itertools.pairwise(places.tolist())], dtype=np.int64)
    for at in np.flatnonzero(edge).tolist():
        for spot in (at, at + 1):
            if edge[at] and once[spot]:
                _exchange_once(places, edge, conflict, once, spot)
    for at in np.flatnonzero(edge >= SAME_ITEM).tolist():
        for spot in (at, at + 1):
            if edge[at] >= SAME_ITEM and not once[spot]:
                _exchange_twice(places, edge, conflict, twice, min(spot, int(twice[spot])))
    return places


def _exchange_once(places: Ints, edge: Ints, conflict: _Conflict, once: Flags, spot: int) -> None:
    """Give the trial at one place, which comes once, the place of another where that lets neighbours share less."""
    far = np.flatnonzero(once & (np.abs(np.arange(places.size) - spot) > 1))
    if not far.size:
        return
    around = np.concatenate([[0], edge, [0]])
    there, here = places[far], conflict.of(int(places[spot]))
    beside = np.zeros(far.size, dtype=np.int64)
    for neighbour in (spot - 1, spot + 1):
        if 0 <= neighbour < places.size:
            beside += conflict.of(int(places[neighbour]))[there]
    ends = np.concatenate([[0], here[places], [0]])
    then = beside + ends[far] + ends[far + 2]
    gain = around[spot] + around[spot + 1] + around[far] + around[far + 1] - then
    best = int(gain.argmax())
    if gain[best] > 0:
        _exchanged(places, edge, conflict, [(spot, int(far[best]))])


def _exchange_twice(places: Ints, edge: Ints, conflict: _Conflict, twice: Ints, spot: int) -> None:
    """Give a trial that comes twice both places of another, the first such that fewer items stand twice in a row."""
    for other in np.flatnonzero(twice > np.arange(places.size)).tolist():
        if other == spot:
            continue
        before = int(edge.sum())
        moves = [(spot, other), (int(twice[spot]), int(twice[other]))]
        _exchanged(places, edge, conflict, moves)
        if int(edge.sum()) <= before - SAME_ITEM // 2:
            return
        _exchanged(places, edge, conflict, moves)


def _exchanged(places: Ints, edge: Ints, conflict: _Conflict, moves: list[tuple[int, int]]) -> None:
    """Exchange trials in place, and say anew what neighbours share."""
    for one, other in moves:
        places[[one, other]] = places[[other, one]]
    for spot in {near for move in moves for place in move for near in (place - 1, place)}:
        if 0 <= spot < edge.size:
            edge[spot] = conflict.between(int(places[spot]), int(places[spot + 1]))
