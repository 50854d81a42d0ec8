"""What a plan asks of people, and how evenly it shows things, before anybody is paid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..benchmark import BROKEN, Benchmark
from ..errors import UnknownName
from ..plan import Plan
from .missing import least_possible, lost_sheets, worst_missing
from .pairs import n_components
from .settings import Study
from .survive import Survival, survives

__all__ = ["Cost", "cost", "exposures", "islands"]

Ints = NDArray[np.int64]

_LARGEST = 10_000_000  # our choice: counts of cells on sheets that are kept at most


@dataclass(frozen=True)
class Cost:
    """The bill of a plan."""

    frame: pl.DataFrame
    """One row per stage, of an adaptive one for what has been dealt so far: stage, sheets, comparisons (main and repeat
    trials), checks, trials (on the longest sheet, all kinds), minutes (of the longest sheet, breaks aside), recruit
    (people to invite so that the sheets are filled after screening), islands (parts that the stage alone leaves the items
    in; null for ratings), survives (whether these parts stay whole whichever `missing` sheets are missing: proved, open
    or broken, as in `Survival`; null for ratings), missing (5 % of the sheets, at least one)."""
    exposures: pl.DataFrame
    """One row per stage and pair of factors (`compare` x each of `group`, and the item itself): stage, what, cells,
    least, mean, most, spread (largest distance from the mean as a share of it), missing (5 % of the stage's sheets, at
    least one), worst (the same distance in what is left, for each cell the worst choice of up to so many sheets: exact),
    possible (the least that `worst` could be, since a sheet shows a cell a whole number of times). The last two are null
    where nothing would be left, or there are more than ten million counts of cells on sheets.

    A plan aims at a spread within 5 %, or 1 showing, and a worst within 10 % for cells of two factors. Where a cell is
    shown on few sheets `possible` is beyond that: an item shown 20 times loses a tenth of them with any two sheets."""
    islands: int | None
    """Parts that all stages of pairs together leave the items in; None where there is none."""
    survival: Survival | None
    """Whether these parts stay whole when 5 % of all sheets of pairs are missing, whichever they are; None where there is
    none."""

    @property
    def text(self) -> str:
        """A few plain lines for the terminal."""
        lines = [
            f"stage {row['stage']}: {row['sheets']} sheets, {row['comparisons']} judgements, {row['checks']} checks; "
            f"{row['trials']} trials and {row['minutes']:.1f} minutes a sheet; invite {row['recruit']} people"
            + ("" if row["islands"] is None else f"; {_in_parts(row['islands'])}")
            for row in self.frame.iter_rows(named=True)
        ]
        lines += [
            f"stage {row['stage']}, times each {row['what']} is shown: {row['least']:g} to {row['most']:g}, "
            f"mean {row['mean']:.1f} (within {100 * row['spread']:.1f} %{_when_missing(row)})"
            for row in self.exposures.iter_rows(named=True)
        ]
        if self.islands is not None:
            lines.append(f"all stages together: {_in_parts(self.islands)}")
        if self.survival is not None:
            lines.append(_in_words(self.survival))
        return "\n".join(lines)


def _in_parts(islands: int) -> str:
    return f"{islands} connected part{'s' * (islands != 1)}"


def _when_missing(row: Mapping[str, Any]) -> str:
    if row["worst"] is None:
        return ""
    sheets = f"sheet{'s' * (row['missing'] != 1)}"
    least = "" if row["worst"] <= 0.1 else f", where {100 * row['possible']:.1f} % is the least possible"
    return f"; {100 * row['worst']:.1f} % with any {row['missing']} {sheets} missing{least}"


def _in_words(survival: Survival) -> str:
    without = f"{survival.missing} of {survival.sheets} sheets"
    if survival.verdict == "proved":
        return f"no part falls apart, whichever {without} are missing (proved: {survival.how})"
    if survival.verdict == "broken":
        return f"a part falls apart without some {without} ({survival.how}); more participants or trials help"
    return f"whether a part could fall apart without {without} is not known: {survival.how}"


def cost(plan: Plan, benchmark: Benchmark, study: Study) -> Cost:
    """Return what the plan asks of people and how evenly it shows the items.

    Args:
        plan: sheets made from the study.
        benchmark: the items it shows.
        study: the settings behind it; gives seconds per trial and the share kept.
    """
    rows, shown = [], []
    for stage, name in zip(study.stage, study.stage_names, strict=True):
        part = plan.frame.filter(pl.col("stage") == name)
        longest = int(part.group_by("sheet").len()["len"].max() or 0)  # type: ignore[arg-type]
        sheets = part["sheet"].n_unique()
        kinds = part["kind"].value_counts()
        count = dict(zip(kinds["kind"].to_list(), kinds["count"].to_list(), strict=True))
        stays = _survival(plan, benchmark, [name])
        rows.append(
            {
                "stage": name,
                "sheets": sheets,
                "comparisons": count.get("main", 0) + count.get("repeat", 0),
                "checks": count.get("check", 0),
                "trials": longest,
                "minutes": longest * study.seconds_per_trial / 60,
                "recruit": math.ceil(stage.participants / study.kept - 1e-9),
                "islands": islands(plan, benchmark, [name]),
                "survives": stays.verdict if stays else None,
                "missing": lost_sheets(sheets),
            }
        )
        cells = ["item"] + [
            f"{stage.compare} x {factor}" for factor in stage.group if stage.compare not in ("", factor)
        ]
        for what in cells:
            factors = what.split(" x ") if what != "item" else ["item"]
            shown.append({"stage": name, "what": what, **_spread(plan, benchmark, factors, name, sheets)})
    table = pl.DataFrame(shown).with_columns(pl.col("spread", "worst", "possible").fill_nan(None))
    return Cost(pl.DataFrame(rows), table, islands(plan, benchmark), _survival(plan, benchmark))


def _spread(plan: Plan, benchmark: Benchmark, factors: list[str], stage: str, sheets: int) -> dict[str, float]:
    frame = exposures(plan, benchmark, factors, stage=stage)
    shown = frame["shown"].to_numpy().astype(np.float64)
    mean = float(shown.mean())
    missing = lost_sheets(sheets)
    worst = possible = math.nan
    if sheets * shown.size <= _LARGEST:
        worst = worst_missing(_on_sheets(plan, benchmark, frame.select(factors), stage), missing)
        possible = least_possible(frame["shown"].to_numpy(), sheets, missing)
    return {
        "cells": shown.size,
        "least": float(shown.min()),
        "mean": mean,
        "most": float(shown.max()),
        "spread": float(np.abs(shown - mean).max() / mean) if mean else math.nan,
        "missing": missing,
        "worst": worst,
        "possible": possible,
    }


def _on_sheets(plan: Plan, benchmark: Benchmark, cells: pl.DataFrame, stage: str) -> Ints:
    """(sheets, cells) how often each sheet of a stage shows each cell in main and repeat trials."""
    part = _counted(plan).filter(pl.col("stage") == stage).with_columns(at=pl.col("sheet").rank("dense") - 1)
    shown = pl.concat([part.select("at", pl.col(side).alias("item")) for side in ("left", "right", "item")])
    numbered = cells.with_row_index("cell")
    items = benchmark.items.join(numbered, on=cells.columns, how="inner", nulls_equal=True).select("item", "cell")
    met = shown.drop_nulls("item").join(items, on="item", how="inner")
    flat = met["at"].to_numpy().astype(np.int64) * cells.height + met["cell"].to_numpy().astype(np.int64)
    sheets = int(part["at"].max()) + 1  # type: ignore[arg-type]
    return np.bincount(flat, minlength=sheets * cells.height).reshape(sheets, cells.height)


def _counted(plan: Plan) -> pl.DataFrame:
    return plan.frame.filter(pl.col("kind").is_in(["main", "repeat"]))


def exposures(
    plan: Plan, benchmark: Benchmark, factors: list[str], *, stage: str | None = None, main_only: bool = False
) -> pl.DataFrame:
    """Return how often each cell of some factors is shown in main and repeat trials.

    Args:
        plan: the trials.
        benchmark: the items with their factors.
        factors: factor names, or 'item'.
        stage: count only this stage; None: all.
        main_only: leave repeats out.

    Returns:
        The factors' levels, and `shown` (a pair shows two items, a rating one); cells that are never shown have 0.

    Raises:
        UnknownName: no such factor.
    """
    for factor in factors:
        if factor not in ("item", *benchmark.factors):
            raise UnknownName.among(factor, ["item", *benchmark.factors], "factor")
    part = _counted(plan).filter(pl.col("kind") == "main") if main_only else _counted(plan)
    if stage is not None:
        part = part.filter(pl.col("stage") == stage)
    shown = pl.concat([part[side].rename("item") for side in ("left", "right", "item")]).drop_nulls()
    counts = shown.to_frame().group_by("item").agg(pl.len().alias("shown"))
    broken = pl.col(BROKEN).is_null() if BROKEN in benchmark.factors else pl.lit(True)
    items = (
        benchmark.items.filter(broken).join(counts, on="item", how="left").with_columns(pl.col("shown").fill_null(0))
    )
    return items.group_by(factors).agg(pl.col("shown").sum().cast(pl.Int64)).sort(factors)


def islands(plan: Plan, benchmark: Benchmark, stages: list[str] | None = None) -> int | None:
    """Return into how many parts the main and repeat pairs leave the items to be judged; None where there are no pairs.

    Args:
        plan: the trials.
        benchmark: its items; broken versions do not count.
        stages: names of the stages that count; None: all.
    """
    pairs = plan.frame.filter(pl.col("left").is_not_null() & pl.col("kind").is_in(["main", "repeat"]))
    if stages is not None:
        pairs = pairs.filter(pl.col("stage").is_in(stages))
    if pairs.height == 0:
        return None
    n, a, b = _ends(pairs, benchmark)
    return n_components(n, a, b)


def _ends(pairs: pl.DataFrame, benchmark: Benchmark) -> tuple[int, Ints, Ints]:
    """How many items are to be judged, and the two of each pair."""
    items = benchmark.items
    if BROKEN in benchmark.factors:
        items = items.filter(pl.col(BROKEN).is_null())
    row = {item: index for index, item in enumerate(items["item"].to_list())}
    a, b = (np.array([row[item] for item in pairs[side].to_list()], dtype=np.int64) for side in ("left", "right"))
    return items.height, a, b


def _survival(plan: Plan, benchmark: Benchmark, stages: list[str] | None = None) -> Survival | None:
    """What missing sheets of pairs do to the parts that the main pairs leave the items in."""
    pairs = plan.frame.filter(pl.col("left").is_not_null() & (pl.col("kind") == "main"))
    if stages is not None:
        pairs = pairs.filter(pl.col("stage").is_in(stages))
    if pairs.height == 0:
        return None
    # Stages are gone through side by side, so that a set of neighbouring sheets holds some of each.
    sheets = pairs.select("stage", "sheet").unique().sort("stage", "sheet")
    place = (pl.int_range(pl.len()) / pl.len()).over("stage")
    sheets = sheets.with_columns(place=place).sort("place", "stage").with_row_index("at").select("sheet", "at")
    at = pairs.join(sheets, on="sheet", maintain_order="left")["at"].to_numpy().astype(np.int64)
    n, a, b = _ends(pairs, benchmark)
    return survives(n, a, b, at, sheets.height, lost_sheets(sheets.height))
