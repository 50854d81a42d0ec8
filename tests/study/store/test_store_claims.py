"""Leases are handed out once, kept, given back and replaced."""

from __future__ import annotations

import asyncio

import pytest

from paragone.study.store import Store, answers, claims, events
from store_world import Small


def _claim(small: Small, *stages: str, at_once: int = 100) -> claims.Lease | None:
    return small.write(claims.claim, small.person().id, stages or ("1",), at_once, small.now)


def _sweep(small: Small, seconds: float = 100.0, *, replace: bool = True) -> claims.Swept:
    return small.write(claims.sweep, small.now, seconds, replace)


def test_leases_go_out_in_the_order_of_the_plan(small: Small) -> None:
    owners = [small.lease(small.person().id, "1").owner for _ in range(4)]
    assert owners == ["a", "b", "c", "d"]
    assert _claim(small) is None


def test_the_first_stage_that_has_any_is_taken(small: Small) -> None:
    taken = [small.lease(small.person().id, "2", "1").owner for _ in range(4)]
    assert taken == ["e", "f", "a", "b"]


def test_a_claim_keeps_what_the_person_holds(small: Small) -> None:
    person = small.person()
    first = small.lease(person.id)
    small.now += 60
    assert small.lease(person.id, "2", "1") == first


def test_nobody_gets_a_stage_twice(small: Small) -> None:
    person = small.person()
    first = small.lease(person.id)
    small.write(claims.finish, first.id, small.now)
    assert small.write(claims.claim, person.id, ["1"], 100, small.now) is None
    assert small.lease(person.id, "1", "2").stage == "2"


def test_a_stranger_gets_nothing(small: Small) -> None:
    assert small.write(claims.claim, 999, ["1"], 100, small.now) is None


@pytest.mark.parametrize("at_once", [0, 1, 3])
def test_no_more_are_under_way_than_allowed(small: Small, at_once: int) -> None:
    taken = [_claim(small, "1", "2", at_once=at_once) for _ in range(5)]
    held = [lease for lease in taken if lease is not None]
    assert len(held) == at_once
    if held:
        small.write(claims.finish, held[0].id, small.now)
        assert _claim(small, "1", at_once=at_once) is not None


def test_the_limit_holds_when_many_come_at_once(store: Store) -> None:
    small = Small(store, [("1", f"o{number:03d}") for number in range(60)])
    people = [small.person() for _ in range(60)]

    async def go() -> list[claims.Lease | None]:
        return await asyncio.gather(
            *(store.write(lambda c, p=person: claims.claim(c, p.id, ["1"], 17, 1.0)) for person in people)
        )

    assert len([lease for lease in asyncio.run(go()) if lease is not None]) == 17


def test_many_at_once_get_each_their_own(store: Store) -> None:
    small = Small(store, [("1", f"o{number:03d}") for number in range(100)])
    people = [small.person() for _ in range(120)]

    async def go() -> list[claims.Lease | None]:
        return await asyncio.gather(
            *(store.write(lambda c, p=person: claims.claim(c, p.id, ["1"], 1000, 1.0)) for person in people)
        )

    held = [lease.id for lease in asyncio.run(go()) if lease is not None]
    assert len(held) == len(set(held)) == 100


def test_one_person_in_many_tabs_gets_one_lease(small: Small) -> None:
    person = small.person()

    async def go() -> list[claims.Lease | None]:
        return await asyncio.gather(
            *(small.store.write(lambda c: claims.claim(c, person.id, ["1", "2"], 100, 1.0)) for _ in range(20))
        )

    assert len({lease.id for lease in asyncio.run(go()) if lease is not None}) == 1
    assert len(small.read(claims.leases_of, person.id)) == 1


def test_finishing_is_once(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.now += 600
    done = small.write(claims.finish, lease.id, small.now)
    assert done is not None
    assert (done.state, done.done_at) == ("complete", 1600.0)
    small.now += 600
    assert small.write(claims.finish, lease.id, small.now) == done
    assert small.write(claims.finish, lease.id + 1, small.now) is None, "nobody has that one"


def test_a_complete_lease_can_be_accepted(small: Small) -> None:
    lease = small.lease(small.person().id)
    assert small.write(claims.accept, lease.id) is None
    small.write(claims.finish, lease.id, small.now)
    accepted = small.write(claims.accept, lease.id)
    assert accepted is not None
    assert accepted.state == small.state(lease) == "accepted"


def test_an_excluded_lease_is_replaced_before_all_others(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.write(claims.finish, lease.id, small.now)
    assert small.write(claims.exclude, lease.id, small.now, who="ann", why="3 of 6") is not None
    assert small.states("a") == ["excluded", "free"]
    copy = small.lease(small.person().id)
    assert (copy.owner, copy.copy, copy.priority, copy.replaces) == ("a", 1, -1, lease.id)


def test_excluding_twice_deals_one_copy(small: Small) -> None:
    lease = small.lease(small.person().id)
    for _ in range(2):
        excluded = small.write(claims.exclude, lease.id, small.now, who="ann", why="x")
        assert excluded is not None
        assert excluded.state == "excluded"
    assert small.states("a") == ["excluded", "free"]
    kinds = [event.kind for event in small.read(events.of_lease, lease.id)]
    assert kinds == ["admin.exclude", "lease.replaced"]


def test_a_free_lease_cannot_be_excluded(small: Small) -> None:
    lease = small.lease(small.person().id)
    assert small.write(claims.exclude, lease.id + 1, small.now, who="ann", why="x") is None
    assert small.write(claims.exclude, 999, small.now, who="ann", why="x") is None


def test_restoring_retires_the_copy_that_nobody_took(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.write(claims.finish, lease.id, small.now)
    small.write(claims.exclude, lease.id, small.now, who="ann", why="x")
    back = small.write(claims.restore, lease.id, small.now, who="ann", why="a mistake")
    assert back is not None
    assert small.states("a") == ["complete", "retired"]
    assert small.write(claims.restore, lease.id, small.now, who="ann", why="again") is None


def test_restoring_leaves_a_copy_that_somebody_took(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.write(claims.exclude, lease.id, small.now, who="ann", why="x")
    copy = small.lease(small.person().id)
    assert copy.replaces == lease.id
    small.write(claims.restore, lease.id, small.now, who="ann", why="a mistake")
    assert small.states("a") == ["leased", "leased"]


def test_who_excluded_and_why_is_kept(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.write(claims.exclude, lease.id, 5.0, who="ann", why="3 of 6 checks", replace=False)
    small.write(claims.restore, lease.id, 6.0, who="ben", why="a mistake")
    told = [(event.kind, event.body) for event in small.read(events.of_lease, lease.id)]
    assert told == [
        ("admin.exclude", {"who": "ann", "why": "3 of 6 checks"}),
        ("admin.restore", {"who": "ben", "why": "a mistake"}),
    ]


def test_released_without_answers_it_is_free_again(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.write(claims.release, lease.id, small.now)
    assert small.states("a") == ["free"]
    again = small.lease(small.person().id)
    assert (again.id, again.copy) == (lease.id, 0)


def test_released_with_answers_it_is_replaced(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.answer(lease)
    small.write(claims.release, lease.id, small.now, who="ann", why="asked to stop")
    assert small.states("a") == ["abandoned", "free"]
    assert next(event.kind for event in small.read(events.of_lease, lease.id)) == "admin.release"


def test_releasing_what_is_done_does_nothing(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.write(claims.finish, lease.id, small.now)
    small.write(claims.release, lease.id, small.now)
    assert small.states("a") == ["complete"]


def test_whoever_left_is_found(small: Small) -> None:
    left, stays = small.lease(small.person().id), small.lease(small.person().id)
    small.now += 60
    small.answer(stays)
    small.now += 60
    swept = _sweep(small)
    assert (swept.abandoned, swept.revived) == ((left.id,), ())
    assert small.states("a") == ["abandoned", "free"]
    assert small.states("b") == ["leased"]
    copy = small.lease(small.person().id)
    assert (copy.id,) == swept.added


def test_sweeping_again_finds_nothing_new(small: Small) -> None:
    small.lease(small.person().id)
    small.now += 200
    assert _sweep(small).abandoned
    assert _sweep(small) == claims.Swept((), (), ())
    assert small.states("a") == ["abandoned", "free"]


def test_nothing_is_dealt_where_the_study_does_not_replace(small: Small) -> None:
    small.lease(small.person().id)
    small.now += 200
    assert _sweep(small, replace=False).added == ()
    assert small.states("a") == ["abandoned"]


def test_the_slow_are_given_twice_the_median(small: Small) -> None:
    for _ in range(3):  # 300 s each
        lease = small.lease(small.person().id)
        small.now += 300
        small.write(claims.finish, lease.id, small.now)
    slow = small.lease(small.person().id)
    small.now += 599
    assert _sweep(small).abandoned == ()
    small.now += 2
    assert _sweep(small).abandoned == (slow.id,)


def test_the_median_of_one_stage_is_not_that_of_another(small: Small) -> None:
    lease = small.lease(small.person().id, "1")
    small.now += 3000
    small.write(claims.finish, lease.id, small.now)
    other = small.lease(small.person().id, "2")
    small.now += 101
    assert _sweep(small).abandoned == (other.id,)


def test_whoever_comes_back_in_time_keeps_the_lease(small: Small) -> None:
    person = small.person()
    lease = small.lease(person.id)
    small.now += 200
    _sweep(small)
    again = small.lease(person.id)
    assert (again.id, again.state, again.seen_at) == (lease.id, "leased", small.now)
    assert small.states("a") == ["leased", "retired"]


def test_whoever_answers_again_keeps_the_lease(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.now += 200
    _sweep(small)
    assert small.answer(lease) == "stored"
    assert _sweep(small).revived == (lease.id,)
    assert small.states("a") == ["leased", "retired"]


def test_whoever_comes_back_late_may_finish_and_both_are_stored(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.now += 200
    _sweep(small)
    copy = small.lease(small.person().id)
    assert small.answer(lease) == small.answer(copy) == "stored"
    assert small.write(claims.finish, lease.id, small.now) is not None
    assert small.write(claims.finish, copy.id, small.now) is not None
    assert small.states("a") == ["complete", "complete"]
    assert len(small.read(answers.of_lease, lease.id)) == len(small.read(answers.of_lease, copy.id)) == 1


def test_finishing_an_abandoned_lease_retires_its_free_copy(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.now += 200
    _sweep(small)
    small.write(claims.finish, lease.id, small.now)
    assert small.states("a") == ["complete", "retired"]


def test_a_panel_that_says_returned_is_believed(small: Small) -> None:
    lease = small.lease(small.person().id)
    assert small.write(claims.abandon, lease.id, small.now, why="returned")
    assert not small.write(claims.abandon, lease.id, small.now, why="returned")
    assert _sweep(small) == claims.Swept((), (), ()), "it is not seen as come back"
    assert small.states("a") == ["abandoned", "free"]


def test_a_chain_of_copies_needs_one_that_counts(small: Small) -> None:
    first = small.lease(small.person().id)
    small.write(claims.abandon, first.id, small.now, why="left")
    second = small.lease(small.person().id)
    small.write(claims.abandon, second.id, small.now, why="left")
    assert small.states("a") == ["abandoned", "abandoned", "free"]
    small.write(claims.finish, first.id, small.now)
    assert small.states("a") == ["complete", "abandoned", "retired"]
    small.write(claims.exclude, second.id, small.now, who="ann", why="x")
    assert small.states("a") == ["complete", "excluded", "retired"], "the first counts, so nothing is missing"


def test_a_copy_can_be_asked_for(small: Small) -> None:
    lease = small.lease(small.person().id)
    copy = small.write(claims.replace, lease.id, small.now, who="ann", why="phoned in sick")
    assert copy is not None
    assert (copy.owner, copy.state, copy.replaces) == ("a", "free", lease.id)
    assert small.write(claims.replace, lease.id, small.now, who="ann", why="again") == copy
    assert small.states("a") == ["abandoned", "free"]
    assert small.write(claims.replace, copy.id, small.now, who="ann", why="x") is None


def test_between_two_sessions_nobody_is_missed(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.write(claims.away, lease.id, small.now + 86_400, small.now)
    small.now += 86_000
    assert _sweep(small).abandoned == ()
    small.now += 400 + 101
    assert _sweep(small).abandoned == (lease.id,)


def test_whoever_is_back_early_is_missed_as_anybody(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.write(claims.away, lease.id, small.now + 86_400, small.now)
    small.now += 3600
    small.write(claims.away, lease.id, None, small.now)
    small.now += 101
    assert _sweep(small).abandoned == (lease.id,)


def test_days_between_sessions_do_not_stretch_the_median(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.write(claims.away, lease.id, small.now + 86_400, small.now)
    small.now += 90_000
    small.write(claims.away, lease.id, None, small.now)
    small.write(claims.finish, lease.id, small.now)
    other = small.lease(small.person().id)
    small.now += 101
    assert _sweep(small).abandoned == (other.id,)


@pytest.mark.parametrize("jump", [-1e9, -3600.0, 0.0, 3600.0])
def test_a_clock_that_jumps_loses_nobody(small: Small, jump: float) -> None:
    lease = small.lease(small.person().id)
    small.now += jump
    _sweep(small)
    assert small.answer(lease, "t1") == "stored"
    small.now += 10
    _sweep(small)
    assert small.states("a")[0] == "leased"
    assert "free" not in small.states("a")
    assert small.answer(lease, "t2") == "stored"
    done = small.write(claims.finish, lease.id, small.now)
    assert done is not None
    assert done.state == "complete"


def test_a_clock_that_went_back_is_forgiven_by_the_next_answer(small: Small) -> None:
    lease = small.lease(small.person().id)
    small.now += 1e6  # the clock is far ahead for one answer
    small.answer(lease, "t1")
    small.now -= 1e6 - 10
    small.answer(lease, "t2")
    small.now += 200
    assert _sweep(small).abandoned == (lease.id,)
