"""One try: what it gives, and what it costs."""

from __future__ import annotations

import sys
import time

import pytest

from make.adapters.stub_service import Said, serving
from paragone.errors import BadConfig, MissingExtra
from paragone.remote import Remote, sending
from remote.asking import GOOD, ask


def test_silence_ends_and_counts_as_paid() -> None:
    began = time.monotonic()
    with serving(Said(silent=True)) as service:
        answer = ask(service.url, timeout_s=0.2, tries=2, price=1.0)
    assert (answer.status, answer.cost, answer.reason) == (None, 2.0, "no answer in 0.2 s (after 2 tries)")
    assert time.monotonic() - began < 5


def test_a_body_that_breaks_off_is_tried_again() -> None:
    with serving(Said(body=b"x" * 1000, cut=True), GOOD) as service:
        answer = ask(service.url, price=1.0, timeout_s=5)
    assert (answer.ok, answer.tries, answer.cost) == (True, 2, 2.0)


def test_a_huge_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "MAX_ANSWER", 1 << 20)
    with serving(Said(body=b"x" * (3 << 20))) as service:
        answer = ask(service.url)
    assert (answer.reason, answer.tries) == ("the answer is larger than 1 MiB", 1)


def test_nobody_there_costs_nothing() -> None:
    with serving(GOOD) as service:
        url = service.url
    answer = ask(url, tries=2, price=1.0)
    assert (answer.status, answer.cost) == (None, 0.0)
    assert answer.reason.startswith("no connection to 127.0.0.1:")


def test_without_httpx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"asking a service needs httpx: pip install 'paragone\[make\]'"):
        Remote("https://example.com")


def test_a_proxy_that_cannot_be_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTPS_PROXY", "gopher://user:hunter2@proxy:1")
    with pytest.raises(BadConfig, match="the proxy that the environment names cannot be used") as caught:
        Remote("https://example.com")
    assert "hunter2" not in caught.value.message
