"""Join a predictor with people: the same items, the right criterion, larger means better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import t as student

from ..errors import BadInput
from ..scores import Scores
from ..stats.statistic import Floats, Ints, normal_quantile

__all__ = ["Matched", "matches", "to_95"]


@dataclass(frozen=True)
class Matched:
    """One predictor beside people on one criterion: m items that both scored, in the order of their ids."""

    predictor: str
    criterion: str | None
    """People's criterion."""
    items: list[str]
    x: Floats
    """(m,) the predictor, turned so that larger means better (as it is where that is unknown)."""
    y: Floats
    """(m,) people."""
    half: Floats
    """(m,) half widths of people's 95 % intervals; NaN where there is none. Intervals of another confidence, which the
    record of the scores names, are brought to 95 %: by Student's t where the table has degrees of freedom, else as if
    errors were normal, which takes few people for too sure."""
    draws: Floats | None
    """(r, m) people's joint replicates, or None; spread as widely as their intervals, which few people make wider."""
    apart: Ints | None
    """(m,) which of the groups that people never compared with each other an item is in; None: one scale for all."""
    sign: float
    """-1 where the predictor was turned, else 1."""
    notes: dict[str, Any]
    """How many items each side had alone, or had no score for."""

    @property
    def mixed(self) -> bool:
        """True where the items lie in several groups, so that people's scores have no common scale."""
        return self.apart is not None and len(np.unique(self.apart)) > 1

    @property
    def stderr(self) -> Floats:
        """(m,) standard errors of people's scores, from the intervals."""
        return self.half / normal_quantile(0.95)

    def subset(self, kept: Sequence[int] | np.ndarray[Any, np.dtype[np.int64]]) -> Matched:
        """The same for some of the items, by position."""
        at = np.asarray(kept, dtype=np.int64)
        return replace(
            self,
            items=[self.items[i] for i in at],
            x=self.x[at],
            y=self.y[at],
            half=self.half[at],
            draws=None if self.draws is None else self.draws[:, at],
            apart=None if self.apart is None else self.apart[at],
        )


def matches(human: Scores, machine: Scores) -> Iterator[Matched]:
    """The predictor beside people for each criterion that it speaks to.

    A predictor's scores without a criterion speak to every criterion of people; scores with one speak to the equal
    criterion only, or, where people's is unnamed, to that. Where a predictor has several for one, each is a predictor
    of its own, called 'name (criterion)'.

    Raises:
        BadInput: one side scores items and the other levels of a factor.
    """
    if human.frame.height and machine.frame.height and human.key != machine.key:
        sides = {"item": "items", "level": "levels of a factor"}
        raise BadInput(
            f"{human.name} scores {sides[human.key]} and {machine.name} scores {sides[machine.key]}; "
            "score both by item or both by the same factor",
            where=machine.name,
        )
    for criterion in human.criteria:
        own = machine.criteria
        if criterion is None:
            spoken = own
        else:
            spoken = [criterion] if criterion in own else [None] if None in own else []
        for theirs in spoken:
            name = machine.name if len(spoken) == 1 else f"{machine.name} ({theirs or 'unnamed'})"
            yield _matched(human, machine, criterion, theirs, name)


def _matched(human: Scores, machine: Scores, criterion: str | None, theirs: str | None, name: str) -> Matched:
    people, ours = _keyed(human.of_criterion(criterion)), _keyed(machine.of_criterion(theirs))
    both = people.join(ours, on="key", how="inner", suffix="_machine").sort("key")
    usable = both.filter(_scored("score", "status") & _scored("score_machine", "status_machine"))
    sign = -1.0 if (machine.better == "lower") != (human.better == "lower") else 1.0
    items = usable["key"].to_list()
    notes: dict[str, Any] = {
        "predictor": name,
        "criterion": criterion,
        "compared": usable.height,
        "only_people": people.height - both.height,
        "only_machine": ours.height - both.height,
        "without_score": both.height - usable.height,
        "turned": sign < 0,
    }
    if machine.better == "unknown":
        notes["direction"] = "unknown which end is better; a larger score was taken as better"
    y = usable["score"].to_numpy().astype(np.float64)
    half = (usable["high"] - usable["low"]).cast(pl.Float64).fill_null(np.nan).to_numpy() / 2.0
    half = half * to_95(human, usable)
    x = sign * usable["score_machine"].to_numpy().astype(np.float64)
    draws = _draws(human, criterion, usable["id"].to_list())
    if draws is not None:
        draws = y + (draws - y) * _wider(draws, half)
    apart = None
    if "connected_group" in usable.columns and usable["connected_group"].drop_nulls().n_unique() > 1:
        apart = usable["connected_group"].fill_null(0).to_numpy().astype(np.int64)
        notes["groups_apart"] = len(np.unique(apart))
    return Matched(name, criterion, items, x, y, half, draws, apart, sign, notes)


def _keyed(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows with `key`, what identifies them across tables, and `id`, their column in the draws."""
    identity = pl.coalesce("item", "level")
    levelled = pl.col("item").is_null() & pl.col("of").is_not_null()
    key = pl.when(levelled).then(pl.format("{}={}", "of", "level")).otherwise(identity)
    return frame.select(pl.lit("").alias("key") if frame.is_empty() else key.alias("key"), identity.alias("id"), "*")


def _scored(score: str, status: str) -> pl.Expr:
    return pl.col(score).is_not_null() & pl.col(score).is_finite() & (pl.col(status) == "ok")


def _draws(human: Scores, criterion: str | None, ids: list[str]) -> Floats | None:
    if human.draws is None or not ids or any(name not in human.draws.columns for name in ids):
        return None
    rows = human.draws
    if "criterion" in rows.columns:
        rows = rows.filter(pl.col("criterion").eq_missing(criterion))
    values = rows.select(ids).to_numpy().astype(np.float64)
    values = values[~np.isnan(values).any(axis=1)]
    return values if len(values) >= 2 else None


def to_95(human: Scores, rows: pl.DataFrame) -> Floats:
    """(m,) what half widths of people's intervals are multiplied by to be those of 95 %.

    Their confidence is what the record of the scores says, else 95 %. Student's t is used where the table has degrees of
    freedom (column `df`).

    Args:
        human: whose record.
        rows: m rows of its table.
    """
    settings = human.made.get("settings")
    said = settings.get("confidence") if isinstance(settings, Mapping) else None
    confidence = said if isinstance(said, float) and 0.0 < said < 1.0 else 0.95
    if confidence == 0.95:
        return np.ones(rows.height)
    freedom = np.full(rows.height, np.inf)
    if "df" in rows.columns and rows["df"].dtype.is_numeric():
        given = rows["df"].cast(pl.Float64).fill_null(np.inf).to_numpy()
        freedom = np.where(given > 0, given, np.inf)
    ratio: Floats = student.ppf(0.975, freedom) / student.ppf((1.0 + confidence) / 2.0, freedom)
    return ratio


def _wider(draws: Floats, half: Floats) -> Floats:
    """(m,) how much wider an item's interval is than its replicates' spread says, >= 1; 1 where there is no interval."""
    reach = normal_quantile(0.95) * draws.std(axis=0, ddof=1)
    known = (reach > 0) & (half > reach)
    return np.where(known, half / np.where(known, reach, 1.0), 1.0)
