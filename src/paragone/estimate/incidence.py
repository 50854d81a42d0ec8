"""Ratings as a table of participants by items, on which every rating model works.

A weight is split into two parts: how often the *participant* counts (the mean weight of their rows, which is what a
bootstrap over participants changes) and how their rows count against each other. Only the first part multiplies what a
participant adds to an item; a participant who counts twice keeps one bias and one inconsistency.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from paragone.errors import BadInput, NotConnected, TooFew
from paragone.estimate.arrays import Estimate, Floats, Ints, Opinions
from paragone.estimate.limits import require_within_reach

__all__ = [
    "Incidence",
    "averaged",
    "groups",
    "incidence",
    "item_means",
    "joined",
    "picked",
    "require_connected",
    "usable",
]

_DENSE = 4_000_000  # cells (32 MB): up to here dense matrix products are faster than sparse ones

Matrix = Any  # numpy array or scipy CSR matrix; only @ and .T are used


class Incidence(NamedTuple):
    """Sums over the ratings of each participant and item; values are measured from `centre`."""

    count: Matrix
    """(p, n) how often each participant rated each item, in units of the participant's mean row weight."""
    total: Matrix
    """(p, n) sum of the values above the item's centre, weighted as in `count`."""
    square: Floats
    """(p,) sum of squares of the same."""
    rows: Floats
    """(p,) number of ratings with a weight above 0."""
    copies: Floats
    """(p,) how often the participant counts; 0 for one without ratings."""
    centre: Floats
    """(n,) the plain mean of each item; 0 for an item never rated."""
    shown: Floats
    """(n,) ratings of the item, weights included."""

    @property
    def p(self) -> int:
        """Number of participants."""
        return int(self.rows.size)

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.centre.size)


def usable(opinions: Opinions) -> Opinions:
    """The ratings that count: rows of weight 0 are left out.

    Raises:
        BadInput: a value is missing, infinite or beyond +-1e100, or a weight is negative.
        TooFew: nothing is left.
    """
    require_within_reach(opinions.value)
    if not (np.isfinite(opinions.weight).all() and (opinions.weight >= 0).all()):
        raise BadInput("weights of ratings must be numbers of at least 0")
    kept = opinions.weight > 0
    if not kept.any():
        raise TooFew("no ratings; nothing to score")
    return opinions if kept.all() else picked(opinions, kept)


def picked(opinions: Opinions, rows: NDArray[np.bool_]) -> Opinions:
    """Only the ratings marked in `rows` (k,); items and participants keep their numbers."""
    return opinions._replace(
        item=opinions.item[rows],
        participant=opinions.participant[rows],
        session=opinions.session[rows],
        value=opinions.value[rows],
        weight=opinions.weight[rows],
    )


def incidence(opinions: Opinions) -> Incidence:
    """Sum ratings by participant and item.

    Args:
        opinions: ratings, as `usable` returns them.
    """
    n, p, item, who = opinions.n, opinions.p, opinions.item, opinions.participant
    rows = np.bincount(who, minlength=p).astype(np.float64)
    copies = np.bincount(who, opinions.weight, p) / np.maximum(rows, 1)
    within = opinions.weight / copies[who]
    shown = np.bincount(item, opinions.weight, n)
    centre = np.bincount(item, opinions.weight * opinions.value, n) / np.where(shown > 0, shown, 1)
    above = opinions.value - centre[item]
    return Incidence(
        count=_table(who, item, within, p, n),
        total=_table(who, item, within * above, p, n),
        square=np.bincount(who, within * above**2, p).astype(np.float64),
        rows=rows,
        copies=copies,
        centre=centre,
        shown=shown.astype(np.float64),
    )


def _table(who: Ints, item: Ints, cells: Floats, p: int, n: int) -> Matrix:
    if p * n <= _DENSE:
        return np.bincount(who * n + item, cells, p * n).reshape(p, n)
    return sparse.csr_matrix((cells, (who, item)), shape=(p, n))


def averaged(opinions: Opinions, values: Floats, notes: dict[str, Any]) -> Estimate:
    """Mean, spread and standard error of each item; what every mean opinion ends in.

    Args:
        opinions: k ratings, as `usable` returns them.
        values: (k,) what is averaged, one number a rating.
        notes: further notes to hand on; not written to.

    Returns:
        Means (n,), NaN for an item without ratings; standard errors sd / sqrt(ratings), NaN for an item with one.
        Notes gain `ratings`, `sd` (n - 1 in the denominator) and `df`, each (n,), `items_not_rated` and
        `items_with_one_rating`.
    """
    n, item, weight = opinions.n, opinions.item, opinions.weight
    shown = np.bincount(item, weight, n)
    seen, several = shown > 0, shown > 1
    mean = np.where(seen, np.bincount(item, weight * values, n) / np.where(seen, shown, 1), np.nan)
    square = np.bincount(item, weight * (values - mean[item]) ** 2, n)
    sd = np.where(several, np.sqrt(square / np.where(several, shown - 1, 1)), np.nan)
    return Estimate(
        mean,
        sd / np.sqrt(np.where(seen, shown, 1)),
        {
            **notes,
            "ratings": shown,
            "sd": sd,
            "df": np.maximum(shown - 1, 0),
            "items_not_rated": np.flatnonzero(~seen).tolist(),
            "items_with_one_rating": np.flatnonzero(seen & ~several).tolist(),
        },
    )


def item_means(opinions: Opinions, values: Floats, weights: Floats) -> Floats:
    """Mean of each item under r reweightings of the participants, by two matrix products.

    Args:
        opinions: k ratings, as `usable` returns them.
        values: (k,) what is averaged, one number a rating.
        weights: (r, p) how often each participant counts in each replicate.

    Returns:
        (r, n); NaN where an item has no rating in a replicate.
    """
    n, p = opinions.n, opinions.p
    count = _table(opinions.participant, opinions.item, opinions.weight, p, n)
    total = _table(opinions.participant, opinions.item, opinions.weight * values, p, n)
    copies = np.asarray(weights, dtype=np.float64).T
    shown = np.asarray(count.T @ copies).T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(shown > 0, np.asarray(total.T @ copies).T / shown, np.nan)


def groups(opinions: Opinions) -> tuple[int, Ints, Ints]:
    """Groups of participants and items that no rating joins.

    Returns:
        Their number, (p,) group of each participant and (n,) group of each item; -1 for one without ratings.
    """
    n, p = opinions.n, opinions.p
    edges = sparse.coo_matrix(
        (np.ones(opinions.item.size), (opinions.participant, p + opinions.item)), shape=(p + n, p + n)
    )
    _, label = connected_components(edges, directed=False)
    present = np.zeros(p + n, dtype=bool)
    present[opinions.participant] = True
    present[p + opinions.item] = True
    names, inverse = np.unique(label[present], return_inverse=True)
    numbered = np.full(p + n, -1, dtype=np.int64)
    numbered[present] = inverse
    return len(names), numbered[:p], numbered[p:]


def require_connected(opinions: Opinions) -> None:
    """Refuse ratings in which a participant's severity cannot be told from the quality of what they saw.

    Raises:
        NotConnected: participants and items fall into groups that no rating joins; names the smallest.
    """
    number, people, items = groups(opinions)
    if number == 1:
        return
    sizes = np.bincount(people[people >= 0], minlength=number) + np.bincount(items[items >= 0], minlength=number)
    least = int(sizes.argmin())
    raise NotConnected(
        f"participants and items fall into {number} groups that share no rating (smallest: "
        f"participants {_listed(people == least)}, items {_listed(items == least)}); "
        "leave the small ones out, score each group alone, or use 'mos'"
    )


def joined(table: Incidence) -> Callable[[Floats], bool]:
    """A quick test of whether the participants that count still meet on common items.

    Returns:
        A function of (p,) copies: True where the participants with copies above 0 form one group.
    """
    met = table.count @ table.count.T
    met = np.asarray(met.toarray() if sparse.issparse(met) else met) > 0
    everybody = bool(met[np.ix_(table.rows > 0, table.rows > 0)].all())

    def one_group(copies: Floats) -> bool:
        here = (copies > 0) & (table.rows > 0)
        if everybody or not here.any():
            return bool(here.any())
        return bool(connected_components(sparse.csr_matrix(met[np.ix_(here, here)]), directed=False)[0] == 1)

    return one_group


def _listed(chosen: Any, shown: int = 5) -> str:
    numbers = np.flatnonzero(chosen)
    return ", ".join(map(str, numbers[:shown])) + (", ..." if numbers.size > shown else "")
