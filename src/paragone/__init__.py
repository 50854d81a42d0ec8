"""paragone: ask people how good generated pictures look, measure them by machine, and compare the two honestly.

Everything is one of a few tables, and every function an arrow between two of them:

    Benchmark -> Plan -> Votes or Ratings -> Scores -> Agreement -> report

People and machines both end in `Scores`, so `compare` is one function. Names below are imported when first used, so
`import paragone` stays instant. Where a function and a room share a name (`estimate`, `screen`, `report`, ...), the package
gives the function; `from paragone.estimate import ESTIMATORS` reaches into the room.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_FACE = {
    "Agreement": "scores",
    "Benchmark": "benchmark",
    "Estimator": "estimate.arrays",
    "Metric": "metric",
    "ParagoneError": "errors",
    "Plan": "plan",
    "Question": "estimate",
    "Ratings": "judgements",
    "Scores": "scores",
    "Votes": "judgements",
    "collect": "study.collect",
    "compare": "agreement",
    "consistency": "consistency",
    "demo": "loop",
    "estimate": "estimate",
    "import_source": "sources",
    "measure": "metrics",
    "new_benchmark": "make.new",
    "plan": "design",
    "read_ratings": "sources",
    "read_scores": "sources",
    "read_votes": "sources",
    "report": "report",
    "run": "loop",
    "screen": "screen",
    "simulate": "observers",
}

__all__ = ["__version__", *sorted(_FACE)]

if TYPE_CHECKING:
    from .agreement import compare as compare
    from .benchmark import Benchmark as Benchmark
    from .consistency import consistency as consistency
    from .design import plan as plan
    from .errors import ParagoneError as ParagoneError
    from .estimate import Question as Question
    from .estimate import estimate as estimate
    from .estimate.arrays import Estimator as Estimator
    from .judgements import Ratings as Ratings
    from .judgements import Votes as Votes
    from .loop import demo as demo
    from .loop import run as run
    from .make.new import new_benchmark as new_benchmark
    from .metric import Metric as Metric
    from .metrics import measure as measure
    from .observers import simulate as simulate
    from .plan import Plan as Plan
    from .report import report as report
    from .scores import Agreement as Agreement
    from .scores import Scores as Scores
    from .screen import screen as screen
    from .sources import import_source as import_source
    from .sources import read_ratings as read_ratings
    from .sources import read_scores as read_scores
    from .sources import read_votes as read_votes
    from .study.collect import collect as collect


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _FACE:
        raise AttributeError(f"module 'paragone' has no attribute '{name}'")
    value = getattr(importlib.import_module(f".{_FACE[name]}", __name__), name)
    globals()[name] = value
    return value


class _Face(types.ModuleType):
    """Importing a room would put the module in place of the function of the same name; the function stays."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _FACE and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face


def __dir__() -> list[str]:
    return sorted(__all__)
