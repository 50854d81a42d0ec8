"""Everything that lies in a folder, gathered for its report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ..benchmark import Benchmark
from ..design import read_study
from ..errors import NotFound
from ..evaluators.protocol.validation import CrossValidation
from ..judgements import Ratings, Votes
from ..make.references.cards import sentence
from ..provenance import changed_inputs
from ..report import Material, Shown, answers_of
from ..scores import Agreement, Scores
from ..settings import read_toml
from ..study.methods_design import questions
from ..tables import read_table
from .answers import is_benchmark
from .carded import cards_beside
from .reading import named
from .serving import can_serve, store_address

__all__ = ["gather", "graph_of", "read_screening", "scores_in", "validations_in"]

_GRAPH = (
    "components",
    "strong_components",
    "items",
    "pairs",
    "votes",
    "degree_min",
    "degree_mean",
    "votes_per_pair_mean",
    "never_winning",
    "never_losing",
    "spectral_gap",
    "d_max",
    "mixing_time",
    "self_pairs",
    "left_share",
)
_TRUTH = "simulated-truth"


def gather(folder: Path, *, title: str | None = None) -> Material:
    """Collect what a folder holds into the material of a report; parts that are not there stay empty.

    Raises:
        NotFound: the folder holds none of: a benchmark, answers, scores.
        BadTable, BadConfig: a file breaks its contract.
    """
    if not folder.is_dir():
        raise NotFound.path(folder, "folder")
    benchmark = Benchmark.read(folder) if is_benchmark(folder) else None
    votes = _first(folder, "votes", Votes)
    ratings = _first(folder, "ratings", Ratings)
    scores = scores_in(folder / "scores")
    if benchmark is None and votes is None and ratings is None and not scores:
        raise NotFound(f"'{folder}' holds no benchmark, answers or scores; name a folder that does", where=str(folder))
    human = scores.pop("human", None)
    levels = [scores.pop(name) for name in list(scores) if scores[name].key == "level"]
    levels.sort(key=lambda made: made.frame["of"][0] != "method")  # what is compared comes first
    people = [name for name in scores if scores[name].made.get("verb") == "score"]
    simulated = (benchmark is not None and benchmark.simulated) or bool(human and human.made.get("simulated"))
    answers = None
    if votes is not None or ratings is not None:
        answers = answers_of(votes, ratings, about=_described(votes, ratings))
    return Material(
        title=title or (benchmark.name if benchmark else folder.resolve().name),
        asked=_asked(folder, benchmark),
        study=_study(folder),
        human=human,
        level_scores=levels,
        machine=[made for name, made in scores.items() if name not in people],
        agreement=_agreement(folder),
        validations=validations_in(folder / "crossval"),
        screening=read_screening(folder / "screening.csv"),
        consistency=_consistency(folder / "consistency.csv"),
        graph=graph_of(human) if human else None,
        benchmark=benchmark,
        criteria=_criteria(folder),
        references=_references(folder, benchmark),
        answers=answers,
        provenance=[{"table": made.name, **made.made} for made in (human, *levels, *scores.values()) if made],
        notes=_stale(folder, human, levels, scores),
        simulated=simulated,
    )


def _references(folder: Path, benchmark: Benchmark | None) -> list[Shown]:
    """Reference pictures with the sentences of the cards beside them."""
    if benchmark is None:
        return []
    cards = {key: sentence(card) for key, card in cards_beside(folder).items()}
    return [
        Shown(factor, level, cards.get((factor, level), "").removeprefix(f"{level}: "), benchmark.folder / image)
        for factor, level, image in benchmark.references.select("factor", "level", "image").iter_rows()
    ]


def scores_in(folder: Path) -> dict[str, Scores]:
    """Every scores table of a folder by its file name, in that order; the truth behind a simulation is left out."""
    if not folder.is_dir():
        return {}
    files = sorted(file for file in folder.iterdir() if file.suffix in (".csv", ".parquet"))
    found = {}
    for file in files:
        if file.stem != _TRUTH and not file.name.startswith(".") and not file.name.endswith(".draws.parquet"):
            with named(file):
                found[file.stem] = Scores.read(file)
    return found


def validations_in(folder: Path) -> list[CrossValidation]:
    """Every validation of a folder, what holds out methods first, then by the files' names."""
    if not folder.is_dir():
        return []
    names = [path.stem for path in sorted(folder.glob("*.toml")) if read_toml(path).get("verb") == "crossval"]
    found = []
    for name in names:
        with named(folder / f"{name}.toml"):
            found.append(CrossValidation.read(folder, name=name))
    return sorted(found, key=lambda one: one.factor != "method")


def graph_of(human: Scores) -> dict[str, Any] | None:
    """Criterion -> facts of its vote graph, from the notes of scores; None for scores of ratings."""
    found = {
        criterion: {fact: said[fact] for fact in _GRAPH if fact in said}
        for criterion, said in human.made.get("notes", {}).items()
        if isinstance(said, Mapping) and "components" in said
    }
    return found or None


def read_screening(path: Path) -> pl.DataFrame | None:
    """The table of participants that `screen -o` wrote, with numbers as numbers; None where there is none."""
    if not path.is_file():
        return None
    frame = read_table(path)
    words = ("participant", "kept", "reasons", "broken", "remarks")
    numbers = [name for name in frame.columns if name not in words]
    kept = pl.col("kept").cast(pl.String).str.to_lowercase() == "true"
    with named(path):
        return frame.with_columns(kept.alias("kept"), pl.col(numbers).cast(pl.Float64, strict=False))


def _first(folder: Path, name: str, noun: type[Votes] | type[Ratings]) -> Any:
    for ending in (".csv", ".parquet"):
        path = folder / f"{name}{ending}"
        if path.is_file():
            return noun.read(path)
    return None


def _described(votes: Votes | None, ratings: Ratings | None) -> list[str]:
    """Columns in which participants describe themselves, by the words of our questionnaire."""
    asked = ("gender", "age", "age_band", "expertise", "region")
    columns = {name for table in (votes, ratings) if table is not None for name in table.frame.columns}
    return [name for name in asked if name in columns]


def _asked(folder: Path, benchmark: Benchmark | None) -> str:
    """The questions that the study's pages put to people; empty without a study.toml."""
    path = folder / "study.toml"
    if not path.is_file():
        return ""
    study = read_study(path)
    criteria = study.criteria or (benchmark.criteria if benchmark else ())
    return " ".join(dict.fromkeys(words for asked in questions(study, criteria).values() for words in asked))


def _criteria(folder: Path) -> list[str]:
    """What the study asks, in its order; empty without a study.toml, and where that leaves it to the benchmark."""
    path = folder / "study.toml"
    return list(read_study(path).criteria) if path.is_file() else []


def _study(folder: Path) -> str:
    """The methods paragraph of the study that asked people: from its store, else from its export; '' without either."""
    if not (folder / "study.toml").is_file():
        return ""
    if (folder / "study.db").is_file() and can_serve():
        from ..study.stated import stated
        from ..study.store.store import snapshot

        with snapshot(store_address(folder)) as c:
            said = stated(c)
        if said:
            return said
    exported = folder / "export" / "methods.txt"
    return exported.read_text(encoding="utf-8").strip() if exported.is_file() else ""


def _agreement(folder: Path) -> Agreement | None:
    path = folder / "agreement.csv"
    if not path.is_file():
        return None
    with named(path):
        return Agreement.read(path)


def _consistency(path: Path) -> pl.DataFrame | None:
    if not path.is_file():
        return None
    with named(path):
        return read_table(path).with_columns(pl.col("value", "low", "high", "n").cast(pl.Float64))


def _stale(folder: Path, human: Scores | None, levels: list[Scores], scores: Mapping[str, Scores]) -> list[str]:
    """One sentence for each input that changed after a table was made from it."""
    return [
        f"{made.name}: {line}; make it again"
        for made in (human, *levels, *scores.values())
        if made is not None
        for line in changed_inputs(made.made, folder)
    ]
