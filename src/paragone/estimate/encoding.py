"""Names become indices here: one criterion of a table turns into the arrays that a model receives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from ..errors import TooFew, UnknownName
from ..tables import encode
from .arrays import Comparisons, Floats, Ints, Opinions

__all__ = ["Coded", "code_ratings", "code_votes"]


@dataclass(frozen=True)
class Coded:
    """The arrays of one criterion and the names behind their indices."""

    items: list[str]
    """Item (or level) ids; index i of the arrays is items[i]."""
    participants: list[str]
    """Participant ids; index p of the arrays is participants[p]."""
    counts: Floats
    """(n,) answers in which each item was shown."""
    people: Floats
    """(n,) different participants behind those answers."""
    comparisons: Comparisons | None = None
    opinions: Opinions | None = None
    people_known: bool = True
    """False where the table names no participant and every answer counts as its own person."""
    notes: Mapping[str, object] | None = None


def code_votes(
    frame: pl.DataFrame,
    *,
    levels: pl.DataFrame | None = None,
    temperature: Mapping[str, float],
    reliability: Mapping[str, float],
    items: list[str] | None = None,
    participants: list[str] | None = None,
) -> Coded:
    """Turn votes of one criterion into Comparisons.

    Args:
        frame: rows of a Votes frame.
        levels: columns item, level: score these levels instead of the items.
        temperature: stage -> noise relative to the others, > 0; stages that are not named have 1.
        reliability: participant -> weight, >= 0, relative to the most reliable one; who is not named has 1.
        items: every item that must have an index, or None for those shown.
        participants: every participant that must have an index, or None for those in the frame.

    Raises:
        TooFew: no votes are left.
        UnknownName: temperature or reliability name a stage or participant that the votes do not have.
    """
    notes: dict[str, object] = {}
    if levels is not None:
        frame, notes = _to_levels(frame, levels)
    if frame.height == 0:
        raise TooFew("no votes are left to score; check kind, criterion and the factor")
    sides = [frame["left"], frame["right"]]
    extra = [pl.Series("item", items, dtype=pl.String)] if items is not None else []
    names, codes = encode([*sides, *extra])
    left, right = (series.to_numpy().astype(np.int64) for series in codes[:2])
    people, participant, known = _people(frame, participants)
    stages, stage = _stages(frame)
    _named(temperature, stages, "stage")
    _named(reliability, people, "participant")
    outcome = (
        frame["choice"].replace_strict({"left": 1.0, "right": 0.0, "tie": 0.5}, return_dtype=pl.Float64).to_numpy()
    )
    heat = np.array([temperature.get(name, 1.0) for name in stages])
    trust = _trust(reliability, people)
    comparisons = Comparisons(
        n=len(names),
        left=left,
        right=right,
        outcome=outcome,
        participant=participant,
        stage=stage,
        weight=trust[participant],
        temperature=heat[stage],
    )
    counts = np.bincount(left, minlength=len(names)) + np.bincount(right, minlength=len(names))
    judges = _judges(np.concatenate([left, right]), np.concatenate([participant, participant]), len(names))
    counted = counts.astype(np.float64)
    return Coded(names, people, counted, judges, comparisons=comparisons, people_known=known, notes=notes)


def code_ratings(
    frame: pl.DataFrame,
    *,
    levels: pl.DataFrame | None = None,
    reliability: Mapping[str, float],
    items: list[str] | None = None,
    participants: list[str] | None = None,
) -> Coded:
    """Turn ratings of one criterion into Opinions; arguments as in `code_votes`.

    A column `reference` names each item's hidden reference and a column `content` its content, where they are there.

    Raises:
        TooFew: no ratings are left.
        UnknownName: reliability names a participant that the ratings do not have.
    """
    notes: dict[str, object] = {}
    if levels is not None:
        before = frame.height
        frame = frame.join(levels.select("item", "level"), on="item", how="inner").with_columns(item=pl.col("level"))
        notes = {"without_level": before - frame.height}
    if frame.height == 0:
        raise TooFew("no ratings are left to score; check kind, criterion and the factor")
    extra = [pl.Series("item", items, dtype=pl.String)] if items is not None else []
    names, codes = encode([frame["item"], *extra])
    item = codes[0].to_numpy().astype(np.int64)
    people, participant, known = _people(frame, participants)
    _named(reliability, people, "participant")
    trust = _trust(reliability, people)
    session = encode(frame["session"].fill_null(""))[1][0].to_numpy().astype(np.int64)
    opinions = Opinions(
        n=len(names),
        p=len(people),
        item=item,
        participant=participant,
        session=session,
        value=frame["value"].to_numpy().astype(np.float64),
        weight=trust[participant],
        reference=_attached(frame, "reference", names, item, levels is None),
        content=_contents(frame, len(names), item, levels is None),
    )
    counts = np.bincount(item, minlength=len(names)).astype(np.float64)
    judges = _judges(item, participant, len(names))
    return Coded(names, people, counts, judges, opinions=opinions, people_known=known, notes=notes)


def _to_levels(frame: pl.DataFrame, levels: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, object]]:
    before = frame.height
    for side in ("left", "right"):
        mapped = levels.select(pl.col("item").alias(side), pl.col("level").alias(f"{side}_level"))
        frame = frame.join(mapped, on=side, how="inner")
    matched = frame.height
    frame = frame.filter(pl.col("left_level") != pl.col("right_level"))
    notes: dict[str, object] = {"without_level": before - matched, "same_level": matched - frame.height}
    return frame.with_columns(left=pl.col("left_level"), right=pl.col("right_level")), notes


def _people(frame: pl.DataFrame, participants: list[str] | None) -> tuple[list[str], Ints, bool]:
    """Names and indices of participants; where a table names nobody, every answer is its own person."""
    column = frame["participant"]
    if column.null_count() == frame.height:
        return [f"answer {row + 1}" for row in range(frame.height)], np.arange(frame.height), False
    extra = [pl.Series("participant", participants, dtype=pl.String)] if participants is not None else []
    names, codes = encode([column.fill_null("(unknown)"), *extra])
    return names, codes[0].to_numpy().astype(np.int64), True


def _judges(item: Ints, participant: Ints, n: int) -> Floats:
    """(n,) different participants who judged each item."""
    pairs = np.unique(item * (int(participant.max(initial=0)) + 1) + participant)
    return np.bincount(pairs // (int(participant.max(initial=0)) + 1), minlength=n).astype(np.float64)


def _trust(reliability: Mapping[str, float], people: list[str]) -> Floats:
    """(p,) weights in [0, 1]: the most reliable participant counts once, so that equal weights are no evidence.

    Raises:
        TooFew: every weight is 0.
    """
    given = np.array([reliability.get(name, 1.0) for name in people])
    most = float(given.max(initial=0.0))
    if most == 0:
        raise TooFew("every participant has reliability 0, so nothing is left to score")
    return np.asarray(given / most)


def _stages(frame: pl.DataFrame) -> tuple[list[str], Ints]:
    names, codes = encode(frame["stage"].fill_null(""))
    return names, codes[0].to_numpy().astype(np.int64)


def _named(given: Mapping[str, float], known: list[str], what: str) -> None:
    for name in given:
        if name not in known:
            raise UnknownName.among(name, known, what)


def _attached(frame: pl.DataFrame, column: str, names: list[str], item: Ints, wanted: bool) -> Ints:
    """(n,) index of the item that `column` names for each item, -1 for none."""
    made = np.full(len(names), -1, dtype=np.int64)
    if wanted and column in frame.columns:
        lookup = {name: index for index, name in enumerate(names)}
        pairs = pl.DataFrame({"item": item, "to": frame[column].cast(pl.String)}).drop_nulls().unique()
        for index, target in pairs.iter_rows():
            made[index] = lookup.get(target, -1)
    return made


def _contents(frame: pl.DataFrame, n: int, item: Ints, wanted: bool) -> Ints:
    made = np.zeros(n, dtype=np.int64)
    if wanted and "content" in frame.columns:
        made[item] = encode(frame["content"].cast(pl.String).fill_null(""))[1][0].to_numpy()
    return made
