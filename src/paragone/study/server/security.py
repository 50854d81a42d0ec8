"""The door that every request passes: addresses, origins, sizes, patience and the headers of every answer.

`Guard` is plain ASGI and wraps the whole application. It refuses a host that is not ours (DNS rebinding), an unsafe
request that another site made a browser send (CSRF), a body that is too large or too slow; it believes forwarded headers
only from named proxies; and it takes the query, which may hold panel ids, and the peer's address away from whatever logs
the request afterwards.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...errors import BadConfig
from .bodies import Replay, check_text, read_body
from .profiles import origin_of
from .refusals import Refusal, install_refusals, refused

__all__ = [
    "MOST_BYTES",
    "PATIENCE",
    "Guard",
    "Site",
    "check_origin",
    "install",
    "peer_of",
    "security_headers",
    "site_of",
]

MOST_BYTES = 64 * 1024
"""Largest body of a request, in bytes; twenty answers with all they carry are below 16 KB."""
PATIENCE = 20.0
"""Seconds within which a whole body must be there."""
_SAFE = {"GET", "HEAD", "OPTIONS"}
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_NOBODY = "'none'"
_EVERY = ("0.0.0.0", "::", "")
_FORM_PAGES = ("/admin", "/enter")
_API = "/api/"
_MAY_DIFFER = (b"cache-control", b"referrer-policy")  # a page that says otherwise knows why
_POLICY = (
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), "
    "midi=(), payment=(), usb=(), fullscreen=(self)"
)


@dataclass(frozen=True)
class Site:
    """Where the server stands, as browsers see it."""

    origin: str | None = None
    """Public origin, such as https://study.example; None: whatever host a request names, over http."""
    hosts: tuple[str, ...] = _LOOPBACK
    """Host names beside the public one that requests may name, in lower case, with any port (a proxy or a tunnel on this
    machine); without a public origin an address in numbers is allowed too."""
    frame: str = ""
    """Origin of the panel that may show the participant's pages in a frame; empty: none."""
    form_origins: tuple[str, ...] = ()
    """Origins beside our own that a page may post a form to."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks whose X-Forwarded-For and X-Forwarded-Proto are believed; empty: nobody's."""
    larger: tuple[tuple[str, int], ...] = ()
    """(path prefix, bytes) where bodies may be larger than `MOST_BYTES`, the longest prefix first."""

    @property
    def https(self) -> bool:
        """Browsers reach the server by https only."""
        return self.origin is not None and self.origin.startswith("https://")

    @property
    def cookie_prefix(self) -> str:
        """What the names of cookies begin with: a browser takes `__Host-` from this very host over https only."""
        return "__Host-" if self.https else ""


def site_of(
    public_url: str | None = None,
    *,
    host: str = "127.0.0.1",
    names: Iterable[str] = (),
    frame: str = "",
    form_origins: Iterable[str] = (),
    proxies: Iterable[str] = (),
    larger: Mapping[str, int] | None = None,
) -> Site:
    """Return the site for what was said on the command line and in the study's platform.

    Args:
        public_url: address that participants use, `--public-url`; None: none was named.
        host: address that the server listens on.
        names: further host names of this machine.
        frame, form_origins: as in `Site`; a profile's `frame` and `submit_origins`.
        proxies: addresses or networks of proxies to be believed.
        larger: path prefix to the largest body there, in bytes.

    Raises:
        BadConfig: the public address is no origin, a proxy no address, or the host empty.
    """
    origin = None
    if not host.strip():
        raise BadConfig(
            "--host is empty; give an address such as 127.0.0.1, or 0.0.0.0 for every network", where="--host"
        )
    if public_url is not None:
        origin = origin_of(public_url)
        parts = urlsplit(public_url if origin else "")
        if origin is None or parts.path not in ("", "/") or parts.query or parts.fragment:
            raise BadConfig(
                f"--public-url '{public_url}' is no address such as https://study.example; give scheme and host, "
                "without a path",
                where="--public-url",
            )
    for proxy in proxies:
        try:
            ipaddress.ip_network(proxy, strict=False)
        except ValueError:
            raise BadConfig(
                f"'{proxy}' is no address or network of a proxy; give one such as 127.0.0.1", where="--proxy"
            ) from None
    own = [] if host in _EVERY else [f"[{host}]" if ":" in host else host]
    known = tuple(dict.fromkeys(name.lower() for name in (*own, *names, *_LOOPBACK)))
    ordered = tuple(sorted((larger or {}).items(), key=lambda pair: -len(pair[0])))
    return Site(origin, known, frame, tuple(form_origins), tuple(proxies), ordered)


def security_headers(site: Site, *, desk: bool = False, trusted: bool = True) -> dict[str, str]:
    """Return the headers that every answer carries, by lower-case name.

    Args:
        site: where the server stands.
        desk: of the desk and of pages with a form of ours: nobody frames the desk, and its forms tell their origin (under
            no-referrer browsers send "Origin: null" with a form).
    """
    frame = "" if desk else site.frame
    forms = " ".join(("'self'", *(() if desk else site.form_origins)))
    csp = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        f"form-action {forms}; base-uri 'none'; frame-ancestors {frame or _NOBODY}"
    )
    headers = {
        "content-security-policy": csp,
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin" if desk else "no-referrer",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": _POLICY,
        "cache-control": "no-store",
    }
    if trusted:
        headers["cross-origin-opener-policy"] = "same-origin"
    if not frame:
        headers["x-frame-options"] = "DENY"
    if site.https:
        headers["strict-transport-security"] = "max-age=31536000"
    return headers


def check_origin(method: str, headers: Headers, own: str) -> str | None:
    """Say why an unsafe request may not be what a page of ours sent; None: it may pass.

    A browser tells by Sec-Fetch-Site, an older one by Origin, who made it send a request. A client that sends neither is
    no browser; it passes only where no cookie speaks for it (a bearer token, or nothing at all, is not sent by accident).

    Args:
        method: of the request; GET, HEAD and OPTIONS always pass.
        headers: of the request.
        own: origin under which browsers know this server; scheme and port count.

    Source:
        The rules of CrossOriginProtection in Go 1.25's net/http, with the public origin in place of the Host header and
        without its exemption for cookies of clients that send neither header.
    """
    if method in _SAFE:
        return None
    for name in ("sec-fetch-site", "origin"):
        if len(headers.getlist(name)) > 1:
            return f"the request has two headers {name}"
    fetch_site = headers.get("sec-fetch-site")
    if fetch_site is not None:
        return None if fetch_site in ("same-origin", "none") else "another site sent it"
    origin = headers.get("origin")
    if origin is not None:
        return None if origin_of(origin) == own and origin.count("/") == 2 else f"it comes from {origin[:100]}"
    if "cookie" in headers and not headers.get("authorization", "").lower().startswith("bearer "):
        return "it has a cookie, but neither Sec-Fetch-Site nor Origin"
    return None


def peer_of(scope: Scope) -> str:
    """Return a key for the peer of a request, to be kept in memory only: its address, of IPv6 the /64 network."""
    host = str(scope.get("state", {}).get("peer", ""))
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return host


class Guard:
    """ASGI middleware that every request passes first.

    Args:
        app: the application within.
        site: where the server stands.
        most: largest body, in bytes, outside `site.larger`.
        patience: seconds for a whole body.
    """

    def __init__(self, app: ASGIApp, site: Site, *, most: int = MOST_BYTES, patience: float = PATIENCE) -> None:
        self.app = app
        self.site = site
        self.most = most
        self.patience = patience
        self._headers = {
            (desk, trusted): _encoded(security_headers(site, desk=desk, trusted=trusted))
            for desk in (False, True)
            for trusted in (False, True)
        }
        self._networks = [ipaddress.ip_network(proxy, strict=False) for proxy in site.proxies]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        within = self._within(scope, headers)
        scope["query_string"] = b""  # the server's access log prints its own scope, later
        scope["client"] = None

        ours = self._headers[_is_desk(within["path"]), self._is_trusted(headers)]

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _dressed(message.get("headers", []), ours)
            await send(message)

        try:
            self._admit(within, headers)
            body = await self._body(within, headers, receive)
        except Refusal as refusal:
            response = refused(refusal, path=within["path"], accept=headers.get("accept-language", ""))
            await response(within, receive, answer)
            return
        await self.app(within, receive if body is None else Replay(body, receive), answer)

    def _within(self, scope: Scope, headers: Headers) -> Scope:
        """The scope as the application sees it: its own state with the peer, and a scheme that can be believed."""
        within = dict(scope)
        peer = scope["client"][0] if scope.get("client") else ""
        if self._is_proxy(peer):
            hops = [hop.strip() for value in headers.getlist("x-forwarded-for") for hop in value.split(",")]
            peer = next((hop for hop in reversed(hops) if hop and not self._is_proxy(hop)), peer)
            scheme = headers.get("x-forwarded-proto", "").strip().lower()
            if scheme in ("http", "https"):
                within["scheme"] = scheme
        if self.site.origin:
            within["scheme"] = self.site.origin.partition(":")[0]
        within["state"] = {**scope.get("state", {}), "peer": peer}
        return within

    def _is_proxy(self, peer: str) -> bool:
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self._networks)

    def _admit(self, scope: Scope, headers: Headers) -> None:
        named = headers.getlist("host")
        host = named[0].strip().lower() if len(named) == 1 else ""
        if not self._is_ours(host):
            raise Refusal.unknown_host(host, self.site.origin)
        if "\x00" in scope["path"]:
            raise Refusal(404, "not-found")
        if not scope["query_string"].isascii():
            raise Refusal(400, "bad-request")
        own = self.site.origin or origin_of(f"{scope['scheme']}://{host}") or ""
        why = check_origin(scope["method"], headers, own)
        if why:
            raise Refusal.other_origin(why, own, public=self.site.origin is not None)

    def _is_trusted(self, headers: Headers) -> bool:
        return self.site.https or _bare_host(headers.get("host", "").lower()) in _LOOPBACK

    def _is_ours(self, host: str) -> bool:
        bare = _bare_host(host)
        public = self.site.origin
        if public and bare and origin_of(f"{public.partition(':')[0]}://{host}") == public:
            return True
        return bare in self.site.hosts or (public is None and _is_number(bare))

    async def _body(self, scope: Scope, headers: Headers, receive: Receive) -> bytes | None:
        """The whole body; None: the request has none."""
        lengths = headers.getlist("content-length")
        if not lengths and "transfer-encoding" not in headers:
            return None
        most = next((most for prefix, most in self.site.larger if scope["path"].startswith(prefix)), self.most)
        if lengths and (len(lengths) > 1 or not re.fullmatch(r"[0-9]{1,18}", lengths[0])):
            raise Refusal(400, "bad-request")
        if lengths and int(lengths[0]) > most:
            raise Refusal.too_large(most)
        try:
            async with asyncio.timeout(self.patience):
                body = await read_body(receive, most)
        except TimeoutError:
            raise Refusal(408, "too-slow", headers={"connection": "close"}) from None
        of_json = headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"
        if of_json or scope["path"].startswith(_API):  # the API reads JSON whatever a client calls it
            check_text(body)
        return body


def install(app: FastAPI, site: Site, *, most: int = MOST_BYTES, patience: float = PATIENCE) -> None:
    """Put the guard around an application and give all its errors their form.

    Call it last, after every other middleware, so that the guard is the outermost.

    Args:
        app: the application.
        site: where the server stands.
        most, patience: as in `Guard`.
    """
    app.router.redirect_slashes = False  # it would repeat the query, ids and all
    install_refusals(app, security_headers(site))
    app.add_middleware(Guard, site=site, most=most, patience=patience)
    app.state.site = site


def _is_desk(path: str) -> bool:
    return path.startswith(_FORM_PAGES)


def _encoded(headers: Mapping[str, str]) -> dict[bytes, bytes]:
    return {name.encode(): value.encode() for name, value in headers.items()}


def _dressed(given: Iterable[tuple[bytes, bytes]], ours: dict[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer with ours; of the page's own only those that may differ stand against them."""
    kept = [(name.lower(), value) for name, value in given]
    kept = [(name, value) for name, value in kept if name not in ours or name in _MAY_DIFFER]
    there = {name for name, _ in kept}
    return kept + [(name, value) for name, value in ours.items() if name not in there]


def _bare_host(host: str) -> str:
    """The host without its port; '' where it is none."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?", host)
    return found[1] if found else ""


def _is_number(bare: str) -> bool:
    try:
        ipaddress.ip_address(bare.strip("[]"))
    except ValueError:
        return False
    return True
