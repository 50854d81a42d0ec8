"""Reference cards: what is known of each reference picture, in one table, and the sentence that says it.

A card names the picture's kind, colour and detail, where and when it was made, by what marks people know it, and how hard
it is to match. Levels of colour and detail that nobody wrote down are computed from the picture, and say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import polars as pl

from ...errors import BadTable, NotFound, UnknownName
from ...images import read_image
from ...tables import Column, Schema, checked, read_table, write_table
from .properties import colour_level, detail_level, picture_properties

__all__ = ["CARDS", "DRAWN", "LEVELS", "Cards", "completed", "sentence", "shipped_cards", "with_levels"]

LEVELS = ("low", "medium", "high")
"""The levels of colour, detail and difficulty."""
DRAWN = "drawn by paragone"
"""The source of a picture that was made by formula: whoever shows it says so."""

CARDS = Schema(
    "cards",
    (
        Column(name="factor", kind="id", required=True, nullable=False, doc="Factor it shows: 'content' or 'style'."),
        Column(
            name="level", kind="id", required=True, nullable=False, doc="Its name: the picture file's, without ending."
        ),
        Column(name="category", kind="id", doc="What it shows: people, nature, artificial, ...; null: not said."),
        Column(name="colour", kind="text", choices=LEVELS, doc="How colourful; null: not said."),
        Column(name="detail", kind="text", choices=LEVELS, doc="How full of fine structure; null: not said."),
        Column(name="region", kind="id", doc="Where the work comes from, for example 'Asia'; null: not said."),
        Column(
            name="century",
            kind="whole",
            low=-50,
            high=21,
            doc="When it was made: 19 for the 19th century, -3 for the 3rd before Christ; null: not said.",
        ),
        Column(name="artist", kind="text", doc="Who made it, as in the sentence; null: not known."),
        Column(name="title", kind="text", doc="What it is called; null: nothing."),
        Column(name="year", kind="text", doc="Year or years as written, for example 'c. 1831'; null: not said."),
        Column(name="medium", kind="text", doc="Photograph, oil on canvas, woodblock print, ...; null: not said."),
        Column(
            name="marks", kind="text", doc="By what people recognise it, for example 'dots in rings'; null: not said."
        ),
        Column(name="difficulty", kind="text", choices=LEVELS, doc="How hard it is to match; null: not said."),
        Column(name="manner", kind="id", doc="Tag by which a styliser with recipes chooses one; null: its default."),
        Column(name="licence", kind="text", doc="Who may do what with the picture; null: not known."),
        Column(name="source", kind="text", doc="Where the picture comes from; null: not known."),
        Column(
            name="computed",
            kind="text",
            doc="Which of colour and detail were computed from the picture, 'colour detail'; null: none.",
        ),
    ),
)
"""The columns of cards.csv; further columns are kept."""


@dataclass(frozen=True)
class Cards:
    """One card per reference picture."""

    frame: pl.DataFrame
    """Columns of `CARDS`; factor and level together are unique; sorted by both."""

    def __post_init__(self) -> None:
        frame = checked(self.frame, CARDS, where="cards")
        faults = [
            f"{factor} '{level}' has two cards"
            for factor, level in frame.filter(frame.select("factor", "level").is_duplicated())
            .select("factor", "level")
            .unique()
            .sort("factor", "level")
            .iter_rows()
        ]
        if frame.filter(pl.col("century") == 0).height:
            faults.append("century 0 does not exist; 1 follows -1")
        odd = frame.filter(~pl.col("computed").str.contains(r"^(colour|detail|colour detail)$"))["computed"].to_list()
        faults += [f"computed '{word}' is not one of 'colour', 'detail', 'colour detail'" for word in odd[:3]]
        if faults:
            raise BadTable.of_faults("cards", faults)
        object.__setattr__(self, "frame", frame.sort("factor", "level"))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read cards from a table file, or from cards.csv in a folder.

        Raises:
            NotFound: no such file.
            BadTable: a column is missing, a cell breaks the contract, or a picture has two cards.
        """
        path = Path(path)
        if path.is_dir():
            path = path / "cards.csv"
        if not path.exists():
            raise NotFound.path(path, "table of cards")
        return cls(checked(read_table(path), CARDS, where=path.name))

    def write(self, path: str | Path) -> Path:
        """Write the cards, as CSV or Parquet by the ending; a folder gets cards.csv."""
        path = Path(path)
        if path.is_dir():
            path = path / "cards.csv"
        write_table(self.frame, path)
        return path

    def of(self, factor: str, level: str) -> dict[str, Any]:
        """The card of one picture as a mapping of all columns.

        Raises:
            UnknownName: it has none.
        """
        rows = self.frame.filter((pl.col("factor") == factor) & (pl.col("level") == level))
        if not rows.height:
            known = self.frame.filter(pl.col("factor") == factor)["level"].to_list()
            raise UnknownName.among(level, known, f"card of {factor}")
        return rows.row(0, named=True)


def completed(cards: Cards, pictures: Mapping[tuple[str, str], Path]) -> Cards:
    """Fill in missing colour and detail from the pictures; pictures without a card get one.

    Args:
        cards: what is known; words that are there stay.
        pictures: (factor, level) -> picture file.

    Returns:
        Cards in whose column `computed` stands what came from the picture.

    Raises:
        NotFound, BadImage: a picture that is needed cannot be read.
    """
    rows = {(row["factor"], row["level"]): row for row in cards.frame.iter_rows(named=True)}
    empty = dict.fromkeys(cards.frame.columns)
    for (factor, level), path in pictures.items():
        row = rows.setdefault((factor, level), {**empty, "factor": factor, "level": level})
        if row["colour"] is None or row["detail"] is None:
            rows[factor, level] = with_levels(row, picture_properties(read_image(path)))
    return Cards(pl.DataFrame(list(rows.values()), schema=cards.frame.schema))


def with_levels(card: Mapping[str, Any], values: Mapping[str, float]) -> dict[str, Any]:
    """Give the card with its missing colour and detail taken from a picture's properties.

    Args:
        card: columns of `CARDS`; not changed.
        values: `picture_properties` of the picture at its usual working size.
    """
    made = dict(card)
    found = {"colour": colour_level(values["colourfulness"]), "detail": detail_level(values["busyness"])}
    computed = set((made.get("computed") or "").split())
    for name, level in found.items():
        if made.get(name) is None:
            made[name] = level
            computed.add(name)
    made["computed"] = " ".join(sorted(computed)) or None
    return made


def sentence(card: Mapping[str, Any]) -> str:
    """Say a card in one line: 'Hokusai: nature, low colour, low detail; Asia, 19th c.'.

    A picture made by formula goes by its level and is said to be no work of an artist: 'mondrian: drawn by formula, no
    work of an artist; high colour, low detail'.

    Args:
        card: columns of `CARDS`, missing ones read as null; what is not known is left out.

    Returns:
        Artist of a style, title of anything else (or what of both is known, or the level); kind, colour, detail; region,
        century; marks and difficulty where they are said.
        Computed levels are followed by '(computed)'.
    """
    first: tuple[str, ...] = (
        ("artist", "title", "level") if card.get("factor") == "style" else ("title", "artist", "level")
    )
    by_formula = card.get("source") == DRAWN
    if by_formula:
        first = ("level",)
    name = next((card[word] for word in first if card.get(word)), "unnamed")
    computed = set((card.get("computed") or "").split())
    look = [str(card["category"])] if card.get("category") else []
    look += [
        f"{card[word]} {word}{' (computed)' if word in computed else ''}"
        for word in ("colour", "detail")
        if card.get(word)
    ]
    if computed == {"colour", "detail"} and len(look) >= 2:
        look[-2] = look[-2].removesuffix(" (computed)")
        look[-1] = look[-1].removesuffix(" (computed)") + " (both computed)"
    origin = [str(card["region"])] if card.get("region") else []
    if card.get("century") is not None:
        origin.append(_century(int(card["century"])))
    parts = ["drawn by formula, no work of an artist"] if by_formula else []
    parts += [", ".join(look), ", ".join(origin)]
    if card.get("marks"):
        parts.append(f"known by {card['marks']}")
    if card.get("difficulty"):
        parts.append(f"{card['difficulty']} difficulty")
    said = "; ".join(part for part in parts if part)
    return f"{name}: {said}" if said else str(name)


def shipped_cards() -> Cards:
    """Return the cards of the pictures that ship with the package.

    Raises:
        NotFound: the package was installed without them.
    """
    return Cards.read(Path(str(files("paragone.make").joinpath("pictures"))))


def _century(number: int) -> str:
    """'19th c.', or '3rd c. BC'."""
    n = abs(number)
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending} c." + (" BC" if number < 0 else "")
