"""Answers out of a study's store, with the plan that each belongs to."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ..plan import Plan
from .serving import store_address

__all__ = ["OUT", "Stored", "people_answered", "stored_answers"]

OUT = {
    "by_checks": "sheets excluded by the rule checks",
    "at_desk": "sheets excluded at the desk",
    "unfinished": "unfinished sheets",
}
"""Why answers do not count, and the sheets that they stand on, in words."""


class Stored(NamedTuple):
    """The answers to one version of a study."""

    plan: Plan
    answers: pl.DataFrame
    """Columns as in `study.ANSWERS`, and more."""
    left_out: dict[str, int]
    """Answers that do not count, by what their sheets are, as in `OUT`; without those that there are none of."""


def people_answered(folder: Path) -> bool:
    """Whether the study.db of a folder holds an answer of anybody who is not simulated."""
    from ..study.store import people
    from ..study.store.store import snapshot

    with snapshot(store_address(folder, None)) as c:
        return people.answered(c)


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
    from ..study.store import claims, events, export, versions
    from ..study.store.store import snapshot

    found = []
    with snapshot(address) as c:
        for number in versions.numbers(c):
            whole = export.answers_frame(c, version=number)
            if not whole.height:
                continue
            counted, out = whole, {}
            if not everything:
                counted = export.answers_frame(c, version=number, clean=True)
                by_rule = [lease for lease, who in events.excluders(c).items() if who == claims.BY_CHECKS]
                out = _left_out(whole, by_rule)
            version = versions.get(c, number)
            assert version is not None
            plan = Plan(pl.read_csv(io.BytesIO(version.plan), infer_schema=False))
            found.append(Stored(plan, counted, out))
    return found


def _left_out(whole: pl.DataFrame, by_rule: list[int]) -> dict[str, int]:
    """Answers that do not count, by the reason."""
    excluded = pl.col("state") == "excluded"
    ruled = excluded & pl.col("lease").is_in(by_rule)
    finished = pl.col("state").is_in(["complete", "accepted"])
    parts = {"by_checks": ruled, "at_desk": excluded & ~ruled, "unfinished": ~excluded & ~finished}
    counts = whole.select(part.sum().alias(name) for name, part in parts.items()).row(0, named=True)
    return {name: n for name, n in counts.items() if n}
