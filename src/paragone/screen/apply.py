"""`screen`: the only place where tables meet the rules; and the record of what they said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import polars as pl

from ..errors import BadConfig, BadInput, UnknownName
from ..judgements import Ratings, Votes
from ..stats.resample import percentile_interval
from ..stats.statistic import Statistic
from .settings import RULES, ScreenRules
from .verdicts import NEEDS_RATINGS, VERDICTS, Asked, Verdict

__all__ = ["Screening", "screen", "seconds_per_question"]

Answers = TypeVar("Answers", bound=Votes | Ratings)

_UNKNOWN = "(unknown)"  # the one person of rows without a participant
_MEASURED = ("distance", "inconsistency")


@dataclass(frozen=True)
class Screening:
    """Who is kept, who is not, and why."""

    frame: pl.DataFrame
    """One row a participant, sorted: participant, kept, reasons (of the rules that reject), broken (those rules'
    names), remarks (what the other rules would say), and one column for each statistic, null where there is none."""
    rules: ScreenRules
    """The rules that were applied."""

    @property
    def submitted(self) -> int:
        """Participants who gave answers."""
        return self.frame.height

    @property
    def retained(self) -> int:
        """Participants who are kept."""
        return int(self.frame["kept"].sum())

    @property
    def rejected(self) -> int:
        """Participants who are not kept."""
        return self.submitted - self.retained

    @property
    def rejected_by(self) -> dict[str, int]:
        """Rule -> how many broke it, for the rules that reject; somebody may break several."""
        broken = self.frame["broken"].explode(empty_as_null=True).to_list()
        return {name: broken.count(name) for name in RULES if name in self.rules.reject}

    def apply(self, answers: Answers) -> Answers:
        """The answers of the participants who are kept.

        Raises:
            BadInput: an answer comes from somebody who was not screened.
        """
        known = dict(zip(self.frame["participant"], self.frame["kept"], strict=True))
        people = answers.frame["participant"].fill_null(_UNKNOWN)
        strangers = sorted(set(people) - set(known))
        if strangers:
            raise BadInput(f"participant '{strangers[0]}' was not screened; screen the same answers again")
        kept = people.replace_strict(known, return_dtype=pl.Boolean)
        return type(answers)(answers.frame.filter(kept))

    def document(self) -> dict[str, Any]:
        """The record as plain lists and numbers, for JSON."""
        spoken = ("participant", "kept", "reasons", "broken", "remarks")
        people = [
            {
                **{name: row[name] for name in spoken},
                "statistics": {name: value for name, value in row.items() if name not in spoken and value is not None},
            }
            for row in self.frame.iter_rows(named=True)
        ]
        counts = {"submitted": self.submitted, "retained": self.retained, "rejected": self.rejected}
        return {"participants": people, **counts, "rejected_by": self.rejected_by}


def screen(
    answers: Votes | Ratings,
    rules: ScreenRules | None = None,
    *,
    measured: Mapping[str, Mapping[str, float]] | None = None,
) -> Screening:
    """Say for every participant whether to keep their answers, and why not.

    Only the rules named in `rules.reject` reject anybody: by default the attention checks, where there are any. All
    other rules are computed too; what they would say stands under `remarks`, so that nobody is left out silently and
    nobody stays in unnoticed. Rules are applied once, not again to those who remain.

    Args:
        answers: votes or ratings, checks and repeats among them, in the order in which they were given.
        rules: which rules reject, and their thresholds.
        measured: statistics that a scoring model knows better, statistic -> participant -> number: 'inconsistency' (of
            P.910, in place of the plain deviation), 'distance' (pwcmp's outlier analysis of votes).

    Returns:
        One row a participant with reasons and statistics.

    Raises:
        BadConfig: a rule that is to reject cannot be applied to these answers.
        BadInput: `answers` are neither votes nor ratings, or there are none.
        UnknownName: `measured` names another statistic, or somebody who gave no answer.
    """
    if not isinstance(answers, (Votes, Ratings)):
        raise BadInput(
            f"screen takes Votes or Ratings, not {type(answers).__name__}; read them with read_votes or read_ratings",
            where="answers",
        )
    rules = rules or ScreenRules()
    names, asked = _asked(answers, measured or {})
    for name in rules.reject:
        if name == "distance" and "distance" not in asked.measured:
            raise BadConfig("rule 'distance' needs the outlier distances of a scoring model; hand them in as measured")
        if asked.votes and name in NEEDS_RATINGS and name not in asked.measured:
            raise BadConfig(f"rule '{name}' needs ratings, and these are votes; leave it out of reject", where=name)
    verdicts = {name: VERDICTS[name](asked, rules) for name in RULES}
    rejecting = {name: verdicts[name] for name in RULES if name in rules.reject}
    others = {name: verdict for name, verdict in verdicts.items() if name not in rejecting}
    reasons, broken = _said(rejecting, asked.people)
    remarks, _ = _said(others, asked.people)
    words = pl.List(pl.String)
    frame = pl.DataFrame(
        {
            "participant": pl.Series(names, dtype=pl.String),
            "kept": [not reason for reason in reasons],
            "reasons": pl.Series(reasons, dtype=words),
            "broken": pl.Series(broken, dtype=words),
            "remarks": pl.Series(remarks, dtype=words),
            **{
                column: pl.Series(values, dtype=pl.Float64, strict=False)
                for verdict in verdicts.values()
                for column, values in verdict.statistics.items()
            },
        }
    )
    return Screening(frame, rules)


def _asked(answers: Votes | Ratings, measured: Mapping[str, Mapping[str, float]]) -> tuple[list[str], Asked]:
    frame = answers.frame
    if frame.height == 0:
        raise BadInput("no answers to screen")
    names = sorted(frame["participant"].fill_null(_UNKNOWN).unique())
    number = {name: index for index, name in enumerate(names)}
    votes = isinstance(answers, Votes)
    said = pl.col("choice") if votes else pl.col("value")
    if votes:
        left, right = pl.col("choice") == "left", pl.col("choice") == "right"
        winner = pl.when(left).then(pl.col("left")).when(right).then(pl.col("right"))
        pair = pl.concat_list("left", "right").list.sort().list.join("\n")
        coded = [winner.otherwise(pl.lit("\ntie")).alias("answer"), pair.alias("shown")]
    else:
        coded = [pl.col("value").cast(pl.String).alias("answer"), pl.col("item").alias("shown")]
    frame = frame.with_row_index("row").with_columns(
        pl.col("participant").fill_null(_UNKNOWN).replace_strict(number, return_dtype=pl.Int64).alias("person"),
        pl.col("stage").fill_null(""),
        said.alias("said"),
        *coded,
    )
    handed: dict[str, list[float | None]] = {}
    for statistic, values in measured.items():
        if statistic not in _MEASURED:
            raise UnknownName.among(statistic, _MEASURED, "measured statistic")
        for person in values:
            if person not in number:
                raise UnknownName.among(person, names, "participant")
        handed[statistic] = [None if np.isnan(values.get(name, np.nan)) else float(values[name]) for name in names]
    return names, Asked(frame, len(names), votes, handed)


def _said(verdicts: Mapping[str, Verdict], people: int) -> tuple[list[list[str]], list[list[str]]]:
    """For each participant the sentences of the rules that are broken, and the rules' names."""
    sentences: list[list[str]] = [[] for _ in range(people)]
    names: list[list[str]] = [[] for _ in range(people)]
    for name, verdict in verdicts.items():
        for person, sentence in enumerate(verdict.broken):
            if sentence is not None:
                sentences[person].append(sentence)
                names[person].append(name)
    return sentences, names


def seconds_per_question(
    screening: Screening, *, replicates: int = 2000, level: float = 0.95, seed: int = 0
) -> dict[str, Statistic]:
    """How long those who are kept and those who are not took for a question.

    Args:
        screening: who is kept, with each participant's median seconds.
        replicates: bootstrap replicates over participants, >= 1.
        level: coverage of the percentile intervals, in (0, 1).
        seed: the same seed gives the same intervals.

    Returns:
        'retained' and 'rejected': the median over participants of their median seconds a question, n participants with
        a time; undefined without any, no interval for one.
    """
    rng = np.random.default_rng(seed)
    found = {}
    for group, kept in (("retained", True), ("rejected", False)):
        rows = screening.frame.filter((pl.col("kept") == kept) & pl.col("median_seconds").is_not_null())
        seconds = rows["median_seconds"].to_numpy()
        if not seconds.size:
            found[group] = Statistic.undefined(0, f"no response times of {group} participants")
        elif seconds.size == 1:
            found[group] = Statistic(float(seconds[0]), np.nan, np.nan, 1, "one participant; no interval")
        else:
            draws = np.median(seconds[rng.integers(seconds.size, size=(replicates, seconds.size))], axis=1)
            bounds = percentile_interval(draws, level=level)
            found[group] = Statistic(float(np.median(seconds)), float(bounds.low), float(bounds.high), seconds.size)
    return found
