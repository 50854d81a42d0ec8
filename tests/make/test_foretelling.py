"""How long a run will take."""

from __future__ import annotations

from pathlib import Path

import pytest

from make_world import MAKE, world
from paragone.images import Picture
from paragone.make import foretelling
from paragone.make.building import build, work_in
from paragone.make.cells import Job
from paragone.make.foretelling import forecast, foretold, spoken
from paragone.make.making import Making, read_making


def _work(folder: Path) -> tuple[Making, dict]:
    making = read_making(folder / "make.toml")
    return making, work_in(making, folder, beside=folder)[0]


def test_what_was_never_made_is_tried_small_and_what_was_made_is_known(tmp_path: Path) -> None:
    folder = world(tmp_path)
    making, work_of = _work(folder)
    before = forecast(making, work_of, beside=folder).frame
    assert before["done"].to_list() == [0, 0]
    assert (before["seconds"] > 0).all()
    assert not (folder / "results").exists()
    build(making, folder, methods=["brush"])
    after = forecast(making, work_of, beside=folder)
    assert after.frame["done"].to_list() == [0, 4]
    assert "reinhard (styliser): 4 of 4 cells to make, about 0 s of CPU time" in after.text
    assert "brush (styliser): 0 of 4 cells to make\n" in after.text


def test_a_styliser_that_foretells_its_time_is_believed(tmp_path: Path) -> None:
    folder = world(tmp_path, MAKE + '\n[method.gatys]\nkind = "styliser"\noptions = { iterations = 60 }\n')
    making = read_making(folder / "make.toml")
    whole = foretold("gatys", making.method["gatys"], _jobs(folder, making), folder)
    half = foretold("gatys", _halved(making), _jobs(folder, making), folder)
    assert whole == pytest.approx(2 * half)
    assert foretold("reinhard", making.method["reinhard"], _jobs(folder, making), folder) is None


def test_manners_are_tried_one_by_one_and_count_by_their_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three styles, one of them called mondrian; a clock by which that manner takes 1 s a picture, any other 4 s."""
    folder = world(tmp_path, MAKE + '\n[method.llip]\nkind = "styliser"\n', styles=3)
    (folder / "in" / "styles" / "s1.png").rename(folder / "in" / "styles" / "mondrian.png")
    clock, tried = [0.0], []

    def made(styliser: str, content: Picture, style: Picture, *, job: Job, options: object) -> Picture:
        tried.append(job.hints.get("manner", ""))
        clock[0] += 1.0 if tried[-1] == "mondrian" else 4.0
        return content

    monkeypatch.setattr(foretelling, "made_by", made)
    monkeypatch.setattr(foretelling.time, "process_time", lambda: clock[0])
    making, work_of = _work(folder)
    told = forecast(making, {"llip": work_of["llip"]}, beside=folder).frame["seconds"].item()
    assert set(tried) == {"", "mondrian"}
    assert told == pytest.approx((1 + 4 + 4) / 3)  # contents are as small as the trial


def _jobs(folder: Path, making: Making) -> list:
    return work_in(making, folder, beside=folder, methods=["reinhard"])[0]["gatys"]


def _halved(making: Making) -> object:
    import msgspec

    return msgspec.structs.replace(making.method["gatys"], options={"iterations": 30})


def test_seconds_are_spoken() -> None:
    assert [spoken(s) for s in (40, 600, 9000)] == ["40 s", "10 min", "2.5 h"]
