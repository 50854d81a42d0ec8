"""Any table of votes, ratings or scores, through the same door as the named layouts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from ..errors import BadConfig
from ..tables import column_names
from .bare import Copies, Missing, read_ratings, read_votes
from .bare_scores import read_scores
from .records import Imported, Source
from .words import holds_votes

__all__ = ["SOURCE"]

Kind = Literal["votes", "ratings", "scores"]


def _read(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    kind: Kind | None = None,
    choices: Mapping[str, str] | str | None = None,
    missing: Missing = "refuse",
    copies: Copies = "drop",
    encoding: str | None = None,
    separator: str | None = None,
    sheet: str | None = None,
) -> Imported:
    """Votes where the table has two sides, else ratings, unless `kind` says what it is.

    Args:
        path: a CSV, TSV, Parquet or XLSX file.
        columns: our column -> the file's; see `read_votes`, `read_ratings` and `read_scores`.
        kind: votes, ratings or scores; None: votes where two columns are sides of a pair, else ratings.
        choices: votes only: the file's word -> left, right or tie, as a mapping or as '1=left;0=right'.
        missing: what to do with a row that lacks a needed cell: 'refuse' the file, or 'drop' the row and say so.
        copies: what to do with a row that repeats another in every cell, trial or time included.
        encoding: of a text file; None: UTF-8, or UTF-16 by its mark.
        separator: of a text file; None: found.
        sheet: of a workbook; None: the first.

    Raises:
        BadConfig: no such kind, or `choices` for a table that holds no votes.
    """
    if kind not in (None, "votes", "ratings", "scores"):
        raise BadConfig(f"kind '{kind}' is not one of votes, ratings, scores", where="kind")
    columns = columns or {}
    if kind is None:
        names = column_names(path, encoding=encoding, separator=separator, sheet=sheet)
        kind = "votes" if holds_votes(names, columns) else "ratings"
    if choices is not None and kind != "votes":
        raise BadConfig(f"choices say how votes are written, and this table holds {kind}", where="choices")
    if isinstance(choices, str):
        pairs = [piece.partition("=") for piece in re.split("[,;]", choices)]
        choices = {word.strip(): ours.strip() for word, _, ours in pairs}
    if kind == "votes":
        votes = read_votes(
            path,
            columns,
            choices=choices,
            missing=missing,
            copies=copies,
            encoding=encoding,
            separator=separator,
            sheet=sheet,
        )
        return Imported(votes=votes.noun, notes=votes.notes)
    if kind == "ratings":
        ratings = read_ratings(
            path, columns, missing=missing, copies=copies, encoding=encoding, separator=separator, sheet=sheet
        )
        return Imported(ratings=ratings.noun, notes=ratings.notes)
    scores = read_scores(path, columns, encoding=encoding, separator=separator, sheet=sheet)
    return Imported(scores=scores.noun, notes=scores.notes)


def _fits(_path: Path) -> bool:
    return False  # what every table may be is no sign of a layout


SOURCE = Source(
    name="table",
    summary="Any long or wide table of votes, ratings or scores, by a map of its columns",
    gives=("votes", "ratings", "scores"),
    licence="as the file's owner says",
    citation="the file itself",
    read=_read,
    fits=_fits,
)
