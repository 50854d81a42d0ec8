"""How evenly things were shown, and how well the answers connect them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from ....errors import NotConverged, TooFew
from ....estimate import diagnose
from ....judgements import Votes

__all__ = ["Cells", "Web", "exposure", "pairings", "webs"]


@dataclass(frozen=True)
class Cells:
    """A table of counts: how often each combination of two factors' levels was judged."""

    stage: str
    rows: str
    """Factor of the rows."""
    columns: str
    """Factor of the columns."""
    row_levels: list[str]
    column_levels: list[str]
    counts: list[list[int]]
    """(rows, columns) judged pictures: a pair shows two, a rating one."""
    planned: list[list[int]]
    """(rows, columns) of the whole plan."""

    @property
    def spread(self) -> float | None:
        """Largest distance of a cell from the mean as a share of it, over cells that the plan shows; None: none."""
        counts, planned = (list(itertools.chain.from_iterable(table)) for table in (self.counts, self.planned))
        kept = [n for n, wanted in zip(counts, planned, strict=True) if wanted]
        mean = sum(kept) / len(kept) if kept else 0.0
        return max(abs(n - mean) for n in kept) / mean if mean else None


def exposure(
    asked: pl.DataFrame, plan: pl.DataFrame, items: pl.DataFrame, factors: Mapping[str, tuple[str, list[str]]]
) -> list[Cells]:
    """Return how often each cell of `compare` x each further factor was judged, against the plan.

    Args:
        asked: as from `joined`; main and repeat trials of leases that are not excluded count, each trial once.
        plan: the trials.
        items: item and its factors.
        factors: stage -> (compare, other factors); a stage without a factor to compare is left out.
    """
    judged = asked.filter(~pl.col("excluded")).unique(["lease", "trial"], maintain_order=True)
    made = []
    for stage, (compare, others) in factors.items():
        for other in others if compare else []:
            if compare == other or not {compare, other} <= set(items.columns):
                continue
            got = _cells(judged.filter(pl.col("stage") == stage), items, compare, other)
            wanted = _cells(plan.filter(pl.col("stage") == stage), items, compare, other)
            rows = sorted({row for row, _ in wanted} | {row for row, _ in got})
            columns = sorted({column for _, column in wanted} | {column for _, column in got})
            counts, planned = ([[table.get((r, c), 0) for c in columns] for r in rows] for table in (got, wanted))
            made.append(Cells(stage, compare, other, rows, columns, counts, planned))
    return made


def _cells(trials: pl.DataFrame, items: pl.DataFrame, compare: str, other: str) -> dict[tuple[str, str], int]:
    main = trials.filter(pl.col("kind").is_in(["main", "repeat"]))
    shown = pl.concat([main[side].rename("item") for side in ("left", "right", "item")]).drop_nulls().to_frame()
    counts = shown.join(items.select("item", pl.col(compare).alias("a"), pl.col(other).alias("b")), on="item")
    counts = counts.drop_nulls(["a", "b"]).group_by("a", "b").len()
    return {(str(a), str(b)): int(n) for a, b, n in counts.iter_rows()}


def pairings(asked: pl.DataFrame, items: pl.DataFrame, stage: str, compare: str) -> Cells:
    """Return how often each two levels of a factor were compared in a stage; the table is symmetric.

    Args:
        asked: as from `joined`, as in `exposure`.
        items: item and its factors.
        stage: name of the stage.
        compare: the factor.
    """
    pairs = asked.filter(
        ~pl.col("excluded") & (pl.col("stage") == stage) & pl.col("left").is_not_null()
        & pl.col("kind").is_in(["main", "repeat"])
    ).unique(["lease", "trial"], maintain_order=True)  # fmt: skip
    level = dict(items.select("item", compare).iter_rows())
    met: dict[tuple[str, str], int] = {}
    for left, right in pairs.select("left", "right").iter_rows():
        a, b = level.get(left), level.get(right)
        if a is not None and b is not None:
            met[(str(a), str(b))] = met.get((str(a), str(b)), 0) + 1
            if a != b:
                met[(str(b), str(a))] = met.get((str(b), str(a)), 0) + 1
    levels = sorted({a for a, _ in met})
    counts = [[met.get((a, b), 0) for b in levels] for a in levels]
    return Cells(stage, compare, compare, levels, levels, counts, counts)


@dataclass(frozen=True)
class Web:
    """How well the votes of one stage and criterion connect the items."""

    stage: str
    """Name of the stage; '' for all stages together."""
    criterion: str
    items: int
    pairs: int
    votes: float
    components: int
    """Groups of items that were never compared; scores of different groups cannot be compared."""
    strong_components: int
    spectral_gap: float | None
    """1 - |lambda_2| of the Rank Centrality walk, in [0, 1]; larger is better connected. None: unknown."""
    mixing_time: float | None
    """1 / spectral gap, in steps; None: unknown or endless."""
    degree_min: int
    degree_mean: float


def webs(votes: Votes | None) -> list[Web]:
    """Return the graph of each stage and criterion, and of all stages together where there are several.

    Args:
        votes: kept answers to pairs; None: there are none.
    """
    if votes is None:
        return []
    stages = votes.frame["stage"].unique().sort().to_list()
    made = []
    for stage in [*stages, *([None] if len(stages) > 1 else [])]:
        part = votes.frame if stage is None else votes.frame.filter(pl.col("stage") == stage)
        try:
            found = diagnose(Votes(part))
        except (TooFew, NotConverged):
            continue
        for criterion, graph in found.items():
            made.append(
                Web(
                    stage=stage or "",
                    criterion=criterion,
                    items=graph["items"],
                    pairs=graph["pairs"],
                    votes=graph["votes"],
                    components=graph["components"],
                    strong_components=graph["strong_components"],
                    spectral_gap=_known(graph["spectral_gap"]),
                    mixing_time=_known(graph["mixing_time"]),
                    degree_min=graph["degree_min"],
                    degree_mean=graph["degree_mean"],
                )
            )
    return made


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
