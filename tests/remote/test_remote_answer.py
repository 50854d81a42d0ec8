"""What came of a request, read as what it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paragone.remote.answer import no_answer


@pytest.mark.parametrize(
    ("body", "held"), [(b'{"a": 1}', {"a": 1}), (b"<html>", None), (b"\xff", None), (b"[" * 10**5, None)]
)
def test_a_body_that_is_no_json_is_none(body: bytes, held: object) -> None:
    assert replace(no_answer(""), body=body).json() == held


def test_an_answer_with_a_reason_is_no_good_one() -> None:
    answer = no_answer("nobody there", seconds=2.0, tries=3, cost=0.5, capped=True)
    assert (answer.ok, answer.status, answer.body) == (False, None, b"")
    assert (answer.seconds, answer.tries, answer.cost, answer.capped) == (2.0, 3, 0.5, True)
