"""axe finds nothing on any page, in any layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_study import FakeStudy
from real_browser import wanted
from visitor import Visitor

pytestmark = pytest.mark.browser
Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def axe() -> str:
    package = wanted("axe_core_python")
    return (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def _violations(who: Visitor, axe: str) -> list[str]:
    """What axe finds; it comes in by the debugger's door, past the page's policy."""
    session = who.page.context.new_cdp_session(who.page)

    def run(code: str) -> Any:
        given = {"expression": code, "awaitPromise": True, "returnByValue": True}
        answer = session.send("Runtime.evaluate", given)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    run(f"{axe};undefined")
    found = run(
        "axe.run(document, {resultTypes: ['violations']}).then(({violations}) => JSON.parse(JSON.stringify(violations)))"
    )
    session.detach()
    return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize(
    "phase",
    ["consent", "device", "instructions", "tutorial", "training", "ready", "break", "questionnaire", "wait", "full",
     "paused", "closed", "preview-end", "done"],
)  # fmt: skip
def test_pages_around_the_trials_are_clean(visit: Visit, axe: str, phase: str) -> None:
    study = FakeStudy()
    study.forced = phase
    study.break_until = 4e9
    who = visit(study)
    who.phase(phase)
    who.page.locator("main h1").wait_for()
    assert _violations(who, axe) == []


@pytest.mark.parametrize(
    ("page", "layout", "more"),
    [
        ("pairs", "four", {}),
        ("pairs", "six", {"third": "unsure"}),
        ("pairs", "four", {"ask": "all", "third": "tie"}),
        ("pairs", "six", {"ask": "all"}),
        ("slider", "single", {"criteria": ("quality",)}),
        ("slider", "double", {"criteria": ("quality", "alignment")}),
        ("acr", "single", {"criteria": ("quality",)}),
        ("dcr", "double", {"criteria": ("quality",)}),
    ],
)
def test_trials_are_clean(visit: Visit, axe: str, page: str, layout: str, more: dict[str, Any]) -> None:
    who = visit(FakeStudy(phases=("trial", "finish", "done"), page=page, layout=layout, size=(300, 300), **more))
    who.trial()
    assert _violations(who, axe) == []
    if page == "pairs":
        who.page.keyboard.press("z")
        assert _violations(who, axe) == []


def test_examples_feedback_and_the_last_question_are_clean(visit: Visit, axe: str) -> None:
    who = visit(FakeStudy(phases=("tutorial", "training", "ready", "trial", "finish", "done")))
    who.phase("tutorial")
    who.press("Continue")
    who.page.locator("[data-side]").first.click()
    assert _violations(who, axe) == []
    who.press("Continue")
    who.phase("training")
    who.press("Continue")
    who.trial()
    who.page.keyboard.press("2")
    who.page.locator(".told").wait_for()
    assert _violations(who, axe) == []


def test_refusals_and_the_other_tab_are_clean(visit: Visit, axe: str) -> None:
    study = FakeStudy(phases=("trial", "finish", "done"))
    who = visit(study)
    who.network_faults_wanted = True
    who.trial()
    who.page.set_viewport_size({"width": 500, "height": 500})
    who.until(lambda: who.page.locator("#page").is_hidden(), "the refusal")
    assert _violations(who, axe) == []
    who.page.set_viewport_size({"width": 1440, "height": 900})
    who.until(lambda: who.page.locator("#page").is_visible(), "the page")  # before that no key is taken
    study.token = "token-9"
    who.page.keyboard.press("1")
    who.phase("replaced")
    assert _violations(who, axe) == []


def test_leaving_asks_once_more_cleanly(visit: Visit, axe: str) -> None:
    who = visit(FakeStudy())
    who.phase("consent")
    who.press("Do not take part")
    assert _violations(who, axe) == []
