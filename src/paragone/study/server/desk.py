"""The desk: what one server process knows while it serves, and where a token's person is.

Everything that matters is in the store. What is kept here is kept for speed and may be lost or out of date: frozen versions,
whether the study is paused, and the sittings of live tokens (the store itself checks that a token is the live one).
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from ...design.pages import Platform
from ..cards import cards_of
from ..flow import Given, Happened, Held, Where, where
from ..frozen import Frozen, Trial
from ..pictures import PictureCache, Plate, plate_set, public_id
from ..store import Store, claims, events, people, versions
from ..store.tables import answer, participant, visit
from .entry import stage_asked
from .limits import Limits
from .profiles import PRESETS, Profile

__all__ = [
    "PLATE",
    "PRACTICE",
    "TUTORIAL",
    "Desk",
    "Facts",
    "ServerSettings",
    "Sitting",
    "current_lease",
    "given_on",
    "look",
    "names_people",
]

_MOST_SITTINGS = 1024  # our choice: about 100 KB each on a sheet of 150 trials
PRACTICE, TUTORIAL, PLATE = "\x1fpractice ", "\x1ftutorial ", "\x1fplate "
"""What stands before the number of a thing that is no trial, in its public id; no id of the plan has such a character."""


@dataclass(frozen=True)
class ServerSettings:
    """How a study is served."""

    preview: bool = False
    """Everything can be clicked and nothing is kept."""
    lab: bool = False
    """One machine, one participant after another."""
    public_url: str | None = None
    """Address that participants use; None: whatever host they name."""
    host: str = "127.0.0.1"
    """Address that the server listens on."""
    proxies: tuple[str, ...] = ()
    """Addresses of proxies whose forwarded headers are believed."""


def names_people(settings: ServerSettings, profile: Profile, platform: Platform) -> bool:
    """Return whether the pages speak of a panel: only where one names the people. A preview shows what they will see.

    Args:
        settings: how the study is served.
        profile: where participants come from, as it is served.
        platform: `[platform]` of study.toml.
    """
    preview = settings.preview and not settings.lab
    return bool(profile.person or (preview and (platform.person or PRESETS[platform.profile].person)))


class Facts(NamedTuple):
    """What the store says about a token's person."""

    visit: people.Visit
    language: str
    lease: claims.Lease | None
    version: int
    """Id of the version that the lease belongs to, else of the one that is served."""
    frozen: Frozen
    events: Sequence[events.Event]
    where: Where
    leases: Sequence[claims.Lease] = ()
    """All that the person has, in the order in which they were made."""

    @property
    def stages(self) -> list[str]:
        """Stages of which the person may be given a lease, the preferred one first: the one that their address asked for,
        else all that they have not done, where they may do more than one."""
        done = {lease.stage for lease in self.leases}
        if done and not self.frozen.study.people.both_stages:
            return []
        wanted = stage_asked(self.events)
        return [name for name in self.frozen.stages if name not in done and wanted in (None, name)]

    @property
    def sessions(self) -> tuple[int, int, int]:
        """Sessions of other leases that are done, of this one, and of the stages that may follow."""
        stages = self.frozen.stages
        others = [lease.stage for lease in self.leases if self.lease is None or lease.id != self.lease.id]
        before = sum(getattr(stages.get(name), "sessions", 1) for name in others)
        beyond = sum(getattr(stages[name], "sessions", 1) for name in self.stages) if self.lease else 0
        return before, self.where.sessions, beyond


@dataclass(slots=True)
class Sitting:
    """A session under way, as the hot path needs it."""

    token: str
    """SHA-256 of the bearer token."""
    visit: people.Visit
    language: str
    lease: claims.Lease
    frozen: Frozen
    trials: tuple[Trial, ...]
    public: list[str]
    """Public id of each trial."""
    index: dict[str, int]
    """Public id -> place of the trial."""
    others: dict[str, tuple[str, int]]
    """Public id -> ('practice' | 'tutorial' | 'plate', number)."""
    phase: str
    frontier: int
    gate: int
    """Trials before this place may be answered."""
    at: float
    """When the store was asked, by the server's clock."""
    answered: set[tuple[int, str]] = field(default_factory=set)

    def note(self, place: int, criteria: Sequence[str]) -> None:
        """Remember answers that are stored."""
        self.answered.update((place, name) for name in criteria)
        while self.frontier < len(self.trials) and all(
            (self.frontier, name) in self.answered for name in self.frozen.criteria
        ):
            self.frontier += 1


class Desk:
    """What a server process knows.

    Args:
        store: where everything is kept.
        key: secret from which public ids follow.
        folder: where pictures lie.
        settings: how the study is served.
        profile: where participants come from.
        codes: outcome -> completion code.
        unseal: opens what the entry sealed.
        clock: UTC epoch seconds.
    """

    def __init__(
        self,
        store: Store,
        key: bytes,
        folder: Path,
        settings: ServerSettings,
        profile: Profile,
        codes: Mapping[str, str],
        *,
        unseal: Callable[[bytes], bytes],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.key = key
        self.folder = folder
        self.settings = settings
        self.profile = profile
        self.codes = codes
        self.unseal = unseal
        self.clock = clock
        self.pictures = PictureCache()
        self.limits = Limits()
        self.paused = False
        self.current = 0
        self._versions: dict[int, Frozen] = {}
        self._sittings: OrderedDict[str, Sitting] = OrderedDict()

    def version(self, c: sa.Connection, version_id: int) -> Frozen:
        """A frozen version by its id, from the store where it is not known here."""
        known = self._versions.get(version_id)
        if known is None:
            row = versions.get(c, version_id)
            assert row is not None, "a lease names a version that the store does not have"
            known = Frozen.of_parts(row.study, row.plan, row.items, folder=self.folder)
            self._versions[version_id] = known
        return known

    def news(self, c: sa.Connection) -> None:
        """Look up which version is served and whether the study is paused."""
        now = c.execute(_NEWS).one()
        assert now.version is not None, "no version was frozen before the study was served"
        if now.version != self.current:
            self.version(c, now.version)
            self.current = now.version
        self.paused = now.pause == "admin.pause"

    @property
    def frozen(self) -> Frozen:
        """The version that new participants get."""
        return self._versions[self.current]

    @property
    def named(self) -> bool:
        """Whether the pages speak of a panel, which names the people."""
        return names_people(self.settings, self.profile, self.frozen.study.platform)

    def sitting(self, token: str) -> Sitting | None:
        """The sitting of a token, where it is known here."""
        found = self._sittings.get(token)
        if found is not None:
            self._sittings.move_to_end(token)
        return found

    def forget(self, token: str) -> None:
        """Something happened: look the token up again next time."""
        self._sittings.pop(token, None)

    def seat(self, token: str, facts: Facts) -> Sitting | None:
        """Remember where a token's person is; None: they have no session under way."""
        at, lease = facts.where, facts.lease
        if lease is None or at.sheet is None or not facts.visit.live:
            self.forget(token)
            return None
        before = self._sittings.get(token)
        if before is not None and before.lease.id == lease.id and before.trials is at.sheet.trials:
            public, index, others = before.public, before.index, before.others
        else:
            public = [public_id(self.key, lease.id, trial.trial) for trial in at.sheet.trials]
            index = {name: place for place, name in enumerate(public)}
            others = self._others(lease, facts.frozen)
        place = {trial.trial: number for number, trial in enumerate(at.sheet.trials)}
        seated = Sitting(
            token=token,
            visit=facts.visit,
            language=facts.language,
            lease=lease,
            frozen=facts.frozen,
            trials=at.sheet.trials,
            public=public,
            index=index,
            others=others,
            phase=at.phase,
            at=self.clock(),
            frontier=at.frontier,
            gate=at.gate,
            answered={(place[trial], criterion) for trial, criterion in at.given},
        )
        self._sittings[token] = seated
        while len(self._sittings) > _MOST_SITTINGS:
            self._sittings.popitem(last=False)
        return seated

    def practice_id(self, lease: int, number: int) -> str:
        """Public id of a training question."""
        return public_id(self.key, lease, f"{PRACTICE}{number}")

    def tutorial_id(self, lease: int, number: int) -> str:
        """Public id of a tutorial card."""
        return public_id(self.key, lease, f"{TUTORIAL}{number}")

    def plate_id(self, lease: int, number: int) -> str:
        """Public id of a colour-vision plate."""
        return public_id(self.key, lease, f"{PLATE}{number}")

    @staticmethod
    def plates(frozen: Frozen) -> list[Plate]:
        """The colour-vision plates of a study, the same for everybody; none: it shows none."""
        return plate_set(frozen.study.seed, frozen.study.display.plates)

    def _others(self, lease: claims.Lease, frozen: Frozen) -> dict[str, tuple[str, int]]:
        kinds = (
            ("practice", self.practice_id, len(frozen.practice.get(lease.stage, ()))),
            ("tutorial", self.tutorial_id, len(cards_of(frozen, lease.stage))),
            ("plate", self.plate_id, frozen.study.display.plates),
        )
        return {name(lease.id, n): (kind, n) for kind, name, count in kinds for n in range(count)}


_NEWS = sa.text(
    "SELECT (SELECT id FROM version ORDER BY turn DESC LIMIT 1) AS version, "
    "(SELECT kind FROM event WHERE kind IN ('admin.pause', 'admin.resume') ORDER BY id DESC LIMIT 1) AS pause"
)


def look(c: sa.Connection, desk: Desk, token: str, now: float) -> Facts | None:
    """Return what the store says about a token's person; None: nobody has that token.

    Args:
        c: a connection.
        desk: what this process knows.
        token: SHA-256 of the bearer token.
        now: the server's clock.
    """
    row = c.execute(_PERSON, {"token": token}).first()
    if row is None:
        return None
    here = people.Visit(row.id, row.participant_id, row.name, row.ended_at is None, row.submission_hmac)
    happened = events.of_participant(c, here.participant_id)
    leases = claims.leases_of(c, here.participant_id)
    lease = current_lease(leases)
    version = desk.current if lease is None else lease.version_id
    frozen = desk.version(c, version)
    given = [] if lease is None else given_on(c, frozen, lease.id)
    at = where(
        frozen,
        None if lease is None else Held(lease.id, lease.stage, lease.owner, lease.state),
        [Happened(e.kind, e.at, e.lease_id, e.session, e.body) for e in happened],
        given,
        now,
    )
    language = row.language or frozen.study.pages.languages[0]
    return Facts(here, language, lease, version, frozen, happened, at, leases)


_PERSON = (
    sa.select(
        visit.c.id, visit.c.participant_id, visit.c.ended_at, visit.c.submission_hmac, participant.c.name,
        participant.c.language,
    )
    .join_from(visit, participant)
    .where(visit.c.token_sha256 == sa.bindparam("token"))
)  # fmt: skip
_GIVEN = sa.select(answer.c.trial, answer.c.criterion, answer.c.revision, answer.c.value, answer.c.at).where(
    answer.c.lease_id == sa.bindparam("lease")
)
_TICKED = sa.select(
    answer.c.trial, answer.c.criterion, answer.c.revision, answer.c.value, answer.c.at, answer.c.body
).where(answer.c.lease_id == sa.bindparam("lease"))


def given_on(c: sa.Connection, frozen: Frozen, lease: int) -> list[Given]:
    """Return the answers on a lease, in any order; what was ticked is among them where the study has boxes to tick.

    Args:
        c: a connection.
        frozen: the lease's version.
        lease: its id.
    """
    if not frozen.study.pages.distortions:
        return [Given(*row) for row in c.execute(_GIVEN, {"lease": lease}).all()]
    rows = c.execute(_TICKED, {"lease": lease}).all()
    return [Given(*row[:5], tuple(json.loads(row[5]).get("distortions") or ())) for row in rows]


def current_lease(leases: Sequence[claims.Lease]) -> claims.Lease | None:
    """The lease that a person works on: the one under way, else the last one; None: they have none."""
    going = [lease for lease in leases if lease.state in ("leased", "abandoned")]
    every = going or list(leases)
    return every[-1] if every else None
