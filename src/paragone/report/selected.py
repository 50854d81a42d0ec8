"""`selection_page`: which references were picked from a pool, and how well they cover it, as one page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import polars as pl

from . import spreads
from .blocks import Block, Cell, Head, Plate, Plates, Prose, Row, Section, Strip, Table
from .digits import count, decimals_for, fixed, joined
from .index import slug
from .leaf import leaf_path, write_leaf
from .listed import MOST_ROWS, Listed, Measured, how_section
from .svg import Spot

__all__ = ["Selected", "selection_page"]

_PAIRS = (("colourfulness", "busyness"), ("light", "contrast"), ("hue_spread", "edges"), ("gradient", "si"))
_MOST_POINTS = 1500  # not picked, in a plot; more make the page heavy and hide each other
_RULES = {
    "k-centre": "no picture of the pool is far from its nearest pick, so extremes are taken",
    "facility": "every picture of the pool resembles some pick, so typical ones are taken",
    "log-det": "the picks are as unlike each other as can be",
}


class Selected(Measured, Protocol):
    """What the page reads of a selection; `make.select` gives it."""

    @property
    def picked(self) -> pl.DataFrame:
        """One row per pick: order, picture, image, why, fixed, gain, covers, card."""
        ...

    @property
    def pool(self) -> pl.DataFrame:
        """One row per picture: picture, image, order, nearest, distance, card columns and properties."""
        ...

    @property
    def ranges(self) -> pl.DataFrame:
        """One row per property: property, unit, pool_low, pool_high, low, high, share, gap, random_share."""
        ...

    @property
    def measures(self) -> pl.DataFrame:
        """One row per measure: measure, better, value, random_low, random_median, random_high, beaten."""
        ...

    @property
    def counts(self) -> pl.DataFrame:
        """One row per level with a quota or balance: factor, level, wanted, picked, there."""
        ...

    @property
    def folder(self) -> Path:
        """Where the pool's pictures lie."""
        ...

    @property
    def factor(self) -> str:
        """What the picks will be."""
        ...

    @property
    def how(self) -> str:
        """Name of the rule."""
        ...

    @property
    def radius(self) -> float:
        """Radius of the share within it."""
        ...


def selection_page(selection: Selected, path: str | Path, *, title: str = "") -> Path:
    """Write a page with the picked pictures, what they cover, and the pool they come from.

    Args:
        selection: what was picked.
        path: the page, ending in .html; or a folder, in which it is called selected.html.
        title: of the page; empty: made from the selection.

    Returns:
        Where the page lies; `figures/` with every figure as SVG and CSV and the tables as CSV, all named after the page, is
        beside it, so that several pages may share a folder.

    Raises:
        BadInput: the path has an ending that is not .html.
        MissingExtra: matplotlib or jinja2 is not installed.
    """
    path = leaf_path(path, "selected.html")
    stem = slug(path.stem)
    ordered = selection.pool.sort("order", "picture", nulls_last=True)
    listed = Listed.of({row["picture"]: selection.folder / row["image"] for row in ordered.iter_rows(named=True)})
    rows = ordered.head(MOST_ROWS)
    sections = [
        _picks(selection, listed),
        _coverage(selection, stem),
        _scatters(selection, listed, frozenset(rows["picture"]), stem),
        _everything(selection, rows, listed, stem),
        _how(selection),
    ]
    words = title or f"{count(selection.picked.height, selection.factor)} chosen from {selection.pool.height} pictures"
    return write_leaf(path, sections, title=words, sources=listed.sources)


def _picks(selection: Selected, listed: Listed) -> Section:
    decimals = decimals_for([], selection.picked["gain"].to_list())
    tiles, plain = [], []
    for row in selection.picked.iter_rows(named=True):
        gain = "" if row["gain"] is None else f" ({fixed(row['gain'], decimals)})"
        text = (
            f"{row['order']}. {row['card'].removesuffix('.')}. Why: {row['why']}{gain}; "
            f"stands for {count(row['covers'], 'picture')}."
        )
        if row["picture"] in listed.sources:
            tiles.append(listed.tile(row["picture"], text))
        else:
            plain.append(f"{row['picture']}: {text}")
    measures = {row["measure"]: row for row in selection.measures.iter_rows(named=True)}
    spanned, away = measures["mean range covered"], measures["largest distance"]
    lead = (
        f"{selection.picked.height} of {selection.pool.height} pictures. They span {fixed(100 * spanned['value'], 0)} % of "
        f"the pool's range on average over its properties (random picks {fixed(100 * spanned['random_median'], 0)} %); no "
        f"picture is farther than {fixed(away['value'], 1)} standard deviations from a pick (random "
        f"{fixed(away['random_median'], 1)})."
        if spanned["value"] is not None
        else f"{selection.picked.height} of {selection.pool.height} pictures, which do not differ in any property."
    )
    blocks: list[Block] = [Prose(lead, "lead"), Strip("In the order of picking", tiles)]
    blocks += [Prose(text) for text in plain]
    return Section("picked", "Picked", blocks)


def _coverage(selection: Selected, stem: str) -> Section:
    blocks: list[Block] = []
    frames = []
    pool = _thinned(selection.pool)
    for row in selection.ranges.iter_rows(named=True):
        length = row["pool_high"] - row["pool_low"]
        if length > 0:
            frames.append(
                pool.select(
                    pl.lit(row["property"]).alias("property"),
                    pl.lit(row["share"], dtype=pl.Float64).alias("share"),
                    pl.lit(row["random_share"], dtype=pl.Float64).alias("random_share"),
                    "picture",
                    "order",
                    place=(pl.col(row["property"]) - row["pool_low"]) / length,
                )
            )
    if frames:
        frame, name = pl.concat(frames), f"{stem}-ranges"
        ticks = f"{'all' if pool.height == selection.pool.height else pool.height} of {selection.pool.height} pictures"
        drawing = spreads.ranges(frame, name=name, alt="Range of each property that the picks span")
        caption = f"Ticks: {ticks}; points and bar: the picks. Right: share of the pool's range."
        blocks.append(Plates([Plate(name, "Covered range", caption, frame, drawing)]))
    blocks.append(_measures(selection, stem))
    blocks.append(_ranges(selection, stem))
    if selection.counts.height:
        blocks.append(_counts(selection, stem))
    return Section("coverage", "Coverage", blocks)


def _measures(selection: Selected, stem: str) -> Table:
    rows = []
    for row in selection.measures.iter_rows(named=True):
        decimals = decimals_for([(row["random_high"] or 0) - (row["random_low"] or 0)], [row["value"]])
        usual = Cell(
            fixed(row["random_median"], decimals),
            f"[{fixed(row['random_low'], decimals)}, {fixed(row['random_high'], decimals)}]",
            sort=row["random_median"],
        )
        rows.append(
            Row(
                [
                    Cell(f"{row['measure']}, {row['better']} is better"),
                    Cell(fixed(row["value"], decimals), sort=row["value"]),
                    usual,
                    Cell(f"{fixed(100 * row['beaten'], 0)} %", sort=row["beaten"]),
                ]
            )
        )
    caption = (
        "The picks against random ones that keep the same fixed pictures and meet the same quotas. Distances are in "
        f"standard deviations of the pool; the radius is {fixed(selection.radius, 2)}: half of the pictures that random "
        "picks leave lie within it."
    )
    heads = [
        Head("Measure", kind="text"),
        Head("Picks"),
        Head("Random", "median, 95 % of them"),
        Head("Better than", "share of random picks, ties half"),
    ]
    return Table(caption, heads, rows, csv=f"figures/{stem}-measures.csv", frame=selection.measures)


def _ranges(selection: Selected, stem: str) -> Table:
    rows = []
    for row in selection.ranges.iter_rows(named=True):
        decimals = decimals_for([], [row["pool_low"], row["pool_high"]])
        rows.append(
            Row(
                [
                    Cell(row["property"].replace("_", " ")),
                    Cell(row["unit"]),
                    Cell(f"{fixed(row['pool_low'], decimals)} to {fixed(row['pool_high'], decimals)}"),
                    Cell(f"{fixed(row['low'], decimals)} to {fixed(row['high'], decimals)}"),
                    *(
                        Cell("\N{EN DASH}" if row[word] is None else f"{fixed(100 * row[word], 0)} %", sort=row[word])
                        for word in ("share", "gap")
                    ),
                ]
            )
        )
    heads = [
        Head("Property", kind="text"),
        Head("Unit", kind="text"),
        Head("Pool"),
        Head("Picks"),
        Head("Spanned", "of the pool's range"),
        Head("Largest gap", "stretch without a pick"),
    ]
    caption = f"Covered range per property, n = {selection.pool.height} pictures"
    return Table(caption, heads, rows, csv=f"figures/{stem}-covered.csv", frame=selection.ranges)


def _counts(selection: Selected, stem: str) -> Table:
    rows = [
        Row(
            [
                Cell(row["factor"]),
                Cell(row["level"] if row["level"] is not None else "not said"),
                Cell("\N{EN DASH}" if row["wanted"] is None else str(row["wanted"]), sort=row["wanted"]),
                Cell(str(row["picked"]), sort=row["picked"]),
                Cell(str(row["there"]), sort=row["there"]),
            ]
        )
        for row in selection.counts.iter_rows(named=True)
    ]
    heads = [
        Head("Factor", kind="text"),
        Head("Level", kind="text"),
        Head("Quota"),
        Head("Picked"),
        Head("In the pool"),
    ]
    return Table("Quotas and balance", heads, rows, csv=f"figures/{stem}-counts.csv", frame=selection.counts)


def _scatters(selection: Selected, listed: Listed, shown: frozenset[str], stem: str) -> Section:
    units = dict(selection.ranges.select("property", "unit").iter_rows())
    spots = {}
    for row in selection.pool.iter_rows(named=True):
        name, there = row["picture"], row["picture"] in shown
        told = f"picked as number {row['order']}" if row["order"] else f"nearest pick {row['nearest']}"
        leads = (listed.link(name), listed.picture(name)) if there else ("", "")
        spots[name] = Spot(f"{name}: {told}", *leads)
    plates, pool = [], _thinned(selection.pool)
    drawn = f"n = {count(selection.pool.height, 'picture')}" + (
        f", {pool.height} of them drawn" if pool.height < selection.pool.height else ""
    )
    for across, up in _pairs(list(units)):
        frame = pool.select("picture", "order", x=across, y=up)
        name = f"{stem}-{across}-{up}".replace("_", "-")
        words = [f"{word.replace('_', ' ')} ({units[word]})" for word in (across, up)]
        alt = f"The pool by {across} and {up}, with the picks marked"
        drawing = spreads.pool_scatter(frame, name=name, alt=alt, x=words[0], y=words[1], spots=spots)
        heading = f"{across} and {up}".replace("_", " ")
        plates.append(Plate(name, heading, f"{drawn}.", frame, drawing))
    return Section("pool", "The pool", [Prose("Point at a picture's point to see it.", "small"), Plates(plates)])


def _thinned(pool: pl.DataFrame) -> pl.DataFrame:
    """All picks and, of the others, every k-th by name, so that about `_MOST_POINTS` are left."""
    step = -(-pool["order"].null_count() // _MOST_POINTS) or 1
    rest = pl.col("order").is_null().cum_sum() % step != 0
    return pool.filter(pl.col("order").is_not_null() | ~rest) if step > 1 else pool


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Which properties share a plot: the usual pairs, then what is left, each with the next (or the first)."""
    pairs = [pair for pair in _PAIRS if pair[0] in names and pair[1] in names]
    left = [name for name in names if not any(name in pair for pair in pairs)]
    pairs += list(zip(left[::2], left[1::2], strict=False))
    if len(left) % 2 and len(names) > 1:
        pairs.append((left[-1], next(name for name in names if name != left[-1])))
    return pairs


def _everything(selection: Selected, shown: pl.DataFrame, listed: Listed, stem: str) -> Section:
    properties = selection.ranges["property"].to_list()
    decimals = {name: decimals_for([], selection.pool[name].to_list()) for name in properties}
    facts = [name for name in ("category", "colour", "detail", "region", "century") if _known(shown, name)]
    rows = []
    for row in shown.iter_rows(named=True):
        computed = (row.get("computed") or "").split()
        cells = [Cell("\N{EN DASH}" if row["order"] is None else str(row["order"]), sort=row["order"])]
        for name in facts:
            cells.append(Cell("" if row[name] is None else f"{row[name]}{'*' if name in computed else ''}"))
        cells += [Cell(fixed(row[name], decimals[name]), sort=row[name]) for name in properties]
        cells.append(Cell(fixed(row["distance"], 2), sort=row["distance"]))
        rows.append(listed.row(row["picture"], cells))
    heads = [
        Head("Picture", kind="text"),
        Head("Pick"),
        *(Head(name.capitalize(), kind="text") for name in facts),
        *(Head(name.replace("_", " ").capitalize()) for name in properties),
        Head("Distance", "from its pick"),
    ]
    starred = " An asterisk marks a level that was computed from the picture." if facts else ""
    caption = f"{count(shown.height, 'picture')} of {selection.pool.height}, picks first.{starred}"
    table = Table(caption, heads, rows, csv=f"figures/{stem}-pool.csv", frame=selection.pool)
    return Section("pictures", "Every picture", [table])


def _known(frame: pl.DataFrame, name: str) -> bool:
    return name in frame.columns and frame[name].null_count() < frame.height


def _how(selection: Selected) -> Section:
    by_hand = selection.picked.filter(pl.col("fixed"))["picture"].to_list()
    text = f"Rule: {selection.how}: {_RULES.get(selection.how, 'a rule of its own')}. Properties were measured at a longer "
    text += f"side of {selection.side} pixels and standardised over the pool."
    if by_hand:
        text += f" Kept by hand: {joined(by_hand)}."
    entries: list[tuple[str, str]] = [
        ("light, contrast", "mean and standard deviation of the luma"),
        ("colourfulness, hue spread", "strength of the colours, and how far their hues disagree"),
        ("si, gradient, edges", "spread and mean of the edge strength, share of pixels on thin edges"),
        ("busyness", "share of the picture filled with fine structure"),
    ]
    return how_section("How it was chosen", text, selection.notes, entries)
