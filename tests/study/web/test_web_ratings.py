"""A picture and its score: the slider, the grades, what stands beside them, previous and next."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fake_study import FakeStudy
from PIL import Image
from visitor import Visitor

pytestmark = pytest.mark.browser
Visit = Callable[..., Visitor]


def _study(page: str = "slider", layout: str = "single", **more: object) -> FakeStudy:
    settings: dict[str, object] = {"phases": ("trial", "finish", "done"), "n": 3, "criteria": ("quality",)}
    return FakeStudy(page=page, layout=layout, **{**settings, **more})  # type: ignore[arg-type]


def test_the_slider_has_no_thumb_and_no_score_until_it_is_touched(visit: Visit) -> None:
    who = visit(_study())
    who.trial()
    slider = who.page.locator(".slider")
    assert _darkest(slider) > 90  # the surround and the white track
    assert slider.get_attribute("aria-valuetext") == "No score yet"
    assert who.button("Next").is_disabled()
    who.page.keyboard.press("Enter")
    assert who.study.posts == []
    _click(who, 0.3)
    assert _darkest(slider) < 60  # the thumb
    assert who.page.locator("output").inner_text() == slider.get_attribute("aria-valuetext").split()[0]
    assert who.button("Next").is_enabled()


def test_the_scale_stays_as_it_is_when_it_is_touched(visit: Visit) -> None:
    who = visit(_study())
    who.trial()
    slider = who.page.locator(".slider")
    hint = who.page.locator(".hint")
    before = slider.bounding_box()
    lowest, below = who.page.locator(".names b").first.bounding_box(), hint.bounding_box()
    assert hint.is_visible()
    assert lowest
    assert below
    assert lowest["y"] + lowest["height"] <= below["y"] + 3  # line boxes may overlap by their empty edges
    _click(who, 0.3)
    assert not hint.is_visible()
    assert slider.bounding_box() == before


def test_a_click_in_the_middle_is_a_score_too(visit: Visit) -> None:
    study = _study(n=1)
    who = visit(study)
    who.trial()
    _click(who, 0.5)  # where the hidden thumb lies: nothing changes, and still it was touched
    who.press("Next")
    who.phase("done")
    assert 2.3 <= float(study.posts[0]["value"]) <= 2.7


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (["ArrowUp"], "2.6"),
        (["ArrowDown", "ArrowDown"], "2.3"),
        (["PageUp", "PageUp", "ArrowUp"], "3.6"),
        (["PageDown"], "2"),
        (["Home"], "0"),
        (["End"], "5"),
        (["Home", "ArrowUp", "ArrowUp", "ArrowUp"], "0.3"),
        (["End", "PageUp"], "5"),
    ],
)
def test_keys_move_by_tenths_and_halves_and_no_float_noise_is_stored(visit: Visit, keys: list[str], value: str) -> None:
    study = _study(n=1)
    who = visit(study)
    who.trial()
    for _ in range(5):
        if who.page.locator(".slider:focus").count():
            break
        who.page.keyboard.press("Tab")
    for key in keys:
        who.page.keyboard.press(key)
    assert who.page.locator("output").inner_text() == f"{float(value):.1f}"
    who.page.keyboard.press("Enter")
    who.phase("done")
    assert study.posts[0]["value"] == value


def test_labels_stand_at_their_values(visit: Visit) -> None:
    who = visit(_study())
    who.trial()
    track = who.page.locator(".slider").bounding_box()
    names = who.page.locator(".names span")
    assert names.all_inner_texts() == ["Bad", "Poor", "Fair", "Good", "Excellent"]
    for number, name in enumerate(names.all()):
        box = name.bounding_box()
        place = track["y"] + track["height"] * (1 - (number + 0.5) / 5)
        assert abs(box["y"] + box["height"] / 2 - place) < 10
    middle = who.page.locator(".names span", has_text="Fair").bounding_box()
    who.page.mouse.click(track["x"] + track["width"] / 2, middle["y"] + middle["height"] / 2)
    assert who.page.locator("output").inner_text() in ("2.4", "2.5", "2.6")


def test_earlier_scores_may_be_changed_and_only_changes_are_sent(visit: Visit) -> None:
    study = _study()
    who = visit(study)
    for trial in study.trials[:2]:
        who.trial(trial)
        _click(who, 0.2)
        who.press("Next")
    who.trial(study.trials[2])
    who.press("Previous")
    who.trial(study.trials[1])
    first = who.page.locator("output").inner_text()
    assert first == f"{float(study.answers[(study.trials[1], 'quality', 0)]['value']):.1f}"
    who.press("Previous")
    who.trial(study.trials[0])
    assert who.button("Previous").is_disabled()
    who.press("Next")  # unchanged
    who.trial(study.trials[1])
    assert len(study.posts) == 2
    _click(who, 0.8)
    who.page.get_by_label("Artifacts").check()
    who.press("Next")
    who.trial(study.trials[2])
    who.until(lambda: (study.trials[1], "quality", 1) in study.answers, "the second revision")
    changed = study.answers[(study.trials[1], "quality", 1)]
    assert float(changed["value"]) < 1.5
    assert changed["body"]["distortions"] == ["artifact"]
    who.page.reload()
    who.trial(study.trials[2])
    who.press("Previous")
    who.trial(study.trials[1])
    assert who.page.get_by_label("Artifacts").is_checked()
    who.press("Next")
    who.trial(study.trials[2])
    _click(who, 0.5)
    who.press("Next")
    who.phase("done")
    assert len(study.answers) == 4


def test_ticked_boxes_and_the_prompt_stand_under_the_picture(visit: Visit) -> None:
    study = _study(n=1)
    who = visit(study)
    who.trial()
    picture, words = who.page.locator("main img").bounding_box(), who.page.locator("dl").bounding_box()
    assert words["y"] >= picture["y"] + picture["height"]
    assert "a cat on a mat" in who.page.locator("dl").inner_text()
    who.page.get_by_label("Blur or unclear texture").check()
    _click(who, 0.5)
    who.press("Next")
    who.phase("done")
    assert study.posts[0]["body"]["distortions"] == ["blur"]


def test_grades_are_chosen_by_digit_or_click(visit: Visit) -> None:
    study = _study("acr", n=2)
    who = visit(study)
    who.trial(study.trials[0])
    grades = who.page.locator("label.grade")
    assert [text.split()[-1] for text in grades.all_inner_texts()] == ["Excellent", "Good", "Fair", "Poor", "Bad"]
    assert who.button("Next").is_disabled()
    who.page.keyboard.press("4")
    assert who.page.get_by_role("radio", name="Good").is_checked()
    who.page.keyboard.press("Enter")
    who.trial(study.trials[1])
    grades.filter(has_text="Bad").click()
    who.press("Next")
    who.phase("done")
    assert [row["value"] for row in study.posts] == ["4", "1"]


def test_the_reference_stands_beside_the_picture(visit: Visit) -> None:
    study = _study("dcr", "double", n=1, size=(256, 256))
    who = visit(study)
    who.trial()
    left, right = (image.bounding_box() for image in who.page.locator("main img").all())
    assert left["y"] == right["y"]
    assert left["x"] < right["x"]
    assert [one.inner_text() for one in who.page.locator(".cap").all()] == ["Reference", "Picture"]
    who.page.keyboard.press("5")
    who.page.keyboard.press("Enter")
    who.phase("done")
    assert study.posts[0]["value"] == "5"


def test_several_criteria_have_a_scale_each(visit: Visit) -> None:
    study = _study(n=1, criteria=("quality", "alignment"))
    who = visit(study)
    who.trial()
    sliders = who.page.locator(".slider")
    assert sliders.count() == 2
    for number, slider in enumerate(sliders.all()):
        assert who.button("Next").is_disabled()
        slider.press("Home" if number else "End")
    who.press("Next")
    who.phase("done")
    assert {row["criterion"]: row["value"] for row in study.posts} == {"quality": "5", "alignment": "0"}
    assert [row["body"]["order"] for row in study.posts] == [0, 1]


@pytest.mark.parametrize("window", [(1440, 900), (1024, 600)])
def test_scales_of_one_page_start_alike_and_are_equally_large(visit: Visit, window: tuple[int, int]) -> None:
    study = _study(n=1, criteria=("quality", "alignment", "colour harmony of the whole and of every single part"))
    who = visit(study, viewport={"width": window[0], "height": window[1]})
    who.trial()
    asked = [one.bounding_box()["height"] for one in who.page.locator(".scale p").all()]
    assert max(asked) > min(asked)  # one question takes more lines
    for part in (".slider", ".track", ".scale output"):
        boxes = [one.bounding_box() for one in who.page.locator(part).all()]
        assert len({(round(box["y"]), round(box["height"]), round(box["width"])) for box in boxes}) == 1, part
    assert boxes[0]["width"] > 0
    assert who.page.locator(".slider").first.bounding_box()["height"] > 150


def test_there_is_no_zoom_where_the_study_has_none(visit: Visit) -> None:
    who = visit(_study())
    who.trial()
    who.page.keyboard.press("z")
    assert "zoom" not in who.data()
    assert who.page.locator(".small").count() == 0


@pytest.mark.parametrize("window", [(1440, 900), (1024, 600)])
@pytest.mark.parametrize("page", ["slider", "acr"])
def test_everything_is_above_the_fold(visit: Visit, page: str, window: tuple[int, int]) -> None:
    who = visit(_study(page, size=(512, 512)), viewport={"width": window[0], "height": window[1]})
    who.trial()
    for one in who.page.locator("main button, main img, main .grade, main .slider").all():
        box = one.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= window[1]
        assert box["x"] + box["width"] <= window[0]


def _darkest(slider: Any) -> int:
    return int(np.asarray(Image.open(io.BytesIO(slider.screenshot())).convert("L")).min())


def _click(who: Visitor, down: float) -> None:
    box: Any = who.page.locator(".slider").bounding_box()
    who.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] * down)
