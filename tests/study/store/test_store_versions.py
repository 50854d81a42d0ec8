"""A version is frozen once; a new one takes the free leases away from the old."""

from __future__ import annotations

from paragone.study.store import claims, versions
from paragone.study.store.tables import lease
from store_world import LEASES, Small

PLAN = b"trial,sheet\n1,a\n"


def _freeze(small: Small, name: str, leases: list[tuple[str, str]] = LEASES) -> int:
    return small.write(versions.freeze, f'{{"name": "{name}"}}', PLAN, b"{}", leases, small.now)


def _states(small: Small, version_id: int) -> list[str]:
    query = lease.select().where(lease.c.version_id == version_id).order_by(lease.c.id)
    return [row.state for row in small.store.read_now(lambda c: c.execute(query).all())]


def test_a_version_comes_back_as_it_was(small: Small) -> None:
    made = _freeze(small, "first")
    version = small.read(versions.current)
    assert version is not None
    assert (version.id, version.study, version.plan, version.items) == (made, '{"name": "first"}', PLAN, b"{}")
    assert small.read(versions.get, made) == version
    assert small.read(versions.get, made + 99) is None


def test_freezing_the_same_again_changes_nothing(small: Small) -> None:
    made = _freeze(small, "first")
    small.lease(small.person().id)
    before = _states(small, made)
    assert _freeze(small, "first") == made
    assert _states(small, made) == before == ["leased", *["free"] * 5]


def test_moving_a_byte_from_one_part_to_the_next_is_another_version(small: Small) -> None:
    one = small.write(versions.freeze, "{}", b"ab", b"c", [], 0.0)
    assert one != small.write(versions.freeze, "{}", b"a", b"bc", [], 0.0)


def test_a_new_version_retires_the_free_leases_of_the_old(small: Small) -> None:
    old = small.version
    held = small.lease(small.person().id)
    new = _freeze(small, "second")
    assert _states(small, old) == ["leased", *["retired"] * 5]
    assert _states(small, new) == ["free"] * 6
    assert small.lease(small.person().id).version_id == new
    assert small.write(claims.finish, held.id, small.now) is not None, "whoever is under way stays on their version"


def test_an_old_version_can_come_back(small: Small) -> None:
    old = small.version
    small.lease(small.person().id)
    new = _freeze(small, "second")
    assert small.write(versions.freeze, '{"name": "small"}', b"trial,sheet\n", b"{}", LEASES, small.now) == old
    current = small.read(versions.current)
    assert current is not None
    assert current.id == old
    assert _states(small, old) == ["leased", *["free"] * 5]
    assert _states(small, new) == ["retired"] * 6


def test_an_old_version_comes_back_with_its_replacements(small: Small) -> None:
    taken = small.lease(small.person().id)
    small.write(claims.exclude, taken.id, small.now, who="ann", why="x")
    assert small.states("a") == ["excluded", "free"]
    _freeze(small, "second", [("1", "z")])
    assert small.states("a") == ["excluded", "retired"]
    small.write(versions.freeze, '{"name": "small"}', b"trial,sheet\n", b"{}", LEASES, small.now)
    assert small.states("a") == ["excluded", "free"]


def test_a_restart_deals_nothing_that_was_excluded_without_a_copy(small: Small) -> None:
    taken = small.lease(small.person().id)
    small.write(claims.exclude, taken.id, small.now, who="ann", why="x", replace=False)
    small.write(versions.freeze, '{"name": "small"}', b"trial,sheet\n", b"{}", LEASES, small.now)
    assert small.states("a") == ["excluded"]


def test_a_lease_named_twice_is_dealt_twice(small: Small) -> None:
    new = _freeze(small, "double", [("1", "x"), ("1", "x"), ("1", "y")])
    assert _states(small, new) == ["free"] * 3
    assert _freeze(small, "double", [("1", "x"), ("1", "x"), ("1", "y")]) == new
    assert _states(small, new) == ["free"] * 3


def test_what_is_taken_can_be_left_out_of_a_new_version(small: Small) -> None:
    first, second = small.lease(small.person().id), small.lease(small.person().id)
    small.write(claims.finish, first.id, small.now)
    small.write(claims.abandon, second.id, small.now, why="returned")
    assert [(t.owner, t.state) for t in small.read(versions.taken)] == [("a", "complete")]
