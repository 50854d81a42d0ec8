"""Ask a service over HTTP: retries with growing pauses, time-outs, and a cap on what may be spent.

Nothing is raised for what a service does: every request ends in an `Answer` that says what came, or in one line why
nothing did. A key goes into the request and nowhere else; where a service repeats it, it is struck out.
"""

from __future__ import annotations

import base64
import email.utils
import json
import math
import random
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import SplitResult, urljoin, urlsplit

from .errors import BadConfig, MissingExtra
from .tables import whole_file

__all__ = ["MAX_ANSWER", "Answer", "Budget", "Remote"]

MAX_ANSWER = 1 << 28
"""Largest answer that is read, 256 MiB; our choice: an 80-megapixel picture in base64 is smaller."""
_LONGEST_PAUSE = 120.0  # seconds; a service that asks for more is given up
_FIRST_PAUSE = 1.0  # seconds; doubles with every try
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_FINAL_CODES = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_LONGEST_TIME = 86400.0  # seconds for one try; our choice: a day
_MOST_TRIES = 100  # our choice
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
        if math.isnan(self.max_cost) or not math.isfinite(self.spent):
            raise BadConfig(f"max_cost {self.max_cost} or spent {self.spent} is no amount", where="max_cost")
        if self.max_cost < 0 or (self.max_requests is not None and self.max_requests < 0):
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
        if not 0 <= price < math.inf:
            return f"a price of {price} cannot be counted"
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
        parts = _address(base_url)
        if key and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise BadConfig(f"base_url '{base_url}' would send the key unencrypted; use https", where="base_url")
        if not (key.isascii() and key.isprintable()) and key:
            raise BadConfig("the key holds characters that no header can carry", where="key_env")
        if not 0 < timeout_s <= _LONGEST_TIME:
            raise BadConfig(f"timeout_s is {timeout_s}; give above 0 to {_LONGEST_TIME:g} seconds", where="timeout_s")
        if not 1 <= tries <= _MOST_TRIES:
            raise BadConfig(f"tries is {tries}; give 1 to {_MOST_TRIES}", where="tries")
        try:
            import httpx
        except ImportError as error:
            raise MissingExtra.library("asking a service", "httpx", "make") from error
        self._httpx = httpx
        self.base_url = base_url.rstrip("/")
        try:
            httpx.URL(self.base_url)
        except (httpx.InvalidURL, ValueError) as error:
            raise BadConfig(f"base_url '{_shown_url(base_url)}' is no address ({error})", where="base_url") from error
        self._key, self._timeout, self._tries = key, timeout_s, tries
        self._forms = _forms_of(key)
        self._stopped = threading.Event()
        self._pause = pause or self._stopped.wait
        self.budget = budget or Budget()
        self._random = random.Random(seed)
        try:
            self._client = httpx.Client(
                timeout=httpx.Timeout(timeout_s, connect=min(30.0, timeout_s)),
                limits=httpx.Limits(max_keepalive_connections=0),  # a connection for every try, so that it can be cut
                follow_redirects=False,
            )
        except (httpx.InvalidURL, ValueError, ImportError) as error:  # may quote a password
            raise BadConfig(
                "the proxy that the environment names cannot be used; correct or unset HTTP_PROXY, HTTPS_PROXY, ALL_PROXY",
                where="base_url",
            ) from error

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
        here = urlsplit(self.base_url)
        try:
            whole = urljoin(self.base_url + "/", url)
            there = urlsplit(whole)
            same = (here.scheme, here.hostname, here.port) == (there.scheme, there.hostname, there.port)
            self._httpx.URL(whole)
        except (self._httpx.InvalidURL, ValueError) as error:
            return _no_answer(self._line(f"the answer names no address ({error})"), 0.0, 0, 0.0)
        if not same:
            why = self._line(f"the answer names a picture on another host, {there.hostname or 'none'}")
            return _no_answer(why, 0.0, 0, 0.0)
        return self._patiently("GET", whole, {}, 0.0, with_key=False)

    def without_key(self, text: str) -> str:
        """The text with the key struck out, also where it is coded by base64 or percent signs; fit for UTF-8."""
        text = text.encode("utf-8", "replace").decode()
        return self._forms.sub("[key]", text) if self._forms else text

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
        """One try, and whether it may have been charged; ends in time, however slowly the service drips."""
        line = _Line()
        given: list[tuple[Answer, bool]] = []
        worker = threading.Thread(
            target=lambda: given.append(self._sent(verb, url, call, line, with_key=with_key)), daemon=True
        )
        worker.start()
        worker.join(self._timeout)
        if worker.is_alive():
            line.cut()
            worker.join(0.2)  # its own answer, where the time was over on both sides
        if given:
            return given[0]
        return _no_answer(f"no answer in {self._timeout:g} s", 0, 1, 0), line.made

    def _sent(
        self, verb: str, url: str, call: Mapping[str, Any], line: _Line, *, with_key: bool
    ) -> tuple[Answer, bool]:
        """One try without a certain end."""
        httpx = self._httpx
        headers = {"Authorization": f"Bearer {self._key}"} if with_key and self._key else {}
        deadline = time.monotonic() + self._timeout
        late = (_no_answer(f"no answer in {self._timeout:g} s", 0, 1, 0), True)
        try:
            with self._client.stream(verb, url, headers=headers, extensions={"trace": line.heard}, **call) as response:
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
            return late
        except httpx.LocalProtocolError:  # its message may quote a header
            return _no_answer("the request cannot be sent in this form", 0, 1, 0), False
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError, RuntimeError) as error:
            if line.over:
                return late
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
            words = [str(error[name]) for name in ("code", "message") if isinstance(error.get(name), (str, int))]
            text = ": ".join(word for word in words if word) or body[:4000].decode("utf-8", "replace")
        else:
            text = error if isinstance(error, str) else body[:4000].decode("utf-8", "replace")
        return self._line(f"HTTP {status}" + (f": {text}" if text.strip() else ""))

    def _line(self, value: object) -> str:
        text = " ".join(self.without_key(str(value)).split())
        return text if len(text) <= 300 else text[:297] + "..."


class _Line:
    """The connection of one try, which can be cut from another thread."""

    def __init__(self) -> None:
        self.made = self.over = False
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()

    def heard(self, event: str, info: Mapping[str, Any]) -> None:
        """What httpx tells while it works; a connection that comes too late is cut at once."""
        if not event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            return
        found = info["return_value"].get_extra_info("socket")
        with self._lock:
            self.made = True
            if isinstance(found, socket.socket):
                self._sockets.append(found)
        if self.over:
            self.cut()

    def cut(self) -> None:
        """End the connection; a read that waits on it ends too."""
        with self._lock:
            self.over = True
            for held in self._sockets:
                with suppress(OSError):
                    socket.socket.shutdown(held, socket.SHUT_RDWR)  # below TLS, which would wait for the other side


def _forms_of(key: str) -> re.Pattern[str] | None:
    """Matches a key as it is, percent-coded, escaped as in JSON, in hexadecimal and within base64."""
    if not key:
        return None
    each = [f"(?:{re.escape(c)}|(?i:%{ord(c):02x}|\\\\u00{ord(c):02x}))" for c in key]
    forms = ["".join(each), f"(?i:{key.encode().hex()})"]
    for before in range(3):  # base64 of a longer text shows the key in one of three ways
        coded = base64.b64encode(b"\0" * before + key.encode()).decode().rstrip("=")
        known = coded[-(-before * 8 // 6) : (before + len(key)) * 8 // 6]
        if len(known) >= 8:
            forms.append("".join({"+": "[+-]", "/": "[/_]"}.get(c, c) for c in known))
    return re.compile("|".join(forms))


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


def _address(url: str) -> SplitResult:
    """The parts of a base address.

    Raises:
        BadConfig: it can be none.
    """
    shown = _shown_url(url)
    if any(c.isspace() or not c.isprintable() for c in url):
        raise BadConfig(f"base_url {shown!r} holds a space or a character that cannot be seen", where="base_url")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        text = str(error).rpartition("@")[2]
        raise BadConfig(f"base_url '{shown}' is no address: {text}", where="base_url") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadConfig(f"base_url '{shown}' is no http or https address", where="base_url")
    if port == 0:
        raise BadConfig(f"base_url '{shown}': there is no port 0", where="base_url")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadConfig(
            f"base_url '{shown}' holds a password or query; name the environment variable of the key in key_env",
            where="base_url",
        )
    return parts


def _shown_url(url: str) -> str:
    """An address without what may be a password."""
    url = url.encode("utf-8", "replace").decode()
    bare = url.partition("?")[0].partition("#")[0]
    scheme, found, rest = bare.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if found else bare.rpartition("@")[2]
