"""`next_pause`: whether and when to ask again."""

from __future__ import annotations

import email.utils
import random
import time

from .answer import Answer

__all__ = ["next_pause"]

_LONGEST_PAUSE = 120.0  # seconds; a service that asks for more is given up
_FIRST_PAUSE = 1.0  # seconds; doubles with every try
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_FINAL_CODES = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")


def next_pause(answer: Answer, number: int, jitter: random.Random) -> float | None:
    """Return the seconds until another try can help; None where none can.

    Args:
        answer: what the last try gave.
        number: tries before that one.
        jitter: draws a share of the pause, so that many who wait do not come back together.

    Returns:
        What Retry-After names, up to 120 s; otherwise 0.5 to 1 times a pause that begins at 1 s and doubles.
    """
    if answer.ok or (answer.status is not None and answer.status not in _AGAIN):
        return None
    if any(code in answer.reason for code in _FINAL_CODES):
        return None
    asked = _retry_after(answer.headers.get("retry-after", ""))
    if asked is not None:
        return asked if asked <= _LONGEST_PAUSE else None
    return float(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**number) * jitter.uniform(0.5, 1.0))


def _retry_after(text: str) -> float | None:
    """Seconds out of a Retry-After header, which holds seconds or a date; None where it is neither."""
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
