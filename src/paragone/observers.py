"""Simulated participants: latent scores and a plan become answers. Everything made here says that it is simulated.

One participant answers all sheets of one owner (see `design.plan`). Each has a taste of their own (a shift per item,
the same whenever they meet it again), a side bias, a pace, and for ratings an offset and an inconsistency. Careless
ones answer at random and fast. All criteria of a trial are answered on one page, so they share its response time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from .benchmark import BROKEN, Benchmark, shown_reference
from .errors import BadConfig, BadInput, UnknownName
from .plan import Plan
from .scores import Scores
from .settings import Settings

__all__ = ["Observers", "latent_scores", "mixed_scores", "simulate"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Observers(Settings, frozen=True):
    """How simulated participants answer."""

    temperature: float = 1.0
    """Noise of a pairwise answer, in units of the latent scores, > 0: P(left) = 1 / (1 + exp(-(s_left - s_right) /
    t))."""
    stage_temperature: dict[str, float] = msgspec.field(default_factory=dict)
    """Temperature of single stages, by name; others take `temperature`."""
    taste_sd: float = 0.5
    """Standard deviation of a participant's own shift of each item and criterion, in units of the latent scores, >=
    0."""
    lapse: float = 0.02
    """Chance that an attentive participant answers at random, in [0, 1]."""
    left_bias: float = 0.0
    """Mean pull to the left, in logits; 0 is none."""
    left_bias_sd: float = 0.1
    """Standard deviation of that pull between participants, in logits, >= 0."""
    ties: float = 0.0
    """Davidson's nu: how readily 'tie' is chosen, >= 0; 0: never, as where the page has no such button."""
    careless: float = 0.0
    """Share of participants who answer everything at random, in [0, 1]; rounded to whole people."""
    seconds: float = 8.6
    """Median response time of an attentive participant's trial, > 0; 8.6 is what a published study measured."""
    careless_seconds: float = 4.5
    """Median response time of a careless participant's trial, > 0; 4.5 is what a published study measured."""
    seconds_sd: float = 0.35
    """Standard deviation of the logarithm of the response time within a participant, >= 0."""
    pace_sd: float = 0.25
    """Standard deviation of the logarithm of a participant's median response time, >= 0."""
    low: float = 0.0
    """Lower end of the rating scale."""
    high: float = 5.0
    """Upper end of the rating scale, above `low`."""
    step: float = 0.1
    """Distance between two answers on the rating scale, > 0."""
    stage_scale: dict[str, tuple[float, float, float]] = msgspec.field(default_factory=dict)
    """Low end, high end and step of single rating stages, by name; others take `low`, `high` and `step`."""
    gain: float | None = None
    """Scale units per unit of the latent scores, > 0; left out: a fifth of the scale per standard deviation of them."""
    offset_sd: float = 0.3
    """Standard deviation of a participant's offset, in scale units, >= 0."""
    inconsistency: float = 0.4
    """Median standard deviation of a participant's rating, in scale units, >= 0."""
    inconsistency_sd: float = 0.3
    """Standard deviation of its logarithm between participants, >= 0."""

    def __post_init__(self) -> None:
        above = ("temperature", "seconds", "careless_seconds", "step")
        not_below = ("taste_sd", "left_bias_sd", "ties", "seconds_sd", "pace_sd", "offset_sd", "inconsistency")
        for key in (*above, *not_below, "inconsistency_sd", "lapse", "careless"):
            value = getattr(self, key)
            if not 0 <= value < math.inf or (key in above and value == 0):
                raise _wrong(key, value, "above 0" if key in above else "a number not below 0")
        for key in ("lapse", "careless"):
            if getattr(self, key) > 1:
                raise _wrong(key, getattr(self, key), "in [0, 1]")
        for stage, value in self.stage_temperature.items():
            if not 0 < value < math.inf:
                raise _wrong(f"stage_temperature.{stage}", value, "above 0")
        if not self.low < self.high:
            raise _wrong("high", self.high, f"above low = {self.low:g}")
        for stage, (low, high, step) in self.stage_scale.items():
            if not (low < high and step > 0):
                raise _wrong(
                    f"stage_scale.{stage}", step, f"a step above 0 on a scale that rises ({low:g} to {high:g})"
                )
        if self.gain is not None and not self.gain > 0:
            raise _wrong("gain", self.gain, "above 0")


def simulate(plan: Plan, latent: Scores, *, seed: int, observers: Observers | None = None) -> pl.DataFrame:
    """Return the answers that simulated participants give to every trial of a plan.

    Args:
        plan: the sheets; a column `owner`, where there is one, says which sheets one participant answers.
        latent: what is true: one score per item and criterion; every criterion is asked in each trial. A hidden
            reference without a score is as good as the best item.
        seed: every random choice follows from it, >= 0.
        observers: how participants answer; None: the defaults.

    Returns:
        Columns participant ('sim-0001', ...), sheet, session, trial, criterion (null: one unnamed), answer ('left',
        'right', 'tie', or a number as text), seconds; in the plan's order, criterion by criterion.

    Raises:
        BadInput: the plan shows an item that has no latent score, checks aside.
        UnknownName: `stage_temperature` names a stage that the plan does not have.
    """
    look = observers or Observers()
    rng = np.random.default_rng(seed)
    frame = plan.frame
    unknown = sorted(set(look.stage_temperature) - set(frame["stage"].unique()))
    if unknown:
        raise UnknownName.among(unknown[0], frame["stage"].unique().to_list(), "stage")
    owner = _owner(frame)
    people = int(owner.max(initial=-1)) + 1
    criteria, scores, row = _truth(latent)
    known, row = _with_references(scores, row, frame)
    first, second = _shown(frame, row)
    is_pair = frame["left"].is_not_null().to_numpy()
    is_check = frame["expected"].is_not_null().to_numpy()
    _all_known(frame, latent.name, ~is_check & ((first < 0) | (is_pair & (second < 0))))
    careless = np.zeros(people, dtype=bool)
    careless[rng.permutation(people)[: round(look.careless * people)]] = True
    felt_first, felt_second = _felt(known, (first, second), owner, look, rng)
    width = len(criteria)
    chosen = _choices(frame, felt_first - felt_second, owner, careless, look, rng)
    rated = _rated(frame, felt_first, scores, owner, careless, look, rng)
    answer = np.where(np.repeat(is_pair[:, None], width, axis=1), chosen, rated)
    pace = np.where(careless, look.careless_seconds, look.seconds) * np.exp(look.pace_sd * rng.standard_normal(people))
    seconds = pace[owner] * np.exp(look.seconds_sd * rng.standard_normal(len(owner)))
    digits = max(4, len(str(people)))
    names = np.array([f"sim-{number + 1:0{digits}d}" for number in range(people)], dtype=object)
    repeated = {
        key: frame[key].gather(np.repeat(np.arange(frame.height), width)) for key in ("sheet", "session", "trial")
    }
    return pl.DataFrame(
        {
            "participant": pl.Series(np.repeat(names[owner], width).tolist(), dtype=pl.String),
            **repeated,
            "criterion": pl.Series(criteria * frame.height, dtype=pl.String),
            "answer": pl.Series(answer.reshape(-1).tolist(), dtype=pl.String),
            "seconds": pl.Series(np.repeat(np.round(seconds, 3), width)),
        }
    )


def latent_scores(
    benchmark: Benchmark,
    *,
    seed: int,
    effects: Mapping[str, float] | None = None,
    interaction_sd: float = 0.6,
    correlation: float = 0.5,
) -> Scores:
    """Return invented true scores: a normal effect for each level of each factor, and one for each item.

    Args:
        benchmark: items and factors; broken versions get no score.
        seed: every random choice follows from it, >= 0.
        effects: standard deviation of the effects of each factor's levels; left out: 0.6 for every factor.
        interaction_sd: standard deviation of an item's own part, >= 0.
        correlation: correlation between criteria of all parts, in [0, 1].

    Returns:
        Scores named 'simulated', one per item and criterion of the benchmark, in logits.

    Raises:
        UnknownName: `effects` names a factor that the benchmark does not have.
        BadConfig: a standard deviation is negative, or the correlation not in [0, 1].
    """
    factors = [factor for factor in benchmark.factors if factor != BROKEN]
    chosen = dict.fromkeys(factors, 0.6) if effects is None else dict(effects)
    for factor, sd in [*chosen.items(), ("interaction_sd", interaction_sd)]:
        if not sd >= 0:
            raise _wrong(factor, sd, "not below 0")
    if not 0 <= correlation <= 1:
        raise _wrong("correlation", correlation, "in [0, 1]")
    unknown = [factor for factor in chosen if factor not in factors]
    if unknown:
        raise UnknownName.among(unknown[0], factors, "factor")
    rng = np.random.default_rng(seed)
    items = benchmark.items
    if BROKEN in benchmark.factors:
        items = items.filter(pl.col(BROKEN).is_null())
    criteria: list[str | None] = [*benchmark.criteria] or [None]
    mix = np.full((len(criteria), len(criteria)), correlation) + (1 - correlation) * np.eye(len(criteria))
    root = np.linalg.cholesky(mix + 1e-12 * np.eye(len(criteria)))
    total = interaction_sd * rng.standard_normal((items.height, len(criteria))) @ root.T
    for factor, sd in chosen.items():
        level = items[factor].fill_null("").rank("dense").to_numpy().astype(np.int64) - 1
        total += sd * (rng.standard_normal((int(level.max()) + 1, len(criteria))) @ root.T)[level]
    settings = {"seed": seed, "effects": chosen, "interaction_sd": interaction_sd, "correlation": correlation}
    return _as_scores(items["item"].to_list(), criteria, total, {"method": "drawn effects", "settings": settings})


def mixed_scores(parts: Mapping[str, Sequence[tuple[Scores, float]]], *, sd: float = 1.0) -> Scores:
    """Return true scores for a simulation that follow machine scores: their weighted, standardised sum.

    Args:
        parts: for each criterion the scores and their weights; scores whose lower end is good are turned round, so a
            positive weight means that people like what the metric likes. Each must hold one criterion.
        sd: standard deviation of the result, > 0.

    Returns:
        Scores named 'simulated' over the items that all parts score, standardised per criterion.

    Raises:
        BadInput: a part holds several criteria, does not vary, or no item is scored by all of them.
        BadConfig: sd is not above 0.
    """
    if not sd > 0:
        raise _wrong("sd", sd, "above 0")
    tables = {criterion: [_single(scores) for scores, _ in mixed] for criterion, mixed in parts.items()}
    common = set.intersection(*(set(table) for several in tables.values() for table in several)) if tables else set()
    if len(common) < 2:
        raise BadInput(
            "the machine scores share fewer than two items; measure all of them on one benchmark", where="parts"
        )
    items = sorted(common)
    columns = []
    for criterion, mixed in parts.items():
        total = np.zeros(len(items))
        for (scores, weight), table in zip(mixed, tables[criterion], strict=True):
            total += weight * _standardised(np.array([table[item] for item in items]), scores.name)
        columns.append(sd * _standardised(total, f"the mix for '{criterion}'"))
    sources = {criterion: {scores.name: weight for scores, weight in mixed} for criterion, mixed in parts.items()}
    return _as_scores(items, [*parts], np.stack(columns, axis=1), {"method": "machine scores", "settings": sources})


def _wrong(key: str, value: float, wanted: str) -> BadConfig:
    return BadConfig(f"{key} is {value:g}; it must be {wanted}", where=key)


def _single(scores: Scores) -> dict[str, float]:
    if len(scores.criteria) > 1:
        raise BadInput(f"{scores.name} holds {len(scores.criteria)} criteria; choose one of them", where=scores.name)
    sign = -1.0 if scores.better == "lower" else 1.0
    kept = scores.frame.filter(pl.col("score").is_not_null() & pl.col("item").is_not_null())
    return {item: sign * score for item, score in kept.select("item", "score").iter_rows()}


def _standardised(values: Floats, name: str) -> Floats:
    spread = float(values.std())
    if not spread > 0:
        raise BadInput(f"{name} gives every item the same score, so nothing can be simulated from it", where=name)
    standard: Floats = (values - values.mean()) / spread
    return standard


def _as_scores(items: list[str], criteria: Sequence[str | None], values: Floats, made: Mapping[str, object]) -> Scores:
    frame = pl.DataFrame(
        {
            "item": items * len(criteria),
            "criterion": pl.Series(np.repeat(np.array(criteria, dtype=object), len(items)).tolist(), dtype=pl.String),
            "score": values.T.reshape(-1),
        }
    )
    return Scores(frame, name="simulated", made={"verb": "simulate", "simulated": True, **made})


def _owner(frame: pl.DataFrame) -> Ints:
    who = frame["owner"] if "owner" in frame.columns else frame["sheet"]
    owner: Ints = who.fill_null(frame["sheet"]).rank("dense").to_numpy().astype(np.int64) - 1
    return owner


def _truth(latent: Scores) -> tuple[list[str | None], Floats, dict[str, int]]:
    """Criteria, (items, criteria) scores with NaN where there is none, and each item's row."""
    criteria = latent.criteria
    items = latent.frame["item"].drop_nulls().unique().sort().to_list()
    row = {item: index for index, item in enumerate(items)}
    scores = np.full((len(items), len(criteria)), np.nan)
    for column, criterion in enumerate(criteria):
        part = latent.of_criterion(criterion).filter(pl.col("item").is_not_null())
        scores[[row[item] for item in part["item"].to_list()], column] = part["score"].fill_null(np.nan).to_numpy()
    complete = ~np.isnan(scores).any(axis=1)
    row = {item: index for item, index in row.items() if complete[index]}
    return criteria, -scores if latent.better == "lower" else scores, row


def _with_references(scores: Floats, row: Mapping[str, int], frame: pl.DataFrame) -> tuple[Floats, dict[str, int]]:
    """The scores, and the best of each criterion once more for every hidden reference that has none of its own."""
    rated = frame["item"].drop_nulls().unique().sort().to_list()
    hidden = [item for item in rated if item not in row and shown_reference(item) is not None]
    if not hidden or not row:
        return scores, dict(row)
    best = np.repeat(np.nanmax(scores, axis=0)[None, :], len(hidden), axis=0)
    return np.concatenate([scores, best]), {**row, **{item: len(scores) + k for k, item in enumerate(hidden)}}


def _shown(frame: pl.DataFrame, row: Mapping[str, int]) -> tuple[Ints, Ints]:
    """Rows of what each trial shows (left, or the rated item; and right); -1 where there is no score or nothing."""
    first = frame.select(pl.coalesce("left", "item")).to_series()
    return tuple(
        np.array([row.get(item, -1) if item is not None else -1 for item in column.to_list()], dtype=np.int64)
        for column in (first, frame["right"])
    )  # type: ignore[return-value]


def _all_known(frame: pl.DataFrame, name: str, lost: NDArray[np.bool_]) -> None:
    if lost.any():
        trial = frame.row(int(np.flatnonzero(lost)[0]), named=True)
        raise BadInput(
            f"{name} has no score for an item of trial '{trial['trial']}' ({trial['left'] or trial['item']}"
            f"{' | ' + trial['right'] if trial['right'] else ''}); give every shown item a latent score",
            where=trial["trial"],
        )


def _felt(
    scores: Floats, shown: tuple[Ints, Ints], owner: Ints, look: Observers, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """What each participant feels about the first and the second item of each trial; 0 where there is none."""
    n = len(scores) + 1
    padded = np.concatenate([scores, np.zeros((1, scores.shape[1]))])
    keys = np.concatenate([owner * n + np.where(rows < 0, n - 1, rows) for rows in shown])
    known, where = np.unique(keys, return_inverse=True)
    taste = look.taste_sd * rng.standard_normal((known.size, scores.shape[1]))
    felt = (np.nan_to_num(padded[known % n]) + taste)[where]
    return felt[: len(owner)], felt[len(owner) :]


def _choices(
    frame: pl.DataFrame,
    difference: Floats,
    owner: Ints,
    careless: NDArray[np.bool_],
    look: Observers,
    rng: np.random.Generator,
) -> NDArray[np.object_]:
    stages = frame["stage"].to_list()
    heat = np.array([look.stage_temperature.get(stage, look.temperature) for stage in stages])
    bias = look.left_bias + look.left_bias_sd * rng.standard_normal(careless.size)
    logit = np.clip(difference / heat[:, None] + bias[owner][:, None], -500, 500)
    lapsed = (rng.random(difference.shape) < look.lapse) | careless[owner][:, None]
    half = 0.5 * np.where(lapsed, bias[owner][:, None], logit)
    left, right = np.exp(half), np.exp(-half)
    total = left + right + look.ties
    draw = rng.random(difference.shape) * total
    answer = np.where(draw < left, "left", np.where(draw < left + right, "right", "tie")).astype(object)
    expected = np.array(frame["expected"].to_list(), dtype=object)[:, None]
    known = (expected != None) & ~lapsed  # noqa: E711
    chosen: NDArray[np.object_] = np.where(known, expected, answer)
    return chosen


def _rated(
    frame: pl.DataFrame,
    felt: Floats,
    scores: Floats,
    owner: Ints,
    careless: NDArray[np.bool_],
    look: Observers,
    rng: np.random.Generator,
) -> NDArray[np.object_]:
    people = careless.size
    usual = (look.low, look.high, look.step)
    scales = np.array([look.stage_scale.get(stage, usual) for stage in frame["stage"].to_list()], dtype=np.float64)
    low, high, step = scales.reshape(-1, 3).T[:, :, None]
    spread = float(np.nanmean(np.nanstd(scores, axis=0))) if scores.size else 1.0
    gain = look.gain if look.gain is not None else (high - low) / 5 / (spread if spread > 0 else 1.0)
    offset = look.offset_sd * rng.standard_normal(people)
    noise = look.inconsistency * np.exp(look.inconsistency_sd * rng.standard_normal(people))
    value = (low + high) / 2 + gain * (felt - np.nanmean(scores, axis=0)) + offset[owner][:, None]
    value = value + noise[owner][:, None] * rng.standard_normal(felt.shape)
    lapsed = (rng.random(felt.shape) < look.lapse) | careless[owner][:, None]
    value = np.where(lapsed, rng.uniform(low, high, felt.shape), value)
    expected = np.array([_number(text) for text in frame["expected"].to_list()])[:, None]
    value = np.where(~np.isnan(expected) & ~lapsed, expected, value)
    steps = np.round((np.clip(value, low, high) - low) / step)
    texts = [f"{x:.10g}" for x in np.minimum(low + steps * step, high).reshape(-1).tolist()]
    return np.array(texts, dtype=object).reshape(felt.shape)


def _number(text: str | None) -> float:
    return float("nan") if text is None or text in ("left", "right", "tie") else float(text)
