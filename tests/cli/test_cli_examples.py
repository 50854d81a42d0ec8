"""Every example in a verb's help runs as it is printed, in a folder that holds what it names."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
from pathlib import Path

import pytest

from command_line import Cli, draw
from paragone.cli import VERBS


def examples(verb: str) -> list[str]:
    """The lines 'Example: paragone ...' of a verb's help."""
    module, _, attribute = VERBS[verb][0].partition(":")
    help_text = getattr(importlib.import_module(module), attribute).help
    return re.findall(r"Example: paragone (.+)", help_text)


@pytest.fixture
def prepared(cli: Cli, voted: Path, rated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with every file that some example names."""
    monkeypatch.chdir(tmp_path)
    draw(tmp_path)
    for source in (voted, rated):
        shutil.copytree(source / "bench", "my-benchmark", dirs_exist_ok=True)
    for name in ("study.toml", "plan.csv", "answers.csv", "votes.csv"):
        shutil.copy(voted / "bench" / name, Path("my-benchmark") / name)
    Path("my-benchmark/ratings.csv").unlink()
    shutil.copy(voted / "bench" / "votes.csv", "votes.csv")
    shutil.copy(rated / "bench" / "ratings.csv", "ratings.csv")
    Path("answers.csv").write_text("worker,item,stars\np,x,3\nq,x,4\np,y,2\n")
    for name in ("benchmark.toml", "items.csv", "references.csv"):
        Path(name).write_text((voted / "bench" / name).read_text().replace(",../", ","))
    assert cli("score", "votes.csv", "--replicates", "100", "-o", "scores/human.csv").code == 0
    assert cli("measure", "ssim", "psnr").code == 0
    for content in ("boat", "tree"):
        for style in ("ink", "oil"):
            shutil.copy(f"contents/{content}.png", f"contents/{content}_{style}.png")
    return tmp_path


ELSEWHERE = {
    "demo",
    "serve",
    "export",
    "forget",
    "backup",
    "restore",
    "stylise",
    "select",
    "generate",
    "attributes",
    "crossval",
    "train",
    "rate",
}  # see test_cli_show, test_study_verbs, test_learn_verbs


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in ELSEWHERE])
def test_every_example_of_a_verb_runs(cli: Cli, prepared: Path, verb: str) -> None:
    found = examples(verb)
    assert found, f"the help of {verb} has no example"
    for line in found:
        said = cli(*shlex.split(line))
        assert said.code == 0, said.err


def test_the_example_of_the_demo_is_the_walk_of_its_own_test() -> None:
    assert examples("demo") == ["demo demo"]
