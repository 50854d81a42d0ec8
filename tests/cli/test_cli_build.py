"""new, import and check: folders made of pictures, of public layouts and of any table; everything in them checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from command_line import Cli, draw


def test_a_benchmark_is_made_of_pictures_by_their_names(cli: Cli, here: Path) -> None:
    draw(here)
    said = cli(
        "new", "b", "--root", ".", "--images", "results/{method}/{content}_{style}.png",
        "--reference", "content=contents/{content}.png", "--criteria", "overall, style", "--name", "Mine",
    )  # fmt: skip
    assert said.code == 0
    assert said.out == "method,ink,oil\nalpha,2,2\nbeta,2,2\ngamma,2,2\n"
    assert said.err.splitlines() == [
        "12 items",
        "next, to ask people: paragone plan --example > b/study.toml",
        "b/benchmark.toml",
    ]
    card = Path("b/benchmark.toml").read_text()
    assert 'name = "Mine"' in card
    assert 'criteria = ["overall", "style"]' in card
    assert pl.read_csv("b/references.csv").height == 2
    assert cli("check", "b").code == 0


def test_broken_versions_are_made_beside_the_pictures_and_never_taken_for_results(cli: Cli, here: Path) -> None:
    draw(here)
    words = ["new", ".", "--images", "{where}/{method}/{content}_{style}.png", "--criteria", "overall", "--broken", "2"]
    assert cli(*words).code == 0
    items = pl.read_csv("items.csv")
    broken = items.filter(pl.col("broken_of").is_not_null())
    assert broken.height == 2
    assert set(broken["broken_of"]) <= set(items["item"])
    assert all(Path(image).is_file() for image in broken["image"])
    assert cli("check", ".").code == 0
    assert cli("new", ".", "--images", "{method}/{content}_{style}.png", "--force").code == 1  # results/ lies between
    assert cli(*words, "--force").code == 0
    assert pl.read_csv("items.csv").height == 14


def test_broken_versions_are_made_in_a_folder_that_is_not_there_yet(cli: Cli, here: Path) -> None:
    draw(here)
    pattern = "{method}/{content}_{style}.png"
    said = cli("new", "bench", "--root", "results", "--images", pattern, "--criteria", "overall", "--broken", "6")
    assert said.code == 0, said.err
    assert len(list(Path("bench/checks").glob("*.png"))) == 6
    assert cli("check", "bench").code == 0


def test_the_grid_comes_as_json_with_the_cells_that_are_empty(cli: Cli, here: Path) -> None:
    draw(here)
    Path("results/beta/boat_ink.png").unlink()
    said = cli("new", ".", "--images", "results/{method}/{content}_{style}.png", "--json")
    document = said.document
    assert document["items"] == 11
    assert document["missing"] == ["beta/boat/ink"]
    assert {"method": "beta", "ink": 1, "oil": 2} in document["grid"]
    assert said.err == ""


def test_a_benchmark_is_replaced_only_by_force(cli: Cli, votes_here: Path) -> None:
    words = ["new", ".", "--root", "..", "--images", "results/{method}/{content}_{style}.png"]
    before = Path("benchmark.toml").read_bytes()
    assert "holds a benchmark; --force replaces it" in cli(*words).refusal
    assert Path("benchmark.toml").read_bytes() == before
    assert cli(*words, "--force").code == 0
    assert Path("benchmark.toml").read_bytes() != before


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--images", "results/*.png"], "pattern"),
        (["--images", "{method}/{content}.gif"], "no picture"),
        (["--images", "results/{method}/{content"], "pattern"),
        (["--images", "results/{method}/{content}_{style}.png", "--reference", "content"], "--reference 'content'"),
        (["--images", "results/{method}/{content}_{style}.png", "--root", "nowhere"], "nowhere"),
        (
            ["--images", "results/{method}/{content}_{style}.png", "--reference", "contents=contents/{contents}.png"],
            "'contents'",
        ),
    ],
)
def test_a_pattern_that_gives_no_benchmark_is_refused(cli: Cli, here: Path, words: list[str], line: str) -> None:
    draw(here)
    assert line in cli("new", "b", *([] if "--root" in words else ["--root", "."]), *words).refusal
    assert not Path("b").exists()


def test_any_table_is_imported_by_a_map(cli: Cli, here: Path) -> None:
    Path("answers.csv").write_text("worker,clip,stars\n01,a,3\n02,a,4\n01,b,2\n")
    said = cli("import", "table", "answers.csv", "--map", "participant=worker,item=clip,value=stars", "-o", "study")
    assert said.code == 0
    assert "study/ratings.csv" in said.err.splitlines()
    assert pl.read_csv("study/ratings.csv", infer_schema=False)["participant"].to_list() == ["01", "02", "01"]
    again = cli("import", "table", "answers.csv", "--map", "participant=worker,item=clip,value=stars", "-o", "study")
    assert "'study/ratings.csv' exists; --force replaces it" in again.refusal
    forced = cli("import", "auto", "answers.csv", "--map", "item=clip,value=stars", "-o", "study", "--force", "--json")
    assert forced.document["written"] == ["study/ratings.csv"]
    assert isinstance(forced.document["notes"], list)


def test_an_option_of_a_source_may_hold_commas(cli: Cli, here: Path) -> None:
    Path("v.csv").write_text("left,right,choice\nx,y,1\nx,y,0\n")
    assert "choice holds only 0 and 1" in cli("import", "table", "v.csv", "-o", "study").refusal
    said = cli("import", "table", "v.csv", "--set", "choices=1=left,0=right", "-o", "study")
    assert said.code == 0
    assert pl.read_csv("study/votes.csv")["choice"].to_list() == ["left", "right"]


def test_a_public_layout_becomes_a_folder_that_checks(cli: Cli, here: Path, shared: Callable[[str], Path]) -> None:
    said = cli("import", "avt_ai_images", shared("images/avt_ai_images"), "-o", "avt", "--set", "study=2", "--json")
    assert {"avt/benchmark.toml", "avt/ratings.csv"} <= set(said.document["written"])
    assert "study 2 of two is read; study=1 reads the other" in said.document["notes"]
    checked = cli("check", "avt", "--json", "--no-pictures")
    assert checked.code == 0
    assert checked.document["faults"] == []
    shown = cli("import", "auto", shared("images/avt_ai_images"), "-o", "copied", "--copy")
    assert shown.code == 0
    assert len(list(Path("copied/images").glob("*.jpg"))) == 96


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["avt_ai_image", "."], "no source 'avt_ai_image'; did you mean 'avt_ai_images'?"),
        (["avt_ai_images", "."], "ratings"),
        (["auto", "."], "no known layout in the folder"),
        (["table", "none.csv"], "no file"),
        (["table", "t.csv", "--set", "colums=a"], "no option of source table 'colums'; did you mean 'columns'"),
        (["table", "t.csv", "--set", "missing=skip"], "missing 'skip' is not one of refuse, drop"),
        (["table", "t.csv", "--set", "missing=1"], "missing '1' is not one of refuse, drop"),
        (["table", "t.csv", "--set", "missing=drop", "--set", "missing=drop"], "--set names 'missing' twice"),
        (["table", "t.csv", "--map", "participent=worker"], "did you mean 'participant'?"),
    ],
)
def test_an_import_that_cannot_be_is_refused(cli: Cli, here: Path, words: list[str], line: str) -> None:
    Path("t.csv").write_text("worker,item,value\np,a,3\n")
    assert line in cli("import", *words, "-o", "study").refusal
    assert not Path("study").exists()


def test_names_in_foreign_files_lead_to_no_other_folder(cli: Cli, here: Path) -> None:
    Path("m.csv").write_text("item,../../../evil,a/b,a-b,.hidden\nx,1,2,3,4\ny,2,3,4,5\n")
    said = cli("import", "table", "m.csv", "--set", "kind=scores", "-o", "deep/study")
    assert said.code == 0
    assert sorted(path.name for path in Path("deep/study/scores").glob("*.csv")) == [
        "-..-..-evil.csv",
        "a-b-2.csv",
        "a-b.csv",
        "hidden.csv",
    ]
    assert sorted(path.name for path in here.iterdir()) == ["deep", "m.csv"]


def test_an_import_replaces_no_scores_unasked(cli: Cli, here: Path) -> None:
    Path("m.csv").write_text("item,brisque,niqe\nx,1,2\ny,2,3\n")
    asked = ("import", "table", "m.csv", "--set", "kind=scores", "-o", "study")
    Path("study/scores").mkdir(parents=True)
    Path("study/scores/niqe.csv").write_text("mine")
    assert "'study/scores/niqe.csv' exists; --force replaces it" in cli(*asked).refusal
    assert [path.name for path in Path("study/scores").iterdir()] == ["niqe.csv"], "all or nothing"
    assert Path("study/scores/niqe.csv").read_text() == "mine"
    assert cli(*asked, "--force").code == 0
    assert Path("study/scores/niqe.csv").read_text() != "mine"


def test_a_copy_replaces_no_picture_unasked(cli: Cli, here: Path, shared: Callable[[str], Path]) -> None:
    source = shared("images/avt_ai_images")
    asked = ("import", "auto", source, "-o", "copied", "--copy")
    name = min(path.name for path in (source / "images").glob("*.jpg"))
    Path("copied/images").mkdir(parents=True)
    Path("copied/images", name).write_bytes(b"mine")
    assert f"'copied/images/{name}' exists; --force replaces it" in cli(*asked).refusal
    assert [path.read_bytes() for path in Path("copied/images").iterdir()] == [b"mine"]
    assert cli(*asked, "--force").code == 0
    assert Path("copied/images", name).read_bytes() == (source / "images" / name).read_bytes()


@pytest.mark.parametrize(
    ("place", "force", "line"),
    [
        ("items.csv", (), "'o/items.csv' exists; --force replaces it"),
        ("references.csv", (), "'o/references.csv' exists; --force replaces it"),
        ("styles", (), "'o/styles' is no folder"),
        ("styles", ("--force",), "'o/styles' is no folder"),
        ("ratings.csv/", ("--force",), "'o/ratings.csv' is a folder, and a file would go there; move it"),
        ("items.csv/", (), "'o/items.csv' is a folder, and a file would go there; move it"),
        ("contents/content_2.jpg/", ("--force",), "'o/contents/content_2.jpg' is a folder"),
    ],
)
def test_an_import_looks_at_every_place_before_it_writes_one(
    cli: Cli, here: Path, shared: Callable[[str], Path], place: str, force: tuple[str, ...], line: str
) -> None:
    stands = Path("o", place)
    if place.endswith("/"):
        stands.mkdir(parents=True)
    else:
        stands.parent.mkdir()
        stands.write_text("mine")
    before = sorted(Path("o").rglob("*"))
    said = cli("import", "kitov", shared("images/kitov_style_transfer"), "-o", "o", "--copy", *force)
    assert line in said.refusal
    assert sorted(Path("o").rglob("*")) == before
    assert stands.is_dir() or stands.read_text() == "mine"


def test_what_would_go_beside_imported_scores_is_asked_for_too(cli: Cli, here: Path) -> None:
    Path("human.csv").write_text("item,score\nx,1\ny,2\n")
    Path("study/scores").mkdir(parents=True)
    Path("study/scores/human.draws.parquet").write_bytes(b"mine")
    said = cli("import", "table", "human.csv", "--set", "kind=scores", "-o", "study")
    assert "draws.parquet' exists; --force replaces it" in said.refusal
    assert Path("study/scores/human.draws.parquet").read_bytes() == b"mine"


def test_scores_whose_names_differ_in_case_alone_are_two_files_on_every_disk(cli: Cli, here: Path) -> None:
    Path("m.csv").write_text("item,Score A,score a\nx,1,2\ny,2,3\n")
    assert cli("import", "table", "m.csv", "--set", "kind=scores", "-o", "s").code == 0
    assert len({path.name.casefold() for path in Path("s/scores").glob("*.csv")}) == 2


def test_a_copy_never_leaves_the_folder(cli: Cli, here: Path, voted: Path) -> None:
    refused = cli("import", "auto", voted / "bench", "-o", "copy", "--copy")
    assert refused.code == 1


def test_everything_wrong_in_a_folder_is_said_at_once(cli: Cli, votes_here: Path) -> None:
    assert cli("check").code == 0
    votes = Path("votes.csv").read_text().replace("alpha/boat/ink", "alpha/boat/pen")
    Path("votes.csv").write_text(votes)
    Path("study.toml").write_text("seed = 1\n")
    (votes_here.parent / "results/beta/boat_ink.png").write_bytes(b"no picture")
    (votes_here.parent / "contents/boat.png").unlink()
    Path("agreement.csv").write_text("predictor\n")
    said = cli("check", "--json")
    assert said.code == 1
    faults = said.document["faults"]
    for part in ("'alpha/boat/pen'", "study.toml", "boat_ink.png", "boat.png", "agreement.csv"):
        assert any(part in fault for fault in faults), part
    text = cli("check")
    assert text.out.splitlines() == faults
    assert text.err.splitlines()[-1] == f"{len(faults)} faults, 0 remarks"
    without = cli("check", "--no-pictures", "--json")
    assert not any("boat_ink.png" in fault for fault in without.document["faults"])


def test_check_remarks_on_inputs_that_changed(cli: Cli, votes_here: Path) -> None:
    cli("score", "--intervals", "none")
    assert cli("check", "--json").document == {"faults": [], "remarks": []}
    rows = Path("votes.csv").read_text().splitlines()
    Path("votes.csv").write_text("\n".join(rows[:-1]) + "\n")
    said = cli("check", "--json")
    assert said.code == 0
    assert len(said.document["remarks"]) == 1
    assert "votes.csv" in said.document["remarks"][0]


def test_a_folder_of_nothing_is_refused(cli: Cli, here: Path) -> None:
    assert "'.' holds nothing that paragone reads" in cli("check").refusal
    assert "no folder 'nowhere'" in cli("check", "nowhere").refusal
    Path("file").write_text("")
    assert cli("check", "file").code == 1
