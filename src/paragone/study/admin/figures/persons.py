"""One row a participant: what they did, how long it took, which checks they passed, and what deserves a look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from ....design import Study

__all__ = ["SIMULATED", "Watch", "driven", "is_simulated", "persons", "remarked", "watched"]

SIMULATED = "sim-"
"""Names of simulated participants begin so."""


@dataclass(frozen=True)
class Watch:
    """When a row of the table deserves a look. Nobody is excluded by these alone."""

    fast: float = 1.0
    """Median seconds a question below which somebody is fast; the screening rule's default."""
    same: float = 0.95
    """Share of one answer from which somebody answers alike; the screening rule's default."""
    least: int = 10
    """Answers needed before either is said."""
    hidden: float = 60.0
    """Seconds during which the page was out of sight, from which it is said."""


def is_simulated(name: str | None) -> bool:
    """True where a participant is made up."""
    return bool(name) and str(name).startswith(SIMULATED)


def persons(asked: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Return what each participant's answers say.

    Args:
        asked: as from `answered.joined`, all kinds, excluded ones too.
        judged: as from `answered.checks`.

    Returns:
        participant, answers (main and repeat questions), seconds (median of a question), left (share among decided
        pairs), same (share of the most frequent answer), repeats (met again), repeats_alike, checks_instructed,
        checks_instructed_failed, checks_broken, checks_broken_failed, checks_unknown, last (epoch seconds). Null where
        nothing says.
    """
    main = asked.filter(pl.col("kind").is_in(["main", "repeat"]))
    decided = pl.col("value").is_in(["left", "right"]) & pl.col("left").is_not_null()
    totals = main.group_by("participant").agg(
        pl.len().alias("answers"),
        pl.col("seconds").median(),
        pl.when(decided.any()).then((pl.col("value") == "left").sum() / decided.sum()).first().alias("left"),
    )
    same = main.group_by("participant", "value").len().group_by("participant")
    totals = totals.join(same.agg((pl.col("len").max() / pl.col("len").sum()).alias("same")), on="participant")
    last = asked.group_by("participant").agg(pl.col("at").max().alias("last"))
    instructed, broken = (_judged(judged, kind) for kind in ("instructed", "broken"))
    unknown = judged.filter(pl.col("right").is_null()).group_by("participant").len("checks_unknown")
    table = last.join(totals, on="participant", how="left").join(_alike(main), on="participant", how="left")
    for part in (instructed, broken, unknown):
        table = table.join(part, on="participant", how="left")
    counts = [name for name in table.columns if name.startswith("checks_")]
    return table.with_columns(pl.col([*counts, "answers"]).fill_null(0)).sort("participant")


def _judged(judged: pl.DataFrame, kind: str) -> pl.DataFrame:
    known = judged.filter((pl.col("check") == kind) & pl.col("right").is_not_null())
    return known.group_by("participant").agg(
        pl.len().alias(f"checks_{kind}"), (~pl.col("right")).sum().alias(f"checks_{kind}_failed")
    )


def _alike(main: pl.DataFrame) -> pl.DataFrame:
    """How many repeats each participant met with their first answer known, and how many they answered alike.

    Pairs are coded by the item chosen, since repeats may swap sides; ratings count as alike within a tenth of the
    person's own range.
    """
    chosen = (
        pl.when(pl.col("value") == "left").then(pl.col("left"))
        .when(pl.col("value") == "right").then(pl.col("right")).otherwise(pl.col("value"))
    )  # fmt: skip
    rows = main.with_columns(said=chosen, number=pl.col("value").cast(pl.Float64, strict=False))
    rows = rows.with_columns(
        reach=(pl.col("number").max() - pl.col("number").min()).over("participant", "criterion") / 10
    )
    again = rows.filter((pl.col("kind") == "repeat") & pl.col("repeat_of").is_not_null())
    first = rows.select(
        "lease", pl.col("trial").alias("repeat_of"), "criterion",
        pl.col("said").alias("first"), pl.col("number").alias("first_number"),
    )  # fmt: skip
    both = again.join(first, on=["lease", "repeat_of", "criterion"], nulls_equal=True)
    near = (pl.col("number") - pl.col("first_number")).abs() <= pl.col("reach") + 1e-9
    alike = pl.when(pl.col("item").is_not_null()).then(near).otherwise(pl.col("said") == pl.col("first"))
    return both.group_by("participant").agg(pl.len().alias("repeats"), alike.sum().alias("repeats_alike"))


def watched(row: Mapping[str, object], study: Study, *, watch: Watch | None = None) -> list[str]:
    """Return in words why a participant deserves a look; empty: no reason.

    Args:
        row: a row of `persons`, with `hidden` (seconds out of sight) and `automated` (the browser says that a program
            drives it) where known.
        study: gives the number of failed instructed checks after which pay may be refused.
        watch: thresholds.
    """
    limits = watch or Watch()
    said = []
    failed = _number(row.get("checks_instructed_failed"))
    if failed:
        pay = "; pay may be refused" if failed >= study.pay.refuse_after else ""
        said.append(f"{failed:g} of {_number(row.get('checks_instructed')):g} instructed checks failed{pay}")
    failed = _number(row.get("checks_broken_failed"))
    if failed:
        said.append(
            f"{failed:g} of {_number(row.get('checks_broken')):g} broken pictures not seen; data only, never pay"
        )
    enough = _number(row.get("answers")) >= limits.least
    seconds, same, hidden = row.get("seconds"), row.get("same"), _number(row.get("hidden"))
    if enough and seconds is not None and _number(seconds) < limits.fast:
        said.append(f"{_number(seconds):.1f} s a question")
    if enough and same is not None and _number(same) >= limits.same:
        said.append(f"the same answer {100 * _number(same):.0f} % of the time")
    if hidden >= limits.hidden:
        said.append(f"page out of sight for {hidden:.0f} s")
    if row.get("automated"):
        said.append("the browser says that a program drives it")
    return said


def driven(events: pl.DataFrame) -> set[str]:
    """Return whose browser said that a program drives it; simulated participants aside, who always are.

    Args:
        events: participant, kind, body (JSON).
    """
    told = events.filter((pl.col("kind") == "device") & pl.col("body").str.contains('"automated": true', literal=True))
    return {name for name in told["participant"].drop_nulls() if not is_simulated(name)}


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def remarked(events: pl.DataFrame) -> list[tuple[str, float, str]]:
    """Return what people wrote in the box for remarks: participant, at, text; newest first.

    Args:
        events: participant, kind, at, remark (null where there is none).
    """
    told = events.filter(pl.col("remark").is_not_null() & (pl.col("remark").str.strip_chars() != ""))
    return list(told.sort("at", descending=True).select("participant", "at", "remark").iter_rows())
