"""Verbs of the people wing: screen, consistency, score."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from .options import (
    assignments,
    columns_option,
    emit,
    jobs_option,
    json_option,
    must_exist,
    numbers,
    output_option,
    quiet_option,
    say,
    seed_option,
    show_frame,
    typed,
)

__all__ = ["consistency", "score", "screen"]

_screening_option = click.option(
    "--screening", type=click.Path(path_type=Path), help="Table of screen; who is not kept is left out."
)
_everyone_option = click.option("--all", "everyone", is_flag=True, help="Ignore screening.csv of the folder.")


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@columns_option
@click.option("--rules", type=click.Path(path_type=Path), help="TOML file with the rules; see the reference page.")
@click.option(
    "--reject", multiple=True, metavar="RULE", help="Rule that may reject; repeat or part by commas. Default: checks."
)
@click.option("--set", "settings", multiple=True, metavar="RULE.KEY=VALUE", help="One setting of a rule.")
@click.option("--keep", type=click.Path(path_type=Path), help="Also write the answers of those who are kept here.")
@output_option("Where the table of participants goes")
@seed_option
@json_option
@quiet_option
def screen(
    file: Path | None,
    columns: str,
    rules: Path | None,
    reject: tuple[str, ...],
    settings: tuple[str, ...],
    keep: Path | None,
    output: Path | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say which participants to leave out, by which rule, and why.

    Reads FILE (votes or ratings; default: votes.csv or ratings.csv of the current folder), prints or writes one row per
    participant with reasons and statistics (on a terminal: who is kept, and why not). Rules: checks (trials with a known
    answer), speed, straight (one answer over and over), repeats, completeness, bt500, correlation, inconsistency (these
    three for ratings), distance (votes). Only `checks` rejects unless --reject names others; what the other rules would
    say is shown as a remark. How many checks each stage needs comes from study.toml beside the answers, where it is and
    --rules is not given.

    Example: paragone screen votes.csv --reject checks -o screening.csv
    """
    must_exist(file, rules)
    from ..errors import BadConfig
    from ..loop import answers as from_answers
    from ..loop import outputs, screened, told

    chosen = from_answers.answer_files(file)
    outputs.may_write(output, outputs.SCREENINGS, inputs=[*chosen, keep])
    outputs.may_write(keep, outputs.ANSWERS, inputs=[*chosen, output])
    answers = from_answers.read_answers(chosen, assignments(columns, "--map"), say=_sayer(quiet))
    if isinstance(answers, tuple):
        raise BadConfig("votes and ratings lie here; name the one to screen", where="FILE")
    study = (file.parent if file else Path()) / "study.toml"
    needed = from_answers.checks_of(study) if rules is None else []
    ruled = from_answers.screening_rules(rules, reject=reject, settings=[*needed, *settings])
    screening = from_answers.screen_answers(answers, ruled)
    if keep:
        screened.only(answers, screening).write(keep)
    if output:
        screened.write_screening(screening, output)
    if as_json:
        emit(screening.document())
    elif not output:
        show_frame(
            screening.frame if sys.stdout.isatty() else screened.flat(screening.frame), short=told.short_screening
        )
    for line in [*told.screening_lines(screening, seed=seed), *[str(path) for path in (keep, output) if path]]:
        say(line, quiet=quiet or as_json)


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@columns_option
@click.option("--replicates", type=click.IntRange(100), default=1000, show_default=True, help="Bootstrap replicates.")
@_screening_option
@_everyone_option
@output_option("Where the table goes")
@seed_option
@json_option
@quiet_option
def consistency(
    file: Path | None,
    columns: str,
    replicates: int,
    screening: Path | None,
    everyone: bool,
    output: Path | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say how far people agree with themselves and each other.

    Reads FILE (votes or ratings; default: votes.csv or ratings.csv of the current folder); prints or writes kappa on
    repeats, agreement on shared pairs, the left-side share, ICC, Krippendorff's alpha and split halves, with intervals.
    Where no FILE is named, only the participants that screening.csv of the folder keeps count, as in `score`.

    Example: paragone consistency ratings.csv --json
    """
    must_exist(file, screening)
    import polars as pl

    from ..loop import answers as from_answers
    from ..loop import outputs, screened, told
    from ..loop.documents import consistency_document
    from ..tables import write_table

    chosen = from_answers.answer_files(file)
    outputs.may_write(output, outputs.CONSISTENCIES, inputs=chosen)
    answers = from_answers.read_answers(chosen, assignments(columns, "--map"), say=_sayer(quiet))
    folder = None if file or everyone else Path()
    screening = screened.screening_beside(answers, screening, folder=folder, done="counted", say=_sayer(quiet))
    kept = screened.kept_by(screening) if screening else None
    found = from_answers.consistency_of(answers, kept=kept, seed=seed, replicates=replicates)
    frame = pl.concat([one.frame for one in found])
    for line in told.consistency_lines(found, simulated=from_answers.is_simulated(answers, chosen)):
        say(line, quiet=quiet or as_json)
    if output:
        write_table(frame, output)
        say(str(output), quiet=quiet or as_json)
    if as_json:
        emit(consistency_document(found))
    elif not output:
        show_frame(frame, short=told.short)


@click.command()
@click.argument("files", type=click.Path(path_type=Path), nargs=-1)
@columns_option
@click.option(
    "--method", metavar="NAME", help="Estimator; see: paragone list estimators. Default: rank-centrality or mos."
)
@click.option(
    "--set", "settings", multiple=True, metavar="OPTION=VALUE", help="Option of the estimator; may be repeated."
)
@click.option("--by", "factor", metavar="FACTOR", help="Score the levels of this factor instead of items.")
@click.option(
    "--items", type=click.Path(path_type=Path), help="Table with item and factor columns, for --by on bare files."
)
@click.option(
    "--intervals",
    type=click.Choice(["bootstrap", "analytic", "none"]),
    default="bootstrap",
    show_default=True,
    help="bootstrap resamples participants; analytic uses the model's own errors.",
)
@click.option("--replicates", type=click.IntRange(100), default=1000, show_default=True, help="Bootstrap replicates.")
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    help="Coverage of the intervals, above 0.5 and below 1.",
)
@click.option(
    "--temperature", default="", metavar="STAGE=X,...", help="Noise of a stage's votes relative to the others."
)
@click.option(
    "--reliability", default="", metavar="PARTICIPANT=X,...", help="Weight of a participant's answers, default 1."
)
@click.option("--apart", is_flag=True, help="Score each connected group of items alone where the votes leave several.")
@_screening_option
@_everyone_option
@click.option("--name", default="human", show_default=True, help="Name of the scores: who said so.")
@output_option("Where the scores go; default in a benchmark folder: scores/NAME.csv")
@seed_option
@jobs_option
@json_option
@quiet_option
def score(
    files: tuple[Path, ...],
    columns: str,
    method: str | None,
    settings: tuple[str, ...],
    factor: str | None,
    items: Path | None,
    intervals: Any,
    replicates: int,
    confidence: float,
    temperature: str,
    reliability: str,
    apart: bool,
    screening: Path | None,
    everyone: bool,
    name: str,
    output: Path | None,
    seed: int,
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Turn votes or ratings into scores with intervals.

    Reads one table of votes or ratings, or one of each for an estimator that reads both (default: votes.csv or
    ratings.csv of the current folder). Prints the scores, or writes them to -o; in a benchmark folder to scores/NAME.csv.

    Example: paragone score votes.csv --method bradley-terry --json
    """
    must_exist(*files, items, screening)
    from ..estimate import Question
    from ..loop import answers as from_answers
    from ..loop import outputs, screened, told
    from ..loop.documents import score_document, score_rows, score_warnings
    from ..loop.words import file_name

    folder = Path()
    chosen = from_answers.answer_files(*files)
    if output is None and not files and from_answers.is_benchmark(folder):
        output = folder / "scores" / f"{file_name(f'{name}-by-{factor}' if factor else name)}.csv"
    outputs.may_write(output, outputs.SCORINGS, inputs=[*chosen, screening, items])
    answers = from_answers.read_answers(chosen, assignments(columns, "--map"), say=_sayer(quiet))
    question = Question(
        intervals=intervals,
        replicates=replicates,
        confidence=confidence,
        seed=seed,
        jobs=jobs,
        levels=from_answers.levels_of(answers, factor, items=items, folder=folder) if factor else None,
        factor=factor,
        apart=apart,
        temperature=numbers(temperature, "--temperature"),
        reliability=numbers(reliability, "--reliability"),
    )
    where = None if files or everyone else folder
    screening = screened.screening_beside(answers, screening, folder=where, done="scored", say=_sayer(quiet))
    scores = from_answers.score(
        answers,
        method,
        question=question,
        options=typed(settings, "--set"),
        kept=screened.kept_by(screening) if screening else None,
        inputs=[*chosen, *([screening] if screening else [])],
        name=name,
        simulated=from_answers.is_simulated(answers, chosen),
    )
    if output:
        scores.write(output)
    if as_json:
        emit(score_document(scores))
    elif not output:
        show_frame(score_rows(scores), short=told.short)
    lost = from_answers.item_without_level(answers, question.levels) if question.levels is not None else None
    for line in score_warnings(scores, examples={"without_level": lost} if lost else None):
        say(line, quiet=quiet)
    for line in [*told.score_lines(scores), *([str(output)] if output else [])]:
        say(line, quiet=quiet or as_json)


def _sayer(quiet: bool) -> Callable[[str], None]:
    return lambda line: say(line, quiet=quiet)
