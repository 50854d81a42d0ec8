"""Drawing: each function takes one small frame (the one that is written as CSV) and gives one figure; none computes.

Figures are drawn at the width of a phone and stand side by side on a wider page, so their text is readable on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from .digits import ranks
from .svg import COLOURS, SERIES, Drawing, Spot, clean, sheet, to_svg

__all__ = ["MARKERS", "WIDTH", "bars", "histogram", "intervals", "scatter", "strips"]

WIDTH = 400
"""CSS pixels; a phone of 360 shows it almost at full size."""
MARKERS = ("o", "s", "^", "D", "v", "P")
"""One shape per colour of `SERIES`, so that series part in greyscale as well."""
_ROW = 24
_LETTER = 6.6  # pixels a letter of 12 px takes on average in the widest common system font
_LABEL = 20  # letters of a label that are shown; the whole label is the point's title
_LANE = 8


def intervals(
    frame: pl.DataFrame,
    *,
    name: str,
    alt: str,
    axis: str,
    spots: Sequence[Spot] | None = None,
    brackets: Sequence[tuple[int, int]] = (),
    origin: float | None = None,
) -> Drawing:
    """A point with its interval per row, best on top.

    Args:
        frame: columns label, score, low, high (null: no interval), rank_low, rank_high (null: unknown), in order.
        name: unique in the page.
        alt: the figure in a sentence.
        axis: what the horizontal axis shows, with unit and direction.
        spots: what each row tells when pointed at.
        brackets: first and last row (counted from 0) of each group that the data cannot tell apart.
        origin: where a vertical line marks 'nothing'; None: no line.

    Returns:
        The figure.
    """
    lanes = _lanes(brackets)
    ranked = frame["rank_low"].null_count() < frame.height
    places = [ranks(low, high) for low, high in zip(frame["rank_low"], frame["rank_high"], strict=True)]
    column = 12 + _LETTER * max([4, *(len(place) for place in places)]) if ranked else 0
    right = 12 + column + _LANE * (max(lanes.values(), default=-1) + 1)
    above = 20 if ranked else 8
    height = _ROW * frame.height + 44 + above
    with sheet(WIDTH, height) as figure:
        axes = _rows(figure, frame["label"], right=right, above=above)
        for row, (low, high) in enumerate(zip(frame["low"], frame["high"], strict=True)):
            if low is not None and high is not None:
                axes.plot([low, high], [row, row], color=SERIES[0], linewidth=2, marker="|", markersize=7)
        known = frame.with_row_index("row").filter(pl.col("score").is_not_null())
        look = {"color": SERIES[0], "edgecolors": COLOURS["paper"], "zorder": 3}
        axes.scatter(known["score"], known["row"], s=52, gid="spots-rows", **look)
        if origin is not None:
            axes.axvline(origin, color=COLOURS["muted"], linewidth=1)
        axes.set_xlabel(clean(axis))
        if ranked:
            _rank_column(axes, places)
        _brackets(axes, lanes, start=6 + column)
        told = None if spots is None else [spots[row] for row in known["row"]]
        return to_svg(figure, name=name, alt=alt, spots={} if told is None else {"spots-rows": told})


def _beside(axes: Any, pixels: float) -> float:
    """Where so many pixels to the right of the axes lie, in fractions of their width."""
    return float(1 + pixels / (WIDTH * axes.get_position().width))


def _rank_column(axes: Any, places: Sequence[str]) -> None:
    """The ranks beside the rows."""
    how = {"transform": axes.get_yaxis_transform(), "va": "center", "clip_on": False}
    for row, text in enumerate(places):
        axes.text(_beside(axes, 6), row, text, **how)
    axes.text(_beside(axes, 6), -0.85, "rank", color=COLOURS["muted"], **how)


def _brackets(axes: Any, lanes: Mapping[tuple[int, int], int], *, start: float) -> None:
    """A bracket from its first to its last row, each in its lane, from so many pixels beside the axes on."""
    for (first, last), lane in lanes.items():
        x, tick = _beside(axes, start + _LANE * lane), _beside(axes, start + _LANE * lane - 3)
        axes.plot(
            [tick, x, x, tick],
            [first - 0.3, first - 0.3, last + 0.3, last + 0.3],
            transform=axes.get_yaxis_transform(),
            color=COLOURS["ink"],
            linewidth=1.2,
            clip_on=False,
        )


def histogram(frame: pl.DataFrame, *, name: str, alt: str, axis: str, counted: str = "items") -> Drawing:
    """Bars of counts between edges.

    Args:
        frame: columns low, high (edges of each bar, rising), count.
        name: unique in the page.
        alt: the figure in a sentence.
        axis: what the horizontal axis shows, with unit.
        counted: what the bars count.
    """
    height = 220
    with sheet(WIDTH, height) as figure:
        axes = _axes(figure, left=52, right=12, below=44, above=8, height=height)
        widths = frame["high"] - frame["low"]
        axes.bar(frame["low"], frame["count"], width=widths, align="edge", color=SERIES[0], edgecolor=COLOURS["paper"])
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.grid(visible=False, axis="x")
        axes.set_xlabel(clean(axis))
        axes.set_ylabel(clean(counted))
        return to_svg(figure, name=name, alt=alt)


def scatter(
    frame: pl.DataFrame, *, name: str, alt: str, x: str, y: str, spots: Mapping[str, Spot] | None = None
) -> Drawing:
    """Points over two axes, in series, with a curve.

    Args:
        frame: columns part ('point', 'curve' or 'cell'), item (null for the curve and cells), series (null: one
            series), x, y, low, high (interval of y; null: none) and count (points in a cell; null elsewhere).
        name: unique in the page.
        alt: the figure in a sentence.
        x: what the horizontal axis shows, with unit and direction.
        y: what the vertical axis shows.
        spots: item -> what its point tells when pointed at.
    """
    points = frame.filter(pl.col("part") == "point")
    series = points["series"].drop_nulls().unique().sort().to_list()
    legend = 20 * ((len(series) + 1) // 2) + 4 if series else 0
    height = 300 + legend
    told: dict[str, list[Spot]] = {}
    with sheet(WIDTH, height) as figure:
        axes = _axes(figure, left=56, right=12, below=44 + legend, above=8, height=height)
        barred = points.drop_nulls(["low", "high"])
        axes.vlines(barred["x"], barred["low"], barred["high"], color=COLOURS["muted"], linewidth=0.7, alpha=0.5)
        for number, level in enumerate(series or [None]):
            part = points.filter(pl.col("series").eq_missing(pl.lit(level, dtype=pl.String)))
            key = f"spots-{number}"
            axes.scatter(
                part["x"],
                part["y"],
                s=40,
                marker=MARKERS[number],
                color=SERIES[number],
                edgecolors=COLOURS["paper"],
                linewidths=0.6,
                zorder=3,
                gid=key,
            )
            if spots is not None:
                told[key] = [spots[item] for item in part["item"]]
        cells = frame.filter(pl.col("part") == "cell")
        if cells.height:
            size = 40 * (cells["count"] / cells["count"].max()).sqrt()
            axes.scatter(cells["x"], cells["y"], s=size + 2, marker="s", color=SERIES[0], linewidths=0)
        curve = frame.filter(pl.col("part") == "curve")
        axes.plot(curve["x"], curve["y"], color=COLOURS["ink"], linewidth=1.6, zorder=4)
        axes.set_xlabel(clean(x))
        axes.set_ylabel(clean(y))
        _legend(axes, series)
        return to_svg(figure, name=name, alt=alt, spots=told)


def _legend(axes: Any, series: Sequence[str]) -> None:
    """Shape and name of each series below the axes, two in a row, in the pixels of a scatter of WIDTH x 300."""
    place = {"transform": axes.transAxes, "clip_on": False}
    for number, level in enumerate(series):
        x = (-36 + 172 * (number % 2)) / (WIDTH - 68)
        y = -(56 + 20 * (number // 2)) / 248
        axes.scatter([x], [y], s=40, marker=MARKERS[number], color=SERIES[number], linewidths=0, **place)
        axes.text(x + 10 / (WIDTH - 68), y, _short(level, 22), va="center", **place)


def bars(frame: pl.DataFrame, *, name: str, alt: str, axis: str) -> Drawing:
    """One horizontal bar per row with its number at the end.

    Args:
        frame: columns label and count, in drawing order.
        name: unique in the page.
        alt: the figure in a sentence.
        axis: what is counted.
    """
    with sheet(WIDTH, _ROW * frame.height + 52) as figure:
        axes = _rows(figure, frame["label"], right=44, above=8)
        axes.barh(range(frame.height), frame["count"], height=0.6, color=SERIES[0])
        for row, number in enumerate(frame["count"]):
            axes.annotate(f"{number:g}", (number, row), xytext=(4, 0), textcoords="offset points", va="center")
        axes.set_xlim(0, max([1, *frame["count"]]) * 1.05)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel(clean(axis))
        return to_svg(figure, name=name, alt=alt)


def strips(frame: pl.DataFrame, *, name: str, alt: str, axis: str) -> Drawing:
    """One row of points per group, with the group's median as a bar.

    Args:
        frame: columns group, value (> 0) and shift (vertical offset of the point within its row, in [-0.3, 0.3]) and
            median (of its group).
        name: unique in the page.
        alt: the figure in a sentence.
        axis: what is measured, with unit; the axis is logarithmic.
    """
    groups = frame["group"].unique(maintain_order=True).to_list()
    height = 64 * len(groups) + 52
    with sheet(WIDTH, height) as figure:
        from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

        axes = _axes(figure, left=84, right=16, below=44, above=8, height=height)
        for row, group in enumerate(groups):
            part = frame.filter(pl.col("group") == group)
            axes.scatter(
                part["value"],
                part["shift"] + row,
                s=26,
                color=SERIES[row % 2],
                marker=MARKERS[row % 2],
                alpha=0.75,
                linewidths=0,
            )
            axes.plot([part["median"][0]] * 2, [row - 0.38, row + 0.38], color=COLOURS["ink"], linewidth=2)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.tick_params(which="minor", length=0)
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.set_yticks(range(len(groups)), _labels(pl.Series(groups)))
        axes.tick_params(axis="y", labelcolor=COLOURS["ink"])
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(clean(axis))
        return to_svg(figure, name=name, alt=alt)


def _rows(figure: Any, labels: pl.Series, *, right: float, above: float) -> Any:
    """Axes with one row of _ROW pixels per label, the first on top."""
    shown = _labels(labels)
    left = 16 + _LETTER * max([1, *(len(label) for label in shown)])
    height = _ROW * len(shown) + 44 + above
    axes = _axes(figure, left=left, right=right, below=44, above=above, height=height)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_yticks(range(len(shown)), shown)
    axes.tick_params(axis="y", labelcolor=COLOURS["ink"])
    axes.grid(visible=False, axis="y")
    return axes


def _axes(figure: Any, *, left: float, right: float, below: float, above: float, height: float) -> Any:
    """Axes with margins in pixels."""
    width = WIDTH - left - right
    axes = figure.add_axes((left / WIDTH, below / height, width / WIDTH, (height - below - above) / height))
    axes.locator_params(axis="x", nbins=max(3, int(width // 60)))
    return axes


def _short(label: object, most: int = _LABEL) -> str:
    text = clean(label)
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _labels(labels: pl.Series) -> list[str]:
    return [_short(label) for label in labels]


def _lanes(brackets: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Put brackets that overlap into different lanes, as few as possible."""
    free: list[int] = []
    lanes: dict[tuple[int, int], int] = {}
    for first, last in sorted(brackets):
        lane = next((number for number, end in enumerate(free) if end < first), len(free))
        free[lane : lane + 1] = [last]
        lanes[first, last] = lane
    return lanes
