"""Asking again: when, how often, and when not."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from make.adapters.stub_service import Said, serving
from paragone.remote import Remote
from remote.asking import GOOD, ask


def test_too_many_requests_is_tried_again_after_what_the_service_asks() -> None:
    pauses: list[float] = []
    with serving(Said(status=429, headers={"Retry-After": "7"}), GOOD) as service:
        answer = ask(service.url, pauses=pauses, price=1.0)
    assert (answer.ok, answer.tries, answer.cost, pauses) == (True, 2, 1.0, [7.0])


def test_a_date_to_try_again_is_understood() -> None:
    pauses: list[float] = []
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    with serving(Said(status=503, headers={"Retry-After": later}), GOOD) as service:
        assert ask(service.url, pauses=pauses).ok
    assert 25 < pauses[0] <= 30


def test_a_service_that_asks_for_an_hour_is_given_up() -> None:
    with serving(Said(status=429, headers={"Retry-After": "3600"})) as service:
        answer = ask(service.url)
    assert (answer.ok, answer.tries, answer.status) == (False, 1, 429)


def test_pauses_double_with_jitter_and_follow_from_the_seed() -> None:
    runs = []
    for seed in (1, 1, 2):
        pauses: list[float] = []
        with serving(Said(status=500, body=b"oops")) as service:
            answer = ask(service.url, pauses=pauses, tries=5, seed=seed, price=1.0)
        assert (answer.tries, answer.cost, answer.reason) == (5, 0.0, "HTTP 500: oops (after 5 tries)")
        assert all(2**k / 2 <= pause <= 2**k for k, pause in enumerate(pauses))
        runs.append(pauses)
    assert runs[0] == runs[1] != runs[2]
    assert len(runs[0]) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 301])
def test_what_will_not_change_is_not_tried_again(status: int) -> None:
    body = json.dumps({"error": {"code": "bad", "message": "no\nsuch model"}}).encode()
    with serving(Said(status=status, body=body)) as service:
        answer = ask(service.url)
    assert (answer.tries, answer.reason) == (1, f"HTTP {status}: bad: no such model")


def test_an_empty_account_is_not_tried_again() -> None:
    body = json.dumps({"error": {"code": "insufficient_quota", "message": "pay"}}).encode()
    with serving(Said(status=429, body=body)) as service:
        assert ask(service.url).tries == 1


def test_stopping_ends_the_pauses() -> None:
    with serving(Said(status=500)) as service, Remote(service.url) as asked:
        asked.stop()
        began = time.monotonic()
        assert asked.post("x", fields={}).tries == 1
    assert time.monotonic() - began < 1
