"""`Listed`: the pictures of a page about a folder of them, where tiles, points and table rows lead to one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from .blocks import Cell, Prose, Row, Section, Terms, Tile
from .leaf import thumbnails_of

__all__ = ["MOST_ROWS", "Listed", "Measured", "how_section"]

MOST_ROWS = 400
"""Rows of a table of pictures; our choice: more make a page heavy, and the CSV beside it holds them all."""


class Measured(Protocol):
    """What every page about measured pictures reads."""

    @property
    def side(self) -> int:
        """Longer side in pixels at which the pictures were measured."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        ...


@dataclass(frozen=True, kw_only=True)
class Listed:
    """Pictures by name; links lead to their row, which shows the thumbnail where there is one."""

    sources: Mapping[str, str]
    """Name -> data URI of the thumbnail; a picture that cannot be read, or that is one too many for a page, has none."""
    ids: Mapping[str, str]
    """Name -> anchor."""

    @classmethod
    def of(cls, images: Mapping[str, Path]) -> Self:
        """Make thumbnails, the first ones first, and number the pictures.

        Args:
            images: name -> picture file.
        """
        return cls(sources=thumbnails_of(images), ids={name: f"p{place}" for place, name in enumerate(images)})

    def picture(self, name: str) -> str:
        """Anchor of the thumbnail; empty where there is none."""
        return self.ids[name] if name in self.sources else ""

    def link(self, name: str) -> str:
        """Address of the picture's row within the page."""
        return f"#{self.ids[name]}"

    def tile(self, name: str, text: str) -> Tile:
        """A picture in a strip, with a text below, that leads to its row."""
        return Tile(name, self.ids[name], text, self.link(name))

    def row(self, name: str, cells: Sequence[Cell]) -> Row:
        """A row that begins with the picture and its name, and that links find.

        Args:
            name: of the picture.
            cells: the further ones.
        """
        picture = self.picture(name)
        return Row([Cell(name, picture=picture), *cells], id="" if picture else self.ids[name])


def how_section(title: str, text: str, notes: Sequence[str], entries: Sequence[tuple[str, str]]) -> Section:
    """Return the last part of a page: how its numbers came about.

    Args:
        title: of the section.
        text: its first paragraph.
        notes: a paragraph each, without the full stop.
        entries: (term, what it means).
    """
    return Section("how", title, [Prose(text), *(Prose(f"{note}.") for note in notes), Terms(entries)])
