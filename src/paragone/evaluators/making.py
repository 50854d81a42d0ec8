"""From features and scores of people to an `Evaluator`, with its errors on what it had not seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import t as student

from ..agreement.align import to_95
from ..errors import BadInput, TooFew
from ..features.described import Features
from ..scores import Scores
from .entrant import Entrant
from .evaluator import UNKNOWN_ERRORS, Errors, Evaluator, Head, Read
from .reach import reach_of
from .task import Task

__all__ = ["errors_of", "fit_evaluator"]

_SHARE = 0.95
_LEAST_SCALARS = 4  # our choice: fewer say too little about where an item lies
_LEAST_LEVELS = 3  # our choice: of two held-out levels nothing is known about a third


def fit_evaluator(
    features: Features,
    people: Scores,
    entrant: Entrant,
    read: Read,
    *,
    factors: pl.DataFrame,
    factor: str = "",
    foretold: pl.DataFrame | None = None,
    protocol: str = "",
    seed: int = 0,
    quiet: bool = True,
    made: Mapping[str, Any] | None = None,
) -> Evaluator:
    """Train one head a criterion on all items that have both features and a score of people.

    Args:
        features: of the items.
        people: scores of the same items; rows of other items are left out.
        entrant: the learner, its options, and what its heads may not read.
        read: what the features are, for whoever scores new pictures.
        factors: column item and one column a factor.
        factor: whose levels are ranked, and were held out in `foretold`; '' for none.
        foretold: columns criterion, fold, item, score: predictions of this entrant for items of levels that it had not
            seen, from which its errors are learned; None: they stay unknown.
        protocol: what was held out for it, in words.
        seed: of the learner.
        quiet: show no progress.
        made: how it came about.

    Raises:
        TooFew: fewer than three items have both.
        BadInput: scores of levels instead of items; `factor` is no column of `factors`.
    """
    if people.key != "item":
        raise BadInput(
            f"{people.name} scores levels of a factor; an evaluator learns scores of items", where=people.name
        )
    if factor and factor not in factors.columns:
        raise BadInput(f"there is no factor '{factor}' beside the items", where=factor)
    known = _table(people, factors).filter(pl.col("item").is_in(list(features.items)))
    heads: dict[str | None, Head] = {}
    tasks, columns, without = [], [], []
    for criterion in people.criteria:
        rows = known.filter(pl.col("criterion").eq_missing(criterion))
        if rows.height < 3:
            raise TooFew(
                f"criterion '{criterion}': {rows.height} items have a score of people and features; 3 or more are needed",
                where=str(criterion),
            )
        blind = entrant.without.get(criterion, ())
        own = features.columns(kind=entrant.learner.columns, without=blind)
        groups = rows[factor] if factor else rows["item"]
        tasks.append(
            Task(
                x=features.of(rows["item"].to_list())[:, own],
                y=rows["score"].to_numpy().astype(np.float64),
                groups=groups.fill_null("").rank("dense").to_numpy().astype(np.int64),
                name=f"{criterion or 'score'}, all items",
            )
        )
        columns.append(own)
        without.append(blind)
    tasks = _shared(tasks)
    models = entrant.learner(tasks, seed=seed, quiet=quiet, **entrant.options)
    for criterion, model, own, blind in zip(people.criteria, models, columns, without, strict=True):
        errors = UNKNOWN_ERRORS
        if foretold is not None:
            errors = errors_of(foretold.filter(pl.col("criterion").eq_missing(criterion)), known, criterion, protocol)
        heads[criterion] = Head(
            fitted=model, learner=entrant.learner.name, columns=own, without=tuple(blind), errors=errors
        )
    items = known["item"].unique().sort().to_list()
    level_of = dict(factors.select("item", factor).iter_rows()) if factor else {}
    named = pl.Series([level_of.get(item) or f"no level: {item}" for item in items])
    levels = named.rank("dense").to_numpy().astype(np.int64)
    return Evaluator(
        name=entrant.name,
        heads=heads,
        read=read,
        reach=reach_of(features.of(items), levels, columns=_told_apart(features)),
        people=known,
        factor=factor,
        simulated=bool(people.made.get("simulated")),
        better=people.better,
        made=dict(made or {}) | {"seed": seed, "options": dict(entrant.options), "items": len(items)},
    )


def errors_of(foretold: pl.DataFrame, people: pl.DataFrame, criterion: str | None, protocol: str) -> Errors:
    """Say how wrong predictions of unseen levels were.

    The half width for an item is the split-conformal quantile of the absolute errors, at rank ceil(.95 (n + 1)); it holds
    for items of a further level as far as that level is like the held-out ones. The half width for the mean of a level
    is Student's t over the mean errors of the held-out levels, widened for a further one by sqrt(1 + 1 / k).

    Args:
        foretold: columns fold, item, score of one criterion.
        people: columns item, criterion, score.
        criterion: whose errors.
        protocol: what was held out.

    Source:
        Lei, G'Sell, Rinaldo, Tibshirani and Wasserman, "Distribution-free predictive inference for regression", JASA
        113(523), 2018, algorithm 2, with errors of cross-validation in place of those of one split.
    """
    truth = people.filter(pl.col("criterion").eq_missing(criterion)).select("item", truth="score")
    both = foretold.join(truth, on="item", how="inner").drop_nulls(["score", "truth"])
    errors = both.select("fold", error=pl.col("score") - pl.col("truth"))
    n = errors.height
    means = errors.group_by("fold").agg(pl.col("error").mean())["error"].to_numpy()
    k = len(means)
    item = level = math.nan
    rank = math.ceil(_SHARE * (n + 1))
    if rank <= n:
        item = float(np.sort(np.abs(errors["error"].to_numpy()))[rank - 1])
    guess = spread = math.nan
    if k >= _LEAST_LEVELS:
        level = _further(means)
        truths = both.group_by("fold").agg(pl.col("truth").sum(), n=pl.len())
        total, size = truths["truth"].to_numpy(), truths["n"].to_numpy()
        guess = _further((total.sum() - total) / (size.sum() - size) - total / size)
        inside = (pl.col("error") - pl.col("error").mean().over("fold")).pow(2).sum()
        spread = math.sqrt(float(errors.select(inside).item()) / (n - k)) if n > k else math.nan
    return Errors(item, level, protocol, n, k, spread, guess)


def _further(errors: NDArray[np.float64]) -> float:
    """Half width that the error of the mean of a further level stays within: about 0, not about the mean of these (k,)
    errors, since a bias that all share is an error too."""
    k = len(errors)
    reach = float(student.ppf((1 + _SHARE) / 2, k)) * math.sqrt(1 + 1 / k)
    return reach * math.sqrt(float((errors**2).mean()))


def _told_apart(features: Features) -> NDArray[np.int64]:
    """Columns in which strange pictures stand out: the scalars, where there are some. Among thousands of channels, noise and
    black pictures lie in the midst of all others."""
    scalars = [block for block in features.blocks if block.kind == "scalar"]
    return features.columns(kind="scalar" if len(scalars) >= _LEAST_SCALARS else "all")


def _table(people: Scores, factors: pl.DataFrame) -> pl.DataFrame:
    kept = people.frame.filter(pl.col("score").is_not_null() & (pl.col("status") == "ok"))
    named = [name for name in factors.columns if name not in ("item", "image", "criterion", "score", "low", "high")]
    ratio = pl.Series(to_95(people, kept))
    score = pl.col("score")
    wide = kept.with_columns((score + (pl.col(end) - score) * ratio).alias(end) for end in ("low", "high"))
    return wide.select("item", "criterion", "score", "low", "high").join(
        factors.select("item", *named), on="item", how="left", maintain_order="left"
    )


def _shared(tasks: Sequence[Task]) -> list[Task]:
    """The tasks, equal features as one array, so that learners see that criteria share them."""
    made: list[Task] = []
    for task in tasks:
        same = next((one.x for one in made if one.x.shape == task.x.shape and np.array_equal(one.x, task.x)), task.x)
        made.append(task._replace(x=same))
    return made
