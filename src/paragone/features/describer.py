"""One network that reads pictures by a recipe: references once, then items in batches, everything kept as it comes."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import BadImage, BadInput, NotFound
from ..images import Picture, decode_image, read_bytes
from .ahead import ahead
from .featuresets import FeatureSet, Taps, features_named
from .framing import Framing, framed, framing_id
from .frozen import Frozen
from .kept import Kept
from .nets import torch_threads
from .triplet import Part, Tap, summarise

if TYPE_CHECKING:
    import torch

__all__ = ["Answer", "Describer", "Item", "Recipe", "Shown", "taps_of"]

_MOST_BYTES = 1 << 28
"""Bytes of references that are held in memory, 256 MiB: thirty contents of VGG, a hundred styles. Our choice."""

_NOT_FINITE = "the network gave values that are no numbers"

_Made = TypeVar("_Made")


class Recipe(NamedTuple):
    """What is read out of pictures, but for the network."""

    features: str
    """A name of `FEATURES`."""
    framing: Framing
    side: int

    @property
    def set(self) -> FeatureSet:
        """The kind of vector."""
        return features_named(self.features)

    def definition(self, backbone: Frozen) -> str:
        """Id of the exact definition, as `Features` states it."""
        rough = "" if backbone.precision == "float32" else f"; {backbone.precision}"
        return f"{self.set.definition}; {framing_id(self.framing, self.side)}{rough}"


class Item(NamedTuple):
    """An item with the files of its pictures."""

    name: str
    paths: Mapping[str, Path]
    """'image' and reference factors -> file."""
    reason: str = ""
    """Why there can be no vector; '' where all files are named."""


class Shown(NamedTuple):
    """What became of one reference picture."""

    digest: str
    """SHA-256 of its bytes; '' where it cannot be read."""
    reason: str = ""


class Answer(NamedTuple):
    """What became of one item."""

    item: str
    key: str
    """Key under which its vector is kept; '' where it has none."""
    digests: Mapping[str, str]
    """Input -> SHA-256 of the picture's bytes."""
    reason: str = ""
    """Why it has none."""


class _Read(NamedTuple):
    """A picture on its way to the network."""

    digest: str
    picture: Picture | None = None
    """Framed; None: it is not needed, or cannot be had and `reason` says why."""
    reason: str = ""


class Describer:
    """Reads pictures through a network by a recipe, and keeps what it reads.

    Args:
        backbone: the network.
        recipe: what is read.
        kept: where descriptors of references and vectors of items are kept.
        batch: pictures that go through the network together.
        threads: threads that decode ahead.
    """

    def __init__(self, backbone: Frozen, recipe: Recipe, kept: Kept, *, batch: int, threads: int) -> None:
        self._backbone, self._recipe, self._kept = backbone, recipe, kept
        self._batch, self._threads = batch, threads
        self._set = recipe.set
        weights = backbone.sha256 or f"{backbone.label}, {backbone.source}"
        self._about = "\n".join([recipe.definition(backbone), backbone.name, str(backbone.channels), weights])
        self._recent: OrderedDict[tuple[str, str], tuple[Taps, int]] = OrderedDict()

    def references(self, wanted: Mapping[Path, Collection[str]]) -> Iterator[tuple[Path, Shown]]:
        """Describe reference pictures for the inputs that they serve as, unless they are kept already."""
        waiting: list[tuple[Path, _Read]] = []

        def load(path: Path) -> tuple[Path, _Read]:
            return path, self._read(path, lambda digest: self._described(digest, wanted[path]))

        for path, read in ahead(load, list(wanted), threads=self._threads, depth=self._batch):
            if read.picture is None:
                yield path, Shown(read.digest, read.reason)
                continue
            waiting.append((path, read))
            if len(waiting) == self._batch:
                yield from self._describe(waiting, wanted)
                waiting = []
        yield from self._describe(waiting, wanted)

    def items(self, items: Sequence[Item], shown: Mapping[Path, Shown]) -> Iterator[Answer]:
        """Answer for each item, as its batch is done; `shown` holds all references of theirs."""
        waiting: list[tuple[Item, Answer, Picture | None]] = []

        def fetch(item: Item) -> tuple[Item, Answer, Picture | None]:
            return (item, *self._fetch(item, shown))

        for item, answer, picture in ahead(fetch, items, threads=self._threads, depth=2 * self._batch):
            if answer.reason or (picture is None and self._kept.read(answer.key) is not None):
                yield answer
                continue
            waiting.append((item, answer, picture))
            if len(waiting) == self._batch:
                yield from self._answers(waiting)
                waiting = []
        yield from self._answers(waiting)

    def _read(self, path: Path, have: Callable[[str], bool]) -> _Read:
        """The digest of a picture, and the framed picture unless what is made of that digest is there already."""
        try:
            raw = read_bytes(path)
            digest = hashlib.sha256(raw).hexdigest()
            if have(digest):
                return _Read(digest)
            picture = decode_image(raw, where=str(path))
        except (BadImage, NotFound) as error:
            return _Read("", reason=error.message)
        return _Read(digest, framed(picture, self._recipe.side, framing=self._recipe.framing))

    def _fetch(self, item: Item, shown: Mapping[Path, Shown]) -> tuple[Answer, Picture | None]:
        digests: dict[str, str] = {}
        if item.reason:
            return Answer(item.name, "", {}, item.reason), None
        for name in self._set.inputs:
            if name == "image":
                continue
            digests[name], reason = shown[item.paths[name]]
            if reason:
                return Answer(item.name, "", {}, f"{name}: {reason}"), None
        if "image" not in self._set.inputs:
            return Answer(item.name, self._key(digests), digests), None

        def have(digest: str) -> bool:
            return self._kept.read(self._key(digests | {"image": digest})) is not None

        read = self._read(item.paths["image"], have)
        if read.reason:
            return Answer(item.name, "", {}, read.reason), None
        digests["image"] = read.digest
        return Answer(item.name, self._key(digests), digests), read.picture

    def _answers(self, waiting: Sequence[tuple[Item, Answer, Picture | None]]) -> Iterator[Answer]:
        """Compute and keep the vectors of one batch; items of the very same pictures share one."""
        todo = list({answer.key: (item, answer, picture) for item, answer, picture in waiting}.values())
        with _inference():
            maps = self._maps([picture for _, _, picture in todo if picture is not None])
            others = [self._references_of(item, answer) for item, answer, _ in todo]

        def row(place: int) -> NDArray[np.float32]:
            with _inference():
                seen = dict(others[place])
                if maps:
                    seen["image"] = taps_of([one[place : place + 1] for one in maps], self._set.parts["image"])
                vector: NDArray[np.float32] = self._set.compose(seen)[0].float().cpu().numpy()
            return vector

        broken = set()
        for (_, answer, _), vector in zip(todo, self._each(row, len(todo)), strict=True):
            if np.isfinite(vector).all():
                self._kept.write(answer.key, {"vector": vector})
            else:
                broken.add(answer.key)
        for _, answer, _ in waiting:
            yield Answer(answer.item, "", {}, _NOT_FINITE) if answer.key in broken else answer

    def _describe(
        self, waiting: Sequence[tuple[Path, _Read]], wanted: Mapping[Path, Collection[str]]
    ) -> Iterator[tuple[Path, Shown]]:
        """Compute and keep the descriptors of one batch of references."""
        with _inference():
            maps = self._maps([read.picture for _, read in waiting if read.picture is not None])

        def keep(place: int) -> None:
            path, read = waiting[place]
            for name in wanted[path]:
                with _inference():
                    taps = taps_of([one[place : place + 1] for one in maps], self._set.parts[name])
                    arrays = _arrays(taps)
                self._kept.write(self._reference_key(name, read.digest), arrays)

        self._each(keep, len(waiting))
        yield from ((path, Shown(read.digest)) for path, read in waiting)

    def _maps(self, pictures: Sequence[Picture]) -> list[torch.Tensor]:
        if not pictures:
            return []
        import torch

        batch = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2)  # channels stay last in memory: quickest
        return self._backbone(batch.to(self._backbone.device))

    def _each(self, work: Callable[[int], _Made], n: int) -> list[_Made]:
        """Do the same for every picture of a batch.

        On a CPU each picture is one thread's: the many small operations would spend more on waiting for each other's
        threads than on their sums, and a picture's numbers do not depend on the batch that it came in.
        """
        import torch

        threads = min(torch.get_num_threads(), n)
        if threads <= 1 or self._backbone.device != "cpu":
            return [work(place) for place in range(n)]
        with torch_threads(1), ThreadPoolExecutor(threads) as pool:
            return list(pool.map(work, range(n)))

    def _described(self, digest: str, names: Collection[str]) -> bool:
        return all(self._reference_key(name, digest) in self._kept for name in names)

    def _references_of(self, item: Item, answer: Answer) -> dict[str, Taps]:
        names = [name for name in self._set.inputs if name != "image"]
        return {name: self._reference(name, item.paths[name], answer.digests[name]) for name in names}

    def _reference(self, name: str, path: Path, digest: str) -> Taps:
        """What is kept of a reference, from memory, from its file, or, where that was damaged, from the picture."""
        held = self._recent.pop((name, digest), None)
        if held is None:
            key = self._reference_key(name, digest)
            arrays = self._kept.read(key)
            if arrays is None:
                arrays = self._again(name, path, digest)
                self._kept.write(key, arrays)
            held = _taps(arrays, self._backbone.device), sum(one.nbytes for one in arrays.values())
        self._recent[name, digest] = held
        while len(self._recent) > 1 and sum(size for _, size in self._recent.values()) > _MOST_BYTES:
            self._recent.popitem(last=False)
        return held[0]

    def _again(self, name: str, path: Path, digest: str) -> dict[str, NDArray[np.float32]]:
        read = self._read(path, lambda _: False)
        if read.picture is None or read.digest != digest:
            raise BadInput(f"{path}: the picture changed while features were read; run it again", where=str(path))
        return _arrays(taps_of(self._maps([read.picture]), self._set.parts[name]))

    def _key(self, digests: Mapping[str, str]) -> str:
        return "\n".join(["vector", self._about, *(f"{name} {digests[name]}" for name in self._set.inputs)])

    def _reference_key(self, name: str, digest: str) -> str:
        return "\n".join(["reference", self._about, *sorted(self._set.parts[name]), digest])


def taps_of(maps: Iterable[torch.Tensor], parts: Collection[Part]) -> Taps:
    """Give what the feature maps leave behind, tap by tap."""
    return [summarise(one, parts) for one in maps]


def _inference() -> torch.autograd.grad_mode.inference_mode:
    import torch

    return torch.inference_mode()


def _arrays(taps: Taps) -> dict[str, NDArray[np.float32]]:
    """The taps of one picture under names such as '0 mean'."""
    return {
        f"{place} {field}": value.float().cpu().numpy()
        for place, tap in enumerate(taps)
        for field, value in tap._asdict().items()
        if value is not None
    }


def _taps(arrays: Mapping[str, NDArray[np.float32]], device: str) -> Taps:
    import torch

    found: dict[int, dict[str, torch.Tensor]] = {}
    for name, array in arrays.items():
        place, field = name.split()
        found.setdefault(int(place), {})[field] = torch.from_numpy(array.copy()).to(device)
    return [Tap(**found[place]) for place in sorted(found)]
