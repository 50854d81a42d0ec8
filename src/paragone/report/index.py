"""`Index`: one place for anchors, pictures and file names of a report, so that its parts can point at each other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import polars as pl

from .digits import count
from .material import Material
from .pictures import Thumbnails, thumbnails
from .ranked import ranked
from .svg import Spot

__all__ = ["MOST_ROWS", "Index", "index_of", "slug"]

MOST_ROWS = 1000
"""Rows of a score table in the page; the CSV holds all."""
_ENDS = 6  # best and worst pictures of each criterion come first
_Name = TypeVar("_Name", str, str | None)


@dataclass(frozen=True)
class Index:
    """What is where in the page."""

    material: Material
    number: Mapping[str, int]
    """Item -> its number, from 0 in order of item id; names of items never become ids of the page."""
    listed: frozenset[str]
    """Items that have a row in the score table."""
    thumbs: Thumbnails
    _taken: set[str] = field(default_factory=set)

    def name(self, *words: str | None) -> str:
        """A file name (without ending) made of the words, that no other figure or table of the report has."""
        wished = "-".join(slug(word) for word in words if word) or "figure"
        name, again = wished, 2
        while name in self._taken:
            name, again = f"{wished}-{again}", again + 1
        self._taken.add(name)
        return name

    def criteria(self, names: Iterable[_Name]) -> list[_Name]:
        """The criteria in the order of the study, then of the benchmark; those that neither names last, as they come."""
        place = {name: at for at, name in enumerate(self.material.known_criteria)}
        return sorted(names, key=lambda name: len(place) if name is None else place.get(name, len(place)))

    def in_order(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Rows of a table with a column `criterion` in the order of `criteria`; those of one criterion as they come."""
        place = {name: at for at, name in enumerate(self.criteria(frame["criterion"].unique(maintain_order=True)))}
        order = pl.Series("_place", [place[name] for name in frame["criterion"]], dtype=pl.Int64)
        return frame.with_columns(order).sort("_place", maintain_order=True).drop("_place")

    def row(self, item: str) -> str:
        """Id of the item's row in the score table; empty: it has none."""
        return f"i{self.number[item]}" if item in self.listed else ""

    def picture(self, item: str) -> str:
        """Id of the item's thumbnail; empty: it has none."""
        return f"p{self.number[item]}" if item in self.thumbs.sources and item in self.number else ""

    def spot(self, item: str, told: str = "") -> Spot:
        """What the point of an item tells."""
        row = self.row(item)
        return Spot(f"{item}: {told}" if told else item, f"#{row}" if row else "", self.picture(item))

    @property
    def people_badges(self) -> list[str]:
        """Badges of every fact about participants."""
        return self.material.people_badges

    @property
    def thing(self) -> str:
        """What an item is called: 'picture' where the report knows pictures, else 'item'."""
        return "picture" if self.material.benchmark is not None else "item"

    def factor_words(self, factor: str) -> str:
        """A factor as a reader sees it: 'content picture' or 'prompt level' where a criterion has the same name."""
        human, benchmark = self.material.human, self.material.benchmark
        if human is None or factor not in human.criteria:
            return factor
        pictured = benchmark is not None and factor in benchmark.references["factor"]
        return f"{factor} picture" if pictured else f"{factor} level"

    def things(self, n: float | None) -> str:
        """'96 pictures'."""
        return count(n, self.thing)


def index_of(material: Material) -> Index:
    """Number the items, list the rows, and make thumbnails: best and worst first, then evenly between them."""
    human, bare = material.human, Index(material, {}, frozenset(), Thumbnails({}, (), 0))
    if human is None or human.key != "item":
        return bare
    orders = [ranked(human, criterion)["label"].to_list() for criterion in bare.criteria(human.criteria)]
    items = human.frame["item"].drop_nulls().unique().sort().to_list()
    rows = list(dict.fromkeys([*(orders[0] if orders else []), *items]))[:MOST_ROWS]
    ends = [item for order in orders for item in (*order[:_ENDS], *order[-_ENDS:])]
    wished = dict.fromkeys([*ends, *rows[:: max(1, len(rows) // 150)], *rows])
    number = {item: place for place, item in enumerate(items)}
    return replace(
        bare, number=number, listed=frozenset(rows), thumbs=thumbnails(material.benchmark, list(wished)), _taken=set()
    )


def slug(text: str) -> str:
    """A word for file names: lower-case ASCII letters, digits, hyphens, at most 40; 'x' where nothing is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:40].strip("-") or "x"
