"""Who submitted how much, and how much of it the scores use: counted once, told wherever a reader meets a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from ..scores import Scores
from ..screen import Screening
from .digits import count, fixed, joined
from .index import Index
from .words import criterion_words

__all__ = ["Screened", "Used", "answer_words", "headline", "listed", "reconciled", "screened", "used"]


class Screened(NamedTuple):
    """Counts of a screening."""

    submitted: int
    retained: int
    by_rule: Mapping[str, int]
    """Rule -> participants who broke it; one who broke two rules counts under both."""

    @property
    def rejected(self) -> int:
        """Participants who are not kept."""
        return self.submitted - self.retained


class Used(NamedTuple):
    """What the scores rest on, by their own notes; None: not recorded."""

    participants: int | None
    answers: int | None


def screened(screening: Screening | pl.DataFrame | None) -> Screened | None:
    """Count a screening; None where nobody was screened."""
    if screening is None:
        return None
    if isinstance(screening, Screening):
        return Screened(screening.submitted, screening.retained, screening.rejected_by)
    out = screening.filter(~pl.col("kept"))
    column = "broken" if "broken" in out.columns else "reasons"
    rules = [rule for row in (out[column] if column in out.columns else []) for rule in dict.fromkeys(_rules(row))]
    by_rule = {rule: rules.count(rule) for rule in sorted(set(rules), key=lambda rule: (-rules.count(rule), rule))}
    return Screened(screening.height, int(screening["kept"].sum()), by_rule)


def listed(cell: object) -> list[str]:
    """The entries of a cell that holds a list, or text parted by ';'."""
    if cell is None:
        return []
    entries = cell.split(";") if isinstance(cell, str) else list(cell)  # type: ignore[call-overload]
    return [str(entry).strip() for entry in entries if entry is not None and str(entry).strip()]


def _rules(cell: object) -> list[str]:
    """A reason begins with the name of its rule and a colon."""
    return [entry.partition(":")[0].strip() for entry in listed(cell)]


def used(human: Scores | None) -> Used:
    """Participants and answers that the scores rest on.

    Participants are known only where every criterion rests on equally many: criteria with different people may rest on
    more people together than any one of them does.
    """
    if human is None:
        return Used(None, None)
    notes = [note for note in dict(human.made.get("notes", {})).values() if isinstance(note, Mapping)]
    answers = [_whole(note.get("answers")) for note in notes]
    people = {_whole(note.get("participants")) for note in notes}
    total = sum(n for n in answers if n is not None) if answers and None not in answers else None
    return Used(people.pop() if len(people) == 1 else None, total)


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) and float(value).is_integer() else None


def answer_words(index: Index) -> tuple[str, str]:
    """One and several of what people gave: vote, rating, or answer where there are both."""
    kind = index.material.answers.kind if index.material.answers is not None else ""
    word = {"votes": "vote", "ratings": "rating"}.get(kind, "answer")
    return word, f"{word}s"


def _people_words(index: Index) -> tuple[str, str]:
    return ("simulated participant", "simulated participants") if index.material.made_up else ("person", "people")


def headline(index: Index) -> str:
    """Who gave what, of those whom the scores use: 'n people gave m votes on pairs of k pictures on 3 criteria: ...'.

    Where the scores do not say what they use, these are all answers that were submitted, and `reconciled` says so.
    """
    answers = index.material.answers
    if answers is None:
        raise AssertionError("a headline counts answers")
    known = used(index.material.human)
    n = answers.n if known.answers is None else known.answers
    whole = known.answers is None or known.answers == answers.n
    participants = answers.participants if whole and known.participants is None else known.participants
    one, several = _people_words(index)
    people = f"An unknown number of {several}" if participants is None else count(participants, one, several)
    asked = [criterion_words(name) for name in index.criteria(answers.per_criterion["criterion"].drop_nulls())]
    on = f" on {count(len(asked), 'criterion', 'criteria')}: {joined(asked)}" if asked else ""
    word, plural = answer_words(index)
    pairs = " on pairs" if answers.kind == "votes" else ""
    return f"{people} gave {count(n, word, plural + pairs)} of {index.things(answers.items)}{on}."


def reconciled(index: Index) -> str:
    """How the answers that were submitted become those that the scores use, in sentences; empty where nothing is apart.

    The counts add up: submitted, less checks, less those of rejected participants, gives what the scores use. What the
    records do not say is said to be unknown.
    """
    answers, found = index.material.answers, screened(index.material.screening)
    if answers is None:
        return ""
    known, (word, plural) = used(index.material.human), answer_words(index)
    rejected = found.rejected if found else 0
    if not answers.aside and not rejected and known.answers in (None, answers.n):
        return ""
    who = "Participants" if answers.participants is None else count(answers.participants, "participant")
    said = [f"{who} submitted {count(answers.n + answers.aside, word, plural)} in all"]
    if answers.aside:
        said[0] += f", {fixed(answers.aside, 0)} of them to checks, in training or to settle in, which scores never use"
    if known.answers is None:
        if rejected:
            said.append(f"Screening rejected {count(rejected, 'participant')}")
            said.append(f"Whether the scores use their {plural} is not recorded")
    elif known.answers == answers.n:
        if rejected:
            said.append(f"Screening rejected {count(rejected, 'participant')}, but these scores use their {plural} too")
    elif known.answers > answers.n:
        said.append(f"The scores say that they use {count(known.answers, word, plural)}, so they were made from others")
    else:
        said += _left_out(answers.n - known.answers, rejected, index)
        said.append(f"The scores use the other {count(known.answers, word, plural)}")
    return ". ".join(said) + "."


def _left_out(n: int, rejected: int, index: Index) -> list[str]:
    """Whose answers were left out: those of rejected participants first, the rest without a claim."""
    (word, plural), table, answers = answer_words(index), index.material.screening_table, index.material.answers
    theirs = 0
    if table is not None and answers is not None:
        theirs = sum(answers.each.get(person, 0) for person in table.filter(~pl.col("kept"))["participant"].unique())
    if not 0 < theirs <= n:
        return [f"{count(n, word, plural)} were left out when the scores were made"]
    whom = "the participant" if rejected == 1 else f"the {count(rejected, 'participant')}"
    said = [f"{count(theirs, word, plural)} came from {whom} whom screening rejected"]
    more = f"{count(n - theirs, 'other was', 'others were')} left out when the scores were made"
    return said if theirs == n else [*said, more]
