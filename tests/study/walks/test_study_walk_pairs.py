"""The style-transfer example, walked in a real browser on the real server: from consent to code, whatever comes between."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from asked_study import AskedStudy, served_folder
from examples_cut import CHUNK, METHODS, PAIRS_CUT, style_folder
from somebody import Somebody, leaks

pytestmark = pytest.mark.browser
Window = Callable[..., Somebody]
SECRETS = {
    *METHODS,
    CHUNK,
    "ct-harbour",
    "ct-meadow",
    "st-gouache",
    "st-etching",
    "stylized",
    "broken",
    ".png",
    "within-0",
    "across-0",
}
ONE_STAGE = PAIRS_CUT | {"break_seconds = 60": "break_seconds = 0"}


def test_from_consent_to_code_through_everything_that_may_happen(tmp_path: Path, window: Window) -> None:
    with served_folder(style_folder(tmp_path / "study", PAIRS_CUT)) as here:
        who = window(here)
        who.open()
        who.consent()
        who.screen()
        who.read()
        who.train(wrong=1)
        who.phase("ready")
        who.main()
        first = who.question()
        # the layout of a trial within a group: references once, on top, all panes of one size
        assert who.page.locator("main .pane").count() == 4
        boxes = [pane.bounding_box() for pane in who.page.locator("main .frame").all()]
        assert len({(round(box["width"]), round(box["height"])) for box in boxes}) == 1
        # a double click and a key at once: one answer
        who.page.locator("main [data-side=left]").dblclick()
        who.page.keyboard.press("2")
        who.onset = first["onset"]
        second = who.question()
        assert (second["trial"], second["criterion"] != first["criterion"]) == (first["trial"], True)
        rows = here.rows("SELECT trial, criterion, value FROM answer")
        assert [(criterion, value) for _, criterion, value in rows] == [(first["criterion"], "left")]
        # reloaded in the middle of a trial: the same question of the same trial
        who.page.reload()
        who.onset = ""
        third = who.question()
        assert (third["trial"], third["criterion"]) == (second["trial"], second["criterion"])
        # the Back button: the page stays
        who.trial()
        fourth = who.question()
        who.page.go_back()
        who.until(lambda seen: seen["trial"] == fourth["trial"], "the same trial after Back")
        assert "Back button" in who.page.locator("#status").inner_text()
        seen = who.trials()
        # the break is counted by the server
        assert seen["phase"] == "break"
        assert who.page.locator("main .main").is_disabled()
        assert _status_of_early_step(who) in (409, 425)
        who.rest()
        seen = who.trials()
        assert seen["phase"] == "questionnaire"
        who.tell()
        code = who.code()
        assert len(code) == 8
        assert code not in _all_sent_before_finish(here)
        assert here.rows("SELECT state FROM lease WHERE participant_id = 1") == [("complete",)]
        n = 3 * (6 + 2)
        assert here.one("SELECT count(*) FROM answer") == n
        assert here.one("SELECT count(DISTINCT trial || criterion) FROM answer") == n
        attempts = [
            json.loads(str(body))["attempt"] for (body,) in here.rows("SELECT body FROM event WHERE kind = 'training'")
        ]
        assert attempts == [1, 1, 2, 2]
        assert leaks(here, SECRETS) == []
        pages = [sent for sent in here.sent if "text/html" in sent.headers]
        assert pages
        assert all("content-security-policy: default-src 'none'" in sent.headers for sent in pages)


_EARLY = """async () => {
  const headers = {"Content-Type": "application/json", Authorization: `Bearer ${sessionStorage.paragone}`};
  const body = JSON.stringify({id: crypto.randomUUID(), step: "break", body: {}});
  return (await fetch("/api/step", {method: "POST", headers, body})).status;
}"""


def _status_of_early_step(who: Somebody) -> int:
    status: int = who.page.evaluate(_EARLY)
    who.console[:] = [line for line in who.console if "Failed to load resource" not in line]  # this very request
    return status


def _all_sent_before_finish(here: AskedStudy) -> str:
    paths = [sent.path for sent in here.sent]
    return "".join(sent.body.decode("latin-1") + sent.headers for sent in here.sent[: paths.index("/api/finish")])


def test_across_groups_each_result_stands_with_its_own_references(tmp_path: Path, window: Window) -> None:
    with served_folder(style_folder(tmp_path / "study", ONE_STAGE)) as here:
        who = window(here)
        who.open("?stage=across")
        who.begin()
        who.question()
        assert who.page.locator("main .pane").count() == 6
        assert who.page.locator("main .triplet").count() == 2
        labels = who.page.locator("main .cap").all_inner_texts()
        assert {"Content A", "Style A", "Content B", "Style B"} <= {label.strip() for label in labels}
        height = who.page.evaluate("() => [document.documentElement.scrollHeight, innerHeight]")
        assert height[0] <= height[1]  # above the fold
        assert who.trials()["phase"] == "questionnaire"
        who.tell()
        assert len(who.code()) == 8
        assert leaks(here, SECRETS) == []


def test_who_fails_the_checks_is_screened_by_rule_and_still_gets_the_code(tmp_path: Path, window: Window) -> None:
    with served_folder(style_folder(tmp_path / "study", ONE_STAGE)) as here:
        who = window(here)
        who.open()
        who.begin()
        who.trials(wrong_checks=True)
        who.tell()
        completed = json.loads(str(here.one("SELECT body FROM event WHERE kind = 'codes'")))["completed"]
        assert who.code() == completed
        assert here.rows("SELECT state FROM lease WHERE participant_id = 1") == [("excluded",)]
        why = json.loads(str(here.one("SELECT body FROM event WHERE kind = 'admin.exclude'")))
        assert (why["who"], why["why"]) == ("rule: checks", "0 of 2 checks right, 2 needed")
        assert here.rows("SELECT state, copy FROM lease WHERE replaces IS NOT NULL") == [("free", 1)]
        assert "excluded" not in who.page.content()


def test_who_never_passes_the_training_gets_the_code_for_it_and_the_sheet_is_free(
    tmp_path: Path, window: Window
) -> None:
    with served_folder(style_folder(tmp_path / "study", ONE_STAGE)) as here:
        who = window(here)
        who.open()
        who.consent()
        who.screen()
        who.read()
        who.train(wrong=3)
        codes = json.loads(str(here.one("SELECT body FROM event WHERE kind = 'codes'")))
        assert who.code() == codes["failed-training"]
        assert here.one("SELECT count(*) FROM lease WHERE state = 'free'") == here.one("SELECT count(*) FROM lease")


def test_the_whole_study_goes_by_keyboard_alone(tmp_path: Path, window: Window) -> None:
    with served_folder(style_folder(tmp_path / "study", PAIRS_CUT)) as here:
        who = window(here)
        who.open()
        press = who.page.keyboard.press
        who.phase("consent")
        for box in range(2):
            who.tab_to("input[type=checkbox]", nth=box)
            press("Space")
        who.tab_to("button[type=submit]")
        press("Enter")
        for phase in ("device", "instructions"):
            who.phase(phase)
            who.tab_to(".main")
            press("Enter")
        who.sit()
        seen = who.phase("tutorial")
        while seen["phase"] == "tutorial":
            card = seen["card"]
            if who.page.locator("main [data-side]").count():
                who.tab_to("[data-side=left]")
                press("Enter")
            who.tab_to(".main")
            press("Enter")
            seen = who.until(
                lambda new, card=card: new["ready"] and (new["phase"] != "tutorial" or new["card"] != card), "a card"
            )
        who.tab_to(".main")
        press("Enter")
        while who.phase_or_question("training", "ready")["phase"] == "training":
            who.train_once(by="key")
        who.phase("ready")
        who.tab_to(".main")
        press("Enter")
        who.phase("trial")
        assert who.trials(by="key")["phase"] == "break"
        who.until(lambda _: who.page.locator("main .main").is_enabled(), "the end of the break")
        who.tab_to(".main")
        press("Enter")
        who.phase("trial")
        assert who.trials(by="key")["phase"] == "questionnaire"
        who.tab_to("button[type=submit]")
        press("Enter")
        assert len(who.code()) == 8
        assert {json.loads(str(body))["input"] for (body,) in here.rows("SELECT body FROM answer")} == {"key"}


def test_a_telephone_is_refused_politely_and_a_computer_goes_on(tmp_path: Path, window: Window) -> None:
    with served_folder(style_folder(tmp_path / "study", ONE_STAGE)) as here:
        who = window(
            here,
            viewport={"width": 390, "height": 844},
            screen={"width": 390, "height": 844},
            is_mobile=True,
            has_touch=True,
        )
        who.open()
        who.until(lambda seen: seen["phase"] == "consent", "the consent")
        gate = who.page.locator("#gate")
        assert "larger screen" in gate.inner_text()
        agree = who.page.get_by_text("Agree and start")
        assert not agree.is_visible()
        who.page.set_viewport_size({"width": 1280, "height": 800})
        agree.wait_for(state="visible")
        assert not gate.is_visible()


def test_the_newest_tab_wins_and_the_old_one_can_take_it_back(tmp_path: Path, window: Window) -> None:
    with served_folder(style_folder(tmp_path / "study", ONE_STAGE)) as here:
        who = window(here)
        who.open()
        who.begin()
        seen = who.question()
        newer = window(here, beside=who)
        newer.sit()
        newer.open()
        same = newer.question()
        assert (same["trial"], same["criterion"]) == (seen["trial"], seen["criterion"])
        who.network_faults_wanted = True  # the old tab is told 410
        who.give(who.meant(seen), seen)
        who.until(lambda seen: seen["phase"] == "replaced", "the word that another tab took over")
        newer.trial()
        newer.network_faults_wanted = True
        who.press("Go on here")
        who.onset = ""
        mine = who.question()
        assert (mine["trial"], mine["criterion"]) != (seen["trial"], seen["criterion"])
        assert here.one("SELECT count(*) FROM answer") == 1
        who.trials()
        who.tell()
        assert len(who.code()) == 8


@pytest.mark.slow
def test_twenty_seconds_without_a_network_lose_nothing(tmp_path: Path, window: Window) -> None:
    with served_folder(style_folder(tmp_path / "study", ONE_STAGE)) as here:
        who = window(here)
        who.open()
        who.begin()
        who.trial()
        who.network_faults_wanted = True
        who.until(lambda seen: seen["waiting"] == "0", "the first answer on its way")
        before = here.one("SELECT count(*) FROM answer")
        who.page.context.set_offline(True)
        for _ in range(5):
            who.trial()
        who.page.wait_for_timeout(20_000)
        assert "No connection" in who.page.locator("#status").inner_text()
        assert int(who.look()["waiting"]) >= 5
        assert here.one("SELECT count(*) FROM answer") == before
        who.page.context.set_offline(False)
        who.until(lambda seen: seen["waiting"] == "0", "the answers on their way")
        who.trials()
        who.tell()
        assert len(who.code()) == 8
        n = 3 * (6 + 2)
        assert here.one("SELECT count(*) FROM answer") == n
