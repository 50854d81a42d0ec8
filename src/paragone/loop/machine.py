"""Metrics on folders and bare pictures, and their agreement with people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from ..agreement import compare
from ..benchmark import Benchmark
from ..errors import BadConfig, MissingExtra, NotFound, UnknownName, WouldOverwrite
from ..evaluators.evaluator import Evaluator
from ..evaluators.stored import is_evaluator, load_evaluator
from ..metric import Metric
from ..metrics import METRICS, from_files, measure
from ..metrics.describe import available
from ..provenance import made_by
from ..scores import Agreement, Better, Scores
from ..tables import open_table
from .answers import is_benchmark
from .described import CACHE, described_for, labelled
from .documents import counted
from .joining import joined
from .predictors import predictors_in, scores_at
from .words import file_name

__all__ = [
    "compared",
    "is_folder_of_ours",
    "left_out",
    "measured",
    "side_by_side",
    "split_names",
    "statuses",
    "to_measure",
    "warnings_of",
    "write_all",
]


def split_names(words: Sequence[str]) -> tuple[list[str], list[Path]]:
    """Metrics first, then places: a word that no metric has is a place, and from there on all are.

    The folder of an evaluator among the first words is a metric too.

    Raises:
        UnknownName: the first word is neither a metric nor something that exists.
    """
    known = {*METRICS.names(), "all"}
    number = 0
    while number < len(words) and (words[number] in known or is_evaluator(words[number])):
        number += 1
    places = [Path(word) for word in words[number:]]
    for place in places:
        if not place.exists():
            if place.suffix or len(place.parts) > 1 or number == len(words):
                raise NotFound.path(place, "file or folder")
            raise UnknownName.among(str(place), known, "metric")
    if number == 0:
        raise BadConfig(
            f"name a metric before '{words[0]}', for example: paragone measure contrast {words[0]}", where="NAME"
        )
    return list(dict.fromkeys(words[:number])), places


def is_folder_of_ours(places: Sequence[Path]) -> bool:
    """Whether what was named is one benchmark folder (nothing named: the current folder)."""
    return len(places) < 2 and is_benchmark(places[0] if places else Path())


def to_measure(
    places: Sequence[Path], *, content: Path | None = None, style: Path | None = None
) -> tuple[Benchmark, list[str]]:
    """The benchmark in a folder, or one made of bare pictures, and remarks on what was skipped."""
    if is_folder_of_ours(places):
        if content is not None or style is not None:
            raise BadConfig(
                "a benchmark names its own references (references.csv); --content and --style go with bare pictures",
                where="--content",
            )
        return Benchmark.read(places[0] if places else Path()), []
    listed = from_files(list(places) or [Path()], content=content, style=style)
    skipped = listed.skipped
    return listed.benchmark, [
        counted(len(skipped), "file is no picture and was", "files are no pictures and were")
        + f" skipped: {skipped[0]}"
        + (", ..." if len(skipped) > 1 else "")
    ] if skipped else []


def measured(
    names: Sequence[str], benchmark: Benchmark, *, jobs: int = 1, cache: Path | None = None, quiet: bool = True
) -> list[Scores]:
    """Scores by the named metrics; 'all' stands for every metric that is available and whose inputs are there."""
    chosen: list[str | Metric] = [name for name in names if not is_evaluator(name)]
    if "all" in names:
        chosen = [name for name in METRICS.names() if not _why_not(name, benchmark)]
    judged = [
        one
        for folder in names
        if is_evaluator(folder)
        for one in _judged(load_evaluator(folder), benchmark, jobs=jobs, cache=cache, quiet=quiet)
    ]
    return [*(measure(chosen, benchmark, jobs=jobs, cache=cache, quiet=quiet) if chosen else []), *judged]


def _judged(judge: Evaluator, benchmark: Benchmark, *, jobs: int, cache: Path | None, quiet: bool) -> list[Scores]:
    """What an evaluator says of a benchmark's pictures, each read once: one table a criterion."""
    kept = cache or (benchmark.folder / CACHE if is_benchmark(benchmark.folder) else None)
    features = described_for(judge, benchmark, cache=kept, jobs=jobs, quiet=quiet)
    said = judge.predict(features)
    return [
        Scores(
            said.of_criterion(criterion),
            name=judge.name if criterion is None else f"{judge.name}-{criterion}",
            better=said.better,
            made=said.made,
        )
        for criterion in said.criteria
    ]


def left_out(names: Sequence[str], benchmark: Benchmark) -> list[str]:
    """One line for each reason for which 'all' does not stand for some metrics; none where 'all' was not asked for."""
    if "all" not in names:
        return []
    by_reason: dict[str, list[str]] = {}
    for name in METRICS.names():
        reason = _why_not(name, benchmark)
        if reason:
            by_reason.setdefault(reason, []).append(name)
    return [f"not measured: {', '.join(metrics)}; {reason}" for reason, metrics in by_reason.items()]


def _why_not(name: str, benchmark: Benchmark) -> str:
    """Why 'all' does not stand for a metric; empty where it does."""
    try:
        metric: Metric = METRICS.get(name)
    except MissingExtra as error:
        return error.message
    if not available(metric):
        return f"pip install 'paragone[{metric.extra}]'"
    if metric.level != "item":
        return "of a whole set, not of pictures"
    missing = [word for word in metric.inputs if word not in _inputs(benchmark)]
    return _wanting(missing) if missing else ""


def _inputs(benchmark: Benchmark) -> set[str]:
    return {"image", *benchmark.references["factor"].unique(), *({"prompt"} & set(benchmark.factors))}


def _wanting(inputs: Sequence[str]) -> str:
    """Which references are missing, and where they are named: for bare pictures, and in a benchmark."""
    if inputs == ["prompt"]:
        return "there are no prompts (a column of items.csv)"
    options = " ".join(f"--{word} FOLDER" for word in inputs)
    named = f"name them by {options} (in a benchmark: --reference of `paragone new`)"
    return f"there are no {' and '.join(inputs)} references; {named}"


def write_all(scores: Sequence[Scores], output: Path) -> list[Path]:
    """One file per metric in a folder; a single metric may be given a file name."""
    if output.suffix in (".csv", ".parquet", ".tsv"):
        if len(scores) > 1:
            raise BadConfig(
                f"'{output}' is one file, and {len(scores)} metrics were asked for; name a folder", where="-o"
            )
        return [scores[0].write(output)]
    places = [output / f"{file_name(made.name)}.csv" for made in scores]
    for at, place in enumerate(places):
        if place in places[:at]:
            names = " and ".join(f"'{scores[one].name}'" for one in (places.index(place), at))
            raise WouldOverwrite(
                f"{names} would both be written to '{place}'; measure them one by one", where=str(place)
            )
    return [made.write(place) for made, place in zip(scores, places, strict=True)]


def side_by_side(scores: Sequence[Scores]) -> pl.DataFrame:
    """One row per item, one column per metric; a status column where a metric left an item out."""
    frame = scores[0].frame.select("item")
    for made in scores:
        columns = [pl.col("item"), pl.col("score").alias(made.name)]
        if made.frame["status"].ne("ok").any():
            columns.append(pl.col("status").alias(f"{made.name} status"))
        frame = frame.join(made.frame.select(columns), on="item", how="left", maintain_order="left")
    return frame


def statuses(scores: Sequence[Scores], benchmark: Benchmark) -> list[str]:
    """One line per metric and reason for which pictures have no score; says where missing references are named."""
    lines = []
    for made in scores:
        failed = made.frame.filter(pl.col("status") != "ok").group_by("status").len().sort("status")
        for status, count in failed.iter_rows():
            needs = METRICS.get(made.name).inputs if made.name in METRICS.names() else ()
            missing = [word for word in needs if word not in _inputs(benchmark)]
            why = f"; {_wanting(missing)}" if missing and count == made.frame.height else ""
            lines.append(f"{made.name}: {counted(count, 'picture has', 'pictures have')} no score ({status}){why}")
    return lines


def compared(
    human: Path,
    machines: Sequence[Path],
    *,
    factor: str | None = None,
    items: Path | None = None,
    cluster: str | None = None,
    better: Mapping[str, str] | None = None,
    replicates: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Read scores tables and compare the machines with the people.

    Args:
        human: scores of people.
        machines: scores of machines; a wide table gives one predictor per column. Tables that cannot be compared are
            left out, and the notes say which: people's own file, and tables of other things than people's.
        factor: also compare within each of its levels.
        items: table with item and factor columns; None: the benchmark above the folder of `human`.
        cluster: factor whose levels are resampled whole.
        better: predictor -> 'higher' or 'lower', where its table does not say.
        replicates: bootstrap replicates.
        seed: of the bootstrap.

    Raises:
        BadInput: nothing joins; the message shows ids of each side. Or two predictors have one name.
        BadConfig, BadTable, NotFound, UnknownName: a table or an option is not what it must be.
    """
    people = scores_at(human)
    if len(people) != 1:
        raise BadConfig(
            f"{human.name} holds {len(people)} score columns; name one with one column of scores of people",
            where=str(human),
        )
    found_in = predictors_in(people[0], human, machines)
    predictors = [_directed(made, better or {}) for made in found_in.scores]
    names = [made.name for made in predictors]
    for name in better or {}:
        if name not in names:
            raise UnknownName.among(name, names, "predictor")
    learned = [made.name for made in predictors if made.made.get("learned_items")]
    told = [f"{name} is an evaluator that learned from these items: this is no test of it" for name in learned]
    met = joined(people[0], [labelled(made) for made in predictors])
    found = compare(
        people[0],
        *met.machines,
        group=_factor(factor, items, human) if factor else None,
        cluster=_factor(cluster, items, human) if cluster else None,
        replicates=replicates,
        seed=seed,
    )
    settings = {"replicates": replicates, "seed": seed, "group": factor or "", "cluster": cluster or ""}
    made = made_by("compare", inputs=[human, *found_in.files], settings=settings)
    return Agreement(
        found.frame,
        tests=found.tests,
        notes={
            **found.notes,
            "joined": [*found_in.remarks, *met.remarks, *told],
            "simulated": bool(people[0].made.get("simulated")),
            "made": made,
        },
    )


def _directed(made: Scores, better: Mapping[str, str]) -> Scores:
    if made.name not in better:
        return made
    word = better[made.name]
    if word not in ("higher", "lower"):
        raise BadConfig(f"--better {made.name}='{word}' is not higher or lower", where="--better")
    direction: Better = "higher" if word == "higher" else "lower"
    return Scores(made.frame, name=made.name, better=direction, made=made.made, draws=made.draws)


def _factor(factor: str, items: Path | None, human: Path) -> pl.DataFrame:
    """Columns item and the factor, from the table of items that was named or the benchmark above the scores."""
    if items is not None:
        frame = open_table(items).frame
        if not {"item", factor} <= set(frame.columns):
            raise UnknownName.among(
                factor, [name for name in frame.columns if name != "item"], f"factor in {items.name}"
            )
        return frame.select("item", factor).drop_nulls()
    folder = human.resolve().parent.parent
    if not is_benchmark(folder):
        raise BadConfig(f"factor '{factor}' needs a table of items (--items) or a benchmark folder", where=factor)
    return Benchmark.read(folder).levels(factor).rename({"level": factor})


_ONLY = "the interval only; "


def _missing(why: str, places: Sequence[str]) -> str:
    """One line on the figures, or only their intervals, that one reason takes away."""
    what, lacks = ("intervals", "has no interval") if why.startswith(_ONLY) else ("figures", "is undefined")
    why = why.removeprefix(_ONLY)
    if len(places) == 1:
        return f"{places[0]} {lacks}: {why}"
    return f"{len(places)} {what} are undefined, {places[0]} for one: {why}"


def warnings_of(agreement: Agreement) -> list[str]:
    """Lines that a reader must see: which figures are undefined, one line for each reason, and which curves are steps."""
    joins = [str(line) for line in agreement.notes.get("joined", ())]
    by_reason: dict[str, list[str]] = {}
    for missing in agreement.notes.get("undefined", ()):
        place = " ".join(str(missing[key]) for key in ("predictor", "criterion", "group") if missing.get(key))
        by_reason.setdefault(missing["why"], []).append(f"{missing['statistic']} of {place}")
    lines = joins + [_missing(why, places) for why, places in by_reason.items()]
    blind = sorted({str(c["predictor"]) for c in agreement.notes.get("items", ()) if c.get("direction")})
    if blind:
        lines.append(
            f"which end of {', '.join(blind)} is good is unknown; a larger score was taken as better "
            f"(else: --better {blind[0]}=lower)"
        )
    steep = sorted(
        {str(c["predictor"]) for c in agreement.notes.get("curves", ()) if c["form"] == "logistic5" and c["steep"]}
    )
    if steep:
        lines.append(
            f"the fitted logistic is close to a step for {', '.join(steep)}, which flatters plcc; plcc_oof, on items that "
            "the curve did not see, does not"
        )
    return lines
