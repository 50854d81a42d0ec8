"""How far predictors agree with people: `compare(human, machine, ...)` turns Scores into an `Agreement`.

`align` joins the tables by item and turns every predictor so that larger means better; `figures` computes the
statistics of one predictor; `significance` tests one predictor against another on the same items; `compare` puts them
together for all items and for each level of a factor.
"""

from .compare import compare
from .figures import DEFAULT_STATISTICS, STATISTICS

__all__ = ["DEFAULT_STATISTICS", "STATISTICS", "compare"]
