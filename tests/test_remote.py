"""Asking a service: patience, its end, and a cap that is never exceeded."""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from make.adapters.stub_service import Said, serving
from paragone import remote as remote_module
from paragone.errors import BadConfig, MissingExtra
from paragone.remote import Answer, Budget, Remote

GOOD = Said(body=b'{"well": true}')


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


def _ask(url: str, *, pauses: list[float] | None = None, price: float = 0.0, **options: object) -> Answer:
    waited: list[float] = [] if pauses is None else pauses
    with Remote(url, pause=waited.append, **options) as service:  # type: ignore[arg-type]
        return service.post("images/edits", fields={"a": "b"}, price=price)


def test_a_good_answer_comes_at_once() -> None:
    with serving(GOOD) as service:
        answer = _ask(service.url, key="secret-key", price=0.5)
    assert (answer.ok, answer.json(), answer.tries, answer.cost) == (True, {"well": True}, 1, 0.5)
    path, headers, body = service.requests[0]
    assert (path, headers["authorization"], body) == ("/v1/images/edits", "Bearer secret-key", b"a=b")


def test_too_many_requests_is_tried_again_after_what_the_service_asks() -> None:
    pauses: list[float] = []
    with serving(Said(status=429, headers={"Retry-After": "7"}), GOOD) as service:
        answer = _ask(service.url, pauses=pauses, price=1.0)
    assert (answer.ok, answer.tries, answer.cost, pauses) == (True, 2, 1.0, [7.0])


def test_a_date_to_try_again_is_understood() -> None:
    pauses: list[float] = []
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    with serving(Said(status=503, headers={"Retry-After": later}), GOOD) as service:
        assert _ask(service.url, pauses=pauses).ok
    assert 25 < pauses[0] <= 30


def test_a_service_that_asks_for_an_hour_is_given_up() -> None:
    with serving(Said(status=429, headers={"Retry-After": "3600"})) as service:
        answer = _ask(service.url)
    assert (answer.ok, answer.tries, answer.status) == (False, 1, 429)


def test_pauses_double_with_jitter_and_follow_from_the_seed() -> None:
    runs = []
    for seed in (1, 1, 2):
        pauses: list[float] = []
        with serving(Said(status=500, body=b"oops")) as service:
            answer = _ask(service.url, pauses=pauses, tries=5, seed=seed, price=1.0)
        assert (answer.tries, answer.cost, answer.reason) == (5, 0.0, "HTTP 500: oops (after 5 tries)")
        assert all(2**k / 2 <= pause <= 2**k for k, pause in enumerate(pauses))
        runs.append(pauses)
    assert runs[0] == runs[1] != runs[2]
    assert len(runs[0]) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 301])
def test_what_will_not_change_is_not_tried_again(status: int) -> None:
    body = json.dumps({"error": {"code": "bad", "message": "no\nsuch model"}}).encode()
    with serving(Said(status=status, body=body)) as service:
        answer = _ask(service.url)
    assert (answer.tries, answer.reason) == (1, f"HTTP {status}: bad: no such model")


def test_an_empty_account_is_not_tried_again() -> None:
    body = json.dumps({"error": {"code": "insufficient_quota", "message": "pay"}}).encode()
    with serving(Said(status=429, body=body)) as service:
        assert _ask(service.url).tries == 1


def test_silence_ends_and_counts_as_paid() -> None:
    began = time.monotonic()
    with serving(Said(silent=True)) as service:
        answer = _ask(service.url, timeout_s=0.2, tries=2, price=1.0)
    assert (answer.status, answer.cost, answer.reason) == (None, 2.0, "no answer in 0.2 s (after 2 tries)")
    assert time.monotonic() - began < 5


def test_a_body_that_breaks_off_is_tried_again() -> None:
    with serving(Said(body=b"x" * 1000, cut=True), GOOD) as service:
        answer = _ask(service.url, price=1.0, timeout_s=5)
    assert (answer.ok, answer.tries, answer.cost) == (True, 2, 2.0)


def test_a_huge_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_module, "MAX_ANSWER", 1 << 20)
    with serving(Said(body=b"x" * (3 << 20))) as service:
        answer = _ask(service.url)
    assert (answer.reason, answer.tries) == ("the answer is larger than 1 MiB", 1)


def test_nobody_there_costs_nothing() -> None:
    with serving(GOOD) as service:
        url = service.url
    answer = _ask(url, tries=2, price=1.0)
    assert (answer.status, answer.cost) == (None, 0.0)
    assert answer.reason.startswith("no connection to 127.0.0.1:")


def test_the_key_is_struck_out_of_what_the_service_says() -> None:
    body = json.dumps({"error": {"message": "Incorrect API key provided: sk-very-secret."}}).encode()
    with serving(Said(status=401, body=body, headers={"x-request-id": "sk-very-secret"})) as service:
        answer = _ask(service.url, key="sk-very-secret")
    assert "sk-very-secret" not in answer.reason + str(answer.headers)
    assert "[key]" in answer.reason


def test_a_cap_is_reached_and_never_exceeded(tmp_path: Path) -> None:
    budget = Budget(max_cost=1.0, spent=0.3, ledger=tmp_path / "spent.json")
    with serving(GOOD) as service, Remote(service.url, budget=budget) as asked:
        answers = [asked.post("x", fields={}, price=0.3) for _ in range(4)]
    assert [answer.ok for answer in answers] == [True, True, False, False]
    assert answers[2].capped
    assert answers[2].reason == "max_cost 1 is reached: 0.9 spent, 0.3 a request"
    assert len(service.requests) == 2
    again = Budget(max_cost=1.0, ledger=tmp_path / "spent.json")
    assert again.spent == pytest.approx(0.9)
    assert again.take(0.3) != ""
    assert again.take(0.1) == ""


def test_the_ledger_is_written_before_the_request_is_sent(tmp_path: Path) -> None:
    ledger = tmp_path / "spent.json"
    seen: list[float] = []

    def look() -> Said:
        seen.append(json.loads(ledger.read_text())["spent"])
        return GOOD

    with serving(look) as service, Remote(service.url, budget=Budget(ledger=ledger)) as asked:
        asked.post("x", fields={}, price=0.25)
    assert seen == [0.25]


def test_a_retry_needs_budget_too() -> None:
    with serving(Said(silent=True)) as service:
        answer = _ask(service.url, price=1.0, timeout_s=0.1, budget=Budget(max_cost=1.5))
    assert (answer.capped, answer.cost, len(service.requests)) == (True, 1.0, 1)
    assert "max_cost 1.5 is reached: 1 spent, 1 a request; before that: no answer in 0.1 s" in answer.reason


def test_requests_of_one_run_can_be_capped() -> None:
    with serving(Said(status=500)) as service:
        answer = _ask(service.url, budget=Budget(max_requests=2))
    assert len(service.requests) == 2
    assert answer.reason == "max_requests 2 is reached; before that: HTTP 500: {} (after 2 tries)"


def test_a_damaged_ledger_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / "spent.json").write_text("[]")
    assert Budget(spent=0.5, ledger=tmp_path / "spent.json").spent == 0.5


def test_files_are_fetched_from_the_service_alone_and_without_the_key() -> None:
    with serving(Said(body=b"bytes")) as service, Remote(service.url, key="secret-key") as asked:
        assert asked.get("files/a.png?sig=1").body == b"bytes"
        assert asked.get(service.url.replace("/v1", "/cdn/b.png")).ok
        elsewhere = asked.get("http://192.0.2.1/a.png")
        other_port = asked.get("http://127.0.0.1:1/a.png")
    assert [path for path, _, _ in service.requests] == ["/v1/files/a.png?sig=1", "/cdn/b.png"]
    assert all("authorization" not in headers for _, headers, _ in service.requests)
    assert elsewhere.reason == "the answer names a picture on another host, 192.0.2.1"
    assert not other_port.ok


def test_stopping_ends_the_pauses() -> None:
    with serving(Said(status=500)) as service, Remote(service.url) as asked:
        asked.stop()
        began = time.monotonic()
        assert asked.post("x", fields={}).tries == 1
    assert time.monotonic() - began < 1


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://example.com", "is no http or https address"),
        ("example.com/v1", "is no http or https address"),
        ("https://user:hunter2@example.com/v1", "holds a password or query"),
        ("https://example.com/v1?key=hunter2", "holds a password or query"),
        ("http://example.com/v1", "would send the key unencrypted; use https"),
    ],
)
def test_an_address_that_cannot_be_right_is_refused(url: str, message: str) -> None:
    with pytest.raises(BadConfig, match=message) as caught:
        Remote(url, key="secret-key")
    assert "hunter2" not in caught.value.message


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(BadConfig, match="timeout_s is 0 and tries 5; both must be above 0"):
        Remote("https://example.com", timeout_s=0)
    with pytest.raises(BadConfig, match="a budget cannot be below 0"):
        Budget(max_cost=-1)


def test_without_httpx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"asking a service needs httpx: pip install 'paragone\[make\]'"):
        Remote("https://example.com")
