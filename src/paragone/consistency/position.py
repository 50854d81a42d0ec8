"""Whether ratings drift along a session: the effect of a trial's place on what people answer."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from ..errors import BadInput, TooFew
from ..judgements import Ratings
from ..stats.resample import percentile_interval
from ..stats.statistic import Floats, Ints
from ..stats.sweep import swept
from .resampled import codes, few, people_weights

__all__ = ["position_effect"]

_SCHEMA = {
    "criterion": pl.String,
    "stage": pl.String,
    "slope": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "drift": pl.Float64,
    "n": pl.Int64,
    "participants": pl.Int64,
    "note": pl.String,
}


def position_effect(ratings: Ratings, *, seed: int = 0, replicates: int = 1000) -> pl.DataFrame:
    """Estimate how ratings change from one place of a session to the next.

    The slope of the rating on the trial's place in its session, by least squares with a constant for every item and for
    every session of every participant, so that neither which items come late nor who has long sessions matters. It asks
    for an order drawn anew for each participant and session, as `plan` does; where all saw the same order, place and item
    are one and there is no number. First meetings only: checks, stabilising presentations and repeats are left out, but
    they count as places. Intervals resample participants; the constants are kept as fitted, which with some ten ratings
    an item or more makes them hardly too narrow.

    Args:
        ratings: with a column `position` (place in the sheet, from 1), as `collect` keeps it; `sheet` or `session` tells
            sessions apart.
        seed: of the bootstrap.
        replicates: resamples of the participants, >= 1.

    Returns:
        One row per criterion and stage, sorted: criterion, stage, slope (scale units per place), low and high (95 %),
        drift (slope times the places from the first to the last rating of the longest session: what a session adds), n
        (ratings), participants, note (why a number is missing; null: nothing to say).

    Raises:
        BadInput: no column `position`, or one that holds other things than whole numbers from 1; replicates below 1.
        TooFew: no main rating with a place and a participant.
    """
    if replicates < 1:
        raise BadInput(f"{replicates} bootstrap replicates; one or more are needed")
    frame = ratings.frame.filter(pl.col("kind").is_null() | (pl.col("kind") == "main"))
    frame = frame.with_columns(position=_positions(ratings.frame, frame)).drop_nulls(["position", "participant"])
    if not frame.height:
        raise TooFew("no main rating has a place in its session and a participant; there is nothing to follow")
    rows = []
    for criterion, stage in frame.select("criterion", "stage").unique().sort("criterion", "stage").iter_rows():
        asked = pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String))
        part = frame.filter(asked & pl.col("stage").eq_missing(pl.lit(stage, dtype=pl.String)))
        rows.append({"criterion": criterion, "stage": stage, **_row(part, np.random.default_rng(seed), replicates)})
    return pl.DataFrame(rows, schema=_SCHEMA)


def _positions(whole: pl.DataFrame, frame: pl.DataFrame) -> pl.Series:
    if "position" not in whole.columns:
        raise BadInput(
            "ratings: no column 'position'; collect keeps it, or add the place of each rating in its session",
            where="position",
        )
    numbers = frame["position"].cast(pl.Float64, strict=False)
    given = frame["position"].is_not_null()
    wrong = given & (numbers.is_null() | (numbers < 1) | (numbers != numbers.floor())).fill_null(True)
    if wrong.any():
        raise BadInput(f"ratings: position '{frame['position'].filter(wrong)[0]}' is no whole number from 1")
    return numbers


def _row(part: pl.DataFrame, rng: np.random.Generator, replicates: int) -> dict[str, object]:
    value, place = part["value"].to_numpy(), part["position"].to_numpy()
    who, item = codes(part["participant"]), codes(part["item"])
    session = codes(pl.Series(_sessions(part)))
    n_people = int(who.max()) + 1
    row: dict[str, object] = {"n": part.height, "participants": n_people, "note": None}
    left = swept(np.stack([value, place], axis=1), item, session)
    moved = left[:, 1] ** 2
    if not moved.sum() > 1e-9 * (place**2).sum():
        return row | {"note": "place and item are one: everybody saw the items in the same order"}
    by, squares = _by(who, left[:, 0] * left[:, 1], n_people), _by(who, moved, n_people)
    slope = float(by.sum() / squares.sum())
    longest = float(part.group_by(_sessions(part).alias("sitting")).agg(_span())["position"].max() or 0.0)  # type: ignore[arg-type]
    row |= {"slope": slope, "drift": slope * longest}
    weights = people_weights(n_people, rng, replicates)
    if weights is None:
        return row | {"note": few(n_people)}
    with np.errstate(invalid="ignore", divide="ignore"):
        bounds = percentile_interval((weights @ by) / (weights @ squares))
    low, high = float(bounds.low), float(bounds.high)
    return row | ({} if math.isnan(low) else {"low": low, "high": high})


def _span() -> pl.Expr:
    return pl.col("position").max() - pl.col("position").min()


def _sessions(part: pl.DataFrame) -> pl.Series:
    """Who rated in which sitting."""
    names = [part[name].fill_null("") for name in ("sheet", "session") if name in part.columns]
    return part.select(pl.concat_str([part["participant"], *names], separator="\x1f").alias("sitting")).to_series()


def _by(group: Ints, values: Floats, n: int) -> Floats:
    total: Floats = np.bincount(group, weights=values, minlength=n).astype(np.float64)
    return total
