"""`distances_page`: which methods make pictures of their own, as a heat map, a tree and a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from .blocks import Block, Cell, Head, Plate, Plates, Prose, Row, Section, Table
from .charts import WIDTH
from .digits import decimals_for, fixed, joined, with_interval
from .index import slug
from .leaf import leaf_path, write_leaf
from .svg import COLOURS, Drawing, clean, sheet, to_svg

__all__ = ["Apart", "distances_page", "heat_map"]

_CELL, _LABEL = 44, 150
_SHADES = ("#08306b", "#2171b5", "#6baed6", "#c6dbef", "#f7fbff")
"""Dark is near, light is far: near pairs are what a reader looks for, and they show in greyscale print too."""
_MOST_NUMBERS = 16  # methods; in a larger map the numbers would not fit their cells


class Apart(Protocol):
    """What the page reads of distances between methods; `make.distinct` gives it."""

    @property
    def distances(self) -> pl.DataFrame:
        """Columns a, b, distance, statistic, low, high, n."""
        ...

    @property
    def clusters(self) -> pl.DataFrame:
        """Columns method, place, cluster, kept."""
        ...

    @property
    def dropped(self) -> pl.DataFrame:
        """Columns method, nearest, distance, low, high."""
        ...

    @property
    def statistic(self) -> str:
        """What was measured."""
        ...

    @property
    def within(self) -> tuple[str, ...]:
        """Factors that make a cell."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        ...


def distances_page(apart: Apart, path: str | Path, *, title: str = "Distances between methods") -> Path:
    """Write a page with the heat map of all pairs, what is suggested for dropping, and every pair in a table.

    Args:
        apart: the distances.
        path: the page, ending in .html; or a folder, in which it is called distinct.html.
        title: of the page.

    Returns:
        Where the page lies; `figures/` and the table as CSV are beside it.

    Raises:
        BadInput: the path has an ending that is not .html.
        MissingExtra: matplotlib or jinja2 is not installed.
    """
    path = leaf_path(path, "distinct.html")
    stem = slug(path.stem)
    order = apart.clusters.sort("place")["method"].to_list()
    sections = [
        Section("answer", "Which methods repeat each other", _answer(apart)),
        Section("map", "Every pair", [Plates([_plate(apart, order, stem)]), _table(apart, stem)]),
        Section("how", "How", [Prose(_how(apart)), *(Prose(note, "small") for note in apart.notes)]),
    ]
    return write_leaf(path, sections, title=title, sources={})


def heat_map(frame: pl.DataFrame, *, name: str, alt: str) -> Drawing:
    """Draw a symmetric table of distances: rows and columns in one order, dark where two are near.

    Args:
        frame: columns a, b, distance; every unordered pair once in either order, no pair of one with itself.
        name: unique in the page.
        alt: the figure in a sentence.
    """
    order = list(dict.fromkeys([*frame["a"], *frame["b"]]))
    value = {frozenset((a, b)): d for a, b, d in frame.select("a", "b", "distance").iter_rows()}
    low, high = _ends(frame["distance"])
    cell = min(_CELL, max(16, (WIDTH * 2 - _LABEL) // max(len(order), 1)))
    side = cell * len(order)
    decimals = decimals_for([(high - low) / 20]) if high > low else 3
    with sheet(_LABEL + side + 8, _LABEL + side + 8) as figure:
        axes = figure.add_axes(
            (
                _LABEL / (_LABEL + side + 8),
                8 / (_LABEL + side + 8),
                side / (_LABEL + side + 8),
                side / (_LABEL + side + 8),
            )
        )
        for i, one in enumerate(order):
            for j, other in enumerate(order):
                if i != j:
                    _square(
                        axes, i, j, value[frozenset((one, other))], low, high, decimals, len(order) <= _MOST_NUMBERS
                    )
        axes.set_xlim(-0.5, len(order) - 0.5)
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.set_yticks(range(len(order)), [clean(word) for word in order])
        axes.set_xticks(
            range(len(order)), [clean(word) for word in order], rotation=60, ha="left", rotation_mode="anchor"
        )
        axes.xaxis.tick_top()
        axes.tick_params(labelcolor=COLOURS["ink"])
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        return to_svg(figure, name=name, alt=alt)


def _square(axes: Any, i: int, j: int, value: float, low: float, high: float, decimals: int, numbered: bool) -> None:
    share = 0.0 if high <= low else (value - low) / (high - low)
    axes.fill([j - 0.48, j + 0.48, j + 0.48, j - 0.48], [i - 0.48, i - 0.48, i + 0.48, i + 0.48], color=_shade(share))
    if numbered:
        ink = "#ffffff" if share < 0.45 else "#1a1c1d"
        axes.text(j, i, fixed(value, decimals), ha="center", va="center", color=ink, fontsize=10)


def _shade(share: float) -> tuple[float, float, float]:
    place = min(max(share, 0.0), 1.0) * (len(_SHADES) - 1)
    k = min(int(place), len(_SHADES) - 2)
    low, high = ([int(shade[c : c + 2], 16) / 255 for c in (1, 3, 5)] for shade in (_SHADES[k], _SHADES[k + 1]))
    red, green, blue = (a + (b - a) * (place - k) for a, b in zip(low, high, strict=True))
    return red, green, blue


def _ends(values: pl.Series) -> tuple[float, float]:
    known = values.drop_nulls().to_list()
    return (min(known), max(known)) if known else (0.0, 0.0)


def _answer(apart: Apart) -> list[Block]:
    if apart.dropped.height:
        names = joined([f"{row['method']} (near {row['nearest']})" for row in apart.dropped.iter_rows(named=True)])
        return [Prose(f"To drop, nearest first: {names}.", "lead")]
    near = apart.distances.sort("distance").head(3)
    pairs = joined(
        [
            f"{a} and {b} ({_told(d, low, high)})"
            for a, b, d, low, high in near.select("a", "b", "distance", "low", "high").iter_rows()
        ]
    )
    return [
        Prose(f"Nearest: {pairs}.", "lead"),
        Prose("Nothing is suggested for dropping: no number to keep and no threshold was given.", "small"),
    ]


def _told(value: float, low: float | None, high: float | None) -> str:
    return with_interval(value, low, high) if low is not None and high is not None else f"{value:.3g}"


def _plate(apart: Apart, order: list[str], stem: str) -> Plate:
    place = {name: k for k, name in enumerate(order)}
    rows = [
        (a, b, d) if place[a] < place[b] else (b, a, d)
        for a, b, d in apart.distances.select("a", "b", "distance").iter_rows()
    ]
    rows.sort(key=lambda row: (place[row[0]], place[row[1]]))
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String, "distance": pl.Float64}, orient="row")
    name = f"{stem}-map"
    low, high = _ends(apart.distances["n"].cast(pl.Float64))
    cells = f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"
    alt = f"Heat map of the distances between {len(order)} methods by {apart.statistic}"
    caption = f"Dark: near. Neighbours in the order of average linkage. n = {cells} cells a pair."
    return Plate(
        name, f"{apart.statistic}, larger is more different", caption, frame, heat_map(frame, name=name, alt=alt)
    )


def _table(apart: Apart, stem: str) -> Table:
    frame = apart.distances.sort("distance")
    known = [(row["high"] - row["low"]) / 2 for row in frame.iter_rows(named=True) if row["low"] is not None]
    decimals = decimals_for(known) if known else 3
    rows = [Row(_cells(row, decimals)) for row in frame.iter_rows(named=True)]
    heads = [
        Head("Method", kind="text"),
        Head("Method", kind="text"),
        Head(apart.statistic, "larger: more different"),
        Head("n", "cells"),
    ]
    return Table("Every pair, nearest first", heads, rows, csv=f"{stem}-distances.csv", frame=frame)


def _cells(row: Mapping[str, Any], decimals: int) -> list[Cell]:
    value = fixed(row["distance"], decimals)
    interval = "" if row["low"] is None else f"[{fixed(row['low'], decimals)}, {fixed(row['high'], decimals)}]"
    return [Cell(row["a"]), Cell(row["b"]), Cell(value, interval, row["distance"]), Cell(str(row["n"]), sort=row["n"])]


def _how(apart: Apart) -> str:
    cell = " and ".join(apart.within)
    return (
        f"Every two methods were compared on pictures of the same {cell} by {apart.statistic}; methods were joined by "
        "average linkage."
    )
