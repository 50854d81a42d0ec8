"""Which of some tables of scores are compared with people: a glob names tables too that cannot be, and they are told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import BadInput
from ..scores import Scores
from ..sources.bare_scores import read_scores
from .reading import named

__all__ = ["Predictors", "predictors_in", "scores_at"]


class Predictors(NamedTuple):
    """What is compared with people, and what is not."""

    scores: list[Scores]
    """In the order in which their files were named; each has a name of its own."""
    files: list[Path]
    """The files that they come from."""
    remarks: list[str]
    """One line for each file that is left out, with the reason."""


def scores_at(path: Path) -> tuple[Scores, ...]:
    """Every score column of a file.

    Raises:
        NotFound, BadTable: it is not there, or no table of scores.
    """
    with named(path):
        return tuple(read_scores(path).noun)


def predictors_in(people: Scores, human: Path, files: Sequence[Path]) -> Predictors:
    """Read the tables of machines; leave out people's own, tables of another key, and the truth of a simulation.

    Args:
        people: scores of people.
        human: the file that holds them.
        files: tables of machines, as named on the command line or by a glob.

    Raises:
        NotFound, BadTable: a file is not there, or no table of scores.
        BadInput: no table is left, or two predictors have one name.
    """
    found: list[tuple[Path, Scores]] = []
    remarks: list[str] = []
    truth: list[tuple[Path, Scores]] = []
    for file in files:
        if file.exists() and file.samefile(human):
            remarks.append(f"{file} holds the scores of people themselves and is left out of the predictors")
            continue
        for made in scores_at(file):
            if _of(made) != _of(people):
                remarks.append(f"{file} scores {_of(made)}, {human} {_of(people)}; it is left out")
            else:
                (truth if made.made.get("verb") == "simulate" else found).append((file, made))
    if found or remarks:
        remarks += [
            f"{file} holds what was true in a simulation and is left out; to compare it, name it alone"
            for file, _ in truth
        ]
    else:
        found = truth
    if not found:
        raise BadInput(f"nothing is left to compare with people: {'; '.join(dict.fromkeys(remarks))}", where=str(human))
    _refuse_clash(found)
    return Predictors([made for _, made in found], list(dict.fromkeys(file for file, _ in found)), remarks)


def _of(scores: Scores) -> str:
    """What is scored: items, or the levels of a factor."""
    if scores.key == "item":
        return "items"
    factors = [str(factor) for factor in scores.frame["of"].drop_nulls().unique(maintain_order=True)]
    return f"levels of {factors[0] if factors else 'a factor'}"


def _refuse_clash(found: Sequence[tuple[Path, Scores]]) -> None:
    seen: dict[str, Path] = {}
    for file, made in found:
        if made.name in seen:
            raise BadInput(
                f"two predictors are called '{made.name}', in {seen[made.name]} and in {file}; leave one out, or give "
                "each a name of its own (name in the .toml beside the table, else the file's or the column's name)",
                where=str(file),
            )
        seen[made.name] = file
