"""How long a run will take."""

from __future__ import annotations

from pathlib import Path

import pytest

from make_world import MAKE, world
from paragone.make.building import build, work_in
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


def _jobs(folder: Path, making: Making) -> list:
    return work_in(making, folder, beside=folder, methods=["reinhard"])[0]["gatys"]


def _halved(making: Making) -> object:
    import msgspec

    return msgspec.structs.replace(making.method["gatys"], options={"iterations": 30})


def test_seconds_are_spoken() -> None:
    assert [spoken(s) for s in (40, 600, 9000)] == ["40 s", "10 min", "2.5 h"]
