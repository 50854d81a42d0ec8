"""The statistics of one predictor against people, and their replicates over resampled items."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from ..errors import TooFew
from ..stats.correlation import (
    kendall,
    kendall_replicates,
    pearson,
    pearson_replicates,
    spearman,
    spearman_replicates,
)
from ..stats.cubic import fit_monotone_cubic
from ..stats.discrimination import (
    Pairs,
    better_worse,
    better_worse_replicates,
    different_similar,
    different_similar_replicates,
    outlier_ratio,
    pairwise_accuracy,
    pairwise_accuracy_replicates,
    rmse_interval,
    rmse_star,
    significant_pairs,
)
from ..stats.logistic import LogisticFit, fit_logistic, out_of_fold
from ..stats.statistic import Floats, Statistic
from .align import Matched
from .settled import settled

__all__ = [
    "DEFAULT_STATISTICS",
    "LEAST_CLUSTERS",
    "LEAST_FOR_INTERVAL",
    "LEAST_ITEMS",
    "MAPPING_PARAMETERS",
    "MOST_PAIRED",
    "STATISTICS",
    "Case",
    "Figure",
]

DEFAULT_STATISTICS = (
    "srcc",
    "krcc",
    "plcc_raw",
    "plcc",
    "plcc_4",
    "plcc_oof",
    "rmse",
    "outlier_ratio",
    "pairwise_accuracy",
    "auc_different",
    "auc_better",
)

LEAST_ITEMS = 3
"""Fewest items for any figure: two items always correlate perfectly, one way or the other."""
LEAST_FOR_INTERVAL = 5
"""Fewest items for an interval or a test. Our choice: five have 126 different resamples, four only 35, and at n = 4
the approximations on Fisher's scale rest on one degree of freedom."""
LEAST_CLUSTERS = 5
"""Fewest clusters for an interval or a test, where clusters are resampled: for the same reason."""
MOST_PAIRED = 2000
"""Items whose pairs are looked at: two million pairs, some 100 MB."""
MAPPING_PARAMETERS = 5
"""Parameters of the mapping behind rmse and rmse_star."""
_FOLDS = 5  # of plcc_oof


@dataclass(eq=False)
class Case:
    """One predictor, one criterion, some items; what several statistics or tests share is computed once."""

    data: Matched
    statistics: tuple[str, ...]
    max_slope: float
    level: float
    weights: Floats | None = None
    """(r, m) resampling counts of the items; None: nothing is resampled."""
    clusters: tuple[str, ...] | None = None
    """(m,) cluster of each item, where clusters are what is resampled."""
    parent: Case | None = None
    """The case of all items, whose curves a part of the items uses; None for all items."""
    _fits: dict[str, LogisticFit] = field(default_factory=dict)
    _values: dict[str, Statistic] = field(default_factory=dict)
    _draws: dict[str, Floats | None] = field(default_factory=dict)

    def value(self, name: str) -> Statistic:
        """One statistic, with the interval that it has without resampling."""
        if name not in self._values:
            why = self._hindrance(name)
            figure = STATISTICS[name]
            n = len(self.data.items)
            self._values[name] = Statistic.undefined(n, why) if why else settled(figure.value(self), self.few())
        return self._values[name]

    def few(self) -> str:
        """Why nothing can be said about uncertainty: too few items or clusters; empty where there are enough."""
        n = len(self.data.items)
        if n < LEAST_FOR_INTERVAL:
            return f"{n} common items, {LEAST_FOR_INTERVAL} are needed"
        if self.clusters is not None and len(set(self.clusters)) < LEAST_CLUSTERS:
            return f"{len(set(self.clusters))} clusters, {LEAST_CLUSTERS} are needed"
        return ""

    def _hindrance(self, name: str) -> str:
        """Why the statistic cannot be computed at all; empty where it can be tried."""
        needs, n = STATISTICS[name].needs, len(self.data.items)
        whole = self.data if self.parent is None else self.parent.data
        if n < LEAST_ITEMS:
            return f"{n} common items; three or more are needed"
        parameters = STATISTICS[name].parameters
        if len(whole.items) <= parameters:
            return (
                f"{len(whole.items)} common items; a curve of {parameters} parameters passes through as many, so "
                f"{parameters + 1} or more are needed"
            )
        if (needs == "scores" and self.data.mixed) or (needs == "curve" and whole.mixed):
            return "people never compared all these items with each other, so their scores have no common scale"
        return ""

    def draws(self, name: str) -> Floats | None:
        """(r,) replicates of one statistic, the curve held fixed; None where it has none."""
        if name not in self._draws:
            make = STATISTICS[name].replicates
            none = make is None or self.weights is None or bool(self._hindrance(name))
            self._draws[name] = None if none or make is None or self.weights is None else make(self, self.weights)
        return self._draws[name]

    def part(self, kept: Sequence[int], *, resample: bool = False) -> Case:
        """The case of some of the items, by position, under the curves of all."""
        weights = self.weights[:, list(kept)] if resample and self.weights is not None else None
        clusters = None if self.clusters is None else tuple(self.clusters[at] for at in kept)
        data = self.data.subset(kept)
        return Case(data, self.statistics, self.max_slope, self.level, weights, clusters, parent=self)

    def with_scores(self, y: Floats) -> Case:
        """The case with other scores of people, under the same curves and the same pairs that people tell apart."""
        other = Case(replace(self.data, y=y), self.statistics, self.max_slope, self.level, parent=self)
        other.__dict__["pairs"] = self.pairs
        return other

    def fit(self, form: Literal["logistic5", "logistic4"] = "logistic5") -> LogisticFit:
        """The monotone logistic, fitted on all items."""
        if self.parent is not None:
            return self.parent.fit(form)
        if form not in self._fits:
            self._fits[form] = fit_logistic(self.data.x, self.data.y, form=form, max_slope=self.max_slope)
        return self._fits[form]

    def mapped(self, form: Literal["logistic5", "logistic4"] = "logistic5") -> Floats:
        """(m,) the predictor on people's scale."""
        return self.fit(form).curve(self.data.x)

    @property
    def parameters(self) -> int:
        """Degrees of freedom that the curve took from these items: none from a part of the items."""
        return MAPPING_PARAMETERS if self.parent is None else 0

    @cached_property
    def pairs(self) -> Pairs | None:
        """Which pairs people tell apart: by their joint replicates, else by their intervals; None without intervals.

        An item without an interval beside others that have one was judged by too few people to be told from anything.
        Of more than MOST_PAIRED items, that many are drawn (always the same), since pairs grow with the square.
        """
        d = self.data
        if np.isnan(d.half).all():
            return None  # replicates of too few people say nothing, however close together they lie
        at = np.flatnonzero(~np.isnan(d.half)) if d.draws is not None else np.arange(len(d.items))
        if len(at) > MOST_PAIRED:
            at = np.sort(np.random.default_rng(0).choice(len(at), MOST_PAIRED, replace=False))
        if d.draws is not None:
            found = significant_pairs(d.y[at], draws=d.draws[:, at])
        else:
            found = significant_pairs(d.y[at], stderr=d.stderr[at])
        found = found._replace(first=at[found.first], second=at[found.second])
        if d.apart is None:
            return found
        together = d.apart[found.first] == d.apart[found.second]
        return Pairs(*(part[together] for part in found))


@dataclass(frozen=True)
class Figure:
    """A statistic: what it says, how it is computed, and how it is resampled."""

    summary: str
    value: Callable[[Case], Statistic]
    replicates: Callable[[Case, Floats], Floats | None] | None = None
    larger_is_better: bool = True
    parameters: int = 0
    """Parameters of the curve that the figure judges: items that do not outnumber them are met whatever they are."""
    needs: Literal["scores", "curve", "pairs"] = "scores"
    """What must be on one scale of people: the items' scores, those of all items (for the curve), or each pair."""


def _correlated(compute: Callable[..., Statistic]) -> Callable[[Case], Statistic]:
    """A correlation of the predictor with people."""

    def value(case: Case) -> Statistic:
        flat = _flat(case)
        return flat or compute(case.data.x, case.data.y, level=case.level)

    return value


def _flat(case: Case, fitted: Floats | None = None) -> Statistic | None:
    """Nothing, and which side is constant; None where neither is. `fitted` is what a curve makes of the predictor."""
    sides = [("the predictor is", case.data.x), ("people's scores are", case.data.y)]
    for side, values in [*sides, *([] if fitted is None else [("the fitted curve is", fitted)])]:
        if np.ptp(values) == 0:
            return Statistic.undefined(
                len(case.data.items), f"{side} constant over these items, so nothing can correlate"
            )
    return None


def _mapped_plcc(form: Literal["logistic5", "logistic4"]) -> Callable[[Case], Statistic]:
    def value(case: Case) -> Statistic:
        fitted = case.mapped(form)
        flat = _flat(case, fitted)
        if flat is not None:
            return flat
        found = pearson(fitted, case.data.y, level=case.level)
        return found._replace(note=found.note or case.fit(form).note)

    return value


def _mapped_replicates(form: Literal["logistic5", "logistic4"]) -> Callable[[Case, Floats], Floats]:
    def replicates(case: Case, weights: Floats) -> Floats:
        return pearson_replicates(case.mapped(form), case.data.y, weights)

    return replicates


def _out_of_fold(case: Case) -> Statistic:
    n = len(case.data.items)
    if case.parent is not None:
        return Statistic.undefined(n, "given for all items only")
    if n < 2 * _FOLDS:
        return Statistic.undefined(n, f"{n} common items; ten or more are needed")
    flat = _flat(case)
    if flat is not None:
        return flat
    r = out_of_fold(case.data.x, case.data.y, max_slope=case.max_slope, folds=_FOLDS)
    if math.isnan(r):
        return Statistic.undefined(n, "the fitted curves are constant over these items, so nothing can correlate")
    return Statistic(r, math.nan, math.nan, n, "five folds")


def _cubic(case: Case) -> Statistic:
    n = len(case.data.items)
    if case.parent is not None:
        return Statistic.undefined(n, "given for all items only")
    try:
        fit = fit_monotone_cubic(case.data.x, case.data.y)
    except TooFew as few:
        return Statistic.undefined(n, few.message)
    fitted = fit.predict(case.data.x)
    return _flat(case, fitted) or pearson(fitted, case.data.y, level=case.level)


def _error(case: Case) -> Floats:
    return case.data.y - case.mapped()


def _rmse(case: Case) -> Statistic:
    return rmse_interval(_error(case), case.parameters, level=case.level)


def _rmse_replicates(case: Case, weights: Floats) -> Floats:
    n = len(case.data.items)
    scale = n / (n - case.parameters) if n > case.parameters else math.nan
    return np.asarray(np.sqrt(weights @ _error(case) ** 2 / weights.sum(axis=1) * scale))


def _outliers(case: Case) -> Statistic:
    if np.isnan(case.data.half).all():
        return Statistic.undefined(0, "people's scores have no intervals")
    return outlier_ratio(_error(case), case.data.half, level=case.level)


def _outlier_replicates(case: Case, weights: Floats) -> Floats | None:
    known = ~np.isnan(case.data.half)
    if not known.any():
        return None
    out = (np.abs(_error(case)) > case.data.half)[known].astype(np.float64)
    w = weights[:, known]
    total = w.sum(axis=1)
    return np.asarray(np.divide(w @ out, total, out=np.full(len(w), np.nan), where=total > 0))


def _rmse_star(case: Case) -> Statistic:
    if np.isnan(case.data.half).all():
        return Statistic.undefined(0, "people's scores have no intervals")
    return rmse_star(_error(case), case.data.half, case.parameters)


def _of_pairs(compute: Callable[[Floats, Pairs], Statistic]) -> Callable[[Case], Statistic]:
    def value(case: Case) -> Statistic:
        if case.pairs is None:
            return Statistic.undefined(0, "people's scores have neither intervals nor replicates")
        return compute(case.data.x, case.pairs)

    return value


def _pair_replicates(compute: Callable[[Floats, Pairs, Floats], Floats]) -> Callable[[Case, Floats], Floats | None]:
    def replicates(case: Case, weights: Floats) -> Floats | None:
        pairs = case.pairs
        if pairs is None or not pairs.significant.any():
            return None
        return compute(case.data.x, pairs, weights)

    return replicates


STATISTICS: Mapping[str, Figure] = {
    "srcc": Figure(
        "Spearman's rank correlation",
        _correlated(spearman),
        lambda case, weights: spearman_replicates(case.data.x, case.data.y, weights),
    ),
    "krcc": Figure(
        "Kendall's tau-b",
        _correlated(kendall),
        lambda case, weights: kendall_replicates(case.data.x, case.data.y, weights),
    ),
    "plcc_raw": Figure(
        "Pearson's correlation of the scores as they are",
        _correlated(pearson),
        lambda case, weights: pearson_replicates(case.data.x, case.data.y, weights),
    ),
    "plcc": Figure(
        "Pearson's correlation after the monotone 5-parameter logistic",
        _mapped_plcc("logistic5"),
        _mapped_replicates("logistic5"),
        parameters=MAPPING_PARAMETERS,
        needs="curve",
    ),
    "plcc_4": Figure(
        "Pearson's correlation after the 4-parameter logistic",
        _mapped_plcc("logistic4"),
        _mapped_replicates("logistic4"),
        parameters=4,
        needs="curve",
    ),
    "plcc_cubic": Figure("Pearson's correlation after the monotone cubic of ITU-T P.1401", _cubic, needs="curve"),
    "plcc_oof": Figure("Pearson's correlation with curves that did not see the item", _out_of_fold, needs="curve"),
    "rmse": Figure(
        "root-mean-square error after the 5-parameter logistic, n - 5 degrees of freedom",
        _rmse,
        _rmse_replicates,
        parameters=MAPPING_PARAMETERS,
        larger_is_better=False,
        needs="curve",
    ),
    "rmse_star": Figure(
        "the same beyond people's own intervals",
        _rmse_star,
        parameters=MAPPING_PARAMETERS,
        larger_is_better=False,
        needs="curve",
    ),
    "outlier_ratio": Figure(
        "share of items whose error exceeds people's 95 % half width",
        _outliers,
        _outlier_replicates,
        parameters=MAPPING_PARAMETERS,
        larger_is_better=False,
        needs="curve",
    ),
    "pairwise_accuracy": Figure(
        "share of the pairs people tell apart that are ordered as they do",
        _of_pairs(pairwise_accuracy),
        _pair_replicates(pairwise_accuracy_replicates),
        needs="pairs",
    ),
    "auc_different": Figure(
        "area with which differences separate pairs people tell apart from the others",
        _of_pairs(different_similar),
        _pair_replicates(different_similar_replicates),
        needs="pairs",
    ),
    "auc_better": Figure(
        "area with which differences say which of two items people find better",
        _of_pairs(better_worse),
        _pair_replicates(better_worse_replicates),
        needs="pairs",
    ),
}
"""Every statistic that `compare` knows, by the name in the table."""
