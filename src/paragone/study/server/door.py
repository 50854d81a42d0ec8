"""`Door`: what the entry needs to know of the study and the server."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ...design.pages import Lab
from ..store import Store
from .limits import Limits, Remembered
from .profiles import Profile
from .security import Site

__all__ = ["Door"]

_GRACE_SECONDS = 60.0  # a cookie whose exchange was answered, but whose answer was lost, works for so long


@dataclass(frozen=True)
class Door:
    """What the entry needs to know of the study and the server."""

    store: Store
    profile: Profile
    site: Site
    hmac: Callable[[str], str]
    """Text to its HMAC under a key of the study's own."""
    seal: Callable[[bytes], bytes]
    """Encrypt what is to be kept of the panel's ids."""
    languages: Sequence[str] = ("en",)
    """Offered, the first by default."""
    stages: Sequence[str] = ()
    """Names that `?stage=` may give."""
    title: Callable[[str], str] = lambda _language: ""
    """Language to the study's title."""
    consent: Callable[[str], Sequence[tuple[str, Sequence[str]]]] = lambda _language: ()
    """Language to the consent text as heads and paragraphs: what a panel's preview shows."""
    lab: Lab | None = None
    """The room, where one machine takes one participant after another; None: it is no such machine."""
    stages_each: int = 1
    """Stages that one person may do."""
    delete_after_days: int = 365
    """Days after which the sealed ids may be deleted."""
    limits: Limits = field(default_factory=Limits)
    clock: Callable[[], float] = time.time
    """UTC epoch seconds."""
    replaced: Remembered = field(default_factory=lambda: Remembered(_GRACE_SECONDS))
    """Cookies that were changed a moment ago: SHA-256 of the old one to that of the new."""

    @property
    def cookie(self) -> str:
        """Name of the cookie with the resume secret; studies on one machine do not share it."""
        return f"{self.site.cookie_prefix}paragone-{self.hmac('cookie')[:8]}"
