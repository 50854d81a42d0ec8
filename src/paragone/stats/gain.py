"""How much the outcome of a comparison would tell about scores that are known as draws of their posterior."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import entr, expit, ndtr

from paragone.errors import BadInput

from .statistic import Floats, Ints

__all__ = ["Link", "information_gain", "spanning_pairs"]

Link = Literal["logistic", "normal"]
"""How a difference becomes a chance of winning: Bradley and Terry's logistic, or Thurstone's normal distribution."""

_CELLS = 4_000_000  # draws x pairs looked at together: bounds memory at about 100 MB


def information_gain(draws: ArrayLike, i: Ints, j: Ints, *, link: Link = "logistic") -> Floats:
    """Expected information about the scores in the outcome of one more comparison of each pair.

    The mutual information of outcome y and scores s, H(E[p]) - E[H(p)] with p = P(i beats j | s) and H the entropy of
    a coin: how unsure the outcome is, less how unsure it would be if the scores were known. It is 0 where all draws
    agree on p, however close the two items are, and near 1 bit where half of the draws say i surely and half j surely.

    Args:
        draws: (r, n) draws of n scores, r >= 2, in units of the link (a difference of 1 wins with probability 0.73
            logistic, 0.84 normal); NaN: the item has no score in that draw, which is then left out for its pairs.
        i: (m,) one item of each pair, in [0, n).
        j: (m,) the other.
        link: from difference to probability.

    Returns:
        (m,) bits in [0, 1]; NaN for a pair without two draws that have both scores.

    Raises:
        BadInput: draws are not a table with at least two rows, or hold an infinity.

    Source:
        Lindley, "On a measure of the information provided by an experiment", Annals of Mathematical Statistics 27(4),
        1956; for comparisons Mikhailiuk et al., "Active sampling for pairwise comparisons via approximate message
        passing and information gain maximization", ICPR 2020, section III.
    """
    table = np.asarray(draws, dtype=np.float64)
    if table.ndim != 2 or len(table) < 2:
        raise BadInput(f"information needs a table of at least two draws, not one of shape {table.shape}")
    if np.isinf(table).any():
        raise BadInput("a draw holds an infinite score; estimate with a prior, so that all scores are finite")
    chance = expit if link == "logistic" else ndtr
    gain = np.empty(i.size)
    step = max(1, _CELLS // len(table))
    for start in range(0, i.size, step):
        some = slice(start, start + step)
        p = chance(table[:, i[some]] - table[:, j[some]])
        known = ~np.isnan(p)
        count = known.sum(axis=0)
        p = np.where(known, p, 0.5)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(known, p, 0.0).sum(axis=0) / count
            within = np.where(known, _bits(p), 0.0).sum(axis=0) / count
        gain[some] = np.where(count >= 2, np.clip(_bits(mean) - within, 0.0, 1.0), np.nan)
    return gain


def spanning_pairs(n: int, i: Ints, j: Ints, gain: Floats) -> Ints:
    """Choose the pairs of the spanning forest that has the largest sum of gains.

    They connect whatever all pairs together connect, with as few pairs as that takes.

    Args:
        n: items.
        i: (m,) one item of each pair; each unordered pair once, never an item with itself.
        j: (m,) the other.
        gain: (m,) what each pair is worth; finite.

    Returns:
        Indices of the chosen pairs, ascending.

    Source:
        Kruskal, "On the shortest spanning subtree of a graph", Proceedings of the AMS 7(1), 1956; as a batch of
        comparisons Mikhailiuk et al., 2020, section III-C.
    """
    if not i.size:
        return np.empty(0, dtype=np.int64)
    place = np.empty(i.size)
    place[np.argsort(-gain, kind="stable")] = np.arange(1.0, i.size + 1.0)  # only the order of gains matters
    tree = minimum_spanning_tree(coo_array((place, (np.minimum(i, j), np.maximum(i, j))), shape=(n, n)).tocsr())
    chosen: Ints = np.sort(np.argsort(place, kind="stable")[tree.data.astype(np.int64) - 1])
    return chosen


def _bits(p: Floats) -> Floats:
    bits: Floats = (entr(p) + entr(1.0 - p)) / np.log(2.0)
    return bits
