"""How simulated participants come in: by a pass that only the holder of the study's key can make.

They take the way that everybody takes, and are named `sim-0001` in the store, so that every table, page and score that
rests on them says so.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import sqlalchemy as sa

from ..pictures import same
from ..store import people
from ..store.tables import lease, participant
from .pseudonyms import person_hmac

__all__ = ["PASS", "known_by_pass", "passes", "people_with_sheets", "seat_of"]

PASS = "simulated"
"""URL parameter of the pass: `/?simulated=<pass>` lets the participant in; with `&seat=1` it tells their sheets."""


def passes(hmac: Callable[[str], str], n: int) -> list[str]:
    """Return passes for n simulated participants.

    Args:
        hmac: text to its HMAC under the study's key.
        n: how many, >= 0.
    """
    named = [secrets.token_hex(8) for _ in range(n)]
    return [f"{person}.{_signed(hmac, person)}" for person in named]


def known_by_pass(hmac: Callable[[str], str], given: str) -> str | None:
    """Return what the store knows the participant of a pass by; None: it is no pass of this study."""
    person, _, signed = given[:200].partition(".")
    if not person or not same(signed, _signed(hmac, person)):
        return None
    return person_hmac(hmac, people.SIMULATED, person)


def seat_of(c: sa.Connection, known_by: str) -> dict[str, str | int | None]:
    """Return name, lease, stage and owner of a simulated participant; null where they have none (yet).

    Args:
        c: a connection.
        known_by: what the store knows the participant by.
    """
    last = (
        sa.select(participant.c.name, lease.c.id, lease.c.stage, lease.c.owner)
        .select_from(participant)
        .outerjoin(lease, lease.c.participant_id == participant.c.id)
        .where(participant.c.platform == people.SIMULATED, participant.c.external_hmac == known_by)
        .order_by(lease.c.taken_at.desc())
        .limit(1)
    )
    row = c.execute(last).first()
    names = ("participant", "lease", "stage", "owner")
    return dict(zip(names, row, strict=True)) if row else dict.fromkeys(names)


def people_with_sheets(c: sa.Connection) -> int:
    """How many participants who are not simulated have sheets."""
    real = sa.select(sa.func.count(sa.distinct(participant.c.id))).join(
        lease, lease.c.participant_id == participant.c.id
    )
    return int(c.execute(real.where(participant.c.platform != people.SIMULATED)).scalar_one())


def _signed(hmac: Callable[[str], str], person: str) -> str:
    return hmac(f"simulated\n{person}")
