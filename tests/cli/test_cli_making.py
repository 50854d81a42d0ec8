"""Verbs that make a benchmark: stylise and contact, as they are typed."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from pathlib import Path

import polars as pl
import pytest

from command_line import Cli
from make_world import MAKE, drawn, world
from paragone.benchmark import Benchmark
from paragone.images import write_image


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return world(tmp_path / "my-benchmark")


def test_the_example_make_toml_makes_a_benchmark(cli: Cli, tmp_path: Path) -> None:
    said = cli("stylise", "--example")
    small = said.out.replace("longest = 256", "longest = 48")
    (tmp_path / "make.toml").write_text(small, encoding="utf-8")
    assert cli("stylise", tmp_path).code == 0
    made = Benchmark.read(tmp_path)
    assert made.items.height == 2 * 6 * 2 + 4
    assert cli("check", tmp_path).code == 0


def test_stylise_makes_tells_and_draws(cli: Cli, folder: Path) -> None:
    said = cli("stylise", "my-benchmark", "--jobs", "-1")
    assert said.code == 0
    assert "8 cells made, 0 kept; 8 results" in said.err
    assert (folder / "contact.html").is_file()
    assert (folder / "contact.png").is_file()
    assert "0 cells made, 8 kept" in cli("stylise", "my-benchmark").err


def test_a_dry_run_says_what_is_left_and_makes_nothing(cli: Cli, folder: Path) -> None:
    said = cli("stylise", "my-benchmark", "--dry-run")
    assert "brush (styliser): 4 of 4 cells to make" in said.out
    assert not (folder / "results").exists()
    document = json.loads(cli("stylise", "my-benchmark", "--dry-run", "--json").out)
    assert [row["cells"] for row in document["methods"]] == [4, 4]


def test_json_names_the_cells_that_are_not_ok_and_why(cli: Cli, folder: Path) -> None:
    document = json.loads(cli("stylise", "my-benchmark", "--only", "brush", "--json").out)
    assert (document["items"], document["made"]) == (4, 4)
    assert {cell["status"] for cell in document["cells"]} == {"missing"}
    assert document["cells"][0]["reason"] == "not made yet"


def test_references_may_come_from_another_folder(cli: Cli, folder: Path, tmp_path: Path) -> None:
    (folder / "in" / "styles").rename(tmp_path / "elsewhere")
    assert "no folder of reference pictures 'in/styles'" in cli("stylise", "my-benchmark").err
    assert cli("stylise", "my-benchmark", "--reference", "style=elsewhere").code == 0
    said = cli("stylise", "my-benchmark", "--reference", "styl=elsewhere")
    assert (said.code, "did you mean 'style'" in said.err) == (1, True)


def test_a_benchmark_that_was_not_made_here_is_not_replaced(cli: Cli, folder: Path, voted: Path) -> None:
    target = folder / "benchmark.toml"
    target.write_text((voted / "bench" / "benchmark.toml").read_text())
    before = target.read_text()
    said = cli("stylise", "my-benchmark")
    assert said.code == 1
    assert "holds a benchmark that was not made from make.toml" in said.err
    assert target.read_text() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MAKE.replace("in/contents", "nowhere"), "no folder of reference pictures 'nowhere'"),
        (MAKE.replace('name = "tiny"', 'nam = "tiny"'), "did you mean 'name'"),
        ("name = [", "not valid TOML"),
    ],
)
def test_a_bad_make_toml_is_one_line_and_exit_code_1(cli: Cli, folder: Path, text: str, message: str) -> None:
    (folder / "make.toml").write_text(text, encoding="utf-8")
    said = cli("stylise", "my-benchmark")
    assert said.code == 1
    assert message in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert not (folder / "benchmark.toml").exists()


def test_a_folder_without_make_toml_says_how_to_get_one(cli: Cli, tmp_path: Path) -> None:
    said = cli("stylise", tmp_path)
    assert said.code == 1
    assert "paragone stylise --example" in said.err


def test_contact_draws_any_benchmark(cli: Cli, voted: Path, tmp_path: Path) -> None:
    said = cli("contact", voted / "bench", "-o", tmp_path / "sheet.html", "--json")
    assert said.code == 0
    assert [Path(path).name for path in json.loads(said.out)["written"]] == ["sheet.html", "sheet.png"]
    assert cli("contact", voted / "bench", "-o", tmp_path / "sheet.pdf").code == 1


SELECT = MAKE + '\n[reference.style.select]\nnumber = 2\nhow = "k-centre"\n'


def test_select_chooses_and_stylise_follows(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = world(tmp_path / "my-benchmark", SELECT, styles=5)
    said = cli("stylise", "my-benchmark")
    assert said.code == 1
    assert "run first: paragone select my-benchmark" in said.err
    said = cli("select", "my-benchmark", "--fix", "s3", "--json")
    chosen = [row["picture"] for row in json.loads(said.out)["selected"]["style"]]
    assert len(chosen) == 2
    assert chosen[0] == "s3"
    assert (folder / "selection" / "style.html").is_file()
    assert cli("stylise", "my-benchmark", "--only", "reinhard").code == 0
    made = Benchmark.read(folder)
    assert made.items["style"].unique().sort().to_list() == sorted(chosen)


def test_select_refuses_what_is_not_there(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b")
    assert "has no [reference.FACTOR.select]" in cli("select", folder).err
    (folder / "make.toml").write_text(SELECT.replace("number = 2", "number = 9"))
    assert "9 pictures asked for" in cli("select", folder).err
    (folder / "make.toml").write_text(SELECT)
    assert "no picture 'zz' in any pool" in cli("select", folder, "--fix", "zz").err
    assert cli("select", folder, "--only", "content").code == 1


def test_a_selection_that_no_longer_fits_is_told(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", SELECT, styles=4)
    assert cli("select", folder).code == 0
    (folder / "make.toml").write_text(SELECT.replace("number = 2", "number = 3"))
    assert "holds another selection than make.toml asks for" in cli("stylise", folder).err


def test_distinct_tells_which_methods_are_near(cli: Cli, folder: Path) -> None:
    assert cli("stylise", "my-benchmark", "-q").code == 0
    said = cli("distinct", "my-benchmark", "--statistic", "handcrafted", "--keep", "2", "--json")
    document = json.loads(said.out)
    assert [(row["a"], row["b"], row["n"]) for row in document["distances"]] == [("brush", "reinhard", 4)]
    assert document["dropped"] == []
    assert (folder / "distinct.html").is_file()
    assert "did you mean" in cli("distinct", "my-benchmark", "--statistic", "handcraftd").err


def test_attributes_stand_beside_natural_ones(cli: Cli, folder: Path) -> None:
    assert cli("stylise", "my-benchmark", "-q").code == 0
    said = cli("attributes", "my-benchmark/results", "--natural", "my-benchmark/in", "--json", "-o", "a.html")
    assert said.code in (0, 1), said.err
    if said.code == 1:
        assert "narrow" in said.err or "few" in said.err
    assert cli("attributes", "my-benchmark", "--natural", "nowhere").code == 1


READY = MAKE + '\n[method.other]\nkind = "folder"\nroot = "theirs"\nlayout = "content_stylized_style"\n'


def test_ready_results_of_a_folder_join_and_each_missing_one_says_why(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", READY)
    write_image(drawn(1), folder / "theirs" / "c1_stylized_s1.png")
    write_image(drawn(2, 20, 20), folder / "theirs" / "c1_stylized_s2.png")
    (folder / "theirs" / "c2_stylized_s1.png").write_bytes(b"")
    document = json.loads(cli("stylise", folder, "--json").out)
    told = {cell["item"]: (cell["status"], cell["reason"]) for cell in document["cells"]}
    assert set(told) == {"other/c1/s2", "other/c2/s1", "other/c2/s2"}
    assert told["other/c1/s2"][0] == "wrong_size"
    assert told["other/c2/s1"][0] == "invalid"
    assert told["other/c2/s2"][0] == "missing"
    write_image(drawn(3), folder / "theirs" / "c2_stylized_s2.png")
    (folder / "theirs" / "holiday.png").write_bytes(b"")
    said = cli("stylise", folder)
    assert "files that are no cell: holiday.png" in said.err
    assert "other   .X  S." in said.err  # styles s1 and s2, in each a sign for c1 and one for c2
    assert "complete: reinhard, brush" in said.err
    assert "10 ok, 1 invalid, 1 wrong_size of 12 cells (3 methods x 2 contents x 2 styles); 1 file of no cell" in (
        said.err
    )
    assert "cells.csv: 1 of 12 cells are wrong_size" in cli("check", folder).err
    document = json.loads(cli("stylise", folder, "--json").out)
    assert "other/c2/s2" not in {cell["item"] for cell in document["cells"]}
    assert document["extra"] == {"other": ["holiday.png"]}
    assert (document["made"], document["kept"]) == (0, 12), "what is as it was is read again, and kept"


def test_a_dry_run_finds_the_sizes_that_the_run_would(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", READY)
    for name in ("c1_stylized_s1.png", "c1_stylized_s2.png", "c2_stylized_s1.png"):
        write_image(drawn(1, 64, 80), folder / "theirs" / name)
    (folder / "theirs" / "c2_stylized_s2.png").write_bytes(b"no picture")
    foreseen = cli("stylise", folder, "--dry-run").out.splitlines()
    assert "other   SS  SX" in foreseen
    said = cli("stylise", folder).err.splitlines()
    assert "other   SS  SX" in said
    assert any('align = "resize", "crop" or "pad" mends it' in line for line in said)
    making = (folder / "make.toml").read_text() + 'align = "resize"\n'
    (folder / "make.toml").write_text(making)
    assert "other   ..  .X" in cli("stylise", folder, "--dry-run").out
    assert cli("stylise", folder).code == 0
    cells = pl.read_csv(folder / "cells.csv").filter(pl.col("method") == "other", pl.col("status") == "ok")
    assert set(cells.select("width", "height", "given_width", "given_height").iter_rows()) == {(40, 32, 80, 64)}


def test_a_dry_run_refuses_a_layout_that_finds_nothing_and_names_one_that_would(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", READY.replace("content_stylized_style", "adaattn"))
    write_image(drawn(1), folder / "theirs" / "c1_stylized_s1.png")
    said = cli("stylise", folder, "--dry-run")
    assert said.code == 1
    assert "layout 'content_stylized_style' would find 1 of 4" in said.refusal


def test_a_style_called_as_a_manner_is_done_in_it_and_the_run_says_so(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", MAKE + '\n[method.llip]\nkind = "styliser"\n', contents=1)
    (folder / "in" / "styles" / "s1.png").rename(folder / "in" / "styles" / "Great_Wave.png")
    (folder / "in" / "styles" / "s2.png").rename(folder / "in" / "styles" / "mondrian.png")
    making = (folder / "make.toml").read_text()
    (folder / "make.toml").write_text(making.replace('styles"\n', 'styles"\nmanners = { mondrian = "xyz" }\n'))
    assert "no manner for style 'mondrian' 'xyz'" in cli("stylise", folder).refusal
    (folder / "make.toml").write_text(making.replace('styles"\n', 'styles"\nmanners = { mondrian = "carr" }\n'))
    said = cli("stylise", folder, "--only", "llip")
    assert said.code == 0, said.err
    assert "llip: manners by style: great-wave (Great_Wave), carr (mondrian)" in said.err


def test_results_that_vanish_from_under_a_study_are_told(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", READY)
    mine = write_image(drawn(1), folder / "theirs" / "c1_stylized_s1.png")
    assert cli("stylise", folder).code == 0
    (folder / "votes.csv").write_text("left,right,choice\nother/c1/s1,brush/c1/s1,left\n")
    mine.rename(folder / "theirs" / "c1_stylized_s2.png")
    said = cli("stylise", folder)
    assert f"1 items are gone that votes.csv may name: other/c1/s1; paragone check {folder} tells" in said.err


def test_a_dry_run_says_what_a_folder_holds_before_anything_is_made(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", READY)
    for name in ("c1_stylized_s1.png", "c2_stylized_s1.png", "c2_stylized_s1.jpg", "holiday.png"):
        write_image(drawn(1), folder / "theirs" / "first.png").rename(folder / "theirs" / name)
    said = cli("stylise", folder, "--dry-run")
    assert said.code == 0, said.err
    assert "other   .2  --" in said.out
    assert (
        "1 ok, 2 missing, 1 ambiguous (several files) of 4 cells (1 method x 2 contents x 2 styles); 1 file of no cell"
        in said.out
    )
    assert "other: 1 with several files: c2/s1 (c2_stylized_s1.jpg and c2_stylized_s1.png)" in said.out
    assert not (folder / "results").exists()


def test_ready_results_are_never_read_from_where_results_are_written(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", READY.replace('"theirs"', '"results/other"'))
    mine = write_image(drawn(1, 20, 20), folder / "results" / "other" / "c1_stylized_s1.png")
    said = cli("stylise", folder)
    assert said.code == 1
    assert "lies in results/" in said.err
    assert mine.is_file()


@pytest.mark.parametrize("root", [".", "", ".."])
def test_ready_results_are_never_read_from_above_where_results_are_written(cli: Cli, tmp_path: Path, root: str) -> None:
    folder = world(tmp_path / "b", READY.replace('"theirs"', f'"{root}"'))
    write_image(drawn(1), folder / "c1_stylized_s1.png")
    said = cli("stylise", folder)
    assert said.code == 1
    assert "method 'other'" in said.err
    assert "holds results/" in said.err
    assert not (folder / "results" / "reinhard").exists()


def test_a_folder_that_reads_nothing_stops_the_run_before_it_begins(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", READY)
    mine = write_image(drawn(1), folder / "theirs" / "c1_stylized_s1.png")
    assert cli("stylise", folder).code == 0
    whole = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    mine.unlink()
    whole.pop(mine)
    write_image(drawn(1), folder / "theirs" / "c1_stylised_s1.png")
    said = cli("stylise", folder)
    assert said.code == 1
    assert "c1_stylised_s1.png (holds 'c1' and 's1', but is not named as this layout names)" in said.refusal
    assert all(path.read_bytes() == raw for path, raw in whole.items())


def test_a_run_of_one_method_tells_the_others_folders_as_they_are(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", READY)
    for name in ("c1_stylized_s1.png", "c2_stylized_s1.png", "c2_stylized_s1.jpg", "holiday.png"):
        write_image(drawn(1), folder / "theirs" / "first.png").rename(folder / "theirs" / name)
    whole = cli("stylise", folder).err
    part = cli("stylise", folder, "--only", "brush").err
    grid = [line for line in whole.splitlines() if line.startswith(("other   ", "9 ok"))]
    assert len(grid) == 2
    assert all(line in part for line in grid)


def test_pipes_are_no_pictures(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", READY)
    write_image(drawn(1), folder / "theirs" / "c1_stylized_s1.png")
    os.mkfifo(folder / "theirs" / "c2_stylized_s1.png")
    said = cli("stylise", folder)
    assert said.code == 0
    assert "other: skipped: 1 pipes and devices" in said.err


def test_factors_stand_in_the_cells_order_whatever_make_toml_begins_with(cli: Cli, tmp_path: Path) -> None:
    text = READY.replace('[reference.content]\nfolder = "in/contents"\n\n', "").replace(
        "[method.reinhard]", '[reference.content]\nfolder = "in/contents"\n\n[method.reinhard]'
    )
    assert text.index("[reference.style]") < text.index("[reference.content]")
    folder = world(tmp_path / "b", text, contents=3)
    write_image(drawn(1), folder / "theirs" / "c1_stylized_s1.png")
    foreseen = cli("stylise", folder, "--dry-run").out
    assert "one sign for each content: c1, c2, c3" in foreseen
    assert "(1 method x 3 contents x 2 styles)" in foreseen
    document = cli("stylise", folder, "--dry-run", "--json").document
    assert len(document["cells"]) == 5
    assert document["cells"][0] == {"method": "other", "content": "c1", "style": "s2", "status": "missing"}


def test_a_setting_with_nul_in_it_is_refused_in_one_line(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", READY.replace('"theirs"', '"a\\u0000b"'))
    assert "method.other.root holds the character NUL" in cli("stylise", folder).refusal


def test_a_sheet_of_nothing_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("item,image,method\n")
    (tmp_path / "benchmark.toml").write_text('format = 1\nname = "none"\n')
    assert "has no item, so there is no sheet to draw" in cli("contact", tmp_path).refusal
    assert not (tmp_path / "contact.html").exists()


def test_a_drawn_reference_stays_marked_whatever_the_cards_say(cli: Cli, tmp_path: Path) -> None:
    text = MAKE.replace('folder = "in/styles"', 'folder = "in/styles"\nsamples = ["mondrian"]')
    folder = world(tmp_path / "b", text, contents=1, styles=1)
    (folder / "cards.csv").write_text(
        "factor,level,artist,source,marks\nstyle,mondrian,Piet Mondrian,Wikimedia Commons,black lines\n"
    )
    assert cli("stylise", folder, "--only", "reinhard").code == 0
    card = pl.read_csv(folder / "references" / "cards.csv").filter(pl.col("level") == "mondrian").row(0, named=True)
    assert (card["source"], card["artist"]) == ("drawn by paragone", "drawn after mondrian")
    assert card["marks"] == "black lines"
    assert "mondrian (drawn)" in (folder / "contact.html").read_text(encoding="utf-8")


def test_a_method_that_cannot_work_is_told_before_any_picture_is_made(cli: Cli, tmp_path: Path) -> None:
    broken = MAKE + '\n[method.other]\nkind = "command"\nargv = ["no-such-program-here", "{content}", "{out}"]\n'
    folder = world(tmp_path / "b", broken)
    said = cli("stylise", folder)
    assert said.code == 1
    assert "no-such-program-here" in said.err
    assert not (folder / "results").exists()


def test_check_reads_make_toml_and_cards(cli: Cli, folder: Path) -> None:
    assert cli("check", "my-benchmark").code == 0
    (folder / "make.toml").write_text(MAKE.replace("[method.reinhard]", "[method.reinhart]"))
    (folder / "cards.csv").write_text("factor,level,colour\nstyle,s1,vivid\n")
    said = cli("check", "my-benchmark")
    assert said.code == 1
    assert "no styliser 'reinhart'" in said.out
    assert "colour 'vivid' is not one of low, medium, high" in said.out


def test_cards_stand_in_the_report(cli: Cli, folder: Path) -> None:
    (folder / "cards.csv").write_text(
        "factor,level,artist,category,region,century,marks\nstyle,s1,Hokusai,nature,Asia,19,foam like claws\n"
    )
    assert cli("stylise", "my-benchmark", "-q").code == 0
    assert cli("report", "my-benchmark").code == 0
    page = (folder / "report.html").read_text()
    said = r"Hokusai: nature, \w+ colour, \w+ detail \(both computed\); Asia, 19th c\.; known by foam like claws"
    assert re.search(said, page)
    assert 'href="#references"' in page


def test_without_the_libraries_that_draw_the_pictures_are_made_and_the_extra_is_named(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    said = cli("stylise", "my-benchmark")
    assert said.code == 0
    assert "a page needs jinja2: pip install 'paragone[report]'" in said.err
    assert len(Benchmark.read(folder).items) == 8


def test_names_that_disks_write_in_several_ways_are_one_name_throughout(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b", SELECT, styles=1)
    decomposed = unicodedata.normalize("NFD", "wölfe")
    write_image(drawn(70), folder / "in" / "styles" / f"{decomposed}.png")
    write_image(drawn(71), folder / "in" / "styles" / ".hidden.png")
    assert cli("select", folder, "-q").code == 0
    said = cli("stylise", folder, "--only", "reinhard")
    assert said.code == 0, said.err
    assert set(Benchmark.read(folder).items["style"]) == {"s1", "wölfe"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('folder = "in/styles"', 'folder = "package:../../.."', "no folder of reference pictures"),
        ('folder = "in/styles"', 'folder = "in/styles"\nmanners = { zz = "mondrian" }', "no style with a manner"),
        ('name = "tiny"', 'name = ""', "name is empty"),
        ('["overall"]', '["overall", "overall"]', "one is empty or stands twice"),
        ("[method.brush]", f"[method.{'x' * 90}]", "name of more than 80 bytes"),
    ],
)
def test_odd_words_in_make_toml_are_refused(cli: Cli, folder: Path, old: str, new: str, message: str) -> None:
    (folder / "make.toml").write_text(MAKE.replace(old, new))
    said = cli("stylise", "my-benchmark")
    assert said.code == 1
    assert message in said.err


def test_outputs_beside_a_page_never_replace_other_files(cli: Cli, folder: Path) -> None:
    assert cli("stylise", "my-benchmark", "-q").code == 0
    assert cli("stylise", "my-benchmark", "--jobs", "0").code == 1
    items = (folder / "items.csv").read_bytes()
    assert cli("attributes", "my-benchmark", "--natural", "my-benchmark/in", "-o", "my-benchmark/items.html").code == 1
    assert (folder / "items.csv").read_bytes() == items
    picture = folder / "in" / "contents" / "c1.png"
    before = picture.read_bytes()
    said = cli("contact", "my-benchmark", "-o", picture.with_suffix(".html"))
    assert "is there and is no contact sheet" in said.err
    assert picture.read_bytes() == before
