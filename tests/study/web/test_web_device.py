"""What is found out about a screen, and who is asked to come back with another one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fake_study import FakeStudy
from visitor import Visitor

pytestmark = pytest.mark.browser
Visit = Callable[..., Visitor]
DEVICE = ("device", "ready", "trial", "finish", "done")


def test_a_small_window_is_refused_until_it_grows(visit: Visit) -> None:
    study = FakeStudy(n=1)
    who = visit(study, viewport={"width": 900, "height": 700}, screen={"width": 1440, "height": 900})
    who.page.get_by_text("It is 900 x 700, and the study needs at least 1024 x 600").wait_for()
    assert who.page.locator("#page").is_hidden()
    who.page.set_viewport_size({"width": 1100, "height": 700})
    who.until(lambda: who.page.locator("#page").is_visible(), "room")
    who.consent()
    who.phase("device")


def test_a_window_that_shrinks_in_a_trial_takes_no_answers(visit: Visit) -> None:
    study = FakeStudy(phases=("trial", "finish", "done"), n=1, criteria=("overall",))
    who = visit(study)
    who.trial()
    who.page.set_viewport_size({"width": 800, "height": 500})
    who.until(lambda: who.page.locator("#page").is_hidden(), "the refusal")
    who.page.keyboard.press("1")
    who.page.wait_for_timeout(200)
    assert study.posts == []
    who.page.set_viewport_size({"width": 1440, "height": 900})
    who.until(lambda: who.page.locator("#page").is_visible(), "room")
    who.page.keyboard.press("1")
    who.phase("done")


def test_a_phone_is_refused_politely(visit: Visit, driver: object) -> None:
    study = FakeStudy()
    who = visit(study, viewport={"width": 390, "height": 844}, screen={"width": 390, "height": 844}, has_touch=True)
    who.page.get_by_text("Please open the link again on a computer").wait_for()
    assert study.steps == []


def test_a_card_gives_pixels_per_centimetre(visit: Visit) -> None:
    study = FakeStudy(phases=DEVICE, n=1)
    who = visit(study)
    who.phase("device")
    slider = who.page.get_by_label("Width of the frame")
    slider.focus()
    for _ in range(3):
        who.page.keyboard.press("ArrowRight")
    box = who.page.locator(".card").bounding_box()
    assert abs(box["width"] / box["height"] - 85.60 / 53.98) < 0.01
    assert box["width"] == 327
    who.look_at_screen()
    who.phase("ready")
    facts = study.steps[0]["body"]
    assert facts["px_per_cm"] == round(327 / 8.56, 2)
    assert facts["plates"] == {"plate0AAAAAAAAAAA": "12"}
    assert (facts["width"], facts["height"], facts["ratio"]) == (1440, 900, 1)
    assert facts["recoloured"] is False


def test_who_has_no_card_and_sees_no_number_goes_on(visit: Visit) -> None:
    study = FakeStudy(phases=DEVICE, n=1)
    who = visit(study)
    who.phase("device")
    who.press("Continue")
    who.page.wait_for_timeout(200)
    assert study.steps == []  # neither was answered
    who.page.get_by_label("I have no card").check()
    who.page.get_by_label("None").check()
    who.press("Continue")
    who.phase("ready")
    facts = study.steps[0]["body"]
    assert (facts["px_per_cm"], facts["plates"]) == (None, {"plate0AAAAAAAAAAA": "none"})


@pytest.mark.parametrize(
    "how",
    [
        "document.documentElement.style.setProperty('filter', 'invert(1)')",
        "document.documentElement.style.setProperty('background-color', '#111', 'important')",
    ],
)
def test_a_page_that_something_recolours_is_told(visit: Visit, how: str) -> None:
    study = FakeStudy(phases=DEVICE, n=1)
    study.card, study.plates = False, 0
    who = visit(study)
    who.phase("device")
    assert "Something changes the colours" not in who.page.locator("main").inner_text()
    who.page.evaluate(how)
    who.press("Check again")
    who.page.get_by_text("Something changes the colours").wait_for()
    who.press("Continue")  # it is recorded, and nobody is shut out
    who.phase("ready")
    assert study.steps[0]["body"]["recoloured"] is True


def test_a_zoomed_browser_is_told_and_recorded(visit: Visit) -> None:
    study = FakeStudy(phases=DEVICE, n=1)
    study.card, study.plates = False, 0
    who = visit(study)
    who.phase("device")
    assert "zoom of the browser" not in who.page.locator("main").inner_text()
    who.page.evaluate("Object.defineProperty(window, 'outerWidth', {value: 1.5 * innerWidth, configurable: true})")
    who.press("Check again")
    who.page.get_by_text("Please set the zoom of the browser to 100 %").wait_for()
    who.press("Continue")
    who.phase("ready")
    assert study.steps[0]["body"]["zoom"] == 150


def test_forced_colours_are_told(visit: Visit) -> None:
    study = FakeStudy(phases=DEVICE, n=1)
    who = visit(study, forced_colors="active")
    who.phase("device")
    who.page.get_by_text("Something changes the colours").wait_for()


def test_a_dark_preference_changes_nothing_and_is_recorded(visit: Visit) -> None:
    study = FakeStudy(phases=DEVICE, n=1)
    who = visit(study, color_scheme="dark")
    who.look_at_screen()
    who.phase("ready")
    assert study.steps[0]["body"]["dark"] is True
    assert study.steps[0]["body"]["recoloured"] is False
    colour = who.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert colour == "rgb(108, 108, 108)"


def test_pages_declare_their_language_and_forbid_translation(visit: Visit) -> None:
    study = FakeStudy(language="zh")
    who = visit(study)
    who.phase("consent")
    html = who.page.locator("html")
    assert html.get_attribute("lang") == "zh"
    assert html.get_attribute("translate") == "no"
