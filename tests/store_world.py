"""A small study in a store, and its people, for tests."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable
from typing import Any, TypeVar

from paragone.study.store import Store, answers, claims, people, versions

T = TypeVar("T")

LEASES = [("1", "a"), ("1", "b"), ("1", "c"), ("1", "d"), ("2", "e"), ("2", "f")]


def sha(text: str) -> str:
    """SHA-256, as secrets are stored."""
    return hashlib.sha256(text.encode()).hexdigest()


class Small:
    """A store with one version; stage 1 has four leases, stage 2 has two. The clock is `now`."""

    def __init__(self, store: Store, leases: list[tuple[str, str]] = LEASES) -> None:
        self.store = store
        self.now = 1000.0
        self.version = self.write(versions.freeze, '{"name": "small"}', b"trial,sheet\n", b"{}", leases, self.now)
        self._ids = itertools.count()

    def write(self, job: Callable[..., T], *given: Any, **named: Any) -> T:
        """Run a job with arguments."""
        return self.store.write_now(lambda c: job(c, *given, **named))

    def read(self, job: Callable[..., T], *given: Any, **named: Any) -> T:
        """Run a reading job with arguments."""
        return self.store.read_now(lambda c: job(c, *given, **named))

    def person(self, name: str = "", platform: str = "prolific") -> people.Participant:
        """Someone who arrives and has a live token, sha('token NAME')."""
        name = name or f"someone-{next(self._ids)}"
        person = self.write(people.arrive, platform, sha(name), b"sealed", "en", self.now, purge_after=self.now + 100)
        key = sha(f"key {name} {next(self._ids)}")
        self.write(people.open_visit, person.id, key, sha(f"cookie {key}"), None, self.now)
        taken = self.write(people.take_token, key, self.token(person.id), self.now)
        assert taken is not None
        return person

    @staticmethod
    def token(participant_id: int) -> str:
        """SHA-256 of a person's token."""
        return sha(f"token {participant_id}")

    def lease(self, participant_id: int, *stages: str, at_once: int = 100) -> claims.Lease:
        """What the person claims; it must be there."""
        lease = self.write(claims.claim, participant_id, stages or ("1",), at_once, self.now)
        assert lease is not None
        return lease

    def answer(self, lease: claims.Lease, trial: str = "t1", value: str = "left", **other: Any) -> str:
        """Answer one trial; return the status."""
        row = answers.NewAnswer(
            other.pop("client_id", f"id-{next(self._ids)}"), trial, other.pop("criterion", "quality"),
            other.pop("revision", 0), value, other.pop("seconds", 1.5), other.pop("body", '{"input": "key"}'),
        )  # fmt: skip
        assert not other
        assert lease.participant_id is not None
        token = self.token(lease.participant_id)
        (stored,) = self.write(answers.append, token, lease.id, lease.participant_id, [row], self.now)
        assert stored.client_id == row.client_id
        return stored.status

    def state(self, lease: claims.Lease) -> str:
        """The state of a lease as it is stored."""
        found = self.read(claims.get, lease.id)
        assert found is not None
        return found.state

    def states(self, owner: str) -> list[str]:
        """States of all copies of an owner, in the order they were dealt."""
        from paragone.study.store.tables import lease

        query = lease.select().where(lease.c.owner == owner).order_by(lease.c.copy)
        return [row.state for row in self.store.read_now(lambda c: c.execute(query).all())]
