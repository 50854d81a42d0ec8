"""A benchmark folder becomes a plan, answers and tables of votes or ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from ..benchmark import Benchmark
from ..design import Cost, PairStage, RatingStage, Study, cost, plan, read_study
from ..errors import BadConfig, BadInput, BadTable, MissingExtra, NotFound, TooFew, WouldOverwrite
from ..judgements import Ratings, Votes
from ..observers import Observers, latent_scores, simulate
from ..plan import Plan
from ..scores import Scores
from ..study import Collected, collect, read_answers
from ..study.faults import unfit_pages, unknown_shown, unsigned
from ..study.worded import listed
from ..tables import write_table
from .serving import can_serve
from .stored import OUT, Stored, people_answered, stored_answers

__all__ = [
    "collect_folder",
    "cost_document",
    "make_plan",
    "no_people_lost",
    "simulate_folder",
    "unasked_lines",
    "unsigned_lines",
    "with_criteria",
]


def make_plan(folder: Path) -> tuple[Plan, Cost]:
    """Deal the study of a folder, and say what it asks of people.

    Raises:
        NotFound, BadTable, BadConfig, UnknownName: a file is missing or breaks its contract, or they do not fit each other.
    """
    benchmark = Benchmark.read(folder)
    study = _study(folder)
    if wrong := [*unfit_pages(study), *unknown_shown(study, benchmark)]:
        raise BadTable.of_faults(str(folder), wrong)
    made = plan(benchmark, study)
    return made, cost(made, benchmark, study)


def unsigned_lines(folder: Path) -> list[str]:
    """What has to be filled in before people are asked, though a plan can be dealt without: one line, or none."""
    keys = unsigned(read_study(folder / "study.toml"))
    return [f"fill in [consent] {' and '.join(keys)} of study.toml before serving"] if keys else []


def unasked_lines(folder: Path) -> list[str]:
    """Which criteria the benchmark names and the study does not ask: one line, or none where it asks them all."""
    named, asked = Benchmark.read(folder).criteria, read_study(folder / "study.toml").criteria
    left = [criterion for criterion in named if criterion not in asked]
    if not asked or not left:
        return []
    return [f"study.toml asks {listed(asked)}; benchmark.toml names {listed(left)} too"]


def _study(folder: Path) -> Study:
    path = folder / "study.toml"
    if not path.is_file():
        raise NotFound(
            f"no study.toml in '{folder}', which says what is asked; start from: paragone plan --example > {path} "
            "(docs/tutorial-votes.md explains it)",
            where=str(path),
        )
    try:
        return read_study(path)
    except BadConfig as error:
        if "kind" not in error.message:
            raise
        kinds = " or ".join(f'"{record.__struct_config__.tag}"' for record in (PairStage, RatingStage))
        raise BadConfig(f"{error.message}; kind is {kinds}", where=error.where) from error


def _planned(folder: Path) -> Plan:
    path = folder / "plan.csv"
    if not path.is_file():
        raise NotFound(f"no plan.csv in '{folder}'; run: paragone plan {folder} first", where=str(path))
    return Plan.read(path)


def simulate_folder(
    folder: Path, *, latent: Path | None = None, taste: float = 0.0, careless: float = 0.0, seed: int = 0
) -> list[Path]:
    """Let simulated participants answer the plan of a folder; the benchmark is marked as simulated until people answer.

    Args:
        folder: holds a benchmark and plan.csv.
        latent: scores that are true in the simulation; None: invented effects of every factor.
        taste: standard deviation of personal tastes, in logits, >= 0.
        careless: share of participants who do not look, in [0, 1].
        seed: every random choice follows from it.

    Returns:
        The files written: answers.csv and scores/simulated-truth.csv.

    Raises:
        WouldOverwrite: answers.csv or study.db holds answers of people.
    """
    no_people_lost(folder / "answers.csv")
    if (folder / "study.db").is_file() and can_serve() and people_answered(folder):
        raise WouldOverwrite(
            f"'{folder / 'study.db'}' holds answers of people; simulate in a copy of the folder, without study.db",
            where=str(folder / "study.db"),
        )
    benchmark = Benchmark.read(folder)
    made = _planned(folder)
    truth = Scores.read(latent) if latent else latent_scores(with_criteria(benchmark, folder / "study.toml"), seed=seed)
    observers = Observers(taste_sd=taste, careless=careless, stage_scale=_scales(folder / "study.toml"))
    answers = write_table(simulate(made, truth, seed=seed, observers=observers), folder / "answers.csv")
    replace(benchmark, simulated=True).write(folder)
    return [answers, truth.write(folder / "scores" / "simulated-truth.csv")]


def no_people_lost(path: Path) -> None:
    """Hold back before simulated answers replace those of people.

    Raises:
        WouldOverwrite: the table of answers holds some of people.
    """
    if path.is_file() and not _simulated(read_answers(path)).all():
        raise WouldOverwrite(
            f"'{path}' holds answers of people; move it away before anybody is simulated", where=str(path)
        )


def _simulated(answers: pl.DataFrame) -> pl.Series:
    return answers["participant"].str.starts_with("sim-").fill_null(False)


def with_criteria(benchmark: Benchmark, path: Path) -> Benchmark:
    """Return the benchmark with the criteria that a study.toml asks, where it names any."""
    criteria = read_study(path).criteria if path.is_file() else []
    return replace(benchmark, criteria=tuple(criteria)) if criteria else benchmark


def _scales(path: Path) -> dict[str, tuple[float, float, float]]:
    """Low end, high end and step of each rating stage of a study.toml, by name; none where there is no such file."""
    if not path.is_file():
        return {}
    study = read_study(path)
    named = zip(study.stage_names, study.stage, strict=True)
    return {name: (stage.low, stage.high, stage.step) for name, stage in named if isinstance(stage, RatingStage)}


def _goes_before(table: Path, folder: Path) -> bool:
    """Whether answers.csv is taken though there is a study.db: it is not where only the other holds answers of people."""
    if not table.is_file():
        return False
    if not _simulated(read_answers(table)).all():
        return True
    try:
        return not people_answered(folder)
    except MissingExtra:
        return True


def _must_be_of(folder: Path, kept: Sequence[Stored]) -> None:
    """Refuse a store that shows nothing of what the folder's benchmark holds."""
    if not (folder / "benchmark.toml").is_file():
        return
    known = Benchmark.read(folder).items["item"]
    shown = pl.concat(
        [one.plan.frame[side].drop_nulls() for one in kept for side in ("left", "right", "item")] or [known]
    )
    if shown.len() and not shown.is_in(known.implode()).any():
        raise BadInput(
            f"the store is of another study: it shows '{shown[0]}' and nothing that items.csv of '{folder}' holds; name the "
            "store of this one by --store",
            where="store",
        )


def collect_folder(
    folder: Path, *, answers: Path | None = None, store: str | None = None, everything: bool = False
) -> tuple[list[Path], Mapping[str, Any]]:
    """Project the raw answers of a folder onto votes.csv and ratings.csv, and mark its benchmark if any are simulated.

    Args:
        folder: the study.
        answers: a table of answers; None: the store that is named, else answers.csv of the folder, else its study.db.
            Where answers.csv is of simulated participants alone and people answered in study.db, that is taken.
        store: URL of a store; its answers are taken with the plans that they were given to.
        everything: of a store, also answers of sheets that are not finished or were excluded at the desk.

    Returns:
        The files written, and notes: answers read, doubles left out, missing; of a store also the answers left out, in
        all and by what their sheets are.

    Raises:
        NotFound: no answers, no plan or no store.
        TooFew: there is no answer yet.
        WouldOverwrite: votes.csv or ratings.csv is there from other answers.
        BadInput: the store is of another study.
    """
    table = answers or (None if store is not None else folder / "answers.csv")
    if answers is None and table is not None and (folder / "study.db").is_file() and not _goes_before(table, folder):
        table = None
    if table is None:
        name = "study.db" if store is None else "the store"  # whose URL may hold a password
        kept = stored_answers(folder, store=store, everything=everything)
        _must_be_of(folder, kept)
        parts = [collect(one.plan, one.answers, where=name) for one in kept if one.answers.height]
        frames = [one.answers for one in kept]
        out = {why: n for why in OUT if (n := sum(one.left_out.get(why, 0) for one in kept))}
        by_reason = {f"left_out_{why}": n for why, n in out.items()}
        more: dict[str, Any] = {"read": name, "left_out": sum(out.values()), **by_reason}
    else:
        made = _planned(folder)
        if answers is None and not table.is_file():
            raise NotFound(
                f"no answers.csv in '{folder}'; ask people by: paragone serve {folder}, name a table by --answers, or run: "
                f"paragone simulate {folder}",
                where=str(table),
            )
        name, more, out = table.name, {"read": table.name}, {}
        frames = [read_answers(table)]
        parts = [collect(made, frames[0], where=name)]
    found = _together(parts)
    if found.votes is None and found.ratings is None:
        raise _nothing(folder, name, out)
    for noun, what, kind in ((found.votes, "votes", "pairs"), (found.ratings, "ratings", "single items")):
        old = folder / f"{what}.csv"
        if noun is None and old.is_file():
            raise WouldOverwrite(
                f"{name} holds no answer on {kind}, but '{old}' is there from another time; remove it or name the right "
                "answers by --answers",
                where=str(old),
            )
    if (folder / "benchmark.toml").is_file():
        benchmark = Benchmark.read(folder)
        simulated = any(bool(_simulated(frame).any()) for frame in frames)
        if benchmark.simulated != simulated:
            replace(benchmark, simulated=simulated).write(folder)
    written = []
    if found.votes is not None:
        written.append(found.votes.write(folder / "votes.csv"))
    if found.ratings is not None:
        written.append(found.ratings.write(folder / "ratings.csv"))
    return written, {**more, **found.notes}


def _nothing(folder: Path, name: str, out: Mapping[str, int]) -> TooFew:
    """The error where no answer counts: why not, and what lies there from earlier."""
    on = ", ".join(f"{n} on {OUT[why]}" for why, n in out.items())
    old = [f"'{path}'" for what in ("votes", "ratings") if (path := folder / f"{what}.csv").is_file()]
    verbs = ("is", "holds", "it") if len(old) == 1 else ("are", "hold", "them")
    stale = f"{' and '.join(old)} {verbs[0]} older and {verbs[1]} answers that no longer count; remove {verbs[2]}"
    more = "--everything takes them" if out else ""
    parts = [f"{name} holds no answer that counts", "nothing was collected", on, more, stale if old else ""]
    return TooFew("; ".join(part for part in parts if part), where=name)


def _together(parts: Sequence[Collected]) -> Collected:
    """What was collected from several versions of a study, as one."""
    votes = [part.votes.frame for part in parts if part.votes is not None]
    ratings = [part.ratings.frame for part in parts if part.ratings is not None]
    counted = {key: sum(part.notes[key] for part in parts) for key in ("answers", "doubles", "missing")}
    lacking: dict[str, int] = {}
    for part in parts:
        for person, n in part.notes["missing_by"].items():
            lacking[person] = lacking.get(person, 0) + n
    return Collected(
        Votes(pl.concat(votes, how="diagonal")) if votes else None,
        Ratings(pl.concat(ratings, how="diagonal")) if ratings else None,
        {**counted, "missing_by": lacking},
    )


def cost_document(costs: Cost) -> dict[str, Any]:
    """The cost as plain values."""
    return {
        "stages": costs.frame.to_dicts(),
        "exposures": costs.exposures.to_dicts(),
        "connected_parts": costs.islands,
        "survival": None if costs.survival is None else costs.survival._asdict(),
    }
