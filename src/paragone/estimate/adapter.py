"""`estimate`: the only place where tables meet scoring models."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
import polars as pl

from ..errors import BadConfig, BadInput, CannotScore, TooFew, UnknownName
from ..judgements import Ratings, Votes
from ..scores import SCORES, Scores
from ..settings import held_to_types
from .arrays import Estimate, Estimator
from .diagnosis import graph_notes
from .encoding import Coded, code_ratings, code_votes
from .groups import groups, restricted
from .intervals import Spread, analytic_spread, bootstrap_spread, no_spread
from .question import Question

__all__ = ["estimate"]


def estimate(
    answers: Votes | Ratings | tuple[Votes, Ratings],
    estimator: str | Estimator | None = None,
    *,
    question: Question | None = None,
    name: str = "human",
    **options: Any,
) -> Scores:
    """Score items, or the levels of a factor, by what people answered.

    Args:
        answers: votes, ratings, or both for an estimator that reads both.
        estimator: a name from `ESTIMATORS` or an `Estimator`; None means rank-centrality for votes, mos for ratings
            and unified for both.
        question: intervals, seed, factor, stage temperatures and so on.
        name: who said so, for the table.
        **options: the estimator's own options, see `Estimator.options`.

    Returns:
        One row per item or level and criterion, sorted; `made["notes"]` holds what each criterion's model reports.
        Rows without a score have a status: never_shown or undetermined.

    Raises:
        UnknownName: no such estimator, stage or participant.
        BadConfig: an option that the estimator does not have, or answers of the wrong kind.
        NotConnected: the compared pairs leave the items in several groups (unless `question.apart`), or scores are infinite.
        TooFew: nothing is left to score.
    """
    question = question or Question()
    votes, ratings = _sorted_out(answers)
    chosen = _chosen(estimator, votes, ratings)
    settings = _settings(chosen, options)
    frames: list[pl.DataFrame] = []
    draws: list[pl.DataFrame] = []
    notes: dict[str, Any] = {}
    for criterion in _criteria(votes, ratings):
        try:
            coded = _coded(votes, ratings, criterion, question)
        except TooFew as error:
            raise TooFew(f"criterion '{criterion}': {error.message}" if criterion else error.message) from error
        frame, drawn, said = _one(chosen, coded, settings, question)
        frames.append(frame.with_columns(criterion=pl.lit(criterion, dtype=pl.String)))
        notes[criterion or ""] = said
        if drawn is not None:
            draws.append(drawn.insert_column(0, pl.Series("criterion", [criterion] * drawn.height, dtype=pl.String)))
    made = {
        "verb": "score",
        "method": chosen.name,
        "unit": chosen.unit,
        "source": chosen.source,
        "settings": {
            **settings,
            "intervals": question.intervals,
            "confidence": question.confidence,
            **({"replicates": question.replicates, "seed": question.seed} if question.intervals == "bootstrap" else {}),
            **({"temperature": dict(question.temperature)} if question.temperature else {}),
            **({"reliability": dict(question.reliability)} if question.reliability else {}),
        },
        "notes": notes,
    }
    frame = pl.concat(frames, how="diagonal")
    together = pl.concat(draws, how="diagonal") if draws else None
    return Scores(frame, name=name, better="higher", made=made, draws=together)


def _sorted_out(answers: Votes | Ratings | tuple[Votes, Ratings]) -> tuple[Votes | None, Ratings | None]:
    if isinstance(answers, Votes):
        return answers.main, None
    if isinstance(answers, Ratings):
        return None, answers.main
    if isinstance(answers, tuple) and [type(table) for table in answers] == [Votes, Ratings]:
        return answers[0].main, answers[1].main
    raise BadInput(
        f"estimate takes Votes, Ratings or (Votes, Ratings), not {type(answers).__name__}; "
        "read a file with read_votes or read_ratings, or make one: Votes(frame)"
    )


def _chosen(estimator: str | Estimator | None, votes: Votes | None, ratings: Ratings | None) -> Estimator:
    given: Literal["votes", "ratings", "both"] = "both"
    if ratings is None:
        given = "votes"
    elif votes is None:
        given = "ratings"
    if isinstance(estimator, Estimator):
        chosen = estimator
    else:
        from . import ESTIMATORS

        name = estimator or {"votes": "rank-centrality", "ratings": "mos", "both": "unified"}[given]
        chosen = ESTIMATORS.get(name)
    if chosen.reads != given:
        raise BadConfig(
            f"estimator '{chosen.name}' reads {_WORDS[chosen.reads]}, and these are {_WORDS[given]}; "
            "see: paragone list estimators",
            where=chosen.name,
        )
    return chosen


_WORDS = {"votes": "votes", "ratings": "ratings", "both": "votes and ratings together"}


def _settings(chosen: Estimator, options: Mapping[str, Any]) -> dict[str, Any]:
    """The model's options with defaults filled in, so that results explain themselves."""
    parameters = inspect.signature(chosen.model).parameters.values()
    known = {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
    for word in options:
        if word not in known:
            error = UnknownName.among(word, known, f"option of {chosen.name}")
            raise BadConfig(error.message, where=word)
    return {**known, **held_to_types(options, chosen.model, f"estimator '{chosen.name}'")}


def _criteria(votes: Votes | None, ratings: Ratings | None) -> list[str | None]:
    columns = [answers.frame["criterion"] for answers in (votes, ratings) if answers is not None]
    levels = pl.concat(columns).unique().to_list()
    if not levels:
        raise TooFew("there is no answer to score: all rows are checks or training")
    return sorted(levels, key=lambda level: (level is not None, level))


def _coded(votes: Votes | None, ratings: Ratings | None, criterion: str | None, question: Question) -> Coded:
    asked = pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String))
    more = list(question.items) if question.levels is None and question.items else None
    if ratings is None and votes is not None:
        return code_votes(
            votes.frame.filter(asked),
            levels=question.levels,
            temperature=question.temperature,
            reliability=question.reliability,
            items=more,
        )
    assert ratings is not None
    rated = ratings.frame.filter(asked)
    if votes is None:
        return code_ratings(rated, levels=question.levels, reliability=question.reliability, items=more)
    voted, votes_named = _with_names_of_people(votes.frame.filter(asked), "vote")
    rated, ratings_named = _with_names_of_people(rated, "rating")
    shown = {*voted["left"], *voted["right"], *rated["item"]}
    if question.levels is None:
        items = sorted(shown | set(more or []))
    else:
        items = question.levels.filter(pl.col("item").is_in(sorted(shown)))["level"].unique().sort().to_list()
    people = sorted({*voted["participant"], *rated["participant"]})
    pairs = code_votes(
        voted,
        levels=question.levels,
        temperature=question.temperature,
        reliability=question.reliability,
        items=items,
        participants=people,
    )
    singles = code_ratings(
        rated, levels=question.levels, reliability=question.reliability, items=items, participants=people
    )
    return Coded(
        pairs.items,
        pairs.participants,
        pairs.counts + singles.counts,
        np.maximum(pairs.people, singles.people),
        comparisons=pairs.comparisons,
        opinions=singles.opinions,
        people_known=votes_named and ratings_named,
        notes={**(pairs.notes or {}), **(singles.notes or {})},
    )


def _with_names_of_people(frame: pl.DataFrame, what: str) -> tuple[pl.DataFrame, bool]:
    """The answers with a participant in every row, and whether the table names any; else each row is its own person."""
    column = frame["participant"]
    if column.null_count() < frame.height or not frame.height:
        return frame.with_columns(column.fill_null("(unknown)")), True
    names = pl.Series("participant", [f"{what} {row}" for row in range(1, frame.height + 1)], dtype=pl.String)
    return frame.with_columns(names), False


def _one(
    chosen: Estimator, coded: Coded, settings: Mapping[str, Any], question: Question
) -> tuple[pl.DataFrame, pl.DataFrame | None, dict[str, Any]]:
    """Scores of one criterion: the frame, its draws, and the notes."""
    shown = coded.counts > 0
    together = groups(coded, question)
    n = len(coded.items)
    columns = {name: np.full(n, np.nan) for name in ("score", "low", "high", "rank_low", "rank_high")}
    details: dict[str, np.ndarray] = {}
    draws: np.ndarray | None = None
    notes: dict[str, Any] = dict(coded.notes or {})
    notes["answers"] = float(_weighted(coded))
    notes["participants"] = len(coded.participants) if coded.people_known else None
    for number, members in enumerate(together):
        part = coded if len(members) == n else restricted(coded, members)
        fitted = _fit(chosen, part, settings)
        spread = _spread(chosen, part, fitted, settings, question)
        said = {**_readable(fitted.notes, part), **spread.notes}
        columns["score"][members] = fitted.score
        for column, values in (("low", spread.low), ("high", spread.high)):
            columns[column][members] = values
        for column, values in _per_item(fitted.notes, part.counts).items():
            details.setdefault(column, np.full(n, np.nan))[members] = values
        columns["rank_low"][members], columns["rank_high"][members] = spread.rank_low, spread.rank_high
        if part.comparisons is not None:
            said = _with_graph(said, graph_notes(part.comparisons, part.items))
        if spread.draws is not None:
            if draws is None:
                draws = np.full((spread.draws.shape[0], n), np.nan)
            draws[:, members] = spread.draws
        if len(together) > 1:
            notes[f"group {number + 1}"] = said
        else:
            notes.update(said)
    notes["never_shown"] = int((~shown).sum())
    frame = _framed(coded, columns, shown, question).with_columns(
        pl.Series(name, values).fill_nan(None) for name, values in details.items()
    )
    if len(together) > 1:
        notes["groups"] = len(together)
        group = np.zeros(n, dtype=np.int64)
        for number, members in enumerate(together, start=1):
            group[members] = number
        frame = frame.with_columns(pl.Series("connected_group", group))
    return frame, _drawn(draws, coded.items), notes


def _with_graph(said: dict[str, Any], graph: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of the graph beside the model's notes; `spectral_gap` is that of the walk as published, without a prior."""
    if "spectral_gap" in said and said.get("prior", 0) != 0:
        said["spectral_gap_with_prior"] = said["spectral_gap"]
    return {**said, **graph}


def _weighted(coded: Coded) -> float:
    sizes = [len(part.weight) for part in (coded.comparisons, coded.opinions) if part is not None]
    return float(sum(sizes))


def _data(coded: Coded) -> tuple[Any, ...]:
    return tuple(part for part in (coded.comparisons, coded.opinions) if part is not None)


def _fit(chosen: Estimator, coded: Coded, settings: Mapping[str, Any]) -> Estimate:
    try:
        return chosen.model(*_data(coded), **settings)
    except CannotScore as error:
        error.message = _with_names(error.message, coded)
        error.args = (error.message,)
        raise


def _with_names(message: str, coded: Coded) -> str:
    """Models speak of 'items 0, 3' and 'participant 2'; people read names."""
    names = {"item": coded.items, "participant": coded.participants}

    def named(found: re.Match[str]) -> str:
        known = names[found[1]]
        return f"{found[1]}{found[2]} " + ", ".join(f"'{known[int(number)]}'" for number in found[3].split(", "))

    return re.sub(r"\b(item|participant)(s?) (\d+(?:, \d+)*)", named, message)


def _spread(
    chosen: Estimator, coded: Coded, fitted: Estimate, settings: Mapping[str, Any], question: Question
) -> Spread:
    if question.intervals == "none":
        return no_spread(fitted.score, {})
    if question.intervals == "analytic":
        covariance = chosen.covariance(*_data(coded), fitted.score, **settings) if chosen.covariance else None
        if covariance is None and fitted.stderr is None:
            raise BadConfig(
                f"estimator '{chosen.name}' has no analytic intervals; use --intervals bootstrap", where=chosen.name
            )
        return analytic_spread(fitted, covariance, confidence=question.confidence)
    return bootstrap_spread(
        _replicator(chosen, coded, settings),
        fitted.score,
        coded.people,
        len(coded.participants),
        replicates=question.replicates,
        confidence=question.confidence,
        seed=question.seed,
        jobs=question.jobs,
        people_known=coded.people_known,
    )


def _replicator(chosen: Estimator, coded: Coded, settings: Mapping[str, Any]) -> Callable[[np.ndarray], np.ndarray]:
    """A function of (r, participants) weights that gives (r, n) scores."""
    data = _data(coded)
    if chosen.replicate is not None:
        batched = chosen.replicate

        def run(weights: np.ndarray) -> np.ndarray:
            return batched(*data, weights, **settings)

        return run

    def each(weights: np.ndarray) -> np.ndarray:
        made = np.full((len(weights), len(coded.items)), np.nan)
        for row, counts in enumerate(weights):
            again = tuple(part._replace(weight=part.weight * counts[part.participant]) for part in data)
            try:
                made[row] = chosen.model(*again, **settings).score
            except CannotScore:
                continue
        return made

    return each


def _readable(notes: Mapping[str, Any], coded: Coded) -> dict[str, Any]:
    """Notes with names in place of indices: arrays over participants become mappings, numpy becomes Python."""
    made: dict[str, Any] = {}
    for key, value in notes.items():
        if isinstance(value, np.ndarray):
            if key.startswith("participant_") and len(value) == len(coded.participants) and value.ndim == 1:
                made[key] = dict(zip(coded.participants, value.tolist(), strict=True))
            elif value.shape == (len(coded.items),):
                continue  # one number per item stands in the table, as a column of its own
            else:
                made[key] = value.tolist()
        elif key == "participants_dropped":
            made[key] = [coded.participants[index] for index in value]
        elif key.startswith("items_") and isinstance(value, (list, tuple)):
            made[key] = [coded.items[index] for index in value]
        else:
            made[key] = value.item() if isinstance(value, np.generic) else value
    return made


def _per_item(notes: Mapping[str, Any], counts: np.ndarray) -> dict[str, np.ndarray]:
    """What a model says of each item (its standard deviation, degrees of freedom, ...), as columns."""
    return {
        key.removeprefix("item_"): np.asarray(value, dtype=np.float64)
        for key, value in notes.items()
        if isinstance(value, np.ndarray)
        and value.shape == counts.shape
        and not key.startswith("participant_")
        and not np.array_equal(value, counts)
    }


def _framed(coded: Coded, columns: Mapping[str, np.ndarray], shown: np.ndarray, question: Question) -> pl.DataFrame:
    status = np.where(shown, np.where(np.isnan(columns["score"]), "undetermined", "ok"), "never_shown")
    none = pl.Series([None] * len(coded.items), dtype=pl.String)
    names = pl.Series(coded.items, dtype=pl.String)
    by_level = question.levels is not None
    frame = pl.DataFrame(
        {
            "item": none if by_level else names,
            "of": pl.Series([question.factor if by_level else None] * len(coded.items), dtype=pl.String),
            "level": names if by_level else none,
            "criterion": none,
            **{name: pl.Series(values).fill_nan(None) for name, values in columns.items()},
            "n": coded.counts,
            "status": status,
        }
    )
    return frame.select(SCORES.names)


def _drawn(draws: np.ndarray | None, items: list[str]) -> pl.DataFrame | None:
    if draws is None:
        return None
    if {"criterion", "replicate"} & set(items):
        return None  # such an item id would hide the columns that say which replicate a row is
    frame = pl.DataFrame(draws, schema=dict.fromkeys(items, pl.Float64), orient="row")
    return frame.insert_column(0, pl.Series("replicate", np.arange(1, len(draws) + 1)))
