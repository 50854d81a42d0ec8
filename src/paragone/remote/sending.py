"""`Sender`: one try at a time, which ends in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..errors import BadConfig, MissingExtra
from .address import shown_url
from .answer import Answer, no_answer
from .censor import Censor
from .line import Line

__all__ = ["MAX_ANSWER", "Sender", "Tried"]

MAX_ANSWER = 1 << 28
"""Largest answer that is read, 256 MiB; our choice: an 80-megapixel picture in base64 is smaller."""


class Tried(NamedTuple):
    """What one try gave."""

    answer: Answer
    charged: bool
    """It may have been charged."""


class Sender:
    """Sends single requests with one key and one time-out; threads may share it."""

    def __init__(self, base_url: str, *, key: str, timeout_s: float, censor: Censor) -> None:
        """Open no connection yet.

        Args:
            base_url: checked for what httpx cannot take.
            key: sent as a bearer token where a request asks for it; '' for none.
            timeout_s: longest time for one try.
            censor: strikes the key out of what is said.

        Raises:
            BadConfig: the address, or a proxy that the environment names, cannot be used.
            MissingExtra: httpx is not installed.
        """
        try:
            import httpx
        except ImportError as error:
            raise MissingExtra.library("asking a service", "httpx", "make") from error
        self._httpx = httpx
        self._key, self._timeout, self._censor = key, timeout_s, censor
        fault = self.fault_of(base_url)
        if fault:
            raise BadConfig(f"base_url '{shown_url(base_url)}' is no address ({fault})", where="base_url")
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

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def fault_of(self, url: str) -> str:
        """Why an address cannot be asked; '' where it can."""
        try:
            self._httpx.URL(url)
        except (self._httpx.InvalidURL, ValueError) as error:
            return str(error) or "it cannot be read"
        return ""

    def once(self, verb: str, url: str, call: Mapping[str, Any], *, with_key: bool) -> Tried:
        """One try; ends in time, however slowly the service drips.

        Args:
            verb: of HTTP.
            url: absolute.
            call: form and files, as httpx names them.
            with_key: send the key along.
        """
        line = Line()
        given: list[Tried] = []
        worker = threading.Thread(
            target=lambda: given.append(self._sent(verb, url, call, line, with_key=with_key)), daemon=True
        )
        worker.start()
        worker.join(self._timeout)
        if worker.is_alive():
            line.cut()
            worker.join(0.2)  # its own answer, where the time was over on both sides
        return given[0] if given else Tried(self._late(), line.made)

    def _late(self) -> Answer:
        return no_answer(f"no answer in {self._timeout:g} s")

    def _sent(self, verb: str, url: str, call: Mapping[str, Any], line: Line, *, with_key: bool) -> Tried:
        """One try without a certain end."""
        httpx = self._httpx
        headers = {"Authorization": f"Bearer {self._key}"} if with_key and self._key else {}
        deadline = time.monotonic() + self._timeout
        try:
            with self._client.stream(verb, url, headers=headers, extensions={"trace": line.heard}, **call) as response:
                body = bytearray()
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > MAX_ANSWER:
                        why = f"the answer is larger than {MAX_ANSWER >> 20} MiB"
                        return Tried(replace(no_answer(why), status=response.status_code), True)
                    if time.monotonic() > deadline:
                        return Tried(no_answer(f"no whole answer in {self._timeout:g} s"), True)
                return Tried(self._read(response, bytes(body)), response.is_success)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
            return Tried(no_answer(f"no connection to {urlsplit(url).netloc} ({self._censor.line(error)})"), False)
        except httpx.TimeoutException:
            return Tried(self._late(), True)
        except httpx.LocalProtocolError:  # its message may quote a header
            return Tried(no_answer("the request cannot be sent in this form"), False)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError, RuntimeError) as error:
            if line.over:
                return Tried(self._late(), True)
            return Tried(no_answer(f"the connection broke ({self._censor.line(error)})"), True)

    def _read(self, response: Any, body: bytes) -> Answer:
        return Answer(
            status=response.status_code,
            body=body,
            headers={name.lower(): self._censor.without_key(value) for name, value in response.headers.items()},
            seconds=0.0,
            tries=1,
            cost=0.0,
            reason="" if response.is_success else self._censor.worded(response.status_code, body),
        )
