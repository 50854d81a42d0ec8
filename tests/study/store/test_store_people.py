"""Who is who, which tab is the live one, and forgetting."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa

from paragone.study.store import claims, events, people
from paragone.study.store.tables import answer, door, event, participant, visit
from store_world import Small, sha


def _rows(small: Small, table: sa.Table) -> list[sa.Row[*tuple[object, ...]]]:
    return small.store.read_now(lambda c: list(c.execute(table.select().order_by(table.c.id))))


def _arrive(small: Small, external: str | None, platform: str = "prolific") -> people.Participant:
    return small.write(people.arrive, platform, external, None, "en", small.now)


def test_people_are_named_in_the_order_they_come(small: Small) -> None:
    assert [_arrive(small, f"h{n}").name for n in range(3)] == ["p-0001", "p-0002", "p-0003"]


def test_the_same_id_is_the_same_person(small: Small) -> None:
    first, again = _arrive(small, "h"), _arrive(small, "h")
    assert (first.fresh, again.fresh) == (True, False)
    assert first.id == again.id
    assert _arrive(small, "h", "sona").id != first.id
    assert _arrive(small, None).id != _arrive(small, None).id


def test_people_who_arrive_at_once_are_each_one_person(small: Small) -> None:
    async def go() -> list[people.Participant]:
        jobs = [
            small.store.write(lambda c, n=n: people.arrive(c, "prolific", f"h{n % 10}", None, "en", 1.0))
            for n in range(100)
        ]
        return await asyncio.gather(*jobs)

    came = asyncio.run(go())
    assert len({person.id for person in came}) == 10
    assert sum(person.fresh for person in came) == 10
    assert len({person.name for person in came}) == 10


def _enter(small: Small, person: people.Participant, number: int = 1) -> None:
    small.write(people.open_visit, person.id, sha(f"key {number}"), sha(f"cookie {number}"), f"sub {number}", small.now)


def test_a_key_works_once(small: Small) -> None:
    person = _arrive(small, "h")
    _enter(small, person)
    taken = small.write(people.take_token, sha("key 1"), sha("token"), small.now)
    assert taken is not None
    assert (taken.participant_id, taken.name, taken.live, taken.submission_hmac) == (person.id, "p-0001", True, "sub 1")
    assert small.read(people.who, sha("token")) == taken
    assert small.write(people.take_token, sha("key 1"), sha("thief"), small.now) is None
    assert small.read(people.who, sha("thief")) is None


def test_the_same_taking_twice_is_one_taking(small: Small) -> None:
    """As when the connection is lost in the moment of the commit and the job runs again."""
    _enter(small, _arrive(small, "h"))
    first = small.write(people.take_token, sha("key 1"), sha("token"), small.now)
    assert small.write(people.take_token, sha("key 1"), sha("token"), small.now) == first


@pytest.mark.parametrize(("later", "works"), [(599.0, True), (601.0, False), (-5000.0, True)])
def test_a_key_lives_for_ten_minutes(small: Small, later: float, works: bool) -> None:
    _enter(small, _arrive(small, "h"))
    taken = small.write(people.take_token, sha("key 1"), sha("token"), small.now + later)
    assert (taken is not None) is works


def test_a_cookie_resumes_and_the_older_tab_ends(small: Small) -> None:
    _enter(small, _arrive(small, "h"))
    first = small.write(people.take_token, sha("key 1"), sha("token 1"), small.now)
    second = small.write(people.take_token, sha("cookie 1"), sha("token 2"), small.now)
    third = small.write(people.take_token, sha("cookie 1"), sha("token 3"), small.now)
    assert first is not None
    assert second is not None
    assert third is not None
    assert third.submission_hmac == "sub 1"
    lives = [small.read(people.who, sha(f"token {number}")) for number in (1, 2, 3)]
    assert [one is not None and one.live for one in lives] == [False, False, True]


def test_the_newest_of_two_visits_wins_and_the_older_may_come_back(small: Small) -> None:
    person = _arrive(small, "h")
    _enter(small, person, 1)
    _enter(small, person, 2)
    small.write(people.take_token, sha("key 1"), sha("a"), small.now)
    small.write(people.take_token, sha("key 2"), sha("b"), small.now)
    first, second = small.read(people.who, sha("a")), small.read(people.who, sha("b"))
    assert first is not None
    assert second is not None
    assert (first.live, second.live) == (False, True)
    small.write(people.take_token, sha("cookie 1"), sha("c"), small.now)
    second, third = small.read(people.who, sha("b")), small.read(people.who, sha("c"))
    assert second is not None
    assert third is not None
    assert (second.live, third.live) == (False, True)


def test_only_one_of_many_tabs_is_live(small: Small) -> None:
    _enter(small, _arrive(small, "h"))

    async def go() -> None:
        jobs = [
            small.store.write(lambda c, n=n: people.take_token(c, sha("cookie 1"), sha(f"t{n}"), 1.0))
            for n in range(20)
        ]
        await asyncio.gather(*jobs)

    asyncio.run(go())
    seen = [small.read(people.who, sha(f"t{n}")) for n in range(20)]
    assert sum(one is not None and one.live for one in seen) == 1


def test_an_unknown_secret_gives_nothing(small: Small) -> None:
    assert small.write(people.take_token, sha("guess"), sha("t"), small.now) is None


def test_ended_visits_cannot_be_resumed(small: Small) -> None:
    person = _arrive(small, "h")
    _enter(small, person)
    small.write(people.take_token, sha("key 1"), sha("t"), small.now)
    small.write(people.end_visits, person.id, small.now)
    seen = small.read(people.who, sha("t"))
    assert seen is not None
    assert not seen.live
    assert small.write(people.take_token, sha("cookie 1"), sha("t2"), small.now) is None


def test_a_lab_code_is_one_person(small: Small) -> None:
    assert small.write(people.add_codes, {sha("A"): "desk 1", sha("B"): "desk 2"}, 1.0) == 2
    assert small.write(people.add_codes, {sha("A"): "desk 1", sha("C"): "desk 3"}, 1.0) == 1
    first = small.write(people.arrive_by_code, sha("A"), "de", 1.0)
    again = small.write(people.arrive_by_code, sha("A"), "en", 2.0)
    other = small.write(people.arrive_by_code, sha("B"), "de", 3.0)
    assert first is not None
    assert again is not None
    assert other is not None
    assert (first.fresh, again.fresh, again.id == first.id, other.id == first.id) == (True, False, True, False)
    assert small.write(people.arrive_by_code, sha("Z"), "de", 1.0) is None


def test_a_lab_code_used_twice_at_once_is_one_person(small: Small) -> None:
    small.write(people.add_codes, {sha("A"): "desk"}, 1.0)

    async def go() -> list[people.Participant | None]:
        jobs = [small.store.write(lambda c: people.arrive_by_code(c, sha("A"), "de", 1.0)) for _ in range(10)]
        return await asyncio.gather(*jobs)

    assert len({person.id for person in asyncio.run(go()) if person is not None}) == 1


def test_whoever_declines_leaves_a_count_and_nothing_else(small: Small) -> None:
    person = small.person("ann")
    small.write(events.append, "device", 1.0, participant_id=person.id)
    small.write(people.decline, person.id, 5.0)
    assert _rows(small, participant) == []
    assert _rows(small, visit) == []
    (left,) = _rows(small, event)
    assert (left.kind, left.participant_id, left.lease_id, left.body, left.at) == ("declined", None, None, "{}", 5.0)
    small.write(people.decline, person.id, 6.0)
    assert len(_rows(small, event)) == 1


def test_names_of_people_who_declined_are_not_used_again(small: Small) -> None:
    person = small.person()
    small.write(people.decline, person.id)
    assert small.person().name == "p-0002"


def test_nobody_with_a_lease_can_decline_any_more(small: Small) -> None:
    person = small.person()
    small.lease(person.id)
    small.write(people.decline, person.id)
    assert len(_rows(small, participant)) == 1


def test_a_lab_code_of_someone_who_declined_is_free_again(small: Small) -> None:
    small.write(people.add_codes, {sha("A"): "desk"}, 1.0)
    first = small.write(people.arrive_by_code, sha("A"), "de", 1.0)
    assert first is not None
    small.write(people.decline, first.id)
    second = small.write(people.arrive_by_code, sha("A"), "de", 1.0)
    assert second is not None
    assert second.fresh


def test_sealed_ids_go_when_their_time_is_over(small: Small) -> None:
    small.person("ann")  # to be purged at now + 100
    assert small.write(people.purge, small.now + 99) == 0
    assert small.write(people.purge, small.now + 100) == 1
    (row,) = _rows(small, participant)
    assert row.sealed is None
    assert row.external_hmac is not None, "the same person still cannot take part twice"


def test_what_comes_after_forgetting_goes_with_the_next_purge(small: Small) -> None:
    person, other = small.person(), small.person()
    small.write(people.forget, person.name, 50.0)
    for someone in (person, other):
        small.write(events.append, "telemetry", 51.0, participant_id=someone.id)
    small.write(people.purge, 52.0)
    assert [row.participant_id for row in _rows(small, event) if row.kind == "telemetry"] == [other.id]
    assert [row.open for row in _rows(small, door)] == [0]


def test_forgetting_leaves_a_name_and_counts(small: Small) -> None:
    person, other = small.person("ann"), small.person("ben")
    lease, kept = small.lease(person.id), small.lease(other.id)
    for number in range(3):
        small.answer(lease, f"t{number}")
    small.answer(kept)
    small.write(events.append, "consent", 1.0, participant_id=person.id, lease_id=lease.id, body={"age": 33})
    small.write(events.append, "consent", 1.0, participant_id=other.id)
    gone = small.write(people.forget, person.name, 50.0, who="ann@desk")
    assert gone == people.Forgotten(person.id, "p-0001", answers=3, events=1, visits=1, leases=1)
    row = _rows(small, participant)[0]
    assert tuple(row) == (person.id, "p-0001", "prolific", None, None, None, None, small.now, 50.0)
    assert [one.participant_id for one in _rows(small, answer)] == [other.id]
    assert [one.participant_id for one in _rows(small, visit)] == [other.id]
    about = [(one.kind, one.participant_id, one.body) for one in _rows(small, event)]
    assert about == [
        ("consent", other.id, "{}"),
        ("lease.replaced", None, '{"by": 7}'),
        (
            "admin.forget",
            None,
            '{"answers": 3, "events": 1, "leases": 1, "participant": "p-0001", "visits": 1, "who": "ann@desk"}',
        ),
    ]
    assert small.states("a") == ["retired", "free"]
    assert [row.open for row in _rows(small, door)] == [0]


def test_a_person_is_forgotten_by_the_panels_id_too(small: Small) -> None:
    small.person("ann")
    gone = small.write(people.forget, sha("ann"), 50.0)
    assert gone is not None
    assert gone.name == "p-0001"
    assert small.person("ann").name == "p-0002", "whoever comes again is somebody new"


def test_forgetting_twice_or_nobody_does_nothing(small: Small) -> None:
    person = small.person()
    assert small.write(people.forget, person.name, 50.0) is not None
    before = _rows(small, event)
    assert small.write(people.forget, person.name, 51.0) is None
    assert small.write(people.forget, "p-9999", 51.0) is None
    assert _rows(small, event) == before


def test_a_forgotten_person_can_do_nothing_more(small: Small) -> None:
    person = small.person()
    lease = small.lease(person.id)
    small.write(people.forget, person.name, 50.0)
    assert small.answer(lease) == "gone"
    assert small.read(people.who, small.token(person.id)) is None
    assert small.write(claims.claim, person.id, ["1"], 10, 51.0) is None


def test_forgetting_without_replacing_deals_nothing(small: Small) -> None:
    person = small.person()
    small.lease(person.id)
    small.write(people.forget, person.name, 50.0, replace=False)
    assert small.states("a") == ["retired"]


def test_what_is_forgotten_is_not_in_the_file_any_more(small: Small) -> None:
    if small.store.dialect != "sqlite":
        pytest.skip("the file is SQLite's")
    person = small.person("ann")
    lease = small.lease(person.id)
    small.answer(lease, body='{"remark": "unmistakable-remark"}')
    small.write(people.forget, person.name, 50.0)
    path = small.store.url.database
    small.store.close()
    assert path is not None
    with open(path, "rb") as file:
        assert b"unmistakable-remark" not in file.read()


def test_answers_that_race_with_forgetting_are_gone_too(small: Small) -> None:
    from paragone.study.store import answers

    person = small.person()
    lease = small.lease(person.id)
    rows = [answers.NewAnswer(f"c{n}", f"t{n}", "q", 0, "left", 1.0, "{}") for n in range(100)]

    async def go() -> None:
        def put(row: answers.NewAnswer) -> object:
            token = small.token(person.id)
            return small.store.write(lambda c: answers.append(c, token, lease.id, person.id, [row], 1.0), single=True)

        jobs = [put(row) for row in rows]
        jobs.insert(50, small.store.write(lambda c: people.forget(c, person.name, 50.0)))
        await asyncio.gather(*jobs)  # type: ignore[arg-type]

    asyncio.run(go())
    assert _rows(small, answer) == []
