"""The page on the real server: whole studies, and what both promise each other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from asked_study import AskedStudy, asked_study
from study_folder import CONTENTS, METHODS, PAIRS, RATINGS
from visitor import Visitor

pytestmark = pytest.mark.browser

AROUND = """
[display]
card = true
plates = 2
[pages]
languages = ["en", "de"]
"""
ACROSS = PAIRS.replace('name = "within"', 'name = "across"\npairs = "across"\ntie = "unsure"')
_PRESS = """phase => document.body.dataset.phase === phase
    && document.querySelector("main .main:enabled")?.click()"""
"""Press the button of a page, unless another page came meanwhile, whose button means something else."""
Open = Callable[..., "Guest"]


class Guest(Visitor):
    """A participant of the real server; whatever the server says to them is kept."""

    here: AskedStudy
    heard: list[tuple[str, bytes]]
    done: str | None = None
    """Onset of the question that was answered last; it stands on the page until the next one is painted."""

    def listen(self) -> None:
        self.heard = []
        self.page.on("response", self._listen)

    def _listen(self, response: Any) -> None:
        if response.status in (200, 201, 409) and response.request.resource_type != "script":
            self.heard.append((response.url, response.body()))

    def answers(self) -> list[tuple[str, str, int, str]]:
        query = "select trial, criterion, revision, value from answer order by trial, criterion, revision"
        return self.here.rows(query)  # type: ignore[return-value]

    def go(self, until: str, choose: Callable[[dict[str, str]], str] = lambda _: "1") -> list[str]:
        """Walk until a phase; gives the phases met."""
        met: list[str] = []
        while True:
            data = self.data()
            phase = data["phase"]
            if phase not in ("loading", "finish") and (not met or met[-1] != phase):  # both pass by themselves
                met.append(phase)
            if phase == until:
                return met
            if phase == "consent":
                for box in self.page.locator("main form input[type=checkbox]").all():
                    box.check()
                self.press("Agree and start")
                self.until(lambda: self.data()["phase"] != "consent", "what follows the consent")
            elif phase == "device":
                self.button("Continue").wait_for()
                if self.page.locator("input[name=none]").count():
                    self.page.locator("input[name=none]").check()
                for plate in self.page.locator("fieldset.plate").all():
                    plate.locator("input").first.check()
                self.press("Continue")
                self.until(lambda: self.data()["phase"] != "device", "what follows the screen")
            elif phase in ("trial", "training") and data.get("page") != "sheet" and not self._told():
                if "onset" not in data or data["onset"] == self.done:
                    self.page.wait_for_timeout(20)
                    continue
                self.page.wait_for_timeout(170)
                self._answer(self._right() if phase == "training" else choose(data))
            elif phase == "break":
                self.here.ahead += 31
                self.page.reload()
                self.button("Continue").click()
                self.until(lambda: self.data()["phase"] != "break", "the end of the break")
            else:
                self.page.evaluate(_PRESS, phase)
                self.page.wait_for_timeout(60)

    def _told(self) -> bool:
        return bool(self.page.locator(".told").count())

    def _right(self) -> str:
        """The right answer of the training question that is shown."""
        found = re.search(r"question (\d+)", self.page.locator("#count").inner_text())
        assert found
        (questions,) = self.here.frozen.practice.values()
        expected = questions[int(found[1]) - 1].expected
        return {"left": "1", "right": "2"}.get(expected, expected)

    def _answer(self, what: str) -> None:
        self.done = self.data().get("onset")
        sliders = self.page.locator(".slider").all()
        for slider in sliders:
            slider.press("Home")
            tenths = round(float(what) * 10)
            for key in ["PageUp"] * (tenths // 5) + ["ArrowUp"] * (tenths % 5) or ["Home"]:
                slider.press(key)
        self.page.keyboard.press("Enter" if sliders else what)


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Serve a study and open it; nothing may stand in the console afterwards."""
    with ExitStack() as stack:
        guests: list[Guest] = []

        def make(settings: str) -> Guest:
            here = stack.enter_context(asked_study(tmp_path, settings))
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            stack.callback(context.close)
            guest = Guest(context.new_page(), None, here.address)  # type: ignore[arg-type]
            guest.here = here
            guest.listen()
            guests.append(guest)
            guest.page.goto(here.address + "/")
            return guest

        yield make
        for guest in guests:
            assert guest.console == []
            assert guest.abroad == []


def _key(data: dict[str, str]) -> str:
    return "1" if data["criterion"] == "content" else "2"


def test_a_pair_study_from_consent_to_code(opened: Open) -> None:
    guest = opened(PAIRS + AROUND)
    met = guest.go("done", _key)
    assert met == [
        "consent", "device", "instructions", "tutorial", "training", "ready", "trial", "break", "trial", "questionnaire",
        "done",
    ]  # fmt: skip
    rows = guest.answers()
    assert len(rows) == 16
    assert {(criterion, value) for _, criterion, _, value in rows} == {("content", "left"), ("style", "right")}
    assert re.fullmatch(r"\w{6,12}", guest.page.locator(".code").inner_text())
    bodies = [json.loads(str(body)) for (body,) in guest.here.rows("select body from answer")]
    assert all(body["exact"] and body["scale"] == 1 and body["input"] == "key" for body in bodies)
    seconds = [float(str(value)) for (value,) in guest.here.rows("select seconds from answer")]
    assert 0.15 <= min(seconds) < max(seconds) < 30


def test_no_method_no_file_and_no_check_reaches_the_browser(opened: Open) -> None:
    guest = opened(PAIRS + AROUND)
    guest.go("done", _key)
    said = b"".join(body for url, body in guest.heard if "/api/" in url)
    urls = " ".join(url for url, _ in guest.heard)
    assert len(said) > 10_000
    names = [f"{method}{sign}{content}" for method in METHODS for content in CONTENTS for sign in "/-"]
    for word in [*names, "broken", "expected", ".png"]:
        assert word.encode() not in said, word
        assert word not in urls
    pictures = [body for url, body in guest.heard if "/i/" in url]
    assert len(pictures) > 20
    assert all(b"tEXt" not in body and b"eXIf" not in body for body in pictures)


def test_two_triplets_with_a_third_button(opened: Open) -> None:
    guest = opened(ACROSS)
    guest.go("trial")
    guest.trial()
    assert guest.page.locator(".triplet").count() == 2
    assert guest.page.locator("main img").count() == 4  # this study has one kind of reference
    guest.go("done", lambda _: "3")
    assert {value for *_, value in guest.answers()} == {"tie"}


def test_ratings_over_two_sessions_with_changes(opened: Open) -> None:
    guest = opened(RATINGS + '[pages]\ndistortions = ["blur", "artifact"]\n')
    guest.go("trial")
    first = guest.trial()["trial"]
    guest.page.get_by_label("Artifacts").check()
    guest._answer("3.7")
    guest.until(lambda: guest.data().get("trial") != first and "onset" in guest.data(), "the second picture")
    guest.page.wait_for_timeout(170)
    guest.press("Previous")
    guest.trial(first)
    assert guest.page.locator("output").first.inner_text() == "3.7"
    assert guest.page.get_by_label("Artifacts").is_checked()
    guest._answer("0.3")
    guest.go("done", lambda _: "2.5")
    guest.until(lambda: "Session 2 of 2" in guest.page.locator("main").inner_text(), "what comes next")
    rows = guest.answers()
    mine = {(revision, value) for _, _, revision, value in rows if value in ("3.7", "0.3")}
    assert mine == {(0, "3.7"), (1, "0.3")}
    guest.press("Start")
    assert guest.go("trial")[-2:] == ["ready", "trial"]
    guest.go("done", lambda _: "2.5")
    assert guest.page.locator(".code").count() == 1
    assert len(guest.answers()) == 2 * (2 * 6) + 2


def test_reloads_lost_connections_and_a_second_tab_cost_nothing(opened: Open) -> None:
    guest = opened(PAIRS)
    guest.network_faults_wanted = True
    guest.go("trial")
    guest.trial(criterion=guest.data().get("criterion"))
    guest.page.keyboard.press("1")
    guest.page.reload()  # between the two questions of the first pair
    data = guest.trial()
    guest.page.context.set_offline(True)
    guest.page.keyboard.press("1")
    guest.until(lambda: guest.data().get("trial") != data["trial"], "the next pair")
    guest.trial()
    guest.page.keyboard.press("1")
    guest.until(lambda: guest.data()["waiting"] == "2", "answers that wait")
    guest.page.context.set_offline(False)
    guest.until(lambda: guest.data()["waiting"] == "0", "answers that arrive")
    second = Guest(guest.page.context.new_page(), None, guest.origin)  # type: ignore[arg-type]
    second.here = guest.here
    second.network_faults_wanted = True
    second.page.goto(guest.origin + "/")  # the cookie is the same person's
    second.trial()
    guest.trial()
    guest.page.keyboard.press("1")
    guest.phase("replaced")
    second.go("done")
    rows = second.answers()
    assert len(rows) == len({row[:2] for row in rows}) == 16
    assert {value for *_, value in rows} == {"left"}


def test_a_german_participant_reads_german(opened: Open) -> None:
    guest = opened(PAIRS + AROUND)
    guest.phase("consent")
    guest.press("Deutsch")
    guest.until(lambda: guest.page.locator("html").get_attribute("lang") == "de", "German")
    assert guest.page.get_by_role("button", name="English").count() == 1
