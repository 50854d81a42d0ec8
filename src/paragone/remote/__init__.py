"""Ask a service over HTTP: retries with growing pauses, time-outs, and a cap on what may be spent.

Nothing is raised for what a service does: every request ends in an `Answer` that says what came, or in one line why
nothing did. A key goes into the request and nowhere else; where a service repeats it, it is struck out.

`Remote` asks, with patience (`patience`), by single tries (`sending`) on connections that can be cut (`line`); `Budget`
counts before each of them.
"""

from __future__ import annotations

from .answer import Answer
from .budget import Budget
from .sending import MAX_ANSWER
from .service import Remote

__all__ = ["MAX_ANSWER", "Answer", "Budget", "Remote"]
