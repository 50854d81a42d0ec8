"""The verb `select`: references chosen by coverage, kept as tables that `stylise` reads, and shown on a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ..errors import BadConfig, BadInput, UnknownName
from ..make.making import Making, reference_folder
from ..make.references.cards import Cards
from ..make.references.nprgeneral import cards_of, recognised
from ..make.references.pool import named_pictures
from ..make.references.select import Selection, select
from ..report.selected import selection_page
from ..tables import read_table, write_table
from .reading import named

__all__ = ["chosen_levels", "selected"]


def selected(
    making: Making,
    folder: Path,
    *,
    factors: Sequence[str] = (),
    fix: Sequence[str] = (),
    jobs: int = 1,
    quiet: bool = True,
) -> tuple[dict[str, Selection], list[Path]]:
    """Choose the references of every factor that has a `select` in make.toml.

    Args:
        making: the record of make.toml.
        folder: where selection/ goes; cards.csv may lie in it.
        factors: only these.
        fix: further pictures to keep, each in the factor whose folder has it.
        jobs: worker processes.
        quiet: show no progress.

    Returns:
        Factor -> what was chosen, and the files written: a table and a page for each factor.

    Raises:
        BadConfig: nothing is to be selected.
        UnknownName: a factor or picture that is not there.
        NotFound, BadInput, BadImage, BadConfig, BadTable: as `select`.
    """
    wanted = {name: one.select for name, one in making.reference.items() if one.select is not None}
    if not wanted:
        raise BadConfig(
            "make.toml has no [reference.FACTOR.select]; add one with the number of pictures to choose", where="select"
        )
    for factor in factors:
        if factor not in wanted:
            raise UnknownName.among(factor, wanted, "factor with a select in make.toml")
    made: dict[str, Selection] = {}
    left = list(fix)
    for factor, choice in wanted.items():
        if factors and factor not in factors:
            continue
        pool = reference_folder(making.reference[factor].folder, folder)
        here = [name for name in fix if name in named_pictures(pool)]
        left = [name for name in left if name not in here]
        made[factor] = select(
            pool,
            number=choice.number,
            how=choice.how,
            cards=_cards(folder, pool, factor),
            factor=factor,
            quotas=choice.quotas,
            balance=choice.balance,
            fixed=tuple(dict.fromkeys([*choice.fix, *here])),
            seed=making.seed,
            jobs=jobs,
            quiet=quiet,
        )
    if left:
        raise UnknownName(f"no picture '{left[0]}' in any pool to select from; check the spelling", where=left[0])
    written: list[Path] = []
    for factor, selection in made.items():
        written.append(write_table(selection.picked, folder / "selection" / f"{factor}.csv"))
        written.append(selection_page(selection, folder / "selection" / f"{factor}.html"))
    return made, written


def chosen_levels(making: Making, folder: Path) -> dict[str, tuple[str, ...]]:
    """Return what was selected before: factor -> levels in order, for factors that have a `select`.

    Raises:
        BadInput: nothing was selected yet, or it does not fit make.toml any more.
    """
    found: dict[str, tuple[str, ...]] = {}
    for factor, one in making.reference.items():
        if one.select is None:
            continue
        path = folder / "selection" / f"{factor}.csv"
        if not path.is_file():
            raise BadInput(f"{factor}: make.toml selects references; run first: paragone select {folder}", where=factor)
        with named(path):
            table = read_table(path)
        if "picture" not in table.columns:
            raise BadInput(f"'{path}' has no column 'picture'; run: paragone select {folder}", where=str(path))
        levels = tuple(table["picture"].cast(pl.String))
        if len(levels) != one.select.number or not set(one.select.fix) <= set(levels):
            raise BadInput(
                f"{factor}: '{path}' holds another selection than make.toml asks for; run: paragone select {folder}",
                where=str(path),
            )
        found[factor] = levels
    return found


def _cards(folder: Path, pool: Path, factor: str) -> Cards | None:
    """cards.csv of the folder; else what NPRgeneral's photographs are known to show; else what lies by the pool."""
    own = folder / "cards.csv"
    if own.is_file():
        return Cards.read(own)
    if any((place / "cards.csv").exists() for place in (pool, pool.resolve().parent)):
        return None
    known = recognised(pool) if factor == "content" else None
    return cards_of(known) if known is not None and known.height else None
