"""Keeps the slow figures fresh in the background; pages take what is there and say how old it is.

While somebody is at the desk everything new is computed soon; while nobody is, only the looks that the stop rule asks for,
so that participants have the machine to themselves.
"""

from __future__ import annotations

import random
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
_WATCHED = 900.0  # seconds for which somebody who opened a page is taken to look
_TURN = 20.0  # of several processes one computes a look that is due; the others find it logged


class _News(NamedTuple):
    answers: int
    finished: int
    last: int
    """Newest event that changes what counts."""
    version: int
    done: tuple[tuple[str, int], ...] = ()
    """Finished and not excluded, by stage."""


class Keeper:
    """A thread that computes again when something is new: after 30 seconds, or 200 answers if that is sooner.

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
        self._watched = -float("inf")
        self._looked: tuple[tuple[str, int], ...] = ()
        self._asked = float("inf")
        self._turn = random.uniform(0.0, _TURN)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; starting twice does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="paragone-live", daemon=True)
            self._thread.start()

    def watch(self) -> None:
        """Somebody is at the desk."""
        self._watched = time.monotonic()

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
        self._looked, self._asked = seen.done, float("inf")
        return live

    def due(self) -> bool:
        """Whether it is time to compute again."""
        now = time.monotonic()
        since = now - self._began
        if self.failed and since < _AFTER_FAILURE:
            return False
        if since < max(_LEAST, _REST * self._took):
            return False
        news = self._store.read_now(_news)._replace(version=self._current())
        if now - self._watched > _WATCHED:
            return self._look_is_due(news, now)
        if self._seen is None or self.failed:
            return True
        if news == self._seen:
            return False
        return since >= _EVERY or news.answers - self._seen.answers >= _ANSWERS

    def _look_is_due(self, news: _News, now: float) -> bool:
        """Whether the stop rule asks for a look, and this process's turn to compute it has come."""
        if news.done == self._looked:
            return False
        frozen = self._store.read_now(lambda c: self._version_of(c, news.version))
        before = self._store.read_now(looks)
        every = frozen.study.stop.every
        if not any(due(n, [one for one in before if one.stage == stage], every) for stage, n in news.done):
            self._looked, self._asked = news.done, float("inf")
            return False
        self._asked = min(self._asked, now)
        return now - self._asked >= self._turn

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
    good = sa.select(lease.c.stage, sa.func.count()).where(lease.c.state.in_(("complete", "accepted")))
    by_stage = tuple((row[0], int(row[1])) for row in c.execute(good.group_by(lease.c.stage).order_by(lease.c.stage)))
    return _News(many, done, last, 0, by_stage)
