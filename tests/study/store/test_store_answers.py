"""Answers go in exactly once, from the live token and for the lease that its person holds."""

from __future__ import annotations

import asyncio
import json

import pytest
import sqlalchemy as sa

from paragone.study.store import answers, claims, people
from paragone.study.store.answers import NewAnswer
from paragone.study.store.tables import answer
from store_world import Small, sha

ROW = NewAnswer("c1", "t1", "content", 0, "left", 3.25, '{"onset_ms": 12.5}')


def _put(small: Small, lease: claims.Lease, *rows: NewAnswer, token: str = "") -> list[str]:
    person = lease.participant_id or 0
    told = small.write(answers.append, token or small.token(person), lease.id, person, rows, small.now)
    assert [one.client_id for one in told] == [row.client_id for row in rows]
    return [one.status for one in told]


def _count(small: Small) -> int:
    return small.store.read_now(lambda c: c.execute(sa.select(sa.func.count()).select_from(answer)).scalar_one())


@pytest.fixture
def lease(small: Small) -> claims.Lease:
    return small.lease(small.person().id)


def test_an_answer_comes_back_as_it_went_in(small: Small, lease: claims.Lease) -> None:
    assert _put(small, lease, ROW) == ["stored"]
    (stored,) = small.read(answers.of_lease, lease.id)
    assert (stored.client_id, stored.trial, stored.criterion, stored.revision) == ("c1", "t1", "content", 0)
    assert (stored.value, stored.seconds, stored.at, stored.lease_id) == ("left", 3.25, small.now, lease.id)
    assert json.loads(stored.body) == {"onset_ms": 12.5}


def test_the_same_answer_twice_is_stored_then_known(small: Small, lease: claims.Lease) -> None:
    assert [_put(small, lease, ROW), _put(small, lease, ROW)] == [["stored"], ["known"]]
    assert _count(small) == 1


@pytest.mark.parametrize(
    "other",
    [
        ROW._replace(value="right"),
        ROW._replace(seconds=3.5),
        ROW._replace(seconds=None),
        ROW._replace(body="{}"),
        ROW._replace(trial="t2"),
        ROW._replace(criterion="style"),
        ROW._replace(revision=1),
        ROW._replace(client_id="c2"),
        ROW._replace(client_id="c2", value="right"),
    ],
)
def test_an_altered_answer_is_a_conflict_and_changes_nothing(
    small: Small, lease: claims.Lease, other: NewAnswer
) -> None:
    _put(small, lease, ROW)
    before = small.read(answers.of_lease, lease.id)
    assert _put(small, lease, other) == ["conflict"]
    assert small.read(answers.of_lease, lease.id) == before


def test_revisions_are_all_kept(small: Small, lease: claims.Lease) -> None:
    rows = [ROW._replace(client_id=f"c{n}", revision=n, value=str(n)) for n in range(3)]
    assert _put(small, lease, *rows) == ["stored"] * 3
    assert [row.value for row in small.read(answers.of_lease, lease.id)] == ["0", "1", "2"]


def test_several_answers_are_each_judged(small: Small, lease: claims.Lease) -> None:
    _put(small, lease, ROW)
    fresh, altered = ROW._replace(client_id="c2", criterion="style"), ROW._replace(client_id="c3")
    assert _put(small, lease, ROW, fresh, altered) == ["known", "stored", "conflict"]
    assert _count(small) == 2


def test_one_call_cannot_store_an_answer_twice(small: Small, lease: claims.Lease) -> None:
    assert _put(small, lease, ROW, ROW, ROW._replace(client_id="c9")) == ["stored", "known", "conflict"]
    assert _count(small) == 1


def test_two_leases_do_not_disturb_each_other(small: Small, lease: claims.Lease) -> None:
    other = small.lease(small.person().id)
    assert _put(small, lease, ROW) == ["stored"]
    assert _put(small, other, ROW._replace(client_id="c2")) == ["stored"]
    assert _put(small, other, ROW) == ["conflict"], "an id of somebody else's answer is no answer of mine"


def test_an_unknown_token_gets_nothing_in(small: Small, lease: claims.Lease) -> None:
    assert _put(small, lease, ROW, token=sha("guess")) == ["gone"]
    assert _count(small) == 0


def test_the_newest_tab_wins(small: Small, lease: claims.Lease) -> None:
    person = lease.participant_id or 0
    small.write(people.open_visit, person, sha("new key"), sha("new cookie"), None, small.now)
    small.write(people.take_token, sha("new key"), sha("new token"), small.now)
    assert _put(small, lease, ROW) == ["gone"]
    assert _put(small, lease, ROW, token=sha("new token")) == ["stored"]
    assert _put(small, lease, ROW) == ["known"], "what is stored is stored, whoever asks again"


def test_nobody_answers_for_somebody_else(small: Small, lease: claims.Lease) -> None:
    thief = small.person()
    own = small.lease(thief.id)
    for lease_id, participant_id in ((lease.id, thief.id), (lease.id, lease.participant_id), (own.id, 0)):
        told = small.write(answers.append, small.token(thief.id), lease_id, participant_id, [ROW], small.now)
        assert [one.status for one in told] == ["gone"]
    assert _count(small) == 0


@pytest.mark.parametrize("end", ["finish", "exclude"])
def test_a_lease_that_ended_takes_nothing_more(small: Small, lease: claims.Lease, end: str) -> None:
    _put(small, lease, ROW)
    if end == "finish":
        small.write(claims.finish, lease.id, small.now)
    else:
        small.write(claims.exclude, lease.id, small.now, who="ann", why="asleep")
    assert _put(small, lease, ROW._replace(client_id="c2", trial="t2")) == ["gone"]
    assert _put(small, lease, ROW) == ["known"]


def test_an_abandoned_lease_still_takes_its_persons_answers(small: Small, lease: claims.Lease) -> None:
    small.write(claims.abandon, lease.id, small.now, why="returned")
    assert _put(small, lease, ROW) == ["stored"]


def test_when_a_lease_was_seen_is_kept_to_five_seconds(small: Small, lease: claims.Lease) -> None:
    def seen() -> float | None:
        found = small.read(claims.get, lease.id)
        assert found is not None
        return found.seen_at

    for number, (step, expected) in enumerate([(4.0, 1000.0), (2.0, 1006.0), (60.0, 1066.0), (-500.0, 566.0)]):
        small.now += step
        _put(small, lease, ROW._replace(client_id=f"c{number}", trial=f"t{number}"))
        assert seen() == expected


def test_text_of_any_kind_comes_back_whole(small: Small, lease: claims.Lease) -> None:
    odd = ROW._replace(
        trial="t'; DROP TABLE answer; --", criterion="内容 %s :x ?", body='{"a": "\\u0000 \U0001f3a8 %(x)s"}'
    )
    assert _put(small, lease, odd) == ["stored"]
    assert _put(small, lease, odd) == ["known"]
    (stored,) = small.read(answers.of_lease, lease.id)
    assert (stored.trial, stored.criterion, stored.body) == (odd.trial, odd.criterion, odd.body)


def test_the_same_answers_from_many_sides_go_in_once(small: Small, lease: claims.Lease) -> None:
    rows = [ROW._replace(client_id=f"c{n}", trial=f"t{n}") for n in range(20)]
    person = lease.participant_id or 0

    async def go() -> list[str]:
        jobs = [
            small.store.write(
                lambda c, row=row: answers.append(c, small.token(person), lease.id, person, [row], 1.0), single=True
            )
            for _ in range(10)
            for row in rows
        ]
        return [told[0].status for told in await asyncio.gather(*jobs)]

    said = asyncio.run(go())
    assert (said.count("stored"), said.count("known")) == (20, 180)
    assert _count(small) == 20


def test_two_answers_to_one_question_at_once_are_one(small: Small, lease: claims.Lease) -> None:
    """A double click, or key and click, reaching the server side by side."""
    person = lease.participant_id or 0
    token = small.token(person)

    async def go() -> list[str]:
        rows = [ROW._replace(client_id=f"c{n}", value=("left", "right")[n % 2]) for n in range(40)]
        jobs = [
            small.store.write(lambda c, row=row: answers.append(c, token, lease.id, person, [row], 1.0), single=True)
            for row in rows
        ]
        return [told[0].status for told in await asyncio.gather(*jobs)]

    assert sorted(asyncio.run(go())) == ["conflict"] * 39 + ["stored"]
    assert _count(small) == 1
