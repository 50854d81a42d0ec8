"""The graph of compared pairs: what was compared with what, and what that lets a reader believe."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from .blocks import Block, Cell, Head, Missing, Prose, Row, Section, Table, Terms
from .digits import count, fixed
from .index import Index
from .words import GRAPH, STEP, criterion_words

__all__ = ["graph_section"]

_TITLE = "What was compared with what"


def graph_section(index: Index) -> Section:
    """The facts in a table, and warnings where the graph leaves scores open."""
    parts = _parts(index)
    if not parts:
        answers = index.material.answers
        if answers is not None and answers.kind == "ratings":
            return Section("graph", _TITLE, [Missing("There are no compared pairs, because single items were rated.")])
        return Section("graph", _TITLE, [Missing("The compared pairs were not examined.", "paragone score VOTES")])
    keys = list(dict.fromkeys(key for facts in parts.values() for key in facts))
    keys = [key for key in GRAPH if key in keys] + [key for key in keys if key not in GRAPH]
    heads = [Head("fact", kind="text")]
    heads += [Head(criterion_words(name) if name else "value") for name in parts]
    rows = [
        Row([Cell(GRAPH.get(key, key.replace("_", " "))), *(Cell(_shown(facts.get(key))) for facts in parts.values())])
        for key in keys
    ]
    frame = pl.DataFrame(
        [(key, name or None, _shown(facts.get(key))) for name, facts in parts.items() for key in keys],
        schema={"fact": pl.String, "criterion": pl.String, "value": pl.String},
        orient="row",
    )
    csv = f"figures/{index.name('graph')}.csv"
    table = Table(
        "The graph of the compared pairs that the scores rest on.", heads, rows, index.people_badges, csv, frame
    )
    blocks: list[Block] = [*(Prose(sentence, "warn") for sentence in _troubles(parts)), table]
    if "mixing_time" in keys:
        blocks.append(Terms([("step", f"{STEP} are needed")]))
    return Section("graph", _TITLE, blocks, index.people_badges)


def _parts(index: Index) -> dict[str, dict[str, Any]]:
    """Criterion ('' if unnamed) -> facts, from what was given or else from the notes of the scores."""
    graph = index.material.graph
    if graph is None and index.material.human is not None:
        notes = index.material.human.made.get("notes", {})
        graph = (
            notes
            if isinstance(notes, Mapping) and any("components" in (_record(n) or {}) for n in notes.values())
            else None
        )
    if not graph:
        return {}
    records = {key: record for key, value in graph.items() if (record := _record(value)) is not None}
    plain = {key: value for key, value in graph.items() if key not in records}
    parts = {"": _facts(plain)} if plain and not records else {}
    return parts | {key: _facts(records[key]) for key in index.criteria(records)}


def _record(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _facts(record: Mapping[str, Any]) -> dict[str, Any]:
    """Known facts as numbers; lists of items as how many there are."""
    facts: dict[str, Any] = {}
    for key, value in record.items():
        known = key.removeprefix("n_")
        if known not in GRAPH:
            continue
        facts[known] = value if isinstance(value, (int, float, np.number)) else len(value)
    return facts


def _shown(value: Any) -> str:
    if value is None:
        return "\N{EN DASH}"
    number = float(value)
    if math.isinf(number):
        return "infinite"
    return fixed(number, 0) if number.is_integer() else fixed(number, 4 if abs(number) < 1 else 1)


def _troubles(parts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What the graph forbids a reader to believe."""
    said = []
    for name, facts in parts.items():
        on = f" on {criterion_words(name)}" if name else ""
        groups = facts.get("components", 1)
        if groups > 1:
            said.append(f"The items fall into {fixed(groups, 0)} groups{on} that were never compared with each other.")
        losers = facts.get("never_winning", 0)
        if losers > 0:
            lost = f"{count(losers, 'item')} never won a vote{on}"
            said.append(f"{lost}: how far below the others is for a prior to say, not for the votes.")
    return said
