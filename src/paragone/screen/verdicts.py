"""One function a rule: who breaks it, in words, and the statistics that say so.

Every function takes the answers in one form (`Asked`) and the rules, and gives a `Verdict` with one entry for each
participant. A statistic that cannot be computed for somebody is null, and nobody breaks a rule by a null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .rules import bt500, commonest, correlation_with_mean, longest_run, residual_spread
from .settings import ScreenRules

__all__ = ["NEEDS_RATINGS", "VERDICTS", "Asked", "Verdict"]


class Asked(NamedTuple):
    """The answers, participants numbered."""

    frame: pl.DataFrame
    """All rows in the order given, `stage` filled with '' where null, and with `row`, `person` (index of the
    participant), `said` (choice or value, as in the noun), `answer` (the winning item, a mark for a tie, or the value,
    as text) and `shown` (the pair, whatever its sides, or the item)."""
    people: int
    """Number of participants."""
    votes: bool
    """Pairwise votes, not ratings."""
    measured: Mapping[str, list[float | None]]
    """Statistics computed elsewhere, one entry a participant: 'inconsistency', 'distance'."""

    @property
    def main(self) -> pl.DataFrame:
        """Rows that scores may use: kind main, repeat or null."""
        return self.frame.filter(pl.col("kind").is_null() | pl.col("kind").is_in(["main", "repeat"]))


_SLACK = 1e-9  # in the unit of the ratings: 3.5 - 3.4 is a little more than 0.1


class Verdict(NamedTuple):
    """What one rule says."""

    broken: list[str | None]
    """For each participant why the rule is broken, or None."""
    statistics: dict[str, list[float | None]]
    """Column name -> one number for each participant, null where there is none."""


def _checks(asked: Asked, rules: ScreenRules) -> Verdict:
    shown = asked.frame.filter((pl.col("kind") == "check") & pl.col("expected").is_not_null())
    right = pl.col("said") == pl.col("expected")
    if not asked.votes:
        within = pl.lit(rules.checks.tolerance)
        if rules.checks.within and "check" in shown.columns:
            names = (pl.col("check"), pl.format("{}/{}", pl.col("stage"), pl.col("check")))
            for name in names:
                within = name.replace_strict(rules.checks.within, default=within, return_dtype=pl.Float64)
        right = (pl.col("said") - pl.col("expected")).abs() <= within + _SLACK
    trial = pl.col("trial").fill_null(pl.format("row {}", pl.col("row")))
    sitting = pl.col("session") if rules.checks.by_session else pl.lit(None, dtype=pl.String).alias("session")
    trials = shown.group_by("person", "stage", sitting, trial, maintain_order=True).agg(right.all().alias("right"))
    keys = ["person", "stage", "session"]
    stages = trials.group_by(keys).agg(pl.len().alias("shown"), pl.col("right").sum())
    broken: list[str | None] = [None] * asked.people
    for person, stage, session, n, k in stages.sort(keys).iter_rows():
        needed = rules.checks.needed.get(stage, max(n - rules.checks.wrong, 1))
        if k < needed:
            place = [f"{word} {name}" for word, name in (("stage", stage), ("session", session)) if name]
            where = f" ({', '.join(place)})" if place else ""
            _add(broken, person, f"checks: {k} of {n} right, {needed} needed{where}")
    for stage, needed in rules.checks.needed.items():
        here = set(asked.main.filter(pl.col("stage") == stage)["person"])
        for person in here - set(stages.filter(pl.col("stage") == stage)["person"]):
            if needed > 0:
                _add(broken, person, f"checks: none shown, {needed} needed (stage {stage})")
    total = trials.group_by("person").agg(pl.len(), pl.col("right").sum())
    return Verdict(broken, {"checks": _column(asked, total, "len"), "checks_right": _column(asked, total, "right")})


def _add(broken: list[str | None], person: int, reason: str) -> None:
    known = broken[person]
    broken[person] = reason if known is None else f"{known}; {reason.removeprefix('checks: ')}"


def _speed(asked: Asked, rules: ScreenRules) -> Verdict:
    """Rows of one trial (its criteria) share one time: the longest that any of them carries."""
    timed = asked.main.filter(pl.col("seconds").is_finite() & (pl.col("seconds") >= 0))
    trial = pl.col("trial").fill_null(pl.format("row {}", pl.col("row")))
    each = timed.group_by("person", "stage", "session", trial).agg(pl.col("seconds").max())
    fast = (pl.col("seconds") < rules.speed.fast).mean()
    found = each.group_by("person").agg(pl.col("seconds").median(), fast.alias("fast"))
    median, share = _column(asked, found, "seconds"), _column(asked, found, "fast")
    broken: list[str | None] = [None] * asked.people
    for person in range(asked.people):
        middle, quick = median[person], share[person]
        if middle is None or quick is None:
            continue
        if middle < rules.speed.median:
            broken[person] = f"speed: median {middle:.2f} s a question, {rules.speed.median:g} needed"
        elif quick > rules.speed.share:
            allowed = f"at most {rules.speed.share:.0%} allowed"
            broken[person] = f"speed: {quick:.0%} of answers faster than {rules.speed.fast:g} s, {allowed}"
    return Verdict(broken, {"median_seconds": median, "fast_share": share})


def _straight(asked: Asked, rules: ScreenRules) -> Verdict:
    """Each criterion is a row of answers of its own; the straightest one counts."""
    share, run = np.full(asked.people, np.nan), np.zeros(asked.people, dtype=np.int64)
    given = np.zeros(asked.people, dtype=np.int64)
    broken: list[str | None] = [None] * asked.people
    for rows in asked.main.partition_by("criterion", maintain_order=True):
        answers, code = np.unique(rows["said"].to_numpy(), return_inverse=True)
        person = rows["person"].to_numpy()
        size = np.bincount(person, minlength=asked.people)
        part, usual = commonest(person, code, p=asked.people)
        length, repeated = longest_run(person, code, p=asked.people)
        for i in np.flatnonzero(size >= rules.straight.answers):
            if part[i] > rules.straight.share:
                what = f"{part[i]:.0%} of {size[i]} answers are {_word(answers[usual[i]])}"
                broken[i] = broken[i] or f"straight: {what}, at most {rules.straight.share:.0%} allowed"
            elif rules.straight.run is not None and length[i] > rules.straight.run:
                what = f"{length[i]} answers of {_word(answers[repeated[i]])} in a row"
                broken[i] = broken[i] or f"straight: {what}, at most {rules.straight.run} allowed"
        share, run, given = np.fmax(share, part), np.maximum(run, length), given + size
    runs = [int(length) if n else None for length, n in zip(run, given, strict=True)]
    return Verdict(broken, {"same_share": _plain(share), "longest_run": [*runs]})


def _word(answer: object) -> str:
    return answer if isinstance(answer, str) else f"{answer:g}"


def _repeats(asked: Asked, rules: ScreenRules) -> Verdict:
    keys = ["person", "criterion", "repeat_of", "shown"]
    first = asked.frame.with_columns(pl.col("trial").alias("repeat_of")).filter(pl.col("trial").is_not_null())
    first = first.select(*keys, pl.col("answer").alias("before")).unique(keys, keep="first", maintain_order=True)
    again = asked.frame.filter((pl.col("kind") == "repeat") & pl.col("repeat_of").is_not_null())
    met = again.join(first, on=keys, how="inner", nulls_equal=True)
    same = pl.col("answer") == pl.col("before")
    if not asked.votes:
        same = (pl.col("said") - pl.col("before").cast(pl.Float64)).abs() <= rules.repeats.tolerance
    found = met.group_by("person").agg(pl.len(), same.sum().alias("same"))
    n, k = _column(asked, found, "len"), _column(asked, found, "same")
    share = [None if a is None or b is None else b / a for a, b in zip(n, k, strict=True)]
    broken: list[str | None] = [None] * asked.people
    for person, (asked_twice, alike, part) in enumerate(zip(n, k, share, strict=True)):
        if part is None or asked_twice is None or asked_twice < rules.repeats.answers:
            continue
        if part < rules.repeats.agreement:
            needed = f"{rules.repeats.agreement:.0%} needed"
            broken[person] = f"repeats: {alike:.0f} of {asked_twice:.0f} answered as before, {needed}"
    return Verdict(broken, {"repeats": n, "repeat_agreement": share})


def _completeness(asked: Asked, rules: ScreenRules) -> Verdict:
    setting = rules.completeness
    found = asked.main.group_by("person").agg(pl.len(), pl.col("stage").unique().sort().str.join("\n"))
    given = _column(asked, found, "len", missing=0)
    stages = dict(zip(found["person"], found["stage"], strict=True))
    most: dict[str | None, float] = {}
    for person in range(asked.people):
        key = stages.get(person)
        most[key] = max(most.get(key, 0), given[person] or 0)
    broken: list[str | None] = [None] * asked.people
    share: list[float | None] = []
    for person in range(asked.people):
        n, whole = given[person] or 0, setting.expected or most[stages.get(person)]
        share.append(n / whole if whole else None)
        if setting.answers is not None:
            if n < setting.answers:
                broken[person] = f"completeness: {n:.0f} answers, {setting.answers} needed"
        elif not n or n / whole < setting.share:
            broken[person] = f"completeness: {n:.0f} of {whole:.0f} answers, {setting.share:.0%} needed"
    return Verdict(broken, {"answers": given, "complete_share": share})


def _each_criterion(asked: Asked) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int]]:
    """Item, participant and value arrays of each criterion, and its number of items."""
    parts = []
    for rows in asked.main.partition_by("criterion", maintain_order=True):
        names, item = np.unique(rows["item"].to_numpy(), return_inverse=True)
        person = rows["person"].to_numpy().astype(np.int64)
        parts.append((item.astype(np.int64), person, rows["said"].to_numpy(), len(names)))
    return parts


def _bt500(asked: Asked, rules: ScreenRules) -> Verdict:
    """An item under two criteria is two presentations."""
    if asked.votes or not asked.main.height:
        return _nothing(asked, "far_above", "far_below", "far_share", "far_balance")
    setting, offset, parts = rules.bt500, 0, []
    for item, person, value, n in _each_criterion(asked):
        parts.append((item + offset, person, value))
        offset += n
    item, person, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    found = bt500(item, person, value, n=offset, p=asked.people, convention=setting.convention)
    bad = (found.share > setting.share) & (found.balance < setting.balance)
    rated = ~np.isnan(found.share)
    if setting.convention == "sureal" and bad[rated].all():
        bad[:] = False
    broken = [
        f"bt500: {share:.1%} of ratings far from the mean, {above:.0f} above and {below:.0f} below" if reject else None
        for reject, share, above, below in zip(bad, found.share, found.above, found.below, strict=True)
    ]
    columns = {
        "far_above": found.above,
        "far_below": found.below,
        "far_share": found.share,
        "far_balance": found.balance,
    }
    return Verdict(broken, {name: _plain(values) for name, values in columns.items()})


def _correlation(asked: Asked, rules: ScreenRules) -> Verdict:
    """Over several criteria: the mean of the criteria's correlations."""
    if asked.votes or not asked.main.height:
        return _nothing(asked, "correlation")
    setting = rules.correlation
    found = np.array(
        [
            correlation_with_mean(item, person, value, n=n, p=asked.people, kind=setting.kind, against=setting.against)
            for item, person, value, n in _each_criterion(asked)
        ]
    )
    r = _mean(found)
    threshold, known = setting.threshold, r[~np.isnan(r)]
    low = r < threshold
    if setting.adaptive and known.size:
        threshold = min(threshold, float(known.mean() - known.std()))
        low = r <= threshold
    who = "the others" if setting.against == "others" else "all"
    broken = [
        f"correlation: {value:.2f} with the mean of {who}, {threshold:.2f} needed" if reject else None
        for value, reject in zip(r, low, strict=True)
    ]
    return Verdict(broken, {"correlation": _plain(r)})


def _inconsistency(asked: Asked, rules: ScreenRules) -> Verdict:
    """Handed in from a fit of P.910, or the deviation around the items' means; over criteria, the root mean square."""
    if "inconsistency" in asked.measured:
        v = np.array([np.nan if x is None else x for x in asked.measured["inconsistency"]], dtype=np.float64)
    elif asked.votes or not asked.main.height:
        return _nothing(asked, "inconsistency")
    else:
        spreads = [
            residual_spread(item, person, value, n=n, p=asked.people)
            for item, person, value, n in _each_criterion(asked)
        ]
        v = np.sqrt(_mean(np.array(spreads) ** 2))
    middle = float(np.median(v[~np.isnan(v)])) if (~np.isnan(v)).any() else np.nan
    factor = rules.inconsistency.factor
    broken = [
        f"inconsistency: {value:.2f}, more than {factor:g} times the middle participant's {middle:.2f}"
        if value > factor * middle
        else None
        for value in v
    ]
    return Verdict(broken, {"inconsistency": _plain(v)})


def _distance(asked: Asked, rules: ScreenRules) -> Verdict:
    if "distance" not in asked.measured:
        return _nothing(asked, "distance")
    distances, limit = asked.measured["distance"], rules.distance.threshold
    broken = [
        f"distance: {value:.2f} inter-quartile ranges from the quartile, at most {limit:g} allowed"
        if value is not None and value > limit
        else None
        for value in distances
    ]
    return Verdict(broken, {"distance": distances})


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over rows without the missing; NaN where all are."""
    known = (~np.isnan(values)).sum(axis=0)
    return np.where(known > 0, np.nansum(values, axis=0) / np.maximum(known, 1), np.nan)


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _column(asked: Asked, found: pl.DataFrame, name: str, missing: float | None = None) -> list[float | None]:
    """One entry a participant out of a table with a row for some of them."""
    known = dict(zip(found["person"], found[name], strict=True))
    return [known.get(person, missing) for person in range(asked.people)]


def _nothing(asked: Asked, *names: str) -> Verdict:
    """For answers on which the rule has nothing to say."""
    return Verdict([None] * asked.people, {name: [None] * asked.people for name in names})


NEEDS_RATINGS = ("bt500", "correlation", "inconsistency")
"""Rules that say nothing about votes."""

VERDICTS: dict[str, Callable[[Asked, ScreenRules], Verdict]] = {
    "checks": _checks,
    "speed": _speed,
    "straight": _straight,
    "repeats": _repeats,
    "completeness": _completeness,
    "bt500": _bt500,
    "correlation": _correlation,
    "inconsistency": _inconsistency,
    "distance": _distance,
}
"""Rule -> function, in the order of `RULES`."""
