"""The cards that lie beside a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..make.references.cards import DRAWN, Cards
from .reading import named

__all__ = ["cards_beside", "drawn_references"]


def cards_beside(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return (factor, level) -> card, from cards.csv and from references/cards.csv, which `stylise` completes.

    Args:
        folder: a benchmark's.

    Raises:
        BadTable: one of them breaks its contract.
    """
    cards: dict[tuple[str, str], dict[str, Any]] = {}
    for path in (folder / "cards.csv", folder / "references" / "cards.csv"):
        if path.is_file():
            with named(path):
                read = Cards.read(path)
            cards |= {(row["factor"], row["level"]): row for row in read.frame.iter_rows(named=True)}
    return cards


def drawn_references(folder: Path) -> frozenset[tuple[str, str]]:
    """Return (factor, level) of the references that were made by formula, so that they are shown as such.

    Args:
        folder: a benchmark's.

    Raises:
        BadTable: cards beside it break their contract.
    """
    return frozenset(key for key, card in cards_beside(folder).items() if card.get("source") == DRAWN)
