"""`serve --lab` in a real browser: one participant after another, and nothing of the one before is left."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from asked_study import AskedStudy, served_folder
from examples_cut import RATINGS_CUT, ratings_folder
from real_browser import wanted
from somebody import Somebody, lab_code

pytestmark = pytest.mark.browser
Window = Callable[..., Somebody]
ONE, TWO = "K7QM-3XWA", "B2CD-4FGH"
ROOM = {
    "sessions = 5": "sessions = 1\nitems = 4",
    "card = true": "card = false",
    "plates = 4": "plates = 0",
    "distance_cm = 45.0": 'distance_cm = 45.0\nstation = "Booth 2"\nvision = ["acuity", "colour"]',
}


def _folder(tmp_path: Path) -> Path:
    return ratings_folder(tmp_path / "study", {**RATINGS_CUT, **ROOM})


def _enter(who: Somebody, code: str, **tests: str) -> None:
    who.page.locator("#code:focus").wait_for()
    for name, result in tests.items():
        who.page.locator(f"[name={name}]").select_option(result)
    who.page.locator("#code").fill(code)
    who.press("Start")


def _is_start_page(who: Somebody) -> bool:
    said = who.page.locator("body").inner_text()
    return "Ready for the next participant" in said and "p-0001" not in said


def test_two_participants_one_after_the_other_leave_nothing_to_each_other(tmp_path: Path, window: Window) -> None:
    with served_folder(_folder(tmp_path), lab=True) as here:
        for code in (ONE, TWO):
            lab_code(here, code)
        who = window(here)
        who.open()
        room = who.page.locator("dl").inner_text()
        assert ("Booth 2" in room, "iMac" in room, "4096 x 2304" in room) == (True, True, True)
        assert who.page.locator("[name=distance_cm]").input_value() == "45"
        _enter(who, ONE, acuity="passed", colour="failed")
        who.begin()
        assert who.page.evaluate("() => document.fullscreenElement !== null")
        assert who.trials()["phase"] == "questionnaire"
        who.tell()
        code = who.code()
        said = who.page.locator("main").inner_text()
        assert "Please tell the person in charge" in said
        assert "The page for the next participant comes in" in said
        assert "p-0001" in said
        who.press("Next participant")
        who.page.locator("#code:focus").wait_for()
        assert _is_start_page(who)
        # nothing of the first one is left: no storage, no cookie, no way back
        assert who.page.evaluate("() => [sessionStorage.length, localStorage.length, document.cookie]") == [0, 0, ""]
        assert [cookie for cookie in who.page.context.cookies() if cookie["value"]] == []
        for _ in range(3):
            who.page.go_back()
            who.page.wait_for_timeout(200)
            if who.page.url == "about:blank":
                who.open()
            assert _is_start_page(who)
            assert code not in who.page.content()
        who.page.goto(f"{here.address}/study")
        assert _is_start_page(who)
        # the code of who is through opens nothing
        _enter(who, ONE)
        who.page.get_by_text("This code has been used.").wait_for()
        who.console[:] = [line for line in who.console if "422" not in line]  # the answer to that code
        # the second one begins at the beginning, and after a crash goes on by the same code
        who.onset = ""
        _enter(who, TWO, acuity="failed")
        who.begin()
        seen = who.trial()
        who.until(lambda seen: seen["waiting"] == "0", "the answer on its way")
        who.page.goto(here.address)
        _enter(who, TWO, acuity="passed")
        again = who.question()
        assert again["trial"] != seen["trial"]
        # what the page that crashed sent last may arrive after the code opened the next one, which has taken over
        who.console[:] = [line for line in who.console if "410" not in line]
        assert here.rows("SELECT name, platform FROM participant") == [("p-0001", "lab"), ("p-0002", "lab")]
        vision = [(who_, json.loads(str(body))) for who_, body in _events(here, "vision")]
        assert vision == [
            (1, {"acuity": "passed", "colour": "failed"}),
            (2, {"acuity": "failed", "colour": "not-tested"}),
            (2, {"acuity": "passed", "colour": "not-tested"}),
        ]
        assert {json.loads(str(body))["distance_cm"] for _, body in _events(here, "station")} == {45.0}


def _events(here: AskedStudy, kind: str) -> list[tuple[object, ...]]:
    return here.rows(f"SELECT participant_id, body FROM event WHERE kind = '{kind}' ORDER BY id")


def test_the_start_page_comes_by_itself_after_a_minute(tmp_path: Path, window: Window) -> None:
    with served_folder(_folder(tmp_path), lab=True) as here:
        lab_code(here, ONE)
        who = window(here, fast=True)
        who.open()
        _enter(who, ONE)
        who.phase("consent")
        who.press("Do not take part")
        who.page.locator("dialog").get_by_role("button", name="Do not take part").click()
        who.phase("done")
        assert "comes in 60 s" in who.page.locator("main").inner_text()
        who.page.context.clock.fast_forward(30_000)
        who.page.get_by_text("comes in 30 s").or_(who.page.get_by_text("comes in 29 s")).wait_for()
        who.page.context.clock.fast_forward(31_000)
        who.page.locator("#code:focus").wait_for()
        assert _is_start_page(who)
        assert here.rows("SELECT count(*) FROM participant") == [(0,)]  # who declines is not kept, and may come again
        _enter(who, ONE)
        who.phase("consent")


def test_axe_finds_nothing_on_the_start_page_and_the_last_one(tmp_path: Path, window: Window) -> None:
    package = wanted("axe_core_python")
    axe = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    with served_folder(_folder(tmp_path), lab=True) as here:
        lab_code(here, ONE)
        who = window(here)
        who.open()
        assert _violations(who, axe) == []
        size = who.page.locator("#code").evaluate("one => parseFloat(getComputedStyle(one).fontSize)")
        assert size >= 28  # to be read from where the operator stands
        _enter(who, ONE)
        who.phase("consent")
        who.press("Do not take part")
        who.page.locator("dialog").get_by_role("button", name="Do not take part").click()
        who.phase("done")
        assert _violations(who, axe) == []


def _violations(who: Somebody, axe: str) -> list[str]:
    """What axe finds; it comes in by the debugger's door, past the page's policy."""
    session = who.page.context.new_cdp_session(who.page)
    session.send("Runtime.evaluate", {"expression": f"{axe};undefined"})
    find = "axe.run(document).then(({violations}) => violations.flatMap(({id, nodes}) => nodes.map(({html}) => id + html)))"
    found = session.send("Runtime.evaluate", {"expression": find, "awaitPromise": True, "returnByValue": True})
    session.detach()
    violations: list[str] = found["result"]["value"]
    return violations
