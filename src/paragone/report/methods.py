"""The methods in one paragraph ready to quote, and the provenance of every table."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from .. import __version__
from ..scores import Scores
from .blocks import Block, Cell, Folded, Head, Missing, Prose, Row, Section, Table
from .counted import screened
from .digits import count, fixed, joined
from .index import Index
from .lacking import compared_factors, lacking_in
from .validated import validation_record, validation_words
from .words import TESTS, criterion_words, quoted, statistic_words, stopped

__all__ = ["methods_paragraph", "methods_section", "provenance_section"]

_LONGEST = 300  # letters of one value of a record
_MOST_ENTRIES = 20
_MOST_NAMES = 30  # predictors that the paragraph names; our choice: with fewer a paper names them all
_HIDDEN = ("participant", "reliability")  # so begin keys that hold ids of people, which stay in the tables
_SAMPLING = ("intervals", "confidence", "replicates", "seed")


def methods_section(index: Index) -> Section:
    """The paragraphs, set apart for copying: what the study did, where its records are here, and what the analysis did."""
    material = index.material
    said = [Prose(text, "quote") for text in (material.study, methods_paragraph(index)) if text]
    return Section("methods", "Methods, ready to quote", said, material.human_badges)


def methods_paragraph(index: Index) -> str:
    """What was done, in sentences that follow from the records alone; what is not recorded is said to be unknown."""
    material = index.material
    said = ["All answers are simulated: no person took part."] if material.made_up else []
    said += [*_people(index), *_screening(index)]
    said.append("There are no scores by people." if material.human is None else _scoring(material.human))
    found = [lack for factor in compared_factors(index) if (lack := lacking_in(index, factor)) is not None]
    said += [lack.sentence for lack in found[:1]]  # methods first; of the other factors it is the same fact
    said += _agreement(index)
    said += [validation_words(validation) for validation in material.validations]
    said.append(f"The analysis was made with paragone {__version__}.")
    return " ".join(said)


def _people(index: Index) -> Iterator[str]:
    answers = index.material.answers
    if answers is None:
        yield "How many people answered is not recorded."
    else:
        who = "simulated participant" if index.material.made_up else "participant"
        some = f"An unknown number of {who}s"
        people = some if answers.participants is None else count(answers.participants, who)
        compared = ("pairwise comparison", "pairwise comparisons")
        word = {"votes": compared, "ratings": ("rating", "ratings")}.get(answers.kind, ("answer", "answers"))
        criteria = [criterion_words(name) for name in index.criteria(answers.per_criterion["criterion"].drop_nulls())]
        on = f" on {joined(criteria)}" if criteria else ""
        aside = (
            f", and {count(answers.aside, 'answer')} to checks, in training or to settle in" if answers.aside else ""
        )
        yield f"{people} gave {count(answers.n, *word)} of {index.things(answers.items)}{on}{aside}."
    if index.material.asked and not index.material.study:  # which says it
        yield f"The question was {stopped(index.material.asked)}"


def _screening(index: Index) -> Iterator[str]:
    counted = screened(index.material.screening)
    if counted is None:
        yield "Participants were not screened."
        return
    rules = [f"{criterion_words(rule)}: {n}" for rule, n in counted.by_rule.items()]
    why = f" ({'; '.join(rules)})" if rules else ""
    kept = f"{fixed(counted.retained, 0)} were retained and {fixed(counted.rejected, 0)} rejected by rules{why}"
    yield f"Of {count(counted.submitted, 'participant')} who submitted answers, {kept}."


def _scoring(human: Scores) -> str:
    made = human.made
    if not made.get("method"):
        return "How the scores of people were computed is not recorded."
    settings = made.get("settings", {})
    settings = settings if isinstance(settings, Mapping) else {}
    unit = f" in the unit {quoted(str(made['unit']))}" if made.get("unit") else ""
    source = f" ({made['source']})" if made.get("source") else ""
    options = [
        f"{key} = {_text(value)}"
        for key, value in settings.items()
        if key not in _SAMPLING and value is not None and not isinstance(value, Mapping)
    ]
    told = f", with {joined(options)}" if options else ""
    method = _text(made["method"]).replace("_", " ")
    return f"Scores{unit} were computed by the method {method}{source}{told}. {_rest(made)}{_intervals(settings)}"


def _rest(made: Mapping[str, Any]) -> str:
    """What the scores rest on, which screening may have made less than what was given."""
    notes = [said for said in dict(made.get("notes", {})).values() if isinstance(said, Mapping)]
    answers = [float(said["answers"]) for said in notes if said.get("answers")]
    people = [float(said["participants"]) for said in notes if said.get("participants")]
    if not answers:
        return ""
    whose = f" of {count(max(people), 'participant')}" if people else ""
    return f"They rest on {count(sum(answers), 'answer')}{whose}. "


def _intervals(settings: Mapping[str, Any]) -> str:
    percent = f"{fixed(100 * float(settings.get('confidence', 0.95)), 0)} %"
    kind = settings.get("intervals")
    if kind == "bootstrap":
        times = settings.get("replicates")
        how = f" with {count(float(times), 'replicate')}" if isinstance(times, (int, float)) else ""
        return f"Intervals ({percent}) and rank ranges come from a bootstrap over participants{how}."
    if kind == "analytic":
        return f"Intervals ({percent}) and rank ranges are analytic."
    return "No intervals were computed." if kind == "none" else "How intervals were made is not recorded."


def _agreement(index: Index) -> Iterator[str]:
    agreement = index.material.agreement
    if agreement is None or not agreement.frame.height:
        return
    frame = agreement.frame
    predictors = frame["predictor"].unique(maintain_order=True).to_list()
    named = predictors if len(predictors) <= _MOST_NAMES else [*predictors[:_MOST_NAMES], _rest_of(len(predictors))]
    statistics = [statistic_words(name).label for name in frame["statistic"].unique(maintain_order=True)]
    rows = frame.filter(pl.col("statistic") == "srcc", pl.col("group").is_null())["n"].drop_nulls()
    over = f" over up to {index.things(max(int(n) for n in rows))}" if len(rows) else ""
    were = "was" if len(predictors) == 1 else "were"
    compared = f"{count(len(predictors), 'predictor')} ({joined(named)}) {were} compared with the scores of people"
    yield f"{compared} by {joined(statistics)}{over}."
    if frame.filter(frame["statistic"].is_in(["plcc", "plcc_4", "rmse", "rmse_star", "outlier_ratio"])).height:
        yield "Statistics after a mapping rest on a logistic curve fitted by least squares."
    if agreement.tests.height:
        names = agreement.tests["method"].drop_nulls().unique(maintain_order=True)
        methods = joined([TESTS.get(name, _text(name)) for name in names])
        yield f"Predictors were tested against each other by {methods}, with p adjusted by Holm."
    for scores in index.material.machine:
        badges = index.material.badges_of(scores)
        if badges:
            yield f"The predictor {scores.name} is marked {joined([quoted(badge) for badge in badges])}."


def _rest_of(n: int) -> str:
    return f"{n - _MOST_NAMES} more, listed with the agreement"


def provenance_section(index: Index) -> Section:
    """Who made which table, from what, with which versions."""
    records = _records(index)
    blocks: list[Block] = []
    if records:
        heads = [Head(word, kind="text") for word in ("table", "made by", "method", "paragone", "date")]
        keys = (("table", "name"), ("verb",), ("method", "metric"), ("paragone", "version"), ("date",))
        rows = [Row([Cell(_first(record, names)) for names in keys]) for record in records]
        blocks.append(Table("What went into this report.", heads, rows))
        details = [_details(record) for record in records]
        blocks.append(
            Folded("All that is recorded: settings, versions, inputs with their SHA-256", details, printed=False)
        )
    else:
        why = "How the tables were made is not recorded beside them."
        blocks.append(Missing(why, "paragone score FILE -o scores/human.csv"))
    blocks.append(Prose(f"This page was written by paragone {__version__}.", "small"))
    return Section("provenance", "Provenance", blocks)


def _records(index: Index) -> list[Mapping[str, Any]]:
    material = index.material
    tables = [*([material.human] if material.human else []), *material.level_scores, *material.machine]
    known = [{"table": scores.name, **scores.made} for scores in tables if scores.made]
    return [*(material.provenance or known), *map(validation_record, material.validations)]


def _first(record: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((_text(record[name]) for name in names if record.get(name)), "\N{EN DASH}")


def _details(record: Mapping[str, Any]) -> Table:
    lines = [Row([Cell(key), Cell(value)]) for key, value in _flat(record) if key not in ("table", "name")]
    heads = [Head("key", kind="text"), Head("value", kind="text")]
    return Table(f"Record of {_first(record, ('table', 'name'))}", heads, lines)


def _flat(record: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Key path and value of everything in a record, ids of people apart."""
    for key, value in record.items():
        here = f"{path}{key}"
        if str(key).startswith(_HIDDEN) and isinstance(value, (Mapping, list, tuple)):
            yield here, f"{len(value)} entries, kept in the table"
        elif isinstance(value, Mapping):
            yield from _flat(value, f"{here}.")
        elif isinstance(value, (list, tuple)) and value and all(isinstance(entry, Mapping) for entry in value):
            for number, entry in enumerate(value[:_MOST_ENTRIES], start=1):
                yield from _flat(entry, f"{here} {number}.")
            if len(value) > _MOST_ENTRIES:
                yield here, f"{len(value)} entries, of which {_MOST_ENTRIES} are shown"
        else:
            yield here, _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        more = f", ... ({len(value)} in all)" if len(value) > _MOST_ENTRIES else ""
        value = ", ".join(_text(entry) for entry in value[:_MOST_ENTRIES]) + more
    text = str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "\N{HORIZONTAL ELLIPSIS}"
