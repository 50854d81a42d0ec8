"""Answers that stand twice, and items with a single one: what is dropped, what is kept, and how many there are.

A row that repeats another in every cell is a copy where a trial or a time stands in it, and is dropped: nobody answers
the same trial at the same second twice. Without either it may be a true second answer, so it is kept and counted, as is
every second answer of one person to one question.
"""

from __future__ import annotations

import polars as pl

from ..tables import encode, shown

__all__ = ["settle"]

_MOMENTS = ("timestamp", "tstamp", "time", "datetime", "date", "start_time", "end_time", "submit_time")
_EVENTS = ("created", "started", "submitted", "answered")
_TIMES = frozenset([*_MOMENTS, *_EVENTS, *(f"{event}_at" for event in _EVENTS)])


def settle(frame: pl.DataFrame, *, keep_copies: bool = False) -> tuple[pl.DataFrame, list[str]]:
    """Drop copies, count second answers and items with one answer.

    Args:
        frame: checked Votes or Ratings.
        keep_copies: whether copies stay.

    Returns:
        The frame, and notes.
    """
    notes: list[str] = []
    frame = frame if keep_copies else _without_copies(frame, notes)
    pair = "left" in frame.columns and "choice" in frame.columns
    if frame["participant"].null_count() < frame.height:
        again = _second_answers(frame, pair)
        if again:
            what = "pairs" if pair else "items"
            notes.append(f"kept answers to {what} that the same participant had answered before: {again}")
        nameless = frame["participant"].null_count()
        if nameless:
            notes.append(f"answers without a participant, which count as one unknown person's: {nameless}")
    else:
        notes.append("no column names the participants, so all answers count as one unknown person's")
    asked = pl.concat([frame["left"], frame["right"]]) if pair else frame["item"]
    counts = asked.alias("item").value_counts(name="n")
    single = counts.filter(pl.col("n") == 1)["item"].sort()
    if len(single):
        some = ", ".join(shown(item) for item in single.head(5)) + (", ..." if len(single) > 5 else "")
        notes.append(f"items with a single answer: {len(single)} ({some})")
    return frame, notes


def _without_copies(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    stamps = [name for name in frame.columns if name == "trial" or name.strip().lower() in _TIMES]
    stamps = [name for name in stamps if frame[name].null_count() < frame.height]
    if not stamps:
        return frame
    stamped = frame.select(pl.any_horizontal(pl.col(stamps).is_not_null())).to_series()
    held = [name for name in frame.columns if frame[name].null_count() < frame.height]
    first = frame.select(pl.struct(held).is_first_distinct()).to_series()
    copies = ~first & stamped
    dropped = int(copies.sum())
    if dropped:
        notes.append(f"dropped rows that copy another in every cell, {' and '.join(stamps)} included: {dropped}")
        return frame.filter(~copies)
    return frame


def _second_answers(frame: pl.DataFrame, pair: bool) -> int:
    """Rows beyond the first of one participant, session, criterion and item or unordered pair; planned repeats not."""
    asked = frame.filter(pl.col("kind").is_null() | (pl.col("kind") == "main"))
    levels, codes = encode([asked["left"], asked["right"]] if pair else asked["item"])
    frame = pl.DataFrame([code.alias(f"{k}") for k, code in enumerate(codes)])
    size = max(1, len(levels))
    key = pl.col("0") if not pair else pl.min_horizontal("0", "1") * size + pl.max_horizontal("0", "1")
    made = frame.select(key.alias("key"))["key"]
    size = size**2 if pair else size
    for name in ("participant", "session", "stage", "criterion"):
        if asked[name].null_count() == asked.height:
            continue
        levels, (code,) = encode(asked[name].fill_null(""))
        made, size = code * size + made, len(levels) * size
        if size > 2**62:  # as many answers cannot be: number the keys that there are
            made = made.rank("dense").cast(pl.Int64) - 1
            size = asked.height
    return asked.height - made.n_unique()
