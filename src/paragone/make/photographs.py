"""Pictures to compare, wherever they come from: a benchmark, a folder, or KonIQ-10k in its authors' layout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ..benchmark import BROKEN, Benchmark
from ..errors import BadInput, NotFound, UnknownName
from ..images.files import ENDINGS
from ..tables import read_table

__all__ = ["Listed", "NaturalFolder", "listed_pictures", "natural_folder"]


class Listed(NamedTuple):
    """Pictures of one side of a comparison."""

    frame: pl.DataFrame
    """Columns picture, image (path), origin, generator, prompt (null: not known), by picture."""
    layout: str
    """Layout of the folder, or 'benchmark'."""
    notes: tuple[str, ...]


class NaturalFolder(NamedTuple):
    """Natural pictures that a folder holds."""

    paths: tuple[Path, ...]
    layout: str
    """'koniq-10k', or 'folder' for any other."""
    notes: tuple[str, ...]


def natural_folder(folder: str | Path) -> NaturalFolder:
    """Find natural pictures: those of KonIQ-10k where its layout is recognised, else every picture below the folder.

    KonIQ-10k as its authors publish it: a table koniq10k_*.csv whose column image_name lists the pictures, beside a folder
    of them, 1024x768 (or 512x384, or either with koniq10k_ before it); the largest that is there is read.

    Args:
        folder: the user's own copy.

    Raises:
        NotFound: no such folder.
        BadInput: no picture in it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise NotFound.path(folder, "folder of natural pictures")
    tables = sorted(folder.glob("koniq10k_*.csv"))
    homes = [folder / f"{before}{size}" for size in ("1024x768", "512x384") for before in ("", "koniq10k_")]
    homes = [home for home in homes if home.is_dir()]
    if tables and homes:
        return _koniq(tables, homes[0])
    paths = tuple(sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix.lower() in ENDINGS))
    if not paths:
        raise BadInput(f"no picture in '{folder}'; pictures end in {', '.join(ENDINGS)}", where=str(folder))
    return NaturalFolder(paths, "folder", ())


def _koniq(tables: Sequence[Path], home: Path) -> NaturalFolder:
    for table in tables:
        frame = read_table(table)
        if "image_name" in frame.columns:
            names = frame["image_name"].drop_nulls().unique().sort().to_list()
            break
    else:
        raise UnknownName.among("image_name", [*frame.columns], f"column in {tables[0].name}")
    there = {path.name for path in home.iterdir() if path.is_file()}
    paths = tuple(home / name for name in names if name in there)
    if not paths:
        raise BadInput(f"'{home}' holds none of the {len(names)} pictures that {table.name} lists", where=str(home))
    missing = len(names) - len(paths)
    notes = (
        (f"{missing} of the {len(names)} pictures that {table.name} lists are not in {home.name}",) if missing else ()
    )
    return NaturalFolder(paths, "koniq-10k", notes)


def listed_pictures(
    source: Benchmark | str | Path, origin: str, *, generator: str | None, prompt: str | None
) -> Listed:
    """List the pictures of a benchmark or folder.

    Args:
        source: where they are.
        origin: what the column of that name says: 'generated' or 'natural'.
        generator: factor of a benchmark that names what made a picture; None, or one that it lacks: null.
        prompt: factor that names what was asked for; likewise.

    Raises:
        NotFound: no such folder.
        BadInput: no picture.
    """
    if not isinstance(source, Benchmark):
        found = natural_folder(source)
        root = Path(source)
        frame = pl.DataFrame(
            {
                "picture": [path.relative_to(root).as_posix() for path in found.paths],
                "image": [str(path) for path in found.paths],
            }
        )
        layout, notes, factors = found.layout, list(found.notes), tuple[str, ...]()
    else:
        sound = source.items
        if BROKEN in source.factors:
            sound = sound.filter(pl.col(BROKEN).is_null())  # damaged on purpose, for attention checks
        shown = sound.filter(pl.col("image").is_not_null())
        lost = sound.height - shown.height
        notes = [f"{lost} {origin} item{'s' * (lost > 1)} without a picture left out"] if lost else []
        layout, factors = "benchmark", source.factors
        frame = shown.with_columns(
            picture=pl.col("item"),
            image=pl.Series([str(source.folder / name) for name in shown["image"]], dtype=pl.String),
        )
    columns = {"generator": generator, "prompt": prompt}
    made = frame.select(
        "picture",
        "image",
        pl.lit(origin).alias("origin"),
        *(
            (pl.col(name) if name in factors else pl.lit(None, dtype=pl.String)).alias(word)
            for word, name in columns.items()
        ),
    )
    return Listed(made.sort("picture"), layout, tuple(notes))
