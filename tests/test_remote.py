"""Asking a service: patience, its end, and a cap that is never exceeded."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import socket
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from urllib.parse import quote

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
        ("http://[", "'http://\\[' is no address: Invalid IPv6 URL"),
        ("http://host:99:99/v1", "is no address: Port could not be cast to integer value as '99:99'"),
        ("http://user:hunter2@host:99:99/v1", "is no address: Port could not be cast"),
        ("https://host:99999999/v1", "is no address: Port out of range 0-65535"),
        ("https://host:0/v1", "there is no port 0"),
        ("https://exam ple.com/v1", "holds a space or a character that cannot be seen"),
        ("https://example.com/\0", "holds a space or a character that cannot be seen"),
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
    with pytest.raises(BadConfig, match="timeout_s is 0; give above 0 to 86400 seconds"):
        Remote("https://example.com", timeout_s=0)
    with pytest.raises(BadConfig, match="a budget cannot be below 0"):
        Budget(max_cost=-1)


def test_without_httpx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"asking a service needs httpx: pip install 'paragone\[make\]'"):
        Remote("https://example.com")


@pytest.mark.parametrize("more", [{"timeout_s": float("nan")}, {"timeout_s": 1e300}, {"tries": 0}, {"tries": 10**6}])
def test_times_and_tries_without_an_end_are_refused(more: dict[str, float]) -> None:
    with pytest.raises(BadConfig, match=r"is (nan|1e.300|0|1000000); give"):
        Remote("https://example.com", **more)  # type: ignore[arg-type]


def test_amounts_that_are_no_numbers_pass_no_cap() -> None:
    with pytest.raises(BadConfig, match="max_cost nan"):
        Budget(max_cost=float("nan"))
    assert Budget(max_cost=1.0).take(float("nan")) == "a price of nan cannot be counted"


@pytest.mark.parametrize("drips", [b"HTTP/1.1 200 OK\r\nx: ", b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n"])
def test_a_service_that_drips_is_given_up_in_time(drips: bytes) -> None:
    ended = threading.Event()

    def drip(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection, contextlib.suppress(OSError):
            connection.recv(1 << 16)
            connection.sendall(drips)
            for _ in range(1000):
                connection.sendall(b"a")
                time.sleep(0.02)
        ended.set()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=drip, args=(server,), daemon=True).start()
        began = time.monotonic()
        answer = _ask(f"http://127.0.0.1:{server.getsockname()[1]}", timeout_s=0.4, tries=1, price=1.0)
        assert time.monotonic() - began < 3
    assert re.fullmatch("no (whole )?answer in 0.4 s", answer.reason)
    assert answer.cost == 1.0
    assert ended.wait(5)  # the connection was cut, not left behind


@pytest.mark.parametrize("key", ["sk-\x00\nsecret", "sk-sécret", "sk-\udcffsecret"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_quoted(key: str) -> None:
    with pytest.raises(BadConfig, match=r"^the key holds characters that no header can carry$"):
        Remote("https://example.com", key=key)


def test_the_key_is_struck_out_in_every_coding() -> None:
    key = "sk-very/secret+key"
    with Remote("https://example.com", key=key) as asked:
        for text in (
            key,
            quote(key, safe=""),
            quote(key, safe="").lower(),
            "".join(f"%{ord(c):02X}" for c in key),
            key.encode().hex(),
        ):
            assert asked.without_key(f"a {text} b") == "a [key] b"
        for before in ("", "u", "me", "user:", "Bearer "):
            for code in (base64.b64encode, base64.urlsafe_b64encode):
                said = asked.without_key(code(f"{before}{key}".encode()).decode())
                assert "[key]" in said
                assert len(said) < 5 + 2 + len(before) * 2 + 4
        assert asked.without_key("plain \udcff") == "plain ?"


@pytest.mark.parametrize("url", ["http://[bad", "http://127.0.0.1:99999999/a", "http://x\udcff/a", "a\0b"])
def test_an_answers_address_that_is_none_is_a_reason(url: str) -> None:
    with Remote("http://127.0.0.1:9") as asked:
        reason = asked.get(url).reason
    assert "the answer names" in reason
    assert reason.encode()


def test_a_proxy_that_cannot_be_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTPS_PROXY", "gopher://user:hunter2@proxy:1")
    with pytest.raises(BadConfig, match="the proxy that the environment names cannot be used") as caught:
        Remote("https://example.com")
    assert "hunter2" not in caught.value.message
