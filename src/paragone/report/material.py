"""`Material`: everything that a report may tell, gathered by whoever calls `report`. Every part may be absent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from ..benchmark import Benchmark
from ..consistency import Consistency
from ..evaluators.protocol.validation import CrossValidation
from ..judgements import Ratings, Votes
from ..scores import Agreement, Scores
from ..screen import Screening
from ..tables import Column, Schema, checked

__all__ = ["COMPOSITION", "Answers", "Material", "Shown", "answers_of"]

COMPOSITION = Schema(
    "composition",
    (
        Column(
            name="question", kind="text", required=True, nullable=False, doc="What participants were asked: age, ..."
        ),
        Column(name="answer", kind="text", doc="The answer; null: not given."),
        Column(name="n", kind="whole", low=0, required=True, nullable=False, doc="Participants who gave it."),
    ),
)

_CONSISTENCY = Schema(
    "consistency",
    (
        Column(name="statistic", kind="text", required=True, nullable=False, doc="icc_2_1, repeat_kappa, ..."),
        Column(name="criterion", kind="id", doc="What was judged; null: one unnamed criterion, or all together."),
        Column(name="stage", kind="id", doc="Stage of the study; null: all stages, or it has one."),
        Column(name="value", kind="number", doc="Its value; null: undefined."),
        Column(name="low", kind="number", doc="Lower end of the 95 % interval; null: none."),
        Column(name="high", kind="number", doc="Upper end of the 95 % interval; null: none."),
        Column(name="n", kind="number", low=0, doc="What it rests on (pairs, items or participants); null: unknown."),
        Column(name="note", kind="text", doc="Why there is no value, or what may surprise; null: nothing."),
    ),
)

_SCREENING = Schema(
    "screening",
    (
        Column(name="participant", kind="id", required=True, nullable=False, doc="Who answered."),
        Column(name="kept", kind="flag", required=True, nullable=False, doc="Whether the answers are used."),
    ),
)

_FLAGS = ("simulated", "random_weights", "reconstruction", "fallback_backbone")

_PER_CRITERION = Schema(
    "answers",
    (
        Column(name="criterion", kind="id", doc="What was asked; null: one unnamed criterion."),
        Column(name="participants", kind="whole", low=0, doc="Who answered; null: unknown."),
        Column(name="answers", kind="whole", low=0, required=True, nullable=False, doc="Answers that scores may use."),
        Column(name="items", kind="whole", low=0, doc="Items they speak of; null: unknown."),
    ),
)


@dataclass(frozen=True, kw_only=True)
class Answers:
    """How many people answered how much: the summary of votes or ratings that a report prints."""

    kind: Literal["votes", "ratings", "votes and ratings"]
    participants: int | None
    """People behind the answers; None: the table does not say who answered."""
    n: int
    """Answers that scores may use (checks and training apart)."""
    items: int
    """Different items that were judged."""
    per_criterion: pl.DataFrame
    """Columns criterion, participants, answers, items."""
    composition: pl.DataFrame | None = None
    """Columns question, answer, n, as in `COMPOSITION`; None: participants were not asked about themselves."""
    aside: int = 0
    """Answers that scores never use: those to checks, in training and to settle in."""
    each: Mapping[str, int] = field(default_factory=dict, repr=False)
    """Participant -> answers that scores may use, so that those of rejected people can be counted; ids are never shown.
    Empty: the table does not say who answered."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "per_criterion", checked(self.per_criterion, _PER_CRITERION, where="answers"))
        if self.composition is not None:
            object.__setattr__(self, "composition", checked(self.composition, COMPOSITION, where="composition"))


class Shown(NamedTuple):
    """A reference picture and what its card says."""

    factor: str
    level: str
    said: str
    """The card in one line; empty: it has none."""
    picture: Path


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a report is made of. A part that is None or empty becomes one sentence that says how to add it."""

    title: str = "Report"
    asked: str = ""
    """What participants were asked, in the words they read; empty: unknown."""
    study: str = ""
    """How people were asked, as the records of the study that asked them say, in a paragraph; empty: no such records."""
    human: Scores | None = None
    """Scores of the items by people."""
    level_scores: Sequence[Scores] = ()
    """Scores by people of the levels of a factor, one table per factor."""
    machine: Sequence[Scores] = ()
    """Scores of the same items by metrics and evaluators."""
    agreement: Agreement | None = None
    validations: Sequence[CrossValidation] = ()
    """Learned evaluators, metrics and floors on levels that they had not seen, one for each protocol."""
    screening: Screening | pl.DataFrame | None = None
    """Who was left out and why. A bare table has columns `participant`, `kept`, and `reasons` and `broken` (lists of
    text, or text parted by ';'): sentences, and names of the rules that reject; numeric columns are statistics of the
    participant, `median_seconds` among them."""
    consistency: Consistency | pl.DataFrame | None = None
    """How far people agree with people. A bare table has columns statistic, criterion, stage, value, low, high, n."""
    graph: Mapping[str, Any] | None = None
    """Facts about the graph of compared pairs: name -> value, or criterion -> such a mapping."""
    benchmark: Benchmark | None = None
    """Where pictures and factors of the items come from."""
    criteria: Sequence[str] = ()
    """What the study asked, in its order, which the page keeps; those that it does not name follow in the order of the
    benchmark, further ones at the end."""
    references: Sequence[Shown] = ()
    """Reference pictures with their cards, factor by factor."""
    answers: Answers | None = None
    provenance: Sequence[Mapping[str, Any]] = ()
    """One mapping per table that went in: table, verb, method, version, date, inputs with their SHA-256."""
    notes: Sequence[str] = ()
    """Warnings that a reader must see, one sentence each."""
    simulated: bool = False
    """The answers come from simulated participants; every number that rests on them carries the badge."""
    badges: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Name of a scores table -> further badges beside those in its `made["badges"]`."""

    def __post_init__(self) -> None:
        if isinstance(self.screening, pl.DataFrame):
            object.__setattr__(self, "screening", checked(self.screening, _SCREENING, where="screening"))
        if isinstance(self.consistency, pl.DataFrame):
            object.__setattr__(self, "consistency", checked(self.consistency, _CONSISTENCY, where="consistency"))

    @property
    def known_criteria(self) -> list[str]:
        """The criteria in the order of the study, then of the benchmark."""
        return list(dict.fromkeys([*self.criteria, *(self.benchmark.criteria if self.benchmark else ())]))

    @property
    def consistency_table(self) -> pl.DataFrame | None:
        """The table of consistency, however it was given; None where there is none."""
        given = self.consistency
        return checked(given.frame, _CONSISTENCY, where="consistency") if isinstance(given, Consistency) else given

    @property
    def screening_table(self) -> pl.DataFrame | None:
        """The table of the screening, however it was given; None where nobody was screened."""
        return self.screening.frame if isinstance(self.screening, Screening) else self.screening

    @property
    def made_up(self) -> bool:
        """Whether the answers of people are simulated, by any of the places that may say so."""
        said = self.human is not None and bool(self.human.made.get("simulated", False))
        return self.simulated or said or (self.benchmark is not None and self.benchmark.simulated)

    def badges_of(self, scores: Scores) -> list[str]:
        """Badges of a table of scores, without repeats.

        They come from its `made`: the flags `simulated`, `random_weights`, `reconstruction` and `fallback_backbone`,
        and the list `badges`; and from `badges` here.
        """
        said = [flag.replace("_", " ") for flag in _FLAGS if scores.made.get(flag)]
        listed = scores.made.get("badges", ())
        said += [listed] if isinstance(listed, str) else [str(word) for word in listed]
        return list(dict.fromkeys([*said, *self.badges.get(scores.name, ())]))

    @property
    def people_badges(self) -> list[str]:
        """Badges of every fact about participants."""
        return ["simulated"] if self.made_up else []

    @property
    def human_badges(self) -> list[str]:
        """Badges of every number that rests on the answers of people."""
        return list(dict.fromkeys([*self.people_badges, *(self.badges_of(self.human) if self.human else [])]))


def answers_of(votes: Votes | None = None, ratings: Ratings | None = None, *, about: Sequence[str] = ()) -> Answers:
    """Count who answered how much.

    Args:
        votes: pairwise answers, or None.
        ratings: single-item answers, or None.
        about: columns of the tables in which participants describe themselves (age group, device, ...); each becomes a
            question of the composition, counted once per participant by their first answer.

    Returns:
        The summary over all answers that scores may use, and how many others there were.
    """
    rows = [
        answers.main.frame.select("participant", "criterion", *(pl.col(name) for name in columns), *described)
        for answers, columns in ((votes, ("left", "right")), (ratings, ("item",)))
        if answers is not None
        for described in [[pl.col(name).cast(pl.String) for name in about if name in answers.frame.columns]]
    ]
    if not rows:
        empty = pl.DataFrame(schema={"criterion": pl.String, "participants": pl.Int64, "answers": pl.Int64})
        return Answers(kind="ratings", participants=None, n=0, items=0, per_criterion=empty)
    frame = pl.concat(rows, how="diagonal")
    shown = [name for name in ("left", "right", "item") if name in frame.columns]
    counted = [_counted(part, shown) for part in frame.partition_by("criterion", maintain_order=True)]
    per_criterion = pl.DataFrame(counted, infer_schema_length=None).sort("criterion", nulls_last=False)
    whole = _counted(frame, shown)
    composition = [
        frame.filter(pl.col("participant").is_not_null())
        .group_by("participant", maintain_order=True)
        .agg(answer=pl.col(name).first())
        .group_by("answer")
        .agg(n=pl.len())
        .sort("answer", nulls_last=True)
        .select(question=pl.lit(name), answer="answer", n=pl.col("n").cast(pl.Int64))
        for name in about
        if name in frame.columns
    ]
    given = [answers for answers in (votes, ratings) if answers is not None]
    kind: Literal["votes", "ratings", "votes and ratings"] = "votes" if ratings is None else "ratings"
    return Answers(
        kind="votes and ratings" if votes is not None and ratings is not None else kind,
        participants=whole["participants"],
        n=whole["answers"],
        items=whole["items"],
        per_criterion=per_criterion,
        composition=pl.concat(composition) if composition else None,
        aside=sum(answers.frame.height for answers in given) - frame.height,
        each=dict(frame["participant"].drop_nulls().value_counts().iter_rows()),
    )


def _counted(frame: pl.DataFrame, shown: Sequence[str]) -> dict[str, Any]:
    items = pl.concat([frame[name].drop_nulls().rename("item") for name in shown]).n_unique()
    people = frame["participant"].drop_nulls()
    return {
        "criterion": frame["criterion"][0],
        "participants": people.n_unique() if len(people) else None,
        "answers": frame.height,
        "items": items,
    }
