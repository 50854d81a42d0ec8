"""The methods in one paragraph ready to quote, and the provenance of every table."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import __version__
from ..scores import Scores
from .agreed import statistic_of
from .blocks import Block, Cell, Folded, Head, Missing, Prose, Row, Section, Table
from .index import Index, criterion_words
from .numbers import count, fixed, joined
from .people import screened

__all__ = ["methods_paragraph", "methods_section", "provenance_section"]

_LONGEST = 300
_HIDDEN = ("participant",)
"""Keys that begin like this hold ids of people; reports are handed on, so they stay in the tables."""


def methods_section(index: Index) -> Section:
    """The paragraph, set apart for copying."""
    text = methods_paragraph(index)
    return Section("methods", "Methods, ready to quote", [Prose(text, "quote", index.material.human_badges)])


def provenance_section(index: Index) -> Section:
    """Who made which table, from what, with which versions."""
    records = _records(index)
    if not records:
        return Section(
            "provenance",
            "Provenance",
            [
                Missing(
                    "How the tables were made is not recorded beside them.", "paragone score FILE -o scores/human.csv"
                )
            ],
        )
    heads = [Head(word, kind="text") for word in ("table", "made by", "method", "paragone", "date")]
    rows = []
    for record in records:
        cells = [
            _text(record.get("table", record.get("name", ""))),
            _text(record.get("verb", "")),
            _text(record.get("method", record.get("source", ""))),
        ]
        rows.append(
            Row(
                [
                    Cell(cell)
                    for cell in (
                        *cells,
                        _text(record.get("paragone", record.get("version", ""))),
                        _text(record.get("date", "")),
                    )
                ]
            )
        )
    blocks: list[Block] = [Table("What went into this report.", heads, rows)]
    for record in records:
        lines = [Row([Cell(key), Cell(value)]) for key, value in _flat(record) if key not in ("table", "name")]
        name = _text(record.get("table", record.get("name", "table")))
        blocks.append(
            Folded(
                f"All that is recorded of {name}",
                [Table(f"Record of {name}.", [Head("key", kind="text"), Head("value", kind="text")], lines)],
            )
        )
    blocks.append(Prose(f"This page was written by paragone {__version__}.", "small"))
    return Section("provenance", "Provenance", blocks)


def _records(index: Index) -> list[Mapping[str, Any]]:
    material = index.material
    if material.provenance:
        return list(material.provenance)
    tables = [*([material.human] if material.human else []), *material.level_scores, *material.machine]
    return [{"table": scores.name, **scores.made} for scores in tables if scores.made]


def methods_paragraph(index: Index) -> str:
    """What was done, in sentences that follow from the records alone; what is not recorded is said to be unknown."""
    material = index.material
    said = ["All answers are simulated: no person took part."] if material.made_up else []
    said += [*_people(index), *_screening(index)]
    if material.human is not None:
        said.append(_scoring(material.human))
    said += _agreement(index)
    said.append(f"The analysis was made with paragone {__version__}.")
    return " ".join(said)


def _people(index: Index) -> Iterator[str]:
    answers = index.material.answers
    if answers is None:
        yield "How many people answered is not recorded."
    else:
        who = "participant" if not index.material.made_up else "simulated participant"
        people = f"An unknown number of {who}s" if answers.participants is None else count(answers.participants, who)
        what = {"votes": "pairwise comparisons", "ratings": "ratings"}.get(
            answers.kind, "pairwise comparisons and ratings"
        )
        criteria = [criterion_words(name) for name in answers.per_criterion["criterion"] if name is not None]
        on = f" on {joined(criteria)}" if criteria else ""
        yield f"{people} gave {fixed(answers.n, 0)} {what} of {index.things(answers.items)}{on}."
    if index.material.asked:
        yield f"The question was \N{LEFT DOUBLE QUOTATION MARK}{index.material.asked}\N{RIGHT DOUBLE QUOTATION MARK}."


def _screening(index: Index) -> Iterator[str]:
    counted = screened(index.material.screening)
    if counted is None:
        yield "Participants were not screened."
        return
    rejected = counted.submitted - counted.retained
    rules = [f"{criterion_words(rule)}: {n}" for rule, n in counted.by_rule.items()]
    why = f" ({'; '.join(rules)})" if rules else ""
    yield f"Of {count(counted.submitted, 'participant')} who submitted answers, {fixed(counted.retained, 0)} were retained and {fixed(rejected, 0)} rejected by rules{why}."


def _scoring(human: Scores) -> str:
    made = human.made
    if not made.get("method"):
        return "How the scores of people were computed is not recorded."
    settings = made.get("settings", {})
    settings = settings if isinstance(settings, Mapping) else {}
    unit = f" in the unit {made['unit']}" if made.get("unit") else ""
    source = f" ({made['source']})" if made.get("source") else ""
    options = [
        f"{key} = {_text(value)}"
        for key, value in settings.items()
        if key not in ("intervals", "confidence", "replicates", "seed")
        and not isinstance(value, Mapping)
        and value is not None
    ]
    told = f", with {joined(options)}" if options else ""
    return (
        f"Scores{unit} were computed by {_text(made['method']).replace('_', ' ')}{source}{told}. {_intervals(settings)}"
    )


def _intervals(settings: Mapping[str, Any]) -> str:
    percent = f"{fixed(100 * float(settings.get('confidence', 0.95)), 0)} %"
    kind = settings.get("intervals")
    if kind == "bootstrap":
        replicates = settings.get("replicates")
        how = f" with {fixed(float(replicates), 0)} replicates" if isinstance(replicates, (int, float)) else ""
        return f"Intervals ({percent}) and rank ranges come from a bootstrap over participants{how}."
    if kind == "analytic":
        return f"Intervals ({percent}) are analytic."
    if kind == "none":
        return "No intervals were computed."
    return "How the intervals were made is not recorded."


def _agreement(index: Index) -> Iterator[str]:
    agreement = index.material.agreement
    if agreement is None or not agreement.frame.height:
        return
    frame = agreement.frame
    predictors = frame["predictor"].unique(maintain_order=True).to_list()
    named = (
        joined(predictors)
        if len(predictors) <= 12
        else f"{joined(predictors[:12], last='')} and {len(predictors) - 12} more"
    )
    statistics = [statistic_of(name).label for name in frame["statistic"].unique(maintain_order=True)]
    n = frame["n"].drop_nulls()
    over = (
        f" over {fixed(float(n.min()), 0)} to {index.things(float(n.max()))}"
        if len(n) and n.min() != n.max()
        else f" over {index.things(float(n.max()))}"
        if len(n)
        else ""
    )  # type: ignore[arg-type]
    yield f"{count(len(predictors), 'automatic predictor')} ({named}) {'was' if len(predictors) == 1 else 'were'} compared with the scores of people by {joined(statistics)}{over}."
    if any("logistic" in name for name in frame["statistic"].unique()):
        yield "Before fitted PLCC a logistic curve was fitted by least squares and kept monotone."
    if agreement.tests.height:
        methods = agreement.tests["method"].drop_nulls().unique(maintain_order=True).to_list()
        yield f"Predictors were tested against each other by {joined([_text(method) for method in methods])}, p adjusted by Holm."
    badged = {scores.name: index.material.badges_of(scores) for scores in index.material.machine}
    for name, badges in badged.items():
        if badges:
            yield f"The predictor {name} is marked: {joined(badges)}."


def _flat(record: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Key path and value of everything in a record, ids of people apart."""
    for key, value in record.items():
        if str(key).startswith(_HIDDEN) and isinstance(value, (Mapping, Sequence)):
            yield f"{path}{key}", f"{len(value)} entries, kept in the table"
        elif isinstance(value, Mapping):
            yield from _flat(value, f"{path}{key}.")
        elif (
            isinstance(value, Sequence)
            and not isinstance(value, str)
            and value
            and all(isinstance(entry, Mapping) for entry in value)
        ):
            for number, entry in enumerate(value, start=1):
                yield from _flat(entry, f"{path}{key} {number}.")
        else:
            yield f"{path}{key}", _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _cut(
            ", ".join(_text(entry) for entry in list(value)[:20]) + (f", ... ({len(value)})" if len(value) > 20 else "")
        )
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "\N{HORIZONTAL ELLIPSIS}"
