"""The two plainest scores: the share of comparisons won, over all answers or averaged over opponents."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from paragone.estimate.arrays import Comparisons, Estimate, Estimator, Floats
from paragone.estimate.edges import Edges, aggregate, tally
from paragone.stats import graph
from paragone.stats.statistic import normal_quantile
from paragone.stats.wilson import wilson_interval

__all__ = ["COUNTING", "WIN_RATE", "counting", "counting_replicate", "win_rate", "win_rate_replicate"]

_BLOCK = 4_000_000  # cells of a block of replicates, 32 MB


def counting(comparisons: Comparisons, *, share: bool = True) -> Estimate:
    """Score items by the share of their comparisons that they won, a tie being half a win.

    Nothing is known about the opponents: an item that met weak ones looks good. Items are comparable only where all met
    the same opponents about equally often.

    Args:
        comparisons: answers; `weight` is how often an answer counts, `temperature` plays no part (a share has no noise
            model). Self-pairs are left out.
        share: False gives the number of wins in place of their share, which also rewards being shown more often.

    Returns:
        Share of wins in [0, 1] (or wins >= 0), (n,); NaN for items never compared. stderr is half the width of Wilson's
        95 % interval / 1.96, which does not vanish where all answers agree. Notes: components, unseen,
        self_pairs, comparable, and for `wilson_interval`, which is not symmetric: `wilson_trials` (n,), NaN without any,
        and, with share = False, `wilson_scale` (n,), what the share and its interval are multiplied by.

    Raises:
        TooFew: no pair of different items.
        BadInput: an index, outcome, weight or temperature is out of range.

    Source:
        David, "The Method of Paired Comparisons", 1988, section 1.4; Wilson, "Probable Inference, the Law of
        Succession, and Statistical Inference", JASA 22(158), 1927.
    """
    edges = aggregate(comparisons)
    wins, shown = _per_item(edges, edges.wins_i, edges.wins_j)
    rate = _ratio(wins, shown)
    stderr, notes = _wilson(rate, shown), {**_notes(edges), "wilson_trials": _or_nan(shown)}
    if not share:
        rate, stderr = np.where(edges.seen, wins, np.nan), stderr * shown
        notes["wilson_scale"] = _or_nan(shown)
    return Estimate(rate, stderr, notes)


def win_rate(comparisons: Comparisons) -> Estimate:
    """Score items by their share of wins against each opponent, averaged over the opponents they met.

    Every opponent counts the same, however often it was met, so a pair that was shown often does not dominate. Which
    opponents an item met still matters.

    Args:
        comparisons: answers; a tie is half a win, `weight` is how often an answer counts, `temperature` plays no part.
            Self-pairs are left out.

    Returns:
        Mean share of wins in [0, 1], (n,); NaN for items that were never compared. stderr is half the width of Wilson's
        95 % interval / 1.96. Notes: components, unseen, self_pairs, comparable and `wilson_trials` (n,), Kish's
        effective number of answers: opponents^2 / sum over opponents of 1 / answers, what the answers are worth when
        each opponent counts the same.

    Raises:
        TooFew: no pair of different items.
        BadInput: an index, outcome, weight or temperature is out of range.

    Source:
        Mean of p_ij over opponents j, the score of Hunter's and Kendall's round robins; called average win rate in
        evalica (Ustalov, "Reliable, Reproducible, and Really Fast Leaderboards with Evalica", COLING 2025). Effective
        numbers under Wilson's interval: Korn and Graubard, Survey Methodology 24(2), 1998.
    """
    edges = _merged(aggregate(comparisons))
    votes = edges.votes
    rate = edges.wins_i / votes
    sums, opponents = _per_item(edges, rate, 1.0 - rate)
    thin, _ = _per_item(edges, 1.0 / votes, 1.0 / votes)
    worth = _ratio(opponents**2, thin)
    mean = _ratio(sums, opponents)
    return Estimate(mean, _wilson(mean, np.nan_to_num(worth)), {**_notes(edges), "wilson_trials": worth})


def counting_replicate(comparisons: Comparisons, weights: Floats, *, share: bool = True) -> Floats:
    """(r, n) scores of `counting` under r reweightings of the participants (r, participants)."""
    edges = aggregate(comparisons)
    wins_i, wins_j = tally(comparisons, edges)
    ends = _ends(edges)
    wins = wins_i @ ends[0] + wins_j @ ends[1]
    shown = (wins_i + wins_j) @ (ends[0] + ends[1])
    won, seen = weights @ wins, weights @ shown
    return _ratio(won, seen) if share else np.where(seen > 0, won, np.nan)


def win_rate_replicate(comparisons: Comparisons, weights: Floats) -> Floats:
    """(r, n) scores of `win_rate` under r reweightings of the participants (r, participants)."""
    cool = comparisons._replace(temperature=np.ones_like(comparisons.temperature))
    edges = aggregate(cool)
    wins_i, wins_j = tally(cool, edges)
    first, second = _ends(edges)
    out = np.empty((weights.shape[0], edges.n))
    step = max(1, _BLOCK // max(1, edges.i.size))
    for start in range(0, weights.shape[0], step):
        block = slice(start, start + step)
        won, lost = weights[block] @ wins_i, weights[block] @ wins_j
        met = (won + lost) > 0
        rate = np.divide(won, won + lost, out=np.zeros_like(won), where=met)
        sums = rate @ first + np.where(met, 1.0 - rate, 0.0) @ second
        out[block] = _ratio(sums, met.astype(np.float64) @ (first + second))
    return out


def _ends(edges: Edges) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Two (e, n) matrices that add a quantity of the edges up at their lower and at their higher items."""
    rows, ones = np.arange(edges.i.size), np.ones(edges.i.size)
    shape = (edges.i.size, edges.n)
    return sparse.csr_array((ones, (rows, edges.i)), shape=shape), sparse.csr_array(
        (ones, (rows, edges.j)), shape=shape
    )


def _merged(edges: Edges) -> Edges:
    """The same wins with one edge a pair, whatever the temperatures."""
    first = np.flatnonzero(np.concatenate([[True], (np.diff(edges.i) != 0) | (np.diff(edges.j) != 0)]))
    return Edges(
        n=edges.n,
        i=edges.i[first],
        j=edges.j[first],
        wins_i=np.add.reduceat(edges.wins_i, first),
        wins_j=np.add.reduceat(edges.wins_j, first),
        temperature=np.ones(first.size),
        self_pairs=edges.self_pairs,
    )


def _per_item(edges: Edges, of_i: Floats, of_j: Floats) -> tuple[Floats, Floats]:
    """Sum a quantity of both ends of the edges at each item, and what it is measured against: votes, or opponents."""
    at_i, at_j = _ends(edges)
    base = edges.votes if of_i is edges.wins_i else np.ones(edges.i.size)
    return of_i @ at_i + of_j @ at_j, base @ (at_i + at_j)


def _or_nan(trials: Floats) -> Floats:
    return np.where(trials > 0, trials, np.nan)


def _ratio(part: Floats, whole: Floats) -> Floats:
    ratio: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return ratio


def _wilson(rate: Floats, votes: Floats) -> Floats:
    """Half the width of Wilson's interval over the normal quantile: a standard error that no unanimity brings to 0."""
    low, high = wilson_interval(np.minimum(rate, 1.0), votes)
    return (high - low) / (2.0 * normal_quantile(0.95))


def _notes(edges: Edges) -> dict[str, Any]:
    seen = edges.seen
    labels = graph.components(edges.n, edges.i, edges.j)[seen]
    return {
        "components": int(np.unique(labels).size),
        "unseen": np.flatnonzero(~seen),
        "self_pairs": edges.self_pairs,
        "comparable": "only between items that met the same opponents; whom an item met is not corrected for",
    }


_SOURCE_WIN_RATE = (
    "mean of p_ij over opponents; Ustalov, Reliable, Reproducible, and Really Fast Leaderboards, COLING 2025"
)

COUNTING = Estimator(
    name="counting",
    model=counting,
    reads="votes",
    summary="Share of comparisons won, ties half; ignores whom an item met",
    unit="share of wins",
    source="David, The Method of Paired Comparisons, 1988, section 1.4",
    replicate=counting_replicate,
    options={"share": "false gives the number of wins in place of their share; default true"},
)

WIN_RATE = Estimator(
    name="win-rate",
    model=win_rate,
    reads="votes",
    summary="Share of wins against each opponent, averaged over opponents",
    unit="share of wins",
    source=_SOURCE_WIN_RATE,
    replicate=win_rate_replicate,
)
