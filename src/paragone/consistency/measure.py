"""The one function that cuts answers into criteria and stages and asks for each how consistent people are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import polars as pl

from ..errors import BadInput, TooFew
from ..judgements import Ratings, Votes
from ..stats.statistic import Statistic
from .position import position_effect
from .ratings import rating_rows
from .record import Consistency, Row, gathered
from .repeats import with_repeats
from .votes import vote_rows

__all__ = ["consistency"]


def consistency(answers: Votes | Ratings, *, seed: int = 0, replicates: int = 1000) -> Consistency:
    """Measure how far people agree with themselves and with each other.

    Checks, training and stabilising trials do not count. Intervals resample participants; with fewer than five there
    are none. Rows of `kind` repeat are matched to the trial that `repeat_of` names; where no row has that kind, the
    second meeting of a participant with the same pair or item (criterion and stage alike) is the repeat.

    Args:
        answers: votes or ratings, any number of criteria and stages.
        seed: of the bootstrap and of the random halves.
        replicates: bootstrap resamples and random halvings, >= 1.

    Returns:
        Votes: `repeat_kappa` and `repeat_agreement` (answers coded by item in the order of the ids, never by side; ties
        are a third answer), `between_agreement` and `between_alpha` (nominal, pairs that two or more people saw),
        `left_share` (ties left out). Ratings: `icc_2_1`, `icc_2_k`, `alpha_ordinal`, `alpha_interval`, `split_half`,
        `spearman_brown`, `repeat_correlation`, `repeat_rmse`, `between_spearman`, `between_kendall`, and where a column
        `position` tells the place in the session `position_slope` (see `position_effect`). Where there are
        several stages, each has its rows and a null stage holds all of them. `notes` has `repeats` (table, raw
        agreement, kappa with its analytic error) or `raters` (whose ratings each ICC rests on).

        A number that the answers do not determine is null with a note: an ICC of fewer than three items or below the
        least possible -1/(k - 1), a correlation of fewer than three repeats. A negative ICC has a note. Replicates
        that are all the same make no interval.

    Raises:
        TooFew: no main answer at all.
        BadInput: `answers` are neither votes nor ratings, or replicates below 1.

    Source:
        See `stats.kappa`, `stats.icc`, `stats.correlation`.
    """
    if not isinstance(answers, (Votes, Ratings)):
        raise BadInput(
            f"consistency takes Votes or Ratings, not {type(answers).__name__}; read them with read_votes or "
            "read_ratings",
            where="answers",
        )
    if replicates < 1:
        raise BadInput(f"{replicates} bootstrap replicates; one or more are needed")
    pairwise = isinstance(answers, Votes)
    frame = with_repeats(answers.main.frame, ("left", "right") if pairwise else ("item",))
    if not frame.height:
        raise TooFew("no main answer: there are only checks, training trials or nothing; consistency needs answers")
    rows: list[Row] = []
    details: list[dict[str, Any]] = []
    for criterion, stage, part in _parts(frame):
        some = (vote_rows if pairwise else rating_rows)(part, seed=seed, replicates=replicates)
        rows += [Row(name, criterion, stage, result) for name, result in some.statistics.items()]
        details += [{"criterion": criterion, "stage": stage, **detail} for detail in some.details]
    if isinstance(answers, Ratings) and _has_places(answers):
        for place in position_effect(answers, seed=seed, replicates=replicates).iter_rows(named=True):
            value, low, high = (_number(place[key]) for key in ("slope", "low", "high"))
            slope = Statistic(value, low, high, place["n"], place["note"] or "")
            rows.append(Row("position_slope", place["criterion"], place["stage"], slope))
    notes: dict[str, Any] = {("repeats" if pairwise else "raters"): details}
    lost = int(frame["unmatched"].sum())
    if lost:
        notes["unmatched_repeats"] = lost
    return Consistency(gathered(rows), notes)


def _has_places(ratings: Ratings) -> bool:
    """Whether main ratings know their place in the session and who gave them."""
    frame = ratings.main.frame.filter(pl.col("kind").is_null() | (pl.col("kind") == "main"))
    return "position" in frame.columns and bool(
        (frame["position"].is_not_null() & frame["participant"].is_not_null()).any()
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _parts(frame: pl.DataFrame) -> Iterator[tuple[str | None, str | None, pl.DataFrame]]:
    """Each criterion in each stage, and over all stages where there are several."""
    for criterion in frame["criterion"].unique(maintain_order=True).sort(nulls_last=False).to_list():
        part = frame.filter(pl.col("criterion").eq_missing(criterion))
        stages = part["stage"].unique().sort(nulls_last=False).to_list()
        for stage in stages:
            yield criterion, stage, part.filter(pl.col("stage").eq_missing(stage))
        if len(stages) > 1:
            yield criterion, None, part
