"""LLIP, low-level image processing that knows the style: a handcrafted manner for each named style, one for the rest."""

from __future__ import annotations

from ...images import Picture
from .manners import MANNERS
from .styliser import Styliser

__all__ = ["LLIP", "in_manner"]

_ANY = "everyday"


def in_manner(content: Picture, style: Picture, *, seed: int = 0, manner: str = "") -> Picture:
    """Return the content in the style by the manner of that name.

    Args:
        content: what is shown.
        style: the style picture.
        seed: every random choice follows from it.
        manner: a name of `MANNERS`, as the style's tag gives it; '' for the manner that serves any style.

    Raises:
        UnknownName: no such manner.
        MissingExtra: the manner needs a library that is not installed.

    Source:
        That of the manner.
    """
    made: Picture = MANNERS.get(manner or _ANY).run(content, style, seed=seed)
    return made


def _ready(*, manner: str = "") -> None:
    chosen: Styliser = MANNERS.get(manner or _ANY)
    if chosen.ready is not None:
        chosen.ready()


LLIP = Styliser(
    name="llip",
    run=in_manner,
    summary="the handcrafted manner made for the style that the option 'manner' names, or image analogies for any style",
    source="that of each manner; the everyday one: Hertzmann et al., SIGGRAPH 2001, and Pitié et al., CVIU 107, 2007",
    strategy="each manner states its own: style-aligned selection, combination, multi-style method or custom pipeline",
    extra="make",
    ready=_ready,
)
