"""Who is kept: screening as a file, and answers without those whom it leaves out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import polars as pl

from ..errors import BadConfig, BadTable, TooFew
from ..judgements import Ratings, Votes
from ..screen import Screening
from ..tables import read_table, write_table

__all__ = [
    "Answers",
    "flat",
    "join_screenings",
    "kept_by",
    "not_screened",
    "only",
    "screening_beside",
    "those",
    "write_screening",
]

Answers: TypeAlias = Votes | Ratings | tuple[Votes, Ratings]


def only(answers: Votes | Ratings, screening: Screening) -> Votes | Ratings:
    """The answers of those who are kept."""
    return screening.apply(answers)


def those(answers: Answers, kept: set[str]) -> Answers:
    """The answers of those who are kept.

    Raises:
        TooFew: none of these answers comes from somebody who is kept.
    """
    among = pl.col("participant").is_in(sorted(kept))
    for table in answers if isinstance(answers, tuple) else (answers,):
        if table.frame.filter(among).height == 0:
            raise TooFew(
                "the screening keeps nobody who gave these answers; screen them again, or take everybody (--all)"
            )
    if isinstance(answers, tuple):
        return Votes(answers[0].frame.filter(among)), Ratings(answers[1].frame.filter(among))
    frame = answers.frame.filter(among)
    return Votes(frame) if isinstance(answers, Votes) else Ratings(frame)


def screening_beside(
    answers: Answers, screening: Path | None, *, folder: Path | None, done: str, say: Callable[[str], None]
) -> Path | None:
    """The screening that counts: the one that was named, or the one that lies in the folder; says which, and whom it lacks.

    Args:
        answers: what is left to those who are kept.
        screening: the table that was named; None: screening.csv of the folder.
        folder: where to look; None: nowhere, everybody counts.
        done: what is done with those who are kept, for the remark: 'scored'.
        say: takes each remark.

    Raises:
        NotFound, BadConfig: there is no such table, or it has no columns participant and kept.
    """
    if screening is None:
        if folder is None or not (folder / "screening.csv").is_file():
            return None
        screening = folder / "screening.csv"
        say(f"screening.csv: only the participants it keeps are {done} (--all for everybody)")
    strangers = not_screened(answers, screening)
    if strangers:
        who = "participant is" if len(strangers) == 1 else "participants are"
        say(f"{len(strangers)} {who} not in {screening} and left out, for example '{strangers[0]}'")
    return screening


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with lists of words joined by '; ', fit for CSV."""
    lists = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.List)]
    return frame.with_columns(pl.col(lists).list.join("; ")) if lists else frame


def write_screening(screening: Screening, path: Path) -> Path:
    """Write the table of participants; CSV joins several reasons by '; '."""
    return write_table(flat(screening.frame), path)


def join_screenings(screenings: Sequence[Screening], path: Path) -> Path:
    """Write the tables of participants of votes and of ratings as one; who stands in both has a row for each."""
    return write_table(pl.concat([flat(one.frame) for one in screenings], how="diagonal_relaxed"), path)


def kept_by(path: Path) -> set[str]:
    """Participants whom a written screening table keeps in every row that names them.

    Raises:
        BadConfig: the table has no columns participant and kept.
    """
    frame = _screened(path)
    kept = frame["kept"].cast(pl.String).str.to_lowercase() == "true"
    return set(frame.filter(kept)["participant"]) - set(frame.filter(~kept)["participant"])


def not_screened(answers: Answers, path: Path) -> list[str]:
    """Participants who answered and whom a written screening table does not name, sorted.

    Raises:
        BadConfig: the table has no columns participant and kept.
    """
    tables = answers if isinstance(answers, tuple) else (answers,)
    people = {person for table in tables for person in table.frame["participant"].drop_nulls()}
    return sorted(people - set(_screened(path)["participant"]))


def _screened(path: Path) -> pl.DataFrame:
    frame = read_table(path)
    if not {"participant", "kept"} <= set(frame.columns):
        raise BadConfig(
            f"{path.name}: needs the columns participant and kept, as `paragone screen -o` writes", where=str(path)
        )
    words = frame["kept"].cast(pl.String).str.to_lowercase()
    strange = frame.filter(~words.is_in(["true", "false"]).fill_null(False))
    if strange.height:
        raise BadTable(f"{path.name}: kept '{strange['kept'][0]}' is not true or false", where=str(path))
    return frame.with_columns(pl.col("participant").cast(pl.String))
