"""Addresses of services: which can be one, and how one is shown without a password."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from ..errors import BadConfig

__all__ = ["address_of", "shown_url"]


def address_of(url: str) -> SplitResult:
    """Return the parts of a base address.

    Args:
        url: as somebody wrote it.

    Raises:
        BadConfig: it can be none.
    """
    shown = shown_url(url)
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


def shown_url(url: str) -> str:
    """Return an address without what may be a password."""
    url = url.encode("utf-8", "replace").decode()
    bare = url.partition("?")[0].partition("#")[0]
    scheme, found, rest = bare.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if found else bare.rpartition("@")[2]
