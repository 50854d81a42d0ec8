"""Drawings in which kinds of rows part by shape, colour and word: each function takes one frame; none computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from .charts import WIDTH
from .svg import COLOURS, SERIES, Drawing, Spot, clean, sheet, to_svg

__all__ = ["Look", "dots", "level_dots"]

_ROW = 24
_LEVEL = 32  # a row of `level_dots`, which holds up to three points
_KEY = 20  # a line of the key
_KEY_LETTERS = 24  # of a word in a key of two columns; longer ones take a line each
_LETTER = 6.6  # pixels a letter of 12 px takes on average in the widest common system font
_LABEL = 24  # letters of a label that are shown, from both ends; the whole label is the point's title
_BOLD = 1.15  # bold letters are wider


class Look(NamedTuple):
    """How a kind of row is drawn; no two kinds share a shape, so that they part in greyscale too."""

    words: str
    """What the key says."""
    marker: str
    series: int
    """Place in `SERIES`."""
    hollow: bool = False
    strong: bool = False
    """Label in bold and a thicker bar: what the figure is about."""


def dots(
    frame: pl.DataFrame,
    *,
    name: str,
    alt: str,
    axis: str,
    looks: Mapping[str, Look],
    spots: Sequence[Spot],
    places: str = "",
    origin: float | None = None,
) -> Drawing:
    """A point with its interval per row, shaped by the row's kind, best on top.

    Args:
        frame: columns label, kind, score (null: no point), low, high (null: no interval), and `place` (text beside the row)
            where `places` is given; in drawing order.
        name: unique in the page.
        alt: the figure in a sentence.
        axis: what the horizontal axis shows, with unit and direction.
        looks: kind -> how it is drawn; the key names those that the frame has.
        spots: what each row tells when pointed at.
        places: head of the column of places; empty: there is none.
        origin: where a vertical line marks 'nothing'; None: no line.
    """
    shown = [kind for kind in looks if kind in frame["kind"]]
    beside = [str(text) for text in frame["place"]] if places else []
    right = 12.0 + (_LETTER * max(len(text) for text in [places, *beside]) if places else 0.0)
    above = 20 if places else 8
    told: dict[str, list[Spot]] = {}
    below = _below([looks[kind] for kind in shown])
    with sheet(WIDTH, _ROW * frame.height + above + below) as figure:
        strong = {row for row, kind in enumerate(frame["kind"]) if looks[kind].strong}
        axes = _rows(figure, frame["label"].to_list(), strong, row=_ROW, right=right, above=above, below=below)
        for number, kind in enumerate(shown):
            look, part = looks[kind], frame.with_row_index("row").filter(pl.col("kind") == kind)
            for row, low, high in part.select("row", "low", "high").drop_nulls().iter_rows():
                bar = {"color": SERIES[look.series], "linewidth": 4 if look.strong else 2, "marker": "|"}
                axes.plot([low, high], [row, row], markersize=9 if look.strong else 7, solid_capstyle="butt", **bar)
            known = part.drop_nulls("score")
            _points(axes, known["score"], known["row"], look, gid=f"spots-{number}")
            told[f"spots-{number}"] = [spots[row] for row in known["row"]]
        if origin is not None:
            axes.axvline(origin, color=COLOURS["muted"], linewidth=1)
        _title(axes, axis)
        for row, text in enumerate(beside):
            _beside(axes, row, text, bold=row in strong)
        if places:
            _beside(axes, -0.85, places, color=COLOURS["muted"])
        _key(figure, [looks[kind] for kind in shown])
        return to_svg(figure, name=name, alt=alt, spots=told)


def level_dots(
    frame: pl.DataFrame, *, name: str, alt: str, axis: str, looks: Mapping[str, Look], spots: Sequence[Spot]
) -> Drawing:
    """One row per level with a point for each kind, above each other and joined by a thin line.

    Args:
        frame: columns label (of the level), kind and value (null: undefined, no point); levels in drawing order.
        name: unique in the page.
        alt: the figure in a sentence.
        axis: what the horizontal axis shows, with unit and direction.
        looks: kind -> how it is drawn, from the top of a row to its bottom.
        spots: what each row of the frame tells when pointed at.
    """
    labels = frame["label"].unique(maintain_order=True).to_list()
    shown = [kind for kind in looks if kind in frame["kind"]]
    place = {label: row for row, label in enumerate(labels)}
    shift = {kind: 0.26 * (at - (len(shown) - 1) / 2) for at, kind in enumerate(shown)}
    numbered = frame.with_row_index("row")
    told: dict[str, list[Spot]] = {}
    below = _below([looks[kind] for kind in shown])
    with sheet(WIDTH, _LEVEL * len(labels) + 8 + below) as figure:
        axes = _rows(figure, labels, set(), row=_LEVEL, right=16, above=8, below=below)
        for label in labels:
            values = frame.filter(pl.col("label") == label)["value"].drop_nulls()
            if values.len():
                axes.hlines(place[label], values.min(), values.max(), color=COLOURS["grid"], linewidth=6)
            else:
                axes.annotate("undefined", (0.02, place[label]), xycoords=("axes fraction", "data"), va="center")
        for number, kind in enumerate(shown):
            part = numbered.filter(pl.col("kind") == kind).drop_nulls("value")
            rows = [place[label] + shift[kind] for label in part["label"]]
            _points(axes, part["value"], rows, looks[kind], gid=f"spots-{number}")
            told[f"spots-{number}"] = [spots[row] for row in part["row"]]
        axes.axvline(0.0, color=COLOURS["muted"], linewidth=1)
        _title(axes, axis)
        _key(figure, [looks[kind] for kind in shown])
        return to_svg(figure, name=name, alt=alt, spots=told)


def _points(axes: Any, x: Any, y: Any, look: Look, **more: Any) -> None:
    colour = SERIES[look.series]
    face, edge = (COLOURS["paper"], colour) if look.hollow else (colour, COLOURS["paper"])
    size = 70 if look.strong else 48
    style = {"linewidths": 1.6 if look.hollow else 0.8, "zorder": 3}
    axes.scatter(x, y, s=size, marker=look.marker, facecolors=face, edgecolors=edge, **style, **more)


def _columns(looks: Sequence[Look]) -> int:
    """Kinds in a line of the key."""
    return 2 if all(len(look.words) <= _KEY_LETTERS for look in looks) else 1


def _below(looks: Sequence[Look]) -> int:
    """Pixels below the axes: numbers, title, and the key."""
    return 48 + _KEY * -(-len(looks) // _columns(looks)) + 4


def _rows(
    figure: Any, labels: Sequence[str], strong: set[int], *, row: int, right: float, above: int, below: int
) -> Any:
    """Axes with one row per label, the first on top."""
    texts = [_short(label) for label in labels]
    widths = [len(text) * (_BOLD if at in strong else 1.0) for at, text in enumerate(texts)]
    left = 16 + _LETTER * max([1.0, *widths])
    height = row * len(texts) + above + below
    width = WIDTH - left - right
    axes = figure.add_axes((left / WIDTH, below / height, width / WIDTH, (height - below - above) / height))
    axes.locator_params(axis="x", nbins=max(3, int(width // 60)))
    axes.set_ylim(len(texts) - 0.5, -0.5)
    axes.set_yticks(range(len(texts)), texts)
    axes.tick_params(axis="y", labelcolor=COLOURS["ink"])
    for at in strong:
        axes.get_yticklabels()[at].set_fontweight("bold")
    axes.grid(visible=False, axis="y")
    return axes


def _title(axes: Any, text: str) -> None:
    """The words below the axis; what is wider than the axis grows to the left, under the labels."""
    wide = _LETTER * len(text) > WIDTH * axes.get_position().width
    axes.set_xlabel(clean(text), loc="right" if wide else "center")


def _beside(axes: Any, row: float, text: str, *, color: str = COLOURS["ink"], bold: bool = False) -> None:
    """A text to the right of a row."""
    x = 1 + 6 / (WIDTH * axes.get_position().width)
    how = {"transform": axes.get_yaxis_transform(), "va": "center", "clip_on": False}
    axes.text(x, row, text, color=color, fontweight="bold" if bold else "normal", **how)


def _key(figure: Any, looks: Sequence[Look]) -> None:
    """Shape and word of each kind along the lower edge."""
    height = figure.get_figheight() * 72
    columns = _columns(looks)
    lines = -(-len(looks) // columns)
    axes = figure.add_axes((0, 0, 1, (_KEY * lines + 4) / height), frameon=False)
    axes.set(xlim=(0, WIDTH), ylim=(_KEY * lines + 4, 0), xticks=[], yticks=[])
    axes.grid(visible=False)
    for number, look in enumerate(looks):
        x, y = 14 + 194 * (number % columns), _KEY * (number // columns) + _KEY / 2
        _points(axes, [x], [y], look, clip_on=False)
        axes.text(
            x + 12,
            y,
            _short(look.words, 2 * _KEY_LETTERS),
            va="center",
            fontweight="bold" if look.strong else "normal",
            clip_on=False,
        )


def _short(label: object, most: int = _LABEL) -> str:
    """The label, its middle left out where it is long: settings at the end of a name part it from its like."""
    text = clean(label)
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}\N{HORIZONTAL ELLIPSIS}{text[-end:]}"
