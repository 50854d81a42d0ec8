"""What drives a browser without a window, and whether it is there."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

from ..errors import MissingExtra

__all__ = ["chromium", "require_playwright"]

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str | None:
    """Return the path of a Chromium on this machine; None: Playwright looks for its own."""
    return next((found for name in _CHROMIUM if (found := shutil.which(name))), None)


def require_playwright() -> None:
    """Refuse to begin where no browser can be driven.

    Raises:
        MissingExtra: Playwright is not installed.
    """
    if find_spec("playwright") is None or find_spec("playwright.async_api") is None:
        raise MissingExtra.library("simulate --through-browser", "playwright", "browser")
