"""What the answers look like: checks, times, sides, repeats and the effect of the place in the sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .numbers import Number, share_number

__all__ = ["CheckRow", "Third", "check_rates", "checks", "joined", "left_share", "position_effect", "time_histogram"]

Floats = NDArray[np.float64]

_KEPT = ("trial", "sheet", "session", "stage", "position", "kind", "left", "right", "item", "expected", "repeat_of")
_EDGES = (0.0, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 45, 60)  # seconds; finer where people answer
_THIRDS = ("first third", "middle third", "last third")


def joined(answers: pl.DataFrame, plan: pl.DataFrame) -> pl.DataFrame:
    """Return the answers that count beside what was asked.

    Args:
        answers: lease, participant, trial, criterion, revision, value, seconds, at, excluded; of several revisions of
            one lease, trial and criterion the last counts.
        plan: the trials; `check` is null where the plan has no such column.

    Returns:
        One row per lease, trial and criterion with the columns of both and `share` (the place in the sheet, in
        (0, 1)); answers to trials that the plan does not have are left out.
    """
    last = answers.sort("revision", maintain_order=True).unique(
        ["lease", "trial", "criterion"], keep="last", maintain_order=True
    )
    length = plan.group_by("sheet").agg(pl.col("position").max().alias("length"))
    check = pl.col("check") if "check" in plan.columns else pl.lit(None, dtype=pl.String).alias("check")
    shown = plan.select(*_KEPT, check).join(length, on="sheet")
    share = (pl.col("position") - 0.5) / pl.col("length")
    return last.join(shown, on="trial", how="inner", maintain_order="left").with_columns(share=share).drop("length")


def checks(asked: pl.DataFrame, tolerance: Mapping[str, Mapping[str, float]]) -> pl.DataFrame:
    """Return every check that somebody met, judged.

    A check is right where every answered criterion is right. One without a known right answer, or whose answer
    cannot be read, is unknown: it is never counted as failed.

    Args:
        asked: as from `joined`.
        tolerance: stage -> check ('instructed', 'broken') -> how far a rating may lie from the right one.

    Returns:
        lease, participant, stage, session, trial, check ('instructed' or 'broken'; a plan that does not say means
        broken), right (null: unknown), seconds, at.
    """
    rows = asked.filter(pl.col("kind") == "check").with_columns(check=pl.col("check").fill_null("broken"))
    limits = pl.DataFrame(
        [(stage, check, limit) for stage, each in tolerance.items() for check, limit in each.items()],
        schema={"stage": pl.String, "check": pl.String, "limit": pl.Float64},
        orient="row",
    )
    rows = rows.join(limits, on=["stage", "check"], how="left", maintain_order="left")
    given, wanted = (pl.col(name).cast(pl.Float64, strict=False) for name in ("value", "expected"))
    near = (given - wanted).abs() <= pl.col("limit").fill_null(0.0) + 1e-9
    right = pl.when(pl.col("item").is_null()).then(pl.col("value") == pl.col("expected")).otherwise(near)
    keys = ["lease", "participant", "stage", "session", "trial", "check"]
    return (
        rows.with_columns(right=right)
        .group_by(keys, maintain_order=True)
        .agg(
            pl.when(pl.col("right").eq(False).any()).then(False).when(pl.col("right").is_null().any()).then(None)
            .otherwise(True).first().alias("right"),
            pl.col("seconds").sum(),
            pl.col("at").max(),
        )
    )  # fmt: skip


@dataclass(frozen=True)
class CheckRow:
    """How one kind of check went in one stage."""

    stage: str
    check: str
    """instructed (may refuse pay) or broken (may only exclude data)."""
    passed: Number
    """Share passed of those with a known outcome."""
    failed: int
    unknown: int
    people: int
    """People who met one."""
    failed_by: int
    """People who failed one or more."""


def check_rates(judged: pl.DataFrame) -> list[CheckRow]:
    """Return the pass rate of each stage and kind of check; unknown ones count on neither side.

    Args:
        judged: as from `checks`.
    """
    made = []
    for (stage, check), part in judged.sort("stage", "check").group_by("stage", "check", maintain_order=True):
        known = part.filter(pl.col("right").is_not_null())
        each = known.group_by("participant").agg(pl.col("right").sum().alias("hits"), pl.len().alias("of"))
        made.append(
            CheckRow(
                stage=str(stage),
                check=str(check),
                passed=share_number(each["hits"].to_numpy(), each["of"].to_numpy(), note="checks passed"),
                failed=int((~known["right"]).sum()),
                unknown=part.height - known.height,
                people=part["participant"].n_unique(),
                failed_by=known.filter(~pl.col("right"))["participant"].n_unique(),
            )
        )
    return made


def time_histogram(asked: pl.DataFrame, *, edges: Sequence[float] = _EDGES) -> pl.DataFrame:
    """Return how long answers took, kept and excluded apart.

    Args:
        asked: as from `joined`, with `excluded`; checks, training and repeats count as well.
        edges: rising edges in seconds; the last bin is open.

    Returns:
        low, high (null: open), kept, excluded.
    """
    known = asked.filter(pl.col("seconds").is_not_null() & (pl.col("seconds") >= 0))
    bounds = np.asarray([*edges, np.inf])
    counted = {
        name: np.histogram(known.filter(pl.col("excluded") == flag)["seconds"].to_numpy(), bins=bounds)[0]
        for name, flag in (("kept", False), ("excluded", True))
    }
    high = [*edges[1:], None]
    return pl.DataFrame(
        {"low": list(edges), "high": high, **{name: counts.astype(np.int64) for name, counts in counted.items()}},
        schema_overrides={"low": pl.Float64, "high": pl.Float64},
    )


def left_share(asked: pl.DataFrame) -> list[tuple[str, Number]]:
    """Return, stage by stage, the share of left among decided answers to pairs; checks left out."""
    pairs = _scored(asked).filter(pl.col("value").is_in(["left", "right"]) & pl.col("left").is_not_null())
    made = []
    for (stage,), part in pairs.sort("stage").group_by("stage", maintain_order=True):
        each = part.group_by("participant").agg((pl.col("value") == "left").sum().alias("k"), pl.len().alias("n"))
        made.append((str(stage), share_number(each["k"].to_numpy(), each["n"].to_numpy(), note="left chosen")))
    return made


def _scored(asked: pl.DataFrame) -> pl.DataFrame:
    return asked.filter(~pl.col("excluded") & pl.col("kind").is_in(["main", "repeat"]))


@dataclass(frozen=True)
class Third:
    """Answers of one third of the sheets."""

    stage: str
    part: str
    left: Number
    """Share of left among decided answers (pairs); unknown for ratings."""
    offset: Number
    """Mean rating minus the item's and the person's mean (ratings); unknown for pairs."""
    seconds: float | None
    """Median seconds a question."""
    n: int


def position_effect(asked: pl.DataFrame) -> list[Third]:
    """Return how answers change along the sheet, third by third.

    Args:
        asked: as from `joined`.

    Returns:
        For pairs the share of left, for ratings the mean of what is left of a rating after the item's mean and the
        person's mean deviation are taken off; intervals know that answers of one person hang together.
    """
    rows = _scored(asked).with_columns(third=(pl.col("share") * 3).floor().cast(pl.Int64).clip(0, 2))
    value = pl.col("value").cast(pl.Float64, strict=False)
    rows = rows.with_columns(number=pl.when(pl.col("item").is_not_null()).then(value))
    away = pl.col("number") - pl.col("number").mean().over("stage", "criterion", "item")
    rows = rows.with_columns(away=away)
    rows = rows.with_columns(away=pl.col("away") - pl.col("away").mean().over("stage", "criterion", "participant"))
    made = []
    for (stage, third), part in rows.sort("stage", "third").group_by("stage", "third", maintain_order=True):
        decided = part.filter(pl.col("value").is_in(["left", "right"]) & pl.col("left").is_not_null())
        each = decided.group_by("participant").agg((pl.col("value") == "left").sum().alias("k"), pl.len().alias("n"))
        seconds = part["seconds"].median()
        made.append(
            Third(
                stage=str(stage),
                part=_THIRDS[int(str(third))],
                left=share_number(each["k"].to_numpy(), each["n"].to_numpy(), note="left chosen"),
                offset=_mean_by_person(part.filter(pl.col("away").is_not_null())),
                seconds=None if seconds is None else float(str(seconds)),
                n=part.height,
            )
        )
    return made


def _mean_by_person(part: pl.DataFrame) -> Number:
    """Mean of `away` with a normal interval over people (ratio of sums, people as clusters)."""
    if not part.height:
        return Number.unknown("no ratings here")
    sums = part.group_by("participant").agg(pl.col("away").sum().alias("s"), pl.len().alias("m"))
    s, m = sums["s"].to_numpy().astype(np.float64), sums["m"].to_numpy().astype(np.float64)
    mean = float(s.sum() / m.sum())
    if len(s) < 2:
        return Number(mean, n=part.height, note="one person: no interval")
    spread = float(np.sqrt(len(s) / (len(s) - 1) * ((s - mean * m) ** 2).sum()) / m.sum())
    return Number(mean, mean - 1.96 * spread, mean + 1.96 * spread, part.height)
