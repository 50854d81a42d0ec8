"""What a leaderboard page says beside its numbers: who judged, what it learned from, and which results are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from .. import __version__
from ..benchmark import Benchmark
from ..evaluators.evaluator import Errors, Evaluator
from ..scores import Better, Scores
from .digits import with_interval
from .words import criterion_words

__all__ = ["MOST_SHOWN", "LeaderFacts", "ShownResult", "leader_facts", "shown_results"]

MOST_SHOWN = 12
"""Results in the strip of pictures."""


@dataclass(frozen=True, kw_only=True)
class LeaderFacts:
    """What a leaderboard says about the evaluator that rated, and about the rating."""

    evaluator: str
    factor: str
    """What is ranked, for example 'method'; empty: nothing is, and the page shows scores alone."""
    better: Better
    learners: Mapping[str | None, str]
    """Criterion -> learner, and what its head does not see."""
    errors: Mapping[str | None, Errors]
    """Criterion -> how wrong it was on what it had not seen."""
    features: str
    """Exact definition of the features, which begins with their name."""
    backbone: str
    source: str
    """Where the backbone's weights came from."""
    sha256: str
    """SHA-256 of the weights; empty: they come from no file."""
    items: int
    """Items with scores of people that it learned from."""
    levels: Mapping[str, int]
    """Factor -> how many levels those items have."""
    badges: tuple[str, ...] = ()
    benchmark: str = ""
    """Name of the benchmark; empty: unknown."""
    references: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Factor -> levels that the new results were made from; empty: not told."""
    answers: int | None = None
    """Answers of people behind the scores that it learned; None: not recorded."""
    participants: int | None = None
    """People who gave them; None: not recorded."""
    trained: str = ""
    """Date of training; empty: not recorded."""
    trained_with: str = ""
    """Version of paragone that trained it; empty: not recorded."""
    rated: str = ""
    """Date of the rating; empty: not recorded."""
    rated_with: str = __version__
    folder: str = ""
    """Where the evaluator lies, from the folder that holds its benchmark; empty: not told."""


class ShownResult(NamedTuple):
    """A new result and the pictures it was made from."""

    caption: str
    result: Path
    content: Path | None = None
    style: Path | None = None
    said: str = ""
    """A second line, for example its scores."""
    far: bool = False
    """It lies out of the evaluator's range, and is marked so."""


def leader_facts(
    evaluator: Evaluator,
    benchmark: str = "",
    *,
    rated: Scores | None = None,
    new: Benchmark | None = None,
    folder: str = "",
) -> LeaderFacts:
    """Gather what a leaderboard says about an evaluator.

    Args:
        evaluator: what rated.
        benchmark: name of the benchmark.
        rated: its scores of the new items, whose record names date and version; None: not told.
        new: the new items, whose factors name the references; None: not told.
        folder: where the evaluator lies, from the folder that holds its benchmark; empty: not told.
    """
    read, made = evaluator.read, evaluator.made
    behind: Mapping[str, Any] = made.get("rests_on", {})
    referenced: dict[str, list[str]] = {}
    if new is not None:
        shown = new.references["factor"].unique().to_list()
        referenced = {name: new.items[name].drop_nulls().unique().sort().to_list() for name in sorted(shown)}
    record: Mapping[str, Any] = {} if rated is None else rated.made
    return LeaderFacts(
        evaluator=evaluator.name,
        factor=evaluator.factor,
        better=evaluator.better,
        learners={criterion: evaluator.learner_of(criterion) for criterion in evaluator.heads},
        errors={criterion: head.errors for criterion, head in evaluator.heads.items()},
        features=read.definition,
        backbone=read.label,
        source=read.source,
        sha256=read.sha256,
        items=evaluator.people["item"].n_unique(),
        levels={name: evaluator.people[name].drop_nulls().n_unique() for name in evaluator.factors()},
        badges=tuple(flag.replace("_", " ") for flag in evaluator.flags),
        benchmark=benchmark,
        references={name: levels for name, levels in referenced.items() if levels},
        answers=behind.get("answers"),
        participants=behind.get("participants"),
        trained=str(made.get("date", "")),
        trained_with=str(made.get("paragone", "")),
        rated=str(record.get("date", "")),
        rated_with=str(record.get("paragone", __version__)),
        folder=folder,
    )


def shown_results(new: Benchmark, rated: Scores, *, most: int = MOST_SHOWN) -> list[ShownResult]:
    """Choose results to show: those out of range first, then the best and the worst by their mean place over criteria.

    Args:
        new: items and references of the new method; paths as `Benchmark` gives them.
        rated: scores of the items; `made["far"]` names those out of range.
        most: how many, at most a third of them for being out of range.
    """
    far = set(rated.made.get("far", ()))
    scored = rated.frame.drop_nulls("score")
    place = pl.col("score").rank(descending=rated.better != "lower").over("criterion")
    items = (
        scored.with_columns(place=place)
        .group_by("item")
        .agg(pl.col("place").mean())
        .sort("place", "item")["item"]
        .to_list()
    )
    outside = [item for item in items if item in far][: most // 3]
    rest = [item for item in items if item not in outside]
    half = (most - len(outside)) // 2
    best = rest[: most - len(outside) - half]
    worst = rest[max(len(best), len(rest) - half) :]
    chosen = [*outside, *best, *worst]
    told = {(row["item"], row["criterion"]): row for row in rated.frame.iter_rows(named=True)}
    images = {row["item"]: row for row in new.items.iter_rows(named=True)}
    named = new.references.select("factor", "level", "image").iter_rows()
    pictures = {(factor, level): new.folder / path for factor, level, path in named}
    made = []
    for item in chosen:
        row = images[item]
        over = " over all criteria" if len(rated.criteria) > 1 else ""
        said = [f"place {items.index(item) + 1} of {len(items)}{over}"]
        said += [
            f"{criterion_words(name)} {with_interval(own['score'], own['low'], own['high'])}"
            for name in rated.criteria
            if (own := told.get((item, name))) is not None
        ]
        content, style = (pictures.get((factor, row.get(factor))) for factor in ("content", "style"))
        made.append(ShownResult(item, new.folder / row["image"], content, style, "\n".join(said), item in far))
    return made
