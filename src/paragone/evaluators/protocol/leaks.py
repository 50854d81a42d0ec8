"""`audit`: look for ways in which held-out items reach a model, by changing them and seeing whether it changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...errors import BadInput
from ...features.described import Features
from ...scores import Scores
from ...splits import Fold
from ..entrant import Entrant, Exam, asked, trained
from ..task import Fitted
from .exams import Refit, exams_of, levels_of

__all__ = ["CHECKS", "Finding", "audit"]

CHECKS: Mapping[str, str] = {
    "overlap": "an item is both learned from and asked about",
    "level": "an item of a held-out level is learned from",
    "twin": "a held-out picture has exactly the features of a training picture",
    "repeat": "the same data and seed gave another model, so that nothing can be told from a change",
    "features": "other features of held-out items gave another model",
    "scores": "other scores of held-out items gave another model",
    "votes": "other votes on held-out items gave other training targets",
    "neighbours": "a prediction depends on which other items are asked about with it",
}
"""What is looked for, by its name in a finding."""

_NEAR = 1e-4  # of the predictions' spread: single precision sums batches of other sizes in another order


class Finding(NamedTuple):
    """One leak."""

    check: str
    """A name of `CHECKS`."""
    predictor: str
    """The entrant; empty where the split itself leaks."""
    fold: str
    message: str
    """One line: what changed, and by how much."""
    items: tuple[str, ...] = ()
    """Items that show it, at most ten."""


def audit(
    features: Features,
    people: Scores,
    fold: Fold,
    entrant: Entrant | Callable[[Features, Scores], Entrant],
    *,
    levels: Mapping[str, str],
    prepare: Callable[[Features], Features] | None = None,
    votes: Callable[[frozenset[str]], Refit] | None = None,
    targets: Literal["all", "refit"] = "all",
    seed: int = 0,
) -> list[Finding]:
    """Train one fold again and again, each time with something else about its held-out items, and report any change.

    Held-out features, scores and votes are replaced by others one after the other; each time the model is asked about
    the held-out items as they are. Its answers must stay equal to the last bit. Then it is asked about each half of them
    alone: an answer must not depend on its neighbours.

    Args:
        features: of all items, as they came out of the network.
        people: item scores from all votes.
        fold: the split.
        entrant: the learner. Where it is made with the data at hand (a projection fitted before, a chosen column), give
            the function that makes it out of features and scores: only then can what it saw there be found.
        levels: item -> level of the held-out factor, by which a learner makes inner folds.
        prepare: what is done to the features before the split, for example a scaler; it runs again on the changed ones.
        votes: items -> a `refit` over the votes in which the answers about these items were replaced by others. With it
            targets come from votes, as `targets` says, and changed votes are a check of their own. None: they are
            people's scores.
        targets: 'all' estimates them from all votes, which by itself is a leak that 'votes' reports; 'refit' without the
            held-out items.
        seed: of the learner and of what replaces the held-out data.

    Returns:
        What was found, in the order of `CHECKS`; empty: no leak.

    Raises:
        BadInput: targets = 'refit' without votes.
        TooFew: the fold has fewer than three training items with features and a score.
    """
    if targets == "refit" and votes is None:
        raise BadInput("targets = 'refit' needs votes: the function that gives a refit over votes", where="votes")
    levels_of({fold.factor: levels}, [fold])  # every item has one
    found = _of_split(features, fold, levels)
    rng = np.random.default_rng(seed)
    held = frozenset(fold.test)

    def outcome(given: Features, scores: Scores, refit: Refit | None) -> _Outcome:
        used = given if prepare is None else prepare(given)
        asks = features if prepare is None else prepare(features)
        made = entrant if isinstance(entrant, Entrant) else entrant(used, scores)
        exams, _ = exams_of(used, scores, [fold], levels, refit=refit)
        models = trained(made, exams, used, seed=seed)
        answers = [asked(made, own, exam, asks).score for own, exam in zip(models, exams, strict=True)]
        return _Outcome(made, exams, models, asks, answers)

    def refit_of(changed: frozenset[str]) -> Refit | None:
        if votes is None:
            return None
        estimated = votes(changed)
        return estimated if targets == "refit" else lambda _: estimated(frozenset())

    first = outcome(features, people, refit_of(frozenset()))
    name = first.entrant.name
    changes: dict[str, _Outcome] = {"repeat": outcome(features, people, refit_of(frozenset()))}
    changes["features"] = outcome(_other_features(features, held, rng), people, refit_of(frozenset()))
    changes["scores"] = outcome(features, _other_scores(people, held, rng), refit_of(frozenset()))
    if votes is not None:
        changes["votes"] = outcome(features, people, refit_of(held))
    for check, changed in changes.items():
        for exam, before, after, other in zip(first.exams, first.answers, changed.answers, changed.exams, strict=True):
            moved = check == "repeat" or not any(own.check == "repeat" for own in found)
            moved = moved and not np.array_equal(before, after, equal_nan=True)
            if moved or exam.train != other.train or not np.array_equal(exam.y, other.y):
                found.append(Finding(check, name, fold.name, _changed(check, exam, before, after, other)))
                break
    found += _of_neighbours(first, fold)
    order = list(CHECKS)
    return sorted(found, key=lambda own: order.index(own.check))


class _Outcome(NamedTuple):
    entrant: Entrant
    exams: list[Exam]
    models: list[Fitted]
    features: Features
    answers: list[NDArray[np.float64]]


def _changed(check: str, exam: Exam, before: NDArray[np.float64], after: NDArray[np.float64], other: Exam) -> str:
    if exam.train != other.train:
        return f"{exam.name}: {CHECKS[check]} (other training items)"
    if not np.array_equal(exam.y, other.y):
        return f"{exam.name}: {CHECKS[check]} (by up to {float(np.abs(exam.y - other.y).max()):.3g})"
    return f"{exam.name}: {CHECKS[check]} (predictions moved by up to {float(np.nanmax(np.abs(before - after))):.3g})"


def _of_split(features: Features, fold: Fold, levels: Mapping[str, str]) -> list[Finding]:
    found = []
    both = sorted(set(fold.train) & set(fold.test))
    if both:
        found.append(Finding("overlap", "", fold.name, f"{len(both)} items: {CHECKS['overlap']}", tuple(both[:10])))
    known = [item for item in fold.train if levels.get(item) in fold.levels]
    if known:
        found.append(Finding("level", "", fold.name, f"{len(known)} items: {CHECKS['level']}", tuple(known[:10])))
    columns = [at for block in features.blocks if "image" in block.reads for at in range(block.start, block.stop)]
    rows = features.values[:, columns] if columns else features.values
    digests = {item: hashlib.sha256(row.tobytes()).digest() for item, row in zip(features.items, rows, strict=True)}
    learned = {digests[item] for item in fold.train if item in digests}
    twins = [item for item in fold.test if item not in both and digests.get(item) in learned]
    if twins:
        found.append(Finding("twin", "", fold.name, f"{len(twins)} items: {CHECKS['twin']}", tuple(twins[:10])))
    return found


def _of_neighbours(first: _Outcome, fold: Fold) -> list[Finding]:
    for model, exam, whole in zip(first.models, first.exams, first.answers, strict=True):
        if len(exam.test) < 2:
            continue
        halves = exam.test[::2], exam.test[1::2]
        apart = np.empty(len(whole))
        for at, half in enumerate(halves):
            apart[at::2] = asked(first.entrant, model, exam, first.features, items=half).score
        gap = np.abs(apart - whole)
        spread = max(float(np.ptp(whole)), float(np.std(exam.y)), 1e-12)
        moved = np.flatnonzero(gap > _NEAR * spread)
        if len(moved):
            message = f"{exam.name}: {CHECKS['neighbours']} (by up to {float(gap.max()):.3g})"
            return [
                Finding("neighbours", first.entrant.name, fold.name, message, tuple(exam.test[at] for at in moved[:10]))
            ]
    return []


def _other_features(features: Features, held: frozenset[str], rng: np.random.Generator) -> Features:
    """The same with rows of held-out items that have another mean, spread and order."""
    at = [row for row, item in enumerate(features.items) if item in held]
    values = features.values.copy()
    scale = 1.0 + np.abs(values).max(axis=0, initial=0.0)
    noise = rng.standard_normal((len(at), values.shape[1])).astype(np.float32)
    values[at] = (3.0 + 10.0 * noise) * scale
    return replace(features, values=values)


def _other_scores(people: Scores, held: frozenset[str], rng: np.random.Generator) -> Scores:
    """The same with scores of held-out items drawn anew, far from what they were; who has a score stays."""
    frame = people.frame
    spread = float(frame["score"].drop_nulls().std() or 1.0) or 1.0  # type: ignore[arg-type]
    noise = pl.Series("noise", 10.0 * spread * rng.standard_normal(frame.height))
    change = pl.col("item").is_in(list(held)) & pl.col("score").is_not_null()
    frame = frame.with_columns(noise).with_columns(
        pl.when(change).then(pl.col("score") + pl.col("noise")).otherwise(pl.col("score")).alias("score")
    )
    return replace(people, frame=frame.drop("noise"), draws=None)
