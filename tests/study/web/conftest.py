"""A real Chromium for the tests of the participant's page."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from fake_study import FakeStudy, serving
from real_browser import wanted
from visitor import FLAGS, Visitor

from installed import lacking


@pytest.fixture(scope="session")
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        lacking("no Chromium on this machine")
    return found


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    """Playwright for a module: its event loop must not outlive it, for others start their own."""
    api = wanted("playwright.sync_api")
    with api.sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(driver: Any, chromium: str) -> Iterator[Any]:
    started = driver.chromium.launch(executable_path=chromium, args=FLAGS)
    yield started
    started.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Visitor]]:
    """Open a study in a window; afterwards nothing may stand in the console and nobody else may have been asked."""
    with ExitStack() as stack:
        visitors: list[Visitor] = []

        def opened(study: FakeStudy, *, at: str = "/", clock: bool = False, **context: Any) -> Visitor:
            origin = stack.enter_context(serving(study))
            context = {"viewport": {"width": 1440, "height": 900}, **context}
            made = browser.new_context(**context)
            stack.callback(made.close)
            visitor = Visitor(made.new_page(), study, origin)
            visitors.append(visitor)
            if clock:
                visitor.page.clock.install()
            visitor.page.goto(origin + at)
            return visitor

        yield opened
        for visitor in visitors:
            assert visitor.console == []
            assert visitor.abroad == []
