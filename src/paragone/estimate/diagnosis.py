"""What a table of votes can and cannot determine: the graph of compared pairs, criterion by criterion."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ..errors import TooFew
from ..judgements import Votes
from ..stats.graph import diagnose as diagnose_graph
from .arrays import Comparisons
from .edges import aggregate, pooled
from .encoding import code_votes

__all__ = ["diagnose", "graph_notes"]


def diagnose(votes: Votes) -> dict[str, dict[str, Any]]:
    """Describe the vote graph of every criterion.

    Args:
        votes: pairwise answers; checks and training are left out.

    Returns:
        Criterion ('' if unnamed) -> components, strong_components, items, pairs, votes, degree_min, degree_mean,
        votes_per_pair_mean, never_winning and never_losing (names of items), spectral_gap, d_max, mixing_time (steps,
        1 / spectral gap), self_pairs, left_share.

    Raises:
        TooFew: nothing is left to describe.
    """
    main = votes.main.frame
    if main.height == 0:
        raise TooFew("there is no vote to describe: all rows are checks or training")
    found: dict[str, dict[str, Any]] = {}
    for criterion in main["criterion"].unique().sort().to_list():
        part = main.filter(pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String)))
        coded = code_votes(part, temperature={}, reliability={})
        assert coded.comparisons is not None
        found[criterion or ""] = graph_notes(coded.comparisons, coded.items)
    return found


def graph_notes(comparisons: Comparisons, items: list[str]) -> dict[str, Any]:
    """The facts of `diagnose` for the votes of one criterion.

    Args:
        comparisons: the votes.
        items: (n,) names behind the indices.
    """
    edges = pooled(aggregate(comparisons))
    graph = diagnose_graph(edges.n, edges.i, edges.j, edges.wins_i, edges.wins_j)
    seen = graph.degree > 0
    decided = comparisons.outcome != 0.5
    left = float(np.mean(comparisons.outcome[decided])) if decided.any() else float("nan")
    return {
        "components": graph.n_components,
        "strong_components": graph.n_strong_components,
        "items": int(seen.sum()),
        "pairs": graph.n_pairs,
        "votes": graph.n_votes,
        "degree_min": int(graph.degree[seen].min()),
        "degree_mean": float(graph.degree[seen].mean()),
        "votes_per_pair_mean": float(graph.votes_per_pair.mean()),
        "never_winning": [items[index] for index in graph.never_winning],
        "never_losing": [items[index] for index in graph.never_losing],
        "spectral_gap": graph.spectral_gap,
        "d_max": graph.d_max,
        "mixing_time": graph.mixing_time,
        "self_pairs": edges.self_pairs,
        "left_share": left,
    }
