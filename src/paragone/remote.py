"""Ask a service over HTTP: retries with growing pauses, time-outs, and a cap on what may be spent.

Nothing is raised for what a service does: every request ends in an `Answer` that says what came, or in one line why
nothing did. A key goes into the request and nowhere else; where a service repeats it, it is struck out.
"""

from __future__ import annotations

import email.utils
import json
import math
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

from .errors import BadConfig, MissingExtra
from .tables import whole_file

__all__ = ["MAX_ANSWER", "Answer", "Budget", "Remote"]

MAX_ANSWER = 1 << 28
"""Largest answer that is read, 256 MiB; our choice: an 80-megapixel picture in base64 is smaller."""
_LONGEST_PAUSE = 120.0  # seconds; a service that asks for more is given up
_FIRST_PAUSE = 1.0  # seconds; doubles with every try
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_FINAL_CODES = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


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


@dataclass
class Budget:
    """How much may be spent and asked for; counts before a request is sent, so that a cap is never exceeded.

    With a ledger the count survives a killed run: the file is written, whole, before each request.
    """

    max_cost: float = math.inf
    """In the currency of the prices, >= 0."""
    max_requests: int | None = None
    """Requests of this run; None: no cap."""
    spent: float = 0.0
    """What earlier runs have spent."""
    ledger: Path | None = None
    """File that keeps the count; where it says more than `spent`, it is right."""
    requests: int = 0
    """Requests of this run so far."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        """Take up what the ledger says."""
        if not (self.max_cost >= 0) or (self.max_requests is not None and self.max_requests < 0):
            raise BadConfig("a budget cannot be below 0; leave the cap out for none", where="max_cost")
        if self.ledger is not None:
            try:
                held = json.loads(self.ledger.read_text(encoding="utf-8"))
                self.spent = max(self.spent, float(held["spent"]))
            except (OSError, ValueError, KeyError, TypeError):
                pass

    def take(self, price: float) -> str:
        """Count one request; returns why it may not be sent, or '' where it may.

        Args:
            price: what it may cost, >= 0.
        """
        with self._lock:
            if self.max_requests is not None and self.requests >= self.max_requests:
                return f"max_requests {self.max_requests} is reached"
            if self.spent + price > self.max_cost * (1 + 1e-9):
                return f"max_cost {self.max_cost:g} is reached: {self.spent:g} spent, {price:g} a request"
            self.requests += 1
            self.spent += price
            self._keep()
            return ""

    def give_back(self, price: float) -> None:
        """Take back what a request did not cost after all."""
        with self._lock:
            self.spent = max(0.0, self.spent - price)
            self._keep()

    def _keep(self) -> None:
        if self.ledger is not None and self.spent > 0:
            with whole_file(self.ledger) as aside:
                aside.write_text(json.dumps({"spent": round(self.spent, 9)}) + "\n", encoding="utf-8")


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
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadConfig(f"base_url '{_shown_url(base_url)}' is no http or https address", where="base_url")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise BadConfig(
                f"base_url '{_shown_url(base_url)}' holds a password or query; name the environment variable of the key "
                "in key_env",
                where="base_url",
            )
        if key and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise BadConfig(f"base_url '{base_url}' would send the key unencrypted; use https", where="base_url")
        if not (0 < timeout_s < math.inf) or tries < 1:
            raise BadConfig(f"timeout_s is {timeout_s} and tries {tries}; both must be above 0", where="timeout_s")
        try:
            import httpx
        except ImportError as error:
            raise MissingExtra.library("asking a service", "httpx", "make") from error
        self._httpx = httpx
        self.base_url = base_url.rstrip("/")
        self._key, self._timeout, self._tries = key, timeout_s, tries
        self._stopped = threading.Event()
        self._pause = pause or self._stopped.wait
        self.budget = budget or Budget()
        self._random = random.Random(seed)
        self._client = httpx.Client(
            timeout=httpx.Timeout(timeout_s, connect=min(30.0, timeout_s)), follow_redirects=False
        )

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        self.stop()
        self._client.close()

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
        whole = urljoin(self.base_url + "/", url)
        here, there = urlsplit(self.base_url), urlsplit(whole)
        if (here.scheme, here.hostname, here.port) != (there.scheme, there.hostname, there.port):
            return _no_answer(f"the answer names a picture on another host, {there.hostname or 'none'}", 0.0, 0, 0.0)
        return self._patiently("GET", whole, {}, 0.0, with_key=False)

    def without_key(self, text: str) -> str:
        """The text with the key struck out."""
        return text.replace(self._key, "[key]") if self._key else text

    def _patiently(self, verb: str, url: str, call: Mapping[str, Any], price: float, *, with_key: bool) -> Answer:
        began = time.monotonic()
        cost = 0.0
        last: Answer | None = None
        for number in range(self._tries):
            refusal = self.budget.take(price) if verb == "POST" else ""
            if refusal:
                why = f"{refusal}; before that: {last.reason}" if last else refusal
                return _no_answer(why, time.monotonic() - began, number, cost, capped=True)
            answer, charged = self._once(verb, url, call, with_key=with_key)
            if not charged and price:
                self.budget.give_back(price)
            cost += price if charged else 0.0
            last = _with(answer, seconds=time.monotonic() - began, tries=number + 1, cost=cost)
            pause = self._next_pause(last, number)
            if pause is None or number + 1 == self._tries or self._stopped.is_set():
                return last
            self._pause(pause)
        raise AssertionError("the last try returns")

    def _once(self, verb: str, url: str, call: Mapping[str, Any], *, with_key: bool) -> tuple[Answer, bool]:
        """One try, and whether it may have been charged."""
        httpx = self._httpx
        headers = {"Authorization": f"Bearer {self._key}"} if with_key and self._key else {}
        deadline = time.monotonic() + self._timeout
        try:
            with self._client.stream(verb, url, headers=headers, **call) as response:
                body = bytearray()
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > MAX_ANSWER:
                        why = f"the answer is larger than {MAX_ANSWER >> 20} MiB"
                        return replace(_no_answer(why, 0, 1, 0), status=response.status_code), True
                    if time.monotonic() > deadline:
                        return _no_answer(f"no whole answer in {self._timeout:g} s", 0, 1, 0), True
                said = {name.lower(): self.without_key(value) for name, value in response.headers.items()}
                reason = "" if response.is_success else self._worded(response.status_code, bytes(body))
                answer = Answer(
                    status=response.status_code,
                    body=bytes(body),
                    headers=said,
                    seconds=0.0,
                    tries=1,
                    cost=0.0,
                    reason=reason,
                )
                return answer, response.is_success
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
            return _no_answer(f"no connection to {urlsplit(url).netloc} ({self._line(error)})", 0, 1, 0), False
        except httpx.TimeoutException:
            return _no_answer(f"no answer in {self._timeout:g} s", 0, 1, 0), True
        except httpx.HTTPError as error:
            return _no_answer(f"the connection broke ({self._line(error)})", 0, 1, 0), True

    def _next_pause(self, answer: Answer, number: int) -> float | None:
        """Seconds until another try can help; None where none can."""
        if answer.ok or (answer.status is not None and answer.status not in _AGAIN):
            return None
        if any(code in answer.reason for code in _FINAL_CODES):
            return None
        asked = _retry_after(answer.headers.get("retry-after", ""))
        if asked is not None:
            return asked if asked <= _LONGEST_PAUSE else None
        return float(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**number) * self._random.uniform(0.5, 1.0))

    def _worded(self, status: int, body: bytes) -> str:
        """One line out of an answer that is an error."""
        try:
            held = json.loads(body)
        except (ValueError, RecursionError):
            held = None
        error = held.get("error", held) if isinstance(held, dict) else held
        if isinstance(error, dict):
            words = [str(error[name]) for name in ("code", "message") if error.get(name)]
            text = ": ".join(words) or json.dumps(error)
        else:
            text = body[:400].decode("utf-8", "replace") if error is None else str(error)
        return self._line(f"HTTP {status}" + (f": {text}" if text.strip() else ""))

    def _line(self, value: object) -> str:
        text = " ".join(self.without_key(str(value)).split())
        return text if len(text) <= 300 else text[:297] + "..."


def _no_answer(reason: str, seconds: float, tries: int, cost: float, *, capped: bool = False) -> Answer:
    return Answer(
        status=None, body=b"", headers={}, seconds=seconds, tries=tries, cost=cost, reason=reason, capped=capped
    )


def _with(answer: Answer, *, seconds: float, tries: int, cost: float) -> Answer:
    reason = f"{answer.reason} (after {tries} tries)" if answer.reason and tries > 1 else answer.reason
    return replace(answer, seconds=seconds, tries=tries, cost=cost, reason=reason)


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


def _shown_url(url: str) -> str:
    """An address without what may be a password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}" if parts.scheme else url.split("@")[-1]
