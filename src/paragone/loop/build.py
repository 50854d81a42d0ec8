"""A benchmark folder from pictures or from a public layout, and the check of everything in one."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from ..benchmark import Benchmark
from ..design import read_study
from ..errors import BadConfig, NotFound, ParagoneError, WouldOverwrite
from ..images import read_image
from ..judgements import Ratings, Votes
from ..make import Coverage, coverage, new_benchmark, with_broken
from ..make.making import read_making
from ..make.packs.unpack import faults as pack_faults
from ..make.references.cards import Cards
from ..parallel import track
from ..plan import Plan
from ..provenance import changed_inputs
from ..scores import Agreement, Scores
from ..sources import SOURCES, Imported, import_source, recognise
from ..sources.beside_pack import beside_pack, bring_along
from ..sources.packed import packed_benchmark
from ..study import read_answers
from ..study.faults import unknown_shown
from ..tables import read_table, whole_file
from .reading import named
from .words import file_name

__all__ = ["check_folder", "import_into", "new_folder"]


def new_folder(
    folder: Path,
    pattern: str,
    *,
    root: Path | None = None,
    references: Mapping[str, str] | None = None,
    criteria: Sequence[str] = (),
    name: str = "",
    broken: int = 0,
    force: bool = False,
) -> tuple[Benchmark, Coverage]:
    """Make a benchmark folder of pictures that match a pattern.

    Args:
        folder: where benchmark.toml and items.csv go.
        pattern: path with a placeholder per factor, below `root`.
        root: where the pictures lie; None: `folder`.
        references: factor -> pattern of its reference pictures.
        criteria: what is judged.
        name: of the benchmark; empty: the folder's name.
        broken: items that also get a broken version, for attention checks and training questions, >= 0.
        force: replace a benchmark that is there.

    Raises:
        WouldOverwrite: the folder holds a benchmark and `force` is off.
        BadConfig, BadInput, NotFound, UnknownName: as `new_benchmark`.
    """
    _free(folder, force)
    made = new_benchmark(
        pattern,
        folder=root or folder,
        criteria=list(criteria),
        references=references,
        name=name or folder.resolve().name,
    )
    folder.mkdir(parents=True, exist_ok=True)  # paths such as bench/../results lead nowhere while bench is missing
    moved = with_broken(_moved(made, folder), broken)
    moved.write(folder)
    return moved, coverage(moved)


def import_into(
    source: str | None,
    path: Path,
    folder: Path,
    *,
    copy: bool = False,
    force: bool = False,
    options: Mapping[str, Any] | None = None,
) -> tuple[Imported, list[Path]]:
    """Read a known layout, or any table, and write what it holds into a folder.

    Args:
        source: name of the layout; None: recognised.
        path: what is read.
        folder: where benchmark, votes, ratings and scores go.
        copy: copy the pictures too; else the benchmark points to where they are.
        force: replace what is there.
        options: of the source's reader.

    Returns:
        What was read, and the files written; of a pack also its cards, words on rights, licences.csv and made.csv.

    Raises:
        WouldOverwrite: one of the files is there and `force` is off.
    """
    options = dict(options or {})
    pack: Path | None = None
    if SOURCES.get(source or recognise(path) or "table").name == "packed":
        options.setdefault("into", folder)  # pictures that lie inside of tables or tar files need a place
        _free_for_pack(path, folder, Path(options["into"]), force)
        pack = path
        copy = False  # they are taken out anyway
    found = import_source(source, path, **options)
    written: list[Path] = []
    if found.benchmark is not None:
        _free(folder, force)
    tables: dict[Path, Votes | Ratings | Scores] = {}
    for noun, name in ((found.votes, "votes.csv"), (found.ratings, "ratings.csv")):
        if noun is not None:
            tables[folder / name] = noun
    taken: set[str] = set()
    for scores in found.scores:
        target, again = folder / "scores" / f"{file_name(scores.name)}.csv", 2
        while target.name.casefold() in taken:  # names that differ in case alone are one file on some disks
            target, again = target.with_name(f"{file_name(scores.name)}-{again}.csv"), again + 1
        taken.add(target.name.casefold())
        tables[target] = scores
    for target, table in tables.items():
        for place in _places_of_scores(target) if isinstance(table, Scores) else [target]:
            _free_place(place, folder, force)
    if found.benchmark is not None:
        made = _copied(found.benchmark, folder, force) if copy else _moved(found.benchmark, folder)
        made.write(folder)
        written.append(folder / "benchmark.toml")
    if pack is not None:
        written += bring_along(pack, folder, pictures=options["into"])
    written += [table.write(target) for target, table in tables.items()]
    return found, written


def _free(folder: Path, force: bool) -> None:
    if (folder / "benchmark.toml").exists() and not force:
        raise WouldOverwrite(
            f"'{folder}' holds a benchmark; --force replaces it, or name another folder", where=str(folder)
        )
    for name in ("benchmark.toml", "items.csv", "references.csv"):
        _free_place(folder / name, folder, force)


def _free_place(path: Path, folder: Path, force: bool) -> None:
    """Refuse a place where a file cannot go, or goes only in another's stead."""
    for above in path.relative_to(folder).parents if path.is_relative_to(folder) else ():
        place = folder / above
        if os.path.lexists(place) and not place.is_dir():
            raise WouldOverwrite(
                f"'{place}' is no folder, and '{path.name}' would go into it; move it", where=str(place)
            )
    if path.is_dir():
        raise WouldOverwrite(f"'{path}' is a folder, and a file would go there; move it", where=str(path))
    if os.path.lexists(path) and not force:
        raise WouldOverwrite(f"'{path}' exists; --force replaces it", where=str(path))


def _places_of_scores(target: Path) -> list[Path]:
    """What a table of scores writes, or removes, at its place and beside it."""
    return [target, target.with_suffix(".toml"), target.with_suffix(".draws.parquet")]


def _free_for_pack(pack: Path, folder: Path, into: Path, force: bool) -> None:
    """Everything that comes out of a pack finds its place free; looked at before the first picture is taken out."""
    _free(folder, force)
    held = packed_benchmark(pack)
    taken = [folder / name for name in ("votes.csv", "ratings.csv") if (pack / name).is_file()]
    for one in sorted((pack / "scores").glob("*.csv")):
        taken += _places_of_scores(folder / "scores" / f"{file_name(one.stem)}.csv")
    taken += [folder / name for name in beside_pack(pack, folder)]
    taken += [into / image for image in (*held.items["image"].drop_nulls(), *held.references["image"])]
    for path in taken:
        _free_place(path, into if path.is_relative_to(into) else folder, force)


def _moved(benchmark: Benchmark, folder: Path) -> Benchmark:
    """The same benchmark seen from another folder: its picture paths lead from there."""

    def seen(image: str) -> str:
        return Path(os.path.relpath(benchmark.folder / image, folder)).as_posix()

    def column(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col("image").map_elements(seen, return_dtype=pl.String))

    return replace(benchmark, items=column(benchmark.items), references=column(benchmark.references), folder=folder)


def _copied(benchmark: Benchmark, folder: Path, force: bool) -> Benchmark:
    pictures = [*benchmark.items["image"].drop_nulls(), *benchmark.references["image"]]
    for image in pictures:  # all are looked at before the first is written
        target, source = folder / image, benchmark.folder / image
        if Path(image).is_absolute() or ".." in Path(image).parts:
            raise BadConfig(f"picture '{image}' lies outside the source's folder; import without --copy", where=image)
        same = target.is_file() and source.is_file() and filecmp.cmp(source, target, shallow=False)
        _free_place(target, folder, force or same)
    for image in track(pictures, "copying pictures"):
        target, source = folder / image, benchmark.folder / image
        if target.is_symlink() or not (target.exists() and target.samefile(source)):
            with whole_file(target) as aside:
                shutil.copyfile(source, aside)
    return replace(benchmark, folder=folder)


def check_folder(folder: Path, *, pictures: bool = True, quiet: bool = True) -> tuple[list[str], list[str]]:
    """Check everything that lies in a folder.

    Args:
        folder: what is checked.
        pictures: also decode every picture.
        quiet: show no progress bar.

    Returns:
        Faults (something is broken) and remarks (something may surprise), one line each.

    Raises:
        NotFound: there is no such folder, or it holds nothing of ours.
    """
    if not folder.is_dir():
        raise NotFound.path(folder, "folder")
    if (folder / "pack.toml").is_file():
        return pack_faults(folder), []
    faults: list[str] = []
    remarks: list[str] = []
    benchmark = _tried(faults, folder / "benchmark.toml", lambda _: Benchmark.read(folder))
    tables: dict[str, Any] = {}
    for name, read in (
        ("votes", Votes.read),
        ("ratings", Ratings.read),
        ("plan", Plan.read),
        ("answers", read_answers),
    ):
        for ending in (".csv", ".parquet"):
            found = _tried(faults, folder / f"{name}{ending}", read)
            if found is not None:
                tables[name] = found
    study = _tried(faults, folder / "study.toml", read_study)
    agreement = _tried(faults, folder / "agreement.csv", Agreement.read)
    scores = [
        made
        for file in sorted((folder / "scores").glob("*"))
        if file.suffix in (".csv", ".parquet") and not file.name.endswith(".draws.parquet")
        if (made := _tried(faults, file, Scores.read)) is not None
    ]
    making = _tried(faults, folder / "make.toml", read_making)
    cards = _tried(faults, folder / "cards.csv", Cards.read)
    cells = _tried(faults, folder / "cells.csv", read_table)
    if cells is not None and "status" in cells.columns:
        counted = cells.filter(pl.col("status") != "ok").group_by("status").len().sort("status")
        remarks += [f"cells.csv: {n} of {cells.height} cells are {status}" for status, n in counted.iter_rows()]
    if not (benchmark or tables or study or agreement or scores or making or cards or faults):
        raise NotFound(f"'{folder}' holds nothing that paragone reads", where=str(folder))
    if benchmark is not None:
        _items_known(benchmark, tables, scores, faults)
        faults += [] if study is None else unknown_shown(study, benchmark)
        if pictures:
            _pictures(benchmark, faults, remarks, quiet)
    for made in scores:
        remarks += [f"scores/{made.name}: {line}; make it again" for line in changed_inputs(made.made, folder)]
    return faults, remarks


def _tried(faults: list[str], path: Path, read: Any) -> Any:
    if not path.is_file():
        return None
    try:
        with named(path):
            return read(path)
    except ParagoneError as error:
        faults += [f"{path.name}: {fault}" for fault in getattr(error, "faults", (error.message,))]
        return None


def _items_known(benchmark: Benchmark, tables: Mapping[str, Any], scores: Sequence[Scores], faults: list[str]) -> None:
    known = set(benchmark.items["item"])
    for name in ("votes", "ratings"):
        if name in tables:
            strange = sorted(set(tables[name].items) - known)
            if strange:
                faults.append(f"{name}: {len(strange)} items are not in items.csv, for example '{strange[0]}'")
    for made in scores:
        strange = sorted(set(made.frame["item"].drop_nulls()) - known)
        if strange:
            faults.append(f"scores/{made.name}: {len(strange)} items are not in items.csv, for example '{strange[0]}'")


def _pictures(benchmark: Benchmark, faults: list[str], remarks: list[str], quiet: bool) -> None:
    without = benchmark.items["image"].null_count()
    if without:
        remarks.append(f"items.csv: {without} of {benchmark.items.height} items have no picture")
    shown = [*benchmark.items["image"].drop_nulls(), *benchmark.references["image"]]
    for image in track(shown, "checking pictures", quiet=quiet):
        try:
            read_image(benchmark.folder / image)
        except ParagoneError as error:
            faults.append(error.message)
