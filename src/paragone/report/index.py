"""`Index`: one place for the anchors, pictures and file names of a report, so that its parts can point at each other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from .material import Material
from .numbers import count
from .pictures import Thumbnails, thumbnails
from .svg import Spot, clean

__all__ = ["Index", "criterion_words", "index_of", "slug"]


@dataclass(frozen=True)
class Index:
    """What is where in the page."""

    material: Material
    number: Mapping[str, int]
    """Item -> its number, from 0 in order of item id; names of items never become ids of the page."""
    thumbs: Thumbnails
    _taken: set[str] = field(default_factory=set)

    def name(self, *words: str | None) -> str:
        """A file name (without ending) made of the words, that no other figure of the report has."""
        wished = "-".join(slug(word) for word in words if word) or "figure"
        name, again = wished, 2
        while name in self._taken:
            name, again = f"{wished}-{again}", again + 1
        self._taken.add(name)
        return name

    def row(self, item: str) -> str:
        """Id of the item's row in the score table; empty: it has none."""
        return f"i{self.number[item]}" if item in self.number else ""

    def picture(self, item: str) -> str:
        """Id of the item's thumbnail; empty: it has none."""
        return f"p{self.number[item]}" if item in self.thumbs.sources and item in self.number else ""

    def spot(self, item: str, told: str = "") -> Spot:
        """What the point of an item tells."""
        row = self.row(item)
        return Spot(f"{item}: {told}" if told else item, f"#{row}" if row else "", self.picture(item))

    @property
    def thing(self) -> str:
        """What an item is called: 'picture' where the report knows pictures, else 'item'."""
        return "picture" if self.material.benchmark is not None else "item"

    def things(self, n: float | None) -> str:
        """'96 pictures'."""
        return count(n, self.thing)


def index_of(material: Material) -> Index:
    """Number the items and make thumbnails, best and worst first, then evenly between them."""
    if material.human is None or material.human.key != "item":
        return Index(material, {}, Thumbnails({}, (), 0))
    frame = material.human.frame
    items = frame["item"].drop_nulls().unique().sort().to_list()
    order: dict[str, None] = {}
    for criterion in material.human.criteria:
        part = (
            material.human.of_criterion(criterion).drop_nulls("score").sort("score", "item", descending=[True, False])
        )
        ranked = part["item"].to_list()
        order.update(dict.fromkeys([*ranked[:6], *ranked[-6:]]))
    first = items[:: max(1, len(items) // 150)]
    order.update(dict.fromkeys([*first, *items]))
    return Index(
        material, {item: number for number, item in enumerate(items)}, thumbnails(material.benchmark, list(order))
    )


def slug(text: str) -> str:
    """A word for file names: lower-case ASCII letters, digits and hyphens, at most 40 long; 'x' where nothing is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:40].strip("-") or "x"


def criterion_words(criterion: str | None) -> str:
    """A criterion as a reader sees it: 'image appeal' for 'image_appeal'; 'score' where it has no name."""
    return clean(criterion.replace("_", " ")) if criterion else "score"
