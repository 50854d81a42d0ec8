"""Votes and Ratings become Scores.

`estimate` is the one adapter between tables and models: it turns names into indices and back, loops over criteria, drops
checks and training, bootstraps by participant and reports what a reader must know. Models (one file each) are functions
of arrays that know none of that; `ESTIMATORS` finds them by name. Arrays are described in `arrays`.
"""

from __future__ import annotations

from ..catalog import Catalog
from .adapter import estimate
from .arrays import Comparisons, Estimate, Estimator, Opinions
from .diagnosis import diagnose
from .question import Question

__all__ = ["ESTIMATORS", "Comparisons", "Estimate", "Estimator", "Opinions", "Question", "diagnose", "estimate"]

ESTIMATORS = Catalog(
    "paragone.estimators",
    "estimator",
    {
        "bias-removed": "paragone.estimate.bias_removed:BIAS_REMOVED",
        "bradley-terry": "paragone.estimate.bradley_terry:BRADLEY_TERRY",
        "bradley-terry-ridge": "paragone.estimate.bradley_terry:BRADLEY_TERRY_RIDGE",
        "bradley-terry-tastes": "paragone.estimate.tastes:TASTES",
        "counting": "paragone.estimate.counting:COUNTING",
        "davidson": "paragone.estimate.davidson:DAVIDSON",
        "dmos": "paragone.estimate.mean_opinion:DMOS",
        "elo": "paragone.estimate.elo:ELO",
        "mos": "paragone.estimate.mean_opinion:MOS",
        "p910": "paragone.estimate.subject_model:P910",
        "rank-centrality": "paragone.estimate.rank_centrality:RANK_CENTRALITY",
        "rank-centrality-plain": "paragone.estimate.rank_centrality:RANK_CENTRALITY_PLAIN",
        "sureal": "paragone.estimate.sureal_full:SUREAL",
        "thurstone": "paragone.estimate.thurstone:THURSTONE",
        "unified": "paragone.estimate.unified:UNIFIED",
        "win-rate": "paragone.estimate.counting:WIN_RATE",
        "zscore-mos": "paragone.estimate.zscore:ZSCORE_MOS",
    },
)
