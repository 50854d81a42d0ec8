"""Settings of the screening rules: every threshold with its meaning, range and default."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..errors import BadConfig, UnknownName
from ..settings import Settings

__all__ = [
    "RULES",
    "Bt500",
    "Checks",
    "Completeness",
    "Correlation",
    "Distance",
    "Inconsistency",
    "Repeats",
    "ScreenRules",
    "Speed",
    "Straight",
]


class Checks(Settings, frozen=True):
    """Attention checks: trials of kind 'check' with a known right answer."""

    wrong: int = 1
    """Checks of a stage that may be missed where `needed` does not name the stage, >= 0; one right answer is always
    needed."""
    needed: dict[str, int] = msgspec.field(default_factory=dict)
    """Stage -> right answers needed, >= 0, however many were shown; for example {"1" = 5, "2" = 3}."""
    by_session: bool = False
    """Whether each session is judged by itself, as `study.toml` counts its checks; false: all of a stage together."""
    tolerance: float = 0.0
    """How far a rating may be from the right one, >= 0, in the unit of the ratings."""
    within: dict[str, float] = msgspec.field(default_factory=dict)
    """The same for single kinds of check (column `check`: broken, instructed), or for those of one stage
    ("rated/broken"), which go first, >= 0; others take `tolerance`."""


class Speed(Settings, frozen=True):
    """Answers too fast to have looked."""

    median: float = 1.0
    """Least median seconds a question, >= 0; our choice."""
    fast: float = 0.4
    """Seconds below which a single answer counts as too fast, >= 0; our choice: nobody compares two pictures faster."""
    share: float = 0.1
    """Largest share of too fast answers, in [0, 1]; our choice."""


class Straight(Settings, frozen=True):
    """The same answer over and over: the same side of a pair, or the same rating."""

    share: float = 0.95
    """Largest share of the most frequent answer (ratings: of one value), in [0, 1]; our choice."""
    run: int | None = None
    """Longest allowed row of equal answers, >= 1; left out: no limit. Chance alone gives runs of about log2(answers)
    sides."""
    answers: int = 10
    """Fewer answers than this are not judged, >= 1; our choice."""


class Bt500(Settings, frozen=True):
    """Erratic ratings by ITU-R BT.500-15, Annex 1, section 2.3.1; blind to a constant bias."""

    share: float = 0.05
    """Share of ratings far from the mean above which a participant is rejected, in [0, 1], if `balance` holds too."""
    balance: float = 0.3
    """abs(P - Q) / (P + Q) below which far ratings count as erratic and not as a bias, in [0, 1]."""
    convention: Literal["text", "sureal"] = "text"
    """text: as written (S with N - 1, items without spread skipped, share of own ratings); sureal: S with N, such items
    counted against everybody, share of all presentations, and nobody is rejected where everybody would be."""


class Correlation(Settings, frozen=True):
    """Ratings that do not follow those of the other participants."""

    threshold: float = 0.7
    """Least correlation, in [-1, 1]."""
    kind: Literal["pearson", "spearman"] = "pearson"
    """Which correlation."""
    against: Literal["others", "all"] = "others"
    """The mean of the others, or of all with the participant's own ratings (P.913, SUREAL)."""
    adaptive: bool = False
    """true: lower the threshold to (mean - standard deviation) of all participants' correlations where that is less,
    and reject at the threshold too, as SUREAL does."""


class Inconsistency(Settings, frozen=True):
    """Ratings that scatter far more than those of the other participants."""

    factor: float = 2.0
    """Largest inconsistency, in units of the middle participant's, >= 1; our choice: it separates people who rate at
    random from the rest in the Netflix set."""


class Repeats(Settings, frozen=True):
    """Trials that were asked twice: the same winning item, or the same rating."""

    agreement: float = 0.5
    """Least share of repeats answered as before, in [0, 1]; a coin gives 0.5 on pairs."""
    tolerance: float = 0.0
    """How far a repeated rating may be from the first, >= 0, in the unit of the ratings."""
    answers: int = 4
    """Fewer repeats than this are not judged, >= 1; our choice."""


class Completeness(Settings, frozen=True):
    """Sessions that were broken off."""

    share: float = 0.9
    """Least share of the expected answers, in [0, 1]."""
    expected: int | None = None
    """Answers of a whole session; left out: the most that any participant of the same stages gave."""
    answers: int | None = None
    """Least number of answers, >= 0, in place of `share`; left out: `share` decides."""


class Distance(Settings, frozen=True):
    """Votes that the other participants' scores make unlikely; the distance is handed in (pwcmp's outlier analysis)."""

    threshold: float = 1.5
    """Largest distance from the quartile, in inter-quartile ranges."""


RULES = ("checks", "speed", "straight", "repeats", "completeness", "bt500", "correlation", "inconsistency", "distance")
"""Names of the rules, in the order in which reasons are given."""


class ScreenRules(Settings, frozen=True):
    """Which rules may reject a participant, and their thresholds."""

    reject: tuple[str, ...] = ("checks",)
    """Rules that reject. The others are computed and shown, and what they would say stands under `remarks`."""
    checks: Checks = Checks()
    speed: Speed = Speed()
    straight: Straight = Straight()
    repeats: Repeats = Repeats()
    completeness: Completeness = Completeness()
    bt500: Bt500 = Bt500()
    correlation: Correlation = Correlation()
    inconsistency: Inconsistency = Inconsistency()
    distance: Distance = Distance()

    def __post_init__(self) -> None:
        for name in self.reject:
            if name not in RULES:
                error = UnknownName.among(name, RULES, "screening rule")
                raise BadConfig(error.message, where="reject")
        for place, value, low, high in self._ranges():
            if value is not None and not low <= value <= high:
                raise BadConfig(f"{place} = {value} is not between {low:g} and {high:g}", where=place)

    def _ranges(self) -> list[tuple[str, float | None, float, float]]:
        most = 1e12  # our choice: no threshold means more, and whole numbers stay within 64 bits
        return [
            ("checks.wrong", self.checks.wrong, 0, most),
            *[(f"checks.needed.{stage}", k, 0, most) for stage, k in self.checks.needed.items()],
            ("checks.tolerance", self.checks.tolerance, 0, most),
            *[(f"checks.within.{check}", far, 0, most) for check, far in self.checks.within.items()],
            ("speed.median", self.speed.median, 0, most),
            ("speed.fast", self.speed.fast, 0, most),
            ("speed.share", self.speed.share, 0, 1),
            ("straight.share", self.straight.share, 0, 1),
            ("straight.run", self.straight.run, 1, most),
            ("straight.answers", self.straight.answers, 1, most),
            ("repeats.agreement", self.repeats.agreement, 0, 1),
            ("repeats.tolerance", self.repeats.tolerance, 0, most),
            ("repeats.answers", self.repeats.answers, 1, most),
            ("completeness.share", self.completeness.share, 0, 1),
            ("completeness.expected", self.completeness.expected, 1, most),
            ("completeness.answers", self.completeness.answers, 0, most),
            ("bt500.share", self.bt500.share, 0, 1),
            ("bt500.balance", self.bt500.balance, 0, 1),
            ("correlation.threshold", self.correlation.threshold, -1, 1),
            ("inconsistency.factor", self.inconsistency.factor, 1, most),
            ("distance.threshold", self.distance.threshold, 0, most),
        ]
