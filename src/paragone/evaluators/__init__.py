"""Learned evaluators: from features and people's scores to a model that scores what people have not seen."""

from __future__ import annotations

from ..catalog import Catalog
from .task import Fitted, Learner, Predicted, Task

__all__ = ["LEARNERS", "Fitted", "Learner", "Predicted", "Task"]

LEARNERS = Catalog(
    "paragone.learners",
    "learner",
    {
        "astra-compared": "paragone.evaluators.learners.heads:ASTRA_COMPARED",
        "astra-scalars": "paragone.evaluators.learners.heads:ASTRA_SCALARS",
        "astra-score": "paragone.evaluators.learners.heads:ASTRA_SCORE",
        "ridge": "paragone.evaluators.learners.ridge:RIDGE",
        "ridge-all": "paragone.evaluators.learners.ridge:RIDGE_ALL",
        "svr": "paragone.evaluators.learners.svr:SVR",
    },
)
"""name -> learner; third parties add theirs as entry points of the group 'paragone.learners'."""
