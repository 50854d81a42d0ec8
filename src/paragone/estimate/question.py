"""`Question`: what is asked of the answers, apart from the way of scoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl

from ..errors import BadConfig

__all__ = ["Intervals", "Question"]

Intervals = Literal["bootstrap", "analytic", "none"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of the answers, apart from the estimator itself."""

    intervals: Intervals = "bootstrap"
    """bootstrap: participants are resampled; analytic: from the model's own covariance or standard errors; none."""
    replicates: int = 1000
    """Bootstrap replicates, >= 100."""
    confidence: float = 0.95
    """Coverage of the intervals, in (0.5, 1)."""
    seed: int = 0
    jobs: int = 1
    """Processes for replicates of estimators that have no batched form."""
    levels: pl.DataFrame | None = None
    """Columns item, level: score the levels of a factor in place of items."""
    factor: str | None = None
    """Name of that factor; needed with `levels`."""
    apart: bool = False
    """Score each connected group alone where the pairs leave several; else NotConnected is raised."""
    temperature: Mapping[str, float] = field(default_factory=dict)
    """Stage -> noise of its votes relative to the others, > 0 (default 1)."""
    reliability: Mapping[str, float] = field(default_factory=dict)
    """Participant -> weight of all their answers, >= 0, relative to the most reliable one (default 1)."""
    items: tuple[str, ...] = ()
    """Items that must appear in the result even if nobody was shown them (status never_shown)."""

    def __post_init__(self) -> None:
        for key in ("replicates", "confidence", "seed", "jobs"):
            if not _is_number(getattr(self, key)):
                raise BadConfig(f"{key} is {getattr(self, key)!r}; it must be a number", where=key)
        if self.seed < 0:
            raise BadConfig(f"seed is {self.seed}; give a whole number from 0", where="seed")
        if self.intervals not in ("bootstrap", "analytic", "none"):
            raise BadConfig(f"intervals '{self.intervals}' is not one of bootstrap, analytic, none", where="intervals")
        if self.replicates < 100:
            raise BadConfig(f"replicates is {self.replicates}; an interval needs at least 100", where="replicates")
        if not 0.5 < self.confidence < 1:
            raise BadConfig(f"confidence is {self.confidence}; it lies between 0.5 and 1", where="confidence")
        if (self.levels is None) != (self.factor is None):
            raise BadConfig("levels and factor go together: a table item, level and the factor's name", where="factor")
        if self.levels is not None and self.levels["item"].is_duplicated().any():
            twice = self.levels.filter(self.levels["item"].is_duplicated())["item"][0]
            raise BadConfig(
                f"item '{twice}' has two rows in levels; a factor gives each item one level", where="levels"
            )
        for stage, heat in self.temperature.items():
            if not _is_number(heat) or not heat > 0 or not np.isfinite(heat):
                raise BadConfig(f"temperature of stage '{stage}' is {heat}; it must be above 0", where="temperature")
        for person, trust in self.reliability.items():
            if not _is_number(trust) or not trust >= 0 or not np.isfinite(trust):
                raise BadConfig(f"reliability of '{person}' is {trust}; it must be 0 or more", where="reliability")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
