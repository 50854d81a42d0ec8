"""The answer and the scores behind it: figures, pictures and tables of what people said about each item and level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from ..scores import Scores
from . import charts
from .blocks import Block, Cell, Folded, Head, Missing, Plate, Plates, Prose, Row, Section, Strip, Table, Tile
from .index import Index, criterion_words
from .numbers import count, decimals_for, fixed, joined, ranks, with_interval
from .svg import Spot

__all__ = ["answer_section", "open_groups", "score_axis", "scores_section"]

MOST_ROWS_DRAWN = 40
"""Items or levels that one figure shows; more than that, and nobody reads the labels."""
MOST_ROWS_LISTED = 1000
_ENDS = 10  # items shown from either end where there are too many for one figure
_TILES = 6
_OPEN_ROWS = 30  # a longer table is folded


def answer_section(index: Index) -> Section:
    """What was asked, of how many people, and the answer in one picture per criterion."""
    material = index.material
    badges = material.human_badges
    blocks: list[Block] = []
    if material.asked:
        blocks.append(
            Prose(
                f"Participants were asked: \N{LEFT DOUBLE QUOTATION MARK}{material.asked}\N{RIGHT DOUBLE QUOTATION MARK}",
                "lead",
            )
        )
    else:
        blocks.append(
            Missing(
                "The wording of the question is not known, so it cannot be printed here.",
                "paragone report --asked 'Which picture ...?'",
            )
        )
    blocks.append(_asked_whom(index))
    blocks += [Prose(note, "warn") for note in material.notes]
    human = material.human
    if human is None:
        blocks.append(Missing("There are no scores by people, so there is no answer yet.", "paragone score FILE"))
        return Section("answer", "The answer", blocks, badges)
    shown = _what_to_show(index)
    for scores in shown:
        blocks += [Prose(sentence, "plain", badges) for sentence in _verdicts(scores, index)]
    blocks.append(Plates([_score_plate(scores, criterion, index) for scores in shown for criterion in scores.criteria]))
    blocks.append(Prose(_how_to_read(shown), "small"))
    return Section("answer", "The answer", blocks, badges)


def scores_section(index: Index) -> Section:
    """Best and worst pictures, the distribution of scores, and every score with interval and rank range."""
    human = index.material.human
    badges = index.material.human_badges
    if human is None:
        return Section("scores", "Scores", [Missing("There are no scores by people.", "paragone score FILE")])
    blocks: list[Block] = [*_strips(index)]
    if human.frame["score"].null_count() == human.frame.height:
        blocks.append(Prose("No item has a score; the status in the table says why.", "warn"))
    else:
        blocks.append(
            Plates([plate for criterion in human.criteria if (plate := _distribution(human, criterion, index))])
        )
    if index.material.level_scores:
        blocks += [_score_table(scores, index) for scores in index.material.level_scores]
    else:
        blocks.append(Missing("Scores of methods or other factors are not there.", "paragone score FILE --by method"))
    table = _score_table(human, index)
    blocks.append(table if len(table.rows) <= _OPEN_ROWS else Folded(f"Table of all {len(table.rows)} rows", [table]))
    return Section("scores", "Scores", blocks, badges)


def _asked_whom(index: Index) -> Prose:
    answers = index.material.answers
    if answers is None:
        if index.material.human is None:
            return Prose("How many people answered is not known.", "plain")
        n = index.material.human.frame["item"].n_unique()
        return Prose(
            f"Scores of {index.things(n)} by people; how many of them answered is not known.",
            "plain",
            index.material.human_badges,
        )
    people = (
        "An unknown number of people"
        if answers.participants is None
        else count(answers.participants, "person", "people")
    )
    asked = [criterion_words(name) for name in answers.per_criterion["criterion"] if name is not None]
    on = f" on {count(len(asked), 'criterion', 'criteria')}: {joined(asked)}" if asked else ""
    gave = count(
        answers.n,
        {"votes": "vote on a pair", "ratings": "rating"}.get(answers.kind, "answer"),
        {"votes": "votes on pairs"}.get(answers.kind),
    )
    about = "of" if answers.kind == "votes" else "about"
    return Prose(
        f"{people} gave {gave} {about} {index.things(answers.items)}{on}.", "lead", index.material.human_badges
    )


def _what_to_show(index: Index) -> list[Scores]:
    """The items where one figure holds them; else the levels of the factors; else the items' two ends."""
    human = index.material.human
    assert human is not None
    if max(human.of_criterion(criterion).height for criterion in human.criteria) <= MOST_ROWS_DRAWN:
        return [human]
    drawable = [
        scores
        for scores in index.material.level_scores
        if max(scores.of_criterion(criterion).height for criterion in scores.criteria) <= MOST_ROWS_DRAWN
    ]
    return drawable or [human]


def _ranked(scores: Scores, criterion: str | None) -> pl.DataFrame:
    """Rows of a criterion with `label` and `place`, best first, those without a score last."""
    frame = scores.of_criterion(criterion).with_columns(label=pl.col(scores.key))
    grouped = ["connected_group"] if _apart(frame) else []
    sign = pl.col("score") * (-1 if scores.better != "lower" else 1)
    return (
        frame.with_columns(_order=sign)
        .sort([*grouped, "_order", "label"], nulls_last=True)
        .drop("_order")
        .with_row_index("place", offset=1)
    )


def _apart(frame: pl.DataFrame) -> bool:
    return "connected_group" in frame.columns and frame["connected_group"].drop_nulls().n_unique() > 1


def open_groups(frame: pl.DataFrame) -> list[tuple[int, int]]:
    """Runs of rows whose order the data leave open.

    Args:
        frame: columns rank_low and rank_high, best row first.

    Returns:
        First and last row (from 0) of each longest run a..b in which every row may hold any of the ranks a+1..b+1; runs of
        one row are left out.
    """
    if frame["rank_low"].null_count() or frame["rank_high"].null_count():
        return []
    low, high = frame["rank_low"].to_list(), frame["rank_high"].to_list()
    found: list[tuple[int, int]] = []
    for first in range(len(low)):
        last = first
        lowest = low[first]
        shared = high[first]
        while last + 1 < len(low):
            lowest, shared = max(lowest, low[last + 1]), min(shared, high[last + 1])
            if lowest > first + 1 or shared < last + 2:
                break
            last += 1
        if last > first and low[first] <= first + 1 and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def score_axis(scores: Scores, criterion: str | None) -> str:
    """'image appeal (rating scale, higher is better)'."""
    unit = scores.made.get("unit")
    told = [str(unit)] if unit else []
    if scores.better != "unknown":
        told.append(f"{scores.better} is better")
    return criterion_words(criterion) + (f" ({', '.join(told)})" if told else "")


def _range_of(values: pl.Series) -> str:
    known = values.drop_nulls()
    if not len(known):
        return "n unknown"
    low, high = fixed(float(known.min()), 0), fixed(float(known.max()), 0)  # type: ignore[arg-type]
    return f"n = {low}" if low == high else f"n = {low} to {high}"


def _decimals(frame: pl.DataFrame) -> int:
    return decimals_for(((frame["high"] - frame["low"]) / 2).to_list(), frame["score"].to_list())


def _score_plate(scores: Scores, criterion: str | None, index: Index) -> Plate:
    frame = _ranked(scores, criterion)
    cut = ""
    apart = _apart(frame)
    whole = frame
    if frame.height > MOST_ROWS_DRAWN:
        scored = frame.drop_nulls("score")
        frame = pl.concat([scored.head(_ENDS), scored.tail(_ENDS)])
        cut = f" The best and the worst {_ENDS} of {scored.height}."
    brackets = [] if cut or apart else open_groups(frame)
    if len(brackets) > MOST_BRACKETS:
        brackets = []
        cut += " Too many overlapping groups for brackets; see the ranks."
    factor = str(scores.frame["of"].drop_nulls().first() or "level") if scores.key == "level" else index.thing
    drawn = frame.select("label", "score", "low", "high", "rank_low", "rank_high", "n")
    decimals = _decimals(whole)
    spots = []
    for row in drawn.iter_rows(named=True):
        told = f"{with_interval(row['score'], row['low'], row['high'], decimals)}, rank {ranks(row['rank_low'], row['rank_high'])}, n = {fixed(row['n'], 0)}"
        spots.append(index.spot(row["label"], told) if scores.key == "item" else Spot(f"{row['label']}: {told}"))
    words = criterion_words(criterion)
    leader = frame["label"][0] if frame.height and frame["score"][0] is not None else None
    alt = f"{words}: {count(whole.height, factor)} by score with 95 % interval" + (
        f", best first: {leader} leads" if leader else ""
    )
    name = index.name("scores", factor, criterion)
    told_apart = (
        " The items fall into groups that were never compared; only scores within one group can be compared."
        if apart
        else ""
    )
    return Plate(
        name,
        f"{words} by {factor}",
        f"{count(whole.height, factor)}, {_range_of(whole['n'])} answers each.{cut}{told_apart}",
        drawn,
        charts.intervals(
            drawn,
            name=name,
            alt=_badged(alt, index),
            axis=score_axis(scores, criterion),
            spots=spots,
            brackets=brackets,
        ),
        index.material.human_badges,
    )


MOST_BRACKETS = 8


def _badged(alt: str, index: Index) -> str:
    badges = index.material.human_badges
    return f"{alt} ({', '.join(badges)})" if badges else alt


def _how_to_read(shown: Sequence[Scores]) -> str:
    frame = pl.concat([scores.frame.select("low", "rank_low") for scores in shown])
    parts = [
        "A point is a score and its line the 95 % interval."
        if frame["low"].null_count() < frame.height
        else "The scores were made without intervals, so how sure they are is not known."
    ]
    if frame["rank_low"].null_count() < frame.height:
        parts.append(
            "Ranks are ranges where the data cannot tell; a bracket joins rows whose order is open: each of them may hold any rank of the bracket."
        )
    else:
        parts.append("The scores were made without rank intervals, so groups that cannot be told apart are not marked.")
    return " ".join(parts)


def _verdicts(scores: Scores, index: Index) -> list[str]:
    """One sentence per criterion that names the leader, or those who may be it."""
    said = []
    for criterion in scores.criteria:
        frame = _ranked(scores, criterion).drop_nulls("score")
        if not frame.height or _apart(frame):
            continue
        words = criterion_words(criterion)
        best = frame.row(0, named=True)
        number = with_interval(best["score"], best["low"], best["high"], _decimals(frame))
        lead = (
            f"Highest on {words}: {best['label']}, {number}"
            if scores.better != "lower"
            else f"Lowest on {words}: {best['label']}, {number}"
        )
        rivals = frame.filter(pl.col("rank_low") == 1)["label"].to_list()
        others = [label for label in rivals if label != best["label"]]
        if frame["rank_low"].null_count():
            said.append(f"{lead}; whether others are as good is not known, since ranks have no intervals.")
        elif not others:
            said.append(f"{lead}; the data tell it apart from all {frame.height - 1} others.")
        elif len(others) <= 4:
            said.append(f"{lead}; {joined(others)} may be as good.")
        else:
            said.append(f"{lead}; {len(others)} others may be as good.")
    return said


def _strips(index: Index) -> list[Block]:
    """The best and the worst pictures of each criterion."""
    human = index.material.human
    assert human is not None
    if index.material.benchmark is None:
        return [
            Missing(
                "The pictures are not shown, because no benchmark folder was given.",
                "paragone new DIR --images PATTERN",
            )
        ]
    blocks: list[Block] = []
    for criterion in human.criteria:
        frame = _ranked(human, criterion).drop_nulls("score")
        if frame.height < 2 or _apart(frame):
            continue
        decimals = _decimals(frame)
        most = min(_TILES, frame.height // 2)
        for title, part in (("Best", frame.head(most)), ("Worst", frame.tail(most).reverse())):
            tiles = [
                Tile(
                    row["label"],
                    index.picture(row["label"]),
                    with_interval(row["score"], row["low"], row["high"], decimals),
                    f"#{index.row(row['label'])}",
                )
                for row in part.iter_rows(named=True)
                if index.picture(row["label"])
            ]
            if tiles:
                blocks.append(Strip(f"{title} on {criterion_words(criterion)}", tiles, index.material.human_badges))
    lost = index.thumbs.unreadable
    if lost:
        blocks.append(
            Prose(f"The pictures of {count(len(lost), 'item')} could not be read, '{lost[0]}' among them.", "warn")
        )
    return blocks


def _distribution(scores: Scores, criterion: str | None, index: Index) -> Plate | None:
    values = scores.of_criterion(criterion)["score"].drop_nulls().to_numpy()
    if len(values) < 5:
        return None
    frame = _histogram(values)
    words = criterion_words(criterion)
    name = index.name("distribution", criterion)
    middle = float(np.median(values))
    alt = _badged(f"Histogram of {len(values)} scores of {words}; half lie below {fixed(middle, 2)}", index)
    drawing = charts.histogram(frame, name=name, alt=alt, axis=score_axis(scores, criterion), counted=f"{index.thing}s")
    decimals = decimals_for([], [float(values.std())])
    caption = f"n = {index.things(len(values))}; median {fixed(middle, decimals)}, standard deviation {fixed(float(values.std(ddof=1)), decimals)}."
    return Plate(name, f"Distribution of {words}", caption, frame, drawing, index.material.human_badges)


def _histogram(values: np.ndarray) -> pl.DataFrame:
    """Counts between round edges, about as many as Sturges would take."""
    low, high = float(values.min()), float(values.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(np.ceil(np.log2(len(values))) + 3, 6, 24))
    power = 10.0 ** np.floor(np.log10((high - low) / bins))
    step = next(power * digit for digit in (1.0, 2.0, 2.5, 5.0, 10.0) if (high - low) / (power * digit) <= bins)
    edges = np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step
    if len(edges) < 2 or edges[-1] < high:
        edges = np.append(edges, edges[-1] + step)
    counts, edges = np.histogram(values, edges)
    return pl.DataFrame({"low": edges[:-1], "high": edges[1:], "count": counts})


def _score_table(scores: Scores, index: Index) -> Table:
    """One row per item or level: for each criterion the score with its interval and the rank range, then n."""
    material = index.material
    badges = material.human_badges
    factor = str(scores.frame["of"].drop_nulls().first() or "level") if scores.key == "level" else index.thing
    labels = scores.frame[scores.key].drop_nulls().unique().sort().to_list()
    found: dict[tuple[str, str | None], dict[str, Any]] = {
        (row[scores.key], row["criterion"]): row for row in scores.frame.iter_rows(named=True)
    }
    first = _ranked(scores, scores.criteria[0])["label"].to_list()
    labels = [*first, *(label for label in labels if label not in set(first))]
    decimals = {criterion: _decimals(scores.of_criterion(criterion)) for criterion in scores.criteria}
    unit = scores.made.get("unit")
    hint = ", ".join(
        [*([str(unit)] if unit else []), *([f"{scores.better} is better"] if scores.better != "unknown" else [])]
    )
    heads = [Head(factor, kind="text")]
    for criterion in scores.criteria:
        heads += [Head(criterion_words(criterion), hint, badges=badges), Head("rank"), Head("n")]
    rows = []
    for label in labels[:MOST_ROWS_LISTED]:
        cells = [Cell(label, picture=index.picture(label) if scores.key == "item" else "")]
        for criterion in scores.criteria:
            cells += _score_cells(found.get((label, criterion)), decimals[criterion])
        rows.append(Row(cells, index.row(label) if scores.key == "item" else ""))
    more = (
        f" The first {MOST_ROWS_LISTED} of {len(labels)}; the CSV holds all." if len(labels) > MOST_ROWS_LISTED else ""
    )
    name = index.name("table", factor)
    table = scores.frame.select(
        [
            scores.key,
            *(["of"] if scores.key == "level" else []),
            "criterion",
            "score",
            "low",
            "high",
            "rank_low",
            "rank_high",
            "n",
            "status",
        ]
    )
    return Table(
        f"Scores by {factor}: 95 % interval in brackets, ranks as far as the data tell.{more}",
        heads,
        rows,
        badges,
        f"figures/{name}.csv",
        table,
    )


def _score_cells(row: dict[str, Any] | None, decimals: int) -> list[Cell]:
    if row is None:
        return [Cell("\N{EN DASH}"), Cell("\N{EN DASH}"), Cell("\N{EN DASH}")]
    if row["score"] is None:
        return [Cell(str(row["status"]).replace("_", " ")), Cell("\N{EN DASH}"), _n_cell(row["n"])]
    value, _, interval = with_interval(row["score"], row["low"], row["high"], decimals).partition(" [")
    rank = row["rank_low"]
    return [
        Cell(value, f"[{interval}" if interval else "", row["score"]),
        Cell(ranks(rank, row["rank_high"]), sort=None if rank is None else rank + (row["rank_high"] or rank) / 1e6),
        _n_cell(row["n"]),
    ]


def _n_cell(n: float | None) -> Cell:
    return Cell(fixed(n, 0), sort=n)
