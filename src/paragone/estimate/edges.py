"""Votes folded into compared pairs: the one form in which the fast pairwise models read them.

An edge is a compared pair at one temperature. A million votes become at most as many edges, every model works on
edges, and a reweighting of the participants (a bootstrap replicate, a reliability) is one sparse product.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from paragone.errors import BadInput, NotConnected, TooFew
from paragone.estimate.arrays import Comparisons, Floats, Ints
from paragone.stats import graph
from paragone.stats.laplacian import shape_of

__all__ = [
    "Edges",
    "aggregate",
    "check_connected",
    "compacted",
    "is_connected",
    "never_compared",
    "not_connected",
    "not_strongly_connected",
    "pooled",
    "reweighted",
    "tally",
]


@dataclass(frozen=True, kw_only=True)
class Edges:
    """Distinct compared pairs i < j with the weighted wins of both sides, one entry per pair and temperature."""

    n: int
    """Number of items."""
    i: Ints
    """(e,) the lower index of each pair, ascending."""
    j: Ints
    """(e,) the higher index."""
    wins_i: Floats
    """(e,) weighted wins of i over j; a tie is half a win for each."""
    wins_j: Floats
    """(e,) weighted wins of j over i; wins_i + wins_j > 0."""
    temperature: Floats
    """(e,) > 0, the noise of these answers: P(i wins) = F((s_i - s_j) / temperature)."""
    self_pairs: int
    """Votes of an item against itself, which say nothing about scores and were dropped."""

    @property
    def votes(self) -> Floats:
        """(e,) weighted comparisons on each edge."""
        return self.wins_i + self.wins_j

    @property
    def seen(self) -> NDArray[np.bool_]:
        """(n,) whether an item has a comparison."""
        found = np.zeros(self.n, dtype=bool)
        found[self.i] = True
        found[self.j] = True
        return found


def aggregate(comparisons: Comparisons) -> Edges:
    """Fold votes into edges.

    Args:
        comparisons: m judged pairs over n items; rows of weight 0 and of an item against itself do not count.

    Returns:
        Edges in ascending order of (i, j, temperature); sides, duplicates and the order of the votes leave no trace.

    Raises:
        BadInput: an index, outcome, weight or temperature is out of range.
        TooFew: no comparison is left.
    """
    _check(comparisons)
    rows = _rows(comparisons)
    self_pairs = int(np.count_nonzero(comparisons.left == comparisons.right))
    if rows.low.size == 0:
        raise TooFew(f"no comparison between two different items among {comparisons.left.size} votes; nothing to score")
    low, high = rows.narrow(comparisons.n)
    order = _order(rows, low, high)
    low, high = low[order], high[order]
    fresh = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    if rows.level is not None:
        fresh |= rows.level[order[1:]] != rows.level[order[:-1]]
    starts = np.concatenate([[0], 1 + np.flatnonzero(fresh)])
    return Edges(
        n=comparisons.n,
        i=low[starts].astype(np.int64),
        j=high[starts].astype(np.int64),
        wins_i=np.add.reduceat(rows.low_won[order], starts),
        wins_j=np.add.reduceat(rows.high_won[order], starts),
        temperature=np.full(starts.size, rows.levels[0])
        if rows.level is None
        else rows.levels[rows.level[order[starts]]],
        self_pairs=self_pairs,
    )


def pooled(edges: Edges) -> Edges:
    """Return one edge per pair, with the wins of all temperatures together.

    Args:
        edges: sorted by pair, as `aggregate` gives them.
    """
    fresh = np.concatenate([[True], (edges.i[1:] != edges.i[:-1]) | (edges.j[1:] != edges.j[:-1])])
    starts = np.flatnonzero(fresh)
    return Edges(
        n=edges.n,
        i=edges.i[starts],
        j=edges.j[starts],
        wins_i=np.add.reduceat(edges.wins_i, starts),
        wins_j=np.add.reduceat(edges.wins_j, starts),
        temperature=np.ones(starts.size),
        self_pairs=edges.self_pairs,
    )


def tally(comparisons: Comparisons, edges: Edges) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Split the wins of each edge by participant.

    Args:
        comparisons: the votes.
        edges: `aggregate(comparisons)`.

    Returns:
        Two (participants, e) matrices: weighted wins of i over j, and of j over i. `weights @ first` are the wins under
        weights (r, participants); the column sums are `edges.wins_i` and `edges.wins_j`.
    """
    rows = _rows(comparisons)
    key = (edges.i * edges.n + edges.j) * rows.levels.size + np.searchsorted(rows.levels, edges.temperature)
    edge = np.searchsorted(key, rows.key(edges.n))
    shape = (int(comparisons.participant.max(initial=-1)) + 1, edges.i.size)
    wins_i = sparse.csr_array((rows.low_won, (rows.participant, edge)), shape=shape)
    wins_j = sparse.csr_array((rows.high_won, (rows.participant, edge)), shape=shape)
    wins_i.eliminate_zeros()
    wins_j.eliminate_zeros()
    return wins_i, wins_j


def reweighted(edges: Edges, wins_i: Floats, wins_j: Floats) -> Edges:
    """The same edges under other wins; those without a vote are no longer compared and go.

    Args:
        edges: the edges of the full sample.
        wins_i: (e,) weighted wins of i over j.
        wins_j: (e,) weighted wins of j over i.

    Returns:
        Edges with wins_i + wins_j > 0, in the same order.
    """
    kept = np.flatnonzero(wins_i + wins_j > 0)
    return Edges(
        n=edges.n,
        i=edges.i[kept],
        j=edges.j[kept],
        wins_i=wins_i[kept],
        wins_j=wins_j[kept],
        temperature=edges.temperature[kept],
        self_pairs=edges.self_pairs,
    )


def compacted(edges: Edges) -> tuple[Edges, NDArray[np.bool_]]:
    """Renumber the seen items 0, 1, ... and leave the unseen ones out.

    Returns:
        The edges over the seen items, and (n,) which items those are.
    """
    seen = edges.seen
    if seen.all():
        return edges, seen
    place = np.cumsum(seen) - 1
    return replace(edges, n=int(seen.sum()), i=place[edges.i], j=place[edges.j]), seen


def check_connected(edges: Edges, *, strongly: bool) -> dict[str, int | Ints]:
    """Refuse edges that do not determine one scale for all seen items.

    Args:
        edges: the compared pairs.
        strongly: whether every item must also be reachable from every other by a chain of wins.

    Returns:
        Notes: `components` and `strong_components` (numbers of groups among the seen items), `self_pairs` (votes
        dropped), `unseen` (indices of the items without a comparison).

    Raises:
        NotConnected: the seen items are several groups, or (strongly) some group never lost to or never won over the
            rest; its attribute `groups` holds the members of each group.
    """
    seen = edges.seen
    strong = graph.strong_components(edges.n, *graph.win_arcs(edges.i, edges.j, edges.wins_i, edges.wins_j))
    n_strong = np.unique(strong[seen]).size
    if n_strong > 1:
        weak = graph.components(edges.n, edges.i, edges.j)
        if np.unique(weak[seen]).size > 1:
            raise not_connected(weak, seen)
    if strongly and n_strong > 1:
        raise not_strongly_connected(edges, strong)
    return {
        "components": 1,
        "strong_components": n_strong,
        "self_pairs": edges.self_pairs,
        "unseen": np.flatnonzero(~seen),
    }


def is_connected(edges: Edges, *, strongly: bool) -> bool:
    """Whether `check_connected` would let the edges pass: the quick form, for replicates.

    Args:
        edges: the compared pairs; none at all do not pass.
        strongly: as in `check_connected`.
    """
    if edges.i.size == 0:
        return False
    small, _ = compacted(edges)
    if strongly:
        winner, loser = graph.win_arcs(small.i, small.j, small.wins_i, small.wins_j)
        arcs = sparse.csr_array((np.ones(winner.size, dtype=np.int8), (winner, loser)), shape=(small.n, small.n))
    else:
        arcs = shape_of(small.n, small.i, small.j).upper(small.votes)
    kind = "strong" if strongly else "weak"
    return bool(connected_components(arcs, directed=True, connection=kind, return_labels=False) == 1)


def never_compared(n: int) -> NotConnected:
    """The error for n groups of items that nobody compared across."""
    return NotConnected(
        f"items fall into {n} groups that were never compared; ask for answers across groups (a stage with "
        "pairs = 'across'; where the plan has one, more participants), score each group alone (--apart), or the levels of "
        "a factor that every group holds (--by method)"
    )


def not_connected(labels: Ints, seen: NDArray[np.bool_]) -> NotConnected:
    """The error for items that fall into groups never compared with each other; `groups` holds their members."""
    groups = _members(labels, seen)
    return _with_groups(
        never_compared(len(groups)),
        groups,
    )


def not_strongly_connected(edges: Edges, labels: Ints) -> NotConnected:
    """The error for one-sided results without finite scores; names the items that never lost or never won."""
    seen = edges.seen
    wins = np.bincount(edges.i, edges.wins_i, minlength=edges.n) + np.bincount(edges.j, edges.wins_j, minlength=edges.n)
    losses = np.bincount(edges.i, edges.wins_j, minlength=edges.n) + np.bincount(
        edges.j, edges.wins_i, minlength=edges.n
    )
    groups = _members(labels, seen)
    causes = [
        f"{what}: {_listed(which)}"
        for what, which in (
            ("never lost", np.flatnonzero(seen & (losses == 0))),
            ("never won", np.flatnonzero(seen & (wins == 0))),
        )
        if which.size
    ]
    why = "; ".join(causes) or f"between some of the {len(groups)} groups one side won every time"
    return _with_groups(
        NotConnected(
            f"no finite scores: the wins do not lead from every item to every other ({why}); "
            f"score with a prior (rank-centrality, bradley-terry-ridge) or collect more votes"
        ),
        groups,
    )


def _with_groups(error: NotConnected, groups: tuple[Ints, ...]) -> NotConnected:
    error.groups = groups
    return error


def _members(labels: Ints, seen: NDArray[np.bool_]) -> tuple[Ints, ...]:
    return tuple(np.flatnonzero(labels == label) for label in np.unique(labels[seen]))


def _listed(items: Ints, shown: int = 8) -> str:
    more = f" and {items.size - shown} more" if items.size > shown else ""
    return f"item{'s' if items.size > 1 else ''} {', '.join(map(str, items[:shown]))}{more}"


class _Rows(NamedTuple):
    """The votes that count, sides forgotten: item `low` < `high`, and what each of the two won."""

    low: Ints
    high: Ints
    low_won: Floats
    high_won: Floats
    participant: Ints
    levels: Floats
    """The distinct temperatures, ascending."""
    level: Ints | None
    """Index of each row's temperature, or None where there is but one."""

    def key(self, n: int) -> Ints:
        """One integer per pair and temperature, ascending as (low, high, temperature)."""
        pair: Ints = self.low * n + self.high
        return pair if self.level is None else pair * self.levels.size + self.level

    def narrow(self, n: int) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """low and high in 16 bits where n items fit: numpy sorts those by radix, and they move a quarter of the bytes."""
        kind = np.uint16 if n <= np.iinfo(np.uint16).max else np.int64
        return self.low.astype(kind), self.high.astype(kind)


def _rows(comparisons: Comparisons) -> _Rows:
    left, right, outcome, weight, who, temperature = (
        comparisons.left,
        comparisons.right,
        comparisons.outcome,
        comparisons.weight,
        comparisons.participant,
        comparisons.temperature,
    )
    counts = (left != right) & (weight > 0)
    if not counts.all():
        left, right, outcome, weight, who, temperature = (
            column[counts] for column in (left, right, outcome, weight, who, temperature)
        )
    levels, level = temperature[:1], None
    if temperature.size and temperature.min() != temperature.max():
        levels, level = np.unique(temperature, return_inverse=True)
    low_won = np.where(left < right, outcome, 1.0 - outcome) * weight
    return _Rows(np.minimum(left, right), np.maximum(left, right), low_won, weight - low_won, who, levels, level)


def _order(rows: _Rows, low: NDArray[np.integer], high: NDArray[np.integer]) -> Ints:
    """The stable order of the rows by (low, high, temperature), the least significant first."""
    digits = [high, low] if rows.level is None else [rows.level, high, low]
    order = np.argsort(digits[0], kind="stable")
    for digit in digits[1:]:
        order = order[np.argsort(digit[order], kind="stable")]
    return order


def _check(comparisons: Comparisons) -> None:
    n, size = comparisons.n, comparisons.left.size
    if any(column.shape != (size,) for column in comparisons[1:]):
        raise BadInput(f"comparisons: columns differ in length; each must have {size} rows as left has")
    if size == 0:
        return
    if (
        min(comparisons.left.min(), comparisons.right.min()) < 0
        or max(comparisons.left.max(), comparisons.right.max()) >= n
    ):
        raise BadInput(f"comparisons: an item index lies outside 0 to {n - 1}; check n")
    if not (comparisons.outcome.min() >= 0 and comparisons.outcome.max() <= 1):
        raise BadInput("comparisons: an outcome lies outside 0 to 1; give 1 for left, 0 for right, 0.5 for a tie")
    if not (comparisons.weight.min() >= 0 and comparisons.weight.max() < np.inf):
        raise BadInput("comparisons: a weight is negative or not finite; give how often the answer counts")
    if not (comparisons.temperature.min() > 0 and comparisons.temperature.max() < np.inf):
        raise BadInput("comparisons: a temperature is not above 0 and finite; give the noise relative to stage 0")
