"""Work done ahead comes in order, once each, and never runs further ahead than it may."""

from __future__ import annotations

import threading

import pytest

from paragone.features.ahead import ahead


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("depth", [1, 5, 100])
def test_results_come_in_order_and_once_each(threads: int, depth: int) -> None:
    done: list[int] = []

    def square(n: int) -> int:
        done.append(n)
        return n * n

    assert list(ahead(square, range(40), threads=threads, depth=depth)) == [n * n for n in range(40)]
    assert sorted(done) == list(range(40))


def test_no_more_than_the_depth_is_begun_before_it_is_asked_for() -> None:
    begun: list[int] = []
    results = ahead(lambda n: begun.append(n) or n, range(40), threads=2, depth=4)
    assert begun == []
    for asked in range(1, 10):
        assert next(results) == asked - 1
        assert len(begun) <= asked + 4
    results.close()
    assert len(begun) <= 9 + 4


def test_what_the_work_raises_is_raised_in_its_turn() -> None:
    def work(n: int) -> int:
        if n == 3:
            raise ValueError("three")
        return n

    results = ahead(work, range(10), threads=2, depth=8)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(results)


def test_threads_are_gone_when_nobody_asks_any_more() -> None:
    before = threading.active_count()
    results = ahead(lambda n: n, range(100), threads=3, depth=8)
    next(results)
    results.close()
    assert threading.active_count() == before
