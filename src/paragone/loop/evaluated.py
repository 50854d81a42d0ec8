"""Learned evaluators on a benchmark folder: validated by what they have not seen, trained, kept in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import polars as pl

from ..benchmark import Benchmark
from ..errors import BadConfig, BadInput, UnknownName
from ..evaluators.entrant import Entrant
from ..evaluators.making import fit_evaluator
from ..evaluators.protocol.crossval import crossval
from ..evaluators.protocol.papers import paper_table
from ..evaluators.protocol.validation import CrossValidation
from ..evaluators.stored import is_evaluator, may_save, save_evaluator
from ..provenance import made_by
from ..scores import Scores
from ..splits import leave_one_out
from .described import (
    Network,
    described,
    entrants_of,
    factors_of,
    kind_of_features,
    labelled,
    must_be_installed,
    must_be_there,
    people_of,
    without_features,
)
from .gather import scores_in
from .outputs import VALIDATIONS, may_write
from .refitted import refitting
from .words import file_name

__all__ = ["DEFAULT_LEARNERS", "Targets", "crossval_folder", "machines_in", "train_folder"]

DEFAULT_LEARNERS = ("astra-score", "astra-score:components=256", "ridge", "svr")
Targets = Literal["all", "refit"]


def crossval_folder(
    folder: Path,
    factors: Sequence[str],
    network: Network,
    *,
    learners: Sequence[str] = DEFAULT_LEARNERS,
    without: Mapping[str | None, tuple[str, ...]] | None = None,
    targets: Targets = "all",
    people: Path | None = None,
    metrics: Sequence[Path] | None = None,
    output: Path | None = None,
    replicates: int = 1000,
    seed: int = 0,
    jobs: int = 1,
    cache: Path | None = None,
    quiet: bool = True,
    say: Callable[[str], None] | None = None,
) -> dict[str, CrossValidation]:
    """Leave each level of a factor out in turn, for each of some factors, and write what comes of it.

    Args:
        folder: a benchmark with scores of people.
        factors: 'method', 'content', ...; one table each.
        network: what reads the pictures.
        learners: specs, see `entrants_of`.
        without: criterion -> references that its head must not see; each learner then enters a second time, blind.
        targets: all: people's scores as they are; refit: estimated anew for each fold from answers that touch none of
            its held-out items.
        people: scores of people; None: scores/human.csv.
        metrics: tables of machine scores that are judged beside; None: those in scores/ of the folder.
        output: folder of the tables; None: crossval/ of the folder.
        replicates: bootstrap resamples.
        seed: of all randomness.
        jobs: processes for extraction.
        cache: where features are kept; None: in the folder.
        quiet: show no progress.
        say: takes a line a step.

    Returns:
        factor -> validation.

    Raises:
        UnknownName: no such factor or learner.
        NotFound, BadConfig, BadInput, TooFew: as the parts.
    """
    tell = say or (lambda _: None)
    must_be_installed(learners)
    benchmark = Benchmark.read(folder)
    table = factors_of(benchmark)
    _known(factors, table, benchmark)
    place, factors = output or folder / "crossval", list(dict.fromkeys(factors))
    for factor in factors:
        may_write(place / f"crossval-{factor}.csv", VALIDATIONS)
    human, path = people_of(folder, people)
    entrants = entrants_of(learners)
    must_be_there(without or {}, human, network.features or kind_of_features(benchmark))
    if without:
        entrants += entrants_of(learners, without=without)
    refit = refitting(folder, human) if targets == "refit" else None
    machines = machines_in(folder, human) if metrics is None else [_machine(path) for path in metrics]
    features, read = described(benchmark, network, cache=cache, jobs=jobs, quiet=quiet)
    tell(f"features: {read.features} of {len(features.items)} items, {features.values.shape[1]} columns, {read.label}")
    for line in without_features(features):
        tell(line)
    made = {}
    for factor in factors:
        found = crossval(
            features,
            human,
            leave_one_out(_levels(table, factor), factor),
            entrants,
            metrics=machines,
            factors=table,
            refit=refit,
            replicates=replicates,
            seed=seed,
            quiet=quiet,
        )
        settings = {"learners": list(learners), "targets": targets, "seed": seed, "replicates": replicates}
        made[factor] = replace(found, notes={**found.notes, **made_by("crossval", inputs=[path], settings=settings)})
        made[factor].write(place)
        tell(f"leave one {factor} out: {len(made[factor].per_fold['fold'].unique())} folds")
    return made


def train_folder(
    folder: Path,
    network: Network,
    *,
    learner: str = "astra-score",
    factor: str | None = None,
    without: Mapping[str | None, tuple[str, ...]] | None = None,
    targets: Targets = "all",
    people: Path | None = None,
    name: str = "",
    output: Path | None = None,
    validate: bool = True,
    seed: int = 0,
    jobs: int = 1,
    cache: Path | None = None,
    quiet: bool = True,
    say: Callable[[str], None] | None = None,
) -> Path:
    """Train an evaluator on all items of a folder, with its errors on levels that it had not seen, and write it.

    Args:
        folder: a benchmark with scores of people.
        network: what reads the pictures.
        learner: spec, see `entrants_of`.
        factor: held out in turn to learn the errors; None: method, else the factor with most levels.
        without: criterion -> references that its head must not see.
        targets: of the validation, as for `crossval_folder`.
        people: scores of people; None: scores/human.csv.
        name: of the evaluator; empty: that of its folder, where one is named, else the learner's.
        output: its folder; None: evaluators/NAME of the benchmark.
        validate: learn the errors; else they stay unknown.
        seed: of all randomness.
        jobs: processes for extraction.
        cache: where features are kept; None: in the folder.
        quiet: show no progress.
        say: takes a line a step.

    Returns:
        The evaluator's folder.
    """
    tell = say or (lambda _: None)
    must_be_installed([learner])
    benchmark = Benchmark.read(folder)
    table = factors_of(benchmark)
    chosen = factor if factor is not None else _ranked_factor(table)
    if chosen:
        _known([chosen], table, benchmark)
    if factor is None and chosen and chosen != "method":
        tell(f"there is no method with several levels and items: one {chosen} is left out at a time, and ranked")
    human, path = people_of(folder, people)
    must_be_there(without or {}, human, network.features or kind_of_features(benchmark))
    (entrant,) = entrants_of([learner], without=without)
    called = name or _name_of(learner, output)
    if file_name(called) != called:
        raise BadConfig(
            f"'{called}' cannot be the name of a folder; name the evaluator otherwise (--name)", where="--name"
        )
    place = output or folder / "evaluators" / called
    may_save(place)
    if is_evaluator(place):
        tell(f"'{place}' holds an evaluator already; this one takes its place (--name keeps both)")
    refit = refitting(folder, human) if targets == "refit" else None
    entrant = Entrant(
        name=called,
        learner=entrant.learner,
        without=entrant.without,
        options=entrant.options,
    )
    features, read = described(benchmark, network, cache=cache, jobs=jobs, quiet=quiet)
    tell(f"features: {read.features} of {len(features.items)} items, {features.values.shape[1]} columns, {read.label}")
    for line in without_features(features):
        tell(line)
    foretold: pl.DataFrame | None = None
    protocol = shown = ""
    if validate and chosen:
        found = crossval(
            features,
            human,
            leave_one_out(_levels(table, chosen), chosen),
            [entrant],
            metrics=machines_in(folder, human),
            factors=table,
            refit=refit,
            seed=seed,
            quiet=quiet,
        )
        foretold = found.predictions.filter(pl.col("predictor") == entrant.name)
        protocol = f"leave one {chosen} out" + (", targets estimated anew" if targets == "refit" else "")
        who = "simulated participants" if human.made.get("simulated") else "people"
        shown = f"Against {who}, {protocol}:\n\n{paper_table(found).markdown()}"
        tell(protocol)
    made = made_by(
        "train", inputs=[path], settings={"learner": learner, "factor": chosen, "targets": targets, "seed": seed}
    )
    evaluator = fit_evaluator(
        features,
        human,
        entrant,
        read,
        factors=table,
        factor=chosen,
        foretold=foretold,
        protocol=protocol,
        seed=seed,
        quiet=quiet,
        made=made | {"rests_on": _behind(human)},
    )
    return save_evaluator(evaluator, place, validation=shown)


def _name_of(learner: str, output: Path | None) -> str:
    """An evaluator is called like the folder that was named for it, else like its learner."""
    own = output.name if output is not None else ""
    return own if own and file_name(own) == own else learner.partition(":")[0].strip()


def _behind(people: Scores) -> dict[str, int]:
    """Answers and participants behind scores, the most over criteria, as far as their record says so."""
    notes = [said for said in people.made.get("notes", {}).values() if isinstance(said, Mapping)]
    found = {key: [int(said[key]) for said in notes if key in said] for key in ("answers", "participants")}
    return {key: max(counts) for key, counts in found.items() if counts}


def machines_in(folder: Path, people: Scores) -> list[Scores]:
    """Scores by machine in a folder that can be judged on held-out items; the truth of a simulation is none, nor is what an
    evaluator says that learned from them."""
    made = []
    for scores in scores_in(folder / "scores").values():
        if scores.made.get("verb") in ("score", "simulate") or scores.name == people.name:
            continue
        if scores.made.get("learned_items"):  # an evaluator that learned these very items: that is no test of it
            continue
        if scores.key == "item" or (scores.frame["of"] == "method").all():
            made.append(scores)
    return made


def _machine(path: Path) -> Scores:
    """A table that was named as a metric's."""
    scores = Scores.read(path)
    if scores.made.get("verb") == "score":
        raise BadInput(f"{path} holds scores of people, and no metric's", where=str(path))
    return labelled(scores)


def _known(factors: Sequence[str], table: pl.DataFrame, benchmark: Benchmark) -> None:
    if not factors:
        raise BadConfig(
            "name a factor whose levels are left out in turn, for example --leave-out method", where="--leave-out"
        )
    for factor in factors:
        if factor in benchmark.factors and factor not in table.columns[1:]:
            raise BadConfig(
                f"factor '{factor}' cannot be left out: its levels are one, or one for each item, or they part the items as "
                f"another factor does ({', '.join(table.columns[1:])})",
                where=factor,
            )
        if factor not in table.columns[1:]:
            raise UnknownName.among(factor, table.columns[1:], "factor with several levels")


def _levels(table: pl.DataFrame, factor: str) -> pl.DataFrame:
    return table.select("item", pl.col(factor).alias("level")).drop_nulls()


def _ranked_factor(table: pl.DataFrame) -> str:
    named = table.columns[1:]
    if "method" in named or not named:
        return "method" if named else ""
    return max(named, key=lambda name: table[name].n_unique())
