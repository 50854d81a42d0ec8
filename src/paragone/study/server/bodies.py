"""Bodies of requests: read whole, given again to the application, and held to text that a database can keep."""

from __future__ import annotations

import json
import re

from starlette.types import Message, Receive

from .refusals import Refusal

__all__ = ["Replay", "check_text", "read_body"]

_ODD = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)")


class Replay:
    """A `receive` that gives a body that was read before, then what the server says."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        """Give the next message."""
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


async def read_body(receive: Receive, most: int) -> bytes:
    """Return the whole body.

    Raises:
        Refusal: it is larger than `most` bytes, or who sent it hung up.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal(400, "bad-request")
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > most:
            raise Refusal.too_large(most)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def check_text(body: bytes) -> None:
    """Refuse JSON with text that no database holds: NUL, or half of a surrogate pair.

    Raises:
        Refusal: it holds such text.
    """
    odd = b"\x00" in body
    if not odd and _ODD.search(body):
        try:
            odd = not _is_storable(json.loads(body))
        except (ValueError, RecursionError):
            odd = True
    if odd:
        raise Refusal(400, "bad-request")


def _is_storable(value: object) -> bool:
    if isinstance(value, str):
        return not any(letter == "\x00" or "\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, dict):
        return all(_is_storable(key) and _is_storable(held) for key, held in value.items())
    return all(map(_is_storable, value)) if isinstance(value, list) else True
