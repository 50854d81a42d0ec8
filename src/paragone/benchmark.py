"""`Benchmark`: the items to be judged, their factors, their references, and what they are judged on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import polars as pl

from .errors import BadTable, NotFound, UnknownName
from .settings import Settings, read_settings, write_toml
from .tables import Column, Schema, checked, read_table, write_table

__all__ = ["BROKEN", "ITEMS", "REFERENCES", "Benchmark", "hidden_reference", "shown_reference"]

BROKEN = "broken_of"
"""Factor column of the items: the sound item that this one is a broken version of; null: the item is no broken
version."""
_HIDDEN = "reference"

ITEMS = Schema(
    "items",
    (
        Column(name="item", kind="id", required=True, nullable=False, doc="Id of the item; unique."),
        Column(name="image", kind="text", doc="Picture, relative to the benchmark's folder; null: missing."),
    ),
)

REFERENCES = Schema(
    "references",
    (
        Column(name="factor", kind="id", required=True, nullable=False, doc="Factor it shows, for example 'content'."),
        Column(name="level", kind="id", required=True, nullable=False, doc="Level of that factor."),
        Column(name="image", kind="text", required=True, nullable=False, doc="Picture, relative to the folder."),
    ),
)


class _Card(Settings, frozen=True):
    """`benchmark.toml`."""

    name: str
    """Name of the benchmark."""
    criteria: tuple[str, ...] = ()
    """What is judged."""
    factors: tuple[str, ...] = ()
    """Factor columns that items.csv must have."""
    description: str = ""
    """What it is and how it was made."""
    licence: str = ""
    """Who may do what with the pictures."""
    simulated: bool = False
    """Its answers come from simulated participants."""


@dataclass(frozen=True)
class Benchmark:
    """Items (one row each) with their factors and pictures, the references, and the criteria."""

    items: pl.DataFrame
    """Columns `item`, `image`, then one column per factor (text; null: the item has no level of it)."""
    references: pl.DataFrame
    """Columns `factor`, `level`, `image`: the picture that shows a level, for example the content photograph."""
    name: str = "benchmark"
    criteria: tuple[str, ...] = ()
    """What people and evaluators judge, for example ('content', 'style', 'overall')."""
    folder: Path = Path()
    """Where relative pictures lie."""
    description: str = ""
    licence: str = ""
    """Who may do what with the pictures."""
    simulated: bool = False
    """The answers that belong to it come from simulated participants; every page shows it."""

    def __post_init__(self) -> None:
        items = checked(self.items, ITEMS, where="items")
        twice = items.filter(pl.col("item").is_duplicated())["item"].unique().sort().to_list()
        if twice:
            raise BadTable.of_faults("items", [f"item '{item}' stands twice" for item in twice])
        items = items.with_columns(pl.col(name).cast(pl.String) for name in items.columns[2:])
        references = checked(self.references, REFERENCES, where="references")
        keys = references.select("factor", "level")
        if keys.is_duplicated().any():
            row = references.filter(keys.is_duplicated()).row(0, named=True)
            raise BadTable(f"references: {row['factor']} '{row['level']}' stands twice", where="references")
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "references", references)

    @classmethod
    def read(cls, folder: str | Path) -> Self:
        """Read `benchmark.toml`, `items.csv` and, if there, `references.csv` from a folder.

        Raises:
            NotFound: the folder or one of the first two files is missing.
            BadTable, BadConfig: a file breaks its contract.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise NotFound.path(folder, "folder")
        card = read_settings(folder / "benchmark.toml", _Card)
        beside = folder / "references.csv"
        references = read_table(beside) if beside.exists() else _no_references()
        items = checked(read_table(folder / "items.csv"), ITEMS, where="items.csv")
        missing = [factor for factor in card.factors if factor not in items.columns]
        if missing:
            raise UnknownName.among(missing[0], items.columns[2:], "factor column in items.csv")
        return cls(
            items,
            checked(references, REFERENCES, where="references.csv"),
            name=card.name,
            criteria=card.criteria,
            folder=folder,
            description=card.description,
            licence=card.licence,
            simulated=card.simulated,
        )

    def write(self, folder: str | Path) -> Path:
        """Write the three files; pictures are not copied, relative paths stay as they are."""
        folder = Path(folder)
        write_table(self.items, folder / "items.csv")
        if self.references.height:
            write_table(self.references, folder / "references.csv")
        card = {
            "format": 1,
            "name": self.name,
            "criteria": list(self.criteria),
            "factors": list(self.factors),
            "description": self.description,
            "licence": self.licence,
            "simulated": self.simulated,
        }
        write_toml(card, folder / "benchmark.toml")
        return folder

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factor columns."""
        return tuple(self.items.columns[2:])

    def levels(self, factor: str) -> pl.DataFrame:
        """Columns `item`, `level` for one factor; items without a level are left out.

        Raises:
            UnknownName: no such factor.
        """
        if factor not in self.factors:
            raise UnknownName.among(factor, self.factors, "factor")
        return self.items.select("item", pl.col(factor).alias("level")).drop_nulls()

    def picture(self, item: str) -> Path | None:
        """Where the item's picture lies, or None if it has none."""
        row = self.items.filter(pl.col("item") == item)
        if row.height == 0:
            raise UnknownName.among(item, self.items["item"].to_list(), "item")
        image = row["image"][0]
        return None if image is None else self.folder / image


def hidden_reference(factor: str, level: str) -> str:
    """Return the id under which a reference picture is rated like an item, unmarked: `reference:<factor>:<level>`.

    Args:
        factor: factor it shows; without a colon.
        level: level of that factor.
    """
    return f"{_HIDDEN}:{factor}:{level}"


def shown_reference(item: str) -> tuple[str, str] | None:
    """Return the factor and level whose reference picture an item's id stands for; None: the item is no reference."""
    kind, _, rest = item.partition(":")
    factor, colon, level = rest.partition(":")
    return (factor, level) if kind == _HIDDEN and colon else None


def _no_references() -> pl.DataFrame:
    return pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
