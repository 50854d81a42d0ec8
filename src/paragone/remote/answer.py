"""`Answer`: what came of one request, or why nothing did."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Answer", "no_answer"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came of one request, all its tries together."""

    status: int | None
    """HTTP status of the last try; None where no answer came."""
    body: bytes
    headers: Mapping[str, str]
    """In lower case."""
    seconds: float
    """From the first try to the end of the last, pauses among it."""
    tries: int
    """Requests that were sent."""
    cost: float
    """What these tries may have cost, at the price that was told; a time-out may have been charged and counts."""
    reason: str = ""
    """Why there is no good answer, in one line; empty where the status is 200 to 299."""
    capped: bool = False
    """The budget did not allow (another) try."""

    @property
    def ok(self) -> bool:
        """Whether a good answer came."""
        return not self.reason

    def json(self) -> Any:
        """The body as JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


def no_answer(reason: str, *, seconds: float = 0.0, tries: int = 1, cost: float = 0.0, capped: bool = False) -> Answer:
    """Return an answer without status and body.

    Args:
        reason: why none came, in one line.
        seconds: that were waited.
        tries: requests that were sent.
        cost: what they may have cost.
        capped: the budget did not allow a try.
    """
    return Answer(
        status=None, body=b"", headers={}, seconds=seconds, tries=tries, cost=cost, reason=reason, capped=capped
    )
