"""A cap that is never exceeded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from make.adapters.stub_service import Said, serving
from paragone.errors import BadConfig
from paragone.remote import Budget, Remote
from remote.asking import GOOD, ask


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
        answer = ask(service.url, price=1.0, timeout_s=0.1, budget=Budget(max_cost=1.5))
    assert (answer.capped, answer.cost, len(service.requests)) == (True, 1.0, 1)
    assert "max_cost 1.5 is reached: 1 spent, 1 a request; before that: no answer in 0.1 s" in answer.reason


def test_requests_of_one_run_can_be_capped() -> None:
    with serving(Said(status=500)) as service:
        answer = ask(service.url, budget=Budget(max_requests=2))
    assert len(service.requests) == 2
    assert answer.reason == "max_requests 2 is reached; before that: HTTP 500: {} (after 2 tries)"


def test_a_damaged_ledger_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / "spent.json").write_text("[]")
    assert Budget(spent=0.5, ledger=tmp_path / "spent.json").spent == 0.5


def test_amounts_that_are_no_numbers_pass_no_cap() -> None:
    with pytest.raises(BadConfig, match="max_cost nan"):
        Budget(max_cost=float("nan"))
    assert Budget(max_cost=1.0).take(float("nan")) == "a price of nan cannot be counted"
