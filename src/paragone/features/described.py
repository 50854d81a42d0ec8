"""`Features`: what was read out of pictures by a frozen network, one row an item, and what each column stands for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput

__all__ = ["Block", "Columns", "Features"]

Columns: TypeAlias = Literal["all", "compared", "scalar"]
"""Which columns of the features: all, those of blocks that read two pictures or more, or the scalars."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """Columns that belong together."""

    name: str
    """For example 'mean of result' or 'gram cosine at tap 3'."""
    start: int
    """First column."""
    stop: int
    """Column after the last one."""
    reads: tuple[str, ...]
    """Pictures that it is made of: 'image' and reference factors such as 'content' and 'style'."""
    kind: Literal["vector", "scalar"]
    """vector: channels of feature maps; scalar: one number that compares pictures."""


@dataclass(frozen=True, kw_only=True)
class Features:
    """One vector an item; the columns are laid out in blocks."""

    items: tuple[str, ...]
    """Ids of the n items that have a vector, sorted."""
    values: NDArray[np.float32]
    """(n, d), as they were read: nothing is standardised here, since a scaler may only see what is trained on."""
    blocks: tuple[Block, ...]
    """Together they cover the d columns once, in order."""
    definition: str
    """Id of the exact definition: name, framing, side; two vectors compare only under one id and one backbone."""
    backbone: str
    """Label of the network, as results must name it."""
    sha256: str
    """SHA-256 of its weights in hex; '' for random weights."""
    source: str
    """Where the weights came from."""
    pictures_sha256: str = ""
    """SHA-256 over every item's name and the digests of the pictures that were read."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Item without a vector -> why."""

    def __post_init__(self) -> None:
        n, d = self.values.shape
        if n != len(self.items) or [b.start for b in self.blocks] != [0, *(b.stop for b in self.blocks)][:-1]:
            raise BadInput(f"features: {n} rows of {len(self.items)} items, or blocks with gaps", where=self.definition)
        if not self.blocks or self.blocks[-1].stop != d:
            raise BadInput(f"features: the blocks do not cover the {d} columns", where=self.definition)
        if not np.isfinite(self.values).all():
            bad = self.items[int(np.flatnonzero(~np.isfinite(self.values).all(axis=1))[0])]
            raise BadInput(f"features of item '{bad}' hold values that are no numbers", where=bad)

    def columns(self, *, kind: Columns = "all", without: Collection[str] = ()) -> NDArray[np.int64]:
        """Numbers of some columns, ascending.

        Args:
            kind: all of them; only scalars; or only those that compare two pictures, vectors and scalars.
            without: pictures that must not have been read, for example ('style',): the head of an ablation.

        Raises:
            BadInput: no column is left.
        """
        kept = [
            np.arange(block.start, block.stop)
            for block in self.blocks
            if (kind == "all" or block.kind == kind or (kind == "compared" and len(block.reads) > 1))
            and not set(block.reads) & set(without)
        ]
        if not kept:
            left_out = f" without {', '.join(sorted(without))}" if without else ""
            raise BadInput(f"{self.definition} has no columns of kind '{kind}'{left_out}", where=self.definition)
        return np.concatenate(kept).astype(np.int64)

    def of(self, items: Collection[str]) -> NDArray[np.float32]:
        """(len(items), d) rows of these items, in their order.

        Raises:
            BadInput: an item has no vector.
        """
        place = {item: at for at, item in enumerate(self.items)}
        lost = [item for item in items if item not in place]
        if lost:
            why = self.missing.get(lost[0], "it was not among the items")
            raise BadInput(f"item '{lost[0]}' has no features: {why}", where=lost[0])
        return self.values[[place[item] for item in items]]
