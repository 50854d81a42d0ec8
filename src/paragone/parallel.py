"""The one way work is spread and its progress shown."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from .errors import BadConfig

__all__ = ["spread", "track"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def track(steps: Iterable[Item], label: str, *, total: int | None = None, quiet: bool = False) -> Iterator[Item]:
    """Yield the steps while a bar on stderr shows how many are done and the time left.

    Args:
        steps: what is worked through.
        label: what the work is, two or three words.
        total: number of steps; taken from `steps` where it has a length.
        quiet: show nothing; so does a stderr that is no terminal.
    """
    if quiet or not sys.stderr.isatty():
        yield from steps
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    if total is None and isinstance(steps, Sequence):
        total = len(steps)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        for step in steps:
            yield step
            bar.advance(task)


def spread(
    function: Callable[[Item], Result],
    pieces: Sequence[Item],
    *,
    jobs: int = 1,
    label: str = "",
    quiet: bool = True,
) -> list[Result]:
    """Apply `function` to every piece, in order, on `jobs` processes; results do not depend on `jobs`.

    Args:
        function: pure and, for jobs > 1, picklable.
        pieces: its arguments.
        jobs: worker processes, >= 1, or -1 for one per core. More than there are cores (where joblib is told to use a
            cluster: its workers) or pieces are not started, since they could only wait.
        label: for the progress bar.
        quiet: show no bar.

    Raises:
        BadConfig: jobs is 0 or below -1.
    """
    if jobs == 0 or jobs < -1:
        raise BadConfig(f"jobs is {jobs}; give the number of processes, or -1 for one per core", where="jobs")
    if jobs == 1 or len(pieces) < 2:
        return [function(piece) for piece in track(pieces, label, quiet=quiet)]
    import joblib

    cores = joblib.effective_n_jobs(-1)
    jobs = min(cores if jobs == -1 else jobs, cores, len(pieces))
    if jobs == 1:
        return [function(piece) for piece in track(pieces, label, quiet=quiet)]
    here = joblib.delayed(_Here(function, os.getcwd()))
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "A worker stopped while some jobs"
        )  # joblib starts another: no matter to users
        work: Any = joblib.Parallel(n_jobs=jobs, return_as="generator")(here(piece) for piece in pieces)
        return list(track(work, label, total=len(pieces), quiet=quiet))


class _Here(Generic[Item, Result]):
    """A function that runs where its caller stands: workers live on between calls, and the folder may have changed."""

    def __init__(self, function: Callable[[Item], Result], folder: str) -> None:
        self.function, self.folder = function, folder

    def __call__(self, piece: Item) -> Result:
        if os.getcwd() != self.folder:
            os.chdir(self.folder)
        return self.function(piece)
