"""Who answered, who was left out and why, how far people agree with people, and what was compared with what."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from . import charts
from .blocks import Block, Cell, Folded, Head, Missing, Plate, Plates, Prose, Row, Section, Table
from .index import Index, criterion_words
from .numbers import count, fixed, with_interval

__all__ = ["graph_section", "participants_section", "screened"]

CONSISTENCY_WORDS = {
    "kappa": ("Cohen's kappa on repeats", "the same people asked again"),
    "cohen_kappa": ("Cohen's kappa on repeats", "the same people asked again"),
    "repeat_agreement": ("Same answer on repeats", "share"),
    "fleiss_kappa": ("Fleiss' kappa", "between people"),
    "krippendorff_alpha": ("Krippendorff's alpha", "between people"),
    "icc_2_1": ("ICC(2,1)", "one person's rating"),
    "icc_2_k": ("ICC(2,k)", "the mean of all"),
    "split_half": ("Split-half correlation", "Spearman-Brown"),
    "pair_agreement": ("Agreement on shared pairs", "share"),
    "left_share": ("Left side chosen", "share; 0.5: no side is preferred"),
}
"""Statistic -> its name in words, and what it is about. Others are printed under their own name."""
GRAPH_WORDS = {
    "n_items": "items",
    "n_pairs": "different pairs compared",
    "n_votes": "votes",
    "components": "groups that were never compared with each other",
    "n_components": "groups that were never compared with each other",
    "strong_components": "groups in the graph of wins (1: every score is finite)",
    "n_strong_components": "groups in the graph of wins (1: every score is finite)",
    "spectral_gap": "spectral gap (larger: scores settle with fewer votes)",
    "mixing_time": "mixing time in steps",
    "d_max": "most opponents of one item",
    "never_winning": "items that never won",
    "never_losing": "items that never lost",
    "unseen": "items never shown",
}
_DOTS = 2000  # participants drawn as points


@dataclasses.dataclass(frozen=True)
class _Screened:
    """Counts of a screening, which several parts of the report speak of."""

    submitted: int
    retained: int
    by_rule: Mapping[str, int]
    """Rule -> participants it rejected; one who broke two rules counts under both."""


def screened(frame: pl.DataFrame | None) -> _Screened | None:
    """Count a screening; None where there was none."""
    if frame is None:
        return None
    reasons = _reasons(frame.filter(~pl.col("kept")))
    counts = reasons.value_counts().sort(["count", "reason"], descending=[True, False]) if len(reasons) else None
    by_rule = {} if counts is None else dict(zip(counts["reason"], counts["count"], strict=True))
    return _Screened(frame.height, int(frame["kept"].sum()), by_rule)


def _reasons(frame: pl.DataFrame) -> pl.Series:
    """One row per participant and rule; a rule is the reason up to its first colon, details follow after it."""
    column = frame["reasons"]
    if column.dtype == pl.String:
        column = column.str.split(";")
    flat = column.explode(empty_as_null=True, keep_nulls=True) if column.dtype == pl.List else column
    named = flat.cast(pl.String).str.split(":").list.first().str.strip_chars()
    return named.filter(named.is_not_null() & (named != "")).rename("reason")


def participants_section(index: Index) -> Section:
    """Composition, screening and consistency."""
    material = index.material
    blocks: list[Block] = [*_composition(index), *_screening(index), *_consistency(index)]
    return Section("participants", "Participants", blocks, ["simulated"] if material.made_up else [])


def _badges(index: Index) -> list[str]:
    return ["simulated"] if index.material.made_up else []


def _composition(index: Index) -> list[Block]:
    answers = index.material.answers
    if answers is None:
        return [
            Missing(
                "How many people answered how much is not known: the answers themselves were not given.",
                "paragone report DIR",
            )
        ]
    heads = [
        Head("criterion", kind="text"),
        Head("participants"),
        Head("answers"),
        Head(f"{index.thing}s"),
        Head("answers per " + index.thing),
    ]
    rows = []
    for row in answers.per_criterion.iter_rows(named=True):
        sides = 2 if answers.kind == "votes" else 1
        each = row["answers"] * sides / row["items"] if row["items"] else None
        rows.append(
            Row(
                [
                    Cell(criterion_words(row["criterion"])),
                    Cell(fixed(row["participants"], 0), sort=row["participants"]),
                    Cell(fixed(row["answers"], 0), sort=row["answers"]),
                    Cell(fixed(row["items"], 0), sort=row["items"]),
                    Cell(fixed(each, 1), sort=each),
                ]
            )
        )
    name = index.name("answers")
    blocks: list[Block] = [
        Table(
            f"Answers that scores may use ({answers.kind}).",
            heads,
            rows,
            _badges(index),
            f"figures/{name}.csv",
            answers.per_criterion,
        )
    ]
    if answers.composition is None or not answers.composition.height:
        blocks.append(
            Missing(
                "Who the participants were is not known: the answers carry no column about them.",
                "paragone report DIR --about age_group,gender",
            )
        )
        return blocks
    plates = []
    for (question,), part in answers.composition.group_by("question", maintain_order=True):
        frame = part.select(label=pl.col("answer").fill_null("not given"), count="n")
        words = criterion_words(str(question))
        name = index.name("composition", str(question))
        alt = f"Participants by {words}: " + ", ".join(f"{label} {n}" for label, n in frame.head(12).iter_rows())
        total = int(frame["count"].sum())
        drawing = charts.bars(frame.head(20), name=name, alt=alt, axis="participants")
        plates.append(
            Plate(
                name,
                f"Participants by {words}",
                f"n = {count(total, 'participant')}.",
                frame.head(20),
                drawing,
                _badges(index),
            )
        )
    return [*blocks, Plates(plates)]


def _screening(index: Index) -> list[Block]:
    frame = index.material.screening
    counted = screened(frame)
    if frame is None or counted is None:
        return [Missing("Nobody was screened: every answer counts, careless ones too.", "paragone screen FILE")]
    badges = _badges(index)
    rejected = counted.submitted - counted.retained
    sentence = f"{count(counted.submitted, 'participant')} submitted answers; {fixed(counted.retained, 0)} were retained and {fixed(rejected, 0)} rejected."
    if len(counted.by_rule) > 1:
        sentence += " One who broke two rules counts under both."
    plates: list[Plate] = []
    if counted.by_rule:
        rules = pl.DataFrame(
            {"label": [criterion_words(rule) for rule in counted.by_rule], "count": list(counted.by_rule.values())}
        )
        name = index.name("screening-rules")
        alt = "Participants rejected by rule: " + ", ".join(f"{label} {n}" for label, n in rules.iter_rows())
        drawing = charts.bars(rules, name=name, alt=alt, axis="participants rejected")
        plates.append(
            Plate(
                name,
                "Rejected by rule",
                f"n = {rejected} of {count(counted.submitted, 'participant')}.",
                rules,
                drawing,
                badges,
            )
        )
    seconds = _seconds(frame, index)
    if seconds is not None:
        plates.append(seconds)
    blocks: list[Block] = [Prose(sentence, "plain", badges)]
    if plates:
        blocks.append(Plates(plates))
    return [*blocks, _participant_table(frame, index)]


def _seconds(frame: pl.DataFrame, index: Index) -> Plate | None:
    """Each participant's median seconds a question, retained against rejected."""
    if "seconds" not in frame.columns:
        return None
    known = frame.filter(pl.col("seconds") > 0).select(
        group=pl.when("kept").then(pl.lit("retained")).otherwise(pl.lit("rejected")),
        value=pl.col("seconds").cast(pl.Float64),
    )
    if not known.height:
        return None
    known = known.sort(["group", "value"], descending=[True, False])
    told = []
    for (group,), part in known.group_by("group", maintain_order=True):
        low, high = _median_interval(part["value"].to_numpy())
        told.append(f"{group} {with_interval(float(part['value'].median()), low, high)} s (n = {part.height})")  # type: ignore[arg-type]
    drawn = known.head(_DOTS).with_columns(median=pl.col("value").median().over("group"))
    shift = np.concatenate(
        [((np.arange(size) * 7) % 13 - 6) / 20 for size in drawn.group_by("group", maintain_order=True).len()["len"]]
    )
    drawn = drawn.with_columns(pl.Series("shift", shift)).select("group", "value", "shift", "median")
    name = index.name("screening-seconds")
    caption = f"Median of the participants' medians with 95 % interval: {'; '.join(told)}."
    drawing = charts.strips(
        drawn,
        name=name,
        alt=f"Seconds a question per participant. {caption}",
        axis="median seconds a question, log scale",
    )
    return Plate(name, "Seconds a question", caption, drawn, drawing, _badges(index))


def _median_interval(values: np.ndarray) -> tuple[float | None, float | None]:
    """The distribution-free 95 % interval of a median from order statistics; None below six values.

    Source:
        David and Nagaraja, "Order Statistics", 3rd edition, 2003, section 7.1.
    """
    from scipy.stats import binom

    n = len(values)
    k = int(binom.ppf(0.025, n, 0.5))
    if k < 1 or n < 6:
        return None, None
    ordered = np.sort(values)
    return float(ordered[k - 1]), float(ordered[n - k])


def _participant_table(frame: pl.DataFrame, index: Index) -> Block:
    """Every participant under a number in place of a name, since reports are handed on."""
    statistics = [
        name
        for name in frame.columns
        if name not in ("participant", "kept", "reasons") and frame[name].dtype.is_numeric()
    ]
    heads = [
        Head("participant", "numbered", kind="text"),
        Head("kept", kind="text"),
        Head("reasons", kind="text"),
        *(Head(criterion_words(name)) for name in statistics),
    ]
    rows = []
    for number, row in enumerate(frame.sort("kept", maintain_order=True).iter_rows(named=True), start=1):
        said = row["reasons"] or []
        text = said if isinstance(said, str) else "; ".join(str(reason) for reason in said)
        cells = [Cell(f"{number}", sort=number), Cell("yes" if row["kept"] else "no"), Cell(text.replace("_", " "))]
        rows.append(Row([*cells, *(Cell(_plain(row[name]), sort=row[name]) for name in statistics)]))
        if number >= 1000:
            break
    caption = "Participants by number, the rejected ones first; their ids stay in the table that the screening wrote."
    return Folded(f"Table of {count(frame.height, 'participant')}", [Table(caption, heads, rows, _badges(index))])


def _plain(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return "\N{EN DASH}"
    return fixed(value, 0) if float(value).is_integer() else fixed(value, 2 if abs(value) >= 0.1 else 3)


def _consistency(index: Index) -> list[Block]:
    frame = index.material.consistency
    if frame is None or not frame.height:
        return [Missing("How far people agree with people was not computed.", "paragone consistency FILE")]
    staged = frame["stage"].null_count() < frame.height
    heads = [
        Head("statistic", kind="text"),
        Head("criterion", kind="text"),
        *([Head("stage", kind="text")] if staged else []),
        Head("value", "95 % interval"),
        Head("n"),
    ]
    rows = []
    for row in frame.iter_rows(named=True):
        words, about = CONSISTENCY_WORDS.get(row["statistic"], (row["statistic"].replace("_", " "), ""))
        value, _, interval = with_interval(row["value"], row["low"], row["high"]).partition(" [")
        if row["value"] is None:
            value = "undefined"
        rows.append(
            Row(
                [
                    Cell(f"{words} ({about})" if about else words),
                    Cell(criterion_words(row["criterion"]) if row["criterion"] else "all"),
                    *([Cell(row["stage"] or "all")] if staged else []),
                    Cell(value, f"[{interval}" if interval else "", row["value"]),
                    Cell(fixed(row["n"], 0), sort=row["n"]),
                ]
            )
        )
    name = index.name("consistency")
    return [
        Table(
            "Consistency: how far people agree with people.", heads, rows, _badges(index), f"figures/{name}.csv", frame
        )
    ]


def graph_section(index: Index) -> Section:
    """What was compared with what, and what that determines."""
    graph = index.material.graph
    title = "Who was compared with whom"
    if not graph:
        ratings = index.material.answers is not None and index.material.answers.kind == "ratings"
        why = (
            "There is no graph of compared pairs, because single items were rated."
            if ratings
            else "The graph of compared pairs was not examined."
        )
        return Section("graph", title, [Missing(why, "" if ratings else "paragone score VOTES")])
    parts = list(_parts(graph))
    named = [name for name, _ in parts]
    keys = list(dict.fromkeys(key for _, facts in parts for key in facts))
    heads = [
        Head("fact", kind="text"),
        *(Head(criterion_words(name) if name is not None else "value", badges=_badges(index)) for name in named),
    ]
    rows = [
        Row([Cell(GRAPH_WORDS.get(key, key.replace("_", " "))), *(Cell(_fact(facts.get(key))) for _, facts in parts)])
        for key in keys
    ]
    frame = pl.DataFrame(
        [{"fact": key, "criterion": name, "value": _fact(facts.get(key))} for name, facts in parts for key in keys],
        schema={"fact": pl.String, "criterion": pl.String, "value": pl.String},
    )
    name = index.name("graph")
    blocks: list[Block] = [
        Table("The graph of compared pairs.", heads, rows, _badges(index), f"figures/{name}.csv", frame)
    ]
    blocks += [Prose(sentence, "warn") for sentence in _troubles(parts)]
    return Section("graph", title, blocks, _badges(index))


def _parts(graph: Mapping[str, Any]) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """(criterion, facts): one part where the mapping holds facts, several where it holds mappings or records."""
    nested = {
        key: _mapping(value)
        for key, value in graph.items()
        if isinstance(value, Mapping) or dataclasses.is_dataclass(value)
    }
    plain = {key: value for key, value in graph.items() if key not in nested}
    if plain:
        yield None, _facts(plain)
    for key, value in nested.items():
        yield key or None, _facts(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return (
        value
        if isinstance(value, Mapping)
        else {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    )


def _facts(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers as they are, lists and arrays of items as how many there are; longer data are left out."""
    facts: dict[str, Any] = {}
    for key, value in mapping.items():
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, (int, float, str, bool)):
            facts[key] = value
        elif key in ("never_winning", "never_losing", "unseen"):
            facts[key] = len(value)
        elif key in ("degree", "degrees", "votes_per_pair") and len(value):
            facts[f"{key}, least"], facts[f"{key}, mean"], facts[f"{key}, most"] = (
                float(f(value)) for f in (np.min, np.mean, np.max)
            )
    return facts


def _fact(value: Any) -> str:
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        if not math.isfinite(value):
            return "infinite" if value > 0 else "\N{EN DASH}"
        return fixed(value, 0) if float(value).is_integer() else fixed(value, 4 if abs(value) < 1 else 1)
    return str(value)


def _troubles(parts: list[tuple[str | None, dict[str, Any]]]) -> list[str]:
    """What the graph forbids a reader to believe."""
    said = []
    for name, facts in parts:
        on = f" on {criterion_words(name)}" if name else ""
        groups = facts.get("n_components", facts.get("components"))
        if isinstance(groups, (int, float)) and groups > 1:
            said.append(
                f"The items fall into {fixed(groups, 0)} groups{on} that were never compared: scores of different groups cannot be compared."
            )
        losers = facts.get("never_winning")
        if isinstance(losers, (int, float)) and losers > 0:
            said.append(
                f"{count(losers, 'item')} never won{on}: how far below the others they are is not determined by the votes alone."
            )
    return said
