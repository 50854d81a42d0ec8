"""`Remote`: one service, asked patiently and within a budget."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

from ..errors import BadConfig
from .address import address_of
from .answer import Answer, no_answer
from .budget import Budget
from .censor import Censor
from .patience import next_pause
from .sending import Sender

__all__ = ["Remote"]

_LONGEST_TIME = 86400.0  # seconds for one try; our choice: a day
_MOST_TRIES = 100  # our choice
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Remote:
    """One service: its address, its key, and how patiently it is asked. Use it in a `with` block; threads may share it."""

    def __init__(
        self,
        base_url: str,
        *,
        key: str = "",
        timeout_s: float = 120.0,
        tries: int = 5,
        budget: Budget | None = None,
        seed: int = 0,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        """Check the address.

        Args:
            base_url: where paths start, for example 'https://api.example.com/v1'.
            key: sent as a bearer token; '' for none.
            timeout_s: longest time for one try, > 0.
            tries: most requests for one answer, >= 1.
            budget: what may be spent; None: no cap.
            seed: the jitter of pauses follows from it.
            pause: waits so many seconds; None: really, until `stop`.

        Raises:
            BadConfig: the address is no http(s) address, holds a name and password, or would send a key unencrypted to
                another machine; a number out of range.
            MissingExtra: httpx is not installed.
        """
        parts = address_of(base_url)
        if key and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise BadConfig(f"base_url '{base_url}' would send the key unencrypted; use https", where="base_url")
        if not (key.isascii() and key.isprintable()) and key:
            raise BadConfig("the key holds characters that no header can carry", where="key_env")
        if not 0 < timeout_s <= _LONGEST_TIME:
            raise BadConfig(f"timeout_s is {timeout_s}; give above 0 to {_LONGEST_TIME:g} seconds", where="timeout_s")
        if not 1 <= tries <= _MOST_TRIES:
            raise BadConfig(f"tries is {tries}; give 1 to {_MOST_TRIES}", where="tries")
        self.base_url = base_url.rstrip("/")
        self.budget = budget or Budget()
        self._tries = tries
        self._censor = Censor(key)
        self._sender = Sender(self.base_url, key=key, timeout_s=timeout_s, censor=self._censor)
        self._stopped = threading.Event()
        self._pause = pause or self._stopped.wait
        self._random = random.Random(seed)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        self.stop()
        self._sender.close()

    def stop(self) -> None:
        """Let requests of other threads end without another try."""
        self._stopped.set()

    def post(
        self,
        path: str,
        *,
        fields: Mapping[str, str],
        files: Sequence[tuple[str, tuple[str, bytes, str]]] = (),
        price: float = 0.0,
    ) -> Answer:
        """Send a form, with files as multipart, and try again where that can help.

        Args:
            path: below the base address, for example 'images/edits'.
            fields: the form's text fields.
            files: (field, (file name, content, media type)) in order; a field may come again.
            price: what one request may cost.

        Returns:
            The answer. Tried again are connection faults, time-outs and statuses such as 429 and 503, after the pause
            that Retry-After names or one that doubles with every try, with jitter.
        """
        call = {"data": dict(fields), "files": list(files) or None}
        return self._patiently("POST", f"{self.base_url}/{path.lstrip('/')}", call, price, with_key=True)

    def get(self, url: str) -> Answer:
        """Fetch a file that the service itself offers, without the key.

        Args:
            url: absolute, or relative to the base address; must lie on the same scheme, host and port.

        Returns:
            The answer; an address elsewhere is not asked, and the reason says so.
        """
        here = urlsplit(self.base_url)
        same = False
        try:
            whole = urljoin(self.base_url + "/", url)
            there = urlsplit(whole)
            same = (here.scheme, here.hostname, here.port) == (there.scheme, there.hostname, there.port)
            fault = self._sender.fault_of(whole)
        except ValueError as error:
            fault = str(error) or "it cannot be read"
        if fault:
            return no_answer(self._censor.line(f"the answer names no address ({fault})"), tries=0)
        if not same:
            host = there.hostname or "none"
            return no_answer(self._censor.line(f"the answer names a picture on another host, {host}"), tries=0)
        return self._patiently("GET", whole, {}, 0.0, with_key=False)

    def without_key(self, text: str) -> str:
        """The text with the key struck out, also where it is coded by base64 or percent signs; fit for UTF-8."""
        return self._censor.without_key(text)

    def _patiently(self, verb: str, url: str, call: Mapping[str, Any], price: float, *, with_key: bool) -> Answer:
        began = time.monotonic()
        cost = 0.0
        last: Answer | None = None
        for number in range(self._tries):
            refusal = self.budget.take(price) if verb == "POST" else ""
            if refusal:
                why = f"{refusal}; before that: {last.reason}" if last else refusal
                return no_answer(why, seconds=time.monotonic() - began, tries=number, cost=cost, capped=True)
            answer, charged = self._sender.once(verb, url, call, with_key=with_key)
            if not charged and price:
                self.budget.give_back(price)
            cost += price if charged else 0.0
            last = _with(answer, seconds=time.monotonic() - began, tries=number + 1, cost=cost)
            pause = next_pause(last, number, self._random)
            if pause is None or number + 1 == self._tries or self._stopped.is_set():
                return last
            self._pause(pause)
        raise AssertionError("the last try returns")


def _with(answer: Answer, *, seconds: float, tries: int, cost: float) -> Answer:
    reason = f"{answer.reason} (after {tries} tries)" if answer.reason and tries > 1 else answer.reason
    return replace(answer, seconds=seconds, tries=tries, cost=cost, reason=reason)
