"""Who is left out, by which rule, and why.

`screen` takes Votes or Ratings and gives a `Screening`: one row a participant with reasons in words and the statistics
behind them. Thresholds are in `ScreenRules`, one record a rule; only the rules named in `reject` reject anybody. The
statistics themselves are functions of arrays in `rules`, the sentences are made in `verdicts`.
"""

from __future__ import annotations

from .apply import Screening, screen, seconds_per_question
from .settings import RULES, ScreenRules

__all__ = ["RULES", "ScreenRules", "Screening", "screen", "seconds_per_question"]
