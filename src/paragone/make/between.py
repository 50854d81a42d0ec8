"""Distances between methods over the cells that both filled: paired LPIPS, KID and Fréchet, one statistic a call."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import BadConfig, TooFew
from ..features import (
    BACKBONES,
    as_batch,
    frechet_distance,
    handcrafted,
    load_lpips,
    load_scripted,
    paired_kid,
    pooled,
    torch_threads,
)
from ..images import Picture, read_image, resize
from ..parallel import track
from ..stats.resample import bootstrap_weights, percentile_interval

__all__ = ["DISTANCES", "Between", "Cells", "Distance", "distances_between"]

Floats = NDArray[np.float64]

_LEVEL = 0.95  # coverage of the intervals
_RESIZER = "pil-bicubic"  # antialiased and not rounded to 8 bits, as clean-fid does it


@dataclass(frozen=True, kw_only=True)
class Distance:
    """One statistic: how pictures are compared, and by which features."""

    kind: Literal["paired", "kid", "frechet"]
    """The mean over cells of the two pictures' distance, or one of the distances between sets."""
    features: Literal["alexnet", "vgg16", "inception", "handcrafted"]
    side: int
    """Longer side to which pictures are reduced ('paired' with a network), else both sides; in pixels."""


DISTANCES: Mapping[str, Distance] = {
    "fid": Distance(kind="frechet", features="inception", side=299),
    "frechet-alexnet": Distance(kind="frechet", features="alexnet", side=224),
    "frechet-handcrafted": Distance(kind="frechet", features="handcrafted", side=256),
    "frechet-vgg16": Distance(kind="frechet", features="vgg16", side=224),
    "handcrafted": Distance(kind="paired", features="handcrafted", side=256),
    "kid-alexnet": Distance(kind="kid", features="alexnet", side=224),
    "kid-handcrafted": Distance(kind="kid", features="handcrafted", side=256),
    "kid-inception": Distance(kind="kid", features="inception", side=299),
    "kid-vgg16": Distance(kind="kid", features="vgg16", side=224),
    "lpips-alexnet": Distance(kind="paired", features="alexnet", side=256),
    "lpips-vgg16": Distance(kind="paired", features="vgg16", side=256),
}
"""name -> statistic. `fid` and `kid-inception` need the file of FID's Inception; the others of a network find theirs.

lpips-*: LPIPS v0.1, mean over cells. handcrafted: root of the mean squared difference of 27 standardised statistics, mean
over cells. kid-*: `paired_kid`, 0 on average for methods that are one. frechet-* and fid: `frechet_distance`."""


class Cells(NamedTuple):
    """Which method filled which cell with which picture."""

    methods: tuple[str, ...]
    """Sorted."""
    pictures: tuple[Mapping[str, Path], ...]
    """For each cell, in order: method -> picture."""


class Between(NamedTuple):
    """Distances of all pairs of methods, in the order of `itertools.combinations(methods, 2)`."""

    value: Floats
    """(p,)"""
    low: Floats
    """(p,) lower end of the 95 % interval; NaN: none is given."""
    high: Floats
    n: NDArray[np.int64]
    """(p,) cells that both methods filled."""
    notes: tuple[str, ...]
    """What a reader must know: features, their source, rank, sizes."""


def distances_between(
    cells: Cells, name: str, *, weights: str | Path | None, replicates: int, seed: int, quiet: bool
) -> Between:
    """Compute one statistic for every pair of methods, on one thread.

    Args:
        cells: at least two methods.
        name: a key of `DISTANCES`.
        weights: weight file of the network; None: looked for.
        replicates: resamples of the cells for intervals, >= 1.
        seed: they follow from it.
        quiet: show no progress.

    Raises:
        TooFew: two methods share no cell, or fewer than the statistic needs.
        BadConfig: a statistic that needs a file has none, or one that reads none was given one.
        MissingExtra, NotFound: torch or weights are missing.
        BadImage: a picture cannot be read.
    """
    chosen = DISTANCES[name]
    shared = _shared(cells, least=1 if chosen.kind == "paired" else 2, name=name)
    if chosen.features == "handcrafted" and weights is not None:
        raise BadConfig(f"statistic '{name}' reads no weights; leave weights out", where="weights")
    if chosen.kind == "paired" and chosen.features != "handcrafted":
        table, notes = _lpips_table(cells, chosen, weights, quiet)
        return _paired(table, shared, replicates, seed, notes)
    vectors, notes = _vectors(cells, chosen, weights, quiet)
    if chosen.kind == "paired":
        return _paired(_vector_table(cells, vectors), shared, replicates, seed, notes)
    return _sets(cells, vectors, chosen, shared, replicates, seed, notes)


def _shared(cells: Cells, *, least: int, name: str) -> NDArray[np.bool_]:
    """(p, cells): both methods of the pair filled the cell."""
    filled = np.array([[method in cell for cell in cells.pictures] for method in cells.methods])
    both = np.array([filled[i] & filled[j] for i, j in itertools.combinations(range(len(filled)), 2)])
    for (a, b), row in zip(itertools.combinations(cells.methods, 2), both, strict=True):
        if row.sum() < least:
            raise TooFew(
                f"methods '{a}' and '{b}' share {row.sum()} cells; statistic '{name}' needs at least {least}", where=a
            )
    return both


def _lpips_table(
    cells: Cells, chosen: Distance, weights: str | Path | None, quiet: bool
) -> tuple[Floats, tuple[str, ...]]:
    """(p, cells) LPIPS of the two pictures; NaN where one is missing."""
    lpips = load_lpips(chosen.features, path=weights)
    pairs = list(itertools.combinations(cells.methods, 2))
    table = np.full((len(pairs), len(cells.pictures)), np.nan)
    stretched = 0
    with torch_threads(1):
        for column, cell in enumerate(track(cells.pictures, "LPIPS", quiet=quiet)):
            shown: dict[str, Any] = {}
            shape: tuple[int, ...] | None = None
            for method in sorted(cell):
                image = read_image(cell[method])
                stretched += shape is not None and not _same_shape(image.shape, shape)
                shape = shape or _reduced(image, chosen.side)
                shown[method] = lpips.directions(as_batch([resize(image, shape[0], shape[1], resizer=_RESIZER)]))
            for row, (a, b) in enumerate(pairs):
                if a in shown and b in shown:
                    table[row, column] = float(lpips.between(shown[a], shown[b]).item())
    notes = [
        f"LPIPS v0.1 on {lpips.backbone.label} ({lpips.backbone.source}), longer side at most {chosen.side} px, {_RESIZER}"
    ]
    if stretched:
        notes.append(f"{stretched} pictures have another shape than the first of their cell and were stretched to it")
    return table, tuple(notes)


def _reduced(image: Picture, longest: int) -> tuple[int, int]:
    factor = min(1.0, longest / max(image.shape[:2]))
    return max(1, round(image.shape[0] * factor)), max(1, round(image.shape[1] * factor))


def _same_shape(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Sides have one ratio, to 2 %: what rounding to whole pixels may do."""
    return abs(shape[0] * other[1] / (shape[1] * other[0]) - 1.0) < 0.02


def _vectors(
    cells: Cells, chosen: Distance, weights: str | Path | None, quiet: bool
) -> tuple[dict[tuple[str, int], Floats], tuple[str, ...]]:
    """(method, cell) -> (d,) features."""
    describe, words = _describer(chosen, weights)
    made = {}
    for column, cell in enumerate(track(cells.pictures, "features", quiet=quiet)):
        for method, path in sorted(cell.items()):
            image = resize(read_image(path), chosen.side, chosen.side, resizer=_RESIZER)
            made[method, column] = describe(image)
    size = f"{chosen.side} x {chosen.side} px, {_RESIZER}"
    if chosen.features != "handcrafted":
        return made, (f"{words}, {size}",)
    rows = np.stack(list(made.values()))
    middle, spread = rows.mean(axis=0), rows.std(axis=0)
    scaled = {key: np.divide(v - middle, spread, out=np.zeros_like(v), where=spread > 1e-9) for key, v in made.items()}
    return scaled, (f"{words}, each in units of its spread over all pictures here, {size}",)


def _describer(chosen: Distance, weights: str | Path | None) -> tuple[Callable[[Picture], Floats], str]:
    if chosen.features == "handcrafted":
        return handcrafted, "27 statistics of colours and gradients, no network"
    network: Callable[[Any], Any]
    if chosen.features == "inception":
        if weights is None:
            raise BadConfig(
                "FID needs weights = path of its Inception as TorchScript; 'frechet-vgg16' and 'kid-vgg16' need none",
                where="weights",
            )
        network, words = load_scripted(weights), f"the TorchScript network {Path(weights).name}"
    else:
        backbone = BACKBONES.get(chosen.features).load(path=weights)
        words = f"mean of the last map of {backbone.label} ({backbone.source})"

        def network(batch: Any) -> Any:
            return pooled(backbone(batch)[-1])

    def describe(image: Picture) -> Floats:
        with torch_threads(1):
            vector: Floats = network(as_batch([image]))[0].numpy().astype(np.float64)
        return vector

    return describe, words


def _vector_table(cells: Cells, vectors: Mapping[tuple[str, int], Floats]) -> Floats:
    """(p, cells) root of the mean squared difference of the two vectors; NaN where one is missing."""
    pairs = itertools.combinations(cells.methods, 2)
    return np.array(
        [
            [
                np.sqrt(((vectors[a, c] - vectors[b, c]) ** 2).mean())
                if (a, c) in vectors and (b, c) in vectors
                else np.nan
                for c in range(len(cells.pictures))
            ]
            for a, b in pairs
        ]
    )


def _paired(table: Floats, shared: NDArray[np.bool_], replicates: int, seed: int, notes: tuple[str, ...]) -> Between:
    """Mean over shared cells; the interval from cells that are resampled, the same for every pair."""
    n = shared.sum(axis=1)
    filled = np.where(shared, table, 0.0)
    weights = bootstrap_weights(shared.shape[1], replicates, seed)
    counts = weights @ shared.T
    draws = np.divide(weights @ filled.T, counts, out=np.full(counts.shape, np.nan), where=counts > 0)
    low, high = _ends(draws, n)
    return Between(filled.sum(axis=1) / n, low, high, n, notes)


def _ends(draws: Floats, n: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Ends of the intervals; NaN where one cell alone has no spread."""
    bounds = percentile_interval(draws, level=_LEVEL)
    return np.where(n > 1, bounds.low, np.nan), np.where(n > 1, bounds.high, np.nan)


def _sets(
    cells: Cells,
    vectors: Mapping[tuple[str, int], Floats],
    chosen: Distance,
    shared: NDArray[np.bool_],
    replicates: int,
    seed: int,
    notes: tuple[str, ...],
) -> Between:
    n = shared.sum(axis=1)
    value, draws = np.zeros(len(shared)), np.full((replicates, len(shared)), np.nan)
    weights = bootstrap_weights(shared.shape[1], replicates, seed)
    for row, (a, b) in enumerate(itertools.combinations(cells.methods, 2)):
        used = np.flatnonzero(shared[row])
        one, other = (np.stack([vectors[method, int(c)] for c in used]) for method in (a, b))
        if chosen.kind == "kid":
            value[row] = paired_kid(one, other)[0]
            draws[:, row] = paired_kid(one, other, weights=weights[:, used])
        else:
            value[row] = frechet_distance(one, other)
    d = len(next(iter(vectors.values())))
    if chosen.kind == "kid":
        low, high = _ends(draws, n)
        return Between(
            value, low, high, n, (*notes, "KID without the pairs of one cell: 0 on average for methods that are one")
        )
    more = [f"no interval: a resample has fewer different pictures, and the distance grows as n falls (n = {n.min()})"]
    if n.min() <= d:
        more.append(
            f"n = {n.min()} pictures leave covariances of {d} numbers without full rank: the distance is biased upwards; "
            "compare it only at equal n, or take KID"
        )
    missing = np.full(len(shared), np.nan)
    return Between(value, missing, missing.copy(), n, (*notes, *more))
