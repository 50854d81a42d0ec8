"""What a page is built of: sections of sentences, plates (figures), tables and strips of pictures. Records only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from .svg import Drawing

__all__ = [
    "Beside",
    "Block",
    "Cell",
    "Folded",
    "Group",
    "Head",
    "Missing",
    "Plate",
    "Plates",
    "Prose",
    "Row",
    "Section",
    "Strip",
    "Table",
    "Terms",
    "Tile",
]


@dataclass(frozen=True)
class Plate:
    """One figure, the frame it is drawn from and what is written under it."""

    name: str
    """File name without ending, unique in the report."""
    title: str
    caption: str
    """What to look for, and n."""
    frame: pl.DataFrame
    drawing: Drawing
    badges: Sequence[str] = ()


@dataclass(frozen=True)
class Cell:
    """One cell of a table."""

    text: str
    interval: str = ""
    """'[low, high]', set apart from the number so that a phone may break the line there."""
    sort: float | None = None
    """What the column is sorted by; None: the text."""
    mark: Literal["", "first", "second"] = ""
    """Best and second best of a column: a filled and an outlined numeral, so that colour is not needed."""
    badges: Sequence[str] = ()
    href: str = ""
    picture: str = ""
    """Id of the row's thumbnail; empty: none."""
    anchor: str = ""
    """Id by which other parts of the page link to this cell."""


@dataclass(frozen=True)
class Head:
    """The head of a column."""

    text: str
    hint: str = ""
    """Unit and direction, in small letters below."""
    kind: Literal["text", "number"] = "number"


@dataclass(frozen=True)
class Row:
    """One row; `id` is where links to it lead."""

    cells: Sequence[Cell]
    id: str = ""


@dataclass(frozen=True)
class Table:
    """A table with its caption and the name of the CSV that holds all of it."""

    caption: str
    heads: Sequence[Head]
    rows: Sequence[Row]
    badges: Sequence[str] = ()
    csv: str = ""
    """Path of the whole table beside the page; empty: none was written."""
    frame: pl.DataFrame | None = None
    """What is written to `csv`."""

    @property
    def intervals(self) -> int:
        """Columns that hold intervals, which decide how the table fits the page."""
        return sum(any(cells[at].interval for cells in self._cells) for at in range(len(self.heads)))

    @property
    def marked(self) -> bool:
        """Whether any cell carries a mark of best or second best."""
        return any(cell.mark for cells in self._cells for cell in cells)

    @property
    def _cells(self) -> list[Sequence[Cell]]:
        return [row.cells for row in self.rows]


@dataclass(frozen=True)
class Tile:
    """One picture with what is said about it."""

    item: str
    picture: str
    """Id of its thumbnail."""
    text: str
    href: str = ""
    """Where a click leads; empty: nowhere."""
    source: str = ""
    """The picture itself as a data URI, where it is no judged item; empty: the item's thumbnail."""


@dataclass(frozen=True)
class Strip:
    """A row of pictures."""

    title: str
    tiles: Sequence[Tile]
    badges: Sequence[str] = ()


@dataclass(frozen=True)
class Group:
    """A result with the references that it was made from."""

    text: str
    said: str = ""
    """A second line, for example its scores."""
    result: str = ""
    """The picture as a data URI; empty: it cannot be read."""
    references: Sequence[tuple[str, str]] = ()
    """What a reference is, for example 'content', and its picture as a data URI."""
    badges: Sequence[str] = ()


@dataclass(frozen=True)
class Beside:
    """Results, each beside its references."""

    title: str
    groups: Sequence[Group]
    badges: Sequence[str] = ()


@dataclass(frozen=True)
class Prose:
    """A paragraph. `quote` sets it apart as text made to be copied; `warn` as something a reader must see."""

    text: str
    kind: Literal["plain", "lead", "quote", "warn", "small"] = "plain"
    badges: Sequence[str] = ()


@dataclass(frozen=True)
class Missing:
    """Why a part is not there, and the command that adds it."""

    why: str
    command: str = ""


@dataclass(frozen=True)
class Plates:
    """Figures that stand side by side where the page is wide enough."""

    plates: Sequence[Plate]


@dataclass(frozen=True)
class Terms:
    """Words that a reader may not know, each explained in one line."""

    entries: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Folded:
    """Blocks behind a line that opens them."""

    title: str
    blocks: Sequence[Block]
    printed: bool = True
    """Whether they are opened for print; long records are not."""


Block = Prose | Missing | Plates | Table | Strip | Beside | Terms | Folded


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading and an anchor."""

    id: str
    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
    badges: Sequence[str] = ()
    """Badges of every number in the section, beside its heading."""
