"""The engine behind `stylise`: every method on every combination of references, resumable, every cell accounted for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from .. import __version__
from ..benchmark import Benchmark
from ..errors import BadConfig, BadInput, NotFound, UnknownName
from ..provenance import digest
from ..tables import write_table
from .adapters import FolderMethod, FolderReading, grid_of, read_folder
from .cells import Job, finished, record_of, seed_of
from .demo import with_broken
from .foretelling import foretold, spoken
from .grid import CellGrid, listed
from .making import Making
from .references.carded import cards_of, manners_of
from .references.cards import Cards
from .references.prepared import Prepared, prepare
from .running import AnyMethod, manners_taken, own_files, possible, run

__all__ = ["TRIED_AGAIN", "Built", "build", "jobs_of", "work_in"]

_MARK = ".made-by-paragone"  # in results/, so that a killed run's pictures are told from somebody's own
TRIED_AGAIN = ("failed", "missing")
"""Statuses that a second run tries again unasked: the cause may be gone."""


@dataclass(frozen=True)
class Built:
    """What stands in the folder after a run."""

    benchmark: Benchmark
    """Its items are the cells that are ok, and broken versions where they were asked for."""
    cells: pl.DataFrame
    """One row per expected cell: item, method, one column per factor, status, reason, image, width and height of the
    picture, given_width and given_height that the method gave it, seconds."""
    made: int
    """Cells that this run made, whatever became of them."""
    kept: int
    """Cells that were there already."""
    readings: Mapping[str, FolderReading] = field(default_factory=dict)
    """Method whose results lie ready -> what its folder holds."""

    @property
    def counts(self) -> pl.DataFrame:
        """One row per method, one column of counts per status that occurs."""
        counted = self.cells.group_by("method", "status", maintain_order=True).len()
        return counted.pivot(on="status", index="method", values="len").fill_null(0)

    @property
    def grid(self) -> CellGrid:
        """Methods x references: what became of each cell, and which files of the folders are none."""
        factors = tuple(self.cells.columns[2 : self.cells.columns.index("status")])
        cells: dict[str, dict[tuple[str, ...], str]] = {}
        for method, status, *levels in self.cells.select("method", "status", *factors).iter_rows():
            cells.setdefault(method, {})[tuple(levels)] = status
        return grid_of(factors, cells, self.readings)


def build(
    making: Making,
    folder: str | Path,
    *,
    beside: str | Path | None = None,
    methods: Sequence[str] = (),
    chosen: Mapping[str, tuple[str, ...]] | None = None,
    again: bool = False,
    remake: Sequence[str] = (),
    jobs: int = 1,
    quiet: bool = True,
    say: Callable[[str], None] | None = None,
) -> Built:
    """Make every cell that is not there yet, and write the benchmark.

    Cells are kept or made again by the digest of all that they depend on: the method's settings, the reference pictures,
    the seed, the version. A run that was killed goes on where it was.

    Args:
        making: the record of make.toml.
        folder: where references/, results/, cells.csv and the benchmark's tables go.
        beside: where make.toml lies; None: `folder`.
        methods: only these; the others keep what they have.
        chosen: factor -> selected levels.
        again: also try cells again whose picture was refused, invalid or of a wrong size.
        remake: make all cells of these methods again, for example because their code has changed.
        jobs: worker processes; the pictures do not depend on it.
        quiet: show no progress.
        say: is given a line before work that takes minutes.

    Raises:
        BadConfig: there is no method or no reference.
        UnknownName: a method that make.toml does not have.
        BadInput, NotFound, TooFew: as `prepare`.
        MissingExtra: a method needs a library that is not installed.
    """
    folder = Path(folder)
    beside = Path(beside) if beside else folder
    if jobs == 0 or jobs < -1:
        raise BadConfig(f"jobs is {jobs}; give the number of processes, or -1 for one per core", where="jobs")
    work_of, ready, cards = work_in(
        making, folder, beside=beside, methods=(*methods, *remake), chosen=chosen, quiet=quiet
    )
    asked = [name for name in making.method if not methods or name in methods or name in remake]
    tried = TRIED_AGAIN + (("refused", "invalid", "wrong_size", "ambiguous") if again else ())
    made = kept = 0
    readings: dict[str, FolderReading] = {}
    (folder / "results").mkdir(parents=True, exist_ok=True)
    (folder / "results" / _MARK).touch()
    try:
        for name in asked:
            method, work = making.method[name], work_of[name]
            every = method.rereads or name in remake
            outstanding = [job for job in work if every or finished(job, again=tried) is None]
            kept += len(work) - len(outstanding)
            if outstanding:
                if say is not None:
                    verb = "read" if method.rereads else "make"
                    later = _later(name, method, outstanding, beside)
                    say(f"{name}: {len(outstanding)} of {len(work)} cells to {verb}{later}")
                    taken = manners_taken(name, method, work)
                    told = [f"{manner or 'any style'} ({', '.join(styles)})" for manner, styles in taken.items()]
                    if told:
                        say(f"{name}: manners by style: {listed(told, 12)}")
                landed = run(name, method, outstanding, known=work, folder=beside, jobs=jobs, quiet=quiet)
                made += landed
                kept += len(outstanding) - landed
            if isinstance(method, FolderMethod):
                readings[name] = read_folder(method, work, folder=beside)
                if say is not None:
                    for line in readings[name].text.splitlines():
                        say(f"{name}: {line}")
    except KeyboardInterrupt:  # what is there is told and can be looked at, also when a person had enough
        _written(making, work_of, ready, cards, folder)
        raise
    for name in set(work_of) - set(asked):
        method = making.method[name]
        if isinstance(method, FolderMethod):
            with suppress(BadInput, NotFound):  # it was not asked for; its folder need not be there today
                readings[name] = read_folder(method, work_of[name], folder=beside)
    benchmark, cells = _written(making, work_of, ready, cards, folder)
    return Built(benchmark, cells, made, kept, readings)


def work_in(
    making: Making,
    folder: Path,
    *,
    beside: Path,
    methods: Sequence[str] = (),
    chosen: Mapping[str, tuple[str, ...]] | None = None,
    quiet: bool = True,
) -> tuple[dict[str, list[Job]], dict[str, list[Prepared]], Cards]:
    """Prepare the references and lay out every method's cells; check all that can be checked before anything runs.

    Args:
        making: the record of make.toml.
        folder: the benchmark's folder.
        beside: where make.toml lies.
        methods: those that are to run and so are checked; empty: all.
        chosen: factor -> selected levels.
        quiet: show no progress.

    Returns:
        Method -> cells, factor -> references, and the cards.

    Raises:
        BadConfig, UnknownName, BadInput, NotFound, TooFew, MissingExtra: as `build`.
    """
    _possible(making, methods)
    ready = prepare(making, folder, beside=beside, chosen=chosen, quiet=quiet)
    cards = cards_of(making, folder, ready)
    manners = manners_of(cards)
    work_of = {name: jobs_of(making, name, ready, folder, manners, beside) for name in making.method}
    for name, work in work_of.items():
        if not methods or name in methods:
            possible(name, making.method[name], work, beside=beside)
    _own(folder)
    return work_of, ready, cards


def _own(folder: Path) -> None:
    """Refuse a results/ that somebody else filled: pictures are replaced there."""
    place, mark = folder / "results", folder / "results" / _MARK
    if place.resolve() != folder.resolve() / "results":
        raise BadConfig(f"'{place}' is a link that leads elsewhere; remove it", where=str(place))
    links = [path for path in place.iterdir() if path.is_symlink()] if place.is_dir() else []
    if links:
        raise BadConfig(
            f"'{links[0]}' is a link; remove it, so that no picture is written elsewhere", where=str(links[0])
        )
    if place.is_dir() and not mark.exists() and any(place.rglob("*.png")) and not any(place.rglob("*.json")):
        raise BadConfig(
            f"'{place}' holds pictures that paragone did not make; move them to a folder of their own and name it by "
            'kind = "folder"',
            where=str(place),
        )


def _later(name: str, method: AnyMethod, outstanding: Sequence[Job], beside: Path) -> str:
    took = foretold(name, method, outstanding, beside)
    return "" if took is None else f", about {spoken(took * len(outstanding))} of CPU time"


def _written(
    making: Making,
    work_of: Mapping[str, Sequence[Job]],
    ready: Mapping[str, Sequence[Prepared]],
    cards: Cards,
    folder: Path,
) -> tuple[Benchmark, pl.DataFrame]:
    """Write cells, cards and the benchmark of what is there."""
    cells = _cells([job for work in work_of.values() for job in work], tuple(ready), folder)
    write_table(cells, folder / "cells.csv")
    cards.write(folder / "references" / "cards.csv")
    benchmark = _benchmark(making, cells, ready, folder)
    benchmark.write(folder)
    return benchmark, cells


def jobs_of(
    making: Making,
    name: str,
    ready: Mapping[str, Sequence[Prepared]],
    folder: Path,
    manners: Mapping[tuple[str, str], str],
    beside: Path | None = None,
) -> list[Job]:
    """Return the cells of one method, in the references' order.

    Args:
        making: the record of make.toml.
        name: the method.
        ready: factor -> prepared references.
        folder: the benchmark's folder.
        manners: (factor, level) -> manner.
        beside: where make.toml lies; None: `folder`.
    """
    beside = beside or folder
    method = making.method[name]
    settings = json.dumps([_kind(method), method.bearing(), *_files(name, method, beside)], sort_keys=True)
    work = []
    names = _names([tuple(one.level for one in cell) for cell in product(*ready.values())])
    for cell in product(*ready.values()):
        levels = {factor: prepared.level for factor, prepared in zip(ready, cell, strict=True)}
        hints = {"manner": manner} if (manner := manners.get(("style", levels["style"]))) else {}
        seed = seed_of(making.seed, name, *levels.values())
        depends = [__version__, settings, seed, json.dumps(hints, sort_keys=True), *(one.sha256 for one in cell)]
        work.append(
            Job(
                method=name,
                levels=levels,
                inputs={factor: one.path for factor, one in zip(ready, cell, strict=True)},
                target=folder / "results" / name / f"{names[tuple(levels.values())]}.png",
                seed=seed,
                key=f"{seed_of(*depends):016x}",
                hints=hints,
            )
        )
    return work


def _possible(making: Making, methods: Iterable[str]) -> None:
    if not making.method:
        raise BadConfig("make.toml names no method; add a table such as [method.strokes]", where="method")
    if "content" not in making.reference or "style" not in making.reference:
        raise BadConfig(
            "make.toml needs [reference.content] and [reference.style]: stylisers take both", where="reference"
        )
    for name in methods:
        if name not in making.method:
            raise UnknownName.among(name, making.method, "method in make.toml")


def _names(cells: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Cell -> name of its files; cells whose names would be one, on any disk, get a digest of their levels too."""
    plain = {cell: "_stylized_".join(cell) if len(cell) == 2 else "__".join(cell) for cell in cells}
    count = Counter(name.casefold() for name in plain.values())
    return {
        cell: name if count[name.casefold()] == 1 else f"{name}~{seed_of(*cell):016x}" for cell, name in plain.items()
    }


def _files(name: str, method: AnyMethod, beside: Path) -> list[str]:
    """Digests of the files beside make.toml that a method is made of: networks, scripts, modules."""
    return [digest(path) for path in own_files(name, method, beside) if path.is_file()]


def _kind(method: Any) -> str:
    return str(method.__struct_config__.tag)


def _cells(work: Sequence[Job], factors: tuple[str, ...], folder: Path) -> pl.DataFrame:
    rows = []
    for job in work:
        record = record_of(job.target) or {"status": "missing", "reason": "not made yet"}
        ok = record["status"] == "ok"
        width, height = record.get("size") or (None, None)
        given_width, given_height = record.get("given") or (None, None)
        rows.append(
            {
                "item": job.item,
                "method": job.method,
                **job.levels,
                "status": record["status"],
                "reason": record.get("reason", ""),
                "image": job.target.relative_to(folder).as_posix() if ok else None,
                "width": width,
                "height": height,
                "given_width": given_width,
                "given_height": given_height,
                "seconds": record.get("seconds"),
            }
        )
    texts = dict.fromkeys(("item", "method", *factors, "status", "reason", "image"), pl.String)
    sizes = dict.fromkeys(("width", "height", "given_width", "given_height"), pl.Int64)
    return pl.DataFrame(rows, schema={**texts, **sizes, "seconds": pl.Float64})


def _benchmark(making: Making, cells: pl.DataFrame, ready: Mapping[str, Sequence[Prepared]], folder: Path) -> Benchmark:
    factors = list(ready)
    items = cells.filter(pl.col("status") == "ok").select("item", "image", "method", *factors)
    references = [
        {"factor": factor, "level": one.level, "image": one.path.relative_to(folder).as_posix()}
        for factor, found in ready.items()
        for one in found
    ]
    benchmark = Benchmark(
        items,
        pl.DataFrame(references, schema=dict.fromkeys(("factor", "level", "image"), pl.String)),
        name=making.name,
        criteria=making.criteria,
        folder=folder,
        description=making.description or f"{items.height} results of {items['method'].n_unique()} methods",
        licence=making.licence,
    )
    return with_broken(benchmark, min(making.broken, items.height), seed=making.seed)
