"""The world's words for our columns: which column of a foreign table is which of ours.

What the caller said wins, then a name that is ours, then one synonym. Two candidates for one column are refused and
both are named: a guess between 'worker' and 'user' could score the wrong people.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import BadTable, UnknownName
from ..tables import Schema, shown

__all__ = [
    "RATING_WORDS",
    "SCORE_WORDS",
    "SIDES",
    "VOTE_WORDS",
    "Match",
    "holds_votes",
    "match_columns",
    "winner_and_loser",
]


def _words(text: str) -> list[str]:
    return text.split()


_PEOPLE = _words("worker rater user subject observer annotator judge evaluator assessor voter reviewer person")
_PICTURE = _words("image stimulus file picture asset")
_ASKED = {
    "participant": [*_PEOPLE, "participant_id", *(f"{word}_id" for word in _PEOPLE)],
    "session": ["session_id", "sitting"],
    "trial": ["trial_id", "trial_number", "trial_index"],
    "criterion": ["dimension", "aspect", "criteria"],
    "seconds": ["response_time_s", "rt_s", "duration_s", "response_seconds", "time_s", "seconds_taken"],
}  # 'rt' and 'response_time' are not here: they do not say their unit
_ITEM = [*_PICTURE, "clip", "video", "pvs", "filename", "file_name", "item_id", "item_name", "image_key"]
_ITEM += [f"{word}_{end}" for word in _PICTURE for end in ("id", "name") if word != "file"]
_CHOICE = _words("winner preference preferred answer vote selected selection result judgement judgment chosen")
_STEMS = _words("item model image method option stimulus condition system candidate file img picture response video")

RATING_WORDS: Mapping[str, Sequence[str]] = {
    **_ASKED,
    "item": _ITEM,
    "value": ["rating", "score", "mos", "opinion", "opinion_score", "grade"],
}
VOTE_WORDS: Mapping[str, Sequence[str]] = {**_ASKED, "choice": _CHOICE}
SCORE_WORDS: Mapping[str, Sequence[str]] = {"item": _ITEM, "criterion": _ASKED["criterion"]}

SIDES: tuple[tuple[str, str], ...] = (
    ("a", "b"),
    *((f"{stem}_a", f"{stem}_b") for stem in _STEMS),
    *((f"{stem}_1", f"{stem}_2") for stem in _STEMS),
    *((f"{stem}1", f"{stem}2") for stem in _STEMS),
    *((f"left_{stem}", f"right_{stem}") for stem in _STEMS),
    *((f"{stem}_left", f"{stem}_right") for stem in _STEMS),
    ("left_id", "right_id"),
    ("first", "second"),
)
"""Names that the two sides of a pair go by, in our spelling."""

_WINNERS = (
    ("winner", "loser"),
    ("winner_id", "loser_id"),
    *((f"winner_{stem}", f"loser_{stem}") for stem in _STEMS),
    *((f"winning_{stem}", f"losing_{stem}") for stem in _STEMS),
    ("chosen", "rejected"),
)


@dataclass(frozen=True)
class Match:
    """Which column of the file is which of ours."""

    theirs: Mapping[str, str]
    """ours -> the name in the file."""
    notes: tuple[str, ...]


def match_columns(
    names: Sequence[str],
    schema: Schema,
    columns: Mapping[str, str],
    words: Mapping[str, Sequence[str]],
    *,
    where: str,
    needed: Sequence[str] | None = None,
) -> Match:
    """Find our columns among the names of a file.

    Args:
        names: columns of the file.
        schema: our contract.
        columns: what the caller said, ours -> theirs; further names of ours are kept as further columns.
        words: synonyms by our name, in lower case with underscores.
        where: file name for messages.
        needed: columns that must be found; None: the required ones of the schema.

    Raises:
        UnknownName: `columns` names a column that the file does not have, or nearly one of ours.
        BadTable: two columns could be the same one of ours, or a needed one is not there.
    """
    theirs: dict[str, str] = {}
    notes: list[str] = []
    for ours, name in columns.items():
        if ours not in schema.names:
            meant = [known for known, synonyms in words.items() if _plain(ours) in synonyms and known not in columns]
            if meant:
                raise UnknownName(
                    f"'{shown(ours)}' is our {meant[0]}; write {meant[0]}={shown(name)}", where=shown(ours)
                )
            near = difflib.get_close_matches(ours, schema.names, n=1, cutoff=0.75)
            if near or not ours.strip():
                raise UnknownName.among(ours, schema.names, "column of ours")
        if name not in names:
            raise UnknownName.among(name, names, f"column in {where}")
        theirs[ours] = name
    if "left" in theirs and theirs.get("left") == theirs.get("right"):
        raise BadTable(f"{where}: left and right are both mapped to '{shown(theirs['left'])}'", where=where)
    open_names = [name for name in names if name not in theirs.values()]
    faults: list[str] = []
    for ours in schema.names:
        if ours in theirs:
            continue
        if ours in open_names:
            theirs[ours] = ours
            continue
        likely = [name for name in open_names if _plain(name) == ours or _plain(name) in words.get(ours, ())]
        likely = [name for name in likely if name not in schema.names]
        if len(likely) == 1:
            theirs[ours] = likely[0]
            notes.append(f"column '{shown(likely[0])}' is read as {ours}")
        elif likely:
            both = " or ".join(f"'{shown(name)}'" for name in likely)
            faults.append(f"{both} could be the {ours}; say which, for example {ours}={shown(likely[0])}")
    if "left" in schema.names and not {"left", "right"} <= set(theirs):
        faults += _match_sides(open_names, theirs, notes)
    required = needed if needed is not None else [column.name for column in schema.columns if column.required]
    missing = [ours for ours in required if ours not in theirs]
    if missing and not faults:
        there = ", ".join(shown(name) for name in names[:12]) + (", ..." if len(names) > 12 else "")
        say = ",".join(f"{ours}=THEIRS" for ours in missing)
        faults.append(f"no column for {' and '.join(missing)} (there is {there}); map {say}")
    if faults:
        raise BadTable.of_faults(where, faults)
    return Match(theirs, tuple(notes))


def holds_votes(names: Iterable[str], columns: Mapping[str, str] | None = None) -> bool:
    """Whether a table holds answers to pairs: the map says so, or two of its columns are named as sides are.

    Columns for winner and loser are sides too.

    Args:
        names: columns of the file.
        columns: our column -> the file's, as the caller said.
    """
    if {"left", "right", "choice"} & set(columns or {}):
        return True
    if {"item", "value"} & set(columns or {}):
        return False
    names = list(names)
    if winner_and_loser(names, columns) is not None:
        return True
    plain = {_plain(name) for name in names}
    third = {b: f"{b[:-1]}3" for _, b in SIDES if b.endswith("2")}  # img1, img2, img3: a wide table, not a pair
    return any(a in plain and b in plain and third.get(b) not in plain for a, b in (("left", "right"), *SIDES))


def winner_and_loser(names: Sequence[str], columns: Mapping[str, str] | None = None) -> tuple[str, str] | None:
    """The columns of a file that hold who won and who lost, where it has no sides of its own; else None.

    Args:
        names: columns of the file.
        columns: our column -> the file's, as the caller said; `winner=...,loser=...` names these two.
    """
    columns = columns or {}
    if {"winner", "loser"} <= set(columns):
        return columns["winner"], columns["loser"]
    plain = {_plain(name): name for name in reversed(names)}
    sided = any(a in plain and b in plain for a, b in (("left", "right"), *SIDES))
    if sided or {"left", "right", "choice", "item", "value"} & set(columns):
        return None
    found = [(plain[won], plain[lost]) for won, lost in _WINNERS if won in plain and lost in plain]
    return found[0] if len(found) == 1 else None


def _match_sides(open_names: Sequence[str], theirs: dict[str, str], notes: list[str]) -> list[str]:
    plain = {_plain(name): name for name in reversed(open_names)}
    pairs = [(plain[a], plain[b]) for a, b in SIDES if a in plain and b in plain]
    if len(pairs) > 1:
        both = " or ".join(f"'{shown(a)}' and '{shown(b)}'" for a, b in pairs)
        first = f"left={shown(pairs[0][0])},right={shown(pairs[0][1])}"
        return [f"{both} could be left and right; say which, for example {first}"]
    if pairs and "left" not in theirs and "right" not in theirs:
        theirs["left"], theirs["right"] = pairs[0]
        notes.append(f"columns '{shown(pairs[0][0])}' and '{shown(pairs[0][1])}' are read as left and right")
    return []


def _plain(name: str) -> str:
    return re.sub(r"[\s\-.]+", "_", name.strip().lower())
