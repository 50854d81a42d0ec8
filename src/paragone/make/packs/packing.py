"""What a pack holds before it is laid out: settings, pictures under safe names, splits, licences."""

from __future__ import annotations

import datetime
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from ...benchmark import Benchmark
from ...design.checks import BROKEN
from ...errors import BadConfig, BadInput, BadTable, ParagoneError, UnknownName
from ...images import ENDINGS, decode_image, read_bytes
from ...settings import Settings
from ...tables import read_table
from ..references.cards import DRAWN
from .made_table import made_table

__all__ = ["Content", "PackedPicture", "Packing", "content_of", "safe_names"]

_ALL = "test"  # the hub's word for data that nothing is trained on
_LONGEST = 120  # characters of a file name without ending; our choice
_CREDITS = ("licence", "source", "artist", "title", "year", "medium")
_RESERVED = ("image", "file_name")


class Packing(Settings, frozen=True):
    """How a benchmark is published: `[pack]` of make.toml."""

    layout: Literal["imagefolder", "parquet", "webdataset"] = "imagefolder"
    """imagefolder: picture files with a table of their facts; parquet: pictures inside of tables; webdataset: tar files."""
    split: str = ""
    """Factor whose levels become splits; empty: one split, 'test'."""
    broken: bool = True
    """Keep items that are broken versions for attention checks; they are marked in the column broken_of."""
    scores: bool = False
    """Take along the folder scores/."""
    answers: bool = False
    """Take along votes.csv and ratings.csv; look at them first, since they tell what every participant answered."""
    shard_mib: int = 200
    """Size at which a new Parquet or tar file begins, in MiB, >= 1; Parquet takes about four times as much memory."""
    excluded: str = ""
    """What was left out on purpose, for example styles that are no paintings."""
    unsupported: str = ""
    """What the scores do not support, in words for the card."""
    citation: str = ""
    """How to cite it."""
    homepage: str = ""
    """Where it will be published, a URL."""
    version: str = "1.0.0"
    """Of the data, as major.minor.patch."""
    published: str = ""
    """Day of publication, as 2026-01-31; empty: not said."""

    def __post_init__(self) -> None:
        if self.shard_mib < 1:
            raise BadConfig(f"shard_mib is {self.shard_mib}; it must be 1 or more", where="shard_mib")
        if not re.fullmatch(r"\d+\.\d+\.\d+", self.version):
            raise BadConfig(f"version is '{self.version}'; write three numbers, as 1.0.0", where="version")
        if self.published:
            try:
                datetime.date.fromisoformat(self.published)
            except ValueError:
                raise BadConfig(
                    f"published is '{self.published}'; write a day as 2026-01-31", where="published"
                ) from None


@dataclass(frozen=True, kw_only=True)
class PackedPicture:
    """One picture and where it goes."""

    source: Path
    name: str
    """Path in the pack when unpacked, with '/'."""
    credits: Mapping[str, str | None]
    """licence, source, artist, title, year, medium; null: not known."""

    @property
    def drawn(self) -> bool:
        """Whether it was made by formula, and so is no work of an artist."""
        return self.credits["source"] == DRAWN

    @property
    def ending(self) -> str:
        """Ending of the file, with the dot, in lower case."""
        return Path(self.name).suffix


@dataclass(frozen=True, kw_only=True)
class Content:
    """Everything that goes into a pack."""

    benchmark: Benchmark
    """Its pictures are named as in the pack."""
    pictures: Mapping[str, PackedPicture]
    """Item -> its picture; items without one are left out."""
    shown: Mapping[tuple[str, str], PackedPicture]
    """(factor, level) -> reference picture."""
    splits: Mapping[str, tuple[str, ...]]
    """Split -> its items with a picture, in order."""
    made: pl.DataFrame | None = None
    """One row per cell with its status and how it was made; None: no table beside the benchmark says so."""

    @property
    def statuses(self) -> dict[str, int]:
        """Status -> cells that are no pictures, with that status; empty where nothing is said."""
        if self.made is None:
            return {}
        absent = self.made.filter((pl.col("status") != "ok") & ~pl.col("item").is_in(list(self.pictures)))
        return dict(absent.group_by("status").len().sort("status").iter_rows())

    @property
    def shown_factors(self) -> tuple[str, ...]:
        """Factors of the items that have reference pictures, in the items' order."""
        have = {factor for factor, _ in self.shown}
        return tuple(factor for factor in self.benchmark.factors if factor in have)

    def rows(self, split: str) -> list[dict[str, Any]]:
        """Item, factors and licence of every item of a split."""
        known = {row["item"]: row for row in self.benchmark.items.iter_rows(named=True)}
        rows = []
        for item in self.splits[split]:
            row = {name: value for name, value in known[item].items() if name != "image"}
            row.setdefault("licence", self.pictures[item].credits["licence"])
            rows.append(row)
        return rows


def safe_names(ids: Iterable[str], what: str) -> dict[str, str]:
    """Return file names for ids: lower case, of a-z, 0-9, hyphens and underscores; '/' becomes '__'.

    Args:
        ids: any texts. Letters that have no such form are left out, and eight characters of the id's digest stand for
            them; likewise what is longer than 120 characters, and all ids that would have one name, for example since
            they differ in case alone. The order of ids does not matter.
        what: what they are called in messages.

    Raises:
        BadInput: two ids get the same name all the same.
    """
    made = {name: _safe(name) for name in ids}
    for size in (4, 16):  # a digest may itself be the end of another id
        counts = Counter(made.values())
        made = {name: _marked(_safe(name), name, size) if counts[safe] > 1 else safe for name, safe in made.items()}
    counts = Counter(made.values())
    for name, safe in made.items():
        if counts[safe] > 1:
            raise BadInput(f"{what}: '{name}' and another both become '{safe}' as a file name; rename one", where=name)
    return made


def content_of(benchmark: Benchmark, packing: Packing) -> Content:
    """Look at everything that is to be packed.

    Args:
        benchmark: pictures are read from its folder; tables beside it (cards.csv, cells.csv, generated.csv, made.csv)
            tell licences, and why cells have no picture.
        packing: what is taken along.

    Raises:
        BadTable: pictures are missing or damaged; holds all faults.
        BadInput: no item has a picture, ids or names collide.
        UnknownName: no such factor.
        BadConfig: levels cannot name splits.
    """
    items = benchmark.items
    if BROKEN in items.columns and not packing.broken:
        items = items.filter(pl.col(BROKEN).is_null())
    items = items.with_columns(pl.when(pl.col("image").str.len_chars() > 0).then("image").alias("image"))
    _check_columns(benchmark)
    shown_items = items.filter(pl.col("image").is_not_null())
    if not shown_items.height:
        raise BadInput(f"benchmark '{benchmark.name}' has no picture to pack", where="items")
    splits = _splits(shown_items, packing.split)
    where = {item: split for split, members in splits.items() for item in members}
    cards = _cards(benchmark)
    names = safe_names(shown_items["item"], "items")
    pictures = {
        row["item"]: PackedPicture(
            source=benchmark.folder / row["image"],
            name=f"data/{where[row['item']]}/images/{names[row['item']]}{_ending(row['image'])}",
            credits=_credits(row, benchmark.licence),
        )
        for row in shown_items.iter_rows(named=True)
    }
    shown = _shown(benchmark, cards, next(iter(splits)))
    sizes = _sizes(pictures, shown)
    images = {item: picture.name for item, picture in pictures.items()}
    packed = Benchmark(
        items.with_columns(pl.col("item").replace_strict(images, default=None, return_dtype=pl.String).alias("image")),
        benchmark.references.with_columns(
            pl.Series("image", [shown[key].name for key in _keys(benchmark)], dtype=pl.String)
        ),
        name=benchmark.name,
        criteria=benchmark.criteria,
        description=benchmark.description,
        licence=benchmark.licence,
        simulated=benchmark.simulated,
    )
    made = made_table(benchmark.folder, {item: picture.source for item, picture in pictures.items()}, sizes)
    return Content(benchmark=packed, pictures=pictures, shown=shown, splits=splits, made=made)


def _safe(name: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)).casefold()
    lost = any(c.isalnum() and not c.isascii() for c in plain)
    parts = (re.sub(r"[^a-z0-9_-]+", "-", part).strip("-_") for part in plain.split("/"))
    safe = "__".join(part or "x" for part in parts)  # readers skip names that begin with an underscore
    if lost or len(safe) > _LONGEST:
        safe = _marked(safe, name, 4)
    return safe


def _marked(safe: str, name: str, size: int) -> str:
    """A file name with a digest of the id at its end, of so many bytes."""
    mark = hashlib.blake2b(name.encode(), digest_size=size).hexdigest()
    return f"{safe[: _LONGEST - 1 - len(mark)]}-{mark}".strip("-")


def _check_columns(benchmark: Benchmark) -> None:
    taken = {*_RESERVED, *(f"{factor}_image" for factor in benchmark.references["factor"].unique())}
    clash = sorted({name for name in benchmark.factors if name in taken or name.endswith("_file_name")})
    if clash:
        raise BadInput(
            f"factor '{clash[0]}' has the name of a column of pictures in the pack; rename the factor", where=clash[0]
        )


def _splits(items: pl.DataFrame, factor: str) -> dict[str, tuple[str, ...]]:
    if not factor:
        return {_ALL: tuple(items["item"])}
    if factor not in items.columns[2:]:
        raise UnknownName.among(factor, items.columns[2:], "factor")
    levels = items[factor].unique(maintain_order=True).to_list()
    if None in levels:
        item = items.filter(pl.col(factor).is_null())["item"][0]
        raise BadConfig(f"split '{factor}': item '{item}' has no level of it", where="split")
    names = {level: name.replace("-", "_") for level, name in safe_names(levels, f"levels of {factor}").items()}
    if len(set(names.values())) < len(names) or "all" in names.values():
        raise BadConfig(f"split '{factor}': levels cannot name splits: {', '.join(sorted(names))}", where="split")
    return {name: tuple(items.filter(pl.col(factor) == level)["item"]) for level, name in names.items()}


def _keys(benchmark: Benchmark) -> list[tuple[str, str]]:
    return [(factor, level) for factor, level in benchmark.references.select("factor", "level").iter_rows()]


def _cards(benchmark: Benchmark) -> dict[tuple[str, str], dict[str, Any]]:
    """(factor, level) -> what the cards beside the benchmark say.

    cards.csv, which people write, stands above references/cards.csv, which `stylise` completes; that a picture was drawn by
    formula stays said.
    """
    cards: dict[tuple[str, str], dict[str, Any]] = {}
    for name in ("references/cards.csv", "cards.csv"):
        path = benchmark.folder / name
        frame = read_table(path) if path.is_file() else pl.DataFrame()
        if {"factor", "level"} <= set(frame.columns):
            for row in frame.iter_rows(named=True):
                card = cards.setdefault((row["factor"], row["level"]), {})
                drawn = card.get("source") == DRAWN
                card |= {name: value for name, value in row.items() if value is not None}
                card |= {"source": DRAWN} if drawn else {}
    return cards


def _credits(row: Mapping[str, Any], licence: str) -> dict[str, str | None]:
    said = {name: str(row[name]) if row.get(name) else None for name in _CREDITS}
    said["licence"] = said["licence"] or row.get("license") or licence or None
    return said


def _shown(
    benchmark: Benchmark, cards: Mapping[tuple[str, str], Mapping[str, Any]], split: str
) -> dict[tuple[str, str], PackedPicture]:
    keys = _keys(benchmark)
    names = {
        factor: safe_names([level for one, level in keys if one == factor], f"levels of {factor}")
        for factor in dict.fromkeys(factor for factor, _ in keys)
    }
    folders = safe_names(names, "factors")
    made = {}
    for key, row in zip(keys, benchmark.references.iter_rows(named=True), strict=True):
        factor, level = key
        own = {name: value for name, value in row.items() if name not in ("factor", "level", "image")}
        said = {**cards.get(key, {}), **{name: value for name, value in own.items() if value}}
        made[key] = PackedPicture(
            source=benchmark.folder / row["image"],
            name=f"data/{split}/references/{folders[factor]}/{names[factor][level]}{_ending(row['image'])}",
            credits=_credits(said, benchmark.licence),
        )
    return made


def _ending(image: str) -> str:
    ending = Path(image).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"'{image}' does not end as a picture does ({', '.join(ENDINGS)}); rename it", where=image)
    return ending


def _sizes(
    pictures: Mapping[str, PackedPicture], shown: Mapping[tuple[str, str], PackedPicture]
) -> dict[str, tuple[int, int]]:
    """Item -> width and height of its picture; all of them and all references are decoded, and every fault is told."""
    sizes, faults = {}, []
    named = [(item, item, picture) for item, picture in pictures.items()]
    for item, name, picture in [*named, *((None, "/".join(key), picture) for key, picture in shown.items())]:
        try:
            height, width, _ = decode_image(read_bytes(picture.source), where=str(picture.source)).shape
        except ParagoneError as error:
            faults.append(f"'{name}': {error.message}")
            continue
        if item is not None:
            sizes[item] = (width, height)
    if faults:
        raise BadTable.of_faults("pictures", faults)
    return sizes
