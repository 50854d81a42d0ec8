"""A participant walks through the whole study: by mouse, by keyboard alone, by touch alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fake_study import FakeStudy
from visitor import Visitor

pytestmark = pytest.mark.browser
Visit = Callable[..., Visitor]


def test_a_study_is_walked_by_mouse_from_consent_to_code(visit: Visit) -> None:
    study = FakeStudy(n=4)
    study.break_after, study.break_seconds = 2, 1.0
    who = visit(study)
    who.consent()
    who.look_at_screen()
    who.read()
    who.train("1", "1")
    who.phase("ready")
    who.press("Start the study")
    for number, trial in enumerate(study.trials):
        if number == 2:
            who.phase("break")
            assert who.button("Continue").is_disabled()
            who.until(lambda: who.button("Continue").is_enabled(), "the end of the break")
            who.press("Continue")
        for criterion in study.criteria:
            who.trial(trial, criterion)
            who.button("Result B" if number % 2 else "Result A").click()
    who.phase("questionnaire")
    who.page.get_by_label("Gender").select_option(index=1)
    who.page.get_by_label("Is there anything").fill("fine")
    who.press("Send")
    who.phase("done")
    assert who.page.locator(".code").inner_text() == "C1ABCD"
    assert who.page.get_by_role("link").get_attribute("href") == "https://panel.example/back?cc=C1ABCD"
    wanted = {
        (trial, name): ("left", "right")[number % 2]
        for number, trial in enumerate(study.trials)
        for name in study.criteria
    }
    assert who.answered() == wanted
    assert len(study.posts) == len(wanted)
    steps = {step["step"]: step["body"] for step in study.steps}
    assert list(steps) == [
        "consent",
        "device",
        "instructions",
        "tutorial",
        "training",
        "begin",
        "break",
        "questionnaire",
    ]
    assert steps["consent"] == {"version": "abc"}
    assert len(steps["questionnaire"]["answers"]) == 1  # what was left out is not sent
    assert steps["questionnaire"]["remark"] == "fine"


def test_a_study_is_walked_by_keyboard_alone(visit: Visit) -> None:
    study = FakeStudy(n=2, third="tie")
    who = visit(study)
    press = who.page.keyboard.press
    who.phase("consent")
    _tab_to(who, "input[type=checkbox]")
    press("Space")
    press("Tab")
    press("Space")
    press("Tab")
    press("Enter")
    who.phase("device")
    _tab_to(who, "input[type=range]")
    press("ArrowRight")
    press("Tab")
    press("Space")
    _tab_to(who, "input[type=radio]")
    press("Space")
    _submit(who)
    who.phase("instructions")
    _submit(who)
    who.phase("tutorial")
    _submit(who)
    who.page.locator("[data-side]").first.wait_for()
    _tab_to(who, "[data-side=left]")
    press("Enter")
    who.page.get_by_text("Yes.").wait_for()
    _submit(who)
    who.phase("training")
    _submit(who)
    for number in range(2):
        who.trial(f"train{number}AAAAAAAAAAA")
        press("ArrowLeft")
        who.page.locator(".told").wait_for()
        press("Enter")  # the focus is on the button that goes on
    who.phase("ready")
    _submit(who)
    for trial in study.trials:
        for criterion, key in zip(study.criteria, ("2", "ArrowLeft", "3"), strict=True):
            who.trial(trial, criterion)
            press(key)
    who.phase("questionnaire")
    _submit(who)
    who.phase("done")
    values = [value for (trial, _), value in who.answered().items() if trial == study.trials[0]]
    assert values == ["right", "left", "tie"]
    assert {row["body"]["input"] for row in study.answers.values()} == {"key"}


def test_a_result_that_has_the_focus_is_chosen_by_enter(visit: Visit) -> None:
    study = FakeStudy(phases=("trial", "finish", "done"), n=1, criteria=("overall",))
    who = visit(study)
    who.trial()
    _tab_to(who, "[data-side=right]")
    who.page.keyboard.press("Enter")
    who.phase("done")
    (row,) = study.answers.values()
    assert (row["value"], row["body"]["input"]) == ("right", "key")


def test_a_study_is_walked_by_touch_alone(visit: Visit) -> None:
    study = FakeStudy(n=2, page="slider", layout="single", criteria=("quality",))
    who = visit(study, has_touch=True)
    who.phase("consent")
    for box in who.page.locator("input[type=checkbox]").all():
        box.tap()
    who.button("Agree and start").tap()
    who.phase("device")
    who.page.get_by_label("I have no card").tap()
    who.page.get_by_label("12").tap()
    who.button("Continue").tap()
    who.phase("instructions")
    who.button("Continue").tap()
    who.phase("tutorial")
    who.button("Continue").tap()
    who.page.locator("[data-side]").first.tap()
    who.page.get_by_text("Yes.").wait_for()
    who.button("Continue").tap()
    who.phase("training")
    who.button("Continue").tap()
    for number in range(2):
        who.trial(f"train{number}AAAAAAAAAAA")
        _tap_slider(who, 0.2)
        who.button("Next").tap()
        who.page.locator(".told").wait_for()
        who.button("Continue").tap()
    who.phase("ready")
    who.button("Start the study").tap()
    for trial in study.trials:
        who.trial(trial)
        _tap_slider(who, 0.4)
        who.button("Next").tap()
    who.phase("questionnaire")
    who.button("Send").tap()
    who.phase("done")
    assert {row["body"]["input"] for row in study.answers.values()} == {"touch"}
    assert all(2.5 < float(value) < 3.5 for value in who.answered().values())


def test_who_declines_is_asked_once_more_and_then_let_go(visit: Visit) -> None:
    study = FakeStudy()
    who = visit(study)
    who.phase("consent")
    who.press("Do not take part")
    who.page.get_by_role("dialog").get_by_role("button", name="Keep reading").click()
    assert study.steps == []
    who.press("Do not take part")
    who.page.get_by_role("dialog").get_by_role("button", name="Do not take part").click()
    who.phase("done")
    assert [step["step"] for step in study.steps] == ["decline"]
    assert who.page.locator(".code").count() == 0


def test_nobody_goes_on_without_ticking_every_box(visit: Visit) -> None:
    study = FakeStudy()
    who = visit(study)
    who.phase("consent")
    who.page.locator("input[type=checkbox]").first.check()
    who.press("Agree and start")
    who.page.wait_for_timeout(300)
    assert study.steps == []


def test_wrong_training_answers_are_told_at_once_and_three_failed_attempts_end_it(visit: Visit) -> None:
    study = FakeStudy(phases=("training", "ready", "trial", "finish", "done"))
    who = visit(study)
    who.phase("training")
    for attempt in range(3):
        again = who.page.get_by_role("heading", name="What to do")
        assert again.count() == (1 if attempt else 0)
        who.press("Continue")
        for number, key in enumerate("12"):
            who.trial(f"train{number}AAAAAAAAAAA")
            assert f"Try {attempt + 1} of 3" in who.page.locator("#count").inner_text()
            who.page.keyboard.press(key)
            told = who.page.locator(".told")
            told.wait_for()
            right = key == "1"
            assert told.inner_text().startswith("Right. Well seen." if right else "Not right. Please look once more")
            who.press("Continue")
    who.phase("done")
    assert who.page.locator(".code").inner_text() == "CFAIL"


def test_a_training_that_is_reloaded_goes_on_at_its_question(visit: Visit) -> None:
    study = FakeStudy(phases=("training", "ready", "trial", "finish", "done"))
    who = visit(study)
    who.train("1")
    who.trial("train1AAAAAAAAAAA")
    who.page.reload()
    who.trial("train1AAAAAAAAAAA")
    who.page.keyboard.press("1")
    who.page.locator(".told").wait_for()
    who.press("Continue")
    who.phase("ready")


def test_the_back_button_neither_loses_nor_repeats_an_answer(visit: Visit) -> None:
    study = FakeStudy(phases=("trial", "finish", "done"), n=3, criteria=("overall",))
    who = visit(study)
    for trial in study.trials[:2]:
        who.trial(trial)
        who.page.keyboard.press("1")
    who.trial(study.trials[2])
    for _ in range(3):
        who.page.evaluate("history.back()")
        who.page.wait_for_timeout(150)
    assert "Nothing is lost" in who.page.locator("#status").inner_text()
    who.trial(study.trials[2])
    who.page.keyboard.press("2")
    who.phase("done")
    assert list(who.answered().values()) == ["left", "left", "right"]
    assert len(study.posts) == 3


def test_the_language_is_changed_on_the_first_page(visit: Visit) -> None:
    study = FakeStudy()
    who = visit(study)
    who.phase("consent")
    who.press("Deutsch")
    who.until(lambda: who.page.locator("html").get_attribute("lang") == "de", "German")
    assert who.page.get_by_role("button", name="English").count() == 1
    assert study.steps == []


def test_a_later_session_a_full_study_and_a_pause_are_told_calmly(visit: Visit) -> None:
    study = FakeStudy()
    study.forced = "paused"
    who = visit(study)
    for phase, words in {
        "paused": "paused",
        "wait": "next session opens at",
        "full": "try again later",
        "closed": "has ended",
        "preview-end": "Nothing was stored",
    }.items():
        study.forced = phase
        who.page.reload()
        who.phase(phase)
        assert words in who.page.locator("main").inner_text()


def test_the_end_of_a_session_names_the_next_one_and_a_panel_may_want_a_form(visit: Visit) -> None:
    study = FakeStudy(phases=("finish", "done"))
    study.done = {**study.done, "redirect": None, "form": {"action": "/submit", "fields": {"assignmentId": "A<1>"}}}
    study.done["next"] = {"at": 4e9, "session": 2}
    who = visit(study)
    who.phase("done")
    assert "2096" in who.page.locator("main").inner_text()
    form = who.page.locator("form")
    assert (form.get_attribute("method"), form.get_attribute("action")) == ("post", "/submit")
    assert form.locator("[name=assignmentId]").input_value() == "A<1>"


def _tab_to(who: Visitor, selector: str) -> None:
    for _ in range(40):
        if who.page.locator(":focus").count() and who.page.locator(":focus").first.evaluate(
            "(node, selector) => node.matches(selector)", selector
        ):
            return
        who.page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {selector}")


def _submit(who: Visitor) -> None:
    _tab_to(who, ".main")
    who.page.keyboard.press("Enter")


def _tap_slider(who: Visitor, down: float) -> None:
    box: Any = who.page.locator(".slider").bounding_box()
    who.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] * down)
