"""The methods paragraph of a study that was asked: from a laboratory's store to the sentences of a paper."""

from __future__ import annotations

import shutil
from pathlib import Path

import httpx
import pytest
from asked_study import AskedStudy, asked_study, served_folder
from study_folder import PAIRS, RATINGS, study_folder

from paragone.design import read_study
from paragone.loop.gather import gather
from paragone.loop.serving import export_folder
from paragone.report import report
from paragone.study.client import Walker
from paragone.study.crowd import Crowd
from paragone.study.server.pseudonyms import code_sha256
from paragone.study.server.simulated import passes
from paragone.study.stated import stated
from paragone.study.store import Store, people

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "text-to-image" / "study.toml"
CALM = PAIRS.replace("break_seconds = 30", "break_seconds = 0")


def _said(here: AskedStudy) -> str:
    return here.store.read_now(stated) or ""


def _walks(here: AskedStudy, query: str, *, form: dict[str, str] | None = None, misread: int = 0) -> None:
    """Somebody who answers everything, from the door to the end of the first session."""
    member = Crowd(here.frozen, here.keys.derived("public ids"), here.latent, seed=1).member(0, careless=False)
    with httpx.Client(base_url=here.address, timeout=20) as http:
        walker = Walker(
            http,
            lambda trial, criterion: member.answer(trial["id"], criterion),
            train=lambda question, _criterion: member.trained(question["id"]).value,
        )
        if form is None:
            walker.enter(query)
        else:
            came = http.post("/enter", data=form, headers={"Origin": here.address}, follow_redirects=False)
            assert came.status_code == 303
            walker.open(came.headers["location"].partition("k=")[2])
        state = walker.walk(until="device")
        plates = {one["id"]: member.plate(one["choices"]) for one in state["device"]["plates"][misread:]}
        plates |= {one["id"]: "none" for one in state["device"]["plates"][:misread]}
        screen = {"screen_width": 2048, "screen_height": 1152, "ratio": 2, "px_per_cm": 38.4, "plates": plates}
        state = walker.step("device", screen)
        lease, stage, owner = here.rows("SELECT id, stage, owner FROM lease WHERE state = 'leased'")[0]
        member.sit(int(str(lease)), str(stage), str(owner))
        walker.walk(state)


def test_the_example_of_a_laboratory_states_its_display_and_distance(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "study", RATINGS.replace("sessions = 2", "sessions = 1"))
    room = EXAMPLE.read_text(encoding="utf-8")
    (folder / "study.toml").write_text(
        (folder / "study.toml").read_text() + room[room.index("[lab]") :] + 'vision = ["acuity", "colour"]\n'
    )
    with served_folder(folder, lab=True) as here:
        here.store.write_now(lambda c: people.add_codes(c, {code_sha256(here.keys.hmac, "K7QM3XWA"): "x"}, 1.0))
        before = _said(here)
        _walks(here, "", form={"code": "K7QM3XWA", "acuity": "passed", "colour": "failed", "distance_cm": "45"})
        said = _said(here)
    for sentence in (
        "in a laboratory, one participant after another",
        "Display: iMac, 4,096 x 2,304 pixels.",
        "The viewing distance was 1.5 screen heights or 45 cm",
        "The room light was: normal indoor light (not measured).",
    ):
        assert sentence in said
    assert "4,096 x 2,304" in before  # the plan alone says so
    assert "1.5 screen heights or 45 cm" in before
    assert "Visual acuity was tested by the operator: 1 passed." in said
    assert "Colour vision was tested by the operator: 1 failed." in said
    assert "1 person agreed to take part." in said
    assert "The results of the vision tests are not recorded." in before
    assert "All answers are simulated" not in said


def test_the_shipped_settings_say_what_the_published_study_states() -> None:
    lab = read_study(EXAMPLE).lab
    assert (lab.resolution, lab.distance_heights, lab.distance_cm, lab.monitor) == ([4096, 2304], 1.5, 45.0, "iMac")


def test_a_card_gives_the_distance_where_only_screen_heights_are_known(tmp_path: Path) -> None:
    with asked_study(tmp_path, CALM + "[lab]\ndistance_heights = 1.5\n") as here:
        _walks(here, "")
        said = _said(here)
    height = 1152 / 38.4  # cm
    assert f"The viewing distance was 1.5 screen heights or {1.5 * height:.0f} cm" in said
    assert "as a card measured it (n = 1)" in said
    assert "median of 4,096 x 2,304 device pixels (n = 1)" in said


def test_simulated_participants_are_never_counted_as_people(tmp_path: Path) -> None:
    with asked_study(tmp_path, CALM) as here:
        ticket = passes(here.keys.hmac, 1)[0]
        _walks(here, f"?simulated={ticket}")
        said = _said(here)
        assert said.startswith("All answers are simulated: no person took part.")
        assert "1 participant completed the study" in said
        _walks(here, "")
        said = _said(here)
        assert "simulated" not in said
        assert "1 person agreed to take part." in said
        assert "1 participant completed the study" in said


def test_what_the_benchmark_and_the_plan_decide_is_stated(tmp_path: Path) -> None:
    with asked_study(tmp_path, CALM) as here:
        said = _said(here)
    assert "The stimuli were 8 items." in said
    assert "not recorded" in said  # nobody has taken part


def test_a_store_that_serves_nothing_states_nothing(tmp_path: Path, sqlite_store: Path) -> None:
    shutil.copyfile(sqlite_store, tmp_path / "study.db")
    with Store.open(f"sqlite:///{tmp_path / 'study.db'}") as store:
        assert store.read_now(stated) is None


def test_plates_are_counted_by_what_they_show(tmp_path: Path) -> None:
    with asked_study(tmp_path, CALM + "[display]\nplates = 3\n") as here:
        _walks(here, "")
        _walks(here, "", misread=1)
        said = _said(here)
    assert "1 of 2 participants read all of up to 3 colour-vision plates on their screen" in said


def test_an_export_and_a_report_hold_the_paragraph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with asked_study(tmp_path, CALM) as here:
        _walks(here, "")
        said = _said(here)
    folder = tmp_path / "study"
    told = export_folder(folder, folder / "export")
    assert (folder / "export" / "methods.txt").read_text(encoding="utf-8") == said + "\n"
    assert told["files"]["methods.txt"]["rows"] == 1
    assert gather(folder).study == said
    page = report(gather(folder), tmp_path / "report.html").read_text(encoding="utf-8")
    assert "People came by an open link. They took part on" in page
    monkeypatch.setattr("paragone.loop.gather.can_serve", lambda: False)
    assert gather(folder).study == said  # without the study server: from the export
    (folder / "export" / "methods.txt").unlink()
    assert gather(folder).study == ""
