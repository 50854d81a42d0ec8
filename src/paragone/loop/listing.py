"""What plug-ins there are, as rows."""

from __future__ import annotations

from typing import Any

from ..errors import BadInput, MissingExtra
from ..estimate import ESTIMATORS
from ..make.stylise import STYLISERS
from ..metrics import METRICS, describe
from ..sources import SOURCES
from ..study.pages import PAGES

__all__ = ["listing"]

_CATALOGS = {"estimators": ESTIMATORS, "pages": PAGES, "sources": SOURCES, "stylisers": STYLISERS}
_FACTS = ("summary", "reads", "unit", "options", "source", "gives", "licence", "citation", "strategy", "shrinks")


def listing(what: str) -> list[dict[str, Any]]:
    """One row per plug-in: its facts, whether it can be used here, and why not.

    Args:
        what: estimators, metrics, pages, sources or stylisers.
    """
    if what == "metrics":
        return [describe(name) for name in METRICS.names()]
    return [_row(_CATALOGS[what], name) for name in _CATALOGS[what].names()]


def _row(catalog: Any, name: str) -> dict[str, Any]:
    try:
        record = catalog.get(name)
    except (MissingExtra, BadInput) as error:
        return {"name": name, "summary": "", "available": False, "reason": error.message}
    facts = {fact: getattr(record, fact) for fact in _FACTS if hasattr(record, fact)}
    return {"name": name, **facts, "available": True, "reason": ""}
