"""`leaderboard_page`: where an evaluator places a new method among those that people judged, as one page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from .. import __version__
from .blocks import Beside, Block, Cell, Group, Head, Missing, Plate, Plates, Prose, Row, Section, Table, Terms
from .digits import count, decimals_for, fixed, joined, ranks, with_interval
from .dots import Look, dots
from .index import slug
from .leader_facts import MOST_SHOWN, LeaderFacts, ShownResult
from .leaf import leaf_path, write_leaf
from .pictures import thumbnail_source
from .svg import Spot
from .words import capital, criterion_words, score_words, with_badges

__all__ = ["leaderboard_page"]

_NONE = "\N{EN DASH}"
_INTERVALS = (
    "The intervals are of two kinds: that of a known method says how far its mean would move if other people had answered; "
    "that of the new one says how far the evaluator was from people on whole methods that it had not seen."
)
_MEANS = (
    "A method's number here is the mean of its pictures' scores on those of the new one's references that it has, since "
    "that is what an evaluator can foretell; a report that compares methods as wholes estimates them in one go from all "
    "answers, so that its numbers differ and its order may."
)
_SEEDS = (
    "The evaluator was not validated on unseen levels, so that the interval of the new one tells at most the spread between "
    "its own seeds, which is too narrow; it is no estimate of its error."
)


def leaderboard_page(
    facts: LeaderFacts,
    board: pl.DataFrame,
    path: str | Path,
    *,
    level: str,
    notes: Sequence[str] = (),
    pictures: Sequence[ShownResult] = (),
) -> Path:
    """Write a page that says which ranks a new level may hold, and how far to trust that.

    Args:
        facts: about the evaluator and the rating.
        board: columns as in `evaluators.leaderboard.LEADERBOARD`, best first within each criterion.
        path: the page, ending in .html; or a folder, in which it is called leaderboard.html.
        level: name of the new level.
        notes: what a reader must see before anything else, one sentence each.
        pictures: new results to show; the first `MOST_SHOWN` are.

    Returns:
        Where the page lies; `figures/` beside it holds every figure as SVG and CSV, and the tables' CSV.

    Raises:
        BadInput: the path has an ending that is not .html.
        MissingExtra: matplotlib or jinja2 is not installed.
    """
    path = leaf_path(path, "leaderboard.html")
    stem = slug(path.stem)
    sections = [
        _places(facts, board, level, notes, stem),
        *_shown(facts, pictures),
        _everybody(facts, board, stem),
        _trust(facts, stem),
        _submitting(facts),
        _record(facts),
    ]
    title = f"{level} among the known {facts.factor}s" if facts.factor else f"{level}, rated by {facts.evaluator}"
    return write_leaf(path, sections, title=title, sources={}, badges=facts.badges, banner=_banner(facts, board, level))


def _banner(facts: LeaderFacts, board: pl.DataFrame, level: str) -> str:
    """What must be seen first: simulated answers, and results out of range."""
    said = []
    if "simulated" in facts.badges:
        said.append("The evaluator learned from simulated participants: nothing here says what people think.")
    far = _own(board, level).sort("far", descending=True, nulls_last=True)["far"]
    if far.len() and far[0]:
        said.append(
            f"{fixed(100 * far[0], 0) if far[0] >= 0.005 else 'Under 1'} % of the new pictures lie out of the evaluator's "
            "range: they are unlike all that it learned from, and what it says about them is a guess."
        )
    return " ".join(said)


def _own(board: pl.DataFrame, level: str) -> pl.DataFrame:
    return board.filter((pl.col("by") == "evaluator") & (pl.col("level") == level))


def _criteria(board: pl.DataFrame) -> list[str | None]:
    return board["criterion"].unique(maintain_order=True).to_list()


def _of(board: pl.DataFrame, criterion: str | None) -> pl.DataFrame:
    return board.filter(pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String)))


def _places(facts: LeaderFacts, board: pl.DataFrame, level: str, notes: Sequence[str], stem: str) -> Section:
    said = _answer(board, level, facts) or "The evaluator gave no score."
    blocks: list[Block] = [Prose(said, "lead", facts.badges)]
    blocks += [Prose(f"{capital(note.rstrip('.'))}.", "warn") for note in notes]
    if board.height:
        blocks.append(Plates([_plate(facts, _of(board, c), c, level, stem) for c in _criteria(board)]))
        validated = any(not math.isnan(errors.level) for errors in facts.errors.values())
        if facts.factor and board.filter(pl.col("by") == "people").height:
            blocks.append(Prose(_INTERVALS.replace("method", facts.factor) if validated else _SEEDS))
            blocks.append(
                Prose("Two of them may change places where their intervals overlap: hence ranges, not ranks.", "small")
            )
            blocks.append(Prose(_MEANS.replace("method", facts.factor), "small"))
        elif not validated:
            blocks.append(Prose(_SEEDS))
    return Section("places", "Places" if facts.factor else "Scores", blocks, facts.badges)


def _answer(board: pl.DataFrame, level: str, facts: LeaderFacts) -> str:
    """Where the new level stands, in one sentence where every criterion ranks the same number, else one for each."""
    criteria, own = _criteria(board), _own(board, level)
    sizes = {_of(board, criterion).height for criterion in criteria}
    if len(criteria) < 2 or len(sizes) > 1 or sizes == {1} or own["rank_low"].null_count():
        return " ".join(_place(_of(board, criterion), criterion, facts) for criterion in criteria)
    n = sizes.pop()
    held = [
        f"{'any rank' if (low, high) == (1, n) else ranks(low, high)} on {criterion_words(criterion)}"
        for criterion, low, high in own.select("criterion", "rank_low", "rank_high").iter_rows()
    ]
    return f"Of {count(n, facts.factor)}, {level} may hold rank {joined(held)}.".replace("rank any rank", "any rank")


def _place(rows: pl.DataFrame, criterion: str | None, facts: LeaderFacts) -> str:
    """Where the new level stands on a criterion, in a sentence."""
    row = rows.filter(pl.col("by") == "evaluator").row(0, named=True)
    low, high, n = row["rank_low"], row["rank_high"], rows.height
    start = f"On {criterion_words(criterion)}: " if criterion else ""
    what = (
        f"{row['level']} has the mean {score_words(criterion)} {with_interval(row['score'], row['low'], row['high'])}"
    )
    if n == 1:
        why = f"no known {facts.factor} to rank it among" if facts.factor else "nothing is ranked"
        return f"{capital(start + what)}; {why}."
    if low is None or high is None:
        return f"{capital(start + what)}; it has no rank, since not every interval is known."
    if low == 1 and high == n:
        return capital(f"{start}{row['level']} may hold any rank from 1 to {n}; the evaluator cannot place it.")
    holds = f"holds rank {low}" if low == high else f"may hold ranks {low} to {high}"
    return capital(f"{start}{row['level']} {holds} of {n}.")


def _plate(facts: LeaderFacts, rows: pl.DataFrame, criterion: str | None, level: str, stem: str) -> Plate:
    looks = {
        "evaluator": Look(f"new, by {facts.evaluator}", "D", 1, strong=True),
        "people": Look("known, by simulated people" if "simulated" in facts.badges else "known, by people", "o", 0),
    }
    places = [ranks(row["rank_low"], row["rank_high"]) for row in rows.iter_rows(named=True)]
    label = pl.when(pl.col("by") == "evaluator").then(pl.lit("new: ") + pl.col("level")).otherwise(pl.col("level"))
    frame = rows.select("level", "score", "low", "high", "n", "rank_low", "rank_high", "far", kind="by", label=label)
    frame = frame.with_columns(place=pl.Series(places, dtype=pl.String))
    decimals = _decimals(rows)
    spots = [
        Spot(
            f"{row['label']}: {with_interval(row['score'], row['low'], row['high'], decimals)}, rank {row['place']}, "
            f"{count(row['n'], 'picture')}"
        )
        for row in frame.iter_rows(named=True)
    ]
    words = score_words(criterion)
    name = f"{stem}-{slug(criterion or 'score')}"
    told = frame.filter(pl.col("kind") == "evaluator")["place"]
    alt = with_badges(
        f"Mean {words} of {count(rows.height, facts.factor or 'entry')}; new: {level}, rank {told[0]}", facts.badges
    )
    axis = f"mean {words}" + (f", {facts.better} is better" if facts.better != "unknown" else "")
    drawing = dots(frame, name=name, alt=alt, axis=axis, looks=looks, spots=spots, places="rank")
    sizes = sorted({int(n) for n in rows["n"]})
    n_words = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    caption = f"Mean over n = {n_words} pictures with 95 % interval; rank: best and worst that the intervals allow."
    if rows["low"].null_count():
        caption += " A point without a bar has no interval."
    return Plate(name, capital(words), caption, frame, drawing, facts.badges)


def _shown(facts: LeaderFacts, pictures: Sequence[ShownResult]) -> list[Section]:
    groups = []
    for one in pictures[:MOST_SHOWN]:
        found = [(word, path) for word, path in (("content", one.content), ("style", one.style)) if path is not None]
        references = [(word, source) for word, path in found if (source := thumbnail_source(path))]
        badges = ["out of range"] if one.far else []
        groups.append(Group(one.caption, one.said, thumbnail_source(one.result), references, badges))
    if not groups:
        return []
    more = f"{count(len(groups), 'result')} beside {'its' if len(groups) == 1 else 'their'} references, with scores by "
    return [
        Section("pictures", "New results", [Beside(f"{more}{facts.evaluator}", groups, facts.badges)], facts.badges)
    ]


def _everybody(facts: LeaderFacts, board: pl.DataFrame, stem: str) -> Section:
    criteria = _criteria(board)
    if not criteria:
        return Section("table", "All scores", [Missing("There are no scores.")])
    found = {(row["level"], row["by"], row["criterion"]): row for row in board.iter_rows(named=True)}
    decimals = {criterion: _decimals(_of(board, criterion)) for criterion in criteria}
    heads = [Head(facts.factor or "what", kind="text"), Head("judged by", kind="text")]
    hint = f"{facts.better} is better" if facts.better != "unknown" else ""
    for criterion in criteria:
        heads += [Head(criterion_words(criterion), hint), Head("rank")]
    heads += [Head("n", "pictures"), Head("out of range", "share of pictures")]
    rows = []
    for name, by in dict.fromkeys((row["level"], row["by"]) for row in board.iter_rows(named=True)):
        new = by == "evaluator"
        who = "people (simulated)" if by == "people" and "simulated" in facts.badges else by
        cells = [Cell(name, badges=["new"] if new else []), Cell(who)]
        for criterion in criteria:
            row = found.get((name, by, criterion))
            if row is None:
                cells += [Cell(_NONE), Cell(_NONE)]
                continue
            text, _, interval = with_interval(row["score"], row["low"], row["high"], decimals[criterion]).partition(
                " ["
            )
            cells.append(Cell(text, f"[{interval}" if interval else "", row["score"]))
            low, high = row["rank_low"], row["rank_high"]
            cells.append(Cell(ranks(low, high), sort=None if low is None else low + high / 1e6))
        own = [row for criterion in criteria if (row := found.get((name, by, criterion))) is not None]
        sizes = sorted({row["n"] for row in own})
        cells.append(Cell(f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}", sort=sizes[0]))
        far = max((row["far"] for row in own if row["far"] is not None), default=None)
        cells.append(Cell(_NONE if far is None else f"{fixed(100 * far, 0)} %", sort=far))
        rows.append(Row(cells))
    caption = "Mean scores with 95 % interval, and the ranks that the intervals allow."
    table = Table(caption, heads, rows, facts.badges, f"figures/{stem}-all.csv", board)
    return Section("table", "All scores", [table], facts.badges)


def _trust(facts: LeaderFacts, stem: str) -> Section:
    """How far the evaluator was wrong about what it had not seen."""
    rows: list[Row] = []
    frame: list[dict[str, Any]] = []
    for criterion, errors in facts.errors.items():
        item, mean, guess = (None if math.isnan(v) else v for v in (errors.item, errors.level, errors.guess))
        frame.append(
            {"criterion": criterion, "learner": facts.learners.get(criterion, ""), "protocol": errors.protocol or None}
            | {
                "error_item": item,
                "error_level": mean,
                "guess_level": guess,
                "n_items": errors.n_items,
                "n_levels": errors.n_levels,
            }
        )
        cells = [Cell(criterion_words(criterion)), Cell(facts.learners.get(criterion, ""))]
        cells.append(Cell(errors.protocol or "not validated"))
        for value in (item, mean, guess):
            cells.append(
                Cell(
                    _NONE if value is None else f"\N{PLUS-MINUS SIGN}{fixed(value, decimals_for([], [value]))}",
                    sort=value,
                )
            )
        rows.append(Row([*cells, *(Cell(fixed(n, 0), sort=n) for n in (errors.n_items, errors.n_levels))]))
    heads = [Head("criterion", kind="text"), Head("learner", kind="text"), Head("held out", kind="text")]
    heads += [
        Head("a picture", "95 % of errors within"),
        Head("a mean", f"of an unseen {facts.factor or 'level'}, 95 %"),
        Head("a guess", "the mean of the known ones, 95 %"),
    ]
    heads += [Head("n", "held-out pictures"), Head("n", "held-out levels")]
    schema = {
        "criterion": pl.String,
        "learner": pl.String,
        "protocol": pl.String,
        "error_item": pl.Float64,
        "error_level": pl.Float64,
        "guess_level": pl.Float64,
        "n_items": pl.Int64,
        "n_levels": pl.Int64,
    }
    caption = "How far the evaluator was from people on what it had not seen, in the unit of the scores."
    csv = f"figures/{stem}-errors.csv"
    table = Table(caption, heads, rows, facts.badges, csv, pl.DataFrame(frame, schema=schema))
    blocks: list[Block] = [table]
    blocks += [Prose(said, "warn") for said in _no_better_than_a_guess(facts)]
    if all(math.isnan(errors.item) for errors in facts.errors.values()):
        blocks.insert(0, Prose("The evaluator was not validated: nothing is known of its error.", "warn"))
    return Section("trust", "How far to trust it", blocks, facts.badges)


def _no_better_than_a_guess(facts: LeaderFacts) -> list[str]:
    """Says where looking at the pictures told no more about an unseen level than the mean of the known ones."""
    lost = [c for c, errors in facts.errors.items() if errors.level >= errors.guess]
    if not lost:
        return []
    on = f" on {joined([criterion_words(c) for c in lost])}" if lost != [None] else ""
    return [
        f"The evaluator foretold the mean of an unseen {facts.factor or 'level'}{on} no better than the mean of the known "
        "ones does, said of each: its places there say little."
    ]


def _submitting(facts: LeaderFacts) -> Section:
    folder = facts.folder or "EVALUATOR"
    where = "; the path is from the folder that holds the benchmark" if facts.folder else ""
    why = f"Another {facts.factor or 'folder of results'} is rated by one command."
    combined = " and ".join(facts.references) or "the references"
    said = (
        f"RESULTS is a folder with one picture for each combination of {combined}; --pattern says how the files are named, "
        f"for example '{{content}}_{{style}}.png'. --evaluator names the folder of {facts.evaluator}{where}. A backbone "
        "whose weights have another SHA-256 than the one below is refused, so that all places here come from the same judge."
    )
    return Section(
        "submit", "How to submit", [Missing(why, f"paragone rate RESULTS --evaluator {folder}"), Prose(said)]
    )


def _record(facts: LeaderFacts) -> Section:
    levels = [f"{n} levels of {factor}" for factor, n in facts.levels.items() if n]
    people = "simulated participants" if "simulated" in facts.badges else "people"
    learned = f"{count(facts.items, 'item')} with scores of {people}"
    who = "" if facts.participants is None else f" of {count(facts.participants, 'participant')}"
    behind = "how many answers is not recorded" if facts.answers is None else f"{count(facts.answers, 'answer')}{who}"
    entries = [
        ("benchmark", facts.benchmark or "not recorded"),
        *((f"{factor} references", f"{len(names)}: {', '.join(names)}") for factor, names in facts.references.items()),
        ("evaluator", facts.evaluator + (f" ({', '.join(facts.badges)})" if facts.badges else "")),
        ("learned from", f"{learned}{', ' + joined(levels) if levels else ''}; behind them {behind}"),
        ("trained", _when(facts.trained, facts.trained_with)),
        ("rated", _when(facts.rated, facts.rated_with)),
        ("features", facts.features),
        ("backbone", f"{facts.backbone}; weights: {facts.source}"),
        ("SHA-256 of its weights", facts.sha256 or "none, they come from no file"),
        ("page", f"written by paragone {__version__}"),
    ]
    return Section("record", "Record", [Terms(entries)])


def _when(date: str, version: str) -> str:
    return f"{date or 'date not recorded'}, paragone {version or 'version not recorded'}"


def _decimals(rows: pl.DataFrame) -> int:
    return decimals_for(((rows["high"] - rows["low"]) / 2).to_list(), rows["score"].to_list())
