"""How often: token buckets in memory, bounded in number, that ask a clock they are given.

Nothing here is per address: a lab of thirty people shares one. Answers are counted per session, arrivals per panel id,
wrong codes and passwords per peer and in all.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

__all__ = ["Buckets", "Limits", "Remembered"]

_ROUNDING = 1e-9  # tokens: a tenth of a second at ten a second is one token, whatever floats make of it


class Buckets:
    """One bucket of tokens per key: a request takes one, time fills it up again.

    Args:
        rate: tokens that come back per second, > 0.
        burst: tokens of a full bucket, >= 1: how many requests may come at once.
        most: keys remembered; beyond it the one unused for longest is forgotten. A key unused for burst / rate seconds is
            full again, so forgetting it changes nothing.
        clock: seconds, never going back.
    """

    def __init__(
        self, rate: float, burst: float, *, most: int = 50_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate = rate
        self.burst = burst
        self.most = most
        self._clock = clock
        self._held: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    def take(self, key: Hashable, cost: float = 1.0) -> float:
        """Take `cost` tokens from a key's bucket.

        Returns:
            0.0 when they were there and are taken; else seconds until they will be, and none is taken.
        """
        level, now = self._level(key)
        if level < cost - _ROUNDING:
            self._keep(key, level, now)
            return (cost - level) / self.rate
        self._keep(key, max(0.0, level - cost), now)
        return 0.0

    def wait(self, key: Hashable, cost: float = 1.0) -> float:
        """Seconds until `cost` tokens are in a key's bucket; 0.0: they are. Takes none."""
        level, _ = self._level(key)
        return 0.0 if level >= cost - _ROUNDING else (cost - level) / self.rate

    def _level(self, key: Hashable) -> tuple[float, float]:
        now = self._clock()
        level, at = self._held.get(key, (self.burst, now))
        return min(self.burst, level + max(0.0, now - at) * self.rate), now

    def _keep(self, key: Hashable, level: float, now: float) -> None:
        self._held[key] = (level, now)
        self._held.move_to_end(key)
        while len(self._held) > self.most:
            self._held.popitem(last=False)


class Remembered:
    """Values remembered for a while, bounded in number.

    Args:
        seconds: how long, > 0.
        most: keys remembered; beyond it the oldest is forgotten.
        clock: seconds, never going back.
    """

    def __init__(self, seconds: float, *, most: int = 50_000, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self.most = most
        self._clock = clock
        self._held: OrderedDict[Hashable, tuple[str, float]] = OrderedDict()

    def put(self, key: Hashable, value: str) -> None:
        """Remember a value under a key."""
        self._held.pop(key, None)
        self._held[key] = (value, self._clock())
        while len(self._held) > self.most:
            self._held.popitem(last=False)

    def get(self, key: Hashable) -> str | None:
        """The value under a key; None: there is none, or its time is over."""
        value, at = self._held.get(key, ("", -math.inf))
        return value if self._clock() - at <= self.seconds else None


def _answers() -> Buckets:
    return Buckets(10.0, 30.0)


def _arrivals() -> Buckets:
    return Buckets(10 / 60, 20.0)


def _newcomers() -> Buckets:
    return Buckets(20.0, 300.0, most=10)


def _attempts() -> Buckets:
    return Buckets(10 / 60, 10.0)


def _all_attempts() -> Buckets:
    return Buckets(2.0, 120.0, most=10)


@dataclass(frozen=True)
class Limits:
    """The limits of a server; each process keeps its own."""

    answers: Buckets = field(default_factory=_answers)
    """Requests that store something, per session: 10 a second, 30 at once."""
    arrivals: Buckets = field(default_factory=_arrivals)
    """Visits of one panel id or lab code: 10 a minute, 20 at once. Reloading the panel's link is honest; a loop is not."""
    newcomers: Buckets = field(default_factory=_newcomers)
    """New people without an id, in all: 20 a second, 300 at once, so that a class may start together."""
    attempts: Buckets = field(default_factory=_attempts)
    """Wrong codes and passwords, per peer: 10 a minute, 10 at once."""
    all_attempts: Buckets = field(default_factory=_all_attempts)
    """Wrong codes and passwords, in all: 2 a second, 120 at once, however many peers they come from."""
