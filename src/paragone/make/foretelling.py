"""How long a run will take: from what was measured, from what a styliser says of itself, or from a small trial."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..errors import ParagoneError
from ..images import Picture, read_image, resize
from ..parallel import track
from .adapters import FolderMethod, FolderReading, grid_of, read_folder, read_outcomes
from .cells import Job, finished, judged, record_of
from .grid import CellGrid
from .making import Making, StyliserMethod
from .running import AnyMethod, made_by, manners_taken, options_of
from .stylise import STYLISERS

__all__ = ["Forecast", "forecast", "foretold", "spoken"]

_TRIAL, _FIRST = 128, 32  # longer sides in pixels: of the picture that is timed, and of the one that compiles and loads


@dataclass(frozen=True)
class Forecast:
    """What a run would do."""

    frame: pl.DataFrame
    """Columns method, kind, cells, done, seconds: CPU seconds a picture, null where nobody can tell."""
    readings: Mapping[str, FolderReading] = field(default_factory=dict)
    """Method whose results lie ready -> what its folder holds."""
    grid: CellGrid | None = None
    """What would become of the cells of those methods; None: there is none."""

    @property
    def text(self) -> str:
        """Plain lines for the terminal."""
        lines, total = [], 0.0
        for row in self.frame.iter_rows(named=True):
            left = row["cells"] - row["done"]
            took = row["seconds"]
            total += (took or 0.0) * left
            time_left = "" if took is None or not left else f", about {spoken(took * left)} of CPU time"
            verb = "read" if row["method"] in self.readings else "make"
            lines.append(f"{row['method']} ({row['kind']}): {left} of {row['cells']} cells to {verb}{time_left}")
        if total and len(lines) > 1:
            lines.append(f"in all about {spoken(total)} of CPU time")
        for method, read in self.readings.items():
            lines += [f"{method}: {line}" for line in read.text.splitlines()]
        if self.grid is not None:
            lines += self.grid.text.splitlines()
        return "\n".join(lines)


def forecast(
    making: Making,
    work_of: Mapping[str, Sequence[Job]],
    *,
    beside: Path,
    again: tuple[str, ...] = (),
    quiet: bool = True,
) -> Forecast:
    """Return how many cells of each method are left, and the CPU seconds that one takes; ready results are judged.

    Args:
        making: the record of make.toml.
        work_of: method -> its cells.
        beside: where make.toml lies.
        again: statuses that would be tried again.
        quiet: show no progress.
    """
    rows = []
    readings: dict[str, FolderReading] = {}
    cells: dict[str, dict[tuple[str, ...], str]] = {}
    for name, work in work_of.items():
        method = making.method[name]
        if isinstance(method, FolderMethod) and work:
            readings[name] = read_folder(method, work, folder=beside)
            given = read_outcomes(readings[name], method, work)
            cells[name] = {
                tuple(job.levels.values()): str(judged(job, outcome, align=method.align)[0]["status"])
                for job, outcome in track(given, name, total=len(work), quiet=quiet)
            }
        done = [job for job in work if finished(job, again=again) is not None]
        left = [job for job in work if job not in done]
        rows.append(
            {
                "method": name,
                "kind": str(method.__struct_config__.tag),
                "cells": len(work),
                "done": 0 if method.rereads else len(done),
                "seconds": _measured(work) or (_tried(name, method, left, beside) if left else None),
            }
        )
    schema = {"method": pl.String, "kind": pl.String, "cells": pl.Int64, "done": pl.Int64, "seconds": pl.Float64}
    factors = tuple(next(iter(work_of.values()))[0].levels) if readings else ()
    grid = grid_of(factors, cells, readings) if readings else None
    return Forecast(pl.DataFrame(rows, schema=schema), readings, grid)


def foretold(name: str, method: AnyMethod, work: Sequence[Job], beside: Path) -> float | None:
    """Return the CPU seconds of one picture as the styliser itself foretells them; None: it does not.

    Args:
        name: of the method.
        method: its settings.
        work: cells that are to be made.
        beside: where make.toml lies.
    """
    if not isinstance(method, StyliserMethod):
        return None
    styliser = STYLISERS.get(method.styliser or name)
    if styliser.forecast is None:
        return None
    given = options_of(name, method, beside)
    sizes = [read_image(path).shape[:2] for path in dict.fromkeys(job.inputs["content"] for job in work)]
    return float(sum(styliser.forecast(height, width, **given) for height, width in sizes) / len(sizes))


def spoken(seconds: float) -> str:
    """Return '40 s', '12 min' or '2.5 h'."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _measured(work: Sequence[Job]) -> float | None:
    took = [record["seconds"] for job in work if (record := record_of(job.target)) and record.get("seconds")]
    return sum(took) / len(took) if took else None


def _tried(name: str, method: AnyMethod, left: Sequence[Job], beside: Path) -> float | None:
    """CPU seconds a picture: foretold, or of small trials, one for each manner, by the number of pixels; else None."""
    if not isinstance(method, StyliserMethod):
        return None
    told = foretold(name, method, left, beside)
    if told is not None:
        return told
    options = options_of(name, method, beside)
    by_manner = bool(manners_taken(name, method, left))
    alike: dict[str, list[Job]] = {}
    for job in left:
        alike.setdefault(job.hints.get("manner", "") if by_manner else "", []).append(job)
    contents = dict.fromkeys(job.inputs["content"] for job in left)
    pixels = {path: float(np.prod(read_image(path).shape[:2])) for path in contents}
    try:
        total = sum(
            _pace(method.styliser or name, own[0], options) * sum(pixels[job.inputs["content"]] for job in own)
            for own in alike.values()
        )
    except ParagoneError:
        return None
    return total / len(left)


def _pace(styliser: str, job: Job, options: Mapping[str, Any]) -> float:
    """CPU seconds for each pixel of a cell, made small; the first, smallest picture compiles and loads."""
    content, style = (read_image(job.inputs[factor]) for factor in ("content", "style"))
    for side in (_FIRST, _TRIAL):
        small = _small(content, side)
        began = time.process_time()
        made_by(styliser, small, _small(style, side), job=job, options=options)
        took = time.process_time() - began
    return float(took / np.prod(small.shape[:2]))


def _small(picture: Picture, side: int) -> Picture:
    scale = side / max(picture.shape[:2])
    if scale >= 1.0:
        return picture
    height, width = (max(16, round(length * scale)) for length in picture.shape[:2])
    return resize(picture, height, width, resizer="area")
