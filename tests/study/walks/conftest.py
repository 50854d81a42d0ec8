"""A real Chromium, a real server, and a window whose console must stay empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from asked_study import AskedStudy
from real_browser import needed
from somebody import Somebody

FLAGS = ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"]


@pytest.fixture(scope="module")
def walking_browser() -> Iterator[Any]:
    """One Chromium for the walks of a module; Playwright's event loop must not outlive it, for others start their own."""
    path = needed()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def window(walking_browser: Any) -> Iterator[Callable[..., Somebody]]:
    """Opens a window on a study; afterwards nothing may stand in the console and nobody else may have been asked."""
    with ExitStack() as stack:
        opened: list[Somebody] = []

        def open_window(
            here: AskedStudy, *, beside: Somebody | None = None, fast: bool = False, **context: Any
        ) -> Somebody:
            if beside is None:
                context = {"viewport": {"width": 1440, "height": 900}, "locale": "en", **context}
                made = walking_browser.new_context(**context)
                stack.callback(made.close)
                if fast:
                    made.clock.install()
            else:
                made = beside.page.context
            somebody = Somebody(made.new_page(), here, fast=fast)
            opened.append(somebody)
            return somebody

        yield open_window
        for somebody in opened:
            assert somebody.console == []
            assert somebody.abroad == []
