"""Reference pictures in a plan: which stand beside a result, and which are rated themselves, unmarked."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ..benchmark import BROKEN, Benchmark, hidden_reference, shown_reference
from ..errors import BadConfig, UnknownName
from .settings import PairStage, RatingStage

__all__ = ["beside", "hidden_items", "with_references"]


def beside(benchmark: Benchmark, stage: PairStage | RatingStage, name: str) -> list[str]:
    """Return the factors whose reference pictures stand beside what a stage shows, in order.

    Args:
        benchmark: factors and references.
        stage: `references` of a stage of pairs (left out: those of `group` that have pictures), `reference` of a stage
            of ratings.
        name: the stage's name.

    Raises:
        UnknownName: a factor that is named is not in the benchmark.
        BadConfig: it has no reference picture, or some of its levels have none.
    """
    if isinstance(stage, PairStage):
        if stage.references is None:
            shown = [factor for factor in stage.group if _pictured(benchmark, factor)]
            for factor in shown:
                _must_be_whole(benchmark, factor, name)
            return shown
        key, asked = "references", list(dict.fromkeys(stage.references))
    else:
        key, asked = "reference", [stage.reference] if stage.reference else []
    for factor in asked:
        _must_show(benchmark, factor, name, key)
        _must_be_whole(benchmark, factor, name)
    return asked


def hidden_items(benchmark: Benchmark, stage: RatingStage, name: str) -> list[str]:
    """Return the ids of the reference pictures that a stage has rated like items, in the order of their levels.

    Only levels that an item to be judged has are among them.

    Raises:
        UnknownName: `hidden_references` names no factor of the benchmark.
        BadConfig: it has no reference picture, its name holds a colon, or an item has such an id already.
    """
    factor = stage.hidden_references
    if not factor:
        return []
    _must_show(benchmark, factor, name, "hidden_references")
    if ":" in factor:
        raise BadConfig(
            f"stage '{name}': hidden_references = \"{factor}\" holds a colon, which separates factor and level in "
            "their ids; rename the factor",
            where="stage.hidden_references",
        )
    items = benchmark.items
    if BROKEN in benchmark.factors:
        items = items.filter(pl.col(BROKEN).is_null())
    used = set(items[factor].drop_nulls().to_list())
    ids = [hidden_reference(factor, level) for level in sorted(_pictured(benchmark, factor) & used)]
    taken = set(ids) & set(benchmark.items["item"].to_list())
    if taken:
        raise BadConfig(
            f"stage '{name}': an item is called '{min(taken)}', which is the id of a hidden reference; rename the item",
            where="stage.hidden_references",
        )
    return ids


def with_references(trials: pl.DataFrame, benchmark: Benchmark, factors: Sequence[str]) -> pl.DataFrame:
    """Return the trials with a column `left.<factor>` and `right.<factor>` (pairs) or `item.<factor>` (ratings) each.

    Args:
        trials: trials of one stage; a side that has no item has no reference either.
        benchmark: the items' levels, and the levels that have a picture.
        factors: factors whose references stand beside.

    Returns:
        The level whose reference picture stands beside that side, null where there is none. A broken version without a
        level of its own shows that of the sound item; beside a hidden reference stands the reference itself.
    """
    sides = ("left", "right") if trials["left"].null_count() < trials.height else ("item",)
    made = []
    for factor in factors:
        level = _levels(benchmark, factor)
        pictured = _pictured(benchmark, factor)
        for item in trials["item"].drop_nulls().unique().to_list():
            reference = shown_reference(item)
            if reference is not None and item not in level:
                level[item] = reference[1] if reference[0] == factor else None
        shown = {item: (one if one in pictured else None) for item, one in level.items()}
        made += [
            pl.col(side).replace_strict(shown, default=None, return_dtype=pl.String).alias(f"{side}.{factor}")
            for side in sides
        ]
    return trials.with_columns(made)


def _levels(benchmark: Benchmark, factor: str) -> dict[str, str | None]:
    items = benchmark.items
    level: dict[str, str | None] = dict(items.select("item", factor).iter_rows())
    if BROKEN in benchmark.factors:
        for item, sound in items.filter(pl.col(BROKEN).is_not_null()).select("item", BROKEN).iter_rows():
            if level[item] is None:
                level[item] = level.get(sound)
    return level


def _pictured(benchmark: Benchmark, factor: str) -> set[str]:
    """Levels of a factor that have a reference picture."""
    return set(benchmark.references.filter(pl.col("factor") == factor)["level"].to_list())


def _must_be_whole(benchmark: Benchmark, factor: str, stage: str) -> None:
    """Refuse references of some levels only: people would be asked about a picture that they do not see."""
    items = benchmark.items
    if BROKEN in benchmark.factors:
        items = items.filter(pl.col(BROKEN).is_null())
    lacking = sorted(set(items[factor].drop_nulls().to_list()) - _pictured(benchmark, factor))
    if lacking:
        raise BadConfig(
            f"stage '{stage}': {factor} '{lacking[0]}' has no reference picture, and other levels of {factor} have one; add "
            f"it to references.csv, or leave {factor} out of the stage's references",
            where="stage.references",
        )


def _must_show(benchmark: Benchmark, factor: str, stage: str, key: str) -> None:
    if factor not in benchmark.factors:
        said = UnknownName.among(factor, benchmark.factors, "factor").message
        raise UnknownName(f"stage '{stage}': {key}: {said}", where=factor)
    if not _pictured(benchmark, factor):
        raise BadConfig(
            f"stage '{stage}': {key} names '{factor}', which has no reference picture; list its pictures in "
            "references.csv (factor, level, image)",
            where=f"stage.{key}",
        )
