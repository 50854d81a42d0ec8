"""Scores of people from answers that touch no held-out item: what a strict validation learns from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from ..errors import BadConfig
from ..estimate import Question, estimate
from ..judgements import Ratings, Votes
from ..scores import Scores
from .answers import answer_files, read_answers
from .screened import kept_by, those

__all__ = ["refitting"]

_ASKED = ("intervals", "replicates", "confidence", "seed", "temperature", "reliability", "apart")


def refitting(folder: Path, people: Scores) -> Callable[[frozenset[str]], Scores]:
    """Give the function that estimates people's scores anew, by the method and settings of `people`, without some items.

    Args:
        folder: holds votes.csv or ratings.csv, and screening.csv where `people` were screened.
        people: scores whose record says how they were estimated.

    Returns:
        held-out items -> scores of the others from answers that touch none of them, without intervals.

    Raises:
        BadConfig: `people` do not say how they were estimated.
        NotFound: the folder holds no answers.
    """
    method = people.made.get("method")
    if people.made.get("verb") != "score" or not isinstance(method, str):
        raise BadConfig(
            f"{people.name} does not say how it was estimated, so it cannot be estimated anew; "
            "score the answers with paragone score, or take targets 'all'",
            where=people.name,
        )
    answers = read_answers(answer_files(folder=folder))
    if people.made.get("screened"):
        answers = those(answers, kept_by(folder / "screening.csv"))
    settings = dict(people.made.get("settings", {}))
    question = Question(
        intervals="none",
        temperature=settings.get("temperature") or {},
        reliability=settings.get("reliability") or {},
        apart=bool(settings.get("apart", False)),
    )
    options = {key: value for key, value in settings.items() if key not in _ASKED}

    def refit(held_out: frozenset[str]) -> Scores:
        tables = [_without(one, held_out) for one in (answers if isinstance(answers, tuple) else (answers,))]
        kept = tables[0] if len(tables) == 1 else (tables[0], tables[1])
        return estimate(kept, method, question=question, name=people.name, **options)  # type: ignore[arg-type]

    return refit


def _without(answers: Votes | Ratings, held_out: frozenset[str]) -> Votes | Ratings:
    sides = ("item",) if isinstance(answers, Ratings) else ("left", "right")
    frame = answers.frame.filter(~pl.any_horizontal(pl.col(side).is_in(sorted(held_out)) for side in sides))
    return Ratings(frame) if isinstance(answers, Ratings) else Votes(frame)
