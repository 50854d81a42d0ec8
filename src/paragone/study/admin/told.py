"""The line that a page shows after something was done: said by a word in the address, never by its text."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

from starlette.requests import Request

from .deeds import ACTS

__all__ = ["Told", "after", "told_of"]

_WORDS = {
    "added": "Added.", "removed": "Their entry, sessions and tokens are gone.", "password": "The password is changed.",
    "token-ended": "The token has ended.",
}  # fmt: skip
_PAST = {
    "exclude-person": "Excluded: the answers are kept and no longer count.", "restore-person": "Restored.",
    "screen-out": "Screened out: their page gives them the code.", "technical": "Ended: their page gives them the code.",
    "exclude": "Excluded: the answers are kept and no longer count.", "restore": "Restored.", "accept": "Accepted.",
    "release": "Given back.", "replace": "A copy is handed out next.", "pause": "The study is paused.",
    "resume": "The study goes on.", "unblind": "Names are shown.", "blind": "Letters are shown.",
    "forget": "Forgotten: only the number of deleted rows is kept.",
}  # fmt: skip


class Told(NamedTuple):
    """What was done."""

    text: str
    undo: str
    """Address that asks for the act that takes it back; empty: none does."""


def after(there: str, act: str, target: str) -> str:
    """The address of a page that tells what was done."""
    return f"{there}{'&' if '?' in there else '?'}told={quote(act)}" + (f"&on={quote(target)}" if target else "")


def told_of(request: Request) -> Told | None:
    """What the address says was done; None: nothing, or nothing known."""
    word, target = request.query_params.get("told", ""), request.query_params.get("on", "")[:80]
    if word in _WORDS:
        return Told(_WORDS[word], "")
    if word not in ACTS:
        return None
    undo = ACTS[word].undo
    return Told(_PAST[word], f"/admin/ask/{undo}" + (f"/{quote(target, safe='')}" if target else "") if undo else "")
