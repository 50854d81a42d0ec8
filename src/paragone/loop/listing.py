"""What plug-ins there are, as rows."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from ..errors import BadConfig, BadInput, MissingExtra
from ..estimate import ESTIMATORS
from ..evaluators import LEARNERS
from ..features import BACKBONES, FEATURES
from ..make.adapters import LAYOUTS
from ..make.stylise import STYLISERS
from ..make.stylise.manners import MANNERS
from ..metrics import METRICS, describe
from ..sources import SOURCES
from ..study.pages import PAGES

__all__ = ["listing"]

_CATALOGS = {
    "backbones": BACKBONES,
    "estimators": ESTIMATORS,
    "learners": LEARNERS,
    "manners": MANNERS,
    "pages": PAGES,
    "sources": SOURCES,
    "stylisers": STYLISERS,
}
_LIBRARIES = {"make": ("numba", "onnxruntime"), "torch": ("torch",), "learn": ("sklearn",)}
_FACTS = ("summary", "reads", "unit", "options", "source", "gives", "licence", "citation", "strategy", "shrinks")


def listing(what: str) -> list[dict[str, Any]]:
    """One row per plug-in: its facts, whether it can be used here, and why not.

    Args:
        what: backbones, estimators, features, layouts, learners, manners, metrics, pages, sources or stylisers.
    """
    if what == "metrics":
        return [describe(name) for name in METRICS.names()]
    if what == "layouts":  # of ready results; nothing can be missing for one
        return [
            {"name": name, "summary": one.summary, "source": one.source, "available": True, "reason": ""}
            for name, one in sorted(LAYOUTS.items())
        ]
    if what == "features":
        return [
            {"name": name, "summary": one.summary, "inputs": list(one.inputs), "source": one.source, "available": True}
            | {"definition": one.definition, "needs": "paragone[torch]", "reason": ""}
            for name, one in sorted(FEATURES.items())
        ]
    return [_row(_CATALOGS[what], name) for name in _CATALOGS[what].names()]


def _row(catalog: Any, name: str) -> dict[str, Any]:
    try:
        record = catalog.get(name)
    except (MissingExtra, BadInput) as error:
        return {"name": name, "summary": "", "available": False, "reason": error.message}
    facts = {fact: getattr(record, fact) for fact in _FACTS if hasattr(record, fact)}
    extra = getattr(record, "extra", "")
    gone = [library for library in _LIBRARIES.get(extra, ()) if find_spec(library) is None]
    reason = MissingExtra.library(f"'{name}'", gone[0], extra).message if gone else _unready(record)
    needs = {"needs": f"paragone[{extra}]" if extra else ""} if hasattr(record, "extra") else {}
    return {"name": name, **facts, **needs, "available": not reason, "reason": reason}


def _unready(record: Any) -> str:
    """Why a network cannot be used although its libraries are there; empty: it can, or nothing is known against it."""
    ready = getattr(record, "ready", None)
    if ready is None or getattr(record, "exact", True) or getattr(record, "slow", False):
        return ""
    try:
        ready()
    except BadConfig:
        return ""  # it wants an option that only its user can give
    except (MissingExtra, BadInput) as error:
        return error.message
    return ""
