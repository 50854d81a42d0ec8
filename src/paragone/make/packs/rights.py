"""What is known of the rights in the pictures of a pack, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from .packing import Content, PackedPicture

__all__ = ["Rights", "rights_of"]


@dataclass(frozen=True)
class Rights:
    """How many pictures, references among them, are of each kind; every picture is counted once."""

    licensed: Mapping[str, int]
    """Licence -> pictures that it is named for; the most first."""
    drawn: tuple[str, ...]
    """Levels of references without a licence that were drawn by formula: paragone's output, and no artist's work."""
    derived: int
    """Items without a licence of their own whose references all are licensed or drawn."""
    unknown: int
    """The rest: nothing is known."""


def rights_of(content: Content) -> Rights:
    """Count the pictures of a pack by what is known of the rights in them.

    A result derives from its references, so their licences hold for it; that gives it no licence of its own, and none is
    made up here.

    Args:
        content: what is packed.
    """
    everything = [*content.pictures.values(), *content.shown.values()]
    counts = Counter(licence for picture in everything if (licence := picture.credits["licence"]))
    drawn = [level for (_, level), picture in content.shown.items() if picture.drawn and not picture.credits["licence"]]
    bare = {item for item, picture in content.pictures.items() if not picture.credits["licence"]}
    derived = sum(
        _derived(row, content) for row in content.benchmark.items.iter_rows(named=True) if row["item"] in bare
    )
    return Rights(
        dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
        tuple(drawn),
        derived,
        len(everything) - counts.total() - len(drawn) - derived,
    )


def _derived(row: Mapping[str, str | None], content: Content) -> bool:
    """Every level of a factor that has references is shown by one of which something is known."""
    keys = [(factor, level) for factor in content.shown_factors if (level := row[factor]) is not None]
    return bool(keys) and all(key in content.shown and _known(content.shown[key]) for key in keys)


def _known(picture: PackedPicture) -> bool:
    return picture.drawn or bool(picture.credits["licence"])
