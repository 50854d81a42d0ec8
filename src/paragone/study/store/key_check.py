"""Which key a store was begun with, so that it never goes on under another one unnoticed.

Under another key nobody who comes back is known, their links lead nowhere, and sealed ids cannot be opened. The store
keeps a check of its key, derived for this one purpose, from which neither the key nor any other secret follows.
"""

from __future__ import annotations

import json

import sqlalchemy as sa

from ...errors import BadInput
from . import events
from .keys import Keys
from .tables import event

__all__ = ["hold_to", "is_another", "knows_a_key"]

_KIND = "study-key"
_DIGITS = 32  # hexadecimal, 128 bits


def knows_a_key(c: sa.Connection) -> bool:
    """Whether the store was begun with a key."""
    return bool(_checks(c))


def is_another(c: sa.Connection, keys: Keys) -> bool:
    """Whether the store was begun with another key than this one."""
    known = _checks(c)
    return bool(known) and known[-1] != _check_of(keys)


def hold_to(c: sa.Connection, keys: Keys, now: float, *, anew: bool = False) -> None:
    """Hold the store to its key, and give it this one if it has none yet.

    Args:
        c: a connection of a job that writes.
        keys: the key in hand.
        now: UTC epoch seconds.
        anew: take this key from now on, whichever came before.

    Raises:
        BadInput: the store was begun with another key.
    """
    mine = _check_of(keys)
    known = _checks(c)
    if known and known[-1] == mine:
        return
    if not known or anew:
        name = f"{_KIND}-{len(known)}"  # of processes that start together one is first, and the others are held to it
        if events.append(c, _KIND, now, client_id=name, body={"check": mine}) == "stored":
            return
        known = _checks(c)
        if known and known[-1] == mine:
            return
    raise BadInput(
        "study.key is not the key that the store was begun with; put that one back, from a backup of the folder, or give "
        "--new-key if it is lost: then nobody who was here before is known again",
        where="study.key",
    )


def _check_of(keys: Keys) -> str:
    return keys.derived("check").hex()[:_DIGITS]


def _checks(c: sa.Connection) -> list[str]:
    rows = c.execute(sa.select(event.c.body).where(event.c.kind == _KIND).order_by(event.c.id))
    return [str(json.loads(body)["check"]) for (body,) in rows]
