"""Which answer repeats which: by the plan's word where it is there, else by who met what twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from ..stats.statistic import Statistic

__all__ = ["Part", "first_answers", "with_repeats"]

_WHO = ("participant", "criterion")


class Part(NamedTuple):
    """What one criterion in one stage gives."""

    statistics: dict[str, Statistic]
    details: list[dict[str, object]]


def with_repeats(frame: pl.DataFrame, shown: Sequence[str]) -> pl.DataFrame:
    """Add to each answer the row of the first answer that it repeats.

    Args:
        frame: main and repeat rows of Votes or Ratings, in the order of the answers.
        shown: the columns that say what was shown: left and right, or item.

    Returns:
        The frame with `row` (its index), `asked` (what was shown, sides in the order of the ids), `first` (`row` of the
        answer it repeats, null where it repeats none) and `unmatched` (a repeat whose first answer is not there).
        Nothing repeats anything where no participant is known.
    """
    asked = pl.concat_list(sorted(shown)).list.sort()
    frame = frame.with_row_index("row").with_columns(
        asked=asked, first=pl.lit(None, pl.UInt32), unmatched=pl.lit(False)
    )
    if frame["participant"].null_count() == frame.height:
        return frame
    planned = pl.col("kind").eq_missing("repeat")
    if not frame.select(planned.any()).item():
        return _met_twice(frame)
    repeats = frame.filter(planned)
    others = frame.filter(~planned)
    named = repeats.filter(pl.col("repeat_of").is_not_null())
    by_trial = _joined(named, others, "repeat_of", "trial", extra=[])
    by_pair = _joined(repeats.filter(pl.col("repeat_of").is_null()), others, "asked", "asked", extra=["stage"])
    found = pl.concat([by_trial, by_pair])
    frame = frame.drop("first").join(found, on="row", how="left", maintain_order="left")
    return frame.with_columns(unmatched=planned & pl.col("first").is_null())


def first_answers(part: pl.DataFrame) -> pl.DataFrame:
    """The first answer of each participant to each question, repeats left out."""
    return part.unique(["participant", "asked"], keep="first", maintain_order=True)


def _met_twice(frame: pl.DataFrame) -> pl.DataFrame:
    keys = [*_WHO, "stage", "asked"]
    time = pl.int_range(pl.len()).over(keys)
    first = pl.col("row").first().over(keys)
    known = pl.col("participant").is_not_null()
    return frame.with_columns(first=pl.when((time == 1) & known).then(first).otherwise(None))


def _joined(repeats: pl.DataFrame, others: pl.DataFrame, left: str, right: str, *, extra: list[str]) -> pl.DataFrame:
    keys = [*_WHO, *extra]
    firsts = others.unique([*keys, right], keep="first", maintain_order=True)
    firsts = firsts.select(*keys, pl.col(right).alias(left), pl.col("row").alias("first"))
    return repeats.drop("first").join(firsts, on=[*keys, left], how="inner", nulls_equal=True).select("row", "first")
