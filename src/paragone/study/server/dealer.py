"""Versions come into force, and an adaptive stage that runs low gets its next wave while people go on.

plan.csv of the folder is written before the store is told. If the server dies between the two, the next start, or the next
look, finds a plan that goes on from the one that is served and takes it as it is: nothing is dealt twice.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

import polars as pl
import sqlalchemy as sa

from ...errors import BadInput, ParagoneError
from ...plan import Plan
from .. import frozen as versions_of
from ..frozen import Frozen
from ..store import Store, events, versions
from ..store.tables import lease
from ..wave_worker import Wanted, in_process, wanted
from ..waves import Wave, adaptive_stages, grown, sheets_left

__all__ = ["Dealer", "deal"]

T = TypeVar("T")

_TICK = 3.0  # seconds between two looks at whether a stage runs low
_AGAIN = 60.0  # seconds before a wave that could not be dealt is tried again
_LOW = 0.1  # free sheets in those under way below which a wave is dealt
_PATIENCE = 10.0  # seconds that a wave under way gets when the server stops
_DEALER = 0x77617665  # number of PostgreSQL's advisory lock under which one process deals
_log = logging.getLogger("paragone.study")


def deal(c: sa.Connection, frozen: Frozen, now: float, *, known: Mapping[int, Frozen] | None = None) -> int:
    """Make a version the one that is served, and return its id.

    The version that is served already stays as it is. One that asks the same and further sheets adds only those. After
    any other change, what was asked in the same way before is not asked again.

    Args:
        c: a connection that may write.
        frozen: the version.
        now: the server's clock.
        known: versions of the store that were read before, by id.
    """
    study, plan, items, leases = frozen.parts
    versions.alone(c)
    before = dict(known or {})

    def version(row: versions.Version) -> Frozen:
        if row.id not in before:
            before[row.id] = Frozen.of_parts(row.study, row.plan, row.items, folder=frozen.folder)
        return before[row.id]

    served = versions.current(c)
    if served is not None and (served.study, served.plan, served.items) == (study, plan, items):
        return served.id
    if served is not None and frozen.continues(version(served)):
        old = set(version(served).parts.leases)
        made = versions.extend(c, study, plan, items, [place for place in leases if place not in old], now)
        if made is not None:
            return made
    asked = list(leases)
    for taken in versions.taken(c):
        row = versions.get(c, taken.version_id)
        assert row is not None, "a lease names a version that the store does not have"
        place = (taken.stage, taken.owner)
        same = (row.study, row.plan, row.items) == (study, plan, items)
        if not same and place in asked and version(row).sheets(*place) == frozen.sheets(*place):
            asked.remove(place)
    return versions.freeze(c, study, plan, items, asked, now)


class Dealer:
    """A thread that deals a wave of each adaptive stage that runs low, and never while a request waits.

    Args:
        store: the study's.
        version_of: (connection, id) -> the frozen version.
        clock: UTC epoch seconds.
        run: deals the wave; by default in a process of low priority.
    """

    def __init__(
        self,
        store: Store,
        version_of: Callable[[sa.Connection, int], Frozen],
        *,
        clock: Callable[[], float] = time.time,
        run: Callable[[Wanted, threading.Event], Wave] = in_process,
    ) -> None:
        self.failed = ""
        """Why the last wave was not dealt; empty: it was."""
        self._store, self._version_of, self._clock, self._run = store, version_of, clock, run
        self._left: tuple[int, dict[str, int]] = (0, {})
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; starting twice does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="paragone-waves", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End; a wave under way is given up and dealt after the next start."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE)

    def low(self) -> list[str]:
        """Return the adaptive stages that have sheets left to deal and hardly a free one."""
        return self._store.read_now(self._low)

    def look(self) -> list[str]:
        """Deal a wave of each stage that runs low, and return their names.

        Of several processes one deals; the others find it done.

        Raises:
            ParagoneError: a wave could not be dealt.
        """
        return [stage for stage in self.low() if self._alone(lambda stage=stage: self._deal(stage))]  # type: ignore[misc]

    def _low(self, c: sa.Connection) -> list[str]:
        number = _served(c)
        if self._left[0] != number:
            frozen = self._version_of(c, number)
            left = {stage: sheets_left(frozen.study, frozen.plan, stage) for stage in adaptive_stages(frozen.study)}
            self._left = (number, left)
        stages = [stage for stage, left in self._left[1].items() if left > 0]
        if not stages:
            return []
        rows = c.execute(_STATES, {"stages": stages})
        count = {(stage, state): many for stage, state, many in rows}
        return [s for s in stages if count.get((s, "free"), 0) < max(1.0, _LOW * count.get((s, "leased"), 0))]

    def _deal(self, stage: str) -> bool:
        """Deal a wave, or take up the plan of the folder where it goes on from what is served; whether it was done."""
        if stage not in self.low():
            return False
        number, before = self._store.read_now(self._current)
        path = before.folder / "plan.csv"
        there = Plan.read(path)
        after = versions_of.grown(before, there)
        if not after.continues(before):
            raise BadInput(
                "plan.csv of the folder is not the plan that is served, so no further wave is dealt; "
                "stop the server, and serve the folder again",
                where=str(path),
            )
        answers: int | None = None
        if after.plan.height == before.plan.height:
            address = self._store.url.render_as_string(hide_password=False)
            dealt = self._run(wanted(address, before.folder, before.study, there, stage), self._stop)
            whole, answers = grown(there, dealt.plan), dealt.answers
            after = versions_of.grown(before, whole)
            if not Plan.read(path).frame.equals(there.frame):
                raise BadInput("plan.csv of the folder was changed while a wave was dealt", where=str(path))
            whole.write(path)
        fresh = after.plan.join(before.plan, on="trial", how="anti").group_by("stage").agg(pl.col("sheet").n_unique())
        sheets: dict[str, int] = dict(fresh.iter_rows())
        assert before.parts.leases, "made here, so that the writer need not wait for it"
        assert after.parts.leases, "as before"

        def job(c: sa.Connection) -> bool:
            versions.alone(c)
            if _served(c) != number:
                return False
            made = deal(c, after, self._clock(), known={number: before})
            for name in sorted(sheets):
                body = {"stage": name, "sheets": sheets[name], "answers": answers, "version": made}
                events.append(c, "wave", self._clock(), body=body)
            return True

        return self._store.write_now(job)

    def _current(self, c: sa.Connection) -> tuple[int, Frozen]:
        number = _served(c)
        return number, self._version_of(c, number)

    def _alone(self, work: Callable[[], bool]) -> bool:
        """Do something while no other process does it; whether it was done."""
        if self._store.dialect != "postgresql":
            return work()

        def job(c: sa.Connection) -> bool:
            free = c.execute(sa.text("SELECT pg_try_advisory_xact_lock(:dealer)"), {"dealer": _DEALER}).scalar_one()
            return bool(free) and work()

        return self._store.read_now(job)

    def _loop(self) -> None:
        wait = _TICK
        while not self._stop.wait(wait):
            try:
                self.look()
                self.failed, wait = "", _TICK
            except (ParagoneError, OSError, sa.exc.SQLAlchemyError) as error:
                if self._stop.is_set():
                    return
                self.failed, wait = str(error) or type(error).__name__, _AGAIN
                _log.error("no wave was dealt, and it is tried again in %.0f s: %s", _AGAIN, self.failed)


_STATES = (
    sa.select(lease.c.stage, lease.c.state, sa.func.count())
    .where(lease.c.stage.in_(sa.bindparam("stages", expanding=True)), lease.c.state.in_(("free", "leased")))
    .group_by(lease.c.stage, lease.c.state)
)


def _served(c: sa.Connection) -> int:
    number = c.execute(sa.text("SELECT id FROM version ORDER BY turn DESC LIMIT 1")).scalar_one()
    return int(number)
