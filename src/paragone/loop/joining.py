"""People's and machines' scores meet on item ids: the obvious difference is bridged with a remark, no other is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from ..errors import BadInput
from ..images import ENDINGS
from ..scores import Scores

__all__ = ["Joined", "joined"]


class Joined(NamedTuple):
    """Predictors whose ids are people's, and what was done for it."""

    machines: list[Scores]
    """Those that share an item with people, in the order in which they came."""
    remarks: list[str]
    """One line each: ids that were joined without their picture endings, predictors that were left out."""


def joined(human: Scores, machines: Sequence[Scores]) -> Joined:
    """Let the items of predictors meet those of people.

    A predictor that shares no id with people is joined without picture endings ('img0.png' is 'img0') where that joins
    some item and leaves each side's ids unique. Failing that it is left out, unless no other is left.

    Args:
        human: scores of people.
        machines: the predictors.

    Raises:
        BadInput: no predictor shares an item with people; shows two ids of each side. Or all that do speak of other
            criteria.
    """
    theirs, kept, remarks, strange = _ids(human), [], [], []
    for machine in machines:
        if not theirs or human.key != machine.key or theirs & _ids(machine):
            kept.append(machine)
            continue
        names = _bridge(theirs, _ids(machine)) if human.key == "item" else {}
        if names:
            kept.append(_renamed(machine, names))
            one = min(names)
            remarks.append(
                f"{machine.name}: {len(names)} items joined without picture endings, '{one}' with '{names[one]}' for one"
            )
        else:
            strange.append(machine)
    if not kept and strange:
        raise BadInput(
            f"{human.name} shares no item with {', '.join(made.name for made in strange[:4])}: {_shown(human)}; "
            f"{_shown(strange[0])}; write the same ids in the column {human.key} of both tables",
            where=strange[0].name,
        )
    remarks += [
        f"{made.name} shares no item with {human.name} and is left out: {_shown(human)}; {_shown(made)}"
        for made in strange
    ]
    _speak(human, kept)
    return Joined(kept, remarks)


def _speak(human: Scores, machines: Sequence[Scores]) -> None:
    """Refuse predictors that all have criteria, none of them people's."""
    asked = set(human.criteria)
    for machine in machines:
        if None in asked or None in machine.criteria or asked & set(machine.criteria):
            return
    if machines:
        raise BadInput(
            f"{human.name} was asked about {_listed(asked)}, and {machines[0].name} scores "
            f"{_listed(set(machines[0].criteria))}; name the criteria alike, or leave the machine's empty",
            where=machines[0].name,
        )


def _listed(names: set[str | None]) -> str:
    words = sorted(name for name in names if name is not None)
    return ", ".join(f"'{word}'" for word in words[:3]) + (", ..." if len(words) > 3 else "")


def _ids(scores: Scores) -> set[str]:
    return set(scores.frame[scores.key].drop_nulls())


def _shown(scores: Scores) -> str:
    ids = sorted(_ids(scores))
    return f"{scores.name} has {' and '.join(repr(one) for one in ids[:2]) or 'no ids'} ({len(ids)} in all)"


def _bridge(theirs: set[str], ours: set[str]) -> dict[str, str]:
    """Machine's id -> people's, where both are equal without picture endings; nothing where that is not one to one."""
    bare_theirs = {_bare(name): name for name in theirs}
    bare_ours = {_bare(name): name for name in ours}
    if len(bare_theirs) < len(theirs) or len(bare_ours) < len(ours):
        return {}
    return {bare_ours[stem]: bare_theirs[stem] for stem in bare_ours.keys() & bare_theirs.keys()}


def _bare(name: str) -> str:
    stem, dot, ending = name.rpartition(".")
    return stem if stem and dot and f".{ending.lower()}" in ENDINGS else name


def _renamed(machine: Scores, names: dict[str, str]) -> Scores:
    frame = machine.frame.with_columns(pl.col("item").replace(names))
    draws = machine.draws
    if draws is not None:
        draws = draws.rename({old: new for old, new in names.items() if old in draws.columns})
    return Scores(frame, name=machine.name, better=machine.better, made=machine.made, draws=draws)
