"""Whatever people, clocks and the desk do to leases, in whatever order: the rules of a lease's life hold."""

from __future__ import annotations

from collections import Counter, defaultdict

import hypothesis.strategies as st
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from paragone.study.store import Store, answers, claims, people, versions
from paragone.study.store.tables import METADATA, answer, door, event, lease
from store_world import Small

LEASES = [("1", "a"), ("1", "b"), ("2", "c"), ("2", "d")]
TAKEN = ("leased", "complete", "accepted")
REPLACED = {("free", "retired")}
ABANDONED = {("leased", "abandoned"), (None, "free")}
REVIVED = {("abandoned", "leased"), *REPLACED}
MOVES = {
    "claim": {("free", "leased"), *REVIVED},
    "finish": {("leased", "complete"), ("abandoned", "complete"), *REPLACED},
    "accept": {("complete", "accepted")},
    "exclude": {*((state, "excluded") for state in (*TAKEN, "abandoned")), (None, "free")},
    "restore": {("excluded", "complete"), ("excluded", "leased"), *REPLACED},
    "release": {("leased", "free"), *ABANDONED, *REPLACED},
    "abandon": ABANDONED,
    "replace": ABANDONED,
    "sweep": {*ABANDONED, *REVIVED},
    "forget": {*((state, "retired") for state in (*TAKEN, "abandoned", "excluded")), (None, "free")},
    "restart": set(),
}
"""What a call may change: (state before, state after) of any lease; None: it was not there. Beside these, nothing."""


def _emptied(c: sa.Connection) -> None:
    c.execute(door.update().values(open=1))
    c.execute(lease.update().values(replaces=None))
    for table in reversed(METADATA.sorted_tables):
        if table is not door:
            c.execute(table.delete())
    c.execute(door.update().values(open=0))


class LeaseLife(RuleBasedStateMachine):
    store: Store

    def __init__(self) -> None:
        super().__init__()
        self.store.write_now(_emptied)
        self.small = Small(self.store, LEASES)
        self.people: list[int] = []
        self.forgotten: set[int] = set()
        self.before = self._states()
        self.stored: dict[str, int] = {}
        self.number = 0

    def _states(self) -> dict[int, str]:
        query = sa.select(lease.c.id, lease.c.state)
        return {row.id: row.state for row in self.store.read_now(lambda c: c.execute(query).all())}

    def _moved(self, call: str) -> None:
        """Hold what has changed to what the call may change."""
        after = self._states()
        changed = {(self.before.get(one), state) for one, state in after.items() if self.before.get(one) != state}
        assert changed <= MOVES[call], f"{call} did {changed - MOVES[call]}"
        self.before = after

    def _one(self, data: st.DataObject, *states: str) -> int:
        """A lease, of these states if there is one."""
        fit = [one for one, state in self.before.items() if not states or state in states]
        return data.draw(st.sampled_from(sorted(fit or self.before)))

    @rule()
    def arrive(self) -> None:
        self.people.append(self.small.person().id)

    @rule(seconds=st.sampled_from([-3600.0, -1.0, 1.0, 30.0, 90.0, 200.0, 1e5]))
    def time_passes(self, seconds: float) -> None:
        self.small.now += seconds

    @precondition(lambda self: self.people)
    @rule(data=st.data(), stages=st.permutations(["1", "2"]), at_once=st.sampled_from([1, 2, 100]))
    def claim(self, data: st.DataObject, stages: list[str], at_once: int) -> None:
        person = data.draw(st.sampled_from(self.people))
        held = [one.id for one in self.small.read(claims.leases_of, person) if one.state in ("leased", "abandoned")]
        got = self.small.write(claims.claim, person, stages, at_once, self.small.now)
        self._moved("claim")
        if person in self.forgotten:
            assert got is None
        elif held:
            assert got is not None
            assert got.id in held
        elif got is not None:
            assert Counter(self.before.values())["leased"] <= at_once
        if got is not None:
            assert (got.state, got.participant_id) == ("leased", person)

    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        found = self.small.read(claims.get, self._one(data, "leased", "abandoned"))
        assert found is not None
        if found.participant_id is None:
            return
        self.number += 1
        row = answers.NewAnswer(f"c{self.number}", f"t{self.number}", "q", 0, "left", 1.0, "{}")
        token = self.small.token(found.participant_id)
        given = (token, found.id, found.participant_id, [row], self.small.now)
        (told,) = self.small.write(answers.append, *given)
        open_to = found.state in ("leased", "abandoned")
        assert told.status == ("stored" if open_to else "gone")
        assert self.small.write(answers.append, *given)[0].status == ("known" if open_to else "gone")
        if open_to:
            self.stored[row.client_id] = found.participant_id

    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        one = self._one(data, "leased", "abandoned")
        self.small.write(claims.finish, one, self.small.now)
        self._moved("finish")

    @rule(data=st.data())
    def accept(self, data: st.DataObject) -> None:
        self.small.write(claims.accept, self._one(data, "complete"))
        self._moved("accept")

    @rule(data=st.data())
    def exclude(self, data: st.DataObject) -> None:
        self.small.write(claims.exclude, self._one(data, *TAKEN), self.small.now, who="ann", why="x")
        self._moved("exclude")

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        self.small.write(claims.restore, self._one(data, "excluded"), self.small.now, who="ann", why="x")
        self._moved("restore")

    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        self.small.write(claims.release, self._one(data, "leased"), self.small.now)
        self._moved("release")

    @rule(data=st.data())
    def abandon(self, data: st.DataObject) -> None:
        self.small.write(claims.abandon, self._one(data, "leased"), self.small.now, why="returned")
        self._moved("abandon")

    @rule(data=st.data())
    def replace(self, data: st.DataObject) -> None:
        self.small.write(claims.replace, self._one(data, "leased", "abandoned"), self.small.now, who="ann", why="x")
        self._moved("replace")

    @rule(data=st.data(), hours=st.sampled_from([None, 0.01, 24.0]))
    def away(self, data: st.DataObject, hours: float | None) -> None:
        until = None if hours is None else self.small.now + hours * 3600
        self.small.write(claims.away, self._one(data, "leased"), until, self.small.now)

    @rule()
    def sweep(self) -> None:
        self.small.write(claims.sweep, self.small.now, 60.0)
        self._moved("sweep")

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        person = data.draw(st.sampled_from(self.people))
        self.small.write(people.forget, f"p-{person:04d}", self.small.now)
        self.forgotten.add(person)
        self.stored = {one: owner for one, owner in self.stored.items() if owner != person}
        self._moved("forget")

    @rule()
    def restart(self) -> None:
        given = ('{"name": "small"}', b"trial,sheet\n", b"{}", LEASES, self.small.now)
        assert self.small.write(versions.freeze, *given) == self.small.version
        self._moved("restart")

    @invariant()
    def one_copy_counts_and_no_free_one_beside_it(self) -> None:
        families: dict[int, list[str]] = defaultdict(list)
        for one in self.store.read_now(lambda c: c.execute(lease.select()).all()):
            families[one.replaces or one.id].append(one.state)
            assert (one.participant_id is None) or one.state != "free"
            assert (one.participant_id is not None) or one.state in ("free", "retired")
            assert one.state != "leased" or one.seen_at is not None
        assert len(families) == len(LEASES)
        for states in families.values():
            taken = sum(state in TAKEN for state in states)
            assert states.count("free") <= 1
            assert not (taken and "free" in states)
            assert taken or "free" in states

    @invariant()
    def nobody_has_two_of_a_stage(self) -> None:
        held = sa.select(lease.c.participant_id, lease.c.stage).where(lease.c.participant_id.is_not(None))
        rows = self.store.read_now(lambda c: [tuple(row) for row in c.execute(held)])
        assert len(rows) == len(set(rows))

    @invariant()
    def exactly_the_acknowledged_answers_are_there(self) -> None:
        there = self.store.read_now(lambda c: set(c.execute(sa.select(answer.c.client_id)).scalars()))
        assert there == set(self.stored)

    @invariant()
    def every_copy_was_told(self) -> None:
        copies = sa.select(sa.func.count()).select_from(lease).where(lease.c.replaces.is_not(None))
        told = sa.select(sa.func.count()).select_from(event).where(event.c.kind == "lease.replaced")
        assert self.store.read_now(lambda c: c.execute(copies).scalar() == c.execute(told).scalar())


def _live(store: Store, examples: int, steps: int) -> None:
    machine = type("LeaseLifeOn", (LeaseLife,), {"store": store})
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=quiet,
            derandomize=True,
        ),
    )


def test_a_lease_lives_by_its_rules(store: Store) -> None:
    _live(store, examples=8, steps=25)


@pytest.mark.slow
def test_a_lease_lives_long_by_its_rules(store: Store) -> None:
    _live(store, examples=60, steps=60)
