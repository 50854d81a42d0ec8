"""`compare`: people's scores beside any number of predictors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl
from scipy.stats import t as student

from ..errors import BadInput, BadTable, UnknownName
from ..scores import AGREEMENT, Agreement, Scores
from ..stats.resample import bootstrap_weights
from ..stats.statistic import Floats, Statistic
from .align import Matched, matches
from .figures import DEFAULT_STATISTICS, STATISTICS, Case
from .settled import NO_INTERVAL, bare, resampled, settled
from .significance import Comparison, comparison_table, tested

__all__ = ["compare"]


def compare(
    human: Scores,
    *machines: Scores,
    group: pl.DataFrame | None = None,
    cluster: pl.DataFrame | None = None,
    statistics: Sequence[str] = DEFAULT_STATISTICS,
    uncertainty: Literal["items", "joint"] = "items",
    replicates: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    max_slope: float = math.inf,
) -> Agreement:
    """Measure how far each predictor agrees with people, and test each against the others.

    Items are joined by id; those that only one side has, or that have no score, are left out and counted. Predictors
    whose `better` is lower are turned, so that a positive correlation always means agreement. A predictor without a
    criterion speaks to every criterion of people, one with a criterion to the equal one (or to people's unnamed one).

    Where people's scores lie in groups that were never compared with each other (a column `connected_group` of several
    values), only pairs inside a group count, and correlations are given per group and as their mean.

    Intervals: correlations on Fisher's scale (Bonett and Wright for srcc), rmse and outlier ratio after ITU-T P.1401,
    the rest by the percentile bootstrap over items, the fitted curves held fixed. With `cluster` or
    `uncertainty="joint"` every interval is a bootstrap. Tests use the bootstrap, Williams' t and P.1401, adjusted by
    Holm over the pairs of predictors.

    Floors: a figure needs three items, one behind a fitted curve more items than the curve has parameters; an interval
    or a test needs five items and, with `cluster`, five clusters. An interval without width (of a correlation of
    exactly 1, say) is not given, nor is a p value of Williams' t or P.1401 where a correlation is perfect.

    Args:
        human: people's scores; pairs of items are told apart by its draws, else by its 95 % intervals.
        machines: one or more predictors, each with a name of its own.
        group: factors to look into separately: a column `item` and one column per factor. Adds rows with group
            'factor=level' (curves as fitted on all items) and 'factor=*', the plain mean over the levels, with a t
            interval over them. Pooled correlations mislead where levels differ.
        cluster: a column `item` and one other: items that share its value are resampled together (say, one content).
        statistics: names from STATISTICS.
        uncertainty: 'items' resamples items; 'joint' also replaces people's scores by their replicates (needs draws),
            recentred, since a replicate carries the noise twice.
        replicates: bootstrap resamples; 0 for none.
        seed: of the bootstrap.
        level: coverage of the intervals.
        max_slope: limit of the logistic's slope, per standard deviation of the predictor; see `stats.logistic`.

    Returns:
        The agreement; `notes` has `items` (what was compared and left out), `curves` (the fitted logistics, in the
        predictor's own unit), `undefined` (why a number is missing; where only the interval is, `why` begins with 'the
        interval only') and `untested` (pairs of predictors without tests, and why).

    Raises:
        BadInput: something that is no Scores, no predictor, two of one name, items against levels, nothing in common,
            or joint without draws.
        UnknownName: a statistic that is not known.
        BadTable: `group` or `cluster` has no column `item`, no other column, or an item twice.

    Source:
        See `stats.correlation`, `stats.logistic`, `stats.discrimination` and `stats.dependent`.
    """
    names = tuple(dict.fromkeys(statistics))
    for name in names:
        if name not in STATISTICS:
            raise UnknownName.among(name, STATISTICS, "statistic")
    _check(human, machines, uncertainty, replicates)
    pairs = [found for machine in machines for found in matches(human, machine) if found.items]
    if not pairs:
        raise BadInput(
            f"{human.name} shares no scored item and criterion with {', '.join(m.name for m in machines)}; "
            "check the item ids and the criteria",
            where=machines[0].name,
        )
    items = sorted({item for found in pairs for item in found.items})
    clusters = None if cluster is None else _clusters(cluster, items)
    weights = bootstrap_weights(len(items), replicates, seed, clusters=clusters) if replicates else None
    place = {item: at for at, item in enumerate(items)}
    cases = []
    for pair in pairs:
        at = [place[item] for item in pair.items]
        own = None if clusters is None else tuple(clusters[i] for i in at)
        cases.append(Case(pair, names, max_slope, level, None if weights is None else weights[:, at], own))
    joint = uncertainty == "joint"
    rows = _Rows()
    for case in cases:
        for name in names:
            rows.add(case.data, name, _with_interval(case, name, joint), None)
        factors = {} if group is None else _levels(group, case.data.items, "group")
        if case.data.apart is not None and case.data.mixed:
            factors = {"connected_group": [str(number) for number in case.data.apart], **factors}
        _add_groups(rows, case, factors, only_resampled=joint or cluster is not None)
    tests: list[Comparison] = []
    untested: list[dict[str, Any]] = []
    for criterion in dict.fromkeys(case.data.criterion for case in cases):
        own_tests, reasons = tested([case for case in cases if case.data.criterion == criterion])
        tests += own_tests
        untested += reasons
    notes = {
        "items": [case.data.notes for case in cases],
        "curves": [note for case in cases for note in _curves(case)],
        "undefined": rows.undefined,
        "untested": untested,
    }
    return Agreement(rows.frame(), comparison_table(tests), notes)


class _Rows:
    """The lines of the table, and why some have no number."""

    def __init__(self) -> None:
        self._records: list[dict[str, Any]] = []
        self.undefined: list[dict[str, Any]] = []

    def add(self, data: Matched, statistic: str, found: Statistic, group: str | None) -> None:
        where = {"predictor": data.predictor, "criterion": data.criterion, "statistic": statistic, "group": group}
        numbers = {key: _known(getattr(found, key)) for key in ("value", "low", "high")}
        self._records.append({**where, **numbers, "n": found.n})
        if not found.defined or found.note.startswith(NO_INTERVAL):
            self.undefined.append({**where, "why": found.note})

    def frame(self) -> pl.DataFrame:
        types = {"text": pl.String, "id": pl.String, "number": pl.Float64, "whole": pl.Int64}
        return pl.DataFrame(self._records, schema={column.name: types[column.kind] for column in AGREEMENT.columns})


def _with_interval(case: Case, name: str, joint: bool) -> Statistic:
    """One figure with the interval that was asked for, or with the reason why it has none."""
    found, few = case.value(name), case.few()
    if not found.defined:
        return found
    dependent = joint or case.clusters is not None
    if few:
        return found if STATISTICS[name].replicates is None else bare(found, few)
    if not dependent and not math.isnan(found.low):
        return found
    draws = _joint(case, name) if joint else case.draws(name)
    if draws is not None:
        return settled(resampled(found, draws, level=case.level, recentre=joint))
    return found if math.isnan(found.low) or not dependent else bare(found, _DEPENDENT)


_DEPENDENT = "it would take the items as independent, and this figure is not resampled"


def _add_groups(rows: _Rows, case: Case, factors: Mapping[str, list[str | None]], *, only_resampled: bool) -> None:
    """Rows of each level of each factor, then their mean; levels are not resampled."""
    names = [name for name in case.statistics if name not in ("plcc_oof", "plcc_cubic")]  # they fit anew
    for factor, levels in factors.items():
        parts: list[Case] = []
        for one in sorted({value for value in levels if value is not None}):
            part = case.part([at for at, value in enumerate(levels) if value == one])
            parts.append(part)
            for name in names:
                found = part.value(name)
                if only_resampled and not math.isnan(found.low):
                    found = bare(found, _DEPENDENT)
                rows.add(case.data, name, found, f"{factor}={one}")
        for name in names:
            rows.add(case.data, name, _mean([part.value(name) for part in parts], case.level), f"{factor}=*")


def _mean(parts: Sequence[Statistic], level: float) -> Statistic:
    """Plain mean over the levels that have a number; the interval takes the levels as a sample of levels."""
    known = np.array([part.value for part in parts if part.defined])
    n = sum(part.n for part in parts if part.defined)
    if not len(known):
        return Statistic.undefined(0, "no level has a number")
    mean = float(known.mean())
    if len(known) < 3:
        return Statistic(mean, math.nan, math.nan, n, "no interval below three levels")
    half = float(student.ppf(0.5 + level / 2.0, len(known) - 1)) * float(known.std(ddof=1)) / math.sqrt(len(known))
    return settled(Statistic(mean, mean - half, mean + half, n))


def _joint(case: Case, name: str) -> Floats | None:
    """Replicates over items and over people's replicates at once; curves and pairs stay those of the full data."""
    draws, make = case.data.draws, STATISTICS[name].replicates
    if draws is None or make is None or case.weights is None or not case.value(name).defined:
        return None
    found = np.full(len(case.weights), np.nan)
    for at, weight in enumerate(case.weights):
        part = case.with_scores(draws[at % len(draws)])
        one = make(part, weight[None, :])
        if one is not None:
            found[at] = one[0]
    return found


def _levels(table: pl.DataFrame, items: Sequence[str], what: str) -> dict[str, list[str | None]]:
    """For each factor of the table, the level of each item (null where it has none)."""
    if "item" not in table.columns or len(table.columns) < 2:
        raise BadTable(f"{what}: a column 'item' and one or more factors are needed", where=what)
    table = table.with_columns(pl.all().cast(pl.String))
    if table["item"].is_duplicated().any():
        twice = table.filter(table["item"].is_duplicated())["item"][0]
        raise BadTable(f"{what}: item '{twice}' stands twice", where=what)
    joined = pl.DataFrame({"item": list(items)}).join(table, on="item", how="left", maintain_order="left")
    return {name: joined[name].to_list() for name in table.columns if name != "item"}


def _clusters(table: pl.DataFrame, items: Sequence[str]) -> list[str]:
    """The cluster of each item."""
    factors = _levels(table, items, "cluster")
    if len(factors) != 1:
        raise BadTable(f"cluster: one column beside 'item' is needed, not {len(factors)}", where="cluster")
    (labels,) = factors.values()
    missing = [item for item, label in zip(items, labels, strict=True) if label is None]
    if missing:
        raise BadTable(f"cluster: item '{missing[0]}' has none ({len(missing)} such items)", where="cluster")
    return [label for label in labels if label is not None]


def _curves(case: Case) -> Iterable[dict[str, Any]]:
    forms: tuple[Literal["logistic5", "logistic4"], ...] = ("logistic5", "logistic4")
    for form in forms:
        wanted = ("plcc_4",) if form == "logistic4" else ("plcc", "rmse", "rmse_star", "outlier_ratio")
        if len(case.data.items) < 3 or case.data.mixed or not set(wanted) & set(case.statistics):
            continue
        fit = case.fit(form)
        yield {
            "predictor": case.data.predictor,
            "criterion": case.data.criterion,
            "form": fit.curve.form,
            "parameters": list(fit.curve.turned(case.data.sign).parameters),
            "monotone": fit.monotone,
            "converged": fit.converged,
            "steep": fit.steep,
            "plcc_raw": _known(fit.plcc_raw),
            "plcc": _known(fit.plcc),
            "rmse": fit.rmse,
            "n": fit.n,
            "note": fit.note,
        }


def _check(human: Scores, machines: Sequence[Scores], uncertainty: str, replicates: int) -> None:
    if not machines:
        raise BadInput("nothing to compare with people; name one or more tables of machine scores")
    for given in (human, *machines):
        if not isinstance(given, Scores):
            raise BadInput(
                f"compare takes Scores, not {type(given).__name__}; read them with read_scores or make Scores(frame)",
                where="compare",
            )
    names = [machine.name for machine in machines]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadInput(f"two predictors are called '{twice[0]}'; give each table a name of its own", where=twice[0])
    if uncertainty not in ("items", "joint"):
        raise BadInput(f"uncertainty '{uncertainty}' is not one of items, joint")
    if replicates < 0:
        raise BadInput(f"{replicates} bootstrap replicates; 0 or more are needed")
    if uncertainty == "joint" and human.draws is None:
        raise BadInput(f"joint uncertainty needs replicates of {human.name}; score with bootstrap intervals")
    if uncertainty == "joint" and replicates == 0:
        raise BadInput("joint uncertainty needs bootstrap replicates; give 1 or more")


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
