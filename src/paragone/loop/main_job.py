"""The main job in one call: answers and pictures in; screening, scores, metrics, agreement and a report out."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl

from ..benchmark import Benchmark
from ..errors import MissingExtra
from ..estimate import Question
from ..judgements import Votes
from ..tables import write_table
from .answers import (
    answer_files,
    checks_of,
    consistency_of,
    is_benchmark,
    is_simulated,
    levels_of,
    read_answers,
    score,
    screen_answers,
    screening_rules,
)
from .machine import compared, left_out, measured, write_all
from .screened import join_screenings, kept_by
from .words import file_name

__all__ = ["run"]


def run(
    folder: str | Path = ".",
    *,
    method: str | None = None,
    metrics: Sequence[str] = ("all",),
    by: Sequence[str] | None = None,
    group: str | None = None,
    reject: Sequence[str] = (),
    replicates: int = 1000,
    seed: int = 0,
    jobs: int = 1,
    quiet: bool = True,
    say: Callable[[str], None] | None = None,
) -> Path:
    """Screen, score, measure, compare and report what lies in a benchmark folder.

    Args:
        folder: holds benchmark.toml, items.csv, pictures, and votes.csv or ratings.csv.
        method: estimator; None: rank-centrality for votes, mos for ratings.
        metrics: names of metrics; 'all': every one whose inputs are there; empty: none.
        by: factors whose levels are scored too; None: every factor of 2 to 40 levels.
        group: factor within whose levels metrics are also compared with people.
        reject: screening rules that may reject; empty: the attention checks alone.
        replicates: bootstrap replicates.
        seed: of all randomness.
        jobs: worker processes.
        quiet: show no progress bars.
        say: takes one line per step.

    Returns:
        The report, or the folder where the extra `report` is not installed.

    Raises:
        NotFound, BadTable, BadConfig, CannotScore: as the single verbs.
    """
    tell = say or (lambda _: None)
    place = Path(folder)
    with _inside(place):
        benchmark = Benchmark.read(Path())
        files = answer_files()
        answers = read_answers(files, say=tell)
        tables = answers if isinstance(answers, tuple) else (answers,)
        ruled = screening_rules(reject=reject, settings=checks_of(Path("study.toml")))
        screenings = [screen_answers(table, ruled) for table in tables]
        join_screenings(screenings, Path("screening.csv"))
        for one in screenings:
            tell(f"screening: {one.retained} of {one.submitted} participants kept")
        kept = kept_by(Path("screening.csv"))
        found = consistency_of(answers, kept=kept, seed=seed, replicates=replicates)
        write_table(pl.concat([one.frame for one in found]), Path("consistency.csv"))
        tell(f"consistency: {len(kept)} participants who were kept")
        simulated = is_simulated(answers, files)
        question = Question(replicates=replicates, seed=seed, jobs=jobs)
        inputs = [*files, Path("screening.csv")]
        human = score(answers, method, question=question, kept=kept, inputs=inputs, simulated=simulated)
        human.write(Path("scores/human.csv"))
        tell(f"scores of people: {human.frame.height} by {human.made['method']}")
        for factor in _factors(benchmark) if by is None else by:
            asked = Question(
                replicates=replicates,
                seed=seed,
                jobs=jobs,
                factor=factor,
                levels=levels_of(answers, factor, folder=Path()),
            )
            if isinstance(answers, Votes) and not _meet(answers, asked):
                continue
            made = score(
                answers,
                method,
                question=asked,
                kept=kept,
                inputs=inputs,
                simulated=simulated,
                name=f"human by {factor}",
            )
            made.write(Path(f"scores/human-by-{file_name(factor)}.csv"))
            tell(f"scores of people by {factor}: {made.frame.height}")
        if metrics:
            _machines(benchmark, metrics, group, replicates=replicates, seed=seed, jobs=jobs, quiet=quiet, tell=tell)
        return place / _report(tell)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Work inside a folder, so that inputs are recorded relative to it and the folder can be moved."""
    if not is_benchmark(folder):
        Benchmark.read(folder)  # says what is missing
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _factors(benchmark: Benchmark) -> list[str]:
    return [
        factor
        for factor in benchmark.factors
        if factor != "broken_of" and 2 <= benchmark.levels(factor)["level"].n_unique() <= 40
    ]


def _meet(votes: Votes, question: Question) -> bool:
    """Whether items of different levels were ever compared."""
    assert question.levels is not None
    level = dict(question.levels.iter_rows())
    pairs = votes.main.frame.select("left", "right").unique()
    return any(level.get(a) != level.get(b) for a, b in pairs.iter_rows() if a in level and b in level)


def _machines(
    benchmark: Benchmark,
    metrics: Sequence[str],
    group: str | None,
    *,
    replicates: int,
    seed: int,
    jobs: int,
    quiet: bool,
    tell: Callable[[str], None],
) -> None:
    for line in left_out(metrics, benchmark):
        tell(line)
    scores = measured(list(metrics), benchmark, jobs=jobs, quiet=quiet)
    if "all" in metrics:  # what nobody named may be missing: labels without pictures, pictures without references
        scores = [made for made in scores if made.frame["score"].is_not_null().any()]
    if not scores:
        tell("no metric could be measured: there are no pictures that can be read")
        return
    files = write_all(scores, Path("scores"))
    tell(f"metrics: {', '.join(made.name for made in scores)}")
    human = Path("scores/human.csv")
    agreement = compared(human, files, factor=group, replicates=replicates, seed=seed)
    agreement.write(Path("agreement.csv"))
    tell(f"agreement: {agreement.frame.height} figures")


def _report(tell: Callable[[str], None]) -> str:
    try:
        from ..report import report
        from .gather import gather

        return str(report(gather(Path()), Path("report.html")))
    except MissingExtra as error:
        tell(f"no report: {error.message}")
        return "."
