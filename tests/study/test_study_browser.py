"""Simulated participants in a real Chromium: they walk what people walk, and what is stored is what they meant."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from asked_study import AskedStudy, served_folder
from real_browser import needed
from study_folder import PAIRS, RATINGS, study_folder

from command_line import call
from paragone.benchmark import Benchmark
from paragone.errors import BadConfig, Lost, MissingExtra, NotFound, WouldOverwrite
from paragone.loop.walking import walk_folder
from paragone.observers import Observers, latent_scores
from paragone.study import browser, read_answers
from paragone.study.crowd import Crowd
from paragone.study.frozen import freeze
from paragone.study.server.simulated import passes
from paragone.study.store.keys import read_keys

SCREEN = "[display]\ncard = true\nplates = 2\n"
ALL_AT_ONCE = PAIRS.replace('kind = "pairs"', 'kind = "pairs"\nask = "all"\ntie = "tie"')
GRADES = RATINGS.replace('kind = "ratings"', 'kind = "ratings"\npage = "acr"\nlow = 1\nhigh = 5\nstep = 1')


def _crowd(here: AskedStudy) -> Crowd:
    look = Observers(ties=0.5)
    return Crowd(here.frozen, here.keys.derived("public ids"), here.latent, seed=1, observers=look)


def _meant(here: AskedStudy, crowd: Crowd, number: int, lease: int) -> dict[tuple[str, str], tuple[str, float]]:
    """(trial, criterion) -> value and seconds that a member of the crowd means to give."""
    owner = here.rows(f"SELECT stage, owner FROM lease WHERE id = {lease}")[0]
    member = crowd.member(number, careless=False)
    member.sit(lease, str(owner[0]), str(owner[1]))
    return {
        (trial.trial, criterion): tuple(member.answer(public, criterion))
        for public, (_, trial) in member._trials.items()
        for criterion in here.frozen.criteria
    }


@pytest.mark.browser
@pytest.mark.parametrize("settings", [PAIRS, ALL_AT_ONCE, RATINGS, GRADES], ids=["pairs", "all", "slider", "acr"])
def test_what_is_stored_is_what_they_meant_to_answer(tmp_path: Path, settings: str) -> None:
    needed()
    with served_folder(study_folder(tmp_path / "study", settings + SCREEN)) as here:
        crowd = _crowd(here)

        async def rest(seconds: float) -> bool:
            here.ahead += seconds
            return True

        walked = browser.walk(f"{here.address}/", crowd, passes(here.keys.hmac, 2), rest=rest)
        assert [(one.participant, one.phase) for one in walked] == [("sim-0001", "done"), ("sim-0002", "done")]
        for number in (0, 1):
            meant = _meant(here, crowd, number, lease=number + 1)
            query = f"SELECT trial, criterion, value, seconds FROM answer WHERE lease_id = {number + 1}"
            stored = {(str(t), str(c)): (str(v), float(str(s))) for t, c, v, s in here.rows(query)}
            assert {key: value for key, (value, _) in stored.items()} == {
                key: value for key, (value, _) in meant.items()
            }
            longer = [stored[key][1] - meant[key][1] for key in meant]
            assert min(longer) > -0.05  # the page measured the time that the thought took, and the click
            assert walked[number].answers == len(meant)
        ways = {json.loads(str(body)).get("input") for (body,) in here.rows("SELECT body FROM answer")}
        assert ways == {"mouse", "key"}
        screens = [json.loads(str(b)) for (b,) in here.rows("SELECT body FROM event WHERE kind = 'device' ORDER BY id")]
        plates = {str(number): plate.digits for number, plate in enumerate(here.desk.plates(here.frozen))}
        assert [(one["plates"], one["px_per_cm"]) for one in screens[:2]] == [(plates, None), (plates, None)]


@pytest.mark.browser
def test_a_folder_is_walked_by_one_command_and_everything_says_simulated(tmp_path: Path) -> None:
    needed()
    settings = PAIRS + RATINGS + "[people]\nboth_stages = true\ngap_hours = 2.0\n"
    folder = study_folder(tmp_path / "study", settings)
    told = call("simulate", str(folder), "--through-browser", "2", "--careless", "0.5", "--seed", "2", "--json")
    said = told.document
    assert (told.code, said["simulated"]) == (0, True)
    assert [(one["participant"], one["phase"], len(one["codes"])) for one in said["participants"]] == [
        ("sim-0001", "done", 3),
        ("sim-0002", "done", 3),
    ]
    answers = read_answers(folder / "answers.csv")
    assert set(answers["participant"]) == {"sim-0001", "sim-0002"}
    assert answers.height == sum(one["answers"] for one in said["participants"])
    assert Benchmark.read(folder).simulated
    collected = call("collect", str(folder))
    assert (collected.code, (folder / "votes.csv").is_file(), (folder / "ratings.csv").is_file()) == (
        0,
        True,
        True,
    )


@pytest.mark.browser
def test_a_server_that_runs_already_is_walked_with_the_key_of_its_folder(tmp_path: Path) -> None:
    needed()
    folder = study_folder(tmp_path / "study", RATINGS + "[people]\ngap_hours = 1.0\n")
    keys = read_keys(folder / "study.key")
    with served_folder(folder, keys=keys) as here:
        told: list[str] = []
        made = walk_folder(folder, 1, url=here.address, told=told.append)
        assert [(one["participant"], one["phase"]) for one in made["participants"]] == [("sim-0001", "wait")]
        assert made["written"] == []
        assert not (folder / "answers.csv").exists()
        assert "gaps between sessions end the walk" in told[0]
        assert "1 session finished, 12 answers, then: wait" in told[1]


@pytest.mark.browser
@pytest.mark.slow
def test_a_break_longer_than_a_browser_waits_for_a_button_is_waited_for(tmp_path: Path) -> None:
    needed()
    folder = study_folder(tmp_path / "study", PAIRS.replace("break_seconds = 30", "break_seconds = 34"))
    keys = read_keys(folder / "study.key")
    with served_folder(folder, keys=keys) as here:
        made = walk_folder(folder, 1, url=here.address)
        assert [(one["participant"], one["phase"]) for one in made["participants"]] == [("sim-0001", "done")]


@pytest.mark.browser
def test_simulated_participants_take_no_sheets_that_people_are_on(tmp_path: Path) -> None:
    needed()
    folder = study_folder(tmp_path / "study")
    with served_folder(folder) as here:
        here.store.write_now(lambda c: c.exec_driver_sql(
            "INSERT INTO participant (name, platform, at) VALUES ('p-0001', 'open', 1.0)"
        ))  # fmt: skip
        here.store.write_now(lambda c: c.exec_driver_sql(
            "UPDATE lease SET participant_id = 1, state = 'leased' WHERE id = 1"
        ))  # fmt: skip
    with pytest.raises(WouldOverwrite, match="1 person has taken part in the study of that store"):
        walk_folder(folder, 1)


def test_without_playwright_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    with pytest.raises(MissingExtra, match=r"simulate --through-browser needs playwright: pip install '.*\[browser\]'"):
        browser.walk("http://127.0.0.1:9/", _idle(tmp_path), ["pass"])
    with pytest.raises(MissingExtra, match="simulate --through-browser needs playwright"):
        walk_folder(tmp_path / "study", 1)
    assert not (tmp_path / "study" / "study.db").exists()


@pytest.mark.browser
def test_without_a_chromium_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed()
    monkeypatch.setattr(browser, "chromium", lambda: "/nowhere/chromium")
    with pytest.raises(
        NotFound, match="no Chromium that starts; install chromium, or run: playwright install chromium"
    ):
        browser.walk("http://127.0.0.1:9/", _idle(tmp_path), ["pass"])


def test_a_page_that_does_not_open_is_told_without_the_pass(tmp_path: Path) -> None:
    needed()
    with pytest.raises(Lost, match="the browser: ") as caught:
        browser.walk("http://127.0.0.1:9/", _idle(tmp_path), ["secret-pass"])
    assert "secret-pass" not in caught.value.message


def _idle(tmp_path: Path) -> Crowd:
    frozen = freeze(study_folder(tmp_path / "study"), rehearsal=True)
    return Crowd(frozen, b"k" * 32, latent_scores(Benchmark.read(frozen.folder), seed=1), seed=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"speed": 0.5}, "--speed is 0.5; give 1"),
        ({"speed": float("nan")}, "--speed is nan; give 1"),
        ({"url": "nonsense"}, "--url is 'nonsense'; give the address that participants open"),
        ({"url": ""}, "--url is ''; give the address"),
        ({"url": "http://[::1"}, "give the address that participants open"),
        ({"url": "http://localhost:8000/admin?x=1"}, "give the address that participants open"),
        ({"url": "http://localhost:1/", "store": "sqlite:///x.db"}, "--store goes with a study that is served here"),
    ],
)
def test_impossible_options_are_refused(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        walk_folder(study_folder(tmp_path / "study"), 1, **options)


def test_options_of_the_browser_go_with_it(tmp_path: Path) -> None:
    told = call("simulate", str(study_folder(tmp_path / "study")), "--speed", "2")
    assert (told.code, "--speed goes with --through-browser N" in told.err) == (2, True)
