"""From files of answers to scores: read them, leave people out, score what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ..benchmark import Benchmark
from ..consistency import Consistency, consistency
from ..design import RatingStage, check_tolerance, read_study
from ..errors import BadConfig, CannotScore, NotFound, UnknownName
from ..estimate import Estimator, Question, estimate
from ..estimate.encoding import code_ratings, code_votes
from ..estimate.subject_model import p910
from ..estimate.thurstone_outliers import outlier_distance
from ..judgements import RATINGS, Ratings, Votes
from ..provenance import made_by
from ..scores import Scores
from ..screen import Screening, ScreenRules, screen
from ..settings import read_settings
from ..sources.bare import read_ratings, read_votes
from ..sources.words import holds_votes
from ..tables import column_names, open_table
from .screened import Answers, those
from .words import value_of

__all__ = [
    "Answers",
    "answer_files",
    "checks_of",
    "consistency_of",
    "is_benchmark",
    "is_simulated",
    "item_without_level",
    "levels_of",
    "read_answers",
    "score",
    "screen_answers",
    "screening_rules",
]

_NAMES = ("votes.csv", "votes.parquet", "ratings.csv", "ratings.parquet")


def is_benchmark(folder: Path) -> bool:
    """Whether a folder holds a benchmark of ours."""
    return (folder / "benchmark.toml").is_file()


def is_simulated(answers: Answers, files: Iterable[Path] = ()) -> bool:
    """Whether some answers come from simulated participants: they are named so, or lie in a benchmark that says so.

    Args:
        answers: what was read.
        files: where from.
    """
    tables = answers if isinstance(answers, tuple) else (answers,)
    if any(table.frame["participant"].str.starts_with("sim-").any() for table in tables):
        return True
    folders = {Path(file).parent for file in files}
    return any(is_benchmark(folder) and Benchmark.read(folder).simulated for folder in folders)


def answer_files(*files: Path | None, folder: Path = Path()) -> list[Path]:
    """The files that were named, or the votes and ratings that lie in the folder.

    Raises:
        NotFound: none was named and none is there.
    """
    named = [file for file in files if file is not None]
    if named:
        return named
    found = [folder / name for name in _NAMES if (folder / name).is_file()]
    if not found:
        raise NotFound(f"no votes.csv or ratings.csv in '{folder}'; name the file of answers", where=str(folder))
    return found


def read_answers(
    files: Iterable[Path], columns: Mapping[str, str] | None = None, *, say: Callable[[str], None] | None = None
) -> Answers:
    """Read one table of votes or ratings, or one of each, of anybody's making.

    Args:
        files: one or two files.
        columns: our column -> the file's, for all of them.
        say: takes each remark on how a file was read.

    Raises:
        BadConfig: more than one table of a kind.
        NotFound, BadTable, UnknownName: as `read_votes` and `read_ratings`.
    """
    votes: list[Votes] = []
    ratings: list[Ratings] = []
    for file in files:
        if holds_votes(column_names(file), columns):
            voted = read_votes(file, columns)
            votes.append(voted.noun)
            notes = voted.notes
        else:
            rated = read_ratings(file, columns)
            ratings.append(rated.noun)
            notes = rated.notes
        for note in notes:
            if say is not None:
                say(f"{Path(file).name}: {note}")
    if len(votes) > 1 or len(ratings) > 1:
        raise BadConfig("give one table of votes, one of ratings, or one of each; join others into one file first")
    if votes and ratings:
        return votes[0], ratings[0]
    return votes[0] if votes else ratings[0]


def screening_rules(
    path: Path | None = None, *, reject: Iterable[str] = (), settings: Iterable[str] = ()
) -> ScreenRules:
    """The rules of a TOML file, with those that may reject and single settings put over it.

    Args:
        path: a file of `ScreenRules`; None: the defaults.
        reject: names of rules, each may hold several parted by commas; none: as the file says.
        settings: 'rule.key=value' each.

    Raises:
        BadConfig: an unknown rule or key, or an impossible value.
    """
    import msgspec

    rules = read_settings(path, ScreenRules) if path else ScreenRules()
    raw: dict[str, Any] = msgspec.to_builtins(rules)
    named = [name.strip() for text in reject for name in text.split(",") if name.strip()]
    if named:
        raw["reject"] = named
    for text in settings:
        place, equals, value = text.partition("=")
        rule, dot, key = place.strip().partition(".")
        if not equals or not dot:
            raise BadConfig(f"--set '{text}' is not of the form rule.key=value", where="--set")
        if rule not in raw:
            raise BadConfig(UnknownName.among(rule, raw, "screening rule").message, where=text)
        inner, _, last = key.partition(".")
        target = raw[rule]
        if not isinstance(target, dict) or inner not in target:
            raise BadConfig(UnknownName.among(inner, target, f"key of {rule}").message, where=text)
        if last:
            target[inner][last] = value_of(value)
        else:
            target[inner] = value_of(value)
    try:
        return msgspec.convert(raw, ScreenRules)
    except msgspec.ValidationError as error:
        raise BadConfig(f"screening rules: {error}", where="rules") from error


def checks_of(path: Path) -> list[str]:
    """How many checks each stage of a study needs, and how near a rating must be, as settings of the rule; none where there
    is no such file.

    Args:
        path: study.toml.
    """
    if not path.is_file():
        return []
    study = read_study(path)
    named = list(zip(study.stage, study.stage_names, strict=True))
    rules = [f"checks.needed.{name}={stage.checks_needed}" for stage, name in named if stage.checks]
    if any(isinstance(stage, RatingStage) and stage.sessions > 1 for stage in study.stage):
        rules.append("checks.by_session=true")
    for stage, name in named:
        if isinstance(stage, RatingStage) and stage.checks:
            for kind in ("broken", "instructed"):
                rules.append(f"checks.within.{name}/{kind}={check_tolerance(stage, kind):.10g}")
    return rules


def screen_answers(answers: Votes | Ratings, rules: ScreenRules | None = None) -> Screening:
    """Screen, with the statistics that scoring models know better than the plain ones.

    P.910 inconsistency is taken for ratings and pwcmp's outlier distance for votes, where the answers allow them.
    """
    measured: dict[str, dict[str, float]] = {}
    if answers.frame["participant"].null_count() == 0:
        measured = _distances(answers) if isinstance(answers, Votes) else _inconsistencies(answers)
    return screen(answers, rules, measured=measured or None)


def _inconsistencies(ratings: Ratings) -> dict[str, dict[str, float]]:
    """P.910 inconsistency of each participant, the mean over criteria; nothing where the ratings do not allow it."""
    collected: dict[str, list[float]] = {}
    for part in ratings.main.frame.partition_by("criterion", maintain_order=True):
        coded = code_ratings(part, reliability={})
        assert coded.opinions is not None
        try:
            notes = p910(coded.opinions).notes
        except CannotScore:
            return {}
        for name, value in zip(coded.participants, notes["participant_inconsistency"].tolist(), strict=True):
            collected.setdefault(name, []).append(value)
    if not collected:
        return {}
    return {"inconsistency": {name: sum(values) / len(values) for name, values in collected.items()}}


def _distances(votes: Votes) -> dict[str, dict[str, float]]:
    """pwcmp's distance of each participant, the largest over criteria; nothing where the votes do not allow it."""
    main = votes.main.frame
    largest: dict[str, float] = {}
    for part in main.partition_by("criterion", maintain_order=True):
        coded = code_votes(part, temperature={}, reliability={})
        if len(coded.participants) < 4 or coded.comparisons is None or len(coded.items) > _MOST_FOR_DISTANCE:
            return {}
        try:
            distance = outlier_distance(coded.comparisons)
        except CannotScore:
            return {}
        for name, value in zip(coded.participants, distance.tolist(), strict=True):
            largest[name] = max(value, largest.get(name, value))
    return {"distance": largest} if largest else {}


_MOST_FOR_DISTANCE = 60  # items; leave-one-out refits take minutes beyond


def consistency_of(
    answers: Answers, *, kept: set[str] | None = None, seed: int = 0, replicates: int = 1000
) -> list[Consistency]:
    """Consistency of votes, of ratings, or of both tables in turn, among those who are kept (None: all)."""
    if kept is not None:
        answers = those(answers, kept)
    tables = answers if isinstance(answers, tuple) else (answers,)
    return [consistency(table, seed=seed, replicates=replicates) for table in tables]


def levels_of(answers: Answers, factor: str, *, items: Path | None = None, folder: Path | None = None) -> pl.DataFrame:
    """Columns item, level of a factor: from a table of items, the benchmark of a folder, or the answers themselves.

    Raises:
        UnknownName: none of them has the factor.
        BadConfig: an item has two levels.
    """
    known: list[str] = []
    if items is not None:
        table = open_table(items).frame
        if {"item", factor} <= set(table.columns):
            return _one_level_each(table.select("item", pl.col(factor).alias("level")), factor)
        known += [name for name in table.columns if name != "item"]
    elif folder is not None and is_benchmark(folder):
        benchmark = Benchmark.read(folder)
        if factor in benchmark.factors:
            return benchmark.levels(factor)
        known += benchmark.factors
    for answered in answers if isinstance(answers, tuple) else (answers,):
        if isinstance(answered, Ratings):
            further = answered.frame.columns[len(RATINGS.names) :]
            if factor in further:
                return _one_level_each(answered.frame.select("item", pl.col(factor).alias("level")), factor)
            known += further
    raise UnknownName.among(factor, known, "factor")


def item_without_level(answers: Answers, levels: pl.DataFrame) -> str | None:
    """The first item that was answered about and has no level; None: every one has."""
    known = set(levels["item"])
    for table in answers if isinstance(answers, tuple) else (answers,):
        sides = ("item",) if isinstance(table, Ratings) else ("left", "right")
        strange = sorted({item for side in sides for item in table.main.frame[side].drop_nulls()} - known)
        if strange:
            return str(strange[0])
    return None


def _one_level_each(frame: pl.DataFrame, factor: str) -> pl.DataFrame:
    pairs = frame.drop_nulls().unique()
    twice = pairs.filter(pl.col("item").is_duplicated())
    if twice.height:
        raise BadConfig(
            f"item '{twice['item'][0]}' has two levels of {factor}; a factor gives each item one", where=factor
        )
    return pairs


def score(
    answers: Answers,
    method: str | Estimator | None = None,
    *,
    question: Question | None = None,
    options: Mapping[str, Any] | None = None,
    kept: set[str] | None = None,
    inputs: Iterable[Path] = (),
    name: str = "human",
    simulated: bool = False,
) -> Scores:
    """Score answers and write down how.

    Args:
        answers: votes, ratings, or one of each.
        method: estimator; None: the default for these answers.
        question: intervals, factor, stage temperatures and so on.
        options: the estimator's own options.
        kept: participants whose answers count; None: all.
        inputs: files whose digests stand in the provenance.
        name: who said so.
        simulated: the answers come from simulated participants; every page shows it.
    """
    if kept is not None:
        answers = those(answers, kept)
    scores = estimate(answers, method, question=question, name=name, **(options or {}))
    made = {**made_by("score", inputs=inputs), **scores.made, "screened": kept is not None}
    if simulated:
        made["simulated"] = True
    return Scores(scores.frame, name=name, better="higher", made=made, draws=scores.draws)
