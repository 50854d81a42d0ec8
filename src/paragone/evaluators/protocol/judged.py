"""Held-out items beside people: correlations per fold, over all folds together and inside groups, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import t as student

from ...agreement.figures import LEAST_CLUSTERS, LEAST_ITEMS
from ...stats.correlation import kendall, kendall_replicates, spearman, spearman_replicates
from ...stats.resample import bootstrap_weights, percentile_interval
from ...stats.statistic import Floats, Ints, Statistic
from .pairs import alike, clustered_kendall, inside_groups

__all__ = [
    "LEAST_FOLDS",
    "STATISTICS",
    "Court",
    "Foretold",
    "Kind",
    "Over",
    "covering",
    "expanded_level",
    "fold_mean",
]

Kind = Literal["learner", "metric", "set", "floor"]
"""What a row of the table is: learned on the training folds; a metric; a metric of sets, one value a level; a floor."""

Mask = NDArray[np.bool_]

STATISTICS: dict[str, tuple[Callable[..., Statistic], Callable[..., Floats]]] = {
    "srcc": (spearman, spearman_replicates),
    "krcc": (kendall, kendall_replicates),
}
"""Spearman's rank correlation and Kendall's tau-b: the value, and its replicates under weights."""
LEAST_FOLDS = 3
"""Fewest folds for an interval over folds: with two, Student's t reaches 12.7 standard errors to each side."""
_LEFT_OUT = (
    0.5  # our choice: correlation over folds beyond which predictions say more of the left-out mean than of items
)
_FOLLOWS = "predictions follow the mean of what was learned from"


class Over(NamedTuple):
    """A figure over folds."""

    folds: int
    """Folds in which it is defined: those that the mean is taken over."""
    mean: float
    sd: float
    """Over the folds, with folds - 1 below; NaN for fewer than two."""
    low: float
    """Lower end of the 95 % interval of the mean (Student's t over folds); NaN: none."""
    high: float
    note: str
    """How many folds are undefined and why; empty where none is."""


@dataclass(frozen=True, eq=False)
class Foretold:
    """What one predictor says of the held-out items of one criterion, row by row of a `Court`."""

    predictor: str
    kind: Kind
    score: Floats
    """(n,) in its own unit; NaN: it says nothing of the item."""
    low: Floats
    """(n,) lower end of the prediction's interval; NaN: none."""
    high: Floats
    sign: float = 1.0
    """-1 where a lower score is better."""
    reads: frozenset[str] | None = None
    """Factors that a floor reads; None: no floor."""
    note: str = ""
    """What must be known of its figures."""
    learned: Floats | None = None
    """(n,) mean target of the training items of the row's fold; None: nothing was learned."""

    @property
    def x(self) -> Floats:
        """(n,) scores, turned so that larger means better."""
        return self.sign * self.score


@dataclass(eq=False)
class Court:
    """The held-out items of one criterion beside people, and how they are resampled; draws are kept once computed."""

    criterion: str | None
    items: tuple[str, ...]
    """(n,) one row for each time that an item is held out."""
    fold: Ints
    """(n,) number of the fold."""
    folds: tuple[str, ...]
    """Names of the folds."""
    y: Floats
    """(n,) people, from all votes."""
    level: Ints
    """(n,) level of the held-out factor, numbered from 0: what the bootstrap draws."""
    group: Ints
    """(n,) group of the within-group figure; -1: in none."""
    within: frozenset[str]
    """Factors whose levels make a group; empty: no within-group figure."""
    replicates: int
    seed: int
    _draws: dict[tuple[Foretold, str, bytes], Floats] = field(default_factory=dict)
    _values: dict[tuple[Foretold, str, bytes], list[Statistic]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.n_levels = int(self.level.max(initial=-1)) + 1
        names, first, place = np.unique(np.array(self.items, dtype=object), return_index=True, return_inverse=True)
        self._first, self._place = first, place
        self.repeated = len(names) < len(self.items)
        """True where an item is held out by several folds."""
        cells = np.unique(np.column_stack([self.group, self.fold])[self.group >= 0], axis=0)
        self.spanning = len(cells) > len(np.unique(cells[:, 0]))
        """True where a group has items of several folds."""
        self.weights = bootstrap_weights(max(self.n_levels, 1), max(self.replicates, 1), self.seed)

    def by_fold(self, said: Foretold, statistic: str, kept: Mask | None = None) -> list[Statistic]:
        """The correlation inside each fold, in the order of the folds."""
        rows = self._rows(said, kept)
        key = (said, statistic, np.packbits(rows).tobytes())
        if key not in self._values:
            found = []
            for at in range(len(self.folds)):
                here = np.flatnonzero(rows & (self.fold == at))
                found.append(_correlated(said.x[here], self.y[here], STATISTICS[statistic][0]))
            self._values[key] = found
        return self._values[key]

    def pooled(self, said: Foretold, statistic: str, kept: Mask | None = None) -> Statistic:
        """The correlation over all held-out items, with a bootstrap interval over held-out levels (expanded for few).

        An item that several folds hold out enters once, with the mean of its predictions.
        """
        rows = self._rows(said, kept)
        at, x = self._once(said, rows)
        flat = self._flat(said, rows)
        if flat and len(at):
            return Statistic.undefined(len(at), flat)
        found = _correlated(x, self.y[at], STATISTICS[statistic][0])
        why = self.few_levels(at)
        if not found.defined or why or not self.replicates:
            return found._replace(low=math.nan, high=math.nan, note=found.note or why)
        return _with_percentiles(found, self.draws(said, statistic, kept), len(np.unique(self.level[at])))

    def draws(self, said: Foretold, statistic: str, kept: Mask | None = None) -> Floats:
        """(r,) pooled correlations under each resample of the held-out levels; equal resamples for all predictors."""
        rows = self._rows(said, kept)
        key = (said, statistic, np.packbits(rows).tobytes())
        if key not in self._draws:
            at, x = self._once(said, rows)
            if statistic == "krcc":
                self._draws[key] = clustered_kendall(x, self.y[at], self.level[at], self.weights)
            else:
                self._draws[key] = STATISTICS[statistic][1](x, self.y[at], self.weights[:, self.level[at]])
        return self._draws[key]

    def inside(self, said: Foretold, statistic: str) -> tuple[Statistic, int]:
        """The mean over groups of the correlation inside a group, and over how many groups.

        The interval is a bootstrap over held-out levels: a level that is drawn twice counts twice inside each group
        that spans levels, and takes the groups that lie inside it along.
        """
        rows = self._rows(said, None)
        if not self.within:
            return Statistic.undefined(0, ""), 0
        if said.reads is not None and said.reads <= self.within:
            return Statistic.undefined(0, "inside a group the floor knows nothing but which item is held out"), 0
        at, x = self._once(said, rows & (self.group >= 0))
        weights = np.vstack([np.ones(self.n_levels), self.weights])  # the first row is the data themselves
        drawn, shares = [], []
        for levels, members in alike(self.group[at], self.level[at]).items():
            if len(levels) >= LEAST_ITEMS:
                own = weights[:, list(levels)]
                drawn.append(inside_groups(x[members], self.y[at][members], own, statistic))
                shares.append(np.repeat(own.mean(axis=1, keepdims=True), len(members), axis=1))
        if not drawn or np.isnan(np.hstack(drawn)[0]).all():
            return Statistic.undefined(0, f"no group has {LEAST_ITEMS} items and a correlation"), 0
        values, share = np.hstack(drawn), np.hstack(shares)
        defined = ~np.isnan(values[0])
        lost = int((~defined).sum())
        note = f"{lost} groups have no correlation and are left out" if lost else ""
        mean = Statistic(float(values[0, defined].mean()), math.nan, math.nan, len(at), note)
        few = self.few_levels(at)
        if few or not self.replicates:
            return mean._replace(note="; ".join(filter(None, (note, few)))), int(defined.sum())
        again, share = values[1:, defined], share[1:, defined]
        share = np.where(np.isnan(again), 0.0, share)
        total = share.sum(axis=1)
        means = np.divide(
            (np.nan_to_num(again) * share).sum(axis=1), total, out=np.full(len(total), np.nan), where=total > 0
        )
        return _with_percentiles(mean, means, len(np.unique(self.level[at]))), int(defined.sum())

    def follows(self, said: Foretold) -> str:
        """Why a pooled value is lowered: the predictions of whole folds follow the mean that was left to learn from.

        That mean is low where the held-out items are good, so that a predictor which knows little more than it is ranked
        upside down over the folds. One that knows the held-out levels goes the other way. Empty: nothing to say.
        """
        if said.learned is None or self.repeated:
            return ""
        known = ~np.isnan(said.score)
        folds = np.unique(self.fold[known])
        means = np.array([[part[known & (self.fold == at)].mean() for at in folds] for part in (said.x, said.learned)])
        if len(folds) < LEAST_FOLDS or (np.ptp(means, axis=1) <= 1e-12).any():
            return ""
        r = float(np.corrcoef(means)[0, 1])
        return f"{_FOLLOWS} (r = {r:.2f} over folds), which is low where a fold is good" if r > _LEFT_OUT else ""

    def common(self, a: Foretold, b: Foretold) -> Mask:
        """(n,) rows that both predict."""
        return ~np.isnan(a.score) & ~np.isnan(b.score)

    def few_levels(self, at: Ints) -> str:
        """Why there is no bootstrap over held-out levels; empty where there are enough."""
        levels = len(np.unique(self.level[at]))
        return (
            f"{levels} held-out levels, {LEAST_CLUSTERS} are needed for an interval" if levels < LEAST_CLUSTERS else ""
        )

    def _flat(self, said: Foretold, rows: Mask) -> str:
        """Why nothing can be pooled: a predictor that is constant in each fold varies with the left-out mean alone."""
        folds = [said.x[rows & (self.fold == at)] for at in np.unique(self.fold[rows])]
        if all(len(own) and np.ptp(own) == 0 for own in folds) and any(len(own) > 1 for own in folds):
            return "constant in every fold; a constant has no correlation"
        return ""

    def _rows(self, said: Foretold, kept: Mask | None) -> Mask:
        known: Mask = ~np.isnan(said.score)
        return known if kept is None else known & kept

    def _once(self, said: Foretold, rows: Mask) -> tuple[Ints, Floats]:
        """Rows, one an item, and the mean prediction of each item."""
        if not self.repeated:
            at = np.flatnonzero(rows)
            return at, said.x[at]
        count = np.bincount(self._place[rows], minlength=len(self._first))
        total = np.bincount(self._place[rows], weights=said.x[rows], minlength=len(self._first))
        some = count > 0
        return self._first[some], total[some] / count[some]


def covering(folds: Sequence[int], n: Sequence[int]) -> list[bool]:
    """Which predictors may be called best or strongest: those with figures of half as many folds and items as the most
    complete one, or more. A metric that knows a few items may agree with people perfectly there.

    Args:
        folds: of each, in which its figure is defined.
        n: items of each.
    """
    most_folds, most_n = max(folds, default=0), max(n, default=0)
    return [2 * f >= most_folds and 2 * m >= most_n for f, m in zip(folds, n, strict=True)]


def fold_mean(values: Sequence[Statistic], *, repeated: bool) -> Over:
    """Mean, standard deviation and t interval over the folds in which a figure is defined.

    Args:
        values: one a fold.
        repeated: folds share held-out items, so that they say less than as many independent ones; no interval then.
    """
    known = np.array([found.value for found in values if found.defined])
    reasons = [found.note for found in values if not found.defined]
    lost = len(values) - len(known)
    note = f"{lost} of {len(values)} folds undefined ({_most_common(reasons)}), left out of the mean" if lost else ""
    if not len(known):
        return Over(0, math.nan, math.nan, math.nan, math.nan, f"undefined in all folds: {_most_common(reasons)}")
    mean = float(known.mean())
    sd = float(known.std(ddof=1)) if len(known) > 1 else math.nan
    low = high = math.nan
    if len(known) >= LEAST_FOLDS and sd > 0 and not repeated:
        half = float(student.ppf(0.975, len(known) - 1)) * sd / math.sqrt(len(known))
        low, high = max(mean - half, -1.0), min(mean + half, 1.0)
    return Over(len(known), mean, sd, low, high, note)


def _most_common(words: Sequence[str]) -> str:
    return max(dict.fromkeys(words), key=words.count) if words else "no fold"


def _correlated(x: Floats, y: Floats, value: Callable[..., Statistic]) -> Statistic:
    if len(x) < LEAST_ITEMS:
        return Statistic.undefined(len(x), f"{len(x)} items; {LEAST_ITEMS} or more are needed")
    for side, values in (("the prediction is", x), ("people's scores are", y)):
        if np.ptp(values) == 0:
            return Statistic.undefined(len(x), f"{side} constant, and a constant has no correlation")
    return value(x, y)


def expanded_level(units: int) -> float:
    """The level at which percentiles of a bootstrap over few units cover 95 %.

    A bootstrap of n units underestimates the variance by (n - 1) / n and knows nothing of Student's longer tails: with
    five held-out levels its plain 95 % interval holds the truth far less often.

    Args:
        units: what is drawn with replacement, >= 2.

    Returns:
        A level in (0.95, 1), which tends to 0.95 for many units.

    Source:
        Hesterberg, "What teachers should know about the bootstrap: resampling in the undergraduate statistics
        curriculum", The American Statistician 69(4), 2015 (expanded percentile interval).
    """
    reach = math.sqrt(units / (units - 1)) * float(student.ppf(0.975, units - 1))
    return 1.0 - 2.0 * float(ndtr(-reach))


def _with_percentiles(found: Statistic, draws: Floats, units: int) -> Statistic:
    known = draws[~np.isnan(draws)]
    if len(known) < 2 or 2 * len(known) < len(draws) or np.ptp(known) <= 1e-12:
        return found._replace(low=math.nan, high=math.nan, note=found.note or "the resamples show no spread")
    bounds = percentile_interval(known, level=expanded_level(units))
    return found._replace(low=float(bounds.low), high=float(bounds.high), note=found.note)
