"""One method's cells: checked before anything runs, made by whatever makes them, landed one by one."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import MissingExtra, ParagoneError
from ..images import Picture, read_image
from ..parallel import spread
from .adapters import Adapter, CommandMethod, PythonMethod, outcomes
from .cells import Job, Outcome, finished, land
from .making import StyliserMethod
from .stylise import STYLISERS, checked_options, stylise

__all__ = ["AnyMethod", "made_by", "manners_taken", "options_of", "own_files", "possible", "run"]

AnyMethod: TypeAlias = StyliserMethod | Adapter
"""The record of any `[method.<name>]`."""


def possible(name: str, method: AnyMethod, work: Sequence[Job], *, beside: Path) -> None:
    """Check all of a method that can be checked before anything runs.

    Args:
        name: of the method.
        method: its settings.
        work: all its cells.
        beside: where make.toml lies.

    Raises:
        MissingExtra, NotFound: a library, program, folder or weights that it needs are not there.
        BadConfig: it would read its own results; settings that cannot be.
        UnknownName: a manner or placeholder that does not exist.
    """
    if not isinstance(method, StyliserMethod):
        outcomes(method, [], folder=beside, known=work)
        return
    chosen = STYLISERS.get(method.styliser or name)
    if chosen.ready is None:
        return
    try:
        chosen.ready(**checked_options(chosen, options_of(name, method, beside)))
        for manner in sorted(manners_taken(name, method, work)):
            chosen.ready(**({"manner": manner} if manner else {}))
    except MissingExtra as error:
        raise MissingExtra(f"method '{name}': {error.message}", where=error.where) from error


def manners_taken(name: str, method: AnyMethod, work: Sequence[Job]) -> dict[str, list[str]]:
    """Return manner -> the styles that a method does in it, '' for those without one; empty for methods without manners.

    Args:
        name: of the method.
        method: its settings.
        work: its cells.
    """
    if not isinstance(method, StyliserMethod) or "manner" in method.options:
        return {}
    if "manner" not in inspect.signature(STYLISERS.get(method.styliser or name).run).parameters:
        return {}
    taken: dict[str, list[str]] = {}
    for style, manner in {job.levels["style"]: job.hints.get("manner", "") for job in work}.items():
        taken.setdefault(manner, []).append(style)
    return taken


def options_of(name: str, method: StyliserMethod, beside: Path) -> dict[str, Any]:
    """Return a styliser's options with the paths among them seen from here.

    Args:
        name: of the method.
        method: its settings.
        beside: where make.toml lies.
    """
    chosen = STYLISERS.get(method.styliser or name)
    return {key: str(beside / value) if key in chosen.files else value for key, value in method.options.items()}


def own_files(name: str, method: AnyMethod, beside: Path) -> list[Path]:
    """Return the files near make.toml on which a method's pictures depend: networks, weights, scripts and modules.

    Args:
        name: of the method.
        method: its settings.
        beside: where make.toml lies.
    """
    if isinstance(method, StyliserMethod):
        given = options_of(name, method, beside)
        return [Path(given[key]) for key in STYLISERS.get(method.styliser or name).files if method.options.get(key)]
    if isinstance(method, CommandMethod):
        return [path for word in method.argv if "{" not in word and (path := beside / method.cwd / word).is_file()]
    if isinstance(method, PythonMethod):
        module = beside / method.target.partition(":")[0].replace(".", "/")
        return [path for path in (module.with_suffix(".py"), module / "__init__.py") if path.is_file()]
    return []


def run(
    name: str,
    method: AnyMethod,
    work: Sequence[Job],
    *,
    known: Sequence[Job],
    folder: Path,
    jobs: int = 1,
    quiet: bool = True,
) -> int:
    """Make and land cells; each is on the disk as soon as it is known.

    Args:
        name: of the method.
        method: its settings.
        work: the cells to make.
        known: all its cells.
        folder: where make.toml lies.
        jobs: worker processes, for stylisers; the other kinds have settings of their own.
        quiet: show no progress.

    Returns:
        Cells that were landed: all but those of ready results whose file and fate are as they were.
    """
    if isinstance(method, StyliserMethod):
        options = options_of(name, method, folder)
        piece = partial(_styled, styliser=method.styliser or name, options=options, align=method.align)
        return len(spread(piece, work, jobs=jobs, label=name, quiet=quiet))
    landed = 0
    for job, outcome in outcomes(method, work, folder=folder, known=known, quiet=quiet):
        if not (method.rereads and _same(job, outcome)):
            land(job, outcome, align=method.align)
            landed += 1
    return landed


def _same(job: Job, outcome: Outcome) -> bool:
    """Whether the cell was landed before from the very same file, or for the same reason from none."""
    record = finished(job)
    if record is None:
        return False
    file = outcome.facts.get("file_sha256")
    if outcome.status == "ok":  # what came of the file, a wrong size among it, comes of it again
        return file is not None and record["facts"].get("file_sha256") == file
    return bool(record["status"] == outcome.status and record["reason"] == outcome.reason)


def made_by(styliser: str, content: Picture, style: Picture, *, job: Job, options: Mapping[str, Any]) -> Picture:
    """Return what a styliser makes for a cell: with the cell's seed, and what the cards say where it has an option for it.

    Args:
        styliser: its name.
        content, style: the cell's references, in any size.
        job: the cell.
        options: from `options_of`; they come before the cards.

    Raises:
        ParagoneError: as `stylise`.
    """
    known = inspect.signature(STYLISERS.get(styliser).run).parameters
    hints = {name: value for name, value in job.hints.items() if name in known}
    return stylise(content, style, styliser, seed=job.seed, options={**hints, **options})


def _styled(job: Job, *, styliser: str, options: Mapping[str, Any], align: str) -> str:
    """Make one cell by a styliser and land it; its status."""
    began = time.process_time()
    try:
        content, style = read_image(job.inputs["content"]), read_image(job.inputs["style"])
        picture, status, reason = made_by(styliser, content, style, job=job, options=options), "ok", ""
    except MissingExtra:
        raise
    except ParagoneError as error:
        picture, status, reason = None, "failed", error.message
    took = time.process_time() - began
    return str(land(job, Outcome(status=status, reason=reason, picture=picture, seconds=took), align=align)["status"])
