"""Which items are scored together, and the same answers restricted to some of them."""

from __future__ import annotations

import numpy as np

from ..errors import TooFew
from ..stats.graph import components
from .arrays import Ints
from .edges import never_compared
from .encoding import Coded
from .question import Question

__all__ = ["groups", "restricted"]


def groups(coded: Coded, question: Question) -> list[Ints]:
    """Index lists that are scored together: all items that were shown, or one list per connected group.

    An item that met only itself, or only in answers of weight 0, says nothing about the others and is in no list.

    Raises:
        NotConnected: there are several groups, and the question does not ask for each alone.
        TooFew: no item met another one.
    """
    shown = np.flatnonzero(coded.counts > 0)
    if coded.comparisons is None or coded.opinions is not None:
        return [shown]
    pairs = coded.comparisons
    counted = (pairs.weight > 0) & (pairs.left != pairs.right)
    left, right = pairs.left[counted], pairs.right[counted]
    met = np.unique(np.concatenate([left, right]))
    if met.size == 0:
        raise TooFew("no item met another one: every vote is on an item against itself or has weight 0")
    labels = components(len(coded.items), left, right)[met]
    found = [met[labels == label] for label in np.unique(labels)]
    if len(found) == 1:
        return found
    if not question.apart:
        raise never_compared(len(found))
    return found


def restricted(coded: Coded, members: Ints) -> Coded:
    """The same answers restricted to some items, which are numbered anew."""
    number = np.full(len(coded.items), -1, dtype=np.int64)
    number[members] = np.arange(len(members))
    comparisons, opinions = coded.comparisons, coded.opinions
    if comparisons is not None:
        keep = (number[comparisons.left] >= 0) & (number[comparisons.right] >= 0)
        rows = {name: getattr(comparisons, name)[keep] for name in comparisons._fields if name != "n"}
        rows["left"], rows["right"] = number[rows["left"]], number[rows["right"]]
        comparisons = type(comparisons)(n=len(members), **rows)
    if opinions is not None:
        keep = number[opinions.item] >= 0
        fields = ("item", "participant", "session", "value", "weight")
        rows = {name: getattr(opinions, name)[keep] for name in fields}
        rows["item"] = number[rows["item"]]
        reference = opinions.reference[members]
        reference = np.where(reference >= 0, number[reference], -1)
        opinions = type(opinions)(
            n=len(members), p=opinions.p, reference=reference, content=opinions.content[members], **rows
        )
    return Coded(
        [coded.items[index] for index in members],
        coded.participants,
        coded.counts[members],
        coded.people[members],
        comparisons=comparisons,
        opinions=opinions,
        people_known=coded.people_known,
    )
