"""Sheets and sessions of the published length, walked by keyboard in a real browser on the real server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from asked_study import served_folder
from examples_cut import CHUNK, METHODS, ratings_folder, style_folder
from somebody import Somebody, lab_code, leaks

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Window = Callable[..., Somebody]
PAIR_SECRETS = {*METHODS, CHUNK, "ct-harbour", "st-gouache", "stylized", "broken", ".png", "within-0", "across-0"}
RATING_SECRETS = {"gen-alpha", "gen-beta", CHUNK, "broken-", ".png", "rated-0", "stabilising"}
CODE = "K7QM-3XWA"


@pytest.mark.parametrize(("stage", "trials", "checks"), [("within", 144, 6), ("across", 120, 4)])
def test_a_sheet_of_the_published_length_goes_by_keyboard(
    tmp_path: Path, window: Window, stage: str, trials: int, checks: int
) -> None:
    people = {"participants = 122": "participants = 4", "participants = 142": "participants = 4"}
    with served_folder(style_folder(tmp_path / "study", people, methods=12, side=96)) as here:
        who = window(here, fast=True)
        who.open(f"?stage={stage}")
        who.begin()
        assert who.trials(by="key")["phase"] == "break"
        here.ahead += 60.0
        who.page.context.clock.fast_forward(60_000)
        who.rest()
        assert who.trials(by="key")["phase"] == "questionnaire"
        who.tell()
        assert len(who.code()) == 8
        assert here.one("SELECT count(*) FROM answer") == 3 * (trials + checks)
        assert here.rows("SELECT state FROM lease WHERE participant_id = 1") == [("complete",)]
        assert leaks(here, PAIR_SECRETS) == []


def test_a_session_of_the_published_length_goes_by_keyboard(tmp_path: Path, window: Window) -> None:
    cut = {"participants = 22": "participants = 1", "sessions = 5": "sessions = 1", "plates = 4": "plates = 2"}
    with served_folder(ratings_folder(tmp_path / "study", cut, items=216, side=128)) as here:
        lab_code(here, CODE)
        who = window(here, fast=True)
        who.open()
        who.page.get_by_label("Your code").fill(CODE)
        who.page.get_by_role("button", name="Start").click()
        who.begin()
        assert who.trials(by="key")["phase"] == "questionnaire"
        who.tell()
        assert len(who.code()) == 8
        assert here.one("SELECT count(*) FROM answer") == 216 + 5 + 2 + 4
        assert leaks(here, RATING_SECRETS) == []
