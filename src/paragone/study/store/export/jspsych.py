"""Answers as jsPsych's users know them: one JSON object for each trial, with rt, stimulus, response and trial_type."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
import sqlalchemy as sa

from .plans import Planned
from .rows import pieces

__all__ = ["trials"]

_BUTTONS = {"left": 0, "right": 1, "tie": 2}


def trials(c: sa.Connection, plans: Mapping[int, Planned]) -> Iterator[tuple[bytes, int]]:
    """One JSON array of all answers, the last revision of each, in pieces with the number of trials that they end.

    `rt` is in milliseconds, as there; `response` is the button's number (left 0, right 1, tie 2) or the rating;
    `stimulus` is the item, or both; `trial_index` counts within a lease.

    Args:
        c: a connection on one snapshot.
        plans: the plan of each version.
    """
    lease, index, first = None, 0, True
    yield b"[", 0
    for frame in pieces(c, "answers", plans):
        lines = []
        for row in _joined(frame, plans).iter_rows(named=True):
            index = index + 1 if row["lease"] == lease else 0
            lease = row["lease"]
            lines.append(json.dumps(_trial(row, index), ensure_ascii=False, separators=(",", ":")))
        if lines:
            yield (("\n" if first else ",\n") + ",\n".join(lines)).encode(), len(lines)
            first = False
    yield b"\n]\n", 0


def _joined(frame: pl.DataFrame, plans: Mapping[int, Planned]) -> pl.DataFrame:
    parts = []
    for (number,), theirs in frame.partition_by("version", as_dict=True, maintain_order=True).items():
        owners = theirs.select("stage", "owner").unique(maintain_order=True).rows()
        shown = plans[number].of(owners).select("trial", "kind", "left", "right", "item").unique("trial", keep="first")
        parts.append(theirs.join(shown, on="trial", how="left", maintain_order="left"))
    return pl.concat(parts) if parts else frame


def _trial(row: dict[str, Any], index: int) -> dict[str, Any]:
    rating = row["left"] is None
    value = row["answer"]
    return {
        "trial_type": "html-slider-response" if rating else "html-button-response",
        "trial_index": index,
        "rt": None if row["seconds"] is None else round(row["seconds"] * 1000, 3),
        "stimulus": row["item"] if rating else [row["left"], row["right"]],
        "response": (_number(value) if rating else _BUTTONS.get(value, value)),
        "participant": row["participant"],
        "session": row["session"],
        "stage": row["stage"],
        "trial": row["trial"],
        "kind": row["kind"],
        "criterion": row["criterion"],
        "state": row["state"],
    }


def _number(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value
