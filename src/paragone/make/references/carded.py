"""The cards of a benchmark's references: the folder's own, those that ship with the package, and what pictures tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ...errors import UnknownName
from ..making import Making
from ..stylise.manners import MANNERS
from .cards import CARDS, DRAWN, Cards, completed, shipped_cards
from .prepared import Prepared

__all__ = ["cards_of", "manners_of"]


def cards_of(making: Making, folder: Path, ready: Mapping[str, Sequence[Prepared]]) -> Cards:
    """Return one card per reference.

    What cards.csv of the folder says comes first, then, for shipped pictures and drawn samples, what the package knows;
    a style that nobody gave a manner has that of its name, if there is one; colour and detail that nobody wrote down are
    computed from the picture, and say so.

    Args:
        making: the record of make.toml; its `manners` stand above the cards.
        folder: the benchmark's folder; cards.csv may lie in it.
        ready: prepared references.

    Raises:
        BadTable: cards.csv breaks its contract.
        UnknownName: a manner that nobody offers.
    """
    own = folder / "cards.csv"
    known = _by_picture(Cards.read(own)) if own.is_file() else {}
    shipped = _by_picture(shipped_cards())
    rows: list[dict[str, Any]] = []
    pictures: dict[tuple[str, str], Path] = {}
    for factor, prepared in ready.items():
        wanted = making.reference[factor]
        levels = [one.level for one in prepared]
        for level in wanted.manners:
            if level not in levels and wanted.select is None:
                raise UnknownName.among(level, levels, f"{factor} with a manner in make.toml")
        for one in prepared:
            key = (factor, one.level)
            card = {"factor": factor, "level": one.level}
            drawn = {"artist": f"drawn after {one.level}", "source": DRAWN} if one.level in wanted.samples else {}
            if drawn:
                card["manner"] = one.level
            elif wanted.folder.startswith("package:"):
                card |= shipped.get(key, {})
            card |= {name: value for name, value in known.get(key, {}).items() if value is not None}
            card |= drawn  # whatever cards.csv says: this picture is by no artist
            if one.level in wanted.manners:
                card["manner"] = wanted.manners[one.level]
            elif factor == "style" and not card.get("manner") and _namesake(one.level) in MANNERS.names():
                card["manner"] = _namesake(one.level)
            if card.get("manner"):
                _offered(str(card["manner"]), f"{factor} '{one.level}'")
            rows.append(card)
            pictures[key] = one.path
    texts = {column.name: pl.Int64 if column.kind == "whole" else pl.String for column in CARDS.columns}
    frame = pl.DataFrame([{name: row.get(name) for name in texts} for row in rows], schema=texts)
    return completed(Cards(frame), pictures)


def manners_of(cards: Cards) -> dict[tuple[str, str], str]:
    """Return (factor, level) -> manner of those references that have one."""
    rows = cards.frame.filter(pl.col("manner").is_not_null()).select("factor", "level", "manner").iter_rows()
    return {(factor, level): manner for factor, level, manner in rows}


def _namesake(level: str) -> str:
    """The name that a manner for this style would have: 'great-wave' for 'Great_Wave'."""
    return level.casefold().replace("_", "-").replace(" ", "-")


def _by_picture(cards: Cards) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["factor"], row["level"]): row for row in cards.frame.iter_rows(named=True)}


def _offered(manner: str, where: str) -> None:
    if manner not in MANNERS.names():
        raise UnknownName.among(manner, MANNERS.names(), f"manner for {where}")
