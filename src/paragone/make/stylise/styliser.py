"""`Styliser`: the record that says everything about one way of stylising."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Styliser"]


@dataclass(frozen=True, kw_only=True)
class Styliser:
    """A way of stylising: its function, and the facts that docs, tests and tables read."""

    name: str
    """The word users type, and the level of the factor 'method' that its results carry."""
    run: Callable[..., Any]
    """run(content, style, *, seed, ...) -> result; pictures are (h, w, 3) float32 sRGB in [0, 1], the result has the
    content's size. Values slightly outside [0, 1] are clipped by `stylise`. Keyword arguments beyond `seed` are its
    options: each has a type hint and a default."""
    summary: str
    """What the result looks like, in one line."""
    source: str
    """Authors, title, year and section of each published part."""
    strategy: str
    """What it takes from the style picture and how: 'colour', 'colour and texture', 'palette', ..."""
    extra: str = ""
    """The extra that it needs beyond scikit-image, '' for none."""
    exact: bool = True
    """The same picture to the last bit on every run and number of threads; False: within 1/255 (networks)."""
    slow: bool = False
    """Takes minutes rather than seconds a picture; its time is told before it starts."""
    ready: Callable[..., Any] | None = None
    """ready(**options) raises MissingExtra or NotFound where a library, network or weights are not there; asked before
    anything runs. None: it needs nothing that could be missing."""
    forecast: Callable[..., float] | None = None
    """forecast(height, width, **options) gives the CPU seconds of one picture before it is made. None: not known."""
    files: tuple[str, ...] = ()
    """Options that are paths of files; in make.toml they are relative to it."""
