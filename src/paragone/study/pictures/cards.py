"""Cards of the tutorials that ship with the package: which pictures each shows, and what the clear answer is."""

from __future__ import annotations

import functools
from importlib.resources import files
from pathlib import Path
from typing import Literal

import msgspec

from ...errors import UnknownName
from ...settings import Settings, read_settings
from .sanitise import Picture, sanitised

__all__ = ["TUTORIALS", "Card", "tutorial_cards", "tutorial_picture"]

TUTORIALS = ("style-transfer", "text-to-image")
"""Tutorials that have cards: of pair stages, of rating stages."""


class Card(Settings, frozen=True):
    """One card. Its words are the texts `tutorial.<id>.head`, `.text` and `.why`."""

    id: str
    """Name of the card."""
    pictures: dict[str, str] = msgspec.field(default_factory=dict)
    """Role (content, style, left, right, item) to file name, in the order in which they stand; empty: words only."""
    criterion: Literal["content", "style", "overall"] | None = None
    """What is asked; None: nothing to try."""
    answer: Literal["left", "right"] | None = None
    """The clear answer; None where nothing is asked."""
    alone: bool = False
    """Shown only where one criterion is asked: it says that one score is for everything."""
    words: dict[str, str] = msgspec.field(default_factory=dict)
    """Language to the words that the picture is said to be made from; empty: none."""


class _Cards(Settings, frozen=True, rename="kebab"):
    style_transfer: list[Card]
    text_to_image: list[Card]


@functools.cache
def tutorial_cards(tutorial: str) -> tuple[Card, ...]:
    """Return the cards of a tutorial, in order.

    Args:
        tutorial: one of `TUTORIALS`.

    Raises:
        UnknownName: no such tutorial.
    """
    if tutorial not in TUTORIALS:
        raise UnknownName.among(tutorial, TUTORIALS, "tutorial")
    table = read_settings(_folder() / "tutorial.toml", _Cards)
    return tuple(table.style_transfer if tutorial == "style-transfer" else table.text_to_image)


@functools.cache
def tutorial_picture(name: str) -> Picture:
    """Return a picture of the cards.

    Args:
        name: a file name that a card names.

    Raises:
        UnknownName: no card names it.
    """
    known = {file for tutorial in TUTORIALS for card in tutorial_cards(tutorial) for file in card.pictures.values()}
    if name not in known:
        raise UnknownName.among(name, known, "picture of the tutorials")
    return sanitised(_folder() / name)


def _folder() -> Path:
    return Path(str(files("paragone.study.pictures").joinpath("tutorial")))
