"""`measure`, the one loop that turns pictures into Scores by machine."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..benchmark import Benchmark
from ..errors import BadInput, MissingExtra, TooFew
from ..metric import Metric
from ..parallel import spread
from ..provenance import made_by
from ..scores import SCORES, Scores
from .describe import available
from .worker import Answer, Item, Source, Worker

__all__ = ["measure"]

_PIECE = 16  # most items in one piece of work: neighbours share references, and little is lost when a run is killed
_REASONS = 50  # most reasons that are written beside a result

Given = str | Path | NDArray[Any]


def measure(
    metrics: str | Metric | Sequence[str | Metric],
    benchmark: Benchmark | None = None,
    *,
    images: Mapping[str, Given] | Sequence[Given] | None = None,
    references: Mapping[str, Given | Mapping[str, Given]] | None = None,
    prompts: Mapping[str, str] | None = None,
    jobs: int = 1,
    cache: str | Path | None = None,
    quiet: bool = False,
) -> list[Scores]:
    """Score every picture by every metric; an item that has no score has a status that says why.

    A metric that compares point with point resizes the reference to the picture; a reference whose sides stand in
    another proportion (by more than 5 % and a pixel) is not squashed but has the status `other_shape`.

    No picture stops the others: `status` is one of `STATUSES`. The result does not depend on `jobs`, on the order of
    the items or on the cache.

    Args:
        metrics: names from `METRICS`, or records.
        benchmark: the items; references are those of their factors ('content', 'style', ...), the prompt is their
            factor 'prompt'. Give either this or `images`; `from_files` makes one of folders.
        images: item -> picture, or pictures alone, which are then named by their file or their place. A picture is a
            path or an array as `as_picture` takes it.
        references: with `images`: 'content', 'style', ... -> one picture for all items, or item -> picture.
        prompts: with `images`: item -> prompt.
        jobs: processes, >= 1, or -1 for one per core.
        cache: folder in which results are kept by the content of the pictures; None: nothing is kept.
        quiet: show no progress bar; nor is there one where stderr is no terminal.

    Returns:
        One `Scores` for each metric, in order: criterion null, one row for each item, `n` 1 where there is a score.
        `made` holds metric, definition, unit, range, source, versions, the digest of all pictures that were read, how
        many items have which status, and the reasons.

    Raises:
        UnknownName: no metric of that name.
        MissingExtra: a metric needs a library that is not installed.
        BadInput: nothing or twice something to measure, two metrics of one name, or a metric of sets of pictures.
        TooFew: there is no item.
    """
    if not isinstance(benchmark, Benchmark | None):
        raise BadInput(
            f"measure takes a Benchmark, not {type(benchmark).__name__}; read one with Benchmark.read, or give images",
            where="benchmark",
        )
    records = _records([metrics] if isinstance(metrics, (str, Metric)) else list(metrics))
    kinds = {kind for metric in records for kind in metric.inputs} - {"prompt"}
    if (benchmark is None) == (images is None):
        raise BadInput("measure needs a benchmark or images, one of the two", where="measure")
    if images is not None:
        items = _items_given(images, references or {}, prompts or {}, kinds)
    elif references is not None or prompts is not None:
        raise BadInput("references and prompts come with images; a benchmark has its own", where="references")
    else:
        assert benchmark is not None
        items = _items_of(benchmark, kinds)
    if not items:
        raise TooFew("there is no picture to measure", where="images")
    worker = Worker(tuple(records), None if cache is None else Path(cache))
    pieces = _pieces(items, jobs)
    answers = [answer for done in spread(worker, pieces, jobs=jobs, label="measuring", quiet=quiet) for answer in done]
    answers.sort(key=lambda answer: answer.name)
    return [_scores(metric, place, answers) for place, metric in enumerate(records)]


def _records(metrics: Sequence[str | Metric]) -> list[Metric]:
    from . import METRICS

    records: dict[str, Metric] = {}
    for given in metrics:
        record: Metric = METRICS.get(given) if isinstance(given, str) else given
        if records.setdefault(record.name, record) != record:
            raise BadInput(f"two different metrics are named '{record.name}'; rename one", where=record.name)
        if record.level != "item":
            raise BadInput(
                f"metric '{record.name}' scores sets of pictures; measure scores single ones",
                where=record.name,
            )
        if record.inputs[:1] != ("image",):
            raise BadInput(f"metric '{record.name}' must read 'image' first, not {record.inputs}", where=record.name)
        if not available(record):
            raise MissingExtra.library(f"metric '{record.name}'", record.extra, record.extra)
    if not records:
        raise BadInput("no metric was named; `paragone list metrics` shows what there is", where="metrics")
    return list(records.values())


def _items_of(benchmark: Benchmark, kinds: set[str]) -> list[Item]:
    """The benchmark's items with paths to the pictures that are asked for."""
    folder = benchmark.folder
    shown = {
        (factor, level): folder / image
        for factor, level, image in benchmark.references.select("factor", "level", "image").iter_rows()
    }
    items = []
    for row in benchmark.items.iter_rows(named=True):
        sources: dict[str, Source | None] = {"image": None if row["image"] is None else folder / row["image"]}
        for kind in kinds - {"image"}:
            sources[kind] = shown.get((kind, row.get(kind)))
        items.append(Item(row["item"], sources, row.get("prompt")))
    return items


def _items_given(
    images: Mapping[str, Given] | Sequence[Given],
    references: Mapping[str, Given | Mapping[str, Given]],
    prompts: Mapping[str, str],
    kinds: set[str],
) -> list[Item]:
    named = dict(images) if isinstance(images, Mapping) else _by_place(images)
    unknown = sorted(set(references) - kinds)
    if unknown:
        readable = ", ".join(sorted(kinds - {"image"})) or "no reference"
        raise BadInput(f"no metric here reads '{unknown[0]}'; they read {readable}", where=unknown[0])
    items = []
    for name, image in named.items():
        sources: dict[str, Source | None] = {"image": _source(image)}
        for kind in kinds - {"image"}:
            given = references.get(kind)
            one = given.get(name) if isinstance(given, Mapping) else given
            sources[kind] = None if one is None else _source(one)
        items.append(Item(name, sources, prompts.get(name)))
    return items


def _source(given: Given) -> Source:
    return Path(given) if isinstance(given, (str, Path)) else given


def _by_place(images: Sequence[Given]) -> dict[str, Given]:
    """Pictures named by their place: '0', '1', ...; with as many digits as keep the order when sorted."""
    if isinstance(images, (str, Path, np.ndarray)):
        images = [images]
    digits = len(str(max(0, len(images) - 1)))
    names = [
        Path(image).stem if isinstance(image, (str, Path)) else f"{place:0{digits}d}"
        for place, image in enumerate(images)
    ]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadInput(f"two pictures are named '{twice[0]}'; give images as a mapping item -> picture", where=twice[0])
    return dict(zip(names, images, strict=True))


def _pieces(items: list[Item], jobs: int) -> list[list[Item]]:
    """The items in pieces of work; items with the same references stand together."""

    def references(item: Item) -> list[str]:
        return [
            str(source) if isinstance(source, Path) else str(id(source))
            for kind, source in sorted(item.sources.items())
            if kind != "image"
        ]

    items = sorted(items, key=references)
    cores = os.cpu_count() or 1
    workers = min(jobs, cores) if jobs > 0 else cores
    size = max(1, min(_PIECE, len(items) // (4 * workers)))
    return [items[start : start + size] for start in range(0, len(items), size)]


def _scores(metric: Metric, place: int, answers: Sequence[Answer]) -> Scores:
    outcomes = [answer.outcomes[place] for answer in answers]
    columns = {column.name: [None] * len(answers) for column in SCORES.columns}
    frame = pl.DataFrame(
        columns
        | {
            "item": [answer.name for answer in answers],
            "score": [outcome.score for outcome in outcomes],
            "n": [float(outcome.status == "ok") for outcome in outcomes],
            "status": [outcome.status for outcome in outcomes],
        }
    )
    reasons = [(answer.name, outcome.reason) for answer, outcome in zip(answers, outcomes, strict=True)]
    reasons = [(name, reason) for name, reason in reasons if reason]
    notes = Counter(outcome.note for outcome in outcomes if outcome.note)
    made = made_by("measure") | {
        "metric": metric.name,
        "definition": metric.definition,
        "unit": metric.unit,
        "range": [metric.low, metric.high],
        "source": metric.source,
        "summary": metric.summary,
        "reads": list(metric.inputs),
        "reconstruction": metric.reconstruction,
        "pictures": len(answers),
        "pictures_sha256": _digest(metric, answers),
        "statuses": dict(sorted(Counter(outcome.status for outcome in outcomes).items())),
        "references_resized": notes["resized"] + notes["stretched"],
        "references_stretched": notes["stretched"],
        "reasons": dict(reasons[:_REASONS]),
        "reasons_left_out": max(0, len(reasons) - _REASONS),
    }
    better = "unknown" if metric.better == "neither" else metric.better
    return Scores(frame, name=metric.name, better=better, made=made)


def _digest(metric: Metric, answers: Sequence[Answer]) -> str:
    """SHA-256 over every item's name and the digests of the pictures that the metric read."""
    whole = hashlib.sha256()
    for answer in answers:
        parts = [answer.name, *(f"{kind}={answer.digests.get(kind, '')}" for kind in metric.inputs if kind != "prompt")]
        whole.update(("\t".join(parts) + "\n").encode())
    return whole.hexdigest()
