"""Events go in once for each client id, and come back in order."""

from __future__ import annotations

from typing import Any

import pytest

from paragone.study.store import events
from store_world import Small


def test_events_come_back_in_order_and_whole(small: Small) -> None:
    person = small.person()
    lease = small.lease(person.id)
    body: dict[str, Any] = {"right": True, "seconds": 2.5, "text": "ä 内 \U0001f3a8"}
    small.write(events.append, "consent", 1.0, participant_id=person.id)
    small.write(events.append, "training", 2.0, participant_id=person.id, lease_id=lease.id, session="1", body=body)
    first, second = small.read(events.of_participant, person.id)
    assert (first.kind, first.body, first.lease_id) == ("consent", {}, None)
    assert (second.kind, second.body, second.session, second.at) == ("training", body, "1", 2.0)
    assert small.read(events.of_lease, lease.id) == [second]


def test_the_same_event_twice_is_stored_then_known(small: Small) -> None:
    given: dict[str, Any] = {"client_id": "e1", "body": {"b": 1, "a": 2}}
    assert small.write(events.append, "device", 1.0, **given) == "stored"
    again = {"client_id": "e1", "body": {"a": 2, "b": 1}}
    assert small.write(events.append, "device", 9.0, **again) == "known", "the clock of the second call is no content"


@pytest.mark.parametrize("change", [{"body": {"a": 2}}, {"session": "2"}, {"participant_id": 1}])
def test_another_event_under_the_same_id_is_a_conflict(small: Small, change: dict[str, Any]) -> None:
    small.person()
    assert small.write(events.append, "device", 1.0, client_id="e1", body={"a": 1}) == "stored"
    assert small.write(events.append, "device", 1.0, **{"client_id": "e1", "body": {"a": 1}, **change}) == "conflict"
    assert small.write(events.append, "tutorial", 1.0, client_id="e1", body={"a": 1}) == "conflict"


def test_events_without_an_id_are_each_their_own(small: Small) -> None:
    assert [small.write(events.append, "admin.look", 1.0) for _ in range(2)] == ["stored", "stored"]


def test_what_is_no_json_is_refused(small: Small) -> None:
    with pytest.raises(ValueError, match="JSON"):
        small.write(events.append, "device", 1.0, body={"width": float("nan")})
