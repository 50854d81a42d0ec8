"""Decks of pairs: which items meet, how often, in the order in which they are dealt.

Every prefix of a deck shows the items about equally often, and a prefix of n - 1 pairs already connects what it must.
"""

from __future__ import annotations

from collections import Counter
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

__all__ = ["Cells", "Deck", "across_deck", "levelled", "n_components", "with_copies", "within_deck"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_AHEAD = 24  # our choice: pairs among which the next one is picked
_FEW = 6  # items up to which a cycle that never steps inside a group need not exist
_OFFERED = 256  # our choice: pairs among which the next shared one is picked
_EXCHANGES = 20  # our choice: exchanges per item that even out a deck, at most
_ENUMERATE = 100_000  # our choice: cross pairs up to which a whole cycle of all of them is laid out


class Deck(NamedTuple):
    """m slots of pairs in dealing order."""

    a: Ints
    """(m,) index of one item."""
    b: Ints
    """(m,) index of the other; never equal to `a`."""
    n_pairs: int
    """Different pairs that the rule allows."""


def n_components(n: int, a: Ints, b: Ints) -> int:
    """Return into how many parts the pairs leave the n items."""
    graph = coo_array((np.ones(a.size), (a, b)), shape=(n, n))
    return int(connected_components(graph, directed=False)[0])


class Cells(NamedTuple):
    """Cells whose exposure is to be even, for example each method on each style, and each item."""

    ids: Ints
    """(n, c) ids of the cells that each item is in; as many for each item, one of each kind of cell."""
    weight: Floats
    """(cells,) weight of each cell."""


def within_deck(
    group: Ints,
    level: Ints,
    n_slots: int,
    n_shared: int,
    copies: int,
    rng: np.random.Generator,
    cells: Cells | None = None,
) -> Deck:
    """Return a deck in which items of one group meet, each pair and each item of a group equally often (+-1).

    In each group the circle method lays all pairs out in rounds where nobody plays twice; two neighbouring rounds
    form one Hamiltonian path, so the first n - 1 pairs connect the group. Groups take turns; as many groups as there
    are levels share one random seating that moves on by one level from group to group, so that every stretch of the
    deck shows the levels evenly.

    Args:
        group: (n,) index of each item's group, from 0.
        level: (n,) index of each item's level of the factor under comparison.
        n_slots: pairs to deal, repeats of a pair among them.
        n_shared: pairs of which `copies` further slots are dealt far away, so that other participants get them; ignored
            where n_slots shows every pair twice anyway.
        copies: further slots of each shared pair.
        rng: source of every random choice.
        cells: cells that the deck as a whole shows evenly; None: the items alone.
    """
    rank = rng.permutation(int(group.max()) + 1)
    rounds = [_circle(items) for items in _seated(group, level, rank, rng)]
    sizes = np.array([len(pairs) for pairs in rounds])
    total = int(sizes.sum())
    extra = 0 if n_slots >= 2 * total else n_shared * copies
    counts = _connecting(_apportion(n_slots - extra, sizes, rng), np.maximum(np.bincount(group) - 1, 0))
    offset = np.argsort(rank) / len(rounds)
    which = np.repeat(np.arange(len(rounds)), counts)
    place = np.concatenate([np.arange(count) for count in counts])
    pairs = np.concatenate([pairs[np.arange(count) % len(pairs)] for pairs, count in zip(rounds, counts, strict=True)])
    key = (place + offset[which]) / counts[which]
    order = np.argsort(key, kind="stable")
    cells = cells or _items_alone(group.size)
    pairs = levelled(pairs[order], group, cells, rng, within=True)
    a, b = with_copies(pairs, key[order], n_shared if extra else 0, copies, cells, rng)
    return Deck(a, b, total)


def across_deck(
    group: Ints,
    level: Ints,
    n_slots: int,
    n_shared: int,
    copies: int,
    rng: np.random.Generator,
    cells: Cells | None = None,
) -> Deck:
    """Return a deck in which items of different groups meet, each item equally often (+-1 where group sizes allow).

    Rounds are Hamiltonian cycles through all items that never step inside a group (items laid out group by group,
    steps of at least the largest group's size), so the first round connects everything and gives each item two
    opponents. Where a study shows most of the possible pairs, all of them are laid out instead and each comes equally
    often (+-1).

    Args:
        group: (n,) index of each item's group, from 0; at least two groups.
        level, n_slots, n_shared, copies, rng, cells: as in `within_deck`.
    """
    n = group.size
    sizes = np.bincount(group)
    total = (n * n - int((sizes**2).sum())) // 2
    extra = 0 if n_slots >= 2 * total else n_shared * copies
    n_distinct = n_slots - extra
    bare = not _steps(n, int(sizes.max())) and 2 * int(sizes.max()) < n
    if total <= _ENUMERATE and (2 * n_distinct >= total or n <= _FEW or bare):
        matchings = _all_across(group, rng)
    else:
        matchings = _cycles(group, n_distinct, rng)
    pairs = _evened(matchings, group, level, rng)
    head = pairs[: min(n_distinct, len(pairs))]
    if n_components(n, head[:, 0], head[:, 1]) > 1:
        first = pairs[: max(2 * n, n_distinct)]
        joined = n_components(n, first[:, 0], first[:, 1]) == 1
        pairs = _spanning_first(first if joined else pairs, group)
    pairs = pairs[np.arange(n_distinct) % len(pairs)]
    cells = cells or _items_alone(n)
    pairs = levelled(pairs, group, cells, rng, within=False)
    key = np.arange(n_distinct) / max(1, n_distinct)
    a, b = with_copies(pairs, key, n_shared if extra else 0, copies, cells, rng)
    return Deck(a, b, total)


def _items_alone(n: int) -> Cells:
    return Cells(np.arange(n)[:, None], np.ones(n))


def levelled(pairs: Ints, group: Ints, cells: Cells, rng: np.random.Generator, *, within: bool) -> Ints:
    """Return the pairs with one item of some exchanged for another, so that cells are shown more evenly.

    An item of a cell that is shown much makes room for one of a cell that is shown little, as long as that lowers the
    weighted sum of squared counts, no pair comes more than once oftener than another it could have been, and the pairs
    that connect the items (a spanning forest) stay.

    Args:
        pairs: (m, 2) items of each pair.
        group: (n,) index of each item's group.
        cells: what is to be even.
        rng: source of the order in which pairs are tried.
        within: whether pairs are of one group; else they are of two.
    """
    pairs, n = pairs.copy(), group.size
    ids, weight = cells
    shown = np.bincount(ids[pairs].ravel(), minlength=weight.size).astype(np.float64)
    slots: list[list[int]] = [[] for _ in range(n)]
    bound = np.zeros(len(pairs), dtype=bool)
    bound[_tree(pairs, n)] = True
    for slot in rng.permutation(np.flatnonzero(~bound)).tolist():
        for item in pairs[slot].tolist():
            slots[item].append(slot)
    times = Counter(_keys(pairs, n))
    each = float(weight[ids[0]].sum())
    stuck = np.zeros(n, dtype=bool)
    for _ in range(_EXCHANGES * n):
        price = (weight * shown)[ids].sum(axis=1) + rng.uniform(0, 1e-6, n)
        gone = int(np.where(stuck, -np.inf, price).argmax())
        rivals = np.flatnonzero(group == group[gone]) if within else np.arange(n)
        rivals = rivals[price[gone] - price[rivals] > each + 1e-3]
        rivals = rivals[np.argsort(price[rivals], kind="stable")[:_AHEAD]]
        come = _exchange(pairs, slots, times, group, gone, rivals.tolist(), within)
        if come < 0:
            stuck[gone] = True
            if stuck.all():
                break
            continue
        np.subtract.at(shown, ids[gone], 1.0)
        np.add.at(shown, ids[come], 1.0)
        stuck[:] = False
    return pairs


def _exchange(
    pairs: Ints, slots: list[list[int]], times: Counter[int], group: Ints, gone: int, rivals: list[int], within: bool
) -> int:
    """Put one of some items, best first, in the place of an item in some pair; return which, or -1."""
    n = group.size
    for come in rivals:
        for slot in slots[gone]:
            other = int(pairs[slot].sum()) - gone
            old, new = min(gone, other) * n + max(gone, other), min(come, other) * n + max(come, other)
            allowed = come != other and (group[come] == group[other]) == within
            if allowed and times[new] < times[old]:
                pairs[slot, int(pairs[slot, 1] == gone)] = come
                slots[gone].remove(slot)
                slots[come].append(slot)
                times[old] -= 1
                times[new] += 1
                return come
    return -1


def _seated(group: Ints, level: Ints, rank: Ints, rng: np.random.Generator) -> list[Ints]:
    """Items of each group in the order in which they sit down for the circle method; groups are visited by rank."""
    order = np.lexsort((rng.random(group.size), level))
    seats: list[Ints] = [order[:0]] * rank.size
    base, turn = np.empty(0, dtype=np.int64), 0
    for g in rank.tolist():
        members = order[group[order] == g]
        if base.size != members.size or turn == base.size:
            base, turn = rng.permutation(members.size), 0
        seats[g] = members[(base + turn) % max(1, members.size)]
        turn += 1
    return seats


def _evened(matchings: list[Ints], group: Ints, level: Ints, rng: np.random.Generator) -> Ints:
    """One deck out of matchings, the pairs of each ordered so that levels and groups come evenly: of the next few pairs
    in random order the one whose levels and groups were shown least goes first."""
    shown_level = [0] * (int(level.max()) + 1)
    shown_group = [0] * (int(group.max()) + 1)
    laid: list[list[int]] = []
    for edges in matchings:
        waiting = edges[rng.permutation(len(edges))].tolist()
        levels, groups = level.tolist(), group.tolist()

        def price(pair: list[int], levels: list[int] = levels, groups: list[int] = groups) -> int:
            a, b = pair
            return shown_level[levels[a]] + shown_level[levels[b]] + shown_group[groups[a]] + shown_group[groups[b]]

        while waiting:
            ahead = [price(pair) for pair in waiting[:_AHEAD]]
            pair = waiting.pop(ahead.index(min(ahead)))
            for item in pair:
                shown_level[levels[item]] += 1
                shown_group[groups[item]] += 1
            laid.append(pair)
    return np.array(laid, dtype=np.int64)


def _circle(items: Ints) -> Ints:
    """(n (n - 1) / 2, 2): all pairs, round by round, by the circle method; an odd item out sits a round out."""
    n = items.size
    if n < 2:
        return np.empty((0, 2), dtype=np.int64)
    m = n + n % 2
    turn = np.arange(m - 1)[:, None]
    k = np.arange(1, m // 2)[None, :]
    first = np.concatenate([turn, (turn + k) % (m - 1)], axis=1)
    second = np.concatenate([np.full_like(turn, m - 1), (turn - k) % (m - 1)], axis=1)
    pairs = np.stack([first, second], axis=-1).reshape(-1, 2)
    seated: Ints = items[pairs[(pairs < n).all(axis=1)]]
    return seated


def _apportion(n_slots: int, sizes: Ints, rng: np.random.Generator) -> Ints:
    """Whole numbers that sum to n_slots in proportion to the sizes; ties fall at random."""
    exact = n_slots * sizes / sizes.sum()
    counts: Ints = np.floor(exact).astype(np.int64)
    rest = exact - counts + rng.uniform(0, 1e-6, sizes.size) - (sizes == 0) * 2.0
    counts[np.argsort(-rest)[: n_slots - int(counts.sum())]] += 1
    return counts


def _connecting(counts: Ints, least: Ints) -> Ints:
    """The same sum, with as many slots moved from groups that have most to spare as small groups need to be
    connected."""
    counts = counts.copy()
    for group in np.flatnonzero(counts < least).tolist():
        while counts[group] < least[group]:
            spare = int((counts - least).argmax())
            if counts[spare] <= least[spare]:
                break
            counts[spare] -= 1
            counts[group] += 1
    return counts


def with_copies(
    pairs: Ints, key: Floats, n_shared: int, copies: int, cells: Cells, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return the items of pairs and, among them, of further copies of some, as far apart in the deck as can be.

    Args:
        pairs: (m, 2) items of each pair, in the order of the deck.
        key: (m,) place of each in the deck, in [0, 1].
        n_shared: pairs that come again, chosen so that cells stay even.
        copies: how often each comes again.
        cells: what is to be even.
        rng: source of the choice.

    Returns:
        The one and the other item of each slot, (m + n_shared x copies,) both.
    """
    if n_shared == 0 or copies == 0:
        return pairs[:, 0].copy(), pairs[:, 1].copy()
    chosen = _even_choice(pairs, n_shared, copies, cells, rng)
    keys = [key, *((key[chosen] + turn / (copies + 1)) % 1.0 for turn in range(1, copies + 1))]
    together = np.concatenate([pairs, *([pairs[chosen]] * copies)])
    order = np.argsort(np.concatenate(keys), kind="stable")
    return together[order, 0], together[order, 1]


def _even_choice(pairs: Ints, k: int, copies: int, cells: Cells, rng: np.random.Generator) -> Ints:
    """Indices of k pairs, all different while there are so many, whose cells stand in the deck least often so far."""
    both = cells.ids[pairs].reshape(len(pairs), -1)
    shown = np.bincount(both.ravel(), minlength=cells.weight.size).astype(np.float64)
    free: Ints = np.arange(len(pairs))
    chosen: list[int] = []
    while len(chosen) < k:
        if not free.size:
            free = np.arange(len(pairs))
        some = rng.integers(0, free.size, _OFFERED) if free.size > _OFFERED else np.arange(free.size)
        price = (cells.weight * shown)[both[free[some]]].sum(axis=1) + rng.uniform(0, 0.1, some.size)
        place = int(some[int(price.argmin())])
        chosen.append(int(free[place]))
        free[place] = free[-1]
        free = free[:-1]
        np.add.at(shown, both[chosen[-1]], float(copies))
    return np.array(chosen, dtype=np.int64)


def _layout(group: Ints, rng: np.random.Generator) -> Ints:
    """Items group by group, groups and items within them in random order."""
    rank = rng.permutation(int(group.max()) + 1)
    return np.lexsort((rng.random(group.size), rank[group]))


def _steps(n: int, largest: int) -> list[int]:
    """Steps that visit all n items in turn and never land in a group of at most `largest` neighbours again."""
    return [s for s in range(largest, n - largest + 1) if gcd(s, n) == 1]


def _cycles(group: Ints, n_slots: int, rng: np.random.Generator) -> list[Ints]:
    """At least n_slots pairs: Hamiltonian cycles across groups, each as two matchings, no pair twice if possible."""
    n = group.size
    steps = _steps(n, int(np.bincount(group).max()))
    if not steps:
        return _stars(group, n_slots, rng)
    seen: set[int] = set()
    laid: list[Ints] = []
    for number in range(-(-n_slots // n)):
        walk = _layout(group, rng)[(np.arange(n) * rng.choice(steps)) % n]
        edges = np.stack([walk, np.roll(walk, -1)], axis=1)
        for half in (edges[0 : n - n % 2 : 2], edges[1::2], edges[n - n % 2 :: 2][: n % 2]):
            laid.append(half if number == 0 else _rewired(half, group, seen, rng))
            seen.update(_keys(laid[-1], n))
    return laid


def _keys(edges: Ints, n: int) -> list[int]:
    keys: list[int] = (edges.min(axis=1) * n + edges.max(axis=1)).tolist()
    return keys


def _rewired(edges: Ints, group: Ints, seen: set[int], rng: np.random.Generator) -> Ints:
    """The matching with second ends exchanged until no pair was seen before, as far as 50 tries a pair go."""
    n, edges = group.size, edges.copy()

    def new(x: int, y: int) -> bool:
        return bool(group[x] != group[y]) and min(x, y) * n + max(x, y) not in seen

    for i in [i for i, key in enumerate(_keys(edges, n)) if key in seen]:
        for j in rng.integers(0, len(edges), 50).tolist():
            (a, b), (c, d) = edges[i].tolist(), edges[j].tolist()
            if i != j and new(a, d) and new(c, b):
                edges[i, 1], edges[j, 1] = d, b
                break
    return edges


def _stars(group: Ints, n_slots: int, rng: np.random.Generator) -> list[Ints]:
    """Pairs between a group that holds half of the items or more and all others; two turns connect everything."""
    largest = int(np.bincount(group).argmax())
    big, rest = np.flatnonzero(group == largest), np.flatnonzero(group != largest)
    laid: list[Ints] = []
    while sum(map(len, laid)) < n_slots:
        one, other = rng.permutation(big), rng.permutation(rest)
        for turn in range(min(2, rest.size)):
            at = np.arange(max(big.size, rest.size))
            pair = np.stack([one[at % big.size], other[(at + turn) % rest.size]], axis=1)
            laid.append(pair[:, ::-1] if turn else pair)
    return laid


def _all_across(group: Ints, rng: np.random.Generator) -> list[Ints]:
    """All pairs across groups, ordered as maximal matchings that take the least shown items first."""
    i, j = np.triu_indices(group.size, 1)
    edges = np.stack([i, j], axis=1)[group[i] != group[j]].astype(np.int64)
    shown = np.zeros(group.size)
    laid: list[Ints] = []
    while len(edges):
        order = np.argsort(shown[edges].sum(axis=1) + rng.random(len(edges)), kind="stable")
        used: set[int] = set()
        taken = np.zeros(len(edges), dtype=bool)
        for index, (a, b) in zip(order.tolist(), edges[order].tolist(), strict=True):
            if a not in used and b not in used:
                used.update((a, b))
                taken[index] = True
        laid.append(edges[taken])
        shown += np.bincount(laid[-1].ravel(), minlength=group.size)
        edges = edges[~taken]
    return laid


def _spanning_first(edges: Ints, group: Ints) -> Ints:
    """The same pairs with a spanning tree of the items first, and in it first those pairs that join the groups."""
    later = np.ones(len(edges), dtype=bool)
    later[_tree(group[edges], int(group.max()) + 1)] = False
    edges = edges[
        np.argsort(later, kind="stable")
    ]  # pairs that join groups close no circle, so the tree takes them all
    later = np.ones(len(edges), dtype=bool)
    later[_tree(edges, group.size)] = False
    return edges[np.argsort(later, kind="stable")]


def _tree(edges: Ints, n: int) -> Ints:
    """Indices of pairs that make a spanning forest, earliest first."""
    low, high = edges.min(axis=1), edges.max(axis=1)
    _, first = np.unique(low * n + high, return_index=True)
    first = first[low[first] != high[first]]
    tree = minimum_spanning_tree(coo_array((first + 1.0, (low[first], high[first])), shape=(n, n)).tocsr())
    return np.sort(tree.data.astype(np.int64) - 1)
