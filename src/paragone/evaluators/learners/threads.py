"""Work spread over threads, where pieces share large arrays and spend their time in compiled code."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ...errors import BadConfig
from ...parallel import track

__all__ = ["on_threads"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def on_threads(
    function: Callable[[Piece], Result], pieces: Sequence[Piece], *, jobs: int, label: str, quiet: bool
) -> list[Result]:
    """Apply `function` to every piece, in order, on `jobs` threads; results do not depend on `jobs`.

    `parallel.spread` would send features of a hundred megabytes to other processes and as many weights back, and would load
    torch in each; here they are shared. While it runs, each thread computes its linear algebra alone, whose sums
    otherwise depend on how many cores share them.

    Args:
        function: pure.
        pieces: its arguments.
        jobs: threads, >= 1, or -1 for one per core.
        label: for the progress bar.
        quiet: show no bar.

    Raises:
        BadConfig: jobs is 0 or below -1.
    """
    from threadpoolctl import threadpool_limits

    if jobs == 0 or jobs < -1:
        raise BadConfig(f"jobs is {jobs}; give the number of threads, or -1 for one per core", where="jobs")
    with threadpool_limits(limits=1), ThreadPoolExecutor(_cores() if jobs == -1 else jobs) as pool:
        try:
            return list(track(pool.map(function, pieces), label, total=len(pieces), quiet=quiet))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _cores() -> int:
    import joblib

    return max(1, min(int(joblib.cpu_count()), os.cpu_count() or 1))
