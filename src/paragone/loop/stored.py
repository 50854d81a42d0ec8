"""Answers out of a study's store, with the plan that each belongs to."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ..plan import Plan
from .serving import store_address

__all__ = ["Stored", "stored_answers"]


class Stored(NamedTuple):
    """The answers to one version of a study."""

    plan: Plan
    answers: pl.DataFrame
    """Columns as in `study.ANSWERS`, and more."""
    left_out: int
    """Answers of sheets that are not finished or were excluded at the desk."""


def stored_answers(folder: Path, *, store: str | None = None, everything: bool = False) -> list[Stored]:
    """Return the answers of each version that people answered, oldest first.

    Args:
        folder: the study; its study.db is read unless `store` names another.
        store: URL of the store.
        everything: also of sheets that are not finished, and of those excluded at the desk.

    Raises:
        NotFound: no store.
    """
    address = store_address(folder, store)
    from ..study.store import export, versions
    from ..study.store.store import snapshot

    found = []
    with snapshot(address) as c:
        for number in versions.numbers(c):
            whole = export.answers_frame(c, version=number)
            if not whole.height:
                continue
            counted = whole if everything else export.answers_frame(c, version=number, clean=True)
            version = versions.get(c, number)
            assert version is not None
            plan = Plan(pl.read_csv(io.BytesIO(version.plan), infer_schema=False))
            found.append(Stored(plan, counted, whole.height - counted.height))
    return found
