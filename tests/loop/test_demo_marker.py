"""A demo replaces what a demo made, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from paragone.errors import WouldOverwrite
from paragone.loop.demo_marker import MARKER, begin, clear, record


def demo(place: Path, *, finished: bool = True) -> None:
    """The files of a demo, noted unless it was cut off."""
    begin(place)
    for name in ("benchmark.toml", "results/alpha/cat.png", "scores/human.csv"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(name)
    if finished:
        record(place, finished=True)


@pytest.mark.parametrize("finished", [True, False])
def test_a_demo_whole_or_cut_off_may_be_replaced(tmp_path: Path, finished: bool) -> None:
    place = tmp_path / "demo"
    demo(place, finished=finished)
    (place / "scores" / ".human.csv.x7.part").write_text("half") if not finished else None
    clear(place, force=False)
    assert list(place.iterdir()) == []
    clear(place, force=False)
    clear(tmp_path / "nowhere", force=False)


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("name", ["notes.txt", "thesis/chapter.tex", ".hidden"])
def test_a_file_that_no_demo_made_keeps_everything_in_its_place(tmp_path: Path, name: str, finished: bool) -> None:
    demo(tmp_path, finished=finished)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(WouldOverwrite, match="was not made by the demo, or was changed since"):
        clear(tmp_path, force=False)
    assert (tmp_path / name).read_text() == "mine"
    assert (tmp_path / "scores" / "human.csv").is_file()
    assert (tmp_path / MARKER).is_file()


@pytest.mark.parametrize("name", ["benchmark.toml", "scores/other.csv"])
def test_what_was_changed_or_added_after_a_demo_is_not_the_demo_s(tmp_path: Path, name: str) -> None:
    demo(tmp_path)
    (tmp_path / name).write_text("changed")
    with pytest.raises(WouldOverwrite, match=name):
        clear(tmp_path, force=False)
    clear(tmp_path, force=True)
    assert list(tmp_path.iterdir()) == []


def test_what_was_noted_before_a_demo_broke_off_is_held_to_its_digest(tmp_path: Path) -> None:
    demo(tmp_path)
    record(tmp_path, finished=False)
    (tmp_path / "benchmark.toml").write_text("changed")
    with pytest.raises(WouldOverwrite, match=r"benchmark\.toml"):
        clear(tmp_path, force=False)


def test_a_link_is_never_the_demo_s_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "photo.png").write_text("mine")
    demo(tmp_path / "demo", finished=False)
    (tmp_path / "demo" / "results" / "link").symlink_to(mine, target_is_directory=True)
    with pytest.raises(WouldOverwrite, match="results/link"):
        clear(tmp_path / "demo", force=False)
    clear(tmp_path / "demo", force=True)
    assert (mine / "photo.png").read_text() == "mine"


@pytest.mark.parametrize("marker", ["", "[]", "{}", '{"made": 3, "finished": true}'])
def test_a_marker_that_says_nothing_is_none(tmp_path: Path, marker: str) -> None:
    (tmp_path / MARKER).write_text(marker)
    (tmp_path / "notes.txt").write_text("mine")
    for force, line in ((False, "is not empty; --force makes the demo anew"), (True, "something that no demo made")):
        with pytest.raises(WouldOverwrite, match=line):
            clear(tmp_path, force=force)
    assert (tmp_path / "notes.txt").is_file()
