"""Share a deck out: which pair goes to which sheet, on which side, in which order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["balanced_sides", "dealt", "ordered", "reserved"]

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_SAME_ITEM = 1000  # our choice: one item shown twice in a row outweighs any number of shared references


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


def balanced_sides(pair: Ints, counters: Ints, rng: np.random.Generator, *, sweeps: int = 12) -> Flags:
    """Return which slots swap sides: sides balance per pair (+-1), and as evenly as can be found for each counter.

    Slots of one pair are coupled two by two and take opposite sides, so at most one slot of a pair is left over.
    Couples and left-over slots are then turned over while that evens out how often each counter's owner stands left
    and right.

    Args:
        pair: (m,) id of each slot's pair; its two items have a fixed order.
        counters: (m, c, 2) ids of what stands first and second, for c things to balance, for example the item, and the
            method on this sheet; ids are unique over the c things.
        rng: source of couples and of the order of the sweeps.
        sweeps: passes of the turning over, at most.

    Returns:
        (m,) true where the pair's second item goes to the left.
    """
    partner = _coupled(pair, rng)
    alone = partner < 0
    second = ~alone & (partner < np.arange(pair.size))
    colour = second.astype(np.int64)
    head = np.where(second, partner, np.arange(pair.size))
    chain = np.unique(head, return_inverse=True)[1].astype(np.int64)
    return _turned(colour, chain, int(chain.max(initial=-1)) + 1, counters, rng, sweeps).astype(bool)


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
    colour: Ints, chain: Ints, n_chains: int, counters: Ints, rng: np.random.Generator, sweeps: int
) -> NDArray[np.int64]:
    """Colours after turning chains over while the sum of squared imbalances falls."""
    sign = 1 - 2 * colour
    ids = counters.reshape(-1)
    step = (sign[:, None, None] * np.array([1, -1])).repeat(counters.shape[1], axis=1).reshape(-1)
    owner = np.repeat(chain, 2 * counters.shape[1])
    n_ids = int(ids.max(initial=-1)) + 1
    key, where = np.unique(owner * n_ids + ids, return_inverse=True)
    amount = np.bincount(where, weights=step)
    bounds = np.searchsorted(key // max(1, n_ids), np.arange(n_chains + 1))
    own, effect = key % max(1, n_ids), amount
    balance = np.bincount(own, weights=effect, minlength=n_ids)
    side = np.ones(n_chains)
    for _ in range(sweeps):
        turned = False
        for c in rng.permutation(n_chains).tolist():
            span = slice(bounds[c], bounds[c + 1])
            at, by = own[span], side[c] * effect[span]
            if float(by @ balance[at]) > float(by @ by):
                balance[at] -= 2 * by
                side[c] = -side[c]
                turned = True
        if not turned:
            break
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
    """What trials share: `_SAME_ITEM` where they show one item, and one for each reference that both show."""

    def __init__(self, shown: Ints, items: int) -> None:
        self._items = shown[:, :items]
        levels, codes = np.unique(shown[:, items:], return_inverse=True)
        self._references = np.zeros((len(shown), levels.size), dtype=np.float32)
        np.put_along_axis(self._references, codes.reshape(len(shown), -1), 1.0, axis=1)

    def of(self, trial: int) -> Ints:
        """(n,) what each trial shares with this one."""
        shared = self._references @ self._references[trial]
        same = np.zeros(len(self._items), dtype=bool)
        for item in self._items[trial].tolist():
            same |= (self._items == item).any(axis=1)
        return np.asarray(shared + _SAME_ITEM * same, dtype=np.int64)

    def between(self, one: int, other: int) -> int:
        """What two trials share."""
        shared = int(self._references[one] @ self._references[other])
        return shared + _SAME_ITEM * bool(set(self._items[one].tolist()) & set(self._items[other].tolist()))


def _repaired(places: Ints, conflict: _Conflict, twice: Ints) -> Ints:
    """Exchange trials while that keeps an item from standing twice in a row.

    A trial that comes once changes places with another that comes once; of two trials that come twice, both places
    of one change with both of the other, so that distances stay.

    Args:
        places: trial at each place.
        conflict: what trials share.
        twice: the other place of the same trial; -1 where it has none.
    """

    def price(spots: Sequence[int], order: Ints) -> int:
        at = {edge for spot in spots for edge in (spot - 1, spot) if 0 <= edge < order.size - 1}
        return sum(conflict.between(int(order[edge]), int(order[edge + 1])) for edge in at)

    def exchanged(one: int, other: int) -> tuple[list[int], Ints]:
        moved = places.copy()
        spots = [one, other] if twice[one] < 0 else [one, other, int(twice[one]), int(twice[other])]
        moved[spots] = places[[spots[i ^ 1] for i in range(len(spots))]]
        return spots, moved

    places = places.copy()
    once = np.flatnonzero(twice < 0).tolist()
    openers = [at for at in range(places.size) if twice[at] > at]
    for at in range(1, places.size):
        if conflict.between(int(places[at - 1]), int(places[at])) < _SAME_ITEM:
            continue
        for spot in (at, at - 1):
            spot = spot if twice[spot] < 0 else min(spot, int(twice[spot]))
            for other in once if twice[spot] < 0 else openers:
                if other == spot:
                    continue
                spots, moved = exchanged(spot, other)
                if price(spots, moved) < price(spots, places) - _SAME_ITEM / 2:
                    places = moved
                    break
            else:
                continue
            break
    return places
