"""The engine: every cell is made once, accounted for, and made again only when something it depends on has changed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from make_world import MAKE, drawn, world
from paragone.benchmark import Benchmark
from paragone.errors import BadConfig, BadInput, UnknownName
from paragone.images import write_image
from paragone.make.building import build
from paragone.make.making import read_making
from paragone.make.running import run
from paragone.settings import read_toml


def _build(folder: Path, **options: object) -> object:
    return build(read_making(folder / "make.toml"), folder, **options)  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return world(tmp_path / "bench")


def _pictures(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in (folder / "results").rglob("*.png")}


def test_every_cell_becomes_an_item(folder: Path) -> None:
    built = _build(folder)
    assert built.made == 8
    assert built.cells["status"].unique().to_list() == ["ok"]
    assert Benchmark.read(folder).items.equals(built.benchmark.items)
    assert built.benchmark.items["item"].to_list()[:2] == ["reinhard/c1/s1", "reinhard/c1/s2"]
    assert built.benchmark.references.filter(pl.col("factor") == "content")["level"].to_list() == ["c1", "c2"]


def test_a_second_run_makes_nothing(folder: Path) -> None:
    _build(folder)
    before = _pictures(folder)
    again = _build(folder)
    assert (again.made, again.kept) == (0, 8)
    assert _pictures(folder) == before


def test_pictures_do_not_depend_on_the_number_of_processes(folder: Path, tmp_path: Path) -> None:
    _build(folder)
    other = world(tmp_path / "other")
    _build(other, jobs=2)
    assert _pictures(folder) == _pictures(other)


def test_only_what_changed_is_made_again(folder: Path) -> None:
    _build(folder)
    write_image(drawn(77), folder / "in" / "styles" / "s2.png")
    assert _build(folder).made == 4, "two methods on two contents with the changed style"
    (folder / "make.toml").write_text(MAKE.replace("seed = 3", "seed = 4"))
    assert _build(folder).made == 8


def test_one_method_alone_leaves_the_others_to_be_told(folder: Path) -> None:
    built = _build(folder, methods=["brush"])
    assert built.made == 4
    missing = built.cells.filter(pl.col("status") == "missing")
    assert missing["method"].unique().to_list() == ["reinhard"]
    assert missing["reason"].unique().to_list() == ["not made yet"]
    with pytest.raises(UnknownName, match=r"no method in make\.toml 'brusch'; did you mean 'brush'"):
        _build(folder, methods=["brusch"])


def test_broken_versions_are_added_for_checks(folder: Path) -> None:
    (folder / "make.toml").write_text(MAKE.replace("seed = 3", "broken = 2"))
    assert _build(folder).benchmark.items["broken_of"].drop_nulls().len() == 2


def test_no_method_or_no_style_is_refused(folder: Path) -> None:
    (folder / "make.toml").write_text(MAKE[: MAKE.index("[method")])
    with pytest.raises(BadConfig, match="names no method"):
        _build(folder)
    (folder / "make.toml").write_text(MAKE.replace("[reference.style]", "[reference.look]"))
    with pytest.raises(BadConfig, match=r"needs \[reference.content\] and \[reference.style\]"):
        _build(folder)


def test_a_method_is_made_again_when_its_own_code_changes_or_when_asked(folder: Path) -> None:
    (folder / "mine.py").write_text("def f(content, style, *, seed):\n    return 1 - content\n")
    (folder / "make.toml").write_text(MAKE + '\n[method.own]\nkind = "python"\ntarget = "mine:f"\n')
    assert _build(folder).made == 12
    assert _build(folder).made == 0
    (folder / "mine.py").write_text("def f(content, style, *, seed):\n    return 0.5 * content\n")
    assert _build(folder).made == 4
    assert _build(folder, remake=["reinhard"]).made == 4
    with pytest.raises(UnknownName, match=r"no method in make\.toml 'reinhart'"):
        _build(folder, remake=["reinhart"])


def test_a_run_that_a_person_stops_tells_what_is_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(name: str, *rest: object, **more: object) -> int:
        if name == "brush":
            raise KeyboardInterrupt
        return run(name, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("paragone.make.building.run", stopped)
    with pytest.raises(KeyboardInterrupt):
        _build(folder)
    assert Benchmark.read(folder).items["method"].unique().to_list() == ["reinhard"]
    assert pl.read_csv(folder / "cells.csv")["status"].value_counts().sort("status").rows() == [
        ("missing", 4),
        ("ok", 4),
    ]


@pytest.mark.slow
def test_a_killed_run_leaves_whole_pictures_and_goes_on(tmp_path: Path) -> None:
    whole = world(tmp_path / "whole", contents=3, styles=3)
    _build(whole)
    folder = world(tmp_path / "killed", contents=3, styles=3)
    code = (
        "import sys; from pathlib import Path; from paragone.make.making import read_making\n"
        "from paragone.make.building import build\n"
        "folder = Path(sys.argv[1]); build(read_making(folder / 'make.toml'), folder)"
    )
    for wanted in (2, 7):  # twice, each time further on
        process = subprocess.Popen([sys.executable, "-c", code, str(folder)])
        until = time.monotonic() + 60
        while len(list((folder / "results").rglob("*.json"))) < wanted and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not (folder / "cells.csv").exists(), "it was killed before its end"
        for path in (folder / "results").rglob("c*.png"):
            assert path.read_bytes() == (whole / path.relative_to(folder)).read_bytes()
    built = _build(folder)
    assert built.kept >= 7
    assert built.made + built.kept == 18
    wanted = _pictures(whole)
    assert {name: data for name, data in _pictures(folder).items() if "/." not in name} == wanted
    assert read_toml(folder / "benchmark.toml") == read_toml(whole / "benchmark.toml")


def test_cells_whose_names_would_be_one_have_files_of_their_own(folder: Path) -> None:
    for name in ("a", "a_stylized_b"):
        write_image(drawn(len(name)), folder / "in" / "contents" / f"{name}.png")
    for name in ("c", "b_stylized_c"):
        write_image(drawn(20 + len(name)), folder / "in" / "styles" / f"{name}.png")
    built = _build(folder, methods=["reinhard"])
    images = built.benchmark.items["image"].to_list()
    assert len({image.casefold() for image in images}) == len(images) == 16
    assert _build(folder, methods=["reinhard"]).made == 0


def test_the_order_of_references_in_make_toml_does_not_matter(folder: Path, tmp_path: Path) -> None:
    style = '[reference.style]\nfolder = "in/styles"\n'
    turned = MAKE.replace(style, "").replace("[reference.content]", f"{style}\n[reference.content]")
    other = world(tmp_path / "turned", turned)
    assert _build(folder).benchmark.items.equals(_build(other).benchmark.items)
    assert _pictures(folder) == _pictures(other)


def test_nothing_is_written_through_links_or_over_other_peoples_pictures(folder: Path, tmp_path: Path) -> None:
    mine = write_image(drawn(1), folder / "references" / "content" / "c1.png")
    before = mine.read_bytes()
    with pytest.raises(BadInput, match="is there and was not prepared by paragone"):
        _build(folder)
    assert mine.read_bytes() == before
    shutil.rmtree(mine.parent)
    mine.parent.symlink_to(folder / "in" / "contents")
    with pytest.raises(BadConfig, match="is a link that leads elsewhere"):
        _build(folder)
    mine.parent.unlink()
    theirs = write_image(drawn(1), folder / "results" / "brush" / "c1_stylized_s1.png")
    with pytest.raises(BadConfig, match="holds pictures that paragone did not make"):
        _build(folder)
    theirs.unlink()
    theirs.parent.rmdir()
    theirs.parent.symlink_to(tmp_path)
    with pytest.raises(BadConfig, match="is a link; remove it"):
        _build(folder)


def test_a_run_killed_between_picture_and_record_goes_on(folder: Path) -> None:
    _build(folder)
    for record in (folder / "results").rglob("*.json"):
        record.unlink()
    assert _build(folder).made == 8
