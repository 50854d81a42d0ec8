"""Limits: how often somebody may come, by a clock of the test's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.study.server.limits import Buckets, Limits, Remembered


class Clock:
    """Seconds that go on when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_passes_then_the_rate_holds() -> None:
    clock = Clock()
    buckets = Buckets(10.0, 30.0, clock=clock)
    assert [buckets.take("a") for _ in range(30)] == [0.0] * 30
    assert buckets.take("a") == pytest.approx(0.1)
    clock.now += 0.1
    assert buckets.take("a") == 0.0
    assert buckets.take("a") > 0


def test_every_key_has_its_own_bucket() -> None:
    buckets = Buckets(1.0, 1.0, clock=Clock())
    assert buckets.take("a") == 0.0
    assert buckets.take("b") == 0.0
    assert buckets.take("a") > 0


def test_who_is_refused_pays_nothing() -> None:
    clock = Clock()
    buckets = Buckets(1.0, 2.0, clock=clock)
    buckets.take("a", 2.0)
    for _ in range(100):
        assert buckets.take("a") == pytest.approx(1.0)
    clock.now += 1.0
    assert buckets.take("a") == 0.0


def test_to_ask_takes_nothing() -> None:
    buckets = Buckets(1.0, 1.0, clock=Clock())
    assert [buckets.wait("a") for _ in range(5)] == [0.0] * 5
    buckets.take("a")
    assert buckets.wait("a") == pytest.approx(1.0)


def test_a_clock_that_goes_back_takes_nothing_away() -> None:
    clock = Clock()
    buckets = Buckets(1.0, 5.0, clock=clock)
    buckets.take("a")
    clock.now -= 1000
    assert buckets.take("a") == 0.0


def test_a_million_keys_are_not_remembered() -> None:
    buckets = Buckets(1.0, 5.0, most=100, clock=Clock())
    for key in range(1000):
        buckets.take(key)
    assert len(buckets) == 100


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60))
def test_never_more_than_burst_and_rate_allow(gaps: list[float]) -> None:
    clock = Clock()
    buckets = Buckets(2.0, 4.0, clock=clock)
    passed = 0
    for gap in gaps:
        clock.now += gap
        passed += buckets.take("a") == 0.0
    assert passed <= 4 + 2 * sum(gaps) + 1e-6


def test_what_is_remembered_is_forgotten_in_time_and_in_number() -> None:
    clock = Clock()
    held = Remembered(60.0, most=2, clock=clock)
    held.put("a", "1")
    assert (held.get("a"), held.get("b")) == ("1", None)
    clock.now += 61
    assert held.get("a") is None
    for key in "xyz":
        held.put(key, key)
    assert [held.get(key) for key in "xyz"] == [None, "y", "z"]


def test_the_limits_of_a_server_are_those_of_the_contract() -> None:
    limits = Limits()
    assert (limits.answers.rate, limits.answers.burst) == (10.0, 30.0)
    assert Limits().answers is not limits.answers
