"""Tone mapping of HDR video by paired comparison: 7 operators x 5 scenes; the same names occur in every scene."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ..judgements import Votes
from .bare import read_votes
from .layout import benchmark_of, file_in, peek, sided
from .records import Imported, Source

__all__ = ["SOURCE"]

_SCENES = frozenset({"window", "exhibition", "corridor", "rivoli", "students"})
_COLUMNS = ["rater", "group", "item_a", "item_b", "choice"]


def _read(path: str | Path, *, pool: bool = False) -> Imported:
    """Votes on items 'scene/operator' with a column `content`, the scene.

    Args:
        path: votes.csv or its folder.
        pool: name items by the operator alone, so that all scenes give one scale, as pwcmp's example does.
    """
    file = file_in(path, "votes.csv")
    side = ("", "") if pool else ("group+", "group+")
    columns = {"participant": "rater", "left": f"{side[0]}item_a", "right": f"{side[1]}item_b", "content": "group"}
    reading = read_votes(file, columns)
    frame = reading.noun.frame
    kept = [name for name in frame.columns if name not in ("item_a", "item_b")]
    if pool:
        items = sided(frame, {"method": ("left", "right")})
    else:
        items = sided(frame, {"content": ("content", "content"), "method": ("item_a", "item_b")})
    return Imported(
        benchmark=benchmark_of(items, name=SOURCE.name, description=SOURCE.summary, licence=SOURCE.licence),
        votes=Votes(frame.select(pl.col(kept))),
        notes=reading.notes,
    )


def _fits(path: Path) -> bool:
    frame = peek(path, "votes.csv")
    return frame.columns == _COLUMNS and set(frame["group"]) <= _SCENES


SOURCE = Source(
    name="pwcmp_tmo",
    summary="Tone mapping of HDR video, 1,213 votes of 18 people on 7 operators in five scenes",
    gives=("benchmark", "votes"),
    licence="MIT, (c) 2016 mantiuk (mantiuk/pwcmp)",
    citation="Eilertsen, Wanat, Mantiuk and Unger, Computer Graphics Forum 32(7), 2013, doi 10.1111/cgf.12235",
    read=_read,
    fits=_fits,
)
