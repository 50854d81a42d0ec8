"""Drawings of a pool and of two distributions: each function takes one small frame and gives one figure; none computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from .charts import WIDTH
from .svg import COLOURS, SERIES, Drawing, Spot, clean, sheet, to_svg

__all__ = ["densities", "pool_scatter", "ranges"]

_ROW = 32


def ranges(frame: pl.DataFrame, *, name: str, alt: str) -> Drawing:
    """The pool's range of each property as a line of ticks, and the picks' range on it as a bar with a point per pick.

    Args:
        frame: columns property, share (of the pool's range that the picks span, null: unknown), random_share, place (of
            one picture within the pool's range, 0 to 1) and order (null: not picked); one row per property and picture,
            properties in drawing order.
        name: unique in the page.
        alt: the figure in a sentence.
    """
    properties = frame["property"].unique(maintain_order=True).to_list()
    left, right, below, above = 104, 108, 44, 24
    height = _ROW * len(properties) + below + above
    with sheet(WIDTH, height) as figure:
        axes = _axes(figure, left, right, below, above, height)
        for row, word in enumerate(properties):
            part = frame.filter(pl.col("property") == word)
            picked = part.drop_nulls("order")["place"]
            axes.plot(
                part["place"],
                [row] * part.height,
                "|",
                color=COLOURS["muted"],
                markersize=8,
                markeredgewidth=0.7,
                alpha=0.6,
            )
            if picked.len():
                axes.plot([picked.min(), picked.max()], [row, row], color=SERIES[0], linewidth=7, alpha=0.35)
            axes.scatter(picked, [row] * picked.len(), s=30, color=SERIES[0], edgecolors=COLOURS["paper"], zorder=3)
            told, usual = (_percent(part[column][0]) for column in ("share", "random_share"))
            axes.text(1.06, row, told, va="center", ha="left", clip_on=False)
            axes.text(1.36, row, usual, va="center", ha="left", clip_on=False, color=COLOURS["muted"])
        axes.text(1.06, -0.8, "picks", va="center", color=COLOURS["muted"], clip_on=False)
        axes.text(1.36, -0.8, "random", va="center", color=COLOURS["muted"], clip_on=False)
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(len(properties) - 0.5, -0.5)
        axes.set_xticks([0, 0.5, 1], ["least", "half way", "most"])
        axes.set_yticks(range(len(properties)), [clean(word).replace("_", " ") for word in properties])
        axes.tick_params(axis="y", labelcolor=COLOURS["ink"])
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("place within the pool's range")
        return to_svg(figure, name=name, alt=alt)


def pool_scatter(frame: pl.DataFrame, *, name: str, alt: str, x: str, y: str, spots: Mapping[str, Spot]) -> Drawing:
    """Every picture of the pool as a grey point, the picks as numbered ones.

    Args:
        frame: columns picture, x, y and order (null: not picked).
        name: unique in the page.
        alt: the figure in a sentence.
        x: what the horizontal axis shows, with unit.
        y: what the vertical axis shows.
        spots: picture -> what its point tells when pointed at.
    """
    height, legend = 324, 24
    rest, picked = frame.filter(pl.col("order").is_null()), frame.drop_nulls("order").sort("order")
    with sheet(WIDTH, height) as figure:
        axes = _axes(figure, 60, 16, 44 + legend, 12, height)
        axes.margins(0.06)
        look: dict[str, Any] = {"edgecolors": COLOURS["paper"], "linewidths": 0.6}
        axes.scatter(rest["x"], rest["y"], s=30, color=COLOURS["muted"], alpha=0.7, gid="spots-rest", **look)
        axes.scatter(picked["x"], picked["y"], s=110, marker="s", color=SERIES[0], zorder=3, gid="spots-picked", **look)
        for across, up, order in picked.select("x", "y", "order").iter_rows():
            axes.annotate(
                f"{order}",
                (across, up),
                xytext=(9, 1),
                textcoords="offset points",
                va="center",
                fontweight="bold",
                zorder=4,
            )
        place = {"transform": axes.transAxes, "clip_on": False}
        line = -(52 + legend / 2) / (height - 56 - legend)
        axes.scatter([0.02], [line], s=70, marker="s", color=SERIES[0], **look, **place)
        axes.text(0.055, line, "picked, numbered in order", va="center", **place)
        axes.scatter([0.66], [line], s=30, color=COLOURS["muted"], **look, **place)
        axes.text(0.69, line, "not picked", va="center", **place)
        axes.set_xlabel(clean(x))
        axes.set_ylabel(clean(y))
        told = {
            "spots-rest": [spots[word] for word in rest["picture"]],
            "spots-picked": [spots[word] for word in picked["picture"]],
        }
        return to_svg(figure, name=name, alt=alt, spots=told)


def densities(frame: pl.DataFrame, *, name: str, alt: str, axis: str, marks: Mapping[str, float]) -> Drawing:
    """Two histograms over each other: natural pictures filled, generated ones as an outline, means as vertical lines.

    Args:
        frame: columns low, high (edges of each bin, rising), natural and generated (share of the pictures in it, 0 to 1).
        name: unique in the page.
        alt: the figure in a sentence.
        axis: what the horizontal axis shows, with unit.
        marks: 'natural' and 'generated' -> mean.
    """
    height, legend = 252, 24
    edges = [*frame["low"], frame["high"][-1]]
    with sheet(WIDTH, height) as figure:
        from matplotlib.ticker import MaxNLocator, PercentFormatter

        axes = _axes(figure, 56, 16, 44 + legend, 8, height)
        axes.stairs(frame["natural"], edges, fill=True, color=SERIES[2], alpha=0.35)
        axes.stairs(frame["natural"], edges, color=SERIES[2], linewidth=1)
        axes.stairs(frame["generated"], edges, color=SERIES[1], linewidth=2.2)
        axes.axvline(marks["natural"], color=SERIES[2], linewidth=1.6, linestyle=(0, (2, 2)))
        axes.axvline(marks["generated"], color=SERIES[1], linewidth=1.6, linestyle=(0, (6, 2)))
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], min_n_ticks=2))
        axes.grid(visible=False, axis="x")
        place = {"transform": axes.transAxes, "clip_on": False}
        line = -(52 + legend / 2) / (height - 52 - legend)
        axes.fill_between(
            [-0.15, -0.1], [line - 0.03] * 2, [line + 0.03] * 2, color=SERIES[2], alpha=0.5, linewidth=0, **place
        )
        axes.text(-0.08, line, "natural (mean dotted)", va="center", **place)
        axes.plot([0.43, 0.48], [line, line], color=SERIES[1], linewidth=2.2, **place)
        axes.text(0.5, line, "generated (mean dashed)", va="center", **place)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_xlabel(clean(axis))
        axes.set_ylabel("share of pictures")
        return to_svg(figure, name=name, alt=alt)


def _axes(figure: Any, left: float, right: float, below: float, above: float, height: float) -> Any:
    """Axes with margins in pixels."""
    width = WIDTH - left - right
    return figure.add_axes((left / WIDTH, below / height, width / WIDTH, (height - below - above) / height))


def _percent(share: float | None) -> str:
    return "\N{EN DASH}" if share is None else f"{100 * share:.0f} %"
