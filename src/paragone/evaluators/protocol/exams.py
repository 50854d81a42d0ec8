"""Exams: for each fold and criterion what is learned from and what is asked, and what had to be left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ...errors import BadInput, BadTable
from ...features.described import Features
from ...scores import Scores
from ...splits import Fold
from ..entrant import Exam

__all__ = ["Levels", "Refit", "exams_of", "levels_of", "scored_items"]

Levels = dict[str, dict[str, str]]
"""Factor -> item -> level; an item that is not there has none."""
Refit = Callable[[frozenset[str]], Scores]
"""Held-out items -> people's scores, estimated anew from the votes that touch none of them."""

_SHOWN = 50  # most items that a note lists


def exams_of(
    features: Features,
    people: Scores,
    folds: Sequence[Fold],
    levels: Mapping[str, str],
    *,
    refit: Refit | None = None,
) -> tuple[list[Exam], dict[str, Any]]:
    """One exam for each fold and criterion, fold by fold, and what had to be left out.

    Args:
        features: of the items.
        people: scores from all votes: the targets, unless there is `refit`; the test items are those that they score.
        folds: of one factor.
        levels: item -> level of that factor, by which inner folds are made.
        refit: targets without the held-out items.

    Returns:
        The exams (none for a fold without a test item); and counts and names of items without features, without a score
        and without a refitted target.

    Raises:
        BadInput: refit gave scores of levels.
    """
    seen = set(features.items)
    numbers = {level: at for at, level in enumerate(sorted(set(levels.values())))}
    all_votes = {criterion: scored_items(people, criterion) for criterion in people.criteria}
    asked_for = sorted({item for fold in folds for item in (*fold.train, *fold.test)})
    exams = []
    unfit: dict[str, int] = {}
    for at, fold in enumerate(folds):
        targets = all_votes
        if refit is not None:
            again = refit(frozenset(fold.test))
            if again.frame.height and again.key != "item":
                raise BadInput(f"refit gave scores of levels of a factor for {fold.name}; it must score items")
            targets = {criterion: scored_items(again, criterion) for criterion in people.criteria}
        for criterion, truth in all_votes.items():
            target = targets[criterion]
            train = tuple(item for item in fold.train if item in target and item in seen)
            test = tuple(item for item in fold.test if item in truth and item in seen)
            lost = sum(item in truth and item in seen and item not in target for item in fold.train)
            if lost:
                unfit[f"{criterion or 'score'}, {fold.name}"] = lost
            if not test:
                continue
            y = np.array([target[item] for item in train], dtype=np.float64)
            groups = np.array([numbers[levels[item]] for item in train], dtype=np.int64)
            exams.append(Exam(f"{criterion or 'score'}, {fold.name}", criterion, at, train, y, groups, test))
    without = [item for item in asked_for if item not in seen]
    left_out: dict[str, Any] = {
        "without_level": _listed(sorted({item for fold in folds for item in fold.left_out})),
        "without_features": _listed(without),
        "without_score": {
            criterion or "score": _listed([item for item in asked_for if item not in truth])
            for criterion, truth in all_votes.items()
        },
        "scored_in_no_fold": _listed(sorted(set().union(*all_votes.values()) - set(asked_for))),
        "without_refitted_target": unfit,
    }
    return exams, left_out


def scored_items(scores: Scores, criterion: str | None) -> dict[str, float]:
    """Item -> score of one criterion; items without a usable score are not in it."""
    rows = scores.of_criterion(criterion).filter(
        pl.col("score").is_not_null() & pl.col("score").is_finite() & (pl.col("status") == "ok")
    )
    return dict(zip(rows["item"].to_list(), rows["score"].to_list(), strict=True))


def levels_of(factors: Mapping[str, Mapping[str, str]] | pl.DataFrame | None, folds: Sequence[Fold]) -> Levels:
    """Levels of all factors; those of the held-out one from the folds where `factors` lacks it.

    Args:
        factors: as `crossval` takes them.
        folds: of one factor.

    Raises:
        BadInput: no folds, folds of several factors or of one name, or levels of the held-out factor that cannot be told.
        BadTable: no column `item`, or an item stands twice.
    """
    if not folds:
        raise BadInput("crossval needs folds; see paragone.splits")
    names = [fold.name for fold in folds]
    held_out = sorted({fold.factor for fold in folds})
    if len(held_out) > 1 or len(set(names)) < len(names):
        raise BadInput(f"folds hold out {', '.join(held_out)}; give folds of one factor, each under its own name")
    found: Levels = {}
    if isinstance(factors, pl.DataFrame):
        if "item" not in factors.columns:
            raise BadTable("factors: no column 'item'", where="factors")
        if factors["item"].is_duplicated().any():
            raise BadTable(f"factors: item '{factors.filter(pl.col('item').is_duplicated())['item'][0]}' stands twice")
        for name in factors.columns:
            if name != "item":
                own = factors.select("item", pl.col(name).cast(pl.String)).drop_nulls()
                found[name] = dict(own.iter_rows())
    elif factors is not None:
        found = {name: dict(own) for name, own in factors.items()}
    if held_out[0] not in found:
        if any(len(fold.levels) > 1 for fold in folds):
            raise BadInput(
                f"folds hold out several levels of {held_out[0]} together; give its levels among the factors",
                where="factors",
            )
        found[held_out[0]] = {item: fold.levels[0] for fold in folds for item in fold.test}
    own_levels = found[held_out[0]]
    bare = [item for fold in folds for item in (*fold.train, *fold.test) if item not in own_levels]
    if bare:
        raise BadInput(f"item '{bare[0]}' of the folds has no level of {held_out[0]} among the factors", where=bare[0])
    return found


def _listed(items: Sequence[str]) -> dict[str, Any]:
    return {"n": len(items), "items": list(items[:_SHOWN])}
