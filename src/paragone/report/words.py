"""How names are shown: criteria, statistics of agreement and of consistency, facts about the vote graph, badges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from .svg import clean

__all__ = [
    "CONSISTENCY",
    "GRAPH",
    "STATISTICS",
    "STEP",
    "TESTS",
    "TESTS_MEANING",
    "UNITS",
    "StatisticWords",
    "capital",
    "criterion_words",
    "note_words",
    "quoted",
    "score_words",
    "statistic_words",
    "stopped",
    "with_badges",
]


class StatisticWords(NamedTuple):
    """How a statistic of agreement is shown."""

    label: str
    """Its name in sentences."""
    good: Literal["high", "low", ""]
    """Which end is better; empty: unknown, and nothing is marked."""
    meaning: str = ""
    """What it is, in one line."""
    head: str = ""
    """Its name over a column; empty: the label."""
    main: bool = False
    """Whether it stands in the first table; the others are folded away."""
    signed: bool = False
    """Whether its sign says whether the predictor runs with people or against them."""

    @property
    def over(self) -> str:
        """What stands over its column."""
        return self.head or self.label

    @property
    def direction(self) -> str:
        """'higher is better'; empty where that is unknown."""
        return {"high": "higher is better", "low": "lower is better", "": ""}[self.good]


_FITTED = "Pearson's correlation after a monotone logistic curve of"

STATISTICS = {
    "srcc": StatisticWords(
        "SRCC", "high", "Spearman's rank correlation; below 0 the predictor runs against people", main=True, signed=True
    ),
    "plcc": StatisticWords("PLCC fitted", "high", f"{_FITTED} 5 parameters, fitted to people's scores", "PLCC", True),
    "krcc": StatisticWords("KRCC", "high", "Kendall's rank correlation (tau-b)", main=True, signed=True),
    "rmse": StatisticWords(
        "RMSE", "low", "root-mean-square error after that curve, in the unit of people's scores", main=True
    ),
    "outlier_ratio": StatisticWords(
        "outlier ratio", "low", "share of errors after that curve beyond the 95 % interval of people", "OR", True
    ),
    "pairwise_accuracy": StatisticWords(
        "pair accuracy", "high", "share of the pairs that people tell apart ordered as they do", "accuracy", True
    ),
    "plcc_raw": StatisticWords("PLCC raw", "high", "Pearson's correlation of the scores as they are", signed=True),
    "plcc_4": StatisticWords("PLCC fitted (4)", "high", f"{_FITTED} 4 parameters", "PLCC (4)"),
    "plcc_cubic": StatisticWords(
        "PLCC cubic", "high", "Pearson's correlation after the monotone cubic of ITU-T P.1401"
    ),
    "plcc_oof": StatisticWords(
        "PLCC out of fold",
        "high",
        "PLCC with curves that were fitted without the items they are tried on; far below PLCC, the curve flatters",
    ),
    "rmse_star": StatisticWords("RMSE*", "low", "RMSE of the part of an error beyond the interval of people"),
    "auc_different": StatisticWords(
        "AUC different",
        "high",
        "how well differences part the pairs that people tell apart from the others; 0.5: chance",
    ),
    "auc_better": StatisticWords(
        "AUC better", "high", "how well differences say which item of a pair people find better; 0.5: chance"
    ),
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
    "position_slope": "Drift along a session, scale units a trial",
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
    "mixing_time": "steps until scores settle (mixing time), 1 / spectral gap",
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

TESTS_MEANING = {
    "williams": "t test of two correlations with the same scores of people, which allows for predictors that are alike",
    "p1401-z": "test of two correlations by Fisher's z as in ITU-T P.1401, which takes them as independent",
    "p1401-f": "F test of ITU-T P.1401: the ratio of two squared RMSE after the curve",
    "bootstrap": "both predictors on the same resampled items",
}
"""Method of a test between predictors -> what it does, in one line."""

UNITS = {
    "logit": "the logarithm of odds; whoever stands 1 logit above another wins about 73 of 100 votes between the two",
    "JOD": "just-objectionable differences; whoever stands 1 JOD above another wins 75 of 100 votes between the two",
    "Elo points": "whoever stands 100 points above another wins about 64 of 100 votes between the two",
}
"""Unit of scores by people -> what it means, in one line."""

STEP = "one step of a random walk from item to item along the votes; the more steps it takes to settle, the more votes"
"""What a step of the mixing time is."""

_ONE_RESAMPLE = re.compile(r"\b1 resamples\b")


def criterion_words(criterion: str | None) -> str:
    """A criterion as a reader sees it: 'image appeal' for 'image_appeal'; 'score' where it has no name."""
    return clean(criterion.replace("_", " ")) if criterion else "score"


def score_words(criterion: str | None) -> str:
    """What is counted on a criterion: 'style score', so that a criterion and a factor of one name part."""
    words = criterion_words(criterion)
    return words if words.lower().endswith("score") else f"{words} score"


def statistic_words(name: str) -> StatisticWords:
    """How that statistic is shown; one that is not known goes under its own name and nothing is marked."""
    return STATISTICS.get(name, StatisticWords(name.replace("_", " "), ""))


def note_words(note: str) -> str:
    """A note of a table as a sentence part: '1 resample gave no number', whoever counted it."""
    return _ONE_RESAMPLE.sub("1 resample", clean(note))


def capital(text: str) -> str:
    """The text with its first letter as a capital; the others stay as they are."""
    return text[:1].upper() + text[1:]


def stopped(text: str) -> str:
    """The quoted text as the end of a sentence, with one full stop after the quotation mark."""
    return quoted(text.strip().removesuffix(".")) + "."


def with_badges(text: str, badges: Sequence[str]) -> str:
    """The text with its badges in round brackets, for places that hold text only."""
    return f"{text} ({', '.join(badges)})" if badges else text


def quoted(text: str) -> str:
    """The text in quotation marks."""
    return f"\N{LEFT DOUBLE QUOTATION MARK}{text}\N{RIGHT DOUBLE QUOTATION MARK}"
