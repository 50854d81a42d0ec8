"""The text-to-image example, walked in a real browser on the real server: two sessions, by a lab code, changed scores."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked_study import AskedStudy, served_folder
from examples_cut import CHUNK, RATINGS_CUT, ratings_folder
from somebody import Somebody, lab_code, leaks, slide

pytestmark = pytest.mark.browser
Window = Callable[..., Somebody]
SECRETS = {"gen-alpha", "gen-beta", CHUNK, "broken-", ".png", "rated-0", "stabilising"}
CODE = "K7QM-3XWA"
ONE_SITTING = RATINGS_CUT | {"sessions = 5": "sessions = 1\nitems = 8"}


def _enter(who: Somebody, code: str = CODE) -> None:
    who.open()
    who.page.get_by_label("Your code").fill(code)
    who.page.get_by_role("button", name="Start").click()


def _ratings(here: AskedStudy) -> list[tuple[Any, ...]]:
    return here.rows("SELECT trial, revision, value, body FROM answer ORDER BY id")


def test_two_sessions_from_a_lab_s_code_to_the_code_of_completion(tmp_path: Path, window: Window) -> None:
    with served_folder(ratings_folder(tmp_path / "study", RATINGS_CUT)) as here:
        lab_code(here, CODE)
        who = window(here)
        _enter(who, "k7qm3xwa")  # small letters, no dash
        who.consent()
        who.screen()
        who.read()
        who.train(wrong=1)
        who.phase("ready")
        who.main()
        first = who.question()
        page = who.page
        # the words stand beside the picture; nothing is set before the first touch
        _, trial = who.mind._found(first["trial"])
        if trial.item and not trial.item.startswith("broken"):
            assert here.frozen.words[trial.item]["prompt"] in page.locator("main .words").inner_text()
        assert page.get_by_role("button", name="Next", exact=True).is_disabled()
        assert page.get_by_role("button", name="Previous", exact=True).is_disabled()
        # a score with a tick, and on; then back: both are there, and can be changed
        page.get_by_label("Artifacts").check()
        slide(page.locator("main input.slider"), 3.2, by="mouse")
        who.press("Next")
        who.onset = first["onset"]
        second = who.question()
        assert second["trial"] != first["trial"]
        who.press("Previous")
        who.onset = second["onset"]
        again = who.question()
        assert again["trial"] == first["trial"]
        assert (page.locator("main output").inner_text(), page.get_by_label("Artifacts").is_checked()) == ("3.2", True)
        slide(page.locator("main input.slider"), 1.7, by="key")
        page.keyboard.press("Enter")
        who.onset = again["onset"]
        who.until(lambda seen: seen["waiting"] == "0" and seen["trial"] == second["trial"], "the second again")
        mine = [(revision, value, json.loads(body)["distortions"]) for _, revision, value, body in _ratings(here)]
        assert mine == [(0, "3.2", ["artifact"]), (1, "1.7", ["artifact"])]
        # reloaded in the middle: where one was, with nothing set
        page.reload()
        who.onset = ""
        third = who.question()
        assert third["trial"] == second["trial"]
        assert page.locator("main output").inner_text() == "–"
        seen = who.trials()
        # no questionnaire after the first of two sessions; the next one opens after the gap
        assert seen["phase"] in ("finish", "done")
        code = who.code()
        assert "next session opens at" in page.locator("main").inner_text()
        _enter(who)
        who.phase("wait")
        assert "bring your code again" in page.locator("main").inner_text()
        here.ahead += 0.5 * 3600 + 1
        _enter(who)
        who.onset = ""
        who.screen()
        assert "session 2 of 2" in who.phase("ready")["said"]
        who.main()
        who.phase("trial")
        assert who.trials()["phase"] == "questionnaire"
        page.locator("select[name=age]").select_option(label="35 to 44")
        page.get_by_label("Is there anything").fill("=SUM(A1) fine")
        who.press("Send")
        assert who.code() == code
        assert here.rows("SELECT state, participant_id FROM lease WHERE state <> 'free'") == [("complete", 1)]
        about = json.loads(str(here.one("SELECT body FROM event WHERE kind = 'questionnaire'")))
        assert about == {"answers": {"age": "35-44"}, "remark": "=SUM(A1) fine"}
        ends = here.rows("SELECT session FROM event WHERE kind = 'finished' ORDER BY id")
        assert len({session for (session,) in ends}) == 2
        n = 2 * (1 + 4 + 1)  # sessions: one to settle in, four pictures, one check
        assert here.one("SELECT count(DISTINCT trial) FROM answer") == n
        screen = json.loads(str(here.one("SELECT body FROM event WHERE kind = 'device' ORDER BY id LIMIT 1")))
        assert (screen["screen_width"], screen["ratio"], screen["depth"]) == (1440, 1, 24)
        assert screen["px_per_cm"] == pytest.approx(324 / 8.56, abs=0.01)
        assert leaks(here, SECRETS) == []


def test_a_check_that_is_failed_excludes_the_session_and_costs_nobody_the_code(tmp_path: Path, window: Window) -> None:
    with served_folder(ratings_folder(tmp_path / "study", ONE_SITTING)) as here:
        lab_code(here, CODE)
        who = window(here)
        _enter(who)
        who.begin()
        assert who.trials(wrong_checks=True)["phase"] == "questionnaire"
        who.tell()
        codes = json.loads(str(here.one("SELECT body FROM event WHERE kind = 'codes'")))
        assert who.code() == codes["completed"]
        assert here.rows("SELECT state FROM lease WHERE participant_id = 1") == [("excluded",)]
        assert here.one("SELECT count(*) FROM lease WHERE replaces IS NOT NULL AND state = 'free'") == 1


def test_the_whole_study_goes_by_keyboard_alone(tmp_path: Path, window: Window) -> None:
    with served_folder(ratings_folder(tmp_path / "study", ONE_SITTING)) as here:
        lab_code(here, CODE)
        who = window(here)
        press = who.page.keyboard.press
        who.open()
        who.page.locator("#code:focus").wait_for()  # nobody need press Tab
        who.page.keyboard.type(CODE)
        press("Enter")
        who.phase("consent")
        for box in range(2):
            who.tab_to("input[type=checkbox]", nth=box)
            press("Space")
        who.tab_to("button[type=submit]")
        press("Enter")
        who.phase("device")
        who.sit()
        who.tab_to("input[type=range]")
        press("ArrowRight")
        who.tab_to("input[name=fits]")
        press("Space")
        for number in range(2):
            who.tab_to(f"fieldset.plate:nth-of-type({number + 1}) input")
            press("Space")
        who.tab_to("button[type=submit]")
        press("Enter")
        who.phase("instructions")
        who.tab_to(".main")
        press("Enter")
        seen = who.phase("tutorial")
        while seen["phase"] == "tutorial":
            card = seen["card"]
            who.tab_to(".main")
            press("Enter")
            seen = who.until(
                lambda new, card=card: new["ready"] and (new["phase"] != "tutorial" or new["card"] != card), "a card"
            )
        while who.phase_or_question("training", "ready")["phase"] == "training":
            if who.look()["page"] == "sheet":
                who.tab_to(".main")
                press("Enter")
                who.until(lambda seen: seen["page"] != "sheet" or seen["phase"] != "training", "a question")
            else:
                who.train_once(by="key")
        who.tab_to(".main")
        press("Enter")
        who.phase("trial")
        assert who.trials(by="key")["phase"] == "questionnaire"
        who.tab_to("button[type=submit]")
        press("Enter")
        assert len(who.code()) == 8
        assert {json.loads(str(body))["input"] for (body,) in here.rows("SELECT body FROM answer")} == {"key"}
