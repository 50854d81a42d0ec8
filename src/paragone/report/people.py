"""Who answered, who was left out and why, and how far people agree with people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from ..screen import Screening, ScreenRules, seconds_per_question
from . import charts
from .blocks import Block, Cell, Folded, Head, Missing, Plate, Plates, Prose, Row, Section, Table
from .counted import Screened, listed, screened
from .digits import count, fixed, with_interval
from .index import MOST_ROWS, Index
from .material import Answers
from .words import CONSISTENCY, criterion_words, note_words

__all__ = ["participants_section"]

_MOST_BARS = 20  # answers to one question about the participants
_MOST_POINTS = 2000  # participants drawn as points
_NONE = "\N{EN DASH}"
_SPOKEN = ("participant", "kept", "reasons", "broken", "remarks")


def participants_section(index: Index) -> Section:
    """Composition, screening and consistency."""
    blocks = [*_composition(index), *_screening(index), *_consistency(index)]
    known = any(not isinstance(block, Missing) for block in blocks)
    return Section("participants", "Participants", blocks, index.people_badges if known else ())


def _composition(index: Index) -> list[Block]:
    answers = index.material.answers
    if answers is None:
        why = "Who answered how much is not known: the answers themselves were not given."
        return [Missing(why, "paragone report DIR")]
    blocks: list[Block] = [_answers_table(answers, index)]
    composition = answers.composition
    if composition is None or not composition.height:
        if index.material.study:
            return [*blocks, Prose("What participants told of themselves stands under Methods, as far as they did.")]
        why = "Who the participants were is not known. To add it, give the answers columns such as age_band or gender."
        return [*blocks, Missing(why)]
    plates = []
    for (question,), part in composition.group_by("question", maintain_order=True):
        frame = part.select(label=pl.col("answer").fill_null("not given"), count="n").head(_MOST_BARS)
        words = criterion_words(str(question))
        name = index.name("composition", str(question))
        told = ", ".join(f"{label} {n}" for label, n in frame.iter_rows())
        alt = f"Participants by {words}: {told}"
        drawing = charts.bars(frame, name=name, alt=alt, axis="participants")
        n = f"{count(float(part['n'].sum()), 'participant')} who submitted answers"
        more = f" The first {_MOST_BARS} of {part.height} answers." if part.height > _MOST_BARS else ""
        plates.append(Plate(name, f"Participants by {words}", f"n = {n}.{more}", frame, drawing, index.people_badges))
    return [*blocks, Plates(plates)]


def _answers_table(answers: Answers, index: Index) -> Table:
    shown_together = 2 if answers.kind == "votes" else 1
    heads = [Head("criterion", kind="text")]
    heads += [Head(word) for word in ("participants", "answers", f"{index.thing}s", f"answers per {index.thing}")]
    rows = []
    frame = index.in_order(answers.per_criterion)
    for row in frame.iter_rows(named=True):
        each = row["answers"] * shown_together / row["items"] if row["items"] else None
        numbers = [Cell(fixed(row[name], 0), sort=row[name]) for name in ("participants", "answers", "items")]
        rows.append(Row([Cell(criterion_words(row["criterion"])), *numbers, Cell(fixed(each, 1), sort=each)]))
    csv = f"figures/{index.name('answers')}.csv"
    caption = f"Submitted {answers.kind} that scores may use, before screening and without checks."
    return Table(caption, heads, rows, index.people_badges, csv, frame)


def _screening(index: Index) -> list[Block]:
    frame, counted = index.material.screening_table, screened(index.material.screening)
    if frame is None or counted is None:
        why = "Nobody was screened, so careless answers count like others."
        return [Missing(why, "paragone screen FILE -o screening.csv")]
    badges = index.people_badges
    kept = f"{fixed(counted.retained, 0)} were retained and {fixed(counted.rejected, 0)} rejected."
    said = [f"{count(counted.submitted, 'participant')} submitted answers; {kept}"]
    if sum(counted.by_rule.values()) > counted.rejected:
        said.append("One who broke two rules counts under both.")
    warned = sum(1 for row in frame["remarks"] if listed(row)) if "remarks" in frame.columns else 0
    if warned:
        said.append(
            f"Rules that reject nobody here would have spoken of {count(warned, 'participant')}; see the table."
        )
    plates = [plate for plate in (_rule_plate(counted, index), _seconds(frame, index)) if plate is not None]
    blocks: list[Block] = [Prose(" ".join(said), "plain", badges)]
    if plates:
        blocks.append(Plates(plates))
    return [*blocks, _participant_table(frame, index)]


def _rule_plate(counted: Screened, index: Index) -> Plate | None:
    if not counted.by_rule:
        return None
    rules = [criterion_words(rule) for rule in counted.by_rule]
    frame = pl.DataFrame({"label": rules, "count": list(counted.by_rule.values())})
    name = index.name("screening-rules")
    told = ", ".join(f"{label} {n}" for label, n in frame.iter_rows())
    drawing = charts.bars(frame, name=name, alt=f"Participants rejected by rule: {told}", axis="participants rejected")
    caption = f"n = {counted.rejected} rejected of {count(counted.submitted, 'participant')}."
    return Plate(name, "Rejected by rule", caption, frame, drawing, index.people_badges)


def _seconds(frame: pl.DataFrame, index: Index) -> Plate | None:
    """Each participant's median seconds a question, retained against rejected."""
    if "median_seconds" not in frame.columns:
        return None
    group = pl.when("kept").then(pl.lit("retained")).otherwise(pl.lit("rejected"))
    known = frame.select(group.alias("group"), pl.col("median_seconds").cast(pl.Float64).alias("value"))
    known = known.filter(pl.col("value") > 0).sort(["group", "value"], descending=[True, False])
    if not known.height:
        return None
    timed = frame.with_columns(pl.col("median_seconds").cast(pl.Float64))
    told = [
        f"{name} {with_interval(found.value, found.low, found.high)} s (n = {found.n})"
        for name, found in seconds_per_question(Screening(timed, ScreenRules())).items()
        if found.defined
    ]
    drawn = known.with_columns(median=pl.col("value").median().over("group"))
    every = math.ceil(drawn.height / _MOST_POINTS)
    drawn = drawn.gather_every(every)
    shift = ((np.arange(drawn.height) * 7) % 13 - 6) / 20  # spreads neighbours, the same for the same table
    drawn = drawn.with_columns(pl.Series("shift", shift)).select("group", "value", "shift", "median")
    name = index.name("screening-seconds")
    caption = f"Median of the participants' medians with 95 % interval: {'; '.join(told)}."
    if every > 1:
        caption += f" One participant in {every} is drawn."
    axis = "median seconds a question (logarithmic)"
    drawing = charts.strips(drawn, name=name, alt=f"Seconds a question, one point a participant. {caption}", axis=axis)
    return Plate(name, "Seconds a question", caption, drawn, drawing, index.people_badges)


def _participant_table(frame: pl.DataFrame, index: Index) -> Block:
    """Every participant under a number in place of the id, since reports are handed on."""
    statistics = [name for name in frame.columns if name not in _SPOKEN and frame[name].dtype.is_numeric()]
    statistics = [name for name in statistics if frame[name].null_count() < frame.height]
    spoken = [name for name in ("reasons", "remarks") if name in frame.columns]
    heads = [Head("participant", "numbered", kind="text"), Head("kept", kind="text")]
    heads += [Head(name, kind="text") for name in spoken]
    heads += [Head(criterion_words(name)) for name in statistics]
    rows = []
    for number, row in enumerate(
        frame.sort("kept", maintain_order=True).head(MOST_ROWS).iter_rows(named=True), start=1
    ):
        cells = [Cell(str(number), sort=number), Cell("yes" if row["kept"] else "no")]
        cells += [Cell("; ".join(listed(row[name]))) for name in spoken]
        rows.append(Row([*cells, *(Cell(_plain(row[name]), sort=row[name]) for name in statistics)]))
    caption = "Participants by number, rejected ones first; their ids stay in the table that the screening wrote."
    if frame.height > MOST_ROWS:
        caption += f" The first {MOST_ROWS} of {fixed(frame.height, 0)}."
    table = Table(caption, heads, rows, index.people_badges)
    return Folded(f"Table of {count(frame.height, 'participant')}", [table], printed=False)


def _plain(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return _NONE
    return fixed(value, 0 if float(value).is_integer() else 2 if abs(value) >= 0.1 else 3)


def _consistency(index: Index) -> list[Block]:
    frame = index.material.consistency_table
    if frame is None or not frame.height:
        return [
            Missing(
                "How far people agree with people was not computed.", "paragone consistency FILE -o consistency.csv"
            )
        ]
    frame = frame.with_columns(pl.col("note") if "note" in frame.columns else pl.lit(None, pl.String).alias("note"))
    staged = frame["stage"].null_count() < frame.height
    criteria = index.criteria(frame["criterion"].unique(maintain_order=True).to_list())
    cells = {(row["statistic"], row["stage"], row["criterion"]): row for row in frame.iter_rows(named=True)}
    heads = [Head("statistic", kind="text"), *([Head("stage", kind="text")] if staged else [])]
    for criterion in criteria:
        words = criterion_words(criterion) if criterion else "value" if len(criteria) == 1 else "all together"
        heads += [Head(words, "95 % interval"), Head("n")]
    noted = frame["note"].null_count() < frame.height
    heads += [Head("note", kind="text")] if noted else []
    rows = []
    for statistic, stage in frame.select("statistic", "stage").unique(maintain_order=True).iter_rows():
        found = [cells.get((statistic, stage, criterion)) for criterion in criteria]
        line = [Cell(CONSISTENCY.get(statistic, statistic.replace("_", " ")))]
        line += [Cell(stage or "all")] if staged else []
        line += [cell for row in found for cell in _consistency_cells(row)]
        rows.append(Row([*line, Cell(_notes(found))] if noted else line))
    csv = f"figures/{index.name('consistency')}.csv"
    return [Table("Consistency: how far people agree with people.", heads, rows, index.people_badges, csv, frame)]


def _notes(rows: Sequence[dict[str, Any] | None]) -> str:
    """What the notes of a line say; of which criterion, where they do not all say the same."""
    said = [(row["criterion"], note_words(row["note"])) for row in rows if row and row["note"]]
    if len(said) == len(rows) and len({note for _, note in said}) == 1:
        return said[0][1]
    several = len(rows) > 1
    return "; ".join(f"{criterion_words(name)}: {note}" if several and name else note for name, note in said)


def _consistency_cells(row: dict[str, Any] | None) -> list[Cell]:
    if row is None:
        return [Cell(_NONE), Cell(_NONE)]
    n = Cell(fixed(row["n"], 0), sort=row["n"])
    if row["value"] is None:
        return [Cell("undefined"), n]
    value, _, interval = with_interval(row["value"], row["low"], row["high"]).partition(" [")
    return [Cell(value, f"[{interval}" if interval else "", row["value"]), n]
