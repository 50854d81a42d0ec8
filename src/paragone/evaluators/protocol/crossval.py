"""`crossval`: train on some levels of a factor, ask about the others, and judge learners, metrics and floors alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ...errors import BadInput
from ...features.described import Features
from ...parallel import track
from ...scores import Scores
from ...splits import Fold
from ..entrant import Entrant, Exam, asked, trained
from ..task import Predicted
from .beside import floors_beside, learned_means, metrics_beside, set_rows
from .contests import contests, gains
from .exams import Levels, Refit, exams_of, levels_of, scored_items
from .judged import STATISTICS, Court, Foretold, fold_mean
from .validation import GAINS, MODELS, PER_FOLD, PREDICTIONS, TABLE, TESTS, CrossValidation

__all__ = ["crossval"]


def crossval(
    features: Features,
    people: Scores,
    folds: Sequence[Fold],
    entrants: Sequence[Entrant] = (),
    *,
    metrics: Sequence[Scores] = (),
    factors: Mapping[str, Mapping[str, str]] | pl.DataFrame | None = None,
    within: Sequence[str] | None = None,
    refit: Refit | None = None,
    replicates: int = 1000,
    seed: int = 0,
    quiet: bool = True,
) -> CrossValidation:
    """Judge learners by items whose level of a factor they never saw, beside metrics and floors on the same items.

    For every fold and criterion a task is made of the training items alone; all tasks of an entrant are trained in one
    call. Everybody is judged by people's scores from all votes. Correlations are taken per fold (mean, standard
    deviation and a t interval over folds), pooled over all held-out items (with a bootstrap over held-out levels) and
    inside groups of items that share the levels of `within`.

    A constant prediction has no correlation: such a fold is undefined, is counted, and is left out of the mean; a
    predictor that is constant in every fold has no pooled value either, since it only tells which mean was left out.
    For the same reason pooled values of weak learners come out low: where a fold is better than the others, the mean
    that its model learned is lower.

    Args:
        features: of the items; items without features are left out for everybody, and counted.
        people: item scores from all votes; the truth in every fold.
        folds: of one factor, from `paragone.splits`.
        entrants: learners with their settings. One that reads for a criterion what an earlier entrant of the same learner
            and options reads would repeat it, and does not enter there.
        metrics: scores by machine. By item: turned where lower is better; a criterion of its own speaks to that alone.
            By level of a factor (of = 'method'): a metric of sets, which enters once, as a correlation over levels with
            the mean of people's scores, and not at all per fold.
        factors: levels of the items, as a table with a column `item` and one per factor (for a benchmark
            `items.drop('image')`), or factor -> item -> level. They make floors and groups. Give only those that say
            what is shown: an id of each item is no factor. One of a single level is not used. None: the held-out factor
            alone.
        within: factors whose levels make a group for the within-group figure; None: all but the held-out one.
        refit: gives targets from votes that touch no held-out item; None: training targets are `people`, in which votes
            between training and held-out items have left a trace.
        replicates: bootstrap resamples; 0 for none.
        seed: of learners and bootstraps.
        quiet: show no progress.

    Returns:
        The validation; see `CrossValidation`.

    Raises:
        BadInput: no folds, or of several factors; scores of levels as people; two predictors of one name; nothing in
            common; a group factor that is not known.
        BadTable: `factors` has no column item or an item twice.
        TooFew: a fold has fewer than three training items with features and a score.
    """
    levels = levels_of(factors, folds)
    held_out = folds[0].factor
    others = tuple(factor for factor in levels if factor != held_out and len(set(levels[factor].values())) > 1)
    groups = others if within is None else tuple(within)
    lost = [factor for factor in groups if factor not in levels]
    if lost:
        raise BadInput(f"within: no factor '{lost[0]}' among {', '.join(levels)}", where="within")
    if people.frame.height and people.key != "item":
        raise BadInput(f"{people.name} scores levels of a factor; crossval needs people's scores of items")
    _unique([*(own.name for own in entrants), *(own.name for own in metrics)])
    exams, left_out = exams_of(features, people, folds, levels[held_out], refit=refit)
    if not any(exam.test for exam in exams):
        raise BadInput(f"{people.name} scores no held-out item that has features; check the item ids")
    learned: dict[str, list[Predicted]] = {}
    remarks: dict[str, list[str]] = {}
    models: list[dict[str, Any]] = []
    for entrant in track(list(entrants), "training", quiet=quiet):
        fitted = trained(entrant, exams, features, seed=seed, quiet=quiet)
        learned[entrant.name] = [asked(entrant, own, exam, features) for own, exam in zip(fitted, exams, strict=True)]
        remarks[entrant.name] = [str(own.notes.get("note", "")) for own in fitted]
        for own, exam in zip(fitted, exams, strict=True):
            models += _facts(entrant.name, exam, folds[exam.fold].name, own.notes)
    parts = _Parts()
    truth = {criterion: scored_items(people, criterion) for criterion in people.criteria}
    for criterion in people.criteria:
        at_exams = [(at, exam) for at, exam in enumerate(exams) if exam.criterion == criterion]
        if not at_exams:
            continue
        own_exams = [exam for _, exam in at_exams]
        court = _court(own_exams, folds, truth[criterion], levels, held_out, groups, replicates, seed)
        repeating = _repeating(entrants, criterion)
        said = [
            _answers(
                name, [learned[name][at] for at, _ in at_exams], own_exams, [remarks[name][at] for at, _ in at_exams]
            )
            for name in learned
            if name not in repeating
        ]
        sets = [set_rows(court, metric, levels) for metric in metrics if metric.frame.height and metric.key == "level"]
        said += metrics_beside(court, people, [own for own in metrics if own.frame.height and own.key == "item"])
        said += floors_beside(own_exams, levels, held_out, others)
        _unique([own.predictor for own in said] + [row[0]["predictor"] for row in sets])
        parts.add(court, said, [row for rows in sets for row in rows])
    notes = _notes(features, people, folds, entrants, levels, groups, refit, replicates, seed, left_out)
    return CrossValidation(
        held_out,
        table=_frame(parts.table, TABLE),
        per_fold=_frame(parts.per_fold, PER_FOLD),
        predictions=_frame(parts.predictions, PREDICTIONS),
        tests=_frame(parts.tests, TESTS),
        gains=_frame(parts.gains, GAINS),
        models=_frame(models, MODELS),
        notes=notes,
    )


def _repeating(entrants: Sequence[Entrant], criterion: str | None) -> set[str]:
    """Entrants that say of a criterion what an earlier one says: blind for others, and no contest of its own here."""
    seen: list[Any] = []
    made = set()
    for own in entrants:
        what = (own.learner, dict(own.options), tuple(own.without.get(criterion, ())))
        if what in seen:
            made.add(own.name)
        seen.append(what)
    return made


def _answers(name: str, parts: Sequence[Predicted], exams: Sequence[Exam], remarks: Sequence[str]) -> Foretold:
    score, low, high = (np.concatenate(part) for part in zip(*parts, strict=True))
    told = [own for own in remarks if own]
    note = f"{len(told)} of {len(remarks)} models: {told[0]}" if told else ""
    return Foretold(name, "learner", score, low, high, note=note, learned=learned_means(exams))


_TRIPLE = ("score", "low", "high")


class _Parts:
    """The rows of all tables, criterion by criterion."""

    def __init__(self) -> None:
        self.table: list[dict[str, Any]] = []
        self.per_fold: list[dict[str, Any]] = []
        self.predictions: list[dict[str, Any]] = []
        self.tests: list[dict[str, Any]] = []
        self.gains: list[dict[str, Any]] = []

    def add(self, court: Court, said: Sequence[Foretold], sets: Sequence[dict[str, Any]]) -> None:
        for own in said:
            who = {"predictor": own.predictor, "kind": own.kind, "criterion": court.criterion}
            for statistic in STATISTICS:
                folds = court.by_fold(own, statistic)
                for name, found in zip(court.folds, folds, strict=True):
                    self.per_fold.append(
                        {**who, "fold": name, "statistic": statistic}
                        | {"value": found.value, "n": found.n, "note": found.note if not found.defined else ""}
                    )
                self.table.append({**who, "statistic": statistic, **_row(court, own, statistic)})
            for at in np.flatnonzero(~np.isnan(own.score)):
                self.predictions.append(
                    {**who, "fold": court.folds[court.fold[at]], "item": court.items[at]}
                    | {name: float(getattr(own, name)[at]) for name in _TRIPLE}
                    | {"people": float(court.y[at])}
                )
        self.table += sets
        self.tests += contests(court, said)
        self.gains += gains(court, said)


def _row(court: Court, own: Foretold, statistic: str) -> dict[str, Any]:
    over = fold_mean(court.by_fold(own, statistic), repeated=court.repeated)
    pooled = court.pooled(own, statistic)
    inside, n_groups = court.inside(own, statistic)
    told = [own.note, over.note]
    told += [f"pooled: {note}" for note in (pooled.note, court.follows(own) if pooled.defined else "") if note]
    follows = court.follows(own) if inside.defined and court.spanning else ""
    told += [f"within: {note}" for note in (inside.note, follows) if note]
    return {
        "folds": over.folds,
        "mean": over.mean,
        "sd": over.sd,
        "low": over.low,
        "high": over.high,
        "pooled": pooled.value,
        "pooled_low": pooled.low,
        "pooled_high": pooled.high,
        "within": inside.value,
        "within_low": inside.low,
        "within_high": inside.high,
        "groups": n_groups,
        "n": pooled.n,
        "note": "; ".join(filter(None, told)),
    }


def _court(
    exams: Sequence[Exam],
    folds: Sequence[Fold],
    truth: Mapping[str, float],
    levels: Levels,
    held_out: str,
    groups: Sequence[str],
    replicates: int,
    seed: int,
) -> Court:
    items = tuple(item for exam in exams for item in exam.test)
    cells = [tuple(levels[factor].get(item) for factor in groups) for item in items]
    places = {cell: at for at, cell in enumerate(dict.fromkeys(cells))}
    numbers = {level: at for at, level in enumerate(sorted({levels[held_out][item] for item in items}))}
    return Court(
        criterion=exams[0].criterion,
        items=items,
        fold=np.array([exam.fold for exam in exams for _ in exam.test], dtype=np.int64),
        folds=tuple(fold.name for fold in folds),
        y=np.array([truth[item] for item in items], dtype=np.float64),
        level=np.array([numbers[levels[held_out][item]] for item in items], dtype=np.int64),
        group=np.array([-1 if None in cell else places[cell] for cell in cells], dtype=np.int64),
        within=frozenset(groups),
        replicates=replicates,
        seed=seed,
    )


def _facts(name: str, exam: Exam, fold: str, notes: Mapping[str, Any]) -> list[dict[str, Any]]:
    who = {"predictor": name, "criterion": exam.criterion, "fold": fold, "n": len(exam.train)}
    plain = {key: value for key, value in notes.items() if isinstance(value, (bool, int, float, str))}
    return [{**who, "name": key, "value": str(value)} for key, value in (plain or {"n": len(exam.train)}).items()]


def _notes(
    features: Features,
    people: Scores,
    folds: Sequence[Fold],
    entrants: Sequence[Entrant],
    levels: Levels,
    groups: Sequence[str],
    refit: Refit | None,
    replicates: int,
    seed: int,
    left_out: dict[str, Any],
) -> dict[str, Any]:
    overlap = len({item for fold in folds for item in fold.test}) < sum(len(fold.test) for fold in folds)
    reading = [
        "a constant has no correlation: such folds are undefined, counted and left out of the mean",
        "pooled values come out low for weak predictors, since the mean of a held-out level is missing from the mean "
        "that its model learned",
        "the strongest baseline is picked by its mean over the same folds, which favours the baseline",
        "an interval speaks of one comparison; p is adjusted by Holm over all pairs of predictors, so that it may not be "
        "small where a single interval leaves 0 out",
    ]
    if refit is None:
        reading.append(
            "training targets come from all votes; votes between training and held-out items leave a trace in them"
        )
    if overlap:
        reading.append("folds share held-out items: no interval and no test over folds")
    return {
        "protocol": {
            "factor": folds[0].factor,
            "folds": [fold.name for fold in folds],
            "held_out_levels": [", ".join(fold.levels) for fold in folds] if not overlap else [],
            "test_items": [len(fold.test) for fold in folds],
            "overlap": overlap,
            "floors_from": [factor for factor in levels if factor != folds[0].factor],
            "within": list(groups),
        },
        "targets": "all" if refit is None else "refit",
        "people": people.name,
        "simulated": bool(people.made.get("simulated", False)),
        "seed": seed,
        "replicates": replicates,
        "features": {
            "definition": features.definition,
            "backbone": features.backbone,
            "sha256": features.sha256,
            "source": features.source,
            "pictures_sha256": features.pictures_sha256,
            "items": len(features.items),
            "columns": int(features.values.shape[1]),
        },
        "learners": {
            own.name: {
                "learner": own.learner.name,
                "label": own.learner.label,
                "source": own.learner.source,
                "columns": own.learner.columns,
                "without": {criterion or "score": list(kinds) for criterion, kinds in own.without.items()},
                "options": dict(own.options),
            }
            for own in entrants
        },
        "left_out": left_out,
        "reading": reading,
    }


def _unique(names: Sequence[str]) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise BadInput(
            f"two predictors are called '{twice[0]}' (learners, metrics of scores/ or --metric, floors); give each a name "
            "of its own",
            where=twice[0],
        )


def _frame(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Any]) -> pl.DataFrame:
    """The rows as a table, with null for NaN and for an empty note."""
    plain = [{name: _cell(row.get(name)) for name in columns} for row in rows]
    return pl.DataFrame(plain, schema=dict(columns))


def _cell(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    return None if value == "" else value
