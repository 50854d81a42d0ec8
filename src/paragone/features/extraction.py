"""`extract`: every item's features through one frozen network; `vector`: the same for pictures in memory."""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..benchmark import Benchmark
from ..errors import BadConfig, BadInput, TooFew
from ..images import Picture
from ..parallel import spread, track
from .described import Features
from .describer import Answer, Describer, Item, Recipe, Shown, taps_of
from .featuresets import FeatureSet, features_named
from .framing import Framing, framed, framing_id
from .frozen import Frozen
from .kept import Kept
from .nets import torch_threads

__all__ = ["extract", "vector"]

_READERS = 2  # threads that decode ahead of the network; with several processes one each
_BATCHES = 8  # most batches in a piece of work for another process


def extract(
    benchmark: Benchmark,
    backbone: Frozen,
    *,
    features: str = "triplet-v1",
    framing: Framing = "crop",
    side: int | None = None,
    batch: int = 8,
    jobs: int = 1,
    cache: str | Path | None = None,
    quiet: bool = True,
) -> Features:
    """Read every item's features out of its pictures, each picture decoded and run through the network once.

    References come first; what is needed of each is kept in a file. Then the items' pictures go through the network in
    batches, in the order of their references, and each vector is kept as it comes: a killed run goes on where it
    stopped, and a second run computes nothing. Memory holds a few batches, at most 256 MiB of references, and the
    vectors.

    Values depend on the batch, the number of jobs and the machine's threads by rounding alone: by less than 1e-5 of a
    column's largest value, and often not at all; only a network that blows up rounding itself does more (4e-5 with
    MobileNetV3's random weights). The same call on the same machine gives the same bits.

    Args:
        benchmark: items and references; the factors are those that the features read.
        backbone: the network; on its device and in its precision.
        features: a name of `FEATURES`.
        framing: how pictures become squares, see `framed`; result, content and style alike.
        side: side of the square in pixels; None: the network's own.
        batch: pictures that go through the network together, >= 1.
        jobs: processes, >= 1, or -1 for one per core; each computes on one thread.
        cache: folder in which descriptors and vectors are kept, under the content of the pictures, the digest of the
            weights and the definition; None: one that is removed afterwards.
        quiet: show no progress bar.

    Returns:
        The items with a vector, sorted; an item without one is in `missing`, with the reason.

    Raises:
        UnknownName: no such kind of features.
        BadConfig: an option has an impossible value, or the network does not read pictures of that side.
        BadInput: the benchmark has no factor of a picture that the features read; a reference changed meanwhile.
        TooFew: the benchmark has no items.
        MissingExtra: torch is not installed.
    """
    recipe = _recipe(backbone, features, framing, side)
    if batch < 1 or jobs == 0 or jobs < -1:
        raise BadConfig(f"batch is {batch} and jobs is {jobs}; both count from 1 (jobs -1: all cores)", where="batch")
    items = _items(benchmark, recipe.set)
    with _folder(cache) as folder:
        kept = Kept(folder)
        describer = Describer(backbone, recipe, kept, batch=batch, threads=_READERS)
        wanted = _wanted(items)
        shown = dict(track(describer.references(wanted), "reading references", total=len(wanted), quiet=quiet))
        if jobs == 1 or len(items) <= batch:
            answers = list(track(describer.items(items, shown), "reading pictures", total=len(items), quiet=quiet))
        else:
            with tempfile.TemporaryDirectory(dir=folder, prefix="network-") as own:
                work = _Elsewhere(Path(own) / "network.pickle", recipe, folder, batch)
                answers = _spread(backbone, work, jobs, items, shown, quiet)
        answers.sort(key=lambda answer: answer.item)
        values, answers = _values(kept, answers, width=recipe.set.blocks(backbone.channels)[-1].stop)
    return Features(
        items=tuple(answer.item for answer in answers if answer.key),
        values=values,
        blocks=recipe.set.blocks(backbone.channels),
        definition=recipe.definition(backbone),
        backbone=backbone.label,
        sha256=backbone.sha256,
        source=backbone.source,
        pictures_sha256=_digest(answers),
        missing={answer.item: answer.reason for answer in answers if not answer.key},
    )


def vector(
    backbone: Frozen,
    pictures: Mapping[str, Picture],
    *,
    features: str = "triplet-v1",
    framing: Framing = "crop",
    side: int | None = None,
) -> NDArray[np.float32]:
    """Read the features of one item whose pictures are in memory; `extract`'s, up to rounding.

    Args:
        backbone: the network.
        pictures: 'image' and reference factors -> picture; those that the features do not read are not looked at.
        features: a name of `FEATURES`.
        framing: as for `extract`.
        side: as for `extract`.

    Returns:
        (d,) float32.

    Raises:
        UnknownName: no such kind of features.
        BadConfig: the framing or the side is impossible.
        BadInput: a picture that the features read was not given.
        BadImage: an array is no picture.
        MissingExtra: torch is not installed.
    """
    recipe = _recipe(backbone, features, framing, side)
    inputs, parts = recipe.set.inputs, recipe.set.parts
    lost = [name for name in inputs if name not in pictures]
    if lost:
        raise BadInput(f"{features} reads the picture '{lost[0]}', which was not given", where=lost[0])
    import torch

    squares = np.stack([framed(pictures[name], recipe.side, framing=framing) for name in inputs])
    with torch.inference_mode():
        maps = backbone(torch.from_numpy(squares).permute(0, 3, 1, 2).to(backbone.device))
        seen = {name: taps_of([one[i : i + 1] for one in maps], parts[name]) for i, name in enumerate(inputs)}
        made: NDArray[np.float32] = recipe.set.compose(seen)[0].float().cpu().numpy()
    return made


def _recipe(backbone: Frozen, features: str, framing: Framing, side: int | None) -> Recipe:
    """The recipe, once it is sure that the network can follow it."""
    recipe = Recipe(features, framing, backbone.side if side is None else side)
    features_named(features)
    framing_id(framing, recipe.side)
    if recipe.side < backbone.smallest or recipe.side % backbone.multiple:
        steps = f" and multiples of {backbone.multiple}" if backbone.multiple > 1 else ""
        raise BadConfig(
            f"side is {recipe.side}; {backbone.name} reads pictures from {backbone.smallest} pixels a side{steps}",
            where="side",
        )
    return recipe


def _items(benchmark: Benchmark, features: FeatureSet) -> list[Item]:
    """The benchmark's items in the order of their references, then by name."""
    factors = [name for name in features.inputs if name != "image"]
    for factor in factors:
        if factor not in benchmark.factors:
            raise BadInput(f"{features.name} reads '{factor}', which is no factor of this benchmark", where=factor)
    if not benchmark.items.height:
        raise TooFew("the benchmark has no items to read", where=benchmark.name)
    folder = benchmark.folder
    shown = {
        (factor, level): folder / image
        for factor, level, image in benchmark.references.select("factor", "level", "image").iter_rows()
    }
    rows = benchmark.items.sort(*factors, "item").iter_rows(named=True)
    return [_item(row, features.inputs, shown, folder) for row in rows]


def _item(row: Mapping[str, Any], inputs: Sequence[str], shown: Mapping[tuple[str, str], Path], folder: Path) -> Item:
    paths: dict[str, Path] = {}
    for name in inputs:
        level = row[name]
        if level is None:
            return Item(row["item"], {}, "it has no picture" if name == "image" else f"it has no level of '{name}'")
        if name != "image" and (name, level) not in shown:
            return Item(row["item"], {}, f"{name} '{level}' has no reference picture")
        paths[name] = folder / level if name == "image" else shown[name, level]
    return Item(row["item"], paths)


def _wanted(items: Sequence[Item]) -> dict[Path, set[str]]:
    """Reference picture -> the inputs that it serves as, in the order in which items ask for them."""
    wanted: dict[Path, set[str]] = {}
    for item in items:
        for name, path in item.paths.items():
            if name != "image":
                wanted.setdefault(path, set()).add(name)
    return wanted


@contextmanager
def _folder(cache: str | Path | None) -> Iterator[Path]:
    if cache is not None:
        yield Path(cache)
        return
    with tempfile.TemporaryDirectory(prefix="paragone-features-") as name:
        yield Path(name)


class _Piece(NamedTuple):
    """A part of the items, with the references that they ask for."""

    items: list[Item]
    shown: dict[Path, Shown]


@dataclass(frozen=True)
class _Elsewhere:
    """Answers for a piece in whatever process it is called; the network comes there by a file."""

    network: Path
    recipe: Recipe
    folder: Path
    batch: int

    def __call__(self, piece: _Piece) -> list[Answer]:
        with torch_threads(1):
            return list(_describer(self).items(piece.items, piece.shown))


@functools.lru_cache(maxsize=1)
def _describer(given: _Elsewhere) -> Describer:
    """The describer of this process, which keeps its network and what it knows of references from piece to piece."""
    backbone: Frozen = pickle.loads(given.network.read_bytes())  # written by this very run
    return Describer(backbone, given.recipe, Kept(given.folder), batch=given.batch, threads=1)


def _spread(
    backbone: Frozen, work: _Elsewhere, jobs: int, items: Sequence[Item], shown: Mapping[Path, Shown], quiet: bool
) -> list[Answer]:
    """The answers of several processes; each piece is a few whole batches of neighbours."""
    workers = jobs if jobs > 0 else os.cpu_count() or 1
    batches = -(-len(items) // work.batch)
    size = work.batch * max(1, min(_BATCHES, batches // (2 * workers)))
    pieces = []
    for start in range(0, len(items), size):
        some = list(items[start : start + size])
        pieces.append(_Piece(some, {path: shown[path] for path in _wanted(some)}))
    work.network.write_bytes(pickle.dumps(backbone))
    return [
        answer for part in spread(work, pieces, jobs=jobs, label="reading pictures", quiet=quiet) for answer in part
    ]


def _values(kept: Kept, answers: Sequence[Answer], *, width: int) -> tuple[NDArray[np.float32], list[Answer]]:
    """The kept vectors, one row for each answer that has one; a file that was damaged since has none."""
    values = np.empty((sum(bool(answer.key) for answer in answers), width), dtype=np.float32)
    checked: list[Answer] = []
    row = 0
    for answer in answers:
        arrays = kept.read(answer.key) if answer.key else None
        if answer.key and arrays is None:
            answer = Answer(answer.item, "", {}, "its vector was damaged in the cache while features were read")
        if arrays is not None:
            values[row] = arrays["vector"]
            row += 1
        checked.append(answer)
    return values[:row], checked


def _digest(answers: Iterable[Answer]) -> str:
    """SHA-256 over every item's name and the digests of the pictures that were read."""
    whole = hashlib.sha256()
    for answer in answers:
        if answer.key:
            parts = [answer.item, *(f"{name}={digest}" for name, digest in sorted(answer.digests.items()))]
            whole.update(("\t".join(parts) + "\n").encode())
    return whole.hexdigest()
