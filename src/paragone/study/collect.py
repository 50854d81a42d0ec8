"""Answers and the plan they belong to become Votes and Ratings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ..errors import BadTable
from ..judgements import Ratings, Votes
from ..plan import Plan
from ..tables import Column, Schema, checked, read_table

__all__ = ["ANSWERS", "Collected", "collect", "read_answers"]

ANSWERS = Schema(
    "answers",
    (
        Column(name="participant", kind="id", required=True, nullable=False, doc="Who answered."),
        Column(name="sheet", kind="id", doc="Sheet the trial belongs to; null: the plan knows."),
        Column(name="session", kind="id", doc="Sitting; null: the plan knows."),
        Column(name="trial", kind="id", required=True, nullable=False, doc="Trial of the plan."),
        Column(name="criterion", kind="id", doc="What was asked; null: one unnamed criterion."),
        Column(name="answer", kind="text", required=True, nullable=False, doc="left, right, tie, or a rating."),
        Column(name="seconds", kind="number", low=0, doc="Response time; null: unknown."),
    ),
)

_SIDES = ["left", "right", "tie"]
_KEPT = ("participant", "session", "stage", "trial", "kind", "criterion")
_BEHIND = ("repeat_of", "seconds", "sheet", "position", "check")


class Collected(NamedTuple):
    """What came of the answers."""

    votes: Votes | None
    """Answers to pairwise trials; None: there are none."""
    ratings: Ratings | None
    """Answers to rating trials; None: there are none."""
    notes: Mapping[str, Any]
    """answers (rows read), doubles (later answers to what one participant had answered, left out), missing (trials and
    criteria of a begun sheet without an answer), missing_by (participant -> how many)."""


def read_answers(path: str | Path) -> pl.DataFrame:
    """Read a table of answers, CSV or Parquet.

    Raises:
        NotFound: no such file.
        BadTable: it breaks the contract; holds all faults.
    """
    return checked(read_table(path), ANSWERS, where=Path(path).name)


def collect(plan: Plan, answers: pl.DataFrame, *, where: str = "answers") -> Collected:
    """Return the votes and ratings that the answers amount to.

    Of several answers of one participant to one trial and criterion the first row counts. Rows come out in the plan's
    order, participant by participant.

    Args:
        plan: the trials.
        answers: columns as in `ANSWERS`.
        where: name of the answers in messages.

    Raises:
        BadTable: the answers break their contract, belong to trials or sheets that the plan does not have, or say
            something that is no answer to their trial; holds all faults.
    """
    given = checked(answers, ANSWERS, where=where).select(ANSWERS.names).with_row_index("row", offset=2)
    trials = (
        plan.frame if "check" in plan.frame.columns else plan.frame.with_columns(check=pl.lit(None, dtype=pl.String))
    )
    shown = trials.with_row_index("order").select(
        "order", "trial", "sheet", "session", "stage", "position", "kind", "left", "right", "item", "expected",
        "repeat_of", "check",
    )  # fmt: skip
    joined = given.join(shown, on="trial", how="left", suffix="_planned", maintain_order="left")
    faults = _faults(joined)
    if faults:
        raise BadTable.of_faults(where, faults)
    keys = ["participant", "trial", "criterion"]
    first = joined.unique(keys, keep="first", maintain_order=True).sort("participant", "order", maintain_order=True)
    first = first.with_columns(sheet="sheet_planned", session=pl.coalesce("session_planned", "session"))
    missing = _missing(first, trials)
    notes = {
        "answers": given.height,
        "doubles": given.height - first.height,
        "missing": sum(missing.values()),
        "missing_by": missing,
    }
    pairs, single = first.filter(pl.col("left").is_not_null()), first.filter(pl.col("item").is_not_null())
    choice = pl.col("answer").alias("choice")
    value, right = pl.col("answer").cast(pl.Float64).alias("value"), pl.col("expected").cast(pl.Float64)
    votes = Votes(pairs.select(*_KEPT, "left", "right", choice, "expected", *_BEHIND)) if pairs.height else None
    ratings = Ratings(single.select(*_KEPT, "item", value, right, *_BEHIND)) if single.height else None
    return Collected(votes, ratings, notes)


def _faults(joined: pl.DataFrame) -> list[str]:
    lost = joined.filter(pl.col("stage").is_null())
    faults = [f"row {r}: trial '{t}' is not in the plan" for r, t in lost.select("row", "trial").head(3).iter_rows()]
    if lost.height > 3:
        faults.append(f"{lost.height - 3} more rows whose trial is not in the plan")
    found = joined.filter(pl.col("stage").is_not_null())
    astray = found.filter(pl.col("sheet").is_not_null() & (pl.col("sheet") != pl.col("sheet_planned")))
    for row in astray.head(3).iter_rows(named=True):
        faults.append(
            f"row {row['row']}: trial '{row['trial']}' is on sheet '{row['sheet_planned']}', not '{row['sheet']}'"
        )
    pair = pl.col("left").is_not_null()
    number = pl.col("answer").cast(pl.Float64, strict=False)
    wrong = found.filter((pair & ~pl.col("answer").is_in(_SIDES)) | (~pair & ~number.is_finite().fill_null(False)))
    for row in wrong.head(3).iter_rows(named=True):
        wanted = "left, right or tie" if row["left"] is not None else "a number"
        faults.append(f"row {row['row']}: answer '{row['answer']}' to trial '{row['trial']}' is not {wanted}")
    if wrong.height > 3:
        faults.append(f"{wrong.height - 3} more rows whose answer does not fit their trial")
    return faults


def _missing(first: pl.DataFrame, trials: pl.DataFrame) -> dict[str, int]:
    """Participant -> trials and criteria of begun sheets without an answer; only participants who miss some."""
    n_criteria = max(1, first["criterion"].n_unique())
    length = trials.group_by("sheet").len("asked")
    begun = first.group_by("participant", "sheet").len("answered").join(length, on="sheet")
    lacking = begun.group_by("participant").agg(
        (pl.col("asked") * n_criteria - pl.col("answered")).sum().alias("missing")
    )
    return dict(lacking.filter(pl.col("missing") > 0).sort("participant").iter_rows())
