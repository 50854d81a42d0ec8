"""A network that is tuned learns, goes on where it was stopped, and sees nothing that it must not see."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, zoom
from scipy.stats import spearmanr

from installed import needed
from paragone.errors import BadConfig, BadImage, BadInput, CannotScore, MissingExtra, NotConverged, TooFew
from paragone.evaluators.tuned import Tuned, TunedSettings, tune
from paragone.features import torch_threads
from paragone.images import write_image
from paragone.settings import read_settings

torch: Any = needed("torch")
needed("timm")
needed("accelerate")
needed("safetensors")

from paragone.evaluators.tuned import checkpoint, training  # noqa: E402
from paragone.evaluators.tuned.networks import TINY  # noqa: E402

SIDE = 40
QUICK = TunedSettings(epochs=3, batch=8, learning_rate=3e-3, resize=SIDE, crop=32)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with torch_threads(1):
        yield


def blurred(number: int, level: float, side: int) -> np.ndarray[Any, Any]:
    """Random coloured blocks with fine grain, blurred by `level` pixels: what is to be learnt is how sharp it is."""
    rng = np.random.default_rng([7, number])
    blocks = rng.random((6, 6, 3))
    smooth = np.stack([zoom(blocks[..., c], side / 6, order=1) for c in range(3)], axis=-1)
    grained = smooth + 0.35 * (rng.random((side, side, 1)) - 0.5)
    return np.clip(gaussian_filter(grained, (level, level, 0)), 0, 1).astype(np.float32)


class World:
    """Pictures by sharpness, eight a group."""

    def __init__(self, folder: Path, n: int, side: int) -> None:
        self.images, self.sharpness, self.groups = {}, {}, {}
        for number in range(n):
            level, item = float(np.random.default_rng([8, number]).uniform(0, 2.5)), f"p{number:03d}"
            self.images[item] = write_image(blurred(number, level, side), folder / f"{item}.png")
            self.sharpness[item] = -level
            self.groups[item] = f"g{number % max(2, n // 8)}"

    def part(self, start: int, stop: int) -> dict[str, Path]:
        return {item: self.images[item] for item in sorted(self.images)[start:stop]}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("pictures"), 24, SIDE)


def tuned(world: World, **options: Any) -> Tuned:
    given: dict[str, Any] = {"network": "tiny", "settings": QUICK, "seed": 1, "random": True}
    scores = options.pop("scores", {"sharpness": world.sharpness})
    images = options.pop("images", world.images)
    return tune(images, scores, options.pop("groups", world.groups), **{**given, **options})


def weights(made: Tuned) -> dict[str, Any]:
    return dict(made.module.state_dict())


def same(one: Tuned, other: Tuned) -> bool:
    a, b = weights(one), weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def test_the_loss_falls(world: World) -> None:
    losses = tuned(world, settings=dataclass_like(QUICK, epochs=8)).notes["losses"]
    assert len(losses) == 8
    assert min(losses[-2:]) < 0.6 * losses[0]


def dataclass_like(settings: TunedSettings, **changed: Any) -> TunedSettings:
    import msgspec

    return msgspec.structs.replace(settings, **changed)


@pytest.mark.slow
def test_the_tiny_network_learns_how_sharp_pictures_are(tmp_path: Path) -> None:
    """Held-out pictures in their order: what is learnt is there to be seen, and is seen."""
    world = World(tmp_path, 160, 72)
    settings = TunedSettings(epochs=8, batch=16, learning_rate=3e-3, resize=72, crop=64)
    made = tune(
        world.part(0, 112), {"sharpness": world.sharpness}, world.groups, network="tiny", settings=settings, random=True
    )
    given = made.predict(world.part(112, 160))
    assert spearmanr(given["score"], [world.sharpness[item] for item in given["item"]])[0] > 0.8


def test_the_same_seed_gives_the_same_network_and_another_one_another(world: World) -> None:
    first = tuned(world)
    assert same(first, tuned(world))
    assert not same(first, tuned(world, seed=2))


def test_tuning_leaves_every_generator_and_the_state_of_accelerate_alone(world: World) -> None:
    from accelerate.state import AcceleratorState, PartialState

    torch.manual_seed(11)
    before, drawn = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002  (is it untouched?)
    states = dict(PartialState._shared_state), dict(AcceleratorState._shared_state)
    tuned(world)
    assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(np.random.get_state()[1], drawn)  # noqa: NPY002
    assert (dict(PartialState._shared_state), dict(AcceleratorState._shared_state)) == states


@pytest.mark.parametrize("choice", ["last", "validation"])
def test_a_training_that_was_stopped_ends_as_an_undisturbed_one(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: Any
) -> None:
    settings = dataclass_like(QUICK, epoch_choice=choice, decay_every=1, accumulate=2)
    whole = tuned(world, settings=settings)
    write = checkpoint.write_progress

    def then_stop(*given: Any, **named: Any) -> None:
        write(*given, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "write_progress", then_stop)
    with pytest.raises(KeyboardInterrupt):
        tuned(world, settings=settings, folder=tmp_path)
    monkeypatch.undo()
    epochs = []
    one_epoch = training._one_epoch
    monkeypatch.setattr(training, "_one_epoch", lambda *given: epochs.append(given[-1]) or one_epoch(*given))
    continued = tuned(world, settings=settings, folder=tmp_path)
    assert epochs == [1, 2]
    assert same(whole, continued)
    assert whole.notes == continued.notes


@pytest.mark.slow
def test_a_killed_process_leaves_a_whole_checkpoint(world: World, tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, 'tests/evaluators'); sys.path.insert(0, 'tests')\n"
        "from pathlib import Path; import test_tuned_training as t; import torch; torch.set_num_threads(1)\n"
        "world = t.World.__new__(t.World)\n"
        f"folder = Path({str(next(iter(world.images.values())).parent)!r})\n"
        "world.images = {p.stem: p for p in folder.glob('*.png')}\n"
        f"world.sharpness, world.groups = {world.sharpness!r}, {world.groups!r}\n"
        f"t.tuned(world, settings=t.dataclass_like(t.QUICK, epochs=400), folder={str(tmp_path)!r})\n"
    )
    root = Path(__file__).resolve().parents[2]
    child = subprocess.Popen([sys.executable, "-c", script], cwd=root)
    file = tmp_path / "checkpoint.pt"
    until = time.monotonic() + 120
    while not file.exists() and child.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    state = torch.load(file, weights_only=True)
    assert state["epochs"] == len(state["losses"]) >= 1
    goal = state["epochs"] + 1
    longer = dataclass_like(QUICK, epochs=goal)
    assert same(tuned(world, settings=longer, folder=tmp_path), tuned(world, settings=longer))


def test_a_finished_training_can_go_on_for_more_epochs_but_not_for_fewer(world: World, tmp_path: Path) -> None:
    tuned(world, settings=dataclass_like(QUICK, epochs=2), folder=tmp_path)
    assert same(tuned(world, folder=tmp_path), tuned(world))
    with pytest.raises(BadConfig, match="has 3 epochs already, more than the 1 asked for"):
        tuned(world, settings=dataclass_like(QUICK, epochs=1), folder=tmp_path)


def test_a_checkpoint_serves_its_own_training_alone(world: World, tmp_path: Path) -> None:
    short = dataclass_like(QUICK, epochs=1)
    tuned(world, settings=short, folder=tmp_path)
    with pytest.raises(BadInput, match="checkpoint of another training"):
        tuned(world, settings=short, folder=tmp_path, seed=2)
    moved = {**world.sharpness, "p000": 3.0}
    with pytest.raises(BadInput, match="checkpoint of another training"):
        tuned(world, settings=short, folder=tmp_path, scores={"sharpness": moved})
    (tmp_path / "checkpoint.pt").write_bytes(b"cut off")
    with pytest.raises(BadInput, match="not a checkpoint of a training; remove it to start afresh"):
        tuned(world, settings=short, folder=tmp_path)


def test_what_is_saved_predicts_the_same_when_it_is_read(world: World, tmp_path: Path) -> None:
    made = tuned(world)
    made.save(tmp_path / "net")
    read = Tuned.load(tmp_path / "net")
    assert read.predict(world.images).equals(made.predict(world.images))
    assert (read.criteria, read.settings, dict(read.notes)) == (made.criteria, made.settings, dict(made.notes))
    assert "tiny residual network, random weights" in read.notes["label"]
    with (tmp_path / "net" / "weights.safetensors").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x7f")
    with pytest.raises(BadInput, match=r"not the weights that tuned.toml speaks of"):
        Tuned.load(tmp_path / "net")


def test_a_picture_that_cannot_be_read_stops_a_training_but_no_prediction(world: World, tmp_path: Path) -> None:
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"no picture")
    images = {**world.images, "p001": bad, "p002": tmp_path / "gone.png"}
    with pytest.raises(BadImage, match=r"2 of 24 pictures to train on cannot be read: item 'p001': .*not a picture"):
        tuned(world, images=images)
    made = tuned(world, settings=dataclass_like(QUICK, epochs=1))
    given = made.predict(images)
    assert given["status"].to_list()[:4] == ["ok", "broken", "broken", "ok"]
    assert given["score"].null_count() == 2
    assert "not a picture" in given["reason"][1]
    others = given.filter(given["status"] == "ok")
    assert others.equals(made.predict({item: world.images[item] for item in others["item"]}))


def test_a_network_learns_in_the_unit_of_the_scores(world: World) -> None:
    plain = tuned(world).predict(world.images)["score"].to_numpy()
    moved = {item: 50 + 10 * score for item, score in world.sharpness.items()}
    given = tuned(world, scores={"sharpness": moved}).predict(world.images)["score"].to_numpy()
    np.testing.assert_allclose(given, 50 + 10 * plain, rtol=1e-4)


def test_several_criteria_with_missing_scores_are_learnt_together(world: World) -> None:
    items = sorted(world.images)
    scores = {"sharpness": world.sharpness, "blur": {item: -world.sharpness[item] for item in items[::2]}}
    made = tuned(world, scores=scores, network=dataclasses.replace(TINY, uncertainty=True))
    assert made.criteria == ("blur", "sharpness")
    assert made.predict(world.images).height == 2 * len(items)
    assert len(made.notes["log_variance"]) == 2
    assert all(abs(one) > 0 for one in made.notes["log_variance"])  # they are learnt


def test_weights_of_uncertainty_are_those_of_the_paper() -> None:
    """Kendall, Gal and Cipolla 2018, equation 7: the sum of L / (2 sigma^2) + log sigma."""
    network = torch.nn.Flatten()
    objective = training.Objective(network, 2, uncertainty=True)
    sigma = torch.tensor([0.5, 2.0])
    with torch.no_grad():
        objective.log_variance.copy_(torch.log(sigma**2))
    pictures, targets = torch.full((1, 2, 1, 1), 255.0), torch.tensor([[0.0, 4.0]])
    loss = objective(pictures, targets, torch.ones(1, 2), 1.0)
    wanted = (torch.tensor([1.0, 9.0]) / (2 * sigma**2) + torch.log(sigma)).sum()
    torch.testing.assert_close(loss, wanted)


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_each_picture_is_learnt_from_once_an_epoch_whatever_the_parts_and_processes(processes: int) -> None:
    settings = TunedSettings(batch=7, accumulate=3)
    dealt = [
        training.planned(23, settings, seed=4, epoch=2, process=process, processes=processes)
        for process in range(processes)
    ]
    rows = [int(row) for parts in dealt for part in parts for row in part.rows[part.real]]
    assert sorted(rows) == list(range(23))
    assert len({len(parts) for parts in dealt}) == 1
    assert sum(part.last for part in dealt[0]) == 4  # steps
    assert all(sum(part.share for part in parts) == pytest.approx(4) for parts in dealt)
    alone = [part.batch.tolist() for part in training.planned(23, settings, seed=4, epoch=2) if part.last]
    assert [part.batch.tolist() for part in dealt[-1] if part.last] == alone
    assert min(len(batch) for batch in alone) >= 5


def test_a_batch_in_parts_has_the_gradient_of_the_whole_batch(world: World) -> None:
    """Where no layer looks at the whole batch: pooling and a line."""
    linear = dataclasses.replace(TINY, build=lambda n: Line(n))
    whole = tuned(world, network=linear)
    parts = tuned(world, network=linear, settings=dataclass_like(QUICK, accumulate=3))
    for name, one in weights(whole).items():
        torch.testing.assert_close(weights(parts)[name], one, rtol=1e-4, atol=1e-5)


class Line(torch.nn.Module):
    """Means and deviations of the channels, and a line."""

    def __init__(self, n_criteria: int) -> None:
        super().__init__()
        self.backbone = torch.nn.Identity()
        self.head = torch.nn.Linear(6, n_criteria)

    def forward(self, x: Any) -> Any:
        x = self.backbone(x).flatten(2)
        return self.head(torch.cat([x.mean(2), x.std(2)], dim=1))


def test_only_the_head_changes_where_only_the_head_is_trained(world: World) -> None:
    short = dataclass_like(QUICK, epochs=1)
    start = TINY.build(1)
    fixed = tuned(world, settings=dataclass_like(short, trained="head"))
    whole = tuned(world, settings=short)
    twice = tuned(world, settings=dataclass_like(short, trained="head", epochs=2))
    backbones = [{n: v for n, v in weights(one).items() if n.startswith("backbone")} for one in (fixed, twice, whole)]
    assert backbones[0].keys() == {f"backbone.{name}" for name in start.backbone.state_dict()}
    assert all(torch.equal(backbones[0][name], backbones[1][name]) for name in backbones[0])
    assert not all(torch.equal(backbones[0][name], backbones[2][name]) for name in backbones[0])
    assert not torch.equal(weights(fixed)["head.0.weight"], weights(twice)["head.0.weight"])


def test_validation_takes_whole_groups_and_keeps_the_epoch_of_least_error(world: World) -> None:
    settings = dataclass_like(QUICK, epochs=5, epoch_choice="validation", validation_share=0.34)
    made = tuned(world, settings=settings)
    notes = made.notes
    assert notes["epoch_choice"] == "validation"
    assert notes["epoch"] == 1 + int(np.argmin(notes["validation_losses"]))
    assert notes["n"] + notes["n_validation"] == 24
    assert notes["groups"] == 2  # of three
    assert notes["n_validation"] == 8
    shorter = tuned(world, settings=dataclass_like(settings, epochs=notes["epoch"]))
    assert same(made, shorter)
    with pytest.raises(TooFew, match="1 group to learn from; choosing the epoch by validation needs two"):
        tuned(world, settings=settings, groups=dict.fromkeys(world.groups, "one"))


def test_bfloat16_is_another_training_and_nearly_the_same_network(world: World) -> None:
    half, full = tuned(world, settings=dataclass_like(QUICK, precision="bf16")), tuned(world)
    assert not same(half, full)
    assert half.notes["losses"][0] == pytest.approx(full.notes["losses"][0], rel=0.1)
    with pytest.raises(BadConfig, match="fp16 needs a GPU"):
        tuned(world, settings=dataclass_like(QUICK, precision="fp16"))


def test_a_device_that_is_not_there_is_named(world: World) -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has one")
    with pytest.raises(BadConfig, match="no device 'cuda' here"):
        tuned(world, device="cuda")
    with pytest.raises(BadConfig, match="no device 'cuda' here"):
        tuned(world, settings=dataclass_like(QUICK, epochs=1)).predict(world.part(0, 1), device="cuda")


def test_too_little_to_learn_from_is_refused_in_one_line(world: World) -> None:
    with pytest.raises(TooFew, match=r"0 pictures have a score \(24 pictures, 1 scored items\)"):
        tuned(world, scores={"sharpness": {"other": 1.0}})
    with pytest.raises(CannotScore, match="criterion 'sharpness': all 24 training scores are equal"):
        tuned(world, scores={"sharpness": dict.fromkeys(world.images, 2.0)})
    with pytest.raises(TooFew, match="criterion 'rare' has 1 training scores; two are needed"):
        tuned(world, scores={"sharpness": world.sharpness, "rare": {"p000": 1.0}})
    with pytest.raises(BadInput, match=r"item 'p000' has no group \(1 such items\)"):
        tuned(world, groups={item: level for item, level in world.groups.items() if item != "p000"})
    with pytest.raises(BadInput, match="item 'p003' has an infinite score"):
        tuned(world, scores={"sharpness": {**world.sharpness, "p003": float("inf")}})


def test_a_loss_that_is_no_number_is_an_error_and_no_network(world: World) -> None:
    with pytest.raises(NotConverged, match=r"the loss of epoch \d is (nan|inf); lower learning_rate"):
        tuned(world, network=dataclasses.replace(TINY, build=Line), settings=dataclass_like(QUICK, learning_rate=1e30))


def test_settings_are_strict(tmp_path: Path) -> None:
    file = tmp_path / "tuned.toml"
    file.write_text("epochs = 3\nlerning_rate = 1e-4\n")
    with pytest.raises(BadConfig, match="no key 'lerning_rate'; did you mean 'learning_rate'"):
        read_settings(file, TunedSettings)
    for wrong, said in (
        ({"epochs": 0}, "epochs = 0 must be 1 or more"),
        ({"crop": 400}, "resize = 384 must be at least the crop's 400 pixels"),
        ({"validation_share": 1.0}, "validation_share = 1.0 must be between 0 and 1"),
    ):
        with pytest.raises(BadConfig, match=said):
            TunedSettings(**wrong)


def test_the_defaults_are_the_published_protocol() -> None:
    settings = TunedSettings()
    assert (settings.learning_rate, settings.batch, settings.epochs) == (1e-5, 40, 100)
    assert (settings.resize, settings.crop, settings.test_crops, settings.epoch_choice) == (384, 320, "five", "last")


def test_crops_smaller_than_the_network_reads_are_refused(world: World) -> None:
    with pytest.raises(BadConfig, match="resnet50 reads pictures of 32 pixels or more, not crops of 16"):
        tuned(world, network="resnet50", settings=dataclass_like(QUICK, crop=16))


def test_a_missing_library_names_its_extra(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "accelerate" else find(name))
    with pytest.raises(MissingExtra, match=r"tuning a network needs accelerate: pip install 'paragone\[torch\]'"):
        tuned(world)


@pytest.mark.slow
def test_two_processes_train_the_network_that_one_trains(world: World, tmp_path: Path) -> None:
    """Where no layer looks at the whole batch; each process then holds the same weights."""
    folder = next(iter(world.images.values())).parent
    settings = dataclass_like(QUICK, batch=7, accumulate=2)  # 24 pictures: batches of an even and an odd number
    script = tmp_path / "two.py"
    script.write_text(
        "import dataclasses, os, sys\n"
        f"sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}\n"
        "from pathlib import Path\n"
        "import test_tuned_training as t, torch\n"
        "torch.set_num_threads(1)\n"
        "world = t.World.__new__(t.World)\n"
        f"world.images = {{p.stem: p for p in Path({str(folder)!r}).glob('*.png')}}\n"
        f"world.sharpness, world.groups = {world.sharpness!r}, {world.groups!r}\n"
        "line = dataclasses.replace(t.TINY, build=t.Line)\n"
        "made = t.tuned(world, network=line, settings=t.dataclass_like(t.QUICK, batch=7, accumulate=2))\n"
        f"torch.save(made.module.state_dict(), {str(tmp_path)!r} + '/' + os.environ['RANK'] + '.pt')\n"
    )
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", str(script)]
    subprocess.run(
        [sys.executable, *command], check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    alone = weights(tuned(world, network=dataclasses.replace(TINY, build=Line), settings=settings))
    first, second = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in (0, 1))
    for name, one in alone.items():
        torch.testing.assert_close(first[name], one, rtol=1e-4, atol=1e-6)
        assert torch.equal(first[name], second[name])
