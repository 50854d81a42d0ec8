"""Verbs that generate and publish, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Cli
from make_world import world

GENERATE = """\
name = "prompts"
criteria = ["overall"]

[grammar]
template = "{main}, {place}"

[grammar.axis]
main = ["bird", "teddy bear"]
place = ["city", "wild"]

[generate]
plan = "p1"

[generate.model.sd2]
path = "weights/sd2"
"""


def test_a_dry_run_of_generate_prints_every_prompt_and_seed(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "make.toml").write_text(GENERATE)
    document = json.loads(cli("generate", tmp_path, "--dry-run", "--json").out)
    assert [row["prompt"] for row in document["jobs"]] == [
        "bird, city",
        "bird, wild",
        "teddy bear, city",
        "teddy bear, wild",
    ]
    assert len({row["seed"] for row in document["jobs"]}) == 4
    assert not (tmp_path / "jobs.csv").exists()


def test_prompts_may_come_from_a_table(cli: Cli, tmp_path: Path) -> None:
    text = (
        'prompts = "prompts.csv"\n' + GENERATE[: GENERATE.index("[grammar]")] + GENERATE[GENERATE.index("[generate]") :]
    )
    (tmp_path / "make.toml").write_text(text)
    (tmp_path / "prompts.csv").write_text("id,prompt\na,a cat\nb,a dog\n")
    document = json.loads(cli("generate", tmp_path, "--dry-run", "--json").out)
    assert [row["prompt"] for row in document["jobs"]] == ["a cat", "a dog"]
    (tmp_path / "prompts.csv").write_text("name,prompt\na,a cat\n")
    assert "no column 'id'" in cli("generate", tmp_path, "--dry-run").err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[grammar]", "[grammr]", "did you mean 'grammar'"),
        ('path = "weights/sd2"', 'path = "weights/sd2"\nwidth = 100', "multiple of 8"),
        ("{main}, {place}", "{main}", "does not hold {place}"),
        ("{main}, {place}", "{mian}, {place}", "mian"),
    ],
)
def test_a_bad_plan_is_one_line(cli: Cli, tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "make.toml").write_text(GENERATE.replace(old, new))
    said = cli("generate", tmp_path, "--dry-run")
    assert said.code == 1
    assert message in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_a_model_that_is_not_there_is_told_before_anything_is_written(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "make.toml").write_text(GENERATE)
    said = cli("generate", tmp_path)
    assert said.code == 1
    assert "weights/sd2" in said.err
    assert not (tmp_path / "generated").exists()
    assert cli("generate", tmp_path, "--shard", "0/2").code == 1
    assert cli("generate", tmp_path, "--shard", "a").code == 2


def test_generate_needs_prompts_and_models(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "make.toml").write_text('name = "x"\n')
    assert "neither [grammar] nor prompts" in cli("generate", tmp_path).err
    (tmp_path / "make.toml").write_text(GENERATE[: GENERATE.index("[generate]")])
    assert "has no [generate]" in cli("generate", tmp_path).err


def test_a_benchmark_is_packed_checked_and_read_back(cli: Cli, tmp_path: Path) -> None:
    folder = world(tmp_path / "b")
    assert cli("stylise", folder, "-q").code == 0
    document = json.loads(cli("pack", folder, "-o", tmp_path / "pack", "--json").out)
    assert (document["pictures"], document["references"]) == (8, 4)
    assert cli("pack", tmp_path / "pack", "--check").code == 0
    assert "exists" in cli("pack", folder, "-o", tmp_path / "pack").err
    assert cli("import", "packed", tmp_path / "pack", "-o", tmp_path / "again").code == 0
    assert cli("check", tmp_path / "again").code == 0
    picture = next((tmp_path / "pack").rglob("*.png"))
    picture.write_bytes(picture.read_bytes()[:-10])
    said = cli("pack", tmp_path / "pack", "--check")
    assert said.code == 1
    assert picture.name in said.out
    assert cli("pack", folder).code == 2
