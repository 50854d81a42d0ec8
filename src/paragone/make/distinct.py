"""Which methods make pictures of their own, and which repeat each other: distances, clusters, and what to drop."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from ..benchmark import BROKEN, Benchmark
from ..errors import BadConfig, BadTable, MissingExtra, NotFound, TooFew, UnknownName
from ..features import load_lpips
from .between import DISTANCES, Cells, distances_between

__all__ = ["Distinct", "distinct"]

_DEFAULT, _LIGHT = "lpips-alexnet", "handcrafted"


@dataclass(frozen=True, kw_only=True)
class Distinct:
    """Distances between methods under the same conditions, and what follows from them."""

    distances: pl.DataFrame
    """Columns a, b (methods, a before b by name), distance, statistic, low, high (95 % interval; null: none is given),
    n (cells that both filled). A larger distance: more different."""
    clusters: pl.DataFrame
    """Columns method, place (0, 1, ... so that neighbours are alike, for a heat map), cluster (1, 2, ...; null: neither
    `keep` nor `threshold` was given), kept (false: suggested for dropping)."""
    merges: pl.DataFrame
    """Columns first, second, height, size: the average-linkage tree as scipy numbers it (methods sorted by name come
    first, each merge is numbered after them)."""
    dropped: pl.DataFrame
    """Columns method, nearest (the method that stays and that it resembles), distance, low, high; in the order of
    dropping."""
    statistic: str
    """A name of `DISTANCES`."""
    factor: str
    """Factor whose levels are the methods."""
    within: tuple[str, ...]
    """Factors that make a cell."""
    notes: tuple[str, ...]
    """What a reader must know: features and their source, what was left out, rank."""

    @property
    def methods(self) -> tuple[str, ...]:
        """All methods, by name."""
        return tuple(self.clusters["method"].sort())

    def matrix(self) -> NDArray[np.float64]:
        """Give the distances as a symmetric (m, m) array in the order of `methods`, zeros on the diagonal."""
        return np.asarray(squareform(self.distances["distance"].to_numpy(), checks=False), dtype=np.float64)


def distinct(
    benchmark: Benchmark,
    *,
    statistic: str = "",
    factor: str = "method",
    within: tuple[str, ...] = (),
    keep: int | None = None,
    threshold: float | None = None,
    weights: str | Path | None = None,
    replicates: int = 1000,
    seed: int = 0,
    quiet: bool = True,
) -> Distinct:
    """Compare every two methods on the cells that both filled, and suggest which to drop.

    The suggestion takes the closest pair, drops the one of the two that is nearer to the remaining methods, and goes on
    until `keep` are left or the closest pair is at least `threshold` apart.

    Args:
        benchmark: its items' pictures; broken versions, items without a picture and those without a method are left out.
        statistic: a name of `DISTANCES`; '': 'lpips-alexnet', or 'handcrafted' (and a note) where torch or the weights
            are missing.
        factor: whose levels are compared.
        within: factors that make a cell; (): content and style where the benchmark has them, else all other factors.
        keep: how many methods should stay, >= 2.
        threshold: smallest distance that two methods which stay may have, > 0.
        weights: weight file of the statistic's network; None: looked for in the order of `find_weights`.
        replicates: resamples of the cells for the intervals, >= 1. Cells are resampled as if they were independent;
            those of one content or style are alike, so true intervals are somewhat wider.
        seed: the resamples follow from it.
        quiet: show no progress.

    Raises:
        UnknownName: no such statistic, or the benchmark has no such factor.
        BadConfig: `keep` or `threshold` is out of its range, both are given, or a statistic lacks its weights.
        BadTable: two items of one method stand in one cell.
        TooFew: fewer than two methods, or two methods that share too few cells.
        MissingExtra, NotFound: torch, weights or a picture are missing.
        BadImage: a picture cannot be read.

    Source:
        Average linkage: Sokal and Michener, "A statistical method for evaluating systematic relationships", University
        of Kansas Science Bulletin 38, 1958.
    """
    if keep is not None and threshold is not None:
        raise BadConfig("give keep or threshold, not both", where="keep")
    if (keep is not None and keep < 2) or (threshold is not None and not threshold > 0):
        raise BadConfig("keep must be at least 2, threshold above 0", where="keep" if keep is not None else "threshold")
    chosen, notes = (statistic, []) if statistic else _available(weights)
    if chosen not in DISTANCES:
        raise UnknownName.among(chosen, DISTANCES, "distance between methods")
    cells, within, left_out = _cells(benchmark, factor, within)
    notes += left_out
    found = distances_between(cells, chosen, weights=weights, replicates=replicates, seed=seed, quiet=quiet)
    distances = _frame(cells.methods, chosen, found.value, found.low, found.high, found.n)
    apart = squareform(
        np.maximum(found.value, 0.0), checks=False
    )  # KID may fall below 0: then they are as near as can be
    tree = hierarchy.linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    dropped = _dropped(squareform(found.value, checks=False), keep, threshold)
    return Distinct(
        distances=distances,
        clusters=_clusters(cells.methods, tree, keep, threshold, {gone for gone, _ in dropped}),
        merges=pl.DataFrame(
            {
                "first": tree[:, 0].astype(np.int64),
                "second": tree[:, 1].astype(np.int64),
                "height": tree[:, 2],
                "size": tree[:, 3].astype(np.int64),
            }
        ),
        dropped=_suggested(cells.methods, dropped, distances),
        statistic=chosen,
        factor=factor,
        within=within,
        notes=(*notes, *found.notes),
    )


def _available(weights: str | Path | None) -> tuple[str, list[str]]:
    try:
        load_lpips("alexnet", path=weights)
    except (MissingExtra, NotFound) as error:
        if weights is not None:
            raise
        return _LIGHT, [f"'{_LIGHT}' instead of '{_DEFAULT}': {error.message}"]
    return _DEFAULT, []


def _cells(benchmark: Benchmark, factor: str, within: tuple[str, ...]) -> tuple[Cells, tuple[str, ...], list[str]]:
    known = [name for name in benchmark.factors if name != BROKEN]
    for name in (factor, *within):
        if name not in known:
            raise UnknownName.among(name, known, "factor of the benchmark")
    others = [name for name in known if name != factor]
    usual = [name for name in ("content", "style") if name in others]
    within = within or tuple(usual or others)
    items = benchmark.items
    if BROKEN in items.columns:
        items = items.filter(pl.col(BROKEN).is_null())
    whole = items.filter(pl.all_horizontal(pl.col(name).is_not_null() for name in ("image", factor, *within)))
    notes = (
        [f"{items.height - whole.height} items without a picture, {factor} or cell"]
        if whole.height < items.height
        else []
    )
    twice = whole.filter(pl.struct(factor, *within).is_duplicated()).sort(factor, *within, "item")
    if twice.height:
        first, second = twice["item"][:2]
        raise BadTable(
            f"items '{first}' and '{second}' are of one {factor} and one cell ({', '.join(within)}); "
            "name the factor that tells them apart in within",
            where="items",
        )
    methods = tuple(whole[factor].unique().sort())
    if len(methods) < 2:
        raise TooFew(f"{len(methods)} levels of '{factor}' have pictures; give at least 2", where=factor)
    grouped: dict[tuple[str, ...], dict[str, Path]] = {}
    for row in whole.sort(*within, factor).iter_rows(named=True):
        cell = grouped.setdefault(tuple(row[name] for name in within), {})
        cell[row[factor]] = benchmark.folder / row["image"]
    return Cells(methods, tuple(grouped.values())), within, notes


def _frame(
    methods: tuple[str, ...],
    statistic: str,
    value: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    n: NDArray[np.int64],
) -> pl.DataFrame:
    pairs = list(itertools.combinations(methods, 2))
    frame = pl.DataFrame(
        {
            "a": [a for a, _ in pairs],
            "b": [b for _, b in pairs],
            "distance": value,
            "statistic": [statistic] * len(pairs),
            "low": low,
            "high": high,
            "n": n.astype(np.int64),
        }
    )
    return frame.with_columns(pl.col("low", "high").fill_nan(None))


def _dropped(apart: NDArray[np.float64], keep: int | None, threshold: float | None) -> list[tuple[int, int]]:
    """Which method goes, and which it resembles most among those that stay at that moment; in order."""
    left = list(range(len(apart)))
    gone: list[tuple[int, int]] = []
    if keep is None and threshold is None:
        return gone
    while len(left) > (keep or 1):
        i, j = min(itertools.combinations(left, 2), key=lambda pair: float(apart[pair]))
        if threshold is not None and apart[i, j] >= threshold:
            break
        rest = [k for k in left if k not in (i, j)]
        room = {k: sorted(apart[k, other] for other in rest) for k in (i, j)}
        out = i if room[i] < room[j] else j
        left.remove(out)
        gone.append((out, j if out == i else i))
    return gone


def _suggested(methods: tuple[str, ...], dropped: list[tuple[int, int]], distances: pl.DataFrame) -> pl.DataFrame:
    ends = {(row["a"], row["b"]): row for row in distances.iter_rows(named=True)}
    rows = []
    for gone, near in dropped:
        row = ends[methods[min(gone, near)], methods[max(gone, near)]]
        rows.append((methods[gone], methods[near], row["distance"], row["low"], row["high"]))
    schema = {"method": pl.String, "nearest": pl.String, "distance": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _clusters(
    methods: tuple[str, ...], tree: NDArray[np.float64], keep: int | None, threshold: float | None, gone: set[int]
) -> pl.DataFrame:
    order = [int(leaf) for leaf in hierarchy.leaves_list(tree)]
    cluster: list[int | None] = [None] * len(methods)
    if keep is not None:
        cluster = [int(one) for one in hierarchy.fcluster(tree, keep, "maxclust")]
    elif threshold is not None:
        cluster = [int(one) for one in hierarchy.fcluster(tree, threshold, "distance")]
    rows = [(methods[leaf], place, cluster[leaf], leaf not in gone) for place, leaf in enumerate(order)]
    schema = {"method": pl.String, "place": pl.Int64, "cluster": pl.Int64, "kept": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")
