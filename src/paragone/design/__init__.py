"""From a benchmark to a plan: who is shown what, in which order, on which side.

`Study` is the record behind `study.toml`; `plan(benchmark, study)` deals its stages into sheets. Stages of pairs take
their decks from `pairs` (within groups by the circle method, across groups by Hamiltonian cycles), stages of ratings
from `ratings`; `deal` shares a deck out, balances sides and orders each sheet, and `even` exchanges trials between
sheets until each shows its share of everything; `checks` chooses trials with a known answer, `references` the pictures
beside the results. `cost` says before anybody is paid what the plan asks of people, how evenly it shows things, and what
is left of both when sheets go missing (`missing`, `survive`). `next_wave` deals further sheets from the votes so far.
"""

from .checks import check_tolerance
from .cost import Cost, cost, exposures, islands
from .pages import OUTCOMES, Text, in_language
from .planner import plan
from .settings import PairStage, RatingStage, Study, read_study
from .survive import Survival
from .waves import next_wave

__all__ = [
    "OUTCOMES",
    "Cost",
    "PairStage",
    "RatingStage",
    "Study",
    "Survival",
    "Text",
    "check_tolerance",
    "cost",
    "exposures",
    "in_language",
    "islands",
    "next_wave",
    "plan",
    "read_study",
]
