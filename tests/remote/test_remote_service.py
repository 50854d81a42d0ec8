"""Asking a service: forms, files, and what is refused before anything is sent."""

from __future__ import annotations

import pytest

from make.adapters.stub_service import Said, serving
from paragone.errors import BadConfig
from paragone.remote import Budget, Remote
from remote.asking import GOOD, ask


def test_a_good_answer_comes_at_once() -> None:
    with serving(GOOD) as service:
        answer = ask(service.url, key="secret-key", price=0.5)
    assert (answer.ok, answer.json(), answer.tries, answer.cost) == (True, {"well": True}, 1, 0.5)
    path, headers, body = service.requests[0]
    assert (path, headers["authorization"], body) == ("/v1/images/edits", "Bearer secret-key", b"a=b")


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


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(BadConfig, match="timeout_s is 0; give above 0 to 86400 seconds"):
        Remote("https://example.com", timeout_s=0)
    with pytest.raises(BadConfig, match="a budget cannot be below 0"):
        Budget(max_cost=-1)


@pytest.mark.parametrize("more", [{"timeout_s": float("nan")}, {"timeout_s": 1e300}, {"tries": 0}, {"tries": 10**6}])
def test_times_and_tries_without_an_end_are_refused(more: dict[str, float]) -> None:
    with pytest.raises(BadConfig, match=r"is (nan|1e.300|0|1000000); give"):
        Remote("https://example.com", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["sk-\x00\nsecret", "sk-sécret", "sk-\udcffsecret"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_quoted(key: str) -> None:
    with pytest.raises(BadConfig, match=r"^the key holds characters that no header can carry$"):
        Remote("https://example.com", key=key)


@pytest.mark.parametrize("url", ["http://[bad", "http://127.0.0.1:99999999/a", "http://x\udcff/a", "a\0b"])
def test_an_answers_address_that_is_none_is_a_reason(url: str) -> None:
    with Remote("http://127.0.0.1:9") as asked:
        reason = asked.get(url).reason
    assert "the answer names" in reason
    assert reason.encode()
