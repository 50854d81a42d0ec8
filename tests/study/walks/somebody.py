"""Somebody at a browser, in front of a study that is really served."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from asked_study import AskedStudy

from paragone.study.crowd import Crowd, Member
from paragone.study.server.pseudonyms import code_sha256
from paragone.study.store import people

__all__ = ["Somebody", "lab_code", "leaks"]

KEYS = {"left": "1", "right": "2", "tie": "3"}
_PATIENCE = 40.0  # seconds
_LOOK = """() => {
  const [body, main, find] = [document.body, document.querySelector("main"), (what) => document.querySelector(what)];
  const [told, ready, card] = [!!find("main .told"), !!find("main .main"), find("main .count")?.textContent ?? ""];
  return {...body?.dataset, told, ready, card, said: main?.innerText.slice(0, 2000) ?? ""};
}"""


class Somebody:
    """One person's window.

    Args:
        page: Playwright's page, not yet opened.
        here: the study.
        fast: the page's clock is moved ahead by what it would wait for.
    """

    def __init__(self, page: Any, here: AskedStudy, *, fast: bool = False) -> None:
        self.page, self.here, self.fast = page, here, fast
        self.console: list[str] = []
        self.abroad: list[str] = []
        self.network_faults_wanted = False
        self.onset = ""
        crowd = Crowd(here.frozen, here.keys.derived("public ids"), here.latent, seed=1)
        self.mind: Member = crowd.member(0, careless=False)
        page.set_default_timeout(_PATIENCE * 1000)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.console.append(f"error: {error}"))
        page.on("request", self._asked)

    def _heard(self, message: Any) -> None:
        network = any(word in message.text for word in ("net::ERR", "Failed to load resource"))
        if message.type in ("error", "warning") and not (network and self.network_faults_wanted):
            self.console.append(f"{message.type}: {message.text}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.here.address, "blob:", "data:", "about:")):
            self.abroad.append(request.url)

    # -- looking -----------------------------------------------------------------------------------------------------

    def look(self) -> dict[str, Any]:
        """What can be seen of the page."""
        seen: dict[str, Any] = self.page.evaluate(_LOOK)
        return seen

    def until(self, holds: Callable[[dict[str, Any]], Any], what: str = "") -> dict[str, Any]:
        """Wait until the page is as wanted."""
        from playwright.sync_api import Error

        end, seen = time.monotonic() + _PATIENCE, dict[str, Any]()
        while time.monotonic() < end:
            try:
                seen = self.look()
            except Error as error:
                if "context was destroyed" not in str(error):  # one page makes room for the next
                    raise
            if "phase" in seen and holds(seen):
                return seen
            self.page.wait_for_timeout(15)
        raise AssertionError(f"waited in vain for {what}; the page says {seen}")

    def phase(self, *names: str) -> dict[str, Any]:
        """Wait for a phase whose page is there."""
        plain = ("trial", "finish", "closed", "full", "wait", "done")
        return self.until(
            lambda seen: seen["phase"] in names and (seen["ready"] or seen["phase"] in plain), f"phase {names}"
        )

    def question(self) -> dict[str, Any]:
        """Wait for a question that was not answered yet, and takes answers."""
        if self.fast:
            self.page.context.clock.fast_forward(400)
        seen = self.until(self.fresh, "a question")
        if self.fast:
            self.page.context.clock.fast_forward(2000)
        else:
            self.page.wait_for_timeout(170)  # the guard
        return seen

    @property
    def name(self) -> str:
        """Name in the store; the newest participant's."""
        return str(self.here.one("SELECT name FROM participant ORDER BY id DESC LIMIT 1"))

    def sit(self) -> None:
        """Know which sheets one was given."""
        query = "SELECT id, stage, owner FROM lease WHERE participant_id IS NOT NULL ORDER BY taken_at DESC LIMIT 1"
        lease, stage, owner = self.here.rows(query)[0]
        self.mind.sit(int(str(lease)), str(stage), str(owner))

    def meant(self, seen: dict[str, Any], *, wrong_checks: bool = False) -> str:
        """What one would answer to the question that is shown; checks are right unless they shall be wrong."""
        _, trial = self.mind._found(seen["trial"])
        if trial.expected is not None:
            return trial.expected if not wrong_checks else other(trial.expected)
        return self.mind.answer(seen["trial"], seen["criterion"]).value

    # -- doing -------------------------------------------------------------------------------------------------------

    def open(self, query: str = "") -> None:
        """Come in."""
        self.page.goto(f"{self.here.address}/{query}")

    def press(self, name: str) -> None:
        """Press the button of that name."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def main(self) -> None:
        """Press the page's main button."""
        self.page.locator("main .main").first.click()

    def consent(self) -> None:
        """Agree, and know what one was given."""
        self.phase("consent")
        for box in self.page.locator("main input[type=checkbox]").all():
            box.check()
        self.press("Agree and start")
        self.phase("device")
        self.sit()

    def screen(self) -> None:
        """Match the card, read the plates, go on."""
        self.phase("device")
        if self.page.locator("main input[name=fits]").count():
            self.page.locator("main input[name=fits]").check()
        for plate in self.page.locator("main fieldset.plate").all():
            offered = plate.locator("input").evaluate_all("all => all.map(one => one.value)")
            right = self.mind.plate([value for value in offered if value.isdigit()])
            plate.locator(f"input[value='{right}']").check()
        self.main()

    def read(self) -> None:
        """Read the instructions, and look at every card of the tutorial."""
        self.phase("instructions")
        self.main()
        seen = self.phase("tutorial", "training", "ready")
        while seen["phase"] == "tutorial":
            if self.page.locator("main [data-side]").count():
                self.page.locator("main [data-side]").first.click()
            self.main()
            card = seen["card"]
            seen = self.until(
                lambda new, card=card: new["ready"] and (new["phase"] != "tutorial" or new["card"] != card), "a card"
            )

    def train(self, *, wrong: int = 0, by: str = "mouse") -> None:
        """Answer every training question right, after so many attempts with wrong answers."""
        seen = self.phase_or_question("training", "ready", "done")
        while seen["phase"] == "training":
            if seen["page"] == "sheet":
                self.main()
                self.until(lambda seen: seen["page"] != "sheet" or seen["phase"] != "training", "a question")
            else:
                self.train_once(wrong=wrong, by=by)
            seen = self.phase_or_question("training", "ready", "done")

    def train_once(self, *, wrong: int = 0, by: str = "mouse") -> None:
        """Answer the training question that is shown, read the verdict, go on."""
        seen = self.question()
        right = self.mind.trained(seen["trial"]).value
        attempt = int(self.page.locator("#count").inner_text().rpartition("Try ")[2].partition(" ")[0])
        self.give(other(right) if attempt <= wrong else right, seen, by=by)
        self.onset = seen["onset"]
        self.until(lambda seen: seen["told"] or seen["phase"] != "training", "a verdict")
        verdict = self.page.locator("main .told").inner_text()
        assert verdict.startswith("Not right" if attempt <= wrong else "Right"), verdict
        if by == "mouse":
            self.page.locator("main .told .main").click()
        else:
            self.page.keyboard.press("Enter")  # the button has the focus
        self.until(lambda seen: not seen["told"], "what follows")

    def phase_or_question(self, *phases: str) -> dict[str, Any]:
        """Wait for a page that can be gone on from: a question, or one with a button."""
        return self.until(
            lambda seen: (
                seen["phase"] in phases
                and (seen["phase"] == "done" or (seen["ready"] if seen["page"] == "sheet" else self.fresh(seen)))
            ),
            f"something to do in {phases}",
        )

    def fresh(self, seen: dict[str, Any]) -> bool:
        """Whether a question is shown that was not answered."""
        return seen.get("onset", "") not in ("", self.onset)

    def begin(self) -> None:
        """From the consent to the first trial."""
        self.consent()
        self.screen()
        self.read()
        self.train()
        self.phase("ready")
        self.main()
        self.phase("trial")

    def give(self, value: str, seen: dict[str, Any], *, by: str = "mouse") -> None:
        """Answer the question that is shown."""
        page = self.page
        if seen["page"] == "pairs":
            if by == "mouse":
                page.locator(f"main [data-side={value}]").click()
            else:
                page.keyboard.press(KEYS[value])
            return
        slide(page.locator("main input.slider"), float(value), by=by)
        if by == "mouse":
            self.press("Next")
        else:
            page.keyboard.press("Enter")

    def trial(self, *, by: str = "mouse", wrong_checks: bool = False) -> dict[str, Any]:
        """Answer the next question; gives what was seen."""
        seen = self.question()
        self.give(self.meant(seen, wrong_checks=wrong_checks), seen, by=by)
        self.onset = seen["onset"]
        return seen

    def trials(self, *, by: str = "mouse", wrong_checks: bool = False, most: int = 10_000) -> dict[str, Any]:
        """Answer until something else comes."""
        for _ in range(most):
            seen = self.until(
                lambda seen: (
                    seen["phase"] not in ("trial", "finish") or (seen["phase"] == "trial" and self.fresh(seen))
                ),
                "the next",
            )
            if seen["phase"] != "trial":
                return seen
            self.trial(by=by, wrong_checks=wrong_checks)
            if self.fast:
                self.page.context.clock.fast_forward(700)
        return self.look()

    def rest(self) -> None:
        """Wait for the end of the break."""
        self.phase("break")
        button = self.page.locator("main .main")
        button.click()
        self.until(lambda seen: seen["phase"] != "break", "the end of the break")

    def tell(self) -> None:
        """Leave out every question about oneself."""
        self.phase("questionnaire")
        self.press("Send")

    def tab_to(self, selector: str, nth: int = 0) -> None:
        """Press Tab until something has the focus."""
        wanted = self.page.locator(f"main {selector}").nth(nth)
        wanted.wait_for()
        for _ in range(60):
            if wanted.evaluate("one => one === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no way by Tab to {selector}")

    def code(self) -> str:
        """The completion code."""
        self.phase("done")
        found: str = self.page.locator("main .code").inner_text()
        return found


def other(value: str) -> str:
    """A wrong answer to a question with a known one."""
    if value in ("left", "right"):
        return "right" if value == "left" else "left"
    return "5" if float(value) < 2.5 else "0"


def slide(slider: Any, value: float, *, by: str) -> None:
    """Set a vertical slider from 0 to 5 by 0.1."""
    if by == "mouse":
        box = slider.bounding_box()
        slider.click(position={"x": box["width"] / 2, "y": 2 + (box["height"] - 4) * (1 - value / 5)})
    else:
        slider.focus()
    for _ in range(60):
        away = round(value * 10) - int(slider.input_value())
        if not away:
            break
        slider.press(("PageUp" if away > 4 else "ArrowUp") if away > 0 else ("PageDown" if away < -4 else "ArrowDown"))
    if by != "mouse" and "untouched" in (slider.get_attribute("class") or ""):
        slider.press("ArrowUp")
        slider.press("ArrowDown")


def lab_code(here: AskedStudy, code: str) -> str:
    """Make a lab code known to the study."""
    here.store.write_now(lambda c: people.add_codes(c, {code_sha256(here.keys.hmac, code): "test"}, 1.0))
    return code


def leaks(here: AskedStudy, words: set[str]) -> list[tuple[str, str]]:
    """(path, word) of everything that went out and says more than it may."""
    found = []
    for sent in here.sent:
        if sent.path.startswith(("/admin", "/static")):  # the same for every study
            continue
        said = sent.headers.encode() + b"\n" + sent.body
        lower = said.lower()
        found += [(sent.path, word) for word in words if word.lower().encode() in lower and _means(sent.path, word)]
        if sent.path.startswith("/i/"):
            found += [
                (sent.path, kind) for kind in _chunks(sent.body) if kind in ("tEXt", "iTXt", "zTXt", "eXIf", "tIME")
            ]
        if sent.path.startswith("/api/") and sent.body:
            keys = set(_keys(json.loads(sent.body)))
            found += [(sent.path, key) for key in keys & {"kind", "expected", "check", "repeat_of", "item", "image"}]
    return found


def _means(path: str, word: str) -> bool:
    """Whether a word says something where it was found: in the pixels of a picture a short one stands by chance."""
    return not path.startswith("/i/") or len(word) > 6


def _chunks(png: bytes) -> list[str]:
    """Kinds of the chunks of a PNG."""
    kinds, at = [], 8
    while png[:4] == b"\x89PNG" and at + 8 <= len(png):
        kinds.append(png[at + 4 : at + 8].decode("latin-1"))
        at += 12 + int.from_bytes(png[at : at + 4])
    return kinds


def _keys(data: Any) -> list[str]:
    if isinstance(data, dict):
        return [key for name, value in data.items() for key in (name, *_keys(value))]
    return [key for value in data for key in _keys(value)] if isinstance(data, list) else []
