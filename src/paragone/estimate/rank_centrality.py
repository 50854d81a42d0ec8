"""Rank Centrality: score items by how long a random walk towards winners rests on each.

With flows f_ij = a_ij e^{s_i}, where a_ij is j's share of the i-j comparisons, the scores s = log pi balance what
leaves every item with what enters it. Tiny pi come out with full relative precision, and the imbalance that is left is
reported.
"""

from __future__ import annotations

import numpy as np

from paragone.estimate.arrays import Comparisons, Estimate, Estimator, Floats, Ints
from paragone.estimate.bootstrap_pairs import under_weights
from paragone.estimate.edges import Edges, aggregate, check_connected, compacted, pooled
from paragone.estimate.limits import require_within
from paragone.stats.laplacian import shape_of
from paragone.stats.spectrum import spectral_gap
from paragone.stats.stationary import Balance, Flows, balance

__all__ = [
    "RANK_CENTRALITY",
    "RANK_CENTRALITY_PLAIN",
    "rank_centrality",
    "rank_centrality_plain",
    "replicate_rank_centrality",
    "replicate_rank_centrality_plain",
]

_PRIORS = (1e-9, 1e6)  # pseudo-wins; fewer are lost in rounding, more leave the votes without a say


def rank_centrality(comparisons: Comparisons, *, prior: float = 0.5) -> Estimate:
    """Score items by Rank Centrality with pseudo-wins on the compared pairs.

    From item i the walk moves to j at a rate equal to the share of i-j comparisons that j won; pi is its stationary
    distribution. Only shares matter: comparing a pair more often makes its share surer, not stronger (apart from the
    prior).

    Temperature: an answer at temperature t has odds exp((s_i - s_j) / t), so the shares of a noisier stage understate
    differences. With T = t / (smallest t), each pair and temperature is an edge of conductance 1 / T^2 (the information
    of its answers) whose flow from i to j is a_ij exp(m + (s_i - s_j) / (2 T)), m = (s_i + s_j) / 2. At T = 1 that is
    a_ij e^{s_i}, the walk as published; at every T the two flows of an edge balance exactly at the true scores. The
    scores are then those at the smallest temperature, times it.

    Args:
        comparisons: m judged pairs over n items; a tie counts half to each side.
        prior: pseudo-wins given to both sides of every *compared* pair, 1e-9 to 1e6. An item that never lost then no longer
            absorbs the walk, and pairs that nobody compared stay out of it.

    Returns:
        log pi, centred to mean 0: (n,) natural-log units, larger is better; NaN for items without a comparison. Notes:
        `components`, `strong_components`, `spectral_gap` and `d_max` (of the walk over all answers alike), `self_pairs`
        (dropped), `unseen` (items without a comparison), `prior`, `iterations`, `residual` (largest
        |inflow / outflow - 1|).

    Raises:
        BadConfig: the prior is out of its range.
        NotConnected: the pairs leave the items in several groups.
        NotConverged: the iteration stalled.
        TooFew: no two different items were compared.

    Source:
        Negahban, Oh and Shah, "Rank Centrality: Ranking from Pairwise Comparisons", Operations Research 65(1), 2017,
        section 2; the prior is their regularisation (section 2.2) kept to compared pairs; temperatures are ours.
    """
    _require_prior(prior)
    return _estimate(aggregate(comparisons), prior)


def rank_centrality_plain(comparisons: Comparisons) -> Estimate:
    """Score items by Rank Centrality exactly as published.

    Args:
        comparisons: as in `rank_centrality`.

    Returns:
        As `rank_centrality` with prior 0.

    Raises:
        NotConnected: the pairs leave the items in several groups, or the wins do not lead from every item to every
            other.
        NotConverged: the iteration stalled.
        TooFew: no two different items were compared.

    Source:
        Negahban, Oh and Shah, as in `rank_centrality`.
    """
    return _estimate(aggregate(comparisons), 0.0)


def replicate_rank_centrality(comparisons: Comparisons, weights: Floats, *, prior: float = 0.5) -> Floats:
    """Score items under many reweightings of the participants at once.

    The prior sits on the pairs that are compared *in the replicate*: a pair whose judges were not drawn says nothing,
    and pseudo-wins alone would say that its items are equal.

    Args:
        comparisons: as in `rank_centrality`.
        weights: (r, participants) how often each participant counts, >= 0; columns follow `comparisons.participant`.
        prior: as in `rank_centrality`.

    Returns:
        (r, n) scores, each row centred over the items seen in it; NaN for items unseen in a replicate, and a whole row
        of NaN where the seen items fall into several groups (prior = 0: where no finite score exists).

    Raises:
        NotConnected, NotConverged, TooFew: the full sample already cannot be scored.
    """
    if prior:
        _require_prior(prior)
    return under_weights(
        comparisons, weights, lambda edges, start: _scored(edges, prior, start)[0], strongly=prior == 0
    )


def replicate_rank_centrality_plain(comparisons: Comparisons, weights: Floats) -> Floats:
    """As `replicate_rank_centrality` with prior 0."""
    return replicate_rank_centrality(comparisons, weights, prior=0.0)


def _require_prior(prior: float) -> None:
    advice = "for no prior take rank-centrality-plain"
    require_within("prior", prior, *_PRIORS, where="rank-centrality", advice=advice)


def _estimate(edges: Edges, prior: float) -> Estimate:
    notes = check_connected(edges, strongly=prior == 0)
    score, found = _scored(edges, prior)
    # At one temperature the scores are the log of the stationary distribution that the gap needs.
    t = edges.temperature[0]
    known = score / t if np.all(edges.temperature == t) else None
    gap = spectral_gap(edges.n, *_pooled_shares(edges, prior), score=known)
    return Estimate(
        score=score,
        notes={
            **notes,
            "spectral_gap": gap.gap,
            "spectral_gap_residual": gap.residual,
            "d_max": gap.d_max,
            "prior": prior,
            "iterations": found.iterations,
            "residual": found.residual,
        },
    )


def _scored(edges: Edges, prior: float, start: Floats | None = None) -> tuple[Floats, Balance]:
    """Scores (n,), NaN where unseen, of connected edges."""
    small, seen = compacted(edges)
    coldest = float(small.temperature.min())
    share_i = (small.wins_i + prior) / (small.votes + 2 * prior)
    share_j = (small.wins_j + prior) / (small.votes + 2 * prior)
    shape = shape_of(small.n, small.i, small.j)
    if coldest == small.temperature.max():
        flows = Flows(shape, to_j=share_j, to_i=share_i)
    else:
        t = small.temperature / coldest
        flows = Flows(shape, to_j=share_j / t**2, to_i=share_i / t**2, bend=(1.0 - 1.0 / t) / 2)
    found = balance(flows, start=start[seen] / coldest if start is not None else None)
    score = np.full(edges.n, np.nan)
    score[seen] = coldest * found.score
    return score, found


def _pooled_shares(edges: Edges, prior: float) -> tuple[Ints, Ints, Floats, Floats]:
    """Each pair once, with the shares of both sides over all temperatures."""
    once = pooled(edges)
    wins_i, wins_j = once.wins_i, once.wins_j
    votes = wins_i + wins_j + 2 * prior
    return once.i, once.j, (wins_i + prior) / votes, (wins_j + prior) / votes


_SOURCE = "Negahban, Oh and Shah, Rank Centrality, Operations Research 65(1), 2017, section 2"

RANK_CENTRALITY = Estimator(
    name="rank-centrality",
    model=rank_centrality,
    reads="votes",
    summary="Rank Centrality, half a pseudo-win to both sides of every compared pair",
    unit="logit",
    source=_SOURCE,
    replicate=replicate_rank_centrality,
    shrinks=True,
    connected="weakly",
    options={"prior": "pseudo-wins given to both sides of every compared pair, 1e-9 to 1e6 votes; default 0.5"},
)
"""The default way of scoring votes."""

RANK_CENTRALITY_PLAIN = Estimator(
    name="rank-centrality-plain",
    model=rank_centrality_plain,
    reads="votes",
    summary="Rank Centrality exactly as published; needs a chain of wins from every item to every other",
    unit="logit",
    source=_SOURCE,
    replicate=replicate_rank_centrality_plain,
    connected="strongly",
)
