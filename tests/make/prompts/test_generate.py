"""Generating pictures with a made-up model: jobs, seeds, resume, and what is never a picture."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from paragone.benchmark import Benchmark
from paragone.errors import BadConfig, BadTable, NotFound, WouldOverwrite
from paragone.images import read_image
from paragone.loop.generated import generated
from paragone.make.packs.pack import pack
from paragone.make.packs.unpack import faults
from paragone.make.prompts.generate import Generated, generate
from paragone.make.prompts.generation import DiffusionModel, Generation, jobs_of, seed_of
from paragone.make.prompts.grammar import Grammar, prompts_of
from paragone.make.prompts.pipelines import Drawn, Painter
from paragone.make.prompts.stamp import read_stamp

PROMPTS = prompts_of(
    Grammar(template="{main}, {place}", axis={"main": ["bird", "cat", "dog"], "place": ["city", "wild"]})
).frame


@dataclass
class Model:
    """Draws noise that follows from the seed, or whatever `gives` says; keeps what it was asked."""

    gives: Callable[[str, int], Drawn | Exception] | None = None
    stop_after: int | None = None
    asked: list[tuple[str, int]] = field(default_factory=list)

    def __call__(self, model: DiffusionModel, folder: Path) -> Painter:
        return Painter(draw=self.draw, facts={"pipeline": "Noise", "scheduler": "None", "steps": 3, "guidance": 7.5})

    def draw(self, prompt: str, seed: int) -> Drawn:
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise KeyboardInterrupt
        self.asked.append((prompt, seed))
        made = self.gives(prompt, seed) if self.gives else noise(seed)
        if isinstance(made, Exception):
            raise made
        return made


def noise(seed: int) -> Drawn:
    return Drawn(np.random.default_rng(seed).random((16, 24, 3), dtype=np.float32), None)


def flat(value: float, flagged: bool | None = None) -> Drawn:
    return Drawn(np.full((16, 24, 3), value, dtype=np.float32), flagged)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "model_index.json").write_text("{}")
    (folder / "unet.safetensors").write_bytes(b"weights")
    return folder


Run = Callable[..., Generated]


@pytest.fixture
def run(tmp_path: Path, weights: Path) -> Run:
    """Runs a small plan in one folder, again and again."""

    def go(
        model: Model | None = None, *, asked: dict[str, Any] | None = None, folder: str = "out", **more: Any
    ) -> Generated:
        settings = {key: more.pop(key) for key in ("retries", "embed", "replicates") if key in more}
        models = {"noise": DiffusionModel(**{"path": "weights", **(asked or {})})}
        plan = Generation(plan="birds", model=models, **settings)
        return generate(PROMPTS, plan, tmp_path / folder, beside=tmp_path, opener=model or Model(), **more)

    return go


def test_a_seed_is_the_first_eight_bytes_of_the_digest_of_its_names() -> None:
    raw = hashlib.blake2b(b'["birds","bird__city","sd2",1]').digest()
    assert seed_of("birds", "bird__city", "sd2", 1) == int.from_bytes(raw[:8], "big") % 2**63


def test_every_job_has_a_seed_of_its_own_that_other_jobs_do_not_change() -> None:
    models = {"a": DiffusionModel(path="x"), "b": DiffusionModel(path="x")}
    whole = jobs_of(PROMPTS, Generation(plan="p", model=models, replicates=2))
    assert whole.height == 2 * 6 * 2
    assert whole["seed"].is_unique().all()
    part = jobs_of(PROMPTS[3:], Generation(plan="p", model={"b": models["b"]}))
    known = dict(zip(whole["item"], whole["seed"], strict=True))
    assert all(known[item] == seed for item, seed in part.select("item", "seed").iter_rows())


def test_a_model_may_be_asked_for_some_prompts_only() -> None:
    models = {
        "a": DiffusionModel(path="x"),
        "b": DiffusionModel(path="x", only={"main": ["cat"], "place": ["wild", "city"]}),
    }
    made = jobs_of(PROMPTS, Generation(plan="p", model=models))
    assert made.filter(pl.col("method") == "a").height == 6
    assert made.filter(pl.col("method") == "b")["id"].to_list() == ["cat__city", "cat__wild"]


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ({"mian": ["cat"]}, "model 'a': no axis 'mian'; did you mean 'main'"),
        ({"main": ["cta"]}, "model 'a': no level of axis main 'cta'; did you mean 'cat'"),
        ({"main": []}, "model 'a': its `only` leaves no prompt"),
    ],
)
def test_prompts_that_no_model_can_be_asked_for_are_refused(only: dict[str, list[str]], said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        jobs_of(PROMPTS, Generation(plan="p", model={"a": DiffusionModel(path="x", only=only)}))


def test_a_generated_benchmark_is_packed_with_how_it_was_made(run: Run, tmp_path: Path) -> None:
    run(Model(gives=lambda prompt, seed: flat(0.0, True) if prompt == "cat, wild" else noise(seed)))
    packed = pack(tmp_path / "out", tmp_path / "pack")
    assert (packed.pictures, packed.without) == (5, 1)
    assert faults(tmp_path / "pack") == []
    made = pl.read_csv(tmp_path / "pack/made.csv", infer_schema=False)
    assert made["seed"].to_list() == Benchmark.read(tmp_path / "pack").items["seed"].to_list()
    assert "1 items have no picture (1 flagged)" in (tmp_path / "pack/README.md").read_text(encoding="utf-8")


def test_a_further_try_has_another_seed() -> None:
    assert len({seed_of("p", "x", "m", 1, attempt) for attempt in range(5)}) == 5


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"width": 500}, "width is 500; it must be a multiple of 8, for example 496"),
        ({"height": 0}, "height is 0; it must be a multiple of 8"),
        ({"steps": 0}, "steps is 0; it must be 1 or more"),
        ({"guidance": -1.0}, "guidance is -1.0; it must be 0 or more"),
        ({"path": ""}, "path is empty"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_before_anything_runs(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        DiffusionModel(**{"path": "x", **wrong})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"plan": ""}, "plan is empty"),
        ({"model": {}}, "no model; give at least one"),
        ({"model": {"SD 2": DiffusionModel(path="x")}}, "'SD 2' cannot name a model"),
        ({"replicates": 0}, "replicates is 0"),
        ({"retries": -1}, "retries is -1; it must be 0 to 100"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        Generation(**{"plan": "p", "model": {"a": DiffusionModel(path="x")}, **wrong})


def test_prompts_that_cannot_be_used_are_refused_with_all_their_faults() -> None:
    frame = pl.DataFrame({"id": ["a.b", "c", "c"], "prompt": ["x", "", "y"]})
    with pytest.raises(BadTable, match=r"'a\.b' is no id of a-z.*row 3: no prompt.*id 'c' stands twice"):
        jobs_of(frame, Generation(plan="p", model={"a": DiffusionModel(path="x")}))


def test_a_run_gives_a_benchmark_of_all_jobs(run: Run, tmp_path: Path) -> None:
    made = run()
    again = Benchmark.read(tmp_path / "out")
    assert again.factors == ("method", "prompt", "main", "place", "seed")
    assert again.items.equals(made.benchmark.items)
    assert again.items.row(0) == (
        "noise__bird__city__r1",
        "generated/noise/bird__city__r1.png",
        "noise",
        "bird, city",
        "bird",
        "city",
        str(seed_of("birds", "bird__city", "noise", 1)),
    )
    assert made.text == "6 pictures: 6 ok"
    assert pl.read_csv(tmp_path / "out" / "jobs.csv").height == 6


def test_the_record_and_the_picture_say_how_it_was_made(run: Run, tmp_path: Path) -> None:
    run()
    picture = tmp_path / "out/generated/noise/cat__wild__r1.png"
    record = json.loads(picture.with_suffix(".json").read_text(encoding="utf-8"))
    stamp = read_stamp(picture)
    assert stamp is not None
    assert stamp.items() <= record.items()
    assert stamp["seed"] == seed_of("birds", "cat__wild", "noise", 1)
    assert stamp["prompt"] == "cat, wild"
    assert (stamp["width"], stamp["height"], stamp["steps"], stamp["scheduler"]) == (24, 16, 3, "None")
    assert len(stamp["digest"]) == 64


def test_nothing_is_embedded_where_prompts_are_private(run: Run, tmp_path: Path) -> None:
    run(embed=False, folder="private")
    run(folder="open")
    names = [tmp_path / f"{folder}/generated/noise/cat__wild__r1.png" for folder in ("private", "open")]
    assert read_stamp(names[0]) is None
    assert b"cat" not in names[0].read_bytes()
    assert np.array_equal(read_image(names[0]), read_image(names[1]))


def test_a_killed_run_goes_on_and_gives_the_same_bytes(run: Run, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(Model(stop_after=2))
    with pytest.raises(KeyboardInterrupt):
        run(Model(stop_after=1))
    rest = Model()
    assert run(rest).text == "6 pictures: 6 ok"
    assert len(rest.asked) == 3
    run(folder="at_once")
    for path in (tmp_path / "out/generated/noise").glob("*.png"):
        assert path.read_bytes() == (tmp_path / "at_once/generated/noise" / path.name).read_bytes()


def test_a_second_run_makes_nothing(run: Run) -> None:
    run()
    model = Model()
    assert run(model).text == "6 pictures: 6 ok"
    assert model.asked == []


@pytest.mark.parametrize("harm", ["cut", "gone", "no record", "broken record"])
def test_a_picture_that_is_not_whole_is_made_again(run: Run, tmp_path: Path, harm: str) -> None:
    run()
    picture = tmp_path / "out/generated/noise/dog__city__r1.png"
    before = picture.read_bytes()
    if harm == "cut":
        picture.write_bytes(before[:100])
    elif harm == "gone":
        picture.unlink()
    elif harm == "no record":
        picture.with_suffix(".json").unlink()
    else:
        picture.with_suffix(".json").write_text("{")
    model = Model()
    run(model)
    assert [prompt for prompt, _ in model.asked] == ["dog, city"]
    assert picture.read_bytes() == before


@pytest.mark.parametrize("change", ["steps", "weights", "scheduler"])
def test_what_has_changed_is_made_again(run: Run, weights: Path, change: str) -> None:
    run()
    if change == "weights":
        (weights / "unet.safetensors").write_bytes(b"other")
    elif change == "scheduler":
        (weights / "scheduler.json").write_text("{}")
    model = Model()
    run(model, asked={"steps": 5} if change == "steps" else {})
    assert len(model.asked) == 6


def test_a_model_that_is_moved_is_the_same_model(run: Run, weights: Path, tmp_path: Path) -> None:
    run()
    weights.rename(tmp_path / "elsewhere")
    model = Model()
    run(model, asked={"path": "elsewhere"})
    assert model.asked == []


def test_a_blanked_picture_is_flagged_and_no_item_has_it(run: Run, tmp_path: Path) -> None:
    made = run(Model(gives=lambda prompt, seed: flat(0.0, "bird" in prompt) if "bird" in prompt else noise(seed)))
    rows = {row["item"]: row for row in made.frame.iter_rows(named=True)}
    bird = rows["noise__bird__city__r1"]
    assert (bird["status"], bird["reason"], bird["image"]) == ("flagged", "blanked by the safety checker", None)
    assert made.benchmark.picture("noise__bird__city__r1") is None
    assert not (tmp_path / "out/generated/noise/bird__city__r1.png").exists()
    assert made.text == "6 pictures: 4 ok, 2 flagged"
    assert "2 flagged" in made.benchmark.description


def test_flagged_is_final_until_retries_are_asked_for(run: Run) -> None:
    def gives(prompt: str, seed: int) -> Drawn:
        first = seed == seed_of("birds", "bird__city", "noise", 1)
        return flat(0.0, True) if first else noise(seed)

    assert run(Model(gives=gives)).text == "6 pictures: 5 ok, 1 flagged"
    again = Model(gives=gives)
    run(again)
    assert again.asked == []
    made = run(Model(gives=gives), retries=2)
    row = made.frame.row(0, named=True)
    assert (row["status"], row["tries"]) == ("ok", 2)
    assert row["seed"] == seed_of("birds", "bird__city", "noise", 1, 1)
    assert made.benchmark.items["seed"][0] == str(row["seed"])


def test_values_that_are_no_numbers_are_invalid_and_told_from_black(run: Run) -> None:
    broken = noise(0).values.copy()
    broken[3, 4, 1] = np.nan
    kinds = {
        "bird": Drawn(broken, None),
        "cat": flat(0.0),
        "dog": Drawn(noise(0).values * np.float32(0.03), None),
    }
    made = run(Model(gives=lambda prompt, seed: kinds[prompt.split(",")[0]]))
    told = {row["prompt"]: (row["status"], row["reason"], row["dark"]) for row in made.frame.iter_rows(named=True)}
    assert told["bird, city"] == ("invalid", "1 of 1152 values are not finite", None)
    assert told["cat, city"] == ("invalid", "all of one colour (black); nothing was flagged", None)
    assert told["dog, city"] == ("ok", None, True)


def test_a_picture_of_another_size_than_asked_for_is_invalid(run: Run) -> None:
    made = run(asked={"width": 32})
    assert made.text == "6 pictures: 6 invalid"
    assert made.frame["reason"][0] == "24 x 16 pixels, not 32 x 16 as asked for"


def test_a_model_in_the_cache_is_known_by_its_commit(tmp_path: Path, weights: Path) -> None:
    snapshot = tmp_path / "models--a--b" / "snapshots" / "0123abc"
    snapshot.parent.mkdir(parents=True)
    weights.rename(snapshot)
    plan = Generation(plan="p", model={"m": DiffusionModel(path=str(snapshot), revision="main")})
    generate(PROMPTS[:1], plan, tmp_path / "out", opener=Model())
    assert read_stamp(tmp_path / "out/generated/m/bird__city__r1.png")["revision"] == "0123abc"  # type: ignore[index]


def test_an_error_is_a_status_and_the_next_run_tries_again(run: Run) -> None:
    made = run(
        Model(gives=lambda prompt, seed: RuntimeError("out of memory\nmore") if "dog" in prompt else noise(seed))
    )
    assert made.text == "6 pictures: 4 ok, 2 failed"
    assert made.frame.filter(pl.col("status") == "failed")["reason"].unique().to_list() == [
        "RuntimeError: out of memory"
    ]
    model = Model()
    assert run(model).text == "6 pictures: 6 ok"
    assert len(model.asked) == 2


def test_settings_that_the_pipeline_refuses_end_the_run(run: Run) -> None:
    with pytest.raises(BadConfig, match="model 'noise' refuses its settings: no such size"):
        run(Model(gives=lambda prompt, seed: ValueError("no such size")))


def test_shards_together_make_everything_once(run: Run) -> None:
    first, second = Model(), Model()
    assert run(first, shard=(1, 2)).text == "6 pictures: 3 ok, 3 missing"
    assert run(second, shard=(2, 2)).text == "6 pictures: 6 ok"
    assert len(first.asked) == len(second.asked) == 3
    with pytest.raises(BadConfig, match="shard is 3/2"):
        run(shard=(3, 2))


def test_a_limit_leaves_the_rest_for_later(run: Run) -> None:
    assert run(limit=2).text == "6 pictures: 2 ok, 4 missing"
    assert run(limit=2).text == "6 pictures: 4 ok, 2 missing"


def test_replicates_are_pictures_of_their_own(run: Run) -> None:
    made = run(replicates=3)
    assert made.benchmark.items.height == 18
    assert made.benchmark.levels("replicate")["level"].unique().sort().to_list() == ["1", "2", "3"]
    assert made.frame["seed"].is_unique().all()


def test_a_model_that_is_not_there_is_named_before_anything_is_written(run: Run, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no folder of a model 'weihgts'"):
        run(asked={"path": "weihgts"})
    assert not (tmp_path / "out").exists()


def test_a_folder_without_weights_is_no_model(run: Run, weights: Path) -> None:
    (weights / "unet.safetensors").unlink()
    with pytest.raises(NotFound, match="'weights' holds no weights"):
        run()
    (weights / "model_index.json").unlink()
    with pytest.raises(NotFound, match=r"'weights' holds no model_index\.json"):
        run()


def test_a_prompt_longer_than_the_model_reads_is_told(tmp_path: Path, weights: Path) -> None:
    def opener(model: DiffusionModel, folder: Path) -> Painter:
        return Painter(draw=lambda prompt, seed: noise(seed), tokens=len)

    prompts = pl.DataFrame({"id": ["short", "long"], "prompt": ["a bird", "b" * 78]})
    plan = Generation(plan="p", model={"m": DiffusionModel(path="weights")})
    made = generate(prompts, plan, tmp_path / "out", beside=tmp_path, opener=opener)
    assert made.warnings == ("model 'm': prompt 'long' has 78 tokens; a text encoder that reads 77 cuts off its end",)


_KILLED = """
import sys, time
from pathlib import Path
import numpy as np, polars as pl
from paragone.make.prompts.generate import generate
from paragone.make.prompts.generation import DiffusionModel, Generation
from paragone.make.prompts.pipelines import Drawn, Painter

def draw(prompt, seed):
    time.sleep(float(sys.argv[3]))
    return Drawn(np.random.default_rng(seed).random((200, 200, 3), dtype=np.float32), None)

home = Path(sys.argv[1])
prompts = pl.DataFrame({"id": [f"p{k}" for k in range(12)], "prompt": [f"picture {k}" for k in range(12)]})
plan = Generation(plan="killed", model={"noise": DiffusionModel(path="weights")})
made = generate(prompts, plan, home / sys.argv[2], beside=home, opener=lambda model, folder: Painter(draw=draw))
print(made.text)
"""


@pytest.mark.slow
def test_a_process_that_was_killed_twice_leaves_only_whole_pictures(tmp_path: Path, weights: Path) -> None:
    def start(folder: str, pause: float) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _KILLED, str(tmp_path), folder, str(pause)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    pictures = tmp_path / "out/generated/noise"
    for enough in (3, 7):
        with start("out", 0.1) as process:
            while len(list(pictures.glob("*.png"))) < enough:
                assert process.poll() is None
                time.sleep(0.01)
            process.kill()
        for path in pictures.glob("*.png"):
            read_image(path)
    with start("out", 0.0) as last, start("at_once", 0.0) as whole:
        assert last.communicate()[0] == whole.communicate()[0] == "12 pictures: 12 ok\n"
    for path in pictures.glob("*.png"):
        assert path.read_bytes() == (tmp_path / "at_once/generated/noise" / path.name).read_bytes()
    assert len(list(pictures.glob("*.png"))) == 12


def test_more_pictures_than_anybody_can_make_are_refused_before_they_are_laid_out() -> None:
    models = {"a": DiffusionModel(path="w"), "b": DiffusionModel(path="w", only={"main": ["cat"]})}
    start = time.perf_counter()
    with pytest.raises(BadConfig, match=r"^8000000000 pictures .* are more than 1000000; replicates is 1000000000"):
        jobs_of(PROMPTS, Generation(plan="p", model=models, replicates=10**9))
    assert time.perf_counter() - start < 5


def test_a_benchmark_that_was_not_generated_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "make.toml").write_text(
        """name = "birds"
prompts = "prompts.csv"
[generate]
plan = "p"
[generate.model.a]
path = "weights"
""",
        encoding="utf-8",
    )
    (tmp_path / "prompts.csv").write_text("id,prompt\na,a bird\n", encoding="utf-8")
    (tmp_path / "benchmark.toml").write_text("mine", encoding="utf-8")
    with pytest.raises(WouldOverwrite, match="holds a benchmark that was not generated; name another folder"):
        generated(tmp_path)
    assert (tmp_path / "benchmark.toml").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "jobs.csv").exists()
    (tmp_path / "generated.csv").write_text("item\n", encoding="utf-8")
    with pytest.raises(NotFound):  # its own benchmark would be made anew: only the weights are missing
        generated(tmp_path)
