"""Image sharpening by paired comparison: 40 pictures, five contents that were never compared with one another."""

from __future__ import annotations

from pathlib import Path

from .bare import read_votes
from .layout import benchmark_of, file_in, peek, sided
from .records import Imported, Source

__all__ = ["SOURCE"]

_CONTENTS = frozenset({"barba", "Caps", "isabe", "parrots", "redhat"})
_COLUMNS = ["rater", "group", "item_a", "item_b", "choice"]


def _read(path: str | Path) -> Imported:
    """Votes with a column `content`; items keep their ids, which are unique over the contents."""
    file = file_in(path, "votes.csv")
    reading = read_votes(file, {"participant": "rater", "left": "item_a", "right": "item_b", "content": "group"})
    items = sided(reading.noun.frame, {"content": ("content", "content")})
    return Imported(
        benchmark=benchmark_of(items, name=SOURCE.name, description=SOURCE.summary, licence=SOURCE.licence),
        votes=reading.noun,
        notes=(*reading.notes, "no pair joins two contents: score each content alone"),
    )


def _fits(path: Path) -> bool:
    frame = peek(path, "votes.csv")
    return frame.columns == _COLUMNS and set(frame["group"]) <= _CONTENTS


SOURCE = Source(
    name="krasula",
    summary="Image sharpening, 2,128 votes of 31 people on pairs within five contents",
    gives=("benchmark", "votes"),
    licence="ISC-like notice in the source file (Netflix/sureal)",
    citation="Krasula, Le Callet, Fliegel and Klima, IEEE Trans. Image Processing, 2017; table from Netflix/sureal",
    read=_read,
    fits=_fits,
)
