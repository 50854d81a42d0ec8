"""A new method's results rated by a trained evaluator: scores, a place among the known methods, a leaderboard page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from ..benchmark import Benchmark
from ..errors import BadConfig, BadInput, MissingExtra, NotFound, WouldOverwrite
from ..evaluators.evaluator import Evaluator
from ..evaluators.leaderboard import leaderboard
from ..evaluators.stored import load_evaluator
from ..features import FEATURES, Features
from ..make.adapters import FolderMethod, detect_layout, read_folder
from ..make.cells import Job, seed_of
from ..metrics import from_files
from ..scores import Scores
from ..settings import read_toml
from ..tables import read_table, write_table
from .described import described_for
from .documents import counted
from .outputs import may_write
from .words import file_name

__all__ = ["Rated", "new_results", "rate_folder"]


_UNLIKE_CONTENT = "perceptual distance of result and content"  # how triplet-v1 names these columns
_COPY = 1e-6  # distance up to which two pictures are one: rounding makes less
_SAME = 0.02  # our choice: spread of an evaluator's scores, to that of people's, below which it tells nothing apart


class Rated(NamedTuple):
    """What an evaluator says about new results."""

    scores: Scores
    """One row for each picture and criterion."""
    board: pl.DataFrame
    """Rows as in `paragone.evaluators.leaderboard.LEADERBOARD`."""
    warnings: list[str]
    """What a reader must see."""
    files: list[Path]
    """What was written, the page last."""


class _Rating(NamedTuple):
    """Everything that a page says of new results."""

    judge: Evaluator
    known: Benchmark | None
    new: Benchmark
    level: str
    scores: Scores
    board: pl.DataFrame
    notes: list[str]
    place: str
    """Where the evaluator lies, from the folder that holds the benchmark; empty: elsewhere."""


def rate_folder(
    results: Path,
    evaluator: Path,
    *,
    benchmark: Path | None = None,
    name: str = "",
    pattern: str = "",
    weights: Path | None = None,
    download: bool = False,
    device: str = "cpu",
    batch: int = 8,
    output: Path | None = None,
    jobs: int = 1,
    quiet: bool = True,
) -> Rated:
    """Score a folder of results and write scores, leaderboard and page.

    Args:
        results: pictures of one method.
        evaluator: folder of the evaluator.
        benchmark: whose references the results are of; None: the folder that the evaluator lies in, where it needs
            references.
        name: of the new method; empty: the folder's.
        pattern: how results are named; empty: the known layout that finds most.
        weights: weight file of the backbone; None: looked for.
        download: fetch weights where none are here.
        device: where the network computes.
        batch: pictures in one go.
        output: folder of what is written; None: rated-by-EVALUATOR/NAME beside the evaluator.
        jobs: processes.
        quiet: show no progress.

    Raises:
        NotFound: no evaluator, benchmark or weights.
        BadInput: no picture is a result on the benchmark's references; other weights than the evaluator's.
    """
    judge = load_evaluator(evaluator)
    if "image" not in FEATURES[judge.read.features].inputs:
        raise BadConfig(
            f"evaluator '{judge.name}' reads references alone ({judge.read.features}); it says nothing about results",
            where=str(evaluator),
        )
    level = (name or results.resolve().name).strip()
    if not level.strip(". "):
        raise BadConfig(f"'{level}' is no name for a method; give one (--name)", where="--name")
    folder = output or evaluator.parent / f"rated-by-{file_name(evaluator.resolve().name)}" / file_name(level)
    _own_place(folder, level)
    if level in set(judge.people[judge.factor]) if judge.factor else False:
        raise BadConfig(
            f"the evaluator knows a {judge.factor} '{level}' already, from people; name the new one otherwise (--name)",
            where="--name",
        )
    known = _benchmark_of(judge, evaluator, benchmark)
    new, notes = new_results(results, judge, known, level=level, pattern=pattern)
    features = described_for(
        judge, new, weights=weights, download=download, device=device, batch=batch, jobs=jobs, quiet=quiet
    )
    scores = judge.predict(features)
    board = leaderboard(judge, scores, level=level, items=new.items.drop("image"))
    notes += [*_without_score(scores), *_copies(features), *_flat(judge, scores)]
    rating = _Rating(judge, known, new, level, scores, board, notes, _told(evaluator, known))
    return Rated(scores, board, [*notes, *_badges(judge, scores)], _written(rating, folder))


def new_results(
    results: Path, judge: Evaluator, benchmark: Benchmark | None, *, level: str, pattern: str
) -> tuple[Benchmark, list[str]]:
    """A benchmark in memory of a folder of results on known references, and what is odd about the folder.

    Raises:
        BadInput: no picture is a result on them.
    """
    wanted = [kind for kind in FEATURES[judge.read.features].inputs if kind != "image"]
    if benchmark is None or not wanted:
        listed = from_files(results)
        skipped = [f"{counted(len(listed.skipped), 'file is', 'files are')} no picture"] if listed.skipped else []
        return listed.benchmark, skipped
    lost = [factor for factor in wanted if factor not in benchmark.factors]
    if lost:
        raise BadInput(
            f"benchmark '{benchmark.name}' has no factor '{lost[0]}'; evaluator '{judge.name}' reads {' and '.join(wanted)}",
            where=lost[0],
        )
    shown = {
        (factor, name): benchmark.folder / image
        for factor, name, image in benchmark.references.select("factor", "level", "image").iter_rows()
    }
    jobs = _jobs(benchmark, wanted, shown, level, results)
    settings = FolderMethod(root=str(results.resolve()), pattern=pattern) if pattern else _layout(results, jobs, level)
    read = read_folder(settings, jobs, folder=Path("/"))
    if not read.found and read.duplicates:
        raise BadInput(
            f"every result in '{results}' is there several times, for example for "
            f"{' x '.join(next(iter(read.duplicates)))}; leave one file for each",
            where=str(results),
        )
    if not read.found:
        held = f"; for example '{next(iter(read.unmatched))}' is none" if read.unmatched else ""
        raise BadInput(
            f"no picture in '{results}' is a result on the references of benchmark '{benchmark.name}'{held}; "
            "say how they are named: --pattern '{content}_{style}.png'",
            where=str(results),
        )
    rows = [
        {
            "item": "/".join((level, *cell)),
            "image": str((read.root / file).resolve()),
            **dict(zip(wanted, cell, strict=True)),
        }
        for cell, file in sorted(read.found.items())
    ]
    references = [
        {"factor": factor, "level": name, "image": str(path.resolve())}
        for (factor, name), path in shown.items()
        if factor in wanted
    ]
    made = Benchmark(pl.DataFrame(rows), pl.DataFrame(references), name=level)
    missing = len(read.missing)
    notes = (
        [f"{counted(missing, 'combination of references has', 'combinations of references have')} no result"]
        if missing
        else []
    )
    if read.duplicates:
        notes.append(
            f"{counted(len(read.duplicates), 'combination has', 'combinations have')} several files and no score"
        )
    if read.unmatched:
        notes.append(
            f"{counted(len(read.unmatched), 'picture is', 'pictures are')} no result, for example "
            f"'{next(iter(read.unmatched))}'"
        )
    return made, notes


def _jobs(
    benchmark: Benchmark, wanted: Sequence[str], shown: dict[tuple[str, str], Path], level: str, results: Path
) -> list[Job]:
    """Every combination of references that the benchmark has results on."""
    cells = benchmark.items.select(wanted).drop_nulls().unique().sort(wanted)
    return [
        Job(
            method=level,
            levels=dict(zip(wanted, cell, strict=True)),
            inputs={factor: shown[factor, name] for factor, name in zip(wanted, cell, strict=True)},
            target=results / "none" / "none.png",
            seed=seed_of(level, *cell),
            key="",
        )
        for cell in cells.iter_rows()
        if all((factor, name) in shown for factor, name in zip(wanted, cell, strict=True))
    ]


def _layout(results: Path, jobs: Sequence[Job], level: str) -> FolderMethod:
    best = next(iter(detect_layout(results, jobs)), None)
    if best is None:
        listed = from_files(results).benchmark.items["image"]
        raise BadInput(
            f"no known layout (paragone list layouts) reads the pictures in '{results}', for example "
            f"'{Path(listed[0]).name}', as results of '{level}' on the benchmark's references; say how they are named: "
            "--pattern '{content}_{style}.png'",
            where=str(results),
        )
    return FolderMethod(root=str(results.resolve()), layout=best.layout)


def _benchmark_of(judge: Evaluator, evaluator: Path, named: Path | None) -> Benchmark | None:
    if all(kind == "image" for kind in FEATURES[judge.read.features].inputs):
        return None
    if named is not None:
        return Benchmark.read(named)
    for folder in evaluator.resolve().parents:
        if (folder / "benchmark.toml").is_file():
            return Benchmark.read(folder)
    raise NotFound(
        f"evaluator '{judge.name}' needs the references of its benchmark, and '{evaluator}' lies in none; "
        "name it (--benchmark)",
        where=str(evaluator),
    )


def _own_place(folder: Path, level: str) -> None:
    """Refuse a folder in which something else would be replaced: another's files, the scores of a benchmark, or those of a
    method whose name is written alike."""
    if folder.name == "scores" and (folder.parent / "benchmark.toml").is_file():
        raise WouldOverwrite(
            f"'{folder}' holds the scores of the benchmark's own items; name another folder", where=str(folder)
        )
    board = folder / "leaderboard.csv"
    may_write(board, ({"level", "by", "rank_low", "far"},))
    if board.is_file():
        rated = read_table(board).filter(pl.col("by") == "evaluator")["level"].cast(pl.String).unique().to_list()
        if rated != [level]:
            raise WouldOverwrite(
                f"'{folder}' holds what was said of '{', '.join(rated)}'; name another folder (-o)", where=str(folder)
            )
    made = read_toml(folder / "scores.toml") if (folder / "scores.toml").is_file() else {}
    if (folder / "scores.csv").exists() and made.get("verb") != "rate":
        raise WouldOverwrite(f"'{folder / 'scores.csv'}' was not made by rate; name another folder", where=str(folder))


def _without_score(scores: Scores) -> list[str]:
    reasons = scores.made.get("reasons", {})
    if not reasons:
        return []
    item, why = next(iter(reasons.items()))
    return [f"{counted(len(reasons), 'picture has', 'pictures have')} no score: '{item}' ({why})"]


def _copies(features: Features) -> list[str]:
    """Says which results are their own content: an evaluator finds nothing strange about them."""
    named = [block.start for block in features.blocks if block.name.startswith(_UNLIKE_CONTENT)]
    if not named:
        return []
    same = [features.items[row] for row in np.flatnonzero((features.values[:, named] < _COPY).all(axis=1))]
    if not same:
        return []
    return [f"{counted(len(same), 'picture is', 'pictures are')} a copy of the content, for example '{same[0]}'"]


def _flat(judge: Evaluator, scores: Scores) -> list[str]:
    """Says which heads tell nothing apart."""
    lines = []
    for criterion in judge.criteria:
        said = scores.of_criterion(criterion)["score"].drop_nulls().to_numpy()
        people = judge.people.filter(pl.col("criterion").eq_missing(criterion))["score"].to_numpy()
        if len(said) > 1 and said.std() < _SAME * people.std():
            lines.append(
                f"its head for {criterion or 'the score'} says nearly the same of every picture: it learned nothing"
            )
    return lines


def _badges(judge: Evaluator, scores: Scores) -> list[str]:
    """What a page says in its own words, for those who see none."""
    lines = []
    far = scores.made.get("far", [])
    if far:
        lines.append(
            f"{len(far)} of {scores.frame['item'].n_unique()} pictures lie further from what the evaluator learned than "
            f"{judge.factor or 'item'}s lie from each other, for example '{far[0]}'; what it says about them is a guess"
        )
    if judge.flags.get("random_weights"):
        lines.append(f"the evaluator reads {judge.read.label}: a control, and no judge")
    if judge.simulated:
        lines.append("the evaluator learned from simulated participants; its scores are no people's")
    return lines


def _told(evaluator: Path, known: Benchmark | None) -> str:
    """Where the evaluator lies, from the folder that holds the benchmark; empty where it lies elsewhere."""
    if known is None or known.folder.resolve() not in evaluator.resolve().parents:
        return ""
    return evaluator.resolve().relative_to(known.folder.resolve().parent).as_posix()


def _written(rating: _Rating, folder: Path) -> list[Path]:
    """Write scores, leaderboard and, where its libraries are installed, the page."""
    files = [
        rating.scores.write(folder / "scores.csv"),
        write_table(rating.board, folder / "leaderboard.csv"),
    ]
    try:
        from ..report.leader_facts import leader_facts, shown_results
        from ..report.leaderboard import leaderboard_page

        name = rating.known.name if rating.known else ""
        facts = leader_facts(rating.judge, name, rated=rating.scores, new=rating.new, folder=rating.place)
        if not rating.board["by"].eq("people").any():
            facts = replace(facts, factor="")  # it is no level of what was held out: nothing is ranked
        page = leaderboard_page(
            facts,
            rating.board,
            folder / "leaderboard.html",
            level=rating.level,
            notes=rating.notes,
            pictures=shown_results(rating.new, rating.scores),
        )
    except MissingExtra:
        return files
    return [*files, page]
