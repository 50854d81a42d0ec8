"""How a file writes the answer to a pair: left/right/tie, a/b, 1/2/0, the two column names, or the winner's id.

One convention a file, found from all its answers. What fits none, mixes two, or can be read in two ways is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from ..tables import shown

__all__ = ["Choices", "read_choices"]

_TIE = ["tie", "ties", "tied", "draw", "equal", "same", "both", "neither", "no preference", "no_preference", "="]
_BOTH = ["tie (bothbad)", "tie_bothbad", "bothbad", "both bad", "both_bad", "both good", "both_good"]
TIES = frozenset([*_TIE, *_BOTH])
_ITEMS = "the id of the winner"


@dataclass(frozen=True)
class Choices:
    """The answers in our words, or why they could not be read."""

    choice: pl.Series
    """left, right, tie, or null where the cell was empty or could not be read."""
    expected: pl.Series | None
    """The same for the right answers of checks."""
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_choices(
    frame: pl.DataFrame,
    *,
    headers: tuple[str, str],
    given: Mapping[str, str] | None = None,
    name: str = "choice",
    rows: pl.Series | None = None,
) -> Choices:
    """Read the answers of a file in whichever one convention it uses.

    Args:
        frame: String columns left, right, choice and perhaps expected.
        headers: what the file calls the columns left and right.
        given: the file's words -> left, right or tie, where the caller knows; nothing is then detected.
        name: what the file calls the column choice.
        rows: number of each row in the file; None: counted from 2.
    """
    answers = _cleaned(frame["choice"])
    words = set(answers.unique().drop_nulls().to_list())
    tables = {"the words given": _lower(given)} if given is not None else _conventions(headers)
    fitting = {label: table for label, table in tables.items() if words <= set(table)}
    by_item = given is None and bool(_names_an_item(frame).all())
    readings = {label: _translated(answers, table) for label, table in fitting.items()}
    if by_item:
        readings[_ITEMS] = _winner(frame, answers)
    nothing = pl.Series("choice", [None], dtype=pl.String).new_from_index(0, frame.height)
    if not readings:
        return Choices(nothing, None, faults=tuple(_unreadable(frame, answers, tables, given, name, rows)))
    labels = list(readings)
    for label in labels[1:]:
        if not readings[label].equals(readings[labels[0]], null_equal=True):
            differ = int((readings[label].ne_missing(readings[labels[0]])).arg_true()[0])
            return Choices(
                nothing,
                None,
                faults=(
                    f"row {_row(differ, rows)}: {name} '{shown(frame['choice'][differ])}' could be "
                    f"{labels[0]} or {label}; say which words mean left, right and tie",
                ),
            )
    label = labels[0]
    numbers = words - TIES
    if labels == ["1/2/0"] and numbers and "2" not in numbers:
        seen = " and ".join(sorted(numbers))
        return Choices(
            nothing,
            None,
            faults=(f"{name} holds only {seen}: 1 could mean left or right and 0 right or tie; say what they mean",),
        )
    choice = readings[label]
    faults = []
    both = ((frame["left"] == frame["right"]) & choice.is_not_null() & (choice == "both sides")).fill_null(False)
    if both.any():
        faults.append(f"row {_row(int(both.arg_true()[0]), rows)}: {name} names an item that stands on both sides")
    if label == _ITEMS:
        called_tie = frame["left"].is_in(list(TIES)) | frame["right"].is_in(list(TIES))
        if called_tie.fill_null(False).any():
            place = int(called_tie.arg_true()[0])
            faults.append(f"row {_row(place, rows)}: an item has the name of a tie; say what the words of {name} mean")
    expected = _expected(frame, fitting.get(label))
    return Choices(choice, expected, tuple(faults), tuple(_remarks(answers, words, label)))


def _conventions(headers: tuple[str, str]) -> dict[str, dict[str, str]]:
    ties = dict.fromkeys(TIES, "tie")
    tables = {
        "left/right/tie": {"left": "left", "right": "right", **ties},
        "a/b": {"a": "left", "b": "right", **ties},
        "1/2/0": {"1": "left", "2": "right", "0": "tie", **ties},
    }
    left, right = (header.strip().lower() for header in headers)
    if (left, right) not in (("left", "right"), ("a", "b")):
        tables[f"the column names {shown(headers[0])}/{shown(headers[1])}"] = {left: "left", right: "right", **ties}
    return tables


def _lower(given: Mapping[str, str]) -> dict[str, str]:
    return {str(word).strip().lower(): ours for word, ours in given.items()}


def _cleaned(series: pl.Series) -> pl.Series:
    levels = series.unique().drop_nulls()
    clean = levels.str.strip_chars().str.to_lowercase().str.replace(r"^(\d+)\.0+$", "${1}")
    return series.replace_strict(levels, clean, default=None, return_dtype=pl.String)


def _translated(answers: pl.Series, table: Mapping[str, str]) -> pl.Series:
    return answers.replace_strict(dict(table), default=None, return_dtype=pl.String).alias("choice")


def _is_tie(answers: pl.Series) -> pl.Series:
    return answers.is_in(list(TIES)).fill_null(False)


def _names_an_item(frame: pl.DataFrame, column: str = "choice") -> pl.Series:
    cell = frame[column]
    one = ((cell == frame["left"]) | (cell == frame["right"])).fill_null(False)
    return one | cell.is_null() if one.all() else one | _is_tie(_cleaned(cell)) | cell.is_null()


def _winner(frame: pl.DataFrame, answers: pl.Series, column: str = "choice") -> pl.Series:
    cell = pl.col(column)
    made = frame.with_columns(_is_tie(answers).alias("\0tie")).select(
        pl.when(pl.col("\0tie"))
        .then(pl.lit("tie"))
        .when((cell == pl.col("left")) & (cell == pl.col("right")))
        .then(pl.lit("both sides"))
        .when(cell == pl.col("left"))
        .then(pl.lit("left"))
        .when(cell == pl.col("right"))
        .then(pl.lit("right"))
        .alias("choice")
    )
    return made.to_series()


def _expected(frame: pl.DataFrame, table: Mapping[str, str] | None) -> pl.Series | None:
    if "expected" not in frame.columns:
        return None
    answers = _cleaned(frame["expected"])
    made = _winner(frame, answers, "expected") if table is None else _translated(answers, table)
    # What cannot be translated stays as it is, so that the check of the table names its row.
    return pl.DataFrame({"made": made, "raw": frame["expected"]}).select(pl.coalesce("made", "raw").alias("expected"))[
        "expected"
    ]


def _remarks(answers: pl.Series, words: set[str], label: str) -> list[str]:
    notes = [] if label == "left/right/tie" else [f"answers are read as {label}"]
    for word in sorted(words & (TIES - {"tie", "ties", "tied"})):
        notes.append(f"answers '{word}' read as tie: {int((answers == word).sum())}")
    return notes


def _unreadable(
    frame: pl.DataFrame,
    answers: pl.Series,
    tables: Mapping[str, Mapping[str, str]],
    given: Mapping[str, str] | None,
    name: str,
    rows: pl.Series | None,
) -> list[str]:
    """Why no convention fits: the rows that leave the one which most rows use."""
    held = answers.is_not_null()
    decided = ~_is_tie(answers)
    covers = {label: answers.is_in(list(table)).fill_null(False) for label, table in tables.items()}
    if given is None:
        covers[_ITEMS] = _names_an_item(frame)
    count = {label: int((cover & held & decided).sum()) for label, cover in covers.items()}
    label = max(count, key=lambda key: count[key])
    if count[label]:
        wrong = (held & ~covers[label]).arg_true()
        why = f"is not {label} as in {count[label]} other rows; one convention a file"
    else:
        wrong = (held & decided).arg_true()
        why = f"is none of {', '.join(tables)}" + ("" if given is not None else f", or {_ITEMS}")
    faults = [f"row {_row(int(k), rows)}: {name} '{shown(frame['choice'][int(k)])}' {why}" for k in wrong.head(3)]
    if len(wrong) > 3:
        faults.append(f"{len(wrong) - 3} more rows where {name} {why}")
    return faults


def _row(place: int, rows: pl.Series | None) -> int:
    return int(rows[place]) if rows is not None else place + 2
