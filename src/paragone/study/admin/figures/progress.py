"""How far the study is: who came how far, which sheets are done, how fast it goes, when it ends and what it costs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from .numbers import Number, median_number, rate_number

__all__ = [
    "FINISHED",
    "STEPS",
    "Pace",
    "Quota",
    "funnel",
    "hourly_pay",
    "losses",
    "minutes",
    "pace",
    "per_hour",
    "quotas",
    "reached",
]

FINISHED = ("complete", "accepted", "excluded")
"""States of a lease whose sheets were worked through to the end."""
STEPS = ("arrived", "consented", "trained", "half", "finished", "accepted")
"""Steps of the funnel. half: half of the questions of a lease answered; accepted: finished and not excluded."""
_WINDOWS = (1.0, 6.0, 24.0)  # hours; the shortest with enough finished sheets tells the pace
_ENOUGH = 10
_BEGINS = ("consent", "device", "trials-begun")


def funnel(people: pl.DataFrame, events: pl.DataFrame, leases: pl.DataFrame) -> pl.DataFrame:
    """Return how many people reached each step.

    Args:
        people: column participant, one row each.
        events: participant (null: declined, which leaves no row of a person), kind.
        leases: participant, state, answered, asked (questions of the lease).

    Returns:
        step, people, share (of the step before; null for the first or after an empty one).
    """
    steps = reached(people, events, leases)
    declined = events.filter(pl.col("kind") == "declined").height
    counts = [len(steps["arrived"]) + declined, *(len(steps[step]) for step in STEPS[1:])]
    shares = [None, *(b / a if a else None for a, b in itertools.pairwise(counts))]
    return pl.DataFrame({"step": STEPS, "people": counts, "share": shares}, schema_overrides={"share": pl.Float64})


def reached(people: pl.DataFrame, events: pl.DataFrame, leases: pl.DataFrame) -> dict[str, set[str]]:
    """Return who reached each of `STEPS`, by name; those who declined have none.

    Args:
        people, events, leases: as in `funnel`.
    """
    who = set(people["participant"].to_list())
    kinds = events.filter(pl.col("participant").is_not_null())
    held = leases.filter(pl.col("participant").is_not_null())
    half = (pl.col("answered") * 2 >= pl.col("asked")) & (pl.col("asked") > 0)
    finished = pl.col("state").is_in(FINISHED)
    begun = held.filter(pl.col("answered") > 0)
    return {
        "arrived": who,
        "consented": {*_did(kinds, "consent"), *begun["participant"]} & who,
        "trained": {*_did(kinds, "trials-begun"), *begun["participant"]} & who,
        "half": set(held.filter(half.fill_null(False) | finished)["participant"]) & who,
        "finished": set(held.filter(finished)["participant"]) & who,
        "accepted": set(held.filter(pl.col("state").is_in(["complete", "accepted"]))["participant"]) & who,
    }


def _did(events: pl.DataFrame, kind: str) -> set[str]:
    return set(events.filter(pl.col("kind") == kind)["participant"].to_list())


def losses(events: pl.DataFrame, leases: pl.DataFrame) -> dict[str, int]:
    """Return how many were lost at which door: declined, screened-out, failed-training, technical, abandoned, excluded."""
    told = dict(events.group_by("kind").len().iter_rows())
    ended = events.filter(pl.col("kind").is_in(["screened-out", "technical"]))["participant"].drop_nulls().to_list()
    others = leases.filter(~pl.col("participant").is_in(ended).fill_null(False))
    states = dict(others.group_by("state").len().iter_rows())
    return {
        "declined": int(told.get("declined", 0)),
        "screened-out": int(told.get("screened-out", 0)),
        "failed-training": int(told.get("training-failed", 0)),
        "technical": int(told.get("technical", 0)),
        "abandoned": int(states.get("abandoned", 0)),
        "excluded": int(states.get("excluded", 0)),
    }


@dataclass(frozen=True)
class Quota:
    """One stage against its target, in units that are handed out (all sheets of one participant)."""

    stage: str
    needed: int
    """Different units of the plan, those of waves to come among them."""
    done: int
    """Units with a copy that is finished and not excluded."""
    under_way: int
    """Copies that somebody holds."""
    free: int
    """Copies waiting for somebody."""
    abandoned: int
    excluded: int
    extra: int
    """Finished copies beyond one of each unit."""

    @property
    def left(self) -> int:
        """Units still to be finished."""
        return self.needed - self.done


def quotas(leases: pl.DataFrame, planned: Mapping[str, int] | None = None) -> list[Quota]:
    """Return each stage's sheets against its target.

    Args:
        leases: stage, owner, state of the version in force; retired ones do not count unless finished.
        planned: units that a stage will have, of stages that are dealt in waves; the others have all of theirs.
    """
    made = []
    counted = leases.filter(pl.col("state") != "retired")
    for stage in counted["stage"].unique(maintain_order=True).to_list():
        part = counted.filter(pl.col("stage") == stage)
        states = dict(part.group_by("state").len().iter_rows())
        good = part.filter(pl.col("state").is_in(["complete", "accepted"]))
        done = good["owner"].n_unique()
        made.append(
            Quota(
                stage=str(stage),
                needed=max(part["owner"].n_unique(), (planned or {}).get(str(stage), 0)),
                done=done,
                under_way=states.get("leased", 0),
                free=states.get("free", 0),
                abandoned=states.get("abandoned", 0),
                excluded=states.get("excluded", 0),
                extra=good.height - done,
            )
        )
    return made


@dataclass(frozen=True)
class Pace:
    """How fast sheets are finished, and when the last one will be."""

    per_hour: Number
    """Finished sheets an hour, over `hours`."""
    hours: float
    """Length of the time they were counted in."""
    left: int
    """Sheets still to be finished."""
    end: Number
    """Expected end, UTC epoch seconds, at this pace; low is the earliest."""


def pace(done_at: pl.Series, begun: float | None, now: float, left: int) -> Pace:
    """Return the present pace and the expected end.

    The pace is that of the last hour, 6 or 24 hours, the shortest in which ten sheets were finished; else of all the
    time since the study began.

    Args:
        done_at: UTC epoch seconds at which sheets were finished (and not excluded).
        begun: when the first participant arrived; None: nobody yet.
        now: UTC epoch seconds.
        left: sheets still to be finished.
    """
    done = np.sort(done_at.drop_nulls().to_numpy().astype(np.float64))
    if begun is None:
        nobody = Number.unknown("nobody has come yet")
        return Pace(nobody, 0.0, left, nobody)
    open_for = max((now - begun) / 3600, 0.0)
    count, hours = int(done.size), open_for
    for window in _WINDOWS:
        inside = int((done > now - window * 3600).sum())
        if window < open_for and inside >= _ENOUGH:
            count, hours = inside, window
            break
    rate = rate_number(count, hours, note="finished sheets")
    if left <= 0:
        return Pace(rate, hours, 0, Number(float(done[-1]) if done.size else now, n=count, note="every sheet is done"))
    if not rate.value:
        return Pace(rate, hours, left, Number.unknown("no sheet has been finished yet"))
    ends = [now + 3600 * left / speed if speed else None for speed in (rate.value, rate.high, rate.low)]
    return Pace(rate, hours, left, Number(ends[0], ends[1], ends[2], count, "at the present pace"))


def per_hour(done_at: pl.Series, now: float, *, most: int = 48) -> pl.DataFrame:
    """Return finished sheets by the hour: hour (its start, epoch seconds), finished; up to `most` hours back."""
    done = done_at.drop_nulls().to_numpy().astype(np.float64)
    last = math.floor(now / 3600)
    first = max(math.floor(done.min() / 3600) if done.size else last, last - most + 1)
    places = np.floor(done / 3600).astype(np.int64) - first
    counts = np.bincount(places[(places >= 0) & (places <= last - first)], minlength=last - first + 1)
    return pl.DataFrame({"hour": 3600.0 * np.arange(first, last + 1), "finished": counts.astype(np.int64)})


def minutes(events: pl.DataFrame) -> pl.DataFrame:
    """Return how long each finished session took, from the first page that asked something to its end.

    Args:
        events: participant, kind, at, outcome (of 'finished' events; null elsewhere).

    Returns:
        participant, session (1, 2, ... in order), began, minutes; only sessions that ended as completed.
    """
    rows: list[tuple[str, int, float, float]] = []
    kinds = [*_BEGINS, "finished"]
    told = events.filter(pl.col("participant").is_not_null() & pl.col("kind").is_in(kinds)).sort("at")
    for (who,), part in told.group_by("participant", maintain_order=True):
        began: float | None = None
        number = 0
        for kind, at, outcome in part.select("kind", "at", "outcome").iter_rows():
            if kind != "finished":
                began = at if began is None else began
            elif began is not None:
                number += 1
                if outcome in (None, "completed"):
                    rows.append((str(who), number, began, (at - began) / 60))
                began = None
    names = {"participant": pl.String, "session": pl.Int64, "began": pl.Float64, "minutes": pl.Float64}
    return pl.DataFrame(rows, schema=names, orient="row")


def hourly_pay(per_session: float, spent: Iterable[float]) -> tuple[Number, Number]:
    """Return median minutes a session and the hourly pay that they imply, both with intervals.

    Args:
        per_session: amount paid for a session, >= 0.
        spent: minutes of each session.

    Returns:
        Minutes, and amount an hour; the latter unknown where nothing is paid or nothing was finished.
    """
    took = median_number(list(spent), note="minutes a session, median")
    if not per_session or not took.value:
        return took, Number.unknown("no pay is declared" if not per_session else "no session has been finished yet")
    ends = [60 * per_session / end if end else None for end in (took.high, took.low)]
    return took, Number(60 * per_session / took.value, ends[0], ends[1], took.n, "at the median time")
