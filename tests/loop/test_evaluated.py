"""Evaluators on a folder: validated, trained, kept, and asked about a method that nobody has seen."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from installed import needed
from learning_world import CONTENTS, KEPT, STYLES, learning_folder, write_results
from paragone.benchmark import Benchmark
from paragone.errors import BadConfig, BadInput, NotFound, UnknownName, WouldOverwrite
from paragone.evaluators.measuring import metric_of
from paragone.evaluators.stored import load_evaluator, save_evaluator
from paragone.evaluators.validation import CrossValidation
from paragone.features import load_backbone
from paragone.loop.described import Network, described, factors_of
from paragone.loop.evaluated import crossval_folder, train_folder
from paragone.loop.machine import measured
from paragone.loop.rated import rate_folder

for library in ("torch", "safetensors"):
    needed(library)

NETWORK = Network(backbone="alexnet", random=0, side=64)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = learning_folder(tmp_path_factory.mktemp("learning") / "bench")
    train_folder(folder, NETWORK, learner="ridge", name="judge")
    return folder


def test_validation_leaves_each_method_out_and_is_written(world: Path, tmp_path: Path) -> None:
    found = crossval_folder(
        world, ["method", "style"], NETWORK, learners=["ridge"], output=tmp_path / "out", replicates=0
    )
    assert list(found) == ["method", "style"]
    assert sorted(found["method"].per_fold["fold"].unique()) == [f"method={name}" for name in sorted(KEPT)]
    again = CrossValidation.read(tmp_path / "out", name="crossval-method")
    ridge = again.table.filter((pl.col("predictor") == "ridge") & (pl.col("statistic") == "srcc"))
    assert set(ridge["criterion"]) == {"content", "style"}
    assert (tmp_path / "out" / "crossval-method.csv").is_file()
    assert (tmp_path / "out" / "crossval-style.csv").is_file()
    assert again.simulated


def test_a_network_sees_a_folder_once(world: Path) -> None:
    benchmark = Benchmark.read(world)
    first, read = described(benchmark, NETWORK)
    second, _ = described(benchmark, NETWORK)
    np.testing.assert_array_equal(first.values, second.values)
    assert (world / ".features").is_dir()
    assert (read.features, read.side, read.seed, read.sha256) == ("triplet-v1", 64, 0, "")


def test_factors_are_those_that_say_what_is_shown(world: Path) -> None:
    benchmark = Benchmark.read(world)
    more = benchmark.items.with_columns(
        pl.col("item").alias("number"), pl.lit("one").alias("room"), ("No. " + pl.col("content")).alias("no")
    )
    table = factors_of(Benchmark(more, benchmark.references))
    assert table.columns == ["item", "method", "content", "style"]


def test_an_evaluator_says_the_same_after_it_was_kept(world: Path, tmp_path: Path) -> None:
    judge = load_evaluator(world / "evaluators" / "judge")
    features, _ = described(Benchmark.read(world), NETWORK)
    first = judge.predict(features)
    save_evaluator(judge, tmp_path / "copy")
    second = load_evaluator(tmp_path / "copy").predict(features)
    assert first.frame.equals(second.frame)
    assert judge.sha256 == load_evaluator(tmp_path / "copy").sha256
    assert first.made["simulated"]
    assert first.made["random_weights"]


def test_its_card_says_what_it_learned_and_how_wrong_it_was(world: Path) -> None:
    text = (world / "evaluators" / "judge" / "README.md").read_text()
    judge = load_evaluator(world / "evaluators" / "judge")
    errors = judge.heads["content"].errors
    assert errors.n_levels == len(KEPT)
    assert f"within {errors.item:.3g} of what it said" in text
    assert "leave one method out" in text
    assert "simulated, random weights" in text


def test_a_new_method_is_scored_and_ranked_in_one_call(world: Path, tmp_path: Path) -> None:
    new = write_results(tmp_path / "fresh", 0.8)
    found = rate_folder(new, world / "evaluators" / "judge", output=tmp_path / "out")
    assert found.scores.frame.height == 2 * len(CONTENTS) * len(STYLES)
    board = found.board.filter(pl.col("criterion") == "content")
    assert board["level"].to_list()[:2] in (["faint", "fresh"], ["fresh", "faint"])  # .85 and .8 of the content
    own = board.filter(pl.col("by") == "evaluator").row(0, named=True)
    assert own["low"] < own["score"] < own["high"]
    assert own["rank_low"] <= own["rank_high"]
    assert any("simulated" in line for line in found.warnings)
    assert [path.name for path in found.files] == ["scores.csv", "leaderboard.csv", "leaderboard.html"]
    assert "fresh" in found.files[-1].read_text(encoding="utf-8")


def test_results_of_another_kind_are_told_as_out_of_range(world: Path, tmp_path: Path) -> None:
    from paragone.images import write_image

    strange = write_results(tmp_path / "strange", 0.5)
    rng = np.random.default_rng(1)
    for file in strange.iterdir():
        write_image(rng.integers(0, 2, (64, 64, 3)).astype(np.float32), file)
    found = rate_folder(strange, world / "evaluators" / "judge", output=tmp_path / "out")
    assert len(found.scores.made["far"]) == len(CONTENTS) * len(STYLES)
    assert any("9 of 9 pictures lie further" in line for line in found.warnings)


def test_missing_combinations_and_strange_files_are_told(world: Path, tmp_path: Path) -> None:
    new = write_results(tmp_path / "partial", 0.5)
    (new / "face_stylized_dots.png").rename(new / "portrait_of_nobody.png")
    found = rate_folder(new, world / "evaluators" / "judge", output=tmp_path / "out")
    assert any("1 combination of references has no result" in line for line in found.warnings)
    assert any("portrait_of_nobody.png" in line for line in found.warnings)
    known = found.board.filter((pl.col("by") == "people") & (pl.col("criterion") == "content"))
    assert set(known["n"]) == {8}  # known methods are compared on the same references


def test_a_pattern_says_how_results_are_named(world: Path, tmp_path: Path) -> None:
    new = write_results(tmp_path / "own", 0.5)
    for file in sorted(new.iterdir()):
        content, _, style = file.stem.partition("_stylized_")
        file.rename(new / f"{style}--{content}.png")
    found = rate_folder(new, world / "evaluators" / "judge", pattern="{style}--{content}.png", output=tmp_path / "out")
    assert not found.scores.made["reasons"]
    with pytest.raises(BadInput, match="is a result on the references"):
        rate_folder(new, world / "evaluators" / "judge", pattern="{content}+{style}.png", output=tmp_path / "out")


def test_other_weights_are_refused(world: Path) -> None:
    judge = load_evaluator(world / "evaluators" / "judge")
    features, _ = described(Benchmark.read(world), Network(backbone="alexnet", random=1, side=64))
    with pytest.raises(
        BadInput, match="was trained on alexnet \\(random weights, seed 0\\) \\(random, seed 0\\), not on"
    ):
        judge.predict(features)
    with pytest.raises(BadInput, match="numbers of other weights"):
        metric_of(judge, "content", load_backbone("alexnet", seed=1))
    other, _ = described(Benchmark.read(world), Network(backbone="alexnet", random=0, side=64, framing="pad"))
    with pytest.raises(BadInput, match="reads features"):
        judge.predict(other)


def test_an_evaluator_is_a_metric(world: Path) -> None:
    judge = load_evaluator(world / "evaluators" / "judge")
    features, _ = described(Benchmark.read(world), NETWORK)
    said = judge.predict(features).of_criterion("content")["score"].to_numpy()
    by_measure = measured([str(world / "evaluators" / "judge")], Benchmark.read(world))
    assert [made.name for made in by_measure] == ["judge-content", "judge-style"]
    np.testing.assert_allclose(by_measure[0].frame["score"].to_numpy(), said, atol=1e-3)


def test_damaged_and_missing_files_are_refused(world: Path, tmp_path: Path) -> None:
    place = tmp_path / "copy"
    shutil.copytree(world / "evaluators" / "judge", place)
    (place / "people.csv").write_text("item,criterion,score,low,high\n")
    with pytest.raises(BadInput, match=r"is not the file that evaluator\.toml names"):
        load_evaluator(place)
    (place / "weights.safetensors").unlink()
    with pytest.raises(NotFound, match="no file of the evaluator"):
        load_evaluator(place)
    (place / "evaluator.toml").write_text("format = 1\n")
    with pytest.raises(BadInput, match="is not what paragone train writes"):
        load_evaluator(place)
    with pytest.raises(NotFound, match="no evaluator in"):
        load_evaluator(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    with pytest.raises(WouldOverwrite, match="holds something else than an evaluator"):
        save_evaluator(load_evaluator(world / "evaluators" / "judge"), tmp_path / "full")


def test_bad_questions_are_refused(world: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="no factor with several levels 'methods'; did you mean 'method'"):
        crossval_folder(world, ["methods"], NETWORK)
    with pytest.raises(UnknownName, match="no learner 'ridgy'; did you mean 'ridge'"):
        crossval_folder(world, ["method"], NETWORK, learners=["ridgy"])
    with pytest.raises(BadConfig, match="'components' is not of the form option=value"):
        crossval_folder(world, ["method"], NETWORK, learners=["astra-score:components"])
    with pytest.raises(NotFound, match="no scores of people at"):
        train_folder(world, NETWORK, people=tmp_path / "none.csv")
    with pytest.raises(BadConfig, match="knows a method 'half' already"):
        rate_folder(world / "results" / "half", world / "evaluators" / "judge")
    with pytest.raises(BadConfig, match="does not say how it was estimated"):
        crossval_folder(world, ["method"], NETWORK, targets="refit")
