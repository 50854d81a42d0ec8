"""`natural_page`: how generated pictures differ from natural ones in five attributes, as one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from . import charts, spreads
from .blocks import Block, Cell, Head, Plate, Plates, Prose, Row, Section, Strip, Table
from .digits import count, decimals_for, fixed, joined, with_interval
from .index import slug
from .leaf import leaf_path, write_leaf
from .listed import MOST_ROWS, Listed, Measured, how_section

__all__ = ["Compared", "natural_page"]

_BINS = (8, 32)
_ENDS = 3  # pictures from either end of an attribute
_SAID = {"supported": "supported", "contradicted": "contradicted", "open": "left open"}
_NAMES = {"si": "SI", "light": "light", "contrast": "contrast", "colourfulness": "colourfulness", "blur": "blur"}
_LONG = {"si": "SI, spatial information", "blur": "blur, 0 sharp to 1 blurred"}
_HEADS = {
    "mean difference": Head("Mean difference", "generated minus natural"),
    "median difference": Head("Median difference", "generated minus natural"),
    "wasserstein": Head("Wasserstein", "distance, in the same unit"),
    "gaussian generated": Head("Generated from Gaussian", "distance, deviations"),
    "gaussian natural": Head("Natural from Gaussian", "distance, deviations"),
}


class Compared(Measured, Protocol):
    """What the page reads of a comparison; `make.natural` gives it."""

    @property
    def pictures(self) -> pl.DataFrame:
        """One row per picture: picture, image, origin, generator, prompt, and one column per attribute."""
        ...

    @property
    def table(self) -> pl.DataFrame:
        """One row per attribute, generator and statistic: unit, value, low, high, chance, n_generated, n_natural, units."""
        ...

    @property
    def claims(self) -> pl.DataFrame:
        """One row per claim and generator: claim, attribute, generator, verdict, value, low, high."""
        ...

    @property
    def resizer(self) -> str:
        """Name of the resizer."""
        ...

    @property
    def layout(self) -> str:
        """Where the natural pictures come from."""
        ...

    @property
    def level(self) -> float:
        """Of the intervals."""
        ...

    @property
    def replicates(self) -> int:
        """Of the bootstrap."""
        ...

    @property
    def resampled(self) -> str:
        """What was drawn again."""
        ...


def natural_page(comparison: Compared, path: str | Path, *, title: str = "Generated and natural pictures") -> Path:
    """Write a page with the distributions of five attributes, their differences, and the verdicts on the claims.

    Args:
        comparison: what was measured.
        path: the page, ending in .html; or a folder, in which it is called natural.html.
        title: of the page.

    Returns:
        Where the page lies; `figures/` with every figure as SVG and CSV and the tables as CSV, all named after the page, is
        beside it, so that several pages may share a folder.

    Raises:
        BadInput: the path has an ending that is not .html.
        MissingExtra: matplotlib or jinja2 is not installed.
    """
    path = leaf_path(path, "natural.html")
    stem = slug(path.stem)
    attributes = comparison.table["attribute"].unique(maintain_order=True).to_list()
    pictures = comparison.pictures.with_columns(key=pl.concat_str([pl.col("origin"), pl.lit(": "), pl.col("picture")]))
    ends = _ends(pictures, [name for name in ("blur", "si") if name in attributes])
    first = [key for keys in ends.values() for key in keys]
    order = list(dict.fromkeys([*first, *pictures["key"]]))[:MOST_ROWS]
    images = dict(pictures.select("key", "image").iter_rows())
    listed = Listed.of({key: Path(images[key]) for key in order})
    sections = [
        _answer(comparison, attributes),
        _panels(comparison, attributes, pictures, stem),
        _differences(comparison, attributes, stem),
        _per_generator(comparison, stem),
        _examples(ends, pictures, listed),
        _everything(pictures, attributes, listed, stem),
        _how(comparison),
    ]
    return write_leaf(path, [part for part in sections if part.blocks], title=title, sources=listed.sources)


def _answer(comparison: Compared, attributes: list[str]) -> Section:
    whole = comparison.claims.filter(pl.col("generator").is_null())
    counts = dict(comparison.pictures.group_by("origin").len().iter_rows())
    blocks: list[Block] = []
    for row in whole.iter_rows(named=True):
        value = with_interval(row["value"], row["low"], row["high"])
        blocks.append(
            Prose(
                f"'{row['claim'].capitalize()}' is {_SAID[row['verdict']]}: mean {_NAMES.get(row['attribute'])} of "
                f"generated minus natural pictures {value}.",
                "lead",
            )
        )
    told = [name for name in attributes if _told_apart(comparison, name)]
    apart = joined([_NAMES.get(name, name) for name in told])
    blocks.append(
        Prose(
            f"{count(counts.get('generated', 0), 'generated picture')} and "
            f"{count(counts.get('natural', 0), 'natural one')}. "
            + (
                f"Distributions farther apart than chance gives: {apart}."
                if told
                else "No attribute's distributions are farther apart than chance gives."
            )
        )
    )
    blocks += [Prose(f"{note[0].upper()}{note[1:]}.", "warn") for note in comparison.notes if "rough" in note]
    return Section("answer", "What was found", blocks)


def _told_apart(comparison: Compared, attribute: str) -> bool:
    row = _row(comparison, attribute, "wasserstein")
    return bool(row["value"] > row["chance"])


def _row(comparison: Compared, attribute: str, statistic: str) -> dict[str, Any]:
    rows = comparison.table.filter(
        pl.col("generator").is_null() & (pl.col("attribute") == attribute) & (pl.col("statistic") == statistic)
    )
    return rows.row(0, named=True)


def _panels(comparison: Compared, attributes: list[str], pictures: pl.DataFrame, stem: str) -> Section:
    plates = []
    for attribute in attributes:
        row = _row(comparison, attribute, "wasserstein")
        frame, marks = _bins(pictures, attribute)
        name = f"{stem}-{attribute}"
        axis = _LONG.get(attribute, attribute) + (f" ({row['unit']})" if row["unit"] else "")
        alt = f"Distributions of {attribute} of natural and generated pictures"
        drawing = spreads.densities(frame, name=name, alt=alt, axis=axis, marks=marks)
        decimals = decimals_for([(row["high"] - row["low"]) / 2])
        distance = with_interval(row["value"], row["low"], row["high"], decimals)
        caption = (
            f"Wasserstein distance {distance}, chance up to {fixed(row['chance'], decimals)}; n = {row['n_generated']} "
            f"generated, {row['n_natural']} natural."
        )
        heading = _NAMES.get(attribute, attribute)
        plates.append(Plate(name, heading[0].upper() + heading[1:], caption, frame, drawing))
    return Section("distributions", "Five distributions", [Plates(plates)])


def _bins(pictures: pl.DataFrame, attribute: str) -> tuple[pl.DataFrame, Mapping[str, float]]:
    """Shares of both sets in common bins, and their means."""
    sets = {
        origin: pictures.filter(pl.col("origin") == origin)[attribute].drop_nulls().to_numpy()
        for origin in ("natural", "generated")
    }
    both = np.concatenate(list(sets.values()))
    low, high = float(both.min()), float(both.max())
    if high <= low:
        low, high = low - 0.5, high + 0.5
    wide = 2.0 * float(np.subtract(*np.percentile(both, [75, 25]))) / len(both) ** (1 / 3)
    number = int(np.clip(np.ceil((high - low) / wide), *_BINS)) if wide > 0 else _BINS[0]
    edges = np.linspace(low, high, number + 1)
    shares = {origin: np.histogram(values, edges)[0] / len(values) for origin, values in sets.items()}
    frame = pl.DataFrame({"low": edges[:-1], "high": edges[1:], **shares})
    return frame, {origin: float(values.mean()) for origin, values in sets.items()}


def _differences(comparison: Compared, attributes: list[str], stem: str) -> Section:
    statistics = comparison.table["statistic"].unique(maintain_order=True).to_list()
    verdicts = {
        row["attribute"]: row["verdict"]
        for row in comparison.claims.filter(pl.col("generator").is_null()).iter_rows(named=True)
    }
    rows = []
    for attribute in attributes:
        cells = [Cell(_NAMES.get(attribute, attribute)), Cell(_row(comparison, attribute, "wasserstein")["unit"])]
        for statistic in statistics:
            row = _row(comparison, attribute, statistic)
            cells.append(_cell(row))
        cells.append(Cell(verdicts.get(attribute, "")))
        rows.append(Row(cells))
    heads = [
        Head("Attribute", kind="text"),
        Head("Unit", kind="text"),
        *(_HEADS.get(word, Head(word)) for word in statistics),
        Head("Verdict", "is there more of it?", kind="text"),
    ]
    one = _row(comparison, attributes[0], "wasserstein")
    caption = (
        f"All generators together, n = {one['n_generated']} generated and {one['n_natural']} natural pictures; "
        f"{100 * comparison.level:g} % intervals. A distance whose interval begins at 0 is no larger than chance gives."
    )
    table = Table(caption, heads, rows, csv=f"figures/{stem}-statistics.csv", frame=comparison.table)
    return Section("differences", "Differences", [table])


def _telling(ends: Sequence[float | None], widths: pl.Series) -> int:
    """Decimals for a column of intervals: one or two more where an end would be rounded to a 0 that it is not."""
    decimals = decimals_for((widths / 2).to_list())
    sizes = [abs(end) for end in ends if end]
    return decimals + next((more for more in (0, 1) if min(sizes, default=1) >= 0.5 * 10 ** -(decimals + more)), 2)


def _cell(row: Mapping[str, Any], decimals: int | None = None) -> Cell:
    low, high = row["low"], row["high"]
    known = low is not None and high is not None
    if decimals is None:
        decimals = decimals_for([(high - low) / 2 if known else None], [row["value"]])
    interval = f"[{fixed(low, decimals)}, {fixed(high, decimals)}]" if known else ""
    return Cell(fixed(row["value"], decimals), interval, sort=row["value"])


def _per_generator(comparison: Compared, stem: str) -> Section:
    claims = comparison.claims.drop_nulls("generator")
    if not claims.height:
        return Section("generators", "Each generator")
    plates = []
    rows = []
    for claim in claims["claim"].unique(maintain_order=True):
        part = claims.filter(pl.col("claim") == claim).sort("value", descending=True, nulls_last=True)
        attribute = part["attribute"][0]
        frame = part.select(
            "low",
            "high",
            "verdict",
            label="generator",
            score="value",
            rank_low=pl.lit(None, dtype=pl.Int64),
            rank_high=pl.lit(None, dtype=pl.Int64),
        )
        unit = _row(comparison, attribute, "wasserstein")["unit"]
        name = f"{stem}-generators-{attribute}"
        axis = f"mean {_NAMES.get(attribute, attribute)}, generated minus natural" + (f" ({unit})" if unit else "")
        drawing = charts.intervals(frame, name=name, alt=f"{claim}, by generator", axis=axis, origin=0.0)
        heading = f"{claim[0].upper()}{claim[1:]}?"
        caption = "Right of the line: yes, where the whole interval is."
        plates.append(Plate(name, heading, caption, frame, drawing))
        decimals = _telling([*part["low"], *part["high"]], part["high"] - part["low"])
        for row in part.iter_rows(named=True):
            rows.append(Row([Cell(row["generator"]), Cell(claim), _cell(row, decimals), Cell(row["verdict"])]))
    heads = [
        Head("Generator", kind="text"),
        Head("Claim", kind="text"),
        Head("Mean difference", "generated minus natural"),
        Head("Verdict", kind="text"),
    ]
    table = Table(
        "Claims, each generator alone", heads, rows, csv=f"figures/{stem}-claims.csv", frame=comparison.claims
    )
    return Section("generators", "Each generator", [Plates(plates), table])


def _ends(pictures: pl.DataFrame, attributes: list[str]) -> dict[str, list[str]]:
    """For a heading each: the pictures with the least and the most of an attribute."""
    found = {}
    for attribute in attributes:
        for origin in ("generated", "natural"):
            keys = (
                pictures.filter(pl.col("origin") == origin)
                .drop_nulls(attribute)
                .sort(attribute, "key")["key"]
                .to_list()
            )
            ends = keys if len(keys) <= 2 * _ENDS else [*keys[:_ENDS], *keys[-_ENDS:]]
            found[f"{attribute}\0{origin}"] = ends
    return found


def _examples(ends: Mapping[str, list[str]], pictures: pl.DataFrame, listed: Listed) -> Section:
    blocks: list[Block] = []
    for heading, keys in ends.items():
        attribute, origin = heading.split("\0")
        values = dict(pictures.select("key", attribute).iter_rows())
        decimals = decimals_for([], list(values.values()))
        tiles = [
            listed.tile(key, f"{_NAMES[attribute]} {fixed(values[key], decimals)}")
            for key in keys
            if key in listed.sources
        ]
        if tiles:
            blocks.append(Strip(f"{origin.capitalize()}: least and most {_NAMES[attribute]}", tiles))
    return Section("examples", "What the numbers look like", blocks)


def _everything(pictures: pl.DataFrame, attributes: list[str], listed: Listed, stem: str) -> Section:
    held = {row["key"]: row for row in pictures.iter_rows(named=True)}
    decimals = {name: decimals_for([], pictures[name].to_list()) for name in attributes}
    rows = []
    for key in listed.ids:
        row = held[key]
        values = [Cell(fixed(row[name], decimals[name]), sort=row[name]) for name in attributes]
        rows.append(listed.row(key, [Cell(row["generator"] or ""), *values]))
    heads = [Head("Picture", kind="text"), Head("Generator", kind="text")]
    heads += [Head(_NAMES.get(name, name)) for name in attributes]
    caption = f"{count(len(rows), 'picture')} of {pictures.height}"
    table = Table(caption, heads, rows, csv=f"figures/{stem}-pictures.csv", frame=pictures.drop("key", "image"))
    return Section("pictures", "Every picture", [table])


def _how(comparison: Compared) -> Section:
    source = {
        "koniq-10k": "Natural pictures are those of KonIQ-10k.",
        "folder": "Natural pictures are those of a folder.",
        "benchmark": "Natural pictures are items of a benchmark.",
    }
    text = (
        f"{source.get(comparison.layout, '')} Every picture was brought to a longer side of {comparison.side} pixels by "
        f"'{comparison.resizer}', since blur and SI depend on size. Intervals come from {comparison.replicates} resamples "
        f"of {comparison.resampled}, as percentiles widened for few units. A claim is supported where the whole interval "
        "of the mean difference is above 0, contradicted where it is below, else open. Chance: the 95 % point when "
        "pictures are dealt to the two sets at random, or of samples of that size from a Gaussian."
    )
    entries = [
        ("light, contrast", "mean and standard deviation of the luma, 0 to 255"),
        ("colourfulness", "Hasler and Süsstrunk's M3"),
        ("blur", "Crete et al.: 0 sharp, 1 blurred"),
        ("SI", "standard deviation of the Sobel gradient, ITU-T P.910"),
        ("Wasserstein distance", "how far values must move, on average, to turn one distribution into the other"),
        ("distance from a Gaussian", "the same, from a Gaussian of equal mean and deviation, in deviations"),
    ]
    notes = [f"{note[0].upper()}{note[1:]}" for note in comparison.notes]
    return how_section("How it was measured", text, notes, entries)
