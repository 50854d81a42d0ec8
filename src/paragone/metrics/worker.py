"""The part of `measure` that runs in every process: a few items, all metrics, each picture decoded once."""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import paragone

from ..errors import BadImage, NotFound, ParagoneError
from ..images import Picture, as_picture, decode_image, read_bytes, resize
from ..metric import Metric
from . import cache
from .outcome import STATUSES, Outcome

__all__ = ["REFERENCE_RESIZER", "STATUSES", "Answer", "Item", "Source", "Worker"]

Source = Path | NDArray[Any]
"""A picture's file, or the picture itself in any form that `as_picture` takes."""

REFERENCE_RESIZER = "pil-bicubic"
"""How references are brought to the picture's size; it stands in the definitions of the metrics that need it."""

_STRETCHED = 0.02  # our choice: shapes that differ by more than 2 % are counted as stretched
_OTHER_SHAPE = 0.05
"""Our choice: sides whose proportion differs by more than 5 % are another framing, unless rounding to whole pixels made
the difference. Resizing makes no other shape than rounding does, so 5 % is generous."""

_FAILURES = (ArithmeticError, LookupError, MemoryError, RuntimeError, ValueError)
"""What a metric may stop with on one picture without stopping the folder; other exceptions are faults of its code."""


class Item(NamedTuple):
    """One item with everything that metrics may ask about it."""

    name: str
    sources: Mapping[str, Source | None]
    """'image' and reference factors -> picture; None: there is none."""
    prompt: str | None


class Answer(NamedTuple):
    """What became of one item."""

    name: str
    outcomes: tuple[Outcome, ...]
    """One for each metric."""
    digests: Mapping[str, str]
    """Input -> SHA-256 of its bytes; inputs that are not there are left out."""


@dataclass
class _Loaded:
    """A picture on its way: bytes or array, digest, and once asked for the decoded picture."""

    fault: str
    """'' if it is there, 'missing' or 'broken'."""
    reason: str = ""
    digest: str = ""
    raw: bytes | None = None
    where: str = ""
    picture: Picture | None = None
    sized: dict[tuple[int, int], Picture] = field(default_factory=dict)

    def decoded(self) -> Picture | None:
        """The picture, or None (and then `fault` and `reason` say why)."""
        if self.picture is None and self.raw is not None:
            try:
                self.picture = decode_image(self.raw, where=self.where)
            except BadImage as error:
                self.fault, self.reason = "broken", error.message
            self.raw = None
        return self.picture

    def size(self) -> int:
        """Bytes that it holds."""
        pictures = [*self.sized.values(), *([] if self.picture is None else [self.picture])]
        return sum(picture.nbytes for picture in pictures) + len(self.raw or b"")

    def at(self, height: int, width: int) -> Picture:
        """The decoded picture at another size; the last size is kept."""
        assert self.picture is not None
        if (height, width) not in self.sized:
            self.sized = {(height, width): resize(self.picture, height, width, resizer=REFERENCE_RESIZER)}
        return self.sized[height, width]


def _load(source: Source | None, name: str) -> _Loaded:
    if source is None:
        return _Loaded("missing")
    try:
        if isinstance(source, Path):
            raw = read_bytes(source)
            return _Loaded("", digest=hashlib.sha256(raw).hexdigest(), raw=raw, where=str(source))
        picture = as_picture(source, where=name)
    except NotFound as error:
        return _Loaded("missing", error.message)
    except BadImage as error:
        return _Loaded("broken", error.message)
    content = hashlib.sha256(str(picture.shape).encode() + picture.tobytes())
    return _Loaded("", digest=content.hexdigest(), where=name, picture=picture)


@dataclass(frozen=True)
class Worker:
    """Answers for a list of items; the same whatever the list, the process and the order."""

    metrics: tuple[Metric, ...]
    cache: Path | None = None
    _references: OrderedDict[Any, _Loaded] = field(default_factory=OrderedDict, compare=False, repr=False)
    """The references that were read last, so that items that follow each other share them."""

    def __reduce__(self) -> tuple[type[Worker], tuple[Any, ...]]:
        return Worker, (self.metrics, self.cache)  # to another process it goes without what it has read

    def __call__(self, items: Sequence[Item]) -> list[Answer]:
        """Give one answer for each item, in order."""
        return [self._answer(item) for item in items]

    def _answer(self, item: Item) -> Answer:
        loaded = {
            kind: _load(source, item.name) if kind == "image" else _shared(source, self._references, item.name)
            for kind, source in item.sources.items()
        }
        image = loaded["image"]
        before = cache.known(self.cache, image.digest) if self.cache is not None and image.digest else {}
        outcomes, after = [], dict(before)
        for metric in self.metrics:
            question = _question(metric, loaded, item.prompt)
            outcome = before.get(question) or _outcome(metric, loaded, item.prompt)
            outcomes.append(outcome)
            if outcome.status in ("ok", "undefined", "infinite", "too_small"):
                after[question] = outcome
        if self.cache is not None and len(after) > len(before):
            cache.remember(self.cache, image.digest, after)
        digests = {kind: one.digest for kind, one in loaded.items() if one.digest}
        return Answer(item.name, tuple(outcomes), digests)


_KEPT = 8  # most references that a worker keeps
_KEPT_BYTES = 1 << 28  # and most memory that they may take, decoded; the last one is kept in any case


def _shared(source: Source | None, references: OrderedDict[Any, _Loaded], name: str) -> _Loaded:
    """The reference from the store, where it is put if it is not there."""
    key = source if isinstance(source, Path) or source is None else id(source)
    if key in references:
        references.move_to_end(key)
        return references[key]
    held = sum(one.size() for one in references.values())
    while references and (len(references) >= _KEPT or held > _KEPT_BYTES):
        held -= references.popitem(last=False)[1].size()
    references[key] = _load(source, f"reference of {name}")
    return references[key]


def _question(metric: Metric, loaded: Mapping[str, _Loaded], prompt: str | None) -> str:
    """What is asked of the picture, in full: another definition, version, reference or prompt is another question."""
    code = f"{metric.compute.__module__}:{getattr(metric.compute, '__qualname__', metric.name)}"
    parts = [metric.name, metric.definition, code, paragone.__version__]
    for kind in metric.inputs[1:]:
        parts.append(f"prompt={prompt}" if kind == "prompt" else f"{kind}={loaded[kind].digest}")
    if metric.same_size:
        parts.append(f"shapes alike within {_OTHER_SHAPE}")
    return "\n".join(parts)


def _outcome(metric: Metric, loaded: Mapping[str, _Loaded], prompt: str | None) -> Outcome:
    image = loaded["image"]
    picture = image.decoded()
    if picture is None:
        return Outcome(None, image.fault, image.reason, "")
    arguments: list[Any] = [picture]
    note = ""
    for kind in metric.inputs[1:]:
        if kind == "prompt":
            if not prompt:
                return Outcome(None, "no_prompt", "", "")
            arguments.append(prompt)
            continue
        reference = loaded[kind]
        other = reference.decoded()
        if other is None:
            status = "no_reference" if reference.fault == "missing" else "broken_reference"
            return Outcome(None, status, reference.reason, "")
        if metric.same_size and _other_shape(picture, other):
            (height, width), (rows, columns) = picture.shape[:2], other.shape[:2]
            reason = (
                f"the picture is {width} x {height} pixels and the {kind} {columns} x {rows}; crop one to the other"
            )
            return Outcome(None, "other_shape", reason, "")
        if metric.same_size and other.shape != picture.shape:
            note = "stretched" if note == "stretched" or _stretched(picture, other) else "resized"
            other = reference.at(*picture.shape[:2])
        arguments.append(other)
    side = min(min(one.shape[:2]) for one in arguments if not isinstance(one, str))
    if side < metric.smallest:
        return Outcome(None, "too_small", f"a side has {side} pixels, {metric.smallest} are needed", note)
    return _computed(metric, arguments, note)


def _proportion(first: Picture, second: Picture) -> float:
    """How much longer for its width the one is than the other, as a logarithm >= 0."""
    (height, width), (other_height, other_width) = first.shape[:2], second.shape[:2]
    return math.fabs(math.log(height * other_width / (width * other_height)))


def _stretched(first: Picture, second: Picture) -> bool:
    return _proportion(first, second) > math.log1p(_STRETCHED)


def _other_shape(picture: Picture, reference: Picture) -> bool:
    """Whether the reference, brought to one side of the picture, misses the other by more than 5 % and by a pixel."""
    if _proportion(picture, reference) <= math.log1p(_OTHER_SHAPE):
        return False
    (height, width), (rows, columns) = picture.shape[:2], reference.shape[:2]
    return math.fabs(rows * width / columns - height) >= 1.0 and math.fabs(columns * height / rows - width) >= 1.0


def _computed(metric: Metric, arguments: Sequence[Any], note: str) -> Outcome:
    try:
        with np.errstate(all="ignore"):  # what is not a number ends in a status
            score = float(metric.compute(*arguments))
    except ParagoneError as error:
        return Outcome(None, "undefined", error.message, note)
    except _FAILURES as error:
        line = str(error).strip().split("\n")[0][:200]
        return Outcome(None, "failed", f"{type(error).__name__}: {line}" if line else type(error).__name__, note)
    if math.isfinite(score):
        return Outcome(score, "ok", "", note)
    return Outcome(None, "undefined" if math.isnan(score) else "infinite", "", note)
