"""The verbs that make a benchmark out of make.toml, and the contact sheet of any benchmark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from ..benchmark import Benchmark
from ..errors import BadInput, MissingExtra, NotFound, UnknownName, WouldOverwrite
from ..make.building import TRIED_AGAIN, Built, build, work_in
from ..make.foretelling import Forecast, forecast
from ..make.grid import listed
from ..make.making import Making, read_making
from ..report.contact import contact_page, contact_picture
from ..tables import read_table
from .carded import drawn_references
from .reading import named
from .selected import chosen_levels

__all__ = ["drawn", "made_document", "making_of", "outlook", "outlook_document", "sheet_of", "stylised", "told_lines"]

_MOST_TOLD = 8  # lines about cells that are not ok; our choice


def stylised(
    folder: Path,
    *,
    references: dict[str, str] | None = None,
    methods: Sequence[str] = (),
    again: bool = False,
    remake: Sequence[str] = (),
    jobs: int = 1,
    quiet: bool = True,
    say: Callable[[str], None] | None = None,
) -> tuple[Built, list[Path]]:
    """Make every cell of a folder's make.toml that is not there yet, the benchmark's tables and a contact sheet.

    Args:
        folder: holds make.toml.
        references: factor -> folder of pictures to take instead of the one in make.toml.
        methods: only these.
        again: try also cells that were refused, invalid or of a wrong size.
        remake: make all cells of these methods again.
        jobs: worker processes.
        quiet: show no progress.
        say: is given a line before each method.

    Returns:
        What stands there, and the files written.

    Raises:
        WouldOverwrite: the folder holds a benchmark that did not come from make.toml.
        NotFound, BadConfig, UnknownName, BadInput, TooFew, MissingExtra: as `build` and `read_making`.
    """
    making = making_of(folder, references)
    if (folder / "benchmark.toml").exists() and not (folder / "cells.csv").exists():
        raise WouldOverwrite(
            f"'{folder}' holds a benchmark that was not made from make.toml; name another folder", where=str(folder)
        )
    asked = [name for name in ("plan.csv", "votes.csv", "ratings.csv") if (folder / name).is_file()]
    before = set(Benchmark.read(folder).items["item"]) if asked and (folder / "benchmark.toml").is_file() else set()
    built = build(
        making,
        folder,
        methods=methods,
        chosen=chosen_levels(making, folder),
        again=again,
        remake=remake,
        jobs=jobs,
        quiet=quiet,
        say=say,
    )
    gone = sorted(before - set(built.benchmark.items["item"]))
    if gone and say is not None:
        say(
            f"{len(gone)} items are gone that {' and '.join(asked)} may name: {listed(gone)}; paragone check {folder} tells"
        )
    written = [folder / "benchmark.toml", folder / "cells.csv"]
    if built.benchmark.items.height:
        written += drawn(folder, quiet=quiet, say=say)
    return built, written


def outlook(
    folder: Path, *, references: dict[str, str] | None = None, methods: Sequence[str] = (), quiet: bool = True
) -> Forecast:
    """Return what `stylised` would make, without making it; references are prepared, and everything is checked.

    Args:
        folder, references, methods, quiet: as for `stylised`.
    """
    making = making_of(folder, references)
    work_of, _, _ = work_in(
        making, folder, beside=folder, methods=methods, chosen=chosen_levels(making, folder), quiet=quiet
    )
    asked = {name: work for name, work in work_of.items() if not methods or name in methods}
    return forecast(making, asked, beside=folder, again=TRIED_AGAIN, quiet=quiet)


def drawn(folder: Path, *, quiet: bool = True, say: Callable[[str], None] | None = None) -> list[Path]:
    """Write the contact sheet where the libraries that draw are installed; else say what they are, and write nothing.

    Args:
        folder: a benchmark's.
        quiet: show no progress.
        say: is given the line.
    """
    try:
        return sheet_of(folder, quiet=quiet)
    except MissingExtra as error:
        if say is not None:
            say(error.message)
        return []


def sheet_of(folder: Path, *, output: Path | None = None, quiet: bool = True) -> list[Path]:
    """Write the contact sheet of a benchmark folder, as HTML and as PNG.

    Args:
        folder: a benchmark's; cells.csv, where there is one, says why a cell is empty, and cards which references were
            drawn by formula.
        output: the page; its PNG lies beside it; None: contact.html in the folder.
        quiet: show no progress.
    """
    if not (folder / "benchmark.toml").is_file() and (folder / "make.toml").is_file():
        raise NotFound(
            f"'{folder}' holds no benchmark yet; paragone stylise writes it at its end, or when it is stopped by Ctrl-C",
            where=str(folder),
        )
    benchmark = Benchmark.read(folder)
    if not benchmark.items.height:
        raise BadInput(f"the benchmark in '{folder}' has no item, so there is no sheet to draw", where=str(folder))
    cells = _cells(folder, benchmark)
    page = output or folder / "contact.html"
    beside = page.with_suffix(".png")
    if beside.exists() and not page.exists():
        raise WouldOverwrite(
            f"'{beside}' is there and is no contact sheet; name another page with -o", where=str(beside)
        )
    by_formula = drawn_references(folder)
    return [
        contact_page(benchmark, page, cells=cells, drawn=by_formula, quiet=quiet),
        *contact_picture(benchmark, beside, cells=cells, drawn=by_formula, quiet=quiet),
    ]


def made_document(built: Built, written: Sequence[Path]) -> dict[str, Any]:
    """What `stylise --json` prints."""
    bad = built.cells.filter(pl.col("status") != "ok")
    return {
        "items": built.benchmark.items.height,
        "made": built.made,
        "kept": built.kept,
        "counts": built.counts.to_dicts(),
        "cells": bad.select("item", "method", "status", "reason").to_dicts(),
        "extra": {method: list(files) for method, files in built.grid.extra.items()},
        "written": [str(path) for path in written],
    }


def outlook_document(plan: Forecast) -> dict[str, Any]:
    """What `stylise --dry-run --json` prints: of ready results also the cells that are not ok, and files that are none."""
    if plan.grid is None:
        return {"methods": plan.frame.to_dicts(), "cells": [], "extra": {}}
    cells = [
        {"method": method, **dict(zip(plan.grid.factors, levels, strict=True)), "status": status}
        for method, own in plan.grid.cells.items()
        for levels, status in own.items()
        if status != "ok"
    ]
    return {"methods": plan.frame.to_dicts(), "cells": cells, "extra": dict(plan.grid.extra)}


def told_lines(built: Built) -> list[str]:
    """What a person is told after a run: what was made and kept, and the first reasons of cells that are not ok."""
    sound = built.cells.filter(pl.col("status") == "ok").height
    broken = built.benchmark.items.height - sound
    more = f" and {broken} broken versions for checks" if broken else ""
    lines = [f"{built.made} cells made, {built.kept} kept; {sound} results{more}", *built.grid.text.splitlines()]
    bad = built.cells.filter(pl.col("status") != "ok")
    reasons = bad.group_by("method", "status", "reason", maintain_order=True).agg(pl.len(), pl.col("item").first())
    grouped = (
        reasons.sort("len", descending=True, maintain_order=True)
        .group_by("method", "status", maintain_order=True)
        .agg(pl.col("len").sum(), pl.col("item", "reason").first(), pl.len().alias("reasons"))
    )
    for method, status, n, item, reason, differ in grouped.head(_MOST_TOLD).iter_rows():
        others = f" ({differ - 1} more reasons in cells.csv)" if differ > 1 else ""
        lines.append(f"{method}: {n} {status}, for example {item}: {reason}{others}")
    if grouped.height > _MOST_TOLD:
        lines.append(f"and {grouped.height - _MOST_TOLD} other kinds of faults; cells.csv has all")
    return lines


def making_of(folder: Path, references: dict[str, str] | None = None) -> Making:
    """Return the record of a folder's make.toml, with other folders of references where they are given.

    Raises:
        NotFound: there is no make.toml; says how to get one.
        BadConfig, UnknownName: as `read_making`, or a factor that it does not have.
    """
    path = folder / "make.toml"
    if not path.is_file():
        raise NotFound(
            f"no make.toml in '{folder}'; one to start from: paragone stylise --example > {path}", where=str(path)
        )
    with named(path):
        making = read_making(path)
    for factor, source in (references or {}).items():
        if factor not in making.reference:
            raise UnknownName.among(factor, making.reference, "reference in make.toml")
        other = msgspec.structs.replace(making.reference[factor], folder=str(Path(source).resolve()))
        making = msgspec.structs.replace(making, reference={**making.reference, factor: other})
    return making


def _cells(folder: Path, benchmark: Benchmark) -> pl.DataFrame | None:
    path = folder / "cells.csv"
    if not path.is_file():
        return None
    cells = read_table(path)
    wanted = {"status", "reason", "method", *benchmark.factors} - {"broken_of"}
    return cells if wanted <= set(cells.columns) else None
