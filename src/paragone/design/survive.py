"""Whether the pairs of a plan still connect its items when sheets go missing.

The question is asked of every choice of so many sheets. It is answered by a proof for all of them, by one choice that
parts the items, or by neither, and `Survival` says which.
"""

from __future__ import annotations

import itertools
import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

__all__ = ["Survival", "survives"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_EVERY_CHOICE = 400  # our choice: choices of missing sheets up to which each is looked at
_LARGEST = 3_000  # our choice: items of a part up to which its eigenvalues are computed
_SEARCHED = 20_000_000  # our choice: items x sheets up to which a weak cut is looked for; 160 MB
_STARTS = 100  # our choice: items from which a weak cut is looked for
_GROWN = 12  # our choice: items up to which such a cut grows


class Survival(NamedTuple):
    """What is known about the parts of a plan without some of its sheets."""

    missing: int
    """Sheets that may be missing."""
    sheets: int
    """Sheets there are."""
    verdict: Literal["proved", "open", "broken"]
    """proved: whichever sheets are missing, no part falls apart; broken: `sheets_missing` parts one; open: no proof and
    no such choice was found."""
    how: str
    """The proof, or what was tried, in a clause."""
    parting: tuple[int, ...] = ()
    """Sheets without which a part falls apart; empty: none known."""


class _Pairs(NamedTuple):
    """Pairs as shown, one row for each time."""

    n: int
    a: Ints
    b: Ints
    sheet: Ints
    n_sheets: int


def survives(n: int, a: Ints, b: Ints, sheet: Ints, n_sheets: int, missing: int) -> Survival:
    """Say whether the pairs leave the items in the same parts whichever sheets are missing.

    In this order: is there an item on no more sheets than may be missing (then those sheets part it); is every choice
    of sheets few enough to look at; do disjoint sets of sheets, more than may be missing, each leave the same parts (then
    one set is whole whatever is missing); are all cuts wide enough; can a greedy search for narrow cuts find one that is
    not. All but the last answer are exact.

    How wide cuts are: with the Laplacian's second eigenvalue l, a set of s of the n items of a part has at least
    l s (n - s) / n pairs to the rest of it (Fiedler). Missing sheets take at most the sum, over the set, of each item's
    pairs on those sheets that show it most, and at most what the largest sheets hold. If the first is larger for every
    s up to n / 2, every cut keeps a pair.

    Args:
        n: items.
        a: (m,) one item of each pair that is shown; every showing is a row.
        b: (m,) the other.
        sheet: (m,) sheet on which it is shown, in [0, n_sheets).
        n_sheets: sheets.
        missing: sheets that may be missing, >= 0.

    Source:
        Fiedler, "Algebraic connectivity of graphs", Czechoslovak Mathematical Journal 23(2), 1973; the use for sheets
        is ours.
    """
    pairs = _Pairs(n, a, b, sheet, n_sheets)
    parts, label = _parts(pairs, np.ones(a.size, dtype=bool))
    groups = [np.flatnonzero(label == part) for part in range(parts)]
    groups = [items for items in groups if items.size > 1]
    known = _by_counting(pairs, parts, groups, missing) or _by_sets(pairs, parts, missing)
    if known is not None:
        return known
    if all(_cuts_wide(pairs, items, missing) for items in groups):
        how = "every cut is wider than what so many sheets can take, by the second eigenvalue of the Laplacian"
        return Survival(missing, n_sheets, "proved", how)
    if n * n_sheets > _SEARCHED:
        return Survival(missing, n_sheets, "open", "too many items and sheets for a search")
    found = _narrow_cut(pairs, groups, missing)
    if found:
        return Survival(missing, n_sheets, "broken", "found by a greedy search for narrow cuts", found)
    return Survival(missing, n_sheets, "open", f"a greedy search from {min(n, _STARTS)} items found no such sheets")


def _parts(pairs: _Pairs, kept: NDArray[np.bool_]) -> tuple[int, Ints]:
    graph = coo_array((np.ones(int(kept.sum())), (pairs.a[kept], pairs.b[kept])), shape=(pairs.n, pairs.n))
    count, label = connected_components(graph, directed=False)
    return int(count), np.asarray(label, dtype=np.int64)


def _by_counting(pairs: _Pairs, parts: int, groups: list[Ints], missing: int) -> Survival | None:
    """The answer where an item is on few sheets, or choices of sheets are few."""
    if not groups or missing <= 0:
        how = "nothing is missing" if groups else "nothing is connected"
        return Survival(missing, pairs.n_sheets, "proved", how)
    seen = np.zeros((pairs.n, pairs.n_sheets), dtype=bool)
    seen[pairs.a, pairs.sheet] = True
    seen[pairs.b, pairs.sheet] = True
    among = np.concatenate(groups)
    rarest = among[int(seen[among].sum(axis=1).argmin())]
    sheets = np.flatnonzero(seen[rarest])
    if sheets.size <= missing:
        how = f"an item is on {sheets.size} sheet{'s' * (sheets.size != 1)} only"
        return Survival(missing, pairs.n_sheets, "broken", how, tuple(sheets.tolist()))
    choices = math.comb(pairs.n_sheets, missing)
    if choices > _EVERY_CHOICE:
        return None
    for gone in itertools.combinations(range(pairs.n_sheets), missing):
        if _parts(pairs, ~np.isin(pairs.sheet, gone))[0] > parts:
            return Survival(missing, pairs.n_sheets, "broken", "found by looking at every choice", gone)
    return Survival(missing, pairs.n_sheets, "proved", f"each of the {choices} choices was looked at")


def _by_sets(pairs: _Pairs, parts: int, missing: int) -> Survival | None:
    """The proof by more disjoint sets of sheets than may be missing, taken greedily in the order of the sheets."""
    order = np.argsort(pairs.sheet, kind="stable")
    ends = np.searchsorted(pairs.sheet[order], np.arange(pairs.n_sheets + 1))
    a, b = pairs.a[order].tolist(), pairs.b[order].tolist()
    sets, left, root = 0, pairs.n, list(range(pairs.n))
    for sheet in range(pairs.n_sheets):
        for one, other in zip(a[ends[sheet] : ends[sheet + 1]], b[ends[sheet] : ends[sheet + 1]], strict=True):
            one, other = _root(root, one), _root(root, other)
            if one != other:
                root[one] = other
                left -= 1
        if left == parts:
            sets, left, root = sets + 1, pairs.n, list(range(pairs.n))
    if sets <= missing:
        return None
    how = f"{sets} sets of sheets without a common one each connect what all do"
    return Survival(missing, pairs.n_sheets, "proved", how)


def _root(root: list[int], item: int) -> int:
    while root[item] != item:
        root[item] = root[root[item]]
        item = root[item]
    return item


def _cuts_wide(pairs: _Pairs, items: Ints, missing: int) -> bool:
    """Whether every cut of one part holds more pairs than the missing sheets can take; see `survives`."""
    n = items.size
    if n > _LARGEST:
        return False
    place = np.full(pairs.n, -1, dtype=np.int64)
    place[items] = np.arange(n)
    inside = place[pairs.a] >= 0
    a, b, sheet = place[pairs.a[inside]], place[pairs.b[inside]], pairs.sheet[inside]
    shown = np.zeros((n, pairs.n_sheets))
    np.add.at(shown, (a, sheet), 1.0)
    np.add.at(shown, (b, sheet), 1.0)
    laplacian = np.zeros((n, n))
    np.add.at(laplacian, (a, b), -1.0)
    np.add.at(laplacian, (b, a), -1.0)
    np.fill_diagonal(laplacian, shown.sum(axis=1))
    values = np.linalg.eigvalsh(laplacian)
    second = float(values[1]) - 1e-9 * float(values[-1])  # rounding must not widen a cut
    size = np.arange(1, n // 2 + 1)
    wide = second * size * (n - size) / n
    of_item = np.sort(np.sort(shown, axis=1)[:, -missing:].sum(axis=1))[::-1]
    of_sheets = np.sort(np.bincount(sheet, minlength=pairs.n_sheets))[-missing:].sum()
    taken = np.minimum(np.cumsum(of_item)[: size.size], of_sheets)
    return bool((wide > taken).all())


def _narrow_cut(pairs: _Pairs, groups: list[Ints], missing: int) -> tuple[int, ...]:
    """Sheets, at most so many, without which a set of items loses its part; empty where the search finds none.

    From an item the set grows by the neighbour that leaves the fewest sheets on its cut.
    """
    between = np.zeros((pairs.n, pairs.n_sheets))
    np.add.at(between, (pairs.a, pairs.sheet), 1.0)
    np.add.at(between, (pairs.b, pairs.sheet), 1.0)
    among = np.concatenate(groups)
    part = np.full(pairs.n, -1, dtype=np.int64)
    for number, items in enumerate(groups):
        part[items] = number
    both = np.concatenate([pairs.a, pairs.b])
    order = np.argsort(both, kind="stable")
    other = np.concatenate([pairs.b, pairs.a])[order]
    on = np.concatenate([pairs.sheet, pairs.sheet])[order]
    ends = np.searchsorted(both[order], np.arange(pairs.n + 1))
    starts = among[np.argsort((between[among] > 0).sum(axis=1), kind="stable")][:_STARTS]
    for start in starts.tolist():
        members = {start}
        cut, link = between[start].copy(), np.zeros_like(between)
        newest = start
        size = int(groups[part[start]].size)
        while len(members) <= min(_GROWN, size // 2):
            sheets = np.flatnonzero(cut)
            if sheets.size <= missing:
                return tuple(sheets.tolist())
            span = slice(ends[newest], ends[newest + 1])
            np.add.at(link, (other[span], on[span]), 1.0)
            near = np.array([item for item in np.flatnonzero(link.any(axis=1)).tolist() if item not in members])
            if not near.size:
                break
            grown = cut + between[near] - 2 * link[near]
            best = int((grown > 0).sum(axis=1).argmin())
            newest, cut = int(near[best]), grown[best]
            members.add(newest)
    return ()
