"""Verbs that make a benchmark: stylise and contact, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Cli
from make_world import MAKE, world
from paragone.benchmark import Benchmark


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
    assert "8 cells made, 0 kept; 8 items" in said.err
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
