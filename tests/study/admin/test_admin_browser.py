"""The desk in a real Chromium: nothing for axe to find, nothing on the console, no page wider than its window, with and
without script."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from real_browser import wanted

from desk_visitor import PASSWORD, Desk
from installed import lacking

pytestmark = pytest.mark.browser

PAGES = (
    "/admin", "/admin/people", "/admin/people/p-0002", "/admin/sheets", "/admin/design", "/admin/answers", "/admin/scores",
    "/admin/codes", "/admin/data", "/admin/settings", "/admin/log", "/admin/ask/exclude-person/p-0002",
    "/admin/ask/forget/p-0002",
)  # fmt: skip


@pytest.fixture(scope="module")
def address(still: Desk) -> Iterator[str]:
    """The desk behind a real server."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(still.app, port=0, log_level="warning", access_log=False, lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(20)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    sync = wanted("playwright.sync_api")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        lacking("no Chromium on this machine")
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextlib.contextmanager
def _at_desk(chromium: Any, address: str, **look: Any) -> Iterator[tuple[Any, list[str]]]:
    """A page of somebody who is signed in, and what the console said."""
    context = chromium.new_context(**look)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{address}/admin/login")
    page.fill("input[name=name]", "ada")
    page.fill("input[name=password]", PASSWORD)
    page.click("button.main")
    page.wait_for_url("**/admin")
    yield page, said
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_the_console_is_silent(chromium: Any, address: str, scheme: str) -> None:
    axe = wanted("axe_core_python.sync_playwright").Axe()
    with _at_desk(chromium, address, color_scheme=scheme, bypass_csp=True) as (page, said):
        found = {}
        for path in PAGES:
            page.goto(f"{address}{path}")
            for details in page.query_selector_all("details:not([open]) > summary"):
                details.click()
            wrong = axe.run(page)["violations"]
            found[path] = [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in wrong]
        assert {path: wrong for path, wrong in found.items() if wrong} == {}
        assert said == []


def test_sign_in_and_set_up_pass_axe_too(chromium: Any, address: str) -> None:
    axe = wanted("axe_core_python.sync_playwright").Axe()
    context = chromium.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(f"{address}/admin/login")
    assert axe.run(page)["violations"] == []
    page.fill("input[name=name]", "ada")
    page.fill("input[name=password]", "a wrong password")
    page.click("button.main")
    assert "do not belong together" in page.inner_text("[role=alert]")
    assert axe.run(page)["violations"] == []
    context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_is_wider_than_its_window(chromium: Any, address: str, width: int) -> None:
    with _at_desk(chromium, address, viewport={"width": width, "height": 900}) as (page, said):
        wider = {}
        for path in PAGES:
            page.goto(f"{address}{path}")
            wider[path] = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert {path: over for path, over in wider.items() if over > 0} == {}
        assert said == []


def test_what_can_be_done_about_a_sheet_and_why_somebody_deserves_a_look_is_in_sight(
    chromium: Any, address: str
) -> None:
    with _at_desk(chromium, address, viewport={"width": 1280, "height": 900}) as (page, _):
        page.goto(f"{address}/admin/people")
        hidden = "[...document.querySelectorAll('.scroll')].map(box => box.scrollWidth - box.clientWidth)"
        assert page.evaluate(hidden) == [0]
        page.goto(f"{address}/admin/sheets")
        acts = page.locator("[data-live=rows] .act")
        assert acts.count() > 0
        ends = [box["x"] + box["width"] for box in (one.bounding_box() for one in acts.all()) if box]
        assert max(ends) <= 1280


def test_everything_works_without_script(chromium: Any, address: str, still: Desk) -> None:
    with _at_desk(chromium, address, java_script_enabled=False) as (page, _):
        page.goto(f"{address}/admin/people/p-0007")
        page.click("text=Exclude >> nth=0")
        page.fill("textarea[name=why]", "without script")
        page.click("button.main")
        assert "Excluded" in page.inner_text("[role=status]")
        page.click("text=Undo")
        page.fill("textarea[name=why]", "and back")
        page.click("button.main")
        assert "Restored" in page.inner_text("[role=status]")


def test_fresh_numbers_come_by_themselves(chromium: Any, address: str, still: Desk) -> None:
    with _at_desk(chromium, address) as (page, said):
        page.goto(f"{address}/admin")
        page.evaluate("document.querySelector('[data-live=funnel] td a').textContent = 'old'")
        page.evaluate("document.body.dataset.refresh = '1'")
        page.evaluate("import('/admin/static/admin.js?again')")  # every second, not every twenty
        deadline = time.monotonic() + 30
        while page.inner_text("[data-live=funnel] td a >> nth=0") == "old" and time.monotonic() < deadline:
            page.wait_for_timeout(200)
        assert page.inner_text("[data-live=funnel] td a >> nth=0") == "16"
        assert said == []


def test_the_skip_link_and_the_tab_key_reach_the_content(chromium: Any, address: str) -> None:
    with _at_desk(chromium, address) as (page, _):
        page.goto(f"{address}/admin/people")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
