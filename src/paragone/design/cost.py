"""What a plan asks of people, and how evenly it shows things, before anybody is paid."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from ..benchmark import BROKEN, Benchmark
from ..errors import UnknownName
from ..plan import Plan
from .pairs import n_components
from .settings import Study

__all__ = ["Cost", "cost", "exposures", "islands"]


@dataclass(frozen=True)
class Cost:
    """The bill of a plan."""

    frame: pl.DataFrame
    """One row per stage: stage, sheets, comparisons (main and repeat trials), checks, trials (on the longest sheet, all
    kinds), minutes (of the longest sheet, breaks aside), recruit (people to invite so that the sheets are filled
    after screening), islands (parts that the stage alone leaves the items in; null for ratings)."""
    exposures: pl.DataFrame
    """One row per stage and pair of factors (`compare` x each of `group`, and the item itself): stage, what, cells,
    least, mean, most, spread (largest distance from the mean as a share of it)."""
    islands: int | None
    """Parts that all stages of pairs together leave the items in; None where there is none."""

    @property
    def text(self) -> str:
        """A few plain lines for the terminal."""
        lines = [
            f"stage {row['stage']}: {row['sheets']} sheets, {row['comparisons']} judgements, {row['checks']} checks; "
            f"{row['trials']} trials and {row['minutes']:.1f} minutes a sheet; invite {row['recruit']} people"
            + ("" if row["islands"] is None else f"; {row['islands']} connected part{'s' * (row['islands'] != 1)}")
            for row in self.frame.iter_rows(named=True)
        ]
        lines += [
            f"stage {row['stage']}, times each {row['what']} is shown: {row['least']:g} to {row['most']:g}, "
            f"mean {row['mean']:.1f} (within {100 * row['spread']:.1f} %)"
            for row in self.exposures.iter_rows(named=True)
        ]
        if self.islands is not None:
            lines.append(f"all stages together: {self.islands} connected part{'s' * (self.islands != 1)}")
        return "\n".join(lines)


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
            }
        )
        cells = ["item"] + [f"{stage.compare} x {factor}" for factor in stage.group if stage.compare]
        for what in cells:
            factors = what.split(" x ") if what != "item" else ["item"]
            shown.append({"stage": name, "what": what, **_spread(exposures(plan, benchmark, factors, stage=name))})
    return Cost(pl.DataFrame(rows), pl.DataFrame(shown), islands(plan, benchmark))


def _spread(frame: pl.DataFrame) -> dict[str, float]:
    shown = frame["shown"].to_numpy().astype(np.float64)
    mean = float(shown.mean())
    spread = float(np.abs(shown - mean).max() / mean) if mean else math.nan
    return {
        "cells": shown.size,
        "least": float(shown.min()),
        "mean": mean,
        "most": float(shown.max()),
        "spread": spread,
    }


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
    kinds = ["main"] if main_only else ["main", "repeat"]
    part = plan.frame.filter(pl.col("kind").is_in(kinds))
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
    items = benchmark.items
    if BROKEN in benchmark.factors:
        items = items.filter(pl.col(BROKEN).is_null())
    row = {item: index for index, item in enumerate(items["item"].to_list())}
    ends = [np.array([row[item] for item in pairs[side].to_list()], dtype=np.int64) for side in ("left", "right")]
    return n_components(items.height, ends[0], ends[1])
