"""From a benchmark to a plan: who is shown what, in which order, on which side.

`Study` is the record behind `study.toml`; `plan(benchmark, study)` deals its stages into sheets. Stages of pairs take
their decks from `pairs` (within groups by the circle method, across groups by Hamiltonian cycles), stages of ratings
from `ratings`; `deal` shares a deck out, balances sides and orders each sheet; `checks` chooses trials with a known
answer; `cost` says before anybody is paid what the plan asks of people and how evenly it shows things.
"""

from .cost import Cost, cost, exposures, islands
from .pages import OUTCOMES, Text, in_language
from .planner import plan
from .settings import PairStage, RatingStage, Study, read_study

__all__ = [
    "OUTCOMES",
    "Cost",
    "PairStage",
    "RatingStage",
    "Study",
    "Text",
    "cost",
    "exposures",
    "in_language",
    "islands",
    "plan",
    "read_study",
]
