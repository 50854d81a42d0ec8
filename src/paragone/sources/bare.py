"""Any table of votes or ratings, by its own words: `read_votes`, `read_ratings`.

Columns are found by our names, by a map `ours=theirs`, or by common synonyms; what was recognised is in the notes. What
cannot be read is refused with every fault of the file at once.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar, get_args

import polars as pl

from ..errors import BadConfig, BadTable, UnknownName
from ..judgements import RATINGS, VOTES, Ratings, Votes
from ..tables import MISSING, Column, Schema, Table, checked, open_table, shown
from .cells import clean_number, composed, without_blank_rows
from .choices import read_choices
from .records import Reading
from .repeats import settle
from .words import RATING_WORDS, VOTE_WORDS, Match, match_columns, winner_and_loser

__all__ = ["Copies", "Missing", "read_ratings", "read_votes"]

Missing = Literal["refuse", "drop"]
Copies = Literal["drop", "keep"]
_WIDE = ("participant", "item", "criterion")
T = TypeVar("T")


class _Body(NamedTuple):
    """The cells under our names, and what messages need."""

    frame: pl.DataFrame
    rows: pl.Series
    called: Mapping[str, str]
    faults: list[str]
    notes: list[str]


def read_votes(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    *,
    choices: Mapping[str, str] | None = None,
    missing: Missing = "refuse",
    copies: Copies = "drop",
    encoding: str | None = None,
    separator: str | None = None,
    sheet: str | None = None,
) -> Reading[Votes]:
    """Read pairwise answers from a CSV, TSV, Parquet or XLSX file of anybody's making.

    Args:
        path: the file.
        columns: our column -> the file's, where neither our names nor a common synonym stand there; 'scene+clip' joins
            two columns into ids. A name that is not ours is kept as a further column. Where the file has a winner and a
            loser in place of sides and choice (`winner=...,loser=...`), the winner is read as left.
        choices: the file's word -> left, right or tie; None: found from all answers, one of left/right/tie, a/b, 1/2/0,
            the names of the two columns, or the id of the winner.
        missing: what to do with a row that lacks left, right or choice: refuse the file, or drop the row and say so.
        copies: what to do with a row that repeats another in every cell, trial or time included.
        encoding: of a text file; None: UTF-8, or UTF-16 by its mark.
        separator: of a text file; None: found.
        sheet: of a workbook; None: the first.

    Returns:
        The votes, with notes on what was recognised, dropped and answered twice.

    Raises:
        NotFound: no such file.
        BadTable: the file cannot be read or breaks the contract; holds all faults.
        UnknownName: `columns` names a column that is not there.
        BadConfig: `choices`, `missing` or `copies` says what cannot be.
    """
    where = Path(path).name
    columns = columns or {}
    _known(missing, copies)
    wrong = sorted({ours for ours in (choices or {}).values() if ours not in ("left", "right", "tie")})
    if wrong:
        raise BadConfig(f"choices: '{shown(wrong[0])}' is not one of left, right, tie", where="choices")
    table = composed(open_table(path, encoding=encoding, separator=separator, sheet=sheet), columns)
    table, columns, won = _with_sides(table, columns)
    match = match_columns(table.frame.columns, VOTES, columns, VOTE_WORDS, where=where)
    body = _body(table, match, VOTES, missing, where)
    body.notes.extend(won)
    answers = read_choices(
        body.frame,
        headers=(match.theirs["left"], match.theirs["right"]),
        given=choices,
        name=shown(match.theirs["choice"]),
        rows=body.rows,
    )
    body.faults.extend(answers.faults)
    body.notes.extend(answers.notes)
    answered = body.frame["choice"].is_not_null()
    choice = answers.choice if not answers.faults else pl.Series(["tie"]).new_from_index(0, len(answered))
    frame = body.frame.with_columns(choice.set(~answered, None).alias("choice"))
    if answers.expected is not None:
        frame = frame.with_columns(answers.expected)
    return _finished(body._replace(frame=frame), VOTES, Votes, match, where, copies)


def _with_sides(table: Table, columns: Mapping[str, str]) -> tuple[Table, Mapping[str, str], list[str]]:
    """A table of winners and losers as one of pairs of which left was chosen; any other as it is."""
    pair = winner_and_loser(table.frame.columns, columns)
    if pair is None or not set(pair) <= set(table.frame.columns):
        return table, columns, []
    won, lost = pair
    kept = {ours: theirs for ours, theirs in columns.items() if ours not in ("winner", "loser")}
    frame = table.frame.with_columns(pl.lit("left").alias(_CHOSEN))
    note = (
        f"'{shown(won)}' is read as left and '{shown(lost)}' as right, with left chosen: sides are unknown, so the share of "
        "left answers and the rule straight mean nothing"
    )
    sides = {"left": won, "right": lost, "choice": _CHOSEN}
    return replace(table, frame=frame), {**kept, **sides}, [note]


_CHOSEN = "(left chosen)"


def read_ratings(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    *,
    missing: Missing = "refuse",
    copies: Copies = "drop",
    encoding: str | None = None,
    separator: str | None = None,
    sheet: str | None = None,
) -> Reading[Ratings]:
    """Read single-item answers from a CSV, TSV, Parquet or XLSX file of anybody's making, long or wide.

    Args:
        path: the file.
        columns: our column -> the file's. One of participant, item and criterion may name several columns by a pattern
            ('s*', 'rater1|rater2', '*' for all that are left): the table is then wide, its cells are the values, and
            an empty cell is no answer. 'content+style' joins two columns into ids.
        missing: what to do with a row that lacks item or value: refuse the file, or drop the row and say so.
        copies: what to do with a row that repeats another in every cell, trial or time included.
        encoding: of a text file; None: UTF-8, or UTF-16 by its mark.
        separator: of a text file; None: found.
        sheet: of a workbook; None: the first.

    Returns:
        The ratings, with notes on what was recognised, dropped and answered twice.

    Raises:
        NotFound: no such file.
        BadTable: the file cannot be read or breaks the contract; holds all faults.
        UnknownName: `columns` names a column that is not there.
    """
    where = Path(path).name
    columns = dict(columns or {})
    _known(missing, copies)
    table = composed(open_table(path, encoding=encoding, separator=separator, sheet=sheet), columns)
    wide = [ours for ours in _WIDE if any(mark in columns.get(ours, "") for mark in "*?|")]
    wide = [ours for ours in wide if columns[ours] not in table.frame.columns]
    if len(wide) > 1:
        raise BadTable(f"{where}: {' and '.join(wide)} both name several columns; only one of them can", where=where)
    if wide:
        return _read_wide(table, wide[0], columns.pop(wide[0]), columns, missing, copies, where)
    names = table.frame.columns
    try:
        match = match_columns(names, RATINGS, columns, RATING_WORDS, where=where)
    except BadTable as error:
        hint = _if_wide(table, columns) if "no column for" in error.message else ""
        if not hint:
            raise
        raise BadTable(error.message + hint, where=error.where, faults=error.faults) from error
    return _finished(_body(table, match, RATINGS, missing, where), RATINGS, Ratings, match, where, copies)


def _read_wide(
    table: Table, ours: str, pattern: str, columns: Mapping[str, str], missing: Missing, copies: Copies, where: str
) -> Reading[Ratings]:
    """Columns that match the pattern hold the values; their names are the levels of `ours`."""
    names = table.frame.columns
    left = [name for name in names if name not in columns.values()]
    values = [] if pattern == "*" else [name for name in left if _matches(name, pattern)]
    asked = Schema(RATINGS.name, tuple(c for c in RATINGS.columns if c.name not in (ours, "value")))
    rest = [name for name in names if name not in values]
    needed = ["participant"] if ours == "item" else ["item"]
    match = match_columns(rest, asked, columns, RATING_WORDS, where=where, needed=needed)
    if pattern == "*":
        values = [name for name in left if name not in match.theirs.values()]
    if not values:
        raise UnknownName(f"{where}: no column is left that matches {ours}={pattern}", where=where)
    body = _body(table, match, asked, missing, where)
    cells = [clean_number(body.frame[name], name, table.separator, body.rows) for name in values]
    faults = [*body.faults, *(fault for cell in cells for fault in cell.faults)]
    answers = Schema("answers", tuple(Column(name=name, kind="number", doc="Values.") for name in values))
    frames: list[pl.DataFrame] = []
    for frame, schema in ((pl.DataFrame([cell.series for cell in cells]), answers), (body.frame.drop(values), asked)):
        try:
            frames.append(checked(frame, schema, where=where, called=body.called, rows=body.rows))
        except BadTable as bad:
            faults.extend(bad.faults)
    if faults:
        raise BadTable.of_faults(where, faults)
    frame = pl.concat([frames[1].drop("value", strict=False), frames[0].select(values)], how="horizontal")
    index = [name for name in frames[1].columns if name not in (ours, "value")]
    long = frame.unpivot(on=values, index=index, variable_name=ours, value_name="value")
    given = long.drop_nulls("value")
    notes = [f"the names of {len(values)} columns with values are read as {ours}"]
    if given.height < long.height:
        notes.append(f"empty cells, which count as not rated: {long.height - given.height}")
    notes += [note for cell in cells for note in cell.notes][:1]
    rows = pl.int_range(2, 2 + given.height, eager=True)
    return _finished(
        body._replace(frame=given, rows=rows, notes=[*body.notes, *notes]), RATINGS, Ratings, match, where, copies
    )


def _known(missing: str, copies: str) -> None:
    for name, word, words in (("missing", missing, get_args(Missing)), ("copies", copies, get_args(Copies))):
        if word not in words:
            raise BadConfig(f"{name} '{shown(word)}' is not one of {', '.join(words)}", where=name)


def _matches(name: str, pattern: str) -> bool:
    return any(fnmatch.fnmatchcase(name, part.strip()) for part in pattern.split("|"))


def _body(table: Table, match: Match, schema: Schema, missing: Missing, where: str) -> _Body:
    """The cells under our names: ids without blanks around them, decimal points, no words for missing."""
    frame, rows, notes = without_blank_rows(table)
    if not frame.height:
        raise BadTable(f"{where}: a header and no rows; nothing to read", where=where)
    notes = [*table.notes, *match.notes, *notes]
    faults: list[str] = []
    made: list[pl.Series] = []
    kinds = {column.name: column for column in schema.columns}
    for ours, theirs in match.theirs.items():
        faults.extend(table.doubts.get(theirs, ()))
        series, column = frame[theirs], kinds.get(ours)
        if column is not None and column.kind in ("id", "text") and series.dtype != pl.Null:
            series = checked(frame.select(theirs), _ids(theirs), where=where, rows=rows)[theirs]
            series = _stripped(series, theirs, notes)
            if column.choices:
                series = series.set(series.is_in(list(MISSING)).fill_null(False), None)
                series = series if ours in ("choice", "expected") else series.str.to_lowercase()
        elif column is not None:
            series, wrong, remarks = clean_number(series, theirs, table.separator, rows)
            faults.extend(wrong)
            notes.extend(remarks)
        made.append(series.alias(ours))
    used = set(match.theirs.values())
    shadowed = [name for name in frame.columns if name not in used and name in match.theirs]
    notes += [f"column '{name}' is left out: '{shown(match.theirs[name])}' was named for it" for name in shadowed]
    made += [frame[name] for name in frame.columns if name not in used and name not in match.theirs]
    frame = pl.DataFrame(made)
    if missing == "drop":
        required = [column.name for column in schema.columns if column.required and column.name in frame.columns]
        words = [pl.col(name).cast(pl.String).str.strip_chars().is_in(list(MISSING)) for name in required]
        gone = frame.select(pl.any_horizontal(pl.col(required).is_null(), *words)).to_series().fill_null(False)
        if gone.any():
            notes.append(f"dropped rows without {' or '.join(required)}: {int(gone.sum())}")
            frame, rows = frame.filter(~gone), rows.filter(~gone)
    return _Body(frame, rows, match.theirs, faults, notes)


def _ids(name: str) -> Schema:
    return Schema("ids", (Column(name=name, kind="id", doc="Ids."),))


def _stripped(series: pl.Series, name: str, notes: list[str]) -> pl.Series:
    if not series.unique().str.contains(r"^\s|\s$").any():
        return series
    around = series.str.contains(r"^\s|\s$").fill_null(False)
    notes.append(f"blanks around cells of column '{shown(name)}' taken off: {int(around.sum())}")
    return series.str.strip_chars()


def _finished(
    body: _Body, schema: Schema, noun: Callable[[pl.DataFrame], T], match: Match, where: str, copies: Copies
) -> Reading[T]:
    faults = list(body.faults)
    try:
        frame = checked(body.frame, schema, where=where, called=body.called, rows=body.rows)
    except BadTable as bad:
        raise BadTable.of_faults(where, list(dict.fromkeys([*faults, *bad.faults]))) from bad
    if faults:
        raise BadTable.of_faults(where, faults)
    frame, notes = settle(frame, keep_copies=copies == "keep")
    mapped = {ours: theirs for ours, theirs in match.theirs.items() if ours != theirs}
    return Reading(noun(frame), (*body.notes, *notes), mapped)


def _if_wide(table: Table, columns: Mapping[str, str]) -> str:
    """How to read the table if it is wide: several columns of numbers, of one stem, beside a column of ids."""
    names = [name for name in table.frame.columns if name not in columns.values()]
    stems: dict[str, list[str]] = {}
    for name in names:
        stem = name.rstrip("0123456789")
        if stem and stem != name:
            stems.setdefault(stem, []).append(name)
    alike = max(stems.values(), key=len, default=[])
    people = RATING_WORDS["participant"]
    known = {name.strip().lower() for name in names} & {"participant", *people}
    ours = "item" if ("participant" in columns or known) and "item" not in columns else "participant"
    if len(alike) > 1:
        stem = shown(alike[0].rstrip("0123456789"))
        return f"; if each of {shown(alike[0])} to {shown(alike[-1])} is one {ours}, say --map {ours}={stem}*"
    numeric = [name for name in names if _holds_numbers(table.frame[name])]
    if len(numeric) > 2 and len(numeric) + 1 >= len(names):
        return f"; if each of {shown(numeric[0])} to {shown(numeric[-1])} is one {ours}, say --map {ours}=*"
    return ""


def _holds_numbers(series: pl.Series) -> bool:
    held = series.drop_nulls().cast(pl.String)
    return len(held) > 0 and held.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).null_count() == 0
