"""How names are shown: criteria, statistics of agreement and of consistency, facts about the vote graph, badges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from .svg import clean

__all__ = [
    "CONSISTENCY",
    "GRAPH",
    "STATISTICS",
    "TESTS",
    "StatisticWords",
    "criterion_words",
    "quoted",
    "statistic_words",
    "with_badges",
]


class StatisticWords(NamedTuple):
    """How a statistic of agreement is shown."""

    label: str
    good: Literal["high", "low", ""]
    """Which end is better; empty: unknown, and nothing is marked."""
    hint: str = ""
    """What it is and which end is good, for the head of its column."""
    main: bool = False
    """Whether it stands in the first table; the others are folded away."""
    signed: bool = False
    """Whether its sign is the direction of the predictor, so that a predictor without one is judged by its size."""


STATISTICS = {
    "srcc": StatisticWords("SRCC", "high", "Spearman, higher is better", main=True, signed=True),
    "plcc": StatisticWords("PLCC fitted", "high", "Pearson after the logistic, higher is better", main=True),
    "krcc": StatisticWords("KRCC", "high", "Kendall's tau-b, higher is better", main=True, signed=True),
    "rmse": StatisticWords("RMSE", "low", "after the logistic, lower is better", main=True),
    "outlier_ratio": StatisticWords(
        "Outlier ratio", "low", "errors beyond people's interval, lower is better", main=True
    ),
    "pairwise_accuracy": StatisticWords(
        "Pair accuracy", "high", "on pairs that people tell apart, higher is better", main=True
    ),
    "plcc_raw": StatisticWords("PLCC raw", "high", "Pearson of the scores as they are, higher is better", signed=True),
    "plcc_4": StatisticWords("PLCC fitted (4)", "high", "after the 4-parameter logistic, higher is better"),
    "plcc_oof": StatisticWords("PLCC out of fold", "high", "curves that did not see the item, higher is better"),
    "rmse_star": StatisticWords("RMSE*", "low", "errors beyond people's interval, lower is better"),
    "auc_different": StatisticWords("AUC different", "high", "different against similar pairs, higher is better"),
    "auc_better": StatisticWords("AUC better", "high", "better against worse of a pair, higher is better"),
}
"""Statistics in the order of the tables."""

CONSISTENCY = {
    "icc_2_1": "ICC(2,1): one person's rating",
    "icc_2_k": "ICC(2,k): the mean of all ratings",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "split_half": "Correlation of two halves of the people",
    "spearman_brown": "The same for all people (Spearman-Brown)",
    "repeat_correlation": "Correlation with oneself on repeats",
    "repeat_rmse": "Difference from oneself on repeats (RMSE)",
    "between_spearman": "Spearman between two people, median",
    "between_kendall": "Kendall's tau-b between two people, median",
    "repeat_kappa": "Cohen's kappa with oneself on repeats",
    "repeat_agreement": "Same answer as oneself on repeats, share",
    "between_agreement": "Same answer of two people on a pair, share",
    "between_alpha": "Krippendorff's alpha between people",
    "left_share": "Left side chosen, share of decided votes",
}
"""Statistic of consistency -> what it is; others are shown under their own name."""

GRAPH = {
    "items": "items compared",
    "pairs": "different pairs compared",
    "votes": "votes",
    "votes_per_pair_mean": "votes on a pair, mean",
    "degree_min": "opponents of an item, fewest",
    "degree_mean": "opponents of an item, mean",
    "d_max": "opponents of an item, most",
    "components": "groups that were never compared with each other",
    "strong_components": "groups in the graph of wins (1: every score is finite)",
    "never_winning": "items that never won",
    "never_losing": "items that never lost",
    "unseen": "items never shown",
    "spectral_gap": "spectral gap (larger: scores settle with fewer votes)",
    "mixing_time": "mixing time in steps, 1 / spectral gap",
    "self_pairs": "votes of an item against itself, left out",
    "left_share": "share of decided votes for the left side",
}
"""Fact -> what it means, in the order of the table."""


TESTS = {
    "williams": "Williams' t",
    "p1401-z": "P.1401 z",
    "p1401-f": "P.1401 F",
    "bootstrap": "paired bootstrap",
}
"""Method of a test between predictors -> what it is; others are shown under their own name."""


def criterion_words(criterion: str | None) -> str:
    """A criterion as a reader sees it: 'image appeal' for 'image_appeal'; 'score' where it has no name."""
    return clean(criterion.replace("_", " ")) if criterion else "score"


def statistic_words(name: str) -> StatisticWords:
    """How that statistic is shown; one that is not known goes under its own name and nothing is marked."""
    return STATISTICS.get(name, StatisticWords(name.replace("_", " "), ""))


def with_badges(text: str, badges: Sequence[str]) -> str:
    """The text with its badges in round brackets, for places that hold text only."""
    return f"{text} ({', '.join(badges)})" if badges else text


def quoted(text: str) -> str:
    """The text in quotation marks."""
    return f"\N{LEFT DOUBLE QUOTATION MARK}{text}\N{RIGHT DOUBLE QUOTATION MARK}"
