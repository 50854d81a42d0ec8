"""Somebody at a browser: what tests of the participant's page press and see."""

from __future__ import annotations

import time
from typing import Any

from fake_study import FakeStudy

__all__ = ["FLAGS", "Visitor"]

FLAGS = ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"]
_PATIENCE = 15.0  # seconds
_NETWORK = ("net::ERR", "Failed to load resource")  # the browser itself notes a failed request; the page may cause none


class Visitor:
    """One window on a study.

    Args:
        page: Playwright's page, not yet opened.
        study: what the server does.
        origin: where it is.
    """

    def __init__(self, page: Any, study: FakeStudy, origin: str) -> None:
        self.page, self.study, self.origin = page, study, origin
        self.console: list[str] = []
        self.abroad: list[str] = []
        self.network_faults_wanted = False
        page.set_default_timeout(_PATIENCE * 1000)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.console.append(f"error: {error}"))
        page.on("request", self._asked)

    def _heard(self, message: Any) -> None:
        if message.type not in ("error", "warning"):
            return
        if self.network_faults_wanted and any(word in message.text for word in _NETWORK):
            return
        self.console.append(f"{message.type}: {message.text}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.origin, "blob:", "data:", "about:")):
            self.abroad.append(request.url)

    def data(self) -> dict[str, str]:
        """What the page tells of itself."""
        return dict(self.page.locator("body").evaluate("body => ({...body.dataset})"))

    def until(self, holds: Any, what: str = "") -> Any:
        """Wait for something to become true; gives it."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            found = holds()
            if found:
                return found
            self.page.wait_for_timeout(20)
        raise AssertionError(f"waited in vain for {what or holds}; the page says {self.data()}")

    def phase(self, name: str) -> None:
        """Wait for a phase."""
        self.until(lambda: self.data().get("phase") == name, f"phase {name}")

    def trial(self, trial: str | None = None, criterion: str | None = None) -> dict[str, str]:
        """Wait until a trial (or one of its questions) takes answers; gives what the page tells."""

        def shown() -> dict[str, str] | None:
            data = self.data()
            fits = trial in (None, data.get("trial")) and criterion in (None, data.get("criterion"))
            return data if "onset" in data and fits else None

        data: dict[str, str] = self.until(shown, f"trial {trial} {criterion}")
        self.page.wait_for_timeout(170)  # the guard
        return data

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=name, exact=True)

    def press(self, name: str) -> None:
        self.button(name).click()

    def consent(self) -> None:
        self.phase("consent")
        for box in self.page.locator("input[type=checkbox]").all():
            box.check()
        self.press("Agree and start")

    def look_at_screen(self) -> None:
        self.phase("device")
        self.page.get_by_label("The frame fits").check()
        for number in range(self.study.plates):
            self.page.locator("fieldset").nth(number).get_by_label("12").check()
        self.press("Continue")

    def read(self) -> None:
        """Instructions and tutorial."""
        self.phase("instructions")
        self.press("Continue")
        self.phase("tutorial")
        self.press("Continue")
        self.page.locator("[data-side]").first.click()
        self.page.get_by_text("Yes.").wait_for()
        self.press("Continue")

    def train(self, *keys: str) -> None:
        """Answer the training questions with keys."""
        self.phase("training")
        self.press("Continue")
        for number, key in enumerate(keys):
            self.trial(f"train{number}AAAAAAAAAAA")
            self.page.keyboard.press(key)
            self.page.locator(".told").wait_for()
            self.press("Continue")

    def answered(self) -> dict[tuple[str, str], str]:
        """What the server has: (trial, criterion) -> value of the last revision."""
        rows = sorted(self.study.answers.items(), key=lambda item: item[0][2])
        return {(trial, criterion): row["value"] for (trial, criterion, _), row in rows}
