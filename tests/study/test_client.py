"""The participant in Python: exact about ids, patient, and plain about where it got stuck."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paragone.errors import Lost
from paragone.study.client import Walker


class Answer:
    def __init__(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        self.status_code, self.headers, self.text = status, headers or {}, json.dumps(body)

    def json(self) -> Any:
        return json.loads(self.text)


class Line:
    """A server that says what it was told to, and loses what it was told to lose."""

    def __init__(self, *answers: Answer | Exception) -> None:
        self.answers, self.sent = list(answers), list[tuple[str, str, Any]]()

    def request(self, method: str, url: str, **options: Any) -> Answer:
        self.sent.append((method, url, options.get("json")))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def walker(*answers: Answer | Exception, **options: Any) -> tuple[Walker, Line, list[float]]:
    line, rested = Line(*answers), list[float]()
    return Walker(line, lambda _t, _c: ("left", 1.0), rest=rested.append, **options), line, rested


TRIAL = {"id": "abc", "criteria": [{"id": "content"}, {"id": "style"}], "given": {}}


def stored(line: Line) -> Answer:
    return Answer(201, {"results": [{"id": one["id"], "status": "stored"} for one in line.sent[-1][2]["answers"]]})


def test_an_answer_that_was_lost_is_sent_again_under_the_same_ids() -> None:
    made, line, rested = walker(OSError("lost"), Answer(503, {}))
    said = line.request

    def late(method: str, url: str, **options: Any) -> Answer:
        if line.answers:
            return said(method, url, **options)
        line.sent.append((method, url, options.get("json")))
        return stored(line)

    line.request = late  # type: ignore[method-assign]
    assert made.give(TRIAL) == ["stored", "stored"]
    assert line.sent[0] == line.sent[1] == line.sent[2]
    assert [one["id"] for one in made.acknowledged] == [one["id"] for one in line.sent[0][2]["answers"]]
    assert rested == sorted(rested)
    assert len(rested) == 2


def test_a_conflict_is_not_counted_as_acknowledged() -> None:
    made, line, _ = walker()

    def refuse(method: str, url: str, **options: Any) -> Answer:
        line.sent.append((method, url, options["json"]))
        rows = options["json"]["answers"]
        return Answer(409, {"results": [{"id": one["id"], "status": "conflict"} for one in rows]})

    line.request = refuse  # type: ignore[method-assign]
    assert made.give(TRIAL, criteria=["style"]) == ["conflict"]
    assert made.acknowledged == []


def test_what_is_refused_is_not_asked_again() -> None:
    made, line, _ = walker(Answer(410, {"error": {"kind": "replaced"}}))
    with pytest.raises(Lost, match="GET /api/state: 410"):
        made.state()
    assert len(line.sent) == 1


def test_it_waits_as_long_as_it_is_told() -> None:
    made, _, rested = walker(Answer(429, {}, {"retry-after": "7"}), Answer(200, {"phase": "trial"}))
    assert made.state() == {"phase": "trial"}
    assert rested == [7.0]


def test_it_gives_up_after_its_tries() -> None:
    made, line, _ = walker(*[OSError("down")] * 3, tries=3)
    with pytest.raises(Lost, match="GET /api/state: OSError; the server does not do it"):
        made.state()
    assert len(line.sent) == 3


@pytest.mark.parametrize("phase", ["full", "closed", "paused", "wait"])
def test_a_phase_in_which_nothing_can_be_done_is_named(phase: str) -> None:
    made, _, _ = walker()
    with pytest.raises(Lost, match=f"cannot go on in phase '{phase}'"):
        made.walk({"phase": phase})


def test_a_study_without_end_is_noticed() -> None:
    made, _, _ = walker(*[Answer(200, {"phase": "instructions"})] * 3)
    with pytest.raises(Lost, match="no end after 3 steps"):
        made.walk({"phase": "instructions"}, steps=3)
