"""Work that is done ahead of the one who asks for it, in order and never too far."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["ahead"]

Thing = TypeVar("Thing")
Made = TypeVar("Made")


def ahead(work: Callable[[Thing], Made], things: Sequence[Thing], *, threads: int, depth: int) -> Iterator[Made]:
    """Yield what `work` makes of each thing, in order, while threads prepare those that follow.

    Args:
        work: called once for each thing, in one of the threads; what it raises is raised here, in its turn.
        things: its arguments.
        threads: how many work, >= 1.
        depth: most results that wait, >= 1: memory is bounded by it.
    """
    with ThreadPoolExecutor(threads) as pool:
        coming: deque[Future[Made]] = deque()
        try:
            for thing in things:
                coming.append(pool.submit(work, thing))
                if len(coming) > depth:
                    yield coming.popleft().result()
            while coming:
                yield coming.popleft().result()
        finally:
            for future in coming:
                future.cancel()
