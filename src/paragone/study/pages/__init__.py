"""Page kinds: how a trial is shown and answered.

A page kind is one `Page` record here and one script for the browser: what it needs, what it answers, which values are
answers, and how a simulated participant gives them. To add one, make such a record in your own package, name it as an
entry point of the group 'paragone.pages', and ship its script beside it; `page = "<name>"` in a stage then asks with it.
"""

from __future__ import annotations

import functools

from ...catalog import Catalog
from .page import Answer, Page, Reference, Scale
from .person import Person, Simulated

__all__ = ["PAGES", "Answer", "Page", "Person", "Reference", "Scale", "Simulated"]


class _Pages(Catalog):
    """Looks through the installed packages once: a server asks for a page with every answer."""

    @functools.cache  # noqa: B019  (there is one catalogue, for the life of the process)
    def _points(self) -> dict[str, str]:
        return super()._points()

    def __hash__(self) -> int:
        return hash(self.group)


PAGES = _Pages(
    "paragone.pages",
    "page",
    {
        "acr": "paragone.study.pages.rating:ACR",
        "dcr": "paragone.study.pages.rating:DCR",
        "pairs": "paragone.study.pages.pair:PAIRS",
        "slider": "paragone.study.pages.rating:SLIDER",
    },
)
"""name -> page; third parties add theirs as entry points of the group 'paragone.pages'."""
