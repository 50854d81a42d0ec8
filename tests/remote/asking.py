"""One request to a service on this machine, without waiting."""

from __future__ import annotations

from make.adapters.stub_service import Said
from paragone.remote import Answer, Remote

__all__ = ["GOOD", "ask"]

GOOD = Said(body=b'{"well": true}')


def ask(url: str, *, pauses: list[float] | None = None, price: float = 0.0, **options: object) -> Answer:
    """Post a small form; pauses are noted and not waited for."""
    waited: list[float] = [] if pauses is None else pauses
    with Remote(url, pause=waited.append, **options) as service:  # type: ignore[arg-type]
        return service.post("images/edits", fields={"a": "b"}, price=price)
