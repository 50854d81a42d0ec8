"""Methods that live elsewhere: ready results in a folder, a program, a Python callable, an image-edit service.

Each kind is a settings record, which `[method.<name>]` of a TOML file becomes by its key `kind`, and a function that
gives every cell its outcome as soon as it is known. None of them writes a picture: `land` does, after checking it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ..cells import Job, Outcome
from .called import PythonMethod, python_outcomes
from .command import CommandMethod, command_outcomes
from .edits import HttpMethod, http_outcomes
from .folder import FolderMethod, LayoutRate, detect_layout, folder_outcomes, read_folder, read_outcomes
from .layouts import LAYOUTS, Layout
from .method import Method
from .reading import FolderReading, grid_of

__all__ = [
    "LAYOUTS",
    "Adapter",
    "CommandMethod",
    "FolderMethod",
    "FolderReading",
    "HttpMethod",
    "Layout",
    "LayoutRate",
    "Method",
    "PythonMethod",
    "command_outcomes",
    "detect_layout",
    "folder_outcomes",
    "grid_of",
    "http_outcomes",
    "outcomes",
    "python_outcomes",
    "read_folder",
    "read_outcomes",
]

Adapter: TypeAlias = FolderMethod | CommandMethod | PythonMethod | HttpMethod
"""A method that lives elsewhere; the key `kind` says which record it is."""

_KINDS: Mapping[type, Callable[..., Iterator[tuple[Job, Outcome]]]] = {
    FolderMethod: folder_outcomes,
    CommandMethod: command_outcomes,
    PythonMethod: python_outcomes,
    HttpMethod: http_outcomes,
}


def outcomes(
    settings: Adapter, jobs: Sequence[Job], *, folder: Path, known: Sequence[Job] = (), quiet: bool = True
) -> Iterator[tuple[Job, Outcome]]:
    """Give every cell its outcome, each exactly once, as soon as it is known.

    What can be checked is checked before this returns, so a mistake is told before anything runs; with no jobs nothing
    but the check happens.

    Args:
        settings: the method.
        jobs: the cells that are wanted.
        folder: where the settings' relative paths start.
        known: every cell of the method, finished ones among them; empty: `jobs` are all. Names are read by all ids.
        quiet: show no bar.

    Raises:
        ParagoneError: as the kind's own function says: BadConfig, UnknownName, NotFound, BadInput, MissingExtra.
    """
    run: Any = _KINDS[type(settings)]
    given: Iterator[tuple[Job, Outcome]] = run(settings, jobs, folder=folder, known=known, quiet=quiet)
    return given
