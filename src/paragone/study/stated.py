"""What a study's methods paragraph says, from its store: settings, plan and everything that was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import sqlalchemy as sa

from ..benchmark import shown_reference
from ..design import Study
from .cards import cards_of
from .frozen import Frozen
from .methods import Asked, methods_paragraph
from .pictures import plate_set
from .recalled import recalled
from .store import versions
from .store.people import SIMULATED
from .store.tables import participant

__all__ = ["stated"]


def stated(c: sa.Connection) -> str | None:
    """Return the methods paragraph of the study that a store serves; None: it serves none yet.

    Args:
        c: a connection to the store.
    """
    row = versions.current(c)
    if row is None:
        return None

    @lru_cache(maxsize=16)
    def version(number: int) -> Frozen:
        found = versions.get(c, number)
        assert found is not None, "a lease names a version that the store does not have"
        return Frozen.of_parts(found.study, found.plan, found.items, folder=Path())

    frozen = version(row.id)
    plates = plate_set(frozen.study.seed, frozen.study.display.plates)
    right = {str(n): plate.digits for n, plate in enumerate(plates)}

    def read(_person: int, given: Mapping[str, Any]) -> tuple[int, int] | None:
        return sum(given.get(number) == digits for number, digits in right.items()), len(right)

    found = recalled(c, lambda _c, number: version(number), read_plates=read if right else None)
    return methods_paragraph(_as_served(c, frozen.study), asked=_asked(frozen), recorded=found)


def _as_served(c: sa.Connection, study: Study) -> Study:
    """The settings with the way by which people really came: `serve --lab` is no matter of settings."""
    came = c.execute(sa.select(participant.c.platform).where(participant.c.platform != SIMULATED).distinct()).scalars()
    ways = set(came)
    if ways != {"lab"}:
        return study
    return msgspec.structs.replace(study, platform=msgspec.structs.replace(study.platform, profile="lab"))


def _asked(frozen: Frozen) -> Asked:
    """What the settings leave to the benchmark, as the frozen plan has it."""
    plan = frozen.plan
    judged = plan.filter(pl.col("expected").is_null())
    items = {item for side in ("left", "right", "item") for item in judged[side].drop_nulls().unique()}
    beside = {}
    for stage in frozen.stages:
        rows = plan.filter(pl.col("stage") == stage)
        shown = [name for name in plan.columns if "." in name and rows[name].null_count() < rows.height]
        beside[stage] = list(dict.fromkeys(name.partition(".")[2] for name in shown))
    return Asked(
        items=sum(shown_reference(item) is None for item in items),
        criteria=frozen.criteria,
        references=beside,
        questions={stage: len(frozen.practice.get(stage, ())) for stage in frozen.stages},
        cards={stage: len(cards_of(frozen, stage)) for stage in frozen.stages},
    )
