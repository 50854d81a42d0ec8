"""One pairwise model under many reweightings of the participants: one edge list, warm starts, one row a replicate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paragone.errors import BadInput, NotConverged
from paragone.estimate.arrays import Comparisons, Floats
from paragone.estimate.edges import Edges, aggregate, check_connected, is_connected, reweighted, tally

__all__ = ["under_weights"]


def under_weights(
    comparisons: Comparisons, weights: Floats, fit: Callable[[Edges, Floats | None], Floats], *, strongly: bool
) -> Floats:
    """Fit a model to every reweighting of the participants.

    Args:
        comparisons: the votes.
        weights: (r, participants) how often each participant counts, >= 0; columns follow `comparisons.participant`.
        fit: (edges, scores to start from or None) -> (n,) scores, NaN for unseen items.
        strongly: whether the model needs a chain of wins from every item to every other.

    Returns:
        (r, n) scores; a row of NaN where the edges of a replicate do not determine them.

    Raises:
        BadInput: weights lack a participant or are negative.
        NotConnected, NotConverged, TooFew: the full sample already cannot be scored.
    """
    rows = np.asarray(weights, dtype=np.float64)
    edges = aggregate(comparisons)
    wins_i, wins_j = tally(comparisons, edges)
    if rows.ndim != 2 or rows.shape[1] < wins_i.shape[0] or not (rows.size == 0 or rows.min() >= 0):
        raise BadInput(
            f"weights of shape {rows.shape}: give (replicates, {wins_i.shape[0]}) numbers >= 0, a column a participant"
        )
    check_connected(edges, strongly=strongly)
    start = fit(edges, None)
    scores = np.full((rows.shape[0], edges.n), np.nan)
    for score, weight in zip(scores, rows[:, : wins_i.shape[0]], strict=True):
        drawn = reweighted(edges, weight @ wins_i, weight @ wins_j)
        if is_connected(drawn, strongly=strongly):
            try:
                score[:] = fit(drawn, start)
            except NotConverged:
                score[:] = np.nan
    return scores
