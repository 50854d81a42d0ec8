"""Consistency of pairwise votes: kappa on repeats, agreement between people, and the pull of one side."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from ..stats.kappa import Kappa, alpha_replicates, cohen_kappa
from ..stats.statistic import Floats, Statistic
from .repeats import Part, first_answers
from .resampled import codes, few, interval, people_weights

__all__ = ["vote_rows"]

_ANSWERS = ("first in order", "tie", "second in order")


def vote_rows(part: pl.DataFrame, *, seed: int, replicates: int) -> Part:
    """Statistics of one criterion in one stage; `part` comes from `with_repeats`."""
    part = part.with_columns(
        answer=pl.when(pl.col("choice") == "tie")
        .then(1)
        .when((pl.col("choice") == "left") == (pl.col("left") <= pl.col("right")))
        .then(0)
        .otherwise(2)
    )
    rng = np.random.default_rng(seed)
    statistics: dict[str, Statistic] = {}
    details: list[dict[str, object]] = []
    kappa, agreement, detail = _repeats(part, rng, replicates)
    statistics |= {"repeat_kappa": kappa, "repeat_agreement": agreement}
    if detail:
        details.append(detail)
    statistics |= _between(part, rng, replicates)
    statistics["left_share"] = _left_share(part, rng, replicates)
    return Part(statistics, details)


def _repeats(
    part: pl.DataFrame, rng: np.random.Generator, replicates: int
) -> tuple[Statistic, Statistic, dict[str, object]]:
    """Kappa and raw agreement of second with first answers, and the table behind them."""
    if part["participant"].null_count() == part.height:
        unknown = Statistic.undefined(0, "participants are unknown, so nobody is known to have answered twice")
        return unknown, unknown, {}
    firsts = part.select(pl.col("row").alias("first"), pl.col("answer").alias("before"))
    pairs = part.filter(pl.col("left") != pl.col("right")).join(firsts, on="first", how="inner")
    if not pairs.height:
        none = Statistic.undefined(0, "no pair was shown to one participant twice")
        return none, none, {}
    before, after = pairs["before"].to_numpy(), pairs["answer"].to_numpy()
    used = [0, 1, 2] if ((before == 1) | (after == 1)).any() else [0, 2]
    names, who = np.unique(pairs["participant"].to_numpy().astype(str), return_inverse=True)
    tables = np.zeros((len(names), 3, 3))
    np.add.at(tables, (who, before, after), 1.0)
    tables = tables[:, used][:, :, used]
    whole = cohen_kappa(tables.sum(axis=0))
    weights = people_weights(len(names), rng, replicates)
    kappa, agreement = _bootstrapped(whole, tables, weights)
    detail: dict[str, object] = {
        "answers": [_ANSWERS[i] for i in used],
        "first_by_second": tables.sum(axis=0).astype(int).tolist(),
        "agreement": whole.agreement,
        "expected": whole.expected,
        "kappa": None if math.isnan(whole.value) else whole.value,
        "stderr": None if math.isnan(whole.stderr) else whole.stderr,
        "participants": len(names),
        "coding": "by item, in the order of the ids; ties are a third answer",
    }
    return kappa, agreement, detail


def _bootstrapped(whole: Kappa, tables: Floats, weights: Floats | None) -> tuple[Statistic, Statistic]:
    n = whole.n
    if weights is None:
        note = few(len(tables))
        kappa = Statistic(whole.value, math.nan, math.nan, n, whole.note or note)
        return kappa, Statistic(whole.agreement, math.nan, math.nan, n, note)
    drawn = np.tensordot(weights, tables, axes=1)
    total = drawn.sum(axis=(1, 2))
    total = np.where(total > 0, total, np.nan)
    agreed = np.trace(drawn, axis1=1, axis2=2) / total
    chance = (drawn.sum(axis=1) * drawn.sum(axis=2)).sum(axis=1) / total**2
    kappas = np.where(
        1.0 - chance > 1e-12, (agreed - chance) / np.where(1.0 - chance > 1e-12, 1.0 - chance, 1.0), np.nan
    )
    agreement = interval(whole.agreement, agreed, n)
    if whole.note:
        return Statistic.undefined(n, whole.note), agreement
    return interval(whole.value, kappas, n), agreement


def _between(part: pl.DataFrame, rng: np.random.Generator, replicates: int) -> dict[str, Statistic]:
    """Raw agreement and Krippendorff's alpha of different people on the same pair."""
    known = first_answers(part.filter(pl.col("participant").is_not_null() & (pl.col("left") != pl.col("right"))))
    unit = codes(known["asked"].list.join("\0"))
    who = codes(known["participant"])
    several = int((np.bincount(unit) >= 2).sum()) if len(unit) else 0
    if not several:
        none = Statistic.undefined(0, "no pair was seen by two known participants")
        return {"between_agreement": none, "between_alpha": none}
    answer = known["answer"].to_numpy().astype(np.float64)
    point = alpha_replicates(answer, unit, who, metric="nominal")
    value, raw = float(point.alpha[0]), 1.0 - float(point.disagreement[0])
    n_people = int(who.max()) + 1
    weights = people_weights(n_people, rng, replicates)
    if weights is None:
        note = few(n_people)
        agreement, alpha = (Statistic(v, math.nan, math.nan, several, note) for v in (raw, value))
    else:
        drawn = alpha_replicates(answer, unit, who, metric="nominal", weights=weights)
        agreement, alpha = interval(raw, 1.0 - drawn.disagreement, several), interval(value, drawn.alpha, several)
    if math.isnan(value):
        alpha = Statistic.undefined(several, "undefined: all answers are the same in the order of the ids")
    return {"between_agreement": agreement, "between_alpha": alpha}


def _left_share(part: pl.DataFrame, rng: np.random.Generator, replicates: int) -> Statistic:
    """Share of answers that chose the left side; .5 where sides do not matter."""
    decided = part.filter(pl.col("choice") != "tie")
    if not decided.height:
        return Statistic.undefined(0, "every answer is a tie")
    left = (decided["choice"] == "left").to_numpy().astype(np.float64)
    who = codes(decided["participant"].fill_null(""))
    n_people = int(who.max()) + 1
    weights = people_weights(n_people, rng, replicates)
    if weights is None:
        return Statistic(float(left.mean()), math.nan, math.nan, len(left), few(n_people))
    drawn = weights @ np.bincount(who, weights=left) / (weights @ np.bincount(who))
    return interval(float(left.mean()), drawn, len(left))
