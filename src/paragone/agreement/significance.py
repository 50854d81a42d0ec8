"""Is one predictor better than another? Every pair of predictors on the items that both scored."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.stats import rankdata

from ..stats.dependent import Difference, bootstrap_difference, independent_z, rmse_f_test, williams_t
from ..stats.holm import holm
from ..stats.statistic import Floats
from .figures import MAPPING_PARAMETERS, Case

__all__ = ["TESTS", "Comparison", "comparison_table", "tested"]

TESTS = {
    "predictor_a": pl.String,
    "predictor_b": pl.String,
    "criterion": pl.String,
    "statistic": pl.String,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "p_holm": pl.Float64,
    "method": pl.String,
    "n": pl.Int64,
}
"""Columns of the tests and their types; method is williams, p1401-z, p1401-f or bootstrap."""


class Comparison(NamedTuple):
    """One test of one pair of predictors."""

    predictor_a: str
    predictor_b: str
    criterion: str | None
    statistic: str
    method: str
    n: int
    result: Difference


def tested(cases: Sequence[Case]) -> tuple[list[Comparison], list[dict[str, Any]]]:
    """Tests of every pair of predictors of one criterion; and which pairs have none, and why.

    Williams' t for the correlations (on ranks for srcc, on the mapped scores for plcc), ITU-T P.1401's z for plcc and F
    for rmse, and the paired bootstrap over items for every statistic that can be resampled. Too few common items (or
    clusters) are not tested. A perfect correlation has no error to test with, so p is missing there.
    """
    parts: dict[tuple[int, tuple[str, ...]], Case] = {}

    def on(case: Case, common: tuple[str, ...]) -> Case:
        if len(case.data.items) == len(common):
            return case
        key = (id(case), common)
        if key not in parts:
            place = {item: at for at, item in enumerate(case.data.items)}
            parts[key] = case.part([place[item] for item in common], resample=True)
        return parts[key]

    found: list[Comparison] = []
    untested: list[dict[str, Any]] = []
    for a, b in itertools.combinations(cases, 2):
        common = tuple(sorted(set(a.data.items) & set(b.data.items)))
        names = (a.data.predictor, b.data.predictor, a.data.criterion)
        why = on(a, common).few()
        if why:
            untested.append({**dict(zip(("predictor_a", "predictor_b", "criterion"), names, strict=True)), "why": why})
            continue
        for statistic, method, result in _tests(on(a, common), on(b, common)):
            found.append(Comparison(*names, statistic, method, len(common), _sound(result)))
    return found, untested


def comparison_table(tests: Iterable[Comparison]) -> pl.DataFrame:
    """The tests as a table, p values adjusted by Holm over the pairs of one criterion, statistic and method."""
    tests = list(tests)
    families: dict[tuple[str | None, str, str], list[int]] = {}
    for at, test in enumerate(tests):
        families.setdefault((test.criterion, test.statistic, test.method), []).append(at)
    adjusted = np.full(len(tests), math.nan)
    for members in families.values():
        adjusted[members] = holm([tests[at].result.p for at in members])
    rows = [
        {
            "predictor_a": t.predictor_a,
            "predictor_b": t.predictor_b,
            "criterion": t.criterion,
            "statistic": t.statistic,
            "difference": _known(t.result.difference),
            "low": _known(t.result.low),
            "high": _known(t.result.high),
            "p": _known(t.result.p),
            "p_holm": _known(p),
            "method": t.method,
            "n": t.n,
        }
        for t, p in zip(tests, adjusted, strict=True)
    ]
    return pl.DataFrame(rows, schema=TESTS)


def _tests(a: Case, b: Case) -> Iterator[tuple[str, str, Difference]]:
    n, level = len(a.data.items), a.level
    for name in a.statistics:
        first, second = a.value(name).value, b.value(name).value
        if math.isnan(first) or math.isnan(second):
            continue
        if name in _COMPARED:
            between = _correlation(_COMPARED[name](a), _COMPARED[name](b))
            if not math.isnan(between):
                result = williams_t(first, second, between, n, level=level)
                if max(abs(first), abs(second)) >= 1.0 and between < 1.0 - 1e-12:
                    result = result._replace(low=math.nan, high=math.nan, p=math.nan, note="a correlation is perfect")
                yield name, "williams", result
        if name in ("plcc", "plcc_4"):
            yield name, "p1401-z", independent_z(first, second, n)
        if name == "rmse":
            yield name, "p1401-f", rmse_f_test(first, second, n - MAPPING_PARAMETERS)
        draws_a, draws_b = a.draws(name), b.draws(name)
        if draws_a is not None and draws_b is not None:
            yield name, "bootstrap", bootstrap_difference(first, second, draws_a, draws_b, level=level)


_COMPARED: dict[str, Callable[[Case], Floats]] = {
    "srcc": lambda case: np.asarray(rankdata(case.data.x)),
    "plcc_raw": lambda case: case.data.x,
    "plcc": lambda case: case.mapped("logistic5"),
    "plcc_4": lambda case: case.mapped("logistic4"),
}
"""What of each predictor a correlation rests on, for the correlation between two of them."""


def _sound(result: Difference) -> Difference:
    """The difference, without an interval that has no width; a difference of nothing may keep its p of 1."""
    if not result.high - result.low <= 1e-12:
        return result
    p = result.p if result.difference == 0.0 else math.nan
    return result._replace(low=math.nan, high=math.nan, p=p, note=result.note or "the replicates show no spread")


def _correlation(a: Floats, b: Floats) -> float:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    return float(np.clip(np.corrcoef(a, b)[0, 1], -1.0, 1.0))


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
