"""Keeps the slow figures fresh in the background; pages take what is there and say how old it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import NamedTuple

import polars as pl
import sqlalchemy as sa

from ...errors import ParagoneError
from ..frozen import Frozen
from ..store import Store, events
from ..store.tables import answer, event, lease
from .advice import due, look_at
from .live import Live, Material
from .moment import Answers, looks, material
from .worker import in_process

__all__ = ["Keeper"]

_TICK = 2.0  # seconds between two looks at whether anything is new
_EVERY = 30.0
_ANSWERS = 200
_LEAST = 5.0  # seconds between two computations, however many answers come
_REST = 4.0  # times the last computation: at most a fifth of one core
_AFTER_FAILURE = 60.0


class _News(NamedTuple):
    answers: int
    finished: int
    last: int
    """Newest event that changes what counts."""
    version: int


class Keeper:
    """A thread that recomputes when something is new: after 30 seconds, or 200 answers if that is sooner.

    Args:
        store: the study's.
        version_of: (connection, id) -> the frozen version.
        current: id of the version in force.
        items: item and its factors.
        clock: UTC epoch seconds.
        run: computes the figures; by default in a process of low priority.
    """

    def __init__(
        self,
        store: Store,
        version_of: Callable[[sa.Connection, int], Frozen],
        current: Callable[[], int],
        items: pl.DataFrame,
        *,
        clock: Callable[[], float] = time.time,
        run: Callable[[Material], Live] = in_process,
    ) -> None:
        self.live: Live | None = None
        """The newest figures; None: none were computed yet."""
        self.failed = ""
        """Why the last computation gave nothing; empty: it did not fail."""
        self._store, self._version_of, self._current, self._items = store, version_of, current, items
        self._clock, self._run = clock, run
        self._answers = Answers()
        self._seen: _News | None = None
        self._began = -float("inf")
        self._took = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; starting twice does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="paragone-live", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End, without waiting for a computation under way."""
        self._stop.set()

    def refresh(self) -> Live:
        """Compute now, whatever the time is, and log the looks that are due.

        Raises:
            ParagoneError: the figures could not be computed.
        """
        began = time.monotonic()
        self._began = began
        version = self._current()
        seen = self._store.read_now(_news)
        now = self._clock()
        moment = self._store.read_now(lambda c: material(c, self._answers, self._version_of, self._items, now, version))
        live = self._run(moment)
        self._took = time.monotonic() - began
        self.live, self.failed, self._seen = live, "", seen._replace(version=version)
        self._look(live, moment, version)
        return live

    def due(self) -> bool:
        """Whether it is time to compute again."""
        since = time.monotonic() - self._began
        if self.failed:
            return since >= _AFTER_FAILURE
        if self._seen is None:
            return True
        if since < max(_LEAST, _REST * self._took):
            return False
        now = self._store.read_now(_news)._replace(version=self._current())
        if now == self._seen:
            return False
        return since >= _EVERY or now.answers - self._seen.answers >= _ANSWERS

    def _look(self, live: Live, moment: Material, version: int) -> None:
        before = self._store.read_now(looks)
        for stage in moment.study.stage_names:
            curves = [curve for curve in live.curves if curve.stage == stage]
            people = max((curve.people for curve in curves), default=0)
            number = due(people, [look for look in before if look.stage == stage], moment.study.stop.every)
            if number is None:
                continue
            look = asdict(look_at(stage, number, curves, live.at))
            body = {name: value for name, value in look.items() if name != "at"} | {"version": version}
            name = f"admin.look {stage} {number}"

            def job(c: sa.Connection, name: str = name, body: dict[str, object] = body) -> None:
                events.append(c, "admin.look", live.at, client_id=name, body=body)

            self._store.write_now(job)

    def _loop(self) -> None:
        while not self._stop.wait(_TICK):
            try:
                if self.due():
                    self.refresh()
            except (ParagoneError, sa.exc.SQLAlchemyError) as error:
                self.failed = str(error) or type(error).__name__


def _news(c: sa.Connection) -> _News:
    changes = ("admin.exclude", "admin.restore", "admin.forget", "lease.abandoned", "lease.replaced")
    newest = sa.select(sa.func.coalesce(sa.func.max(event.c.id), 0)).where(event.c.kind.in_(changes))
    finished = sa.select(sa.func.count()).select_from(lease).where(lease.c.done_at.is_not(None))
    answers = sa.select(sa.func.count()).select_from(answer)
    many, done, last = (int(c.execute(query).scalar_one()) for query in (answers, finished, newest))
    return _News(many, done, last, 0)
