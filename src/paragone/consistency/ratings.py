"""Consistency of ratings: intraclass correlation, alpha, split halves, repeats, and raters against raters."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from scipy.stats import kendalltau, rankdata

from ..stats.correlation import pearson, pearson_replicates
from ..stats.icc import Reliability, icc_incomplete, icc_two_way, split_half
from ..stats.kappa import Metric, alpha_replicates
from ..stats.statistic import Floats, Ints, Statistic
from .repeats import Part, first_answers
from .resampled import codes, few, interval, people_weights, with_width

__all__ = ["rating_rows"]

_STATISTICS = (
    "icc_2_1",
    "icc_2_k",
    "alpha_ordinal",
    "alpha_interval",
    "split_half",
    "spearman_brown",
    "repeat_correlation",
    "repeat_rmse",
    "between_spearman",
    "between_kendall",
)
_ICC_ITEMS = 3  # fewest items of an ICC, our choice: two items have one difference, and no spread of differences
_FINISHED_SHARE = 0.5  # the finished raters' table stands for the study if it holds half of all ratings
_PAIRS = 2000  # pairs of raters that are correlated; more are drawn at random
_COMMON = 3  # fewest items that two raters must share


def rating_rows(part: pl.DataFrame, *, seed: int, replicates: int) -> Part:
    """Statistics of one criterion in one stage; `part` comes from `with_repeats`."""
    rng = np.random.default_rng(seed)
    known = part.filter(pl.col("participant").is_not_null())
    once = first_answers(known)
    value, item, who = once["value"].to_numpy(), codes(once["item"]), codes(once["participant"])
    statistics: dict[str, Statistic] = {}
    if not len(value):
        unknown = Statistic.undefined(0, "participants are unknown, so nobody's ratings can be compared")
        return Part(dict.fromkeys(_STATISTICS, unknown), [])
    reliability, detail = _reliability(value, item, who)
    statistics |= _possible(reliability)
    statistics |= _alphas(value, item, who, rng, replicates)
    table = np.full((int(who.max()) + 1, int(item.max()) + 1), np.nan)
    table[who, item] = value
    halves, stepped = split_half(table, splits=replicates, seed=rng)
    statistics |= {"split_half": with_width(halves), "spearman_brown": _average(with_width(stepped))}
    statistics |= _repeats(known, rng, replicates)
    statistics |= _between(table, rng, replicates)
    return Part(statistics, [detail])


def _reliability(value: Floats, item: Ints, who: Ints) -> tuple[Reliability, dict[str, object]]:
    """ICC of those who finished where they stand for the study, else of everybody by variance components."""
    n_items = int(item.max()) + 1
    finished = np.flatnonzero(np.bincount(who) == n_items)
    enough = len(finished) >= 3 and len(finished) * n_items >= _FINISHED_SHARE * len(value)
    detail: dict[str, object] = {"participants": int(who.max()) + 1, "finished": len(finished), "items": n_items}
    if not enough or n_items < 2:
        detail["icc"] = (
            "all participants, by variance components (Henderson's method 3), since too few rated every item"
        )
        return icc_incomplete(value, item, who), detail
    kept = np.isin(who, finished)
    table = np.empty((n_items, len(finished)))
    table[item[kept], np.searchsorted(finished, who[kept])] = value[kept]
    detail["icc"] = "participants who rated every item, two-way analysis of variance"
    return icc_two_way(table), detail


def _possible(found: Reliability) -> dict[str, Statistic]:
    """Both ICCs, where they can be what they estimate: k ratings cannot all correlate below -1/(k - 1).

    Estimates by variance components are not bound to that range, and leave it where ratings are few. Ends of intervals
    are cut at it. A negative estimate stays, with a note.
    """
    single, average = found.single, found.average
    if not single.defined:
        return {"icc_2_1": single, "icc_2_k": average}
    least = -1.0 / (max(found.k, 2.0) - 1.0)
    why = ""
    if single.n < _ICC_ITEMS:
        why = f"{single.n} items; an ICC needs {_ICC_ITEMS}"
    elif single.value < least - 1e-9:
        why = f"the estimate {single.value:.3g} is below {least:.3g}, the least that is possible; too few ratings"
    if why:
        none = Statistic.undefined(single.n, why)
        return {"icc_2_1": none, "icc_2_k": none}
    return {"icc_2_1": _remarked(single, least), "icc_2_k": _average(average)}


def _average(found: Statistic) -> Statistic:
    """The reliability of a mean of several; stepped up from one it runs to minus infinity and stops saying anything."""
    if not found.defined:
        return Statistic.undefined(found.n, found.note or "the ratings agree too little for the reliability of a mean")
    if found.value < -1.0:
        why = f"the estimate {found.value:.3g} is below -1, so the ratings hold no reliability to estimate"
        return Statistic.undefined(found.n, why)
    return _remarked(found, -1.0)


def _remarked(icc: Statistic, least: float) -> Statistic:
    """The ICC with its interval cut at the least possible, and with a note if it is negative."""
    icc = icc._replace(low=max(icc.low, least), high=max(icc.high, least)) if not math.isnan(icc.low) else icc
    if math.isnan(icc.low) != math.isnan(icc.high):
        icc = icc._replace(low=math.nan, high=math.nan, note=icc.note or "no interval: one end has no bound")
    if not icc.value < 0.0:
        return icc
    note = "negative: ratings of one item differ more than items do; read it as no reliability"
    return icc._replace(note=f"{note}; {icc.note}" if icc.note else note)


def _alphas(value: Floats, item: Ints, who: Ints, rng: np.random.Generator, replicates: int) -> dict[str, Statistic]:
    several = int((np.bincount(item) >= 2).sum())
    n_people = int(who.max()) + 1
    weights = people_weights(n_people, rng, replicates)
    metrics: tuple[Metric, ...] = ("ordinal", "interval")
    found: dict[str, Statistic] = {}
    for metric in metrics:
        alpha = float(alpha_replicates(value, item, who, metric=metric).alpha[0])
        if math.isnan(alpha):
            why = "no item was rated by two participants" if not several else "undefined: all ratings are the same"
            found[f"alpha_{metric}"] = Statistic.undefined(several, why)
        elif weights is None:
            found[f"alpha_{metric}"] = Statistic(alpha, math.nan, math.nan, several, few(n_people))
        else:
            drawn = alpha_replicates(value, item, who, metric=metric, weights=weights).alpha
            found[f"alpha_{metric}"] = interval(alpha, drawn, several)
    return found


def _repeats(known: pl.DataFrame, rng: np.random.Generator, replicates: int) -> dict[str, Statistic]:
    """Pearson's r and root mean square difference of second with first ratings."""
    firsts = known.select(pl.col("row").alias("first"), pl.col("value").alias("before"))
    pairs = known.join(firsts, on="first", how="inner")
    n = pairs.height
    if not n:
        none = Statistic.undefined(0, "no item was rated by one participant twice")
        return {"repeat_correlation": none, "repeat_rmse": none}
    before, after, who = pairs["before"].to_numpy(), pairs["value"].to_numpy(), codes(pairs["participant"])
    r, squares = pearson(before, after), (after - before) ** 2
    if n < _COMMON:
        r = Statistic.undefined(n, f"{n} repeats; a correlation needs {_COMMON}, since two are always in line")
    rmse = math.sqrt(float(squares.mean()))
    weights = people_weights(int(who.max()) + 1, rng, replicates)
    if weights is None:
        note = few(int(who.max()) + 1)
        correlation = Statistic(r.value, math.nan, math.nan, n, r.note if not r.defined else note)
        return {"repeat_correlation": correlation, "repeat_rmse": Statistic(rmse, math.nan, math.nan, n, note)}
    each = weights[:, who]
    correlation = interval(r.value, pearson_replicates(before, after, each), n) if r.defined else r
    return {
        "repeat_correlation": correlation,
        "repeat_rmse": interval(rmse, np.sqrt(each @ squares / each.sum(axis=1)), n),
    }


def _between(table: Floats, rng: np.random.Generator, replicates: int) -> dict[str, Statistic]:
    """Mean rank correlation of two raters over the items that both rated, each pair of raters counting once."""
    p = len(table)
    first, second = np.triu_indices(p, k=1)
    if len(first) > _PAIRS:
        drawn = np.sort(rng.choice(len(first), _PAIRS, replace=False))
        first, second = first[drawn], second[drawn]
    rho, tau = np.full(len(first), np.nan), np.full(len(first), np.nan)
    known = ~np.isnan(table)
    for at, (i, j) in enumerate(zip(first, second, strict=True)):
        both = known[i] & known[j]
        a, b = table[i, both], table[j, both]
        if len(a) >= _COMMON and np.ptp(a) > 0 and np.ptp(b) > 0:
            rho[at] = np.corrcoef(rankdata(a), rankdata(b))[0, 1]
            tau[at] = kendalltau(a, b).statistic
    usable = ~np.isnan(rho)
    n = int(usable.sum())
    if not n:
        none = Statistic.undefined(0, f"no two participants rated {_COMMON} common items differently")
        return {"between_spearman": none, "between_kendall": none}
    first, second = first[usable], second[usable]
    weights = people_weights(p, rng, replicates)
    found = {}
    for name, r in (("between_spearman", rho[usable]), ("between_kendall", tau[usable])):
        if weights is None:
            found[name] = Statistic(float(r.mean()), math.nan, math.nan, n, few(p))
            continue
        each = weights[:, first] * weights[:, second]
        total = each.sum(axis=1)
        drawn_means = np.divide(each @ r, total, out=np.full(len(each), np.nan), where=total > 0)
        found[name] = interval(float(r.mean()), drawn_means, n)
    return found
