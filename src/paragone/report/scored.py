"""The scores behind the answer: best and worst pictures, distributions, every score with interval and rank range."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ..scores import Scores
from . import charts
from .answer import MOST_ROWS as MOST_DRAWN
from .answer import score_plate, what_to_show
from .blocks import Block, Cell, Folded, Head, Missing, Plate, Plates, Prose, Row, Section, Strip, Table, Tile
from .digits import count, decimals_for, fixed, ranks, with_interval
from .index import MOST_ROWS, Index
from .lacking import lacking_in
from .ranked import apart, factor_of, ranked, score_axis, score_decimals, unit_words
from .words import criterion_words, score_words, with_badges

__all__ = ["scores_section"]

_TILES = 6
_OPEN_ROWS = 30  # a longer table is folded
_FEWEST = 5  # scores that make a histogram
_NONE = "\N{EN DASH}"


def scores_section(index: Index) -> Section:
    """Pictures first, then distributions, then tables of levels and of items."""
    human = index.material.human
    if human is None:
        return Section("scores", "Scores", [Missing("There are no scores by people.", "paragone score FILE")])
    blocks: list[Block] = [*_strips(human, index)]
    if human.frame["score"].null_count() == human.frame.height:
        blocks.append(Prose("Nothing has a score; the status in the table says why.", "warn"))
    plates = [_distribution(human, criterion, index) for criterion in index.criteria(human.criteria)]
    if any(plates):
        blocks.append(Plates([plate for plate in plates if plate is not None]))
    else:
        blocks.append(Missing(f"A distribution is not drawn of fewer than {_FEWEST} scores."))
    levels = index.material.level_scores
    if levels:
        shown = what_to_show(human, levels)
        others = [scores for scores in levels if scores is not shown]
        drawn = [
            score_plate(scores, criterion, index) for scores in others for criterion in index.criteria(scores.criteria)
        ]
        if shown is not human and human.key == "item" and human.frame["item"].n_unique() <= MOST_DRAWN:
            drawn = [score_plate(human, criterion, index) for criterion in index.criteria(human.criteria)] + drawn
        blocks += [Plates(drawn)] if drawn else []
        for scores in levels:
            blocks.append(_table(scores, index))
            lack = lacking_in(index, factor_of(scores))
            blocks += [] if lack is None else [Prose(lack.sentence, "warn")]
    elif human.key == "item":
        why = "Scores of methods, or of the levels of another factor, are not there."
        blocks.append(Missing(why, "paragone score FILE --by method"))
    table = _table(human, index)
    n = count(len(table.rows), factor_of(human) or index.thing)
    blocks.append(table if len(table.rows) <= _OPEN_ROWS else Folded(f"Table of {n}", [table]))
    return Section("scores", "Scores", blocks, index.material.human_badges)


def _strips(human: Scores, index: Index) -> list[Block]:
    """The best and the worst pictures of each criterion, at most a third each, so that neither is about the middle."""
    if human.key != "item":
        return []
    if index.material.benchmark is None:
        why = "The pictures are not shown, because no benchmark folder was given."
        return [Missing(why, "paragone new DIR --images PATTERN")]
    blocks: list[Block] = []
    for criterion in index.criteria(human.criteria):
        frame = ranked(human, criterion).drop_nulls("score")
        most = min(_TILES, frame.height // 3)
        if not most or apart(frame):
            continue
        decimals = score_decimals(frame)
        for end, part in (("Best", frame.head(most)), ("Worst", frame.tail(most).reverse())):
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
                title = f"{end} on {criterion_words(criterion)}"
                blocks.append(Strip(title, tiles, index.material.human_badges))
    lost = index.thumbs.unreadable
    if lost:
        these = count(len(lost), "picture")
        blocks.append(Prose(f"{these} could not be read, that of '{lost[0]}' among them.", "warn"))
    elif not index.thumbs.sources:
        blocks.append(Missing("The benchmark names no picture of the scored items."))
    return blocks


def _distribution(scores: Scores, criterion: str | None, index: Index) -> Plate | None:
    values = scores.of_criterion(criterion)["score"].drop_nulls().to_numpy()
    if len(values) < _FEWEST:
        return None
    words, badges = criterion_words(criterion), index.material.human_badges
    frame = _histogram(values)
    middle, deviation = float(np.median(values)), float(values.std(ddof=1))
    decimals = decimals_for([2 * deviation / len(values) ** 0.5])
    told = f"median {fixed(middle, decimals)}, standard deviation {fixed(deviation, decimals)}"
    n = count(len(values), factor_of(scores) or index.thing)
    name = index.name("distribution", criterion)
    drawing = charts.histogram(
        frame,
        name=name,
        alt=with_badges(f"Histogram of the scores of {n} on {words}; {told}", badges),
        axis=score_axis(scores, criterion),
        counted=f"{factor_of(scores) or index.thing}s",
    )
    return Plate(name, f"Distribution of the {score_words(criterion)}s", f"n = {n}; {told}.", frame, drawing, badges)


def _histogram(values: np.ndarray) -> pl.DataFrame:
    """Counts between round edges, a few more bars than Sturges' rule takes."""
    low, high = float(values.min()), float(values.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    bars = int(np.clip(np.ceil(np.log2(len(values))) + 3, 6, 24))
    power = 10.0 ** np.floor(np.log10((high - low) / bars))
    step = next(power * digit for digit in (1.0, 2.0, 2.5, 5.0, 10.0) if (high - low) / (power * digit) <= bars)
    edges = np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)
    counts, edges = np.histogram(values, edges)
    return pl.DataFrame({"low": edges[:-1], "high": edges[1:], "count": counts})


def _table(scores: Scores, index: Index) -> Table:
    """One row per item or level: for each criterion the score with its interval, the rank range and n."""
    badges = index.material.human_badges
    thing = index.factor_words(factor_of(scores)) or index.thing
    column, criteria = scores.key, index.criteria(scores.criteria)
    first = ranked(scores, criteria[0])["label"].to_list() if criteria else []
    labels = list(dict.fromkeys([*first, *scores.frame[column].drop_nulls().unique().sort()]))
    listed = labels[:MOST_ROWS]
    found: dict[tuple[str, str | None], dict[str, Any]] = {
        (row[column], row["criterion"]): row
        for row in scores.frame.filter(pl.col(column).is_in(listed)).iter_rows(named=True)
    }
    decimals = {criterion: score_decimals(scores.of_criterion(criterion)) for criterion in criteria}
    heads = [Head(thing, kind="text")]
    for criterion in criteria:
        heads += [Head(criterion_words(criterion), unit_words(scores)), Head("rank"), Head("n")]
    rows = []
    item = column == "item"
    for label in listed:
        cells = [Cell(label, picture=index.picture(label) if item else "")]
        for criterion in criteria:
            cells += _cells(found.get((label, criterion)), decimals[criterion])
        rows.append(Row(cells, index.row(label) if item else ""))
    more = f" The first {MOST_ROWS} of {len(labels)}; the CSV holds all." if len(labels) > MOST_ROWS else ""
    key = ["item"] if item else ["of", "level"]
    columns = [*key, "criterion", "score", "low", "high", "rank_low", "rank_high", "n", "status"]
    caption = f"Scores by {thing}: 95 % interval in square brackets, ranks as far as the data tell.{more}"
    csv = f"figures/{index.name('table', factor_of(scores) or index.thing)}.csv"
    return Table(caption, heads, rows, badges, csv, scores.frame.select(columns))


def _cells(row: dict[str, Any] | None, decimals: int) -> list[Cell]:
    if row is None:
        return [Cell(_NONE), Cell(_NONE), Cell(_NONE)]
    n = Cell(fixed(row["n"], 0), sort=row["n"])
    if row["score"] is None:
        return [Cell(str(row["status"]).replace("_", " ")), Cell(_NONE), n]
    value, _, interval = with_interval(row["score"], row["low"], row["high"], decimals).partition(" [")
    best, worst = row["rank_low"], row["rank_high"]
    place = None if best is None or worst is None else best + worst / 1e6
    return [
        Cell(value, f"[{interval}" if interval else "", row["score"]),
        Cell(ranks(best, worst), sort=place),
        n,
    ]
